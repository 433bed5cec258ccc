"""Pages that are kept as they were rendered: what an unchanged one costs, and that a changed one is never shown."""

import gzip
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

import brotli
import pytest
import sqlalchemy as sa
from flask import Flask

from leaderboard.access import CONSOLE
from leaderboard.accounts import writes as people
from leaderboard.audit.writes import present
from leaderboard.campaigns import writes as campaigns
from leaderboard.campaigns.models import Campaign
from leaderboard.campaigns.rules import Visibility
from leaderboard.evaluations.writes import remove_campaign
from leaderboard.web.page_cache import Page, PageCache
from tests.support.field import DAY
from tests.web.conftest import BOTH, RUN, Reader, World

PATHS = (
    "/",
    "/campaigns/harbour",
    "/campaigns/harbour/progress",
    "/campaigns/harbour/2025",
    "/campaigns/harbour/2025.csv",
    "/campaigns/harbour/2025?sort=system",
    "/campaigns/harbour/2025/queries",
    "/campaigns/harbour/2025/queries/q1",
    "/teams/alpha",
    "/measures/",
    "/measures/AP",
)


UNPACKED: Mapping[str, Callable[[bytes], bytes]] = {"gzip": gzip.decompress, "br": brotli.decompress}


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [("GZIP", "gzip"), ("gzip, deflate, br, zstd", "br"), ("br;q=0.5, gzip", "gzip"), ("br;q=0, *", "gzip")],
)
def test_a_page_is_packed_for_whoever_takes_it_and_the_same_to_all(visitor: Reader, accepted: str, coding: str) -> None:
    plain = visitor.client.get("/measures/")
    for _ in range(2):  # as rendered, as kept
        packed = visitor.client.get("/measures/", headers={"Accept-Encoding": accepted})
        assert packed.headers["Content-Encoding"] == coding
        assert UNPACKED[coding](packed.data) == plain.data
        assert int(packed.headers["Content-Length"]) == len(packed.data) < len(plain.data) / 3
        assert "Accept-Encoding" in packed.headers["Vary"]


@pytest.mark.parametrize("accepted", ["deflate", "br;q=0, gzip;q=0, *", "identity;q=0"])
def test_a_page_stays_as_it_is_for_whoever_takes_no_coding_of_ours(visitor: Reader, accepted: str) -> None:
    refused = visitor.client.get("/measures/", headers={"Accept-Encoding": accepted})
    assert "Content-Encoding" not in refused.headers
    assert refused.data == visitor.client.get("/measures/").data


def test_a_page_with_a_form_is_not_packed_and_not_shared(app: Flask, participant: Reader, visitor: Reader) -> None:
    own = participant.client.get("/teams/alpha", headers={"Accept-Encoding": "gzip"})
    assert b"csrf_token" in own.data
    assert "Content-Encoding" not in own.headers
    assert b"csrf_token" not in visitor.client.get("/teams/alpha").data
    assert b"csrf_token" not in app.test_client().get("/teams/alpha").data


def test_no_reader_gets_a_page_that_was_made_for_another(app: Flask, reader: Callable[[str], Reader]) -> None:
    """Each of them asks twice, in turn, and gets what an application that keeps nothing gives them."""
    everybody = {name: reader(name) for name in ("", "ada", "ben", "eve", "orla")}
    paths = [*PATHS, "/campaigns/harbour/2025.json"]

    def look() -> dict[tuple[str, str], str]:
        pages = {(path, name): one.client.get(path).text for path in paths for name, one in everybody.items()}
        return {asked: re.sub(r'name="csrf_token" value="[^"]*"', "", page) for asked, page in pages.items()}

    first, cache = look(), app.extensions["kept pages"]
    most, cache.most_bytes = cache.most_bytes, 0
    fresh = look()
    cache.most_bytes = most
    assert first == fresh == look()


@BOTH
def test_a_claim_of_a_worker_shows_on_a_page_that_was_asked_for_before(world: World, participant: Reader) -> None:
    """Claims raise no generation: a page with a run that is waiting is not kept."""
    participant.send("/campaigns/harbour/2025/submit", RUN, system=str(world.system.id), designation="primary")
    assert "queued" in participant.get("/teams/alpha")
    with world.database.write() as session:
        session.execute(sa.text("UPDATE scoring SET state = 'scoring'"))
    assert "scoring" in participant.get("/teams/alpha")


def test_the_clock_opens_what_it_opens_on_a_kept_page(
    app: Flask, world: World, visitor: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = present()
    world.change(opens_at=now + DAY, closes_at=now + 2 * DAY)
    monkeypatch.setitem(app.extensions, "clock", lambda: now)
    assert "first query" not in visitor.get("/campaigns/harbour/2025/queries")
    for moment, opened in ((now + DAY * 0.999, False), (now + DAY, True), (now, False)):  # and is set back
        monkeypatch.setitem(app.extensions, "clock", lambda moment=moment: moment)
        assert ("first query" in visitor.get("/campaigns/harbour/2025/queries")) is opened


def test_a_session_that_has_ended_opens_no_kept_page(world: World, participant: Reader) -> None:
    assert "Leave this team" in participant.get("/teams/alpha")
    with world.database.write() as session:
        people.end_sessions(session, CONSOLE, session.merge(world.users["ada"]))
    participant.get("/teams/alpha", status=404)


def test_pages_beyond_the_memory_for_them_go_with_the_longest_unasked_first() -> None:
    cache = PageCache(50_000)
    page = Page((None, 1), None, None, organises=False, since=present(), until=None, endpoint=None, personal=False)
    pages = {name: replace(page, body=name.encode() * 4_000) for name in "abcdefghijkl"}
    for name, one in pages.items():
        cache.put((name,), one)
        cache.take(("a",))
    assert [name for name in pages if cache.take((name,))] == ["a", *"ghijkl"]  # 6,333 bytes each


@BOTH
@pytest.mark.parametrize("visibility", [Visibility.PUBLIC, Visibility.DRAFT])
def test_a_campaign_that_takes_the_name_of_another_is_not_shown_by_its_pages(
    world: World, visitor: Reader, visibility: Visibility
) -> None:
    """However often the two were changed: each counts its own changes."""

    def make(slug: str, title: str, seen_by: Visibility = Visibility.PUBLIC) -> int:
        with world.database.write() as session:
            made = campaigns.create_campaign(
                session, CONSOLE, slug, title, measures=["AP"], primary_measure="AP", visibility=seen_by
            )
            return made.id

    first = make("pilot", "By mistake")
    make("other", "Other")  # else SQLite would use the number of the first one again
    assert "By mistake" in visitor.get("/campaigns/pilot")
    with world.database.write() as session:
        remove_campaign(session, CONSOLE, session.get_one(Campaign, first))
    visitor.get("/campaigns/pilot", status=404)
    second = make("pilot", "As it should be", visibility)
    for change in range(12):
        if visibility is Visibility.DRAFT:
            visitor.get("/campaigns/pilot", status=404)
        else:
            page = visitor.get("/campaigns/pilot")
            assert "As it should be" in page
            assert "By mistake" not in page
        with world.database.write() as session:
            campaigns.change_campaign(session, CONSOLE, session.get_one(Campaign, second), description=f"{change}.")
