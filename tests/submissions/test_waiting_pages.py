"""Pages of runs that wait for their scores: on PostgreSQL the site keeps its answer back until there is news."""

import select
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from leaderboard.db import Database, Listener
from leaderboard.web.server import AWAITING, NOTICE_SECONDS, Notices
from tests.support.clients import Client
from tests.support.site import Installation, running_site
from tests.support.world import PASSWORD, World, run_text

READERS = 12  # three times as many as may compute


@contextmanager
def _site(world: World) -> Iterator[Installation]:
    with running_site(world.config.database_url, Path(world.store.url).parent, workers=0, processes=1) as site:
        yield site


@contextmanager
def _reader(site: Installation) -> Iterator[Client]:
    with closing(Client(site.url)) as ada:
        ada.log_in("Ada", PASSWORD)
        yield ada


@contextmanager
def _waiting(site: Installation, run: int, count: int) -> Iterator[list[Client]]:
    """Readers that have asked, each on a connection of its own, and are not answered yet."""
    with _reader(site) as ada, ExitStack() as stack:
        readers = [stack.enter_context(closing(Client(site.url))) for _ in range(count)]
        for reader in readers:
            reader.connection.request("GET", f"/submissions/{run}/status?wait=yes", headers={"Cookie": ada.cookie})
        yield readers


def _answered(readers: list[Client]) -> list[Client]:
    ready = select.select([reader.connection.sock for reader in readers], [], [], 0)[0]
    return [reader for reader in readers if reader.connection.sock in ready]


def _answers(readers: list[Client]) -> list[str]:
    """The states that the answers tell."""
    texts = [reader.connection.getresponse().read().decode() for reader in readers]
    return [text.partition('data-state="')[2].partition('"')[0] for text in texts]


@pytest.mark.parametrize("engine_name", ["postgresql"])
def test_pages_are_answered_as_soon_as_the_run_is_scored_and_hold_up_no_other_meanwhile(world: World) -> None:
    run, other = world.submit(run_text(1)), world.submit(run_text(2))
    with _site(world) as site, _reader(site) as somebody:
        somebody.ask("GET", f"/submissions/{other}")  # its templates are compiled
        began = time.monotonic()
        with _waiting(site, run, READERS) as readers:
            assert somebody.ask("GET", "/healthz")[0] == 200
            assert "1 run goes before it" in somebody.ask("GET", f"/submissions/{other}/status")[1]
            waited = _answered(readers) == []
            world.drain()
            states = _answers(readers[:1])
            took = time.monotonic() - began
            states += _answers(readers[1:])
    assert waited
    assert states == ["scored"] * READERS
    assert took < NOTICE_SECONDS


@pytest.mark.parametrize("engine_name", ["postgresql"])
def test_a_site_that_stops_answers_who_waits(world: World) -> None:
    run = world.submit(run_text(1))
    with _site(world) as site, _waiting(site, run, READERS) as readers, _reader(site) as somebody:
        somebody.ask("GET", f"/submissions/{run}/status")
        began = time.monotonic()
        site.serve.send_signal(signal.SIGTERM)
        assert _answers(readers) == ["queued"] * READERS
        assert time.monotonic() - began < NOTICE_SECONDS
        assert site.serve.wait(seconds=30) == 0


class _Unheard(Notices):
    """Ones of which none comes."""

    def _listen(self, _: Listener) -> None:
        pass


@pytest.mark.parametrize("engine_name", ["sqlite"])  # no statement is made
def test_what_would_wait_beyond_the_bound_of_a_process_is_told_at_once(database: Database) -> None:
    notices = _Unheard(database)
    events = [notices.of("submission 1") for _ in range(AWAITING + 1)]
    assert [event.is_set() for event in events] == [False] * AWAITING + [True]


@pytest.mark.parametrize("engine_name", ["sqlite"])  # which tells nothing
def test_where_nobody_tells_a_page_is_answered_at_once(world: World) -> None:
    run = world.submit(run_text(1))
    with _site(world) as site, _reader(site) as somebody:
        somebody.ask("GET", f"/submissions/{run}/status")
        began = time.monotonic()
        assert 'data-state="queued"' in somebody.ask("GET", f"/submissions/{run}/status?wait=yes")[1]
        assert time.monotonic() - began < NOTICE_SECONDS
