"""The charts of the pages, and their files."""
