"""What leaves the site: citations, feeds, badges, and the pictures that others show of a board."""
