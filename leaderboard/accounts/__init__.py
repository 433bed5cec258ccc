"""Accounts: who logs in, by what, and how often somebody may try."""
