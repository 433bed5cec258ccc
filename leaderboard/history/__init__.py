"""Boards as they stood, and what moved between two of them."""
