"""Folders and archives as files by their paths, and how much is unpacked of them."""

import zipfile
from pathlib import Path

import pytest

from leaderboard.errors import FileRejected
from leaderboard.formats import Limits
from leaderboard.transfer.manifest import open_tree


def test_archives_of_a_folder_share_one_bound_which_is_named(tmp_path: Path) -> None:
    for team in ("alder", "birch"):
        with zipfile.ZipFile(tmp_path / f"{team}.zip", "w") as archive:
            archive.writestr("2025/first.run", bytes(600 << 10))
    with open_tree(tmp_path, Limits(expanded_bytes=1 << 20)) as tree:
        tree.unpack("alder.zip")
        with pytest.raises(FileRejected) as refused:
            tree.unpack("birch.zip")
        assert "alder.zip/2025/first.run" in tree.files
        assert "birch.zip/2025/first.run" not in tree.files
    assert refused.value.message.startswith("birch.zip: expands to more than")
