"""One module for each file format: what reads it into tables."""
