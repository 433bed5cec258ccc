"""Boards: which systems are listed, in which order, with which figures."""
