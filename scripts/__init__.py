"""What the Makefile runs besides the tools themselves."""
