"""A whole installation on a bucket: the site, a worker and commands, and what they say while it is away."""

import shutil
import time
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from leaderboard.db import Database
from tests.support.clients import Client
from tests.support.site import running_site
from tests.support.stores import s3_service
from tests.support.world import PASSWORD, RUN, build_world

LIST, FILE = "/submissions/1/queries/q1", "/submissions/1/file"
MOST_SECONDS = 7.0  # a page waits for the bucket
PAST = datetime(2026, 1, 2, tzinfo=UTC)


def test_all_that_an_installation_does_it_does_on_a_bucket_and_503_comes_within_seconds_while_that_is_away(
    migrated_sqlite: Path, tmp_path: Path, bucket_url: str, quick_hashes: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{shutil.copyfile(migrated_sqlite, tmp_path / 'leaderboard.sqlite')}"
    run = tmp_path / "run.txt"
    run.write_text(RUN)
    with ExitStack() as until_away, closing(Database.connect(url)) as database:
        endpoint = until_away.enter_context(s3_service())
        monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
        world = build_world(database, tmp_path, store_url=bucket_url)
        with running_site(url, tmp_path, store_url=bucket_url) as site, closing(Client(site.url)) as ada:
            team = "--team", "northern-lights", "--new-system", "Heron"
            said = site.command("submit", "small/2026", run, *team, "--confirm")
            assert said.split()[-2:] == ["0.5000", "0.3333"]  # AP and P@1: the worker's own process has scored it
            ada.log_in("Ada", PASSWORD)
            assert ada.ask("GET", FILE) == (200, RUN)
            site.command("export", "small", "--out", tmp_path / "exported")
            assert [path.read_text() for path in (tmp_path / "exported").rglob("run.txt")] == [RUN]
            world.change_evaluation(closes_at=PAST, judgments_published=True)
            assert "d2" in ada.ask("GET", LIST)[1]
            world.drain()  # its board
            site.command("freeze", "small/2026", tmp_path / "frozen", "--all-runs")
            assert "nothing differs" in site.command("verify", "--figures")
            assert not (tmp_path / "store").exists()
            until_away.close()
            ada.close()  # the next request opens another connection
            began = time.monotonic()
            assert [ada.ask("GET", page)[0] for page in (LIST, FILE)] == [503, 503]
            assert time.monotonic() - began < 2 * MOST_SECONDS
            with s3_service(urlsplit(endpoint).port or 0):
                assert ada.ask("GET", FILE) == (200, RUN)
