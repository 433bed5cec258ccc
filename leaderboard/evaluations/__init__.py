"""Evaluations: one period and condition of a campaign."""
