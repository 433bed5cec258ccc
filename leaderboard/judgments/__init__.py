"""Queries, revisions of judgments and their sources."""
