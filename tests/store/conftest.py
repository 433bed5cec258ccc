from pathlib import Path

import pytest

from leaderboard.store import Caps, RunStore


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    """An empty store in a folder, for files of at most 1,000 bytes and 5,000 bytes of text."""
    return RunStore(str(tmp_path / "store"), Caps(upload_bytes=1000, text_bytes=5000))


def files(store: RunStore) -> list[Path]:
    return [path for path in Path(store.url).rglob("*") if path.is_file()]
