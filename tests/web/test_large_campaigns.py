"""Pages of a campaign with many systems and runs: boards in pages, charts with a band, and what they cost."""

import csv
import gzip
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from bench.campaigns import Shape, make_campaign
from leaderboard.access import CONSOLE
from leaderboard.db import Database
from leaderboard.models import Submission, System, Team
from leaderboard.rules.roles import Role
from leaderboard.rules.standings import RunChoice
from leaderboard.services import people, teams
from tests.support.standing import standing_by_the_rule, standing_kept
from tests.support.world import new_account, signed_in

SYSTEMS = 212  # of which three are baselines
SHAPE = Shape(systems=SYSTEMS, runs=SYSTEMS, queries=6, measures=2)
BOARD = "/campaigns/large/2020"


@pytest.fixture
def large(database: Database) -> Database:
    make_campaign(database, SHAPE)
    return database


@contextmanager
def counted(app: Flask) -> Iterator[list[str]]:
    """The statements that the site runs in the block."""
    engine = app.extensions["database"].engine
    ran: list[str] = []

    def note(_: Any, __: Any, statement: str, *___: Any) -> None:
        if statement.lstrip().upper().startswith(("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")):
            ran.append(statement)

    sa.event.listen(engine, "before_cursor_execute", note)
    yield ran
    sa.event.remove(engine, "before_cursor_execute", note)


def runs_on(page: str) -> list[int]:
    return [int(number) for number in re.findall(r'<tr id="run-(\d+)"', page)]


def test_a_long_board_comes_in_pages_that_find_every_row(app: Flask, large: Database, quick_hashes: None) -> None:
    visitor = app.test_client()
    assert standing_kept(large) == standing_by_the_rule(large)
    pages = [visitor.get(f"{BOARD}?page={number}").text for number in (1, 2, 3)]
    baselines = set(runs_on(pages[0])) & set(runs_on(pages[2]))
    listed = [[run for run in runs_on(page) if run not in baselines] for page in pages]
    assert (len(baselines), list(map(len, listed))) == (3, [100, 100, 9])
    assert len({run for page in listed for run in page}) == SYSTEMS - 3
    assert "page 3 of 3" in pages[2]
    ranks = [re.findall(r'class="figure rank">(\d+)', page) for page in pages]
    assert (ranks[0][0], ranks[1][0], ranks[2][-1]) == ("1", "101", str(SYSTEMS - 3))
    assert pages[0].split('class="finding"')[1][:300] == pages[2].split('class="finding"')[1][:300]
    # A run's own page leads to the page of the board that it stands on.
    last = listed[2][-1]
    link = re.search(rf'href="([^"]*run={last})#run-{last}"', visitor.get(f"/submissions/{last}").text)
    assert link is not None
    assert last in runs_on(visitor.get(link[1]).text)
    # Search looks at all rows, and ranks stay those among all.
    with large.read() as session:
        system = session.get_one(System, session.get_one(Submission, last).system_id)
    found = visitor.get(f"{BOARD}?text={system.name.upper()}").text
    assert [run for run in runs_on(found) if run not in baselines] == [last]
    assert f'class="figure rank">{SYSTEMS - 3}' in found
    with large.write() as session:
        user = people.create_user(session, CONSOLE, new_account("member"))
        teams.add_member(session, CONSOLE, session.get_one(Team, system.team_id), user, Role.OWNER)
        cookie = signed_in(session, user.id)
    member = app.test_client()
    with member.session_transaction() as kept:
        kept["_user_id"] = cookie
    assert f"page=3#run-{last}" in member.get(BOARD).text
    rows = list(csv.DictReader(io.StringIO(visitor.get(f"{BOARD}.csv").text)))
    assert len(rows) == SYSTEMS
    assert all(row["P@5" if "P@5" in row else "nDCG@10"] for row in rows)


def test_the_chart_of_many_systems_draws_the_best_and_a_band_for_the_rest(app: Flask, large: Database) -> None:
    visitor = app.test_client()
    front, progress = visitor.get("/").text, visitor.get("/campaigns/large/progress").text
    assert "The grey band spans the other" in front
    assert len(front) < 100_000
    assert progress.count('<th scope="row">') <= 100 + 44  # systems of one page, and all teams
    with large.read() as session:
        name = session.scalars(sa.select(System.name).order_by(System.id.desc())).first()
    assert name in visitor.get(f"/campaigns/large/progress?text={name}").text
    rows = list(csv.DictReader(io.StringIO(visitor.get("/campaigns/large/progress.csv").text)))
    assert len(rows) == 2 * SYSTEMS


def test_runs_that_do_not_stand_cost_a_page_nothing(app: Flask, large: Database) -> None:
    """Ten times the runs of as many systems: the same statements, and no row of a run that does not stand."""
    make_campaign(large, Shape(SYSTEMS, SYSTEMS * 5, SHAPE.queries, SHAPE.measures), slug="deep")
    visitor = app.test_client()
    for path in ("", "/progress", "/2020", "/2020/queries", "/2020/queries/q1"):
        ran = []
        for campaign in ("large", "deep"):
            with counted(app) as statements:
                assert visitor.get(f"/campaigns/{campaign}{path}").status_code == 200
            ran.append(list(statements))
        assert len(ran[0]) == len(ran[1]), path
        of_runs = [one for one in ran[1] if "submission.received_at" in one]
        assert of_runs, path
        assert all("JOIN standing" in one for one in of_runs), path


def test_a_campaign_of_best_runs_reads_all_of_them_and_ranks_as_the_rule_says(app: Flask, database: Database) -> None:
    make_campaign(database, Shape(systems=12, runs=36, queries=6, measures=2), choice=RunChoice.BEST)
    rows = list(csv.DictReader(io.StringIO(app.test_client().get(f"{BOARD}.csv?show=all").text)))
    best: dict[str, float] = {}
    for row in rows:
        best[row["system"]] = max(best.get(row["system"], 0.0), float(row["AP"]))
    shown = list(csv.DictReader(io.StringIO(app.test_client().get(f"{BOARD}.csv").text)))
    assert {row["system"]: float(row["AP"]) for row in shown} == best


def test_style_sheets_are_sent_compressed_to_whoever_takes_that(app: Flask, database: Database) -> None:
    visitor = app.test_client()
    (sheet,) = re.findall(r'href="(/static/leaderboard.css[^"]*)"', visitor.get("/").text)
    with visitor.get(sheet) as answer:
        plain = answer.data
    packed = visitor.get(sheet, headers={"Accept-Encoding": "gzip"})
    assert gzip.decompress(packed.data) == plain
    assert packed.headers["Content-Encoding"] == "gzip"
    assert int(packed.headers["Content-Length"]) == len(packed.data) < len(plain) / 3
    assert "Accept-Encoding" in packed.headers["Vary"]
