"""Submissions: receiving, checking, quotas, states, and which run is selected."""
