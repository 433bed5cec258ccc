"""Trials that take minutes, run by `make trials`: load, large files and killed processes. Each prints its figures."""
