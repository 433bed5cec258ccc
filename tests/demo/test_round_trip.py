"""The demonstration's campaign goes out as files and comes in again elsewhere, the same to the last bit.

All of it goes out. Of its eight evaluations two come in, since scoring their runs anew is what takes time: one of each
condition, with the damaged run, one that lacks a query and one whose threshold is bad among their runs. All eight do in
`python -m trials properties`.
"""

from contextlib import closing
from pathlib import Path

import pytest

from leaderboard import migrate
from leaderboard.cli import run as call
from leaderboard.db import Database
from leaderboard.transfer.manifest import NAME
from tests.demo.conftest import Installation
from tests.support.examples import is_thorough
from tests.support.transferred import held

BROUGHT_IN = {"text": 0, "speech": 2}  # how many years before the latest
EVALUATION = "\n[[evaluation]]\n"


@pytest.mark.usefixtures("scores_here")
def test_the_exported_campaign_of_the_demonstration_is_imported_to_the_last_bit(
    installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEADERBOARD_DATABASE_URL", installation.config.database_url)
    monkeypatch.setenv("LEADERBOARD_STORE_URL", installation.config.store_url)
    assert call(["export", "harbour", "--out", str(tmp_path / "out")]) == 0
    manifest = tmp_path / "out" / NAME
    campaign, *evaluations = manifest.read_text().split(EVALUATION)
    found = {one.partition('slug = "')[2].partition('"')[0]: one for one in evaluations}
    slugs = [f"{installation.latest - years}-{condition}" for condition, years in BROUGHT_IN.items()]
    if is_thorough():
        slugs = list(found)
    chosen = [found[slug] for slug in slugs]
    assert (len(found), len(chosen)) == (9, 9 if is_thorough() else 2)
    manifest.write_text(EVALUATION.join([campaign, *chosen]))
    url = f"sqlite:///{tmp_path / 'other.sqlite'}"
    monkeypatch.setenv("LEADERBOARD_DATABASE_URL", url)
    monkeypatch.setenv("LEADERBOARD_STORE_URL", str(tmp_path / "other"))
    with closing(Database.connect(url)) as database:
        migrate.upgrade(database)
        assert call(["import-campaign", str(tmp_path / "out")]) == 0
        assert call(["worker", "--once"]) == 0
        before, after = held(installation.database, "harbour"), held(database, "harbour")
    assert after.keys() == {"campaign", *slugs}
    for evaluation, content in after.items():
        for part, values in before[evaluation].items():
            assert content[part] == values, (evaluation, part)
    draft = f"{installation.latest + 1}-text"
    assert all(before[slug]["figures"] for slug in slugs if slug != draft)
