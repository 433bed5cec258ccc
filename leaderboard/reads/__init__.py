"""Every read for a page: a function takes a session and what is asked for, and returns frozen dataclasses."""
