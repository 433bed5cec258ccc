"""Teams, their members, and their systems."""
