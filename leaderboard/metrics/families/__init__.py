"""The measures, one module for each group of related ones.

A measure is a function over all queries at once and, above it, the decorator that names it (`measured`). What the
reference page and `leaderboard score --explain` say of it stands there and nowhere else.
"""
