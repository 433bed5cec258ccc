"""The demonstration's campaign goes out as files and comes in again elsewhere, the same to the last bit."""

from contextlib import closing
from pathlib import Path

import pytest

from leaderboard import migrate
from leaderboard.cli import run as call
from leaderboard.db import Database
from tests.seeding.conftest import Installation
from tests.support.transferred import held


def test_the_exported_campaign_of_the_demonstration_is_imported_to_the_last_bit(
    installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEADERBOARD_DATABASE_URL", installation.config.database_url)
    monkeypatch.setenv("LEADERBOARD_STORE_URL", installation.config.store_url)
    assert call(["export", "harbour", "--out", str(tmp_path / "out")]) == 0
    url = f"sqlite:///{tmp_path / 'other.sqlite'}"
    monkeypatch.setenv("LEADERBOARD_DATABASE_URL", url)
    monkeypatch.setenv("LEADERBOARD_STORE_URL", str(tmp_path / "other"))
    with closing(Database.connect(url)) as database:
        migrate.upgrade(database)
        assert call(["import-campaign", str(tmp_path / "out")]) == 0
        before, after = held(installation.database, "harbour"), held(database, "harbour")
    assert before.keys() == after.keys()
    for evaluation, content in before.items():
        for part, values in content.items():
            assert after[evaluation][part] == values, (evaluation, part)
    assert any(content.get("figures") for content in before.values())
