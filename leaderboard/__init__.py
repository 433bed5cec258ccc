"""An evaluation leaderboard for retrieval campaigns."""

__version__ = "0.1.0"
