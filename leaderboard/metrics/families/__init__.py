"""The measures, one module for each group of related ones.

A measure is a function over all queries at once and, below it, the `Family` that names it. What the reference page and
`leaderboard score --explain` say of it stands there and nowhere else.
"""
