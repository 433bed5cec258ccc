"""Campaigns: what stays equal over the years."""
