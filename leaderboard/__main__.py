"""`python -m leaderboard` is the command `leaderboard`."""

from leaderboard.cli import main

if __name__ == "__main__":
    main()
