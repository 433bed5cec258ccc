"""Where the real runs and judgments are.

They are other people's work and stay out of this repository: `LEADERBOARD_SHARED` names their folder, else it
is `shared` beside the repository.
"""

import os
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
SHARED_VARIABLE = "LEADERBOARD_SHARED"


def shared_folder() -> Path:
    """The folder that should hold `data/`, there or not."""
    named = os.environ.get(SHARED_VARIABLE)
    return Path(named).expanduser().resolve() if named else REPOSITORY.parent / "shared"


def shared_data() -> Path | None:
    """The folder of the real runs and judgments, or None where it is absent."""
    data = shared_folder() / "data"
    return data if data.is_dir() else None
