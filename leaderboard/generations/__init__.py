"""Generations: numbers that rise with every change that a page can show."""
