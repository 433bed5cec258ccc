"""Pages of a campaign with many systems and runs: boards in pages, charts of the best, and what they cost."""

import datetime as dt
import re
from functools import partial

import pytest
import sqlalchemy as sa
from flask import Flask
from sqlalchemy.orm import Session

from bench.campaigns import Shape, make_campaign
from leaderboard.access import CONSOLE
from leaderboard.accounts import writes as people
from leaderboard.boards.models import Board
from leaderboard.boards.writes import KeptFigure, packed_figures
from leaderboard.campaigns.models import Campaign, CampaignOrganiser
from leaderboard.db import Database
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import Subset
from leaderboard.submissions.models import Submission
from leaderboard.teams import writes as teams
from leaderboard.teams.models import System, Team
from leaderboard.teams.rules import Role
from leaderboard.worker.models import Score, Scoring, ScoringSet
from tests.support.databases import Filling
from tests.support.pages import table_of
from tests.support.standing import standing_by_the_rule, standing_kept
from tests.support.statements import counted
from tests.support.world import new_account, signed_in
from tests.web.conftest import BOTH, browser_of

SYSTEMS = 212  # of which three are baselines
SHAPE = Shape(systems=SYSTEMS, runs=SYSTEMS, queries=6, measures=2)
BOARD = "/campaigns/large/2020"


@pytest.fixture(scope="session")
def fill_large() -> Filling:
    """Puts the large campaign into a database that tests get copies of."""
    return partial(make_campaign, shape=SHAPE)


@pytest.fixture
def large(database: Database, fill_large: Filling) -> Database:
    return database


def runs_on(page: str) -> list[int]:
    return [int(number) for number in re.findall(r'<tr id="run-(\d+)"', page)]


def test_a_long_board_comes_in_pages_that_find_every_row(app: Flask, large: Database) -> None:
    visitor = app.test_client()
    assert standing_kept(large) == standing_by_the_rule(large)
    pages = [visitor.get(f"{BOARD}?page={number}").text for number in (1, 2, 3)]
    baselines = set(runs_on(pages[0])) & set(runs_on(pages[2]))
    listed = [[run for run in runs_on(page) if run not in baselines] for page in pages]
    assert (len(baselines), list(map(len, listed))) == (3, [100, 100, 9])
    assert len({run for page in listed for run in page}) == SYSTEMS - 3
    assert 'aria-label="Page 3" aria-current="page"' in pages[2]
    ranks = [re.findall(r'class="figure rank"><label><input[^>]*>(\d+)', page) for page in pages]
    assert (ranks[0][0], ranks[1][0], ranks[2][-1]) == ("1", "101", str(SYSTEMS - 3))
    assert " is one of 13, shaded: " in pages[0]
    assert " is one of 13, none of them in this table: " in pages[2]
    # A run's own page leads to the page of the board that it stands on.
    last = listed[2][-1]
    link = re.search(rf'href="([^"]*run={last})#run-{last}"', visitor.get(f"/submissions/{last}").text)
    assert link is not None
    assert last in runs_on(visitor.get(link[1]).text)
    # Search looks at all rows, and ranks stay those among all.
    with large.read() as session:
        name = session.get_one(System, session.get_one(Submission, last).system_id).name
    for looked_for in (name.upper(), f"  {name.replace(' ', '   ')} "):
        found = visitor.get(BOARD, query_string={"text": looked_for}).text
        assert [run for run in runs_on(found) if run not in baselines] == [last]
        assert re.search(rf'class="figure rank"><label><input[^>]*>{SYSTEMS - 3}<', found)
    assert len(table_of(visitor.get(f"{BOARD}.csv"))) == SYSTEMS


def test_the_chart_of_many_systems_draws_the_best_alone(app: Flask, large: Database) -> None:
    visitor = app.test_client()
    front, progress = visitor.get("/").text, visitor.get("/campaigns/large/progress").text
    assert re.search(r"The other \d+ systems are not drawn\.", front)
    assert len(front) < 100_000
    assert progress.count('<th scope="row">') <= 100 + 44  # systems of one page, and all teams
    with large.read() as session:
        name = session.scalars(sa.select(System.name).order_by(System.id.desc())).first()
    assert name in visitor.get(f"/campaigns/large/progress?text={name}").text
    rows = table_of(visitor.get("/campaigns/large/progress.csv"))
    assert len(rows) == 2 * SYSTEMS


@pytest.mark.parametrize("engine_name", ["postgresql"])  # the same
def test_runs_that_do_not_stand_cost_a_page_nothing(app: Flask, database: Database) -> None:
    """Five times the runs of as many systems: the same statements, and no row of a run that does not stand."""
    for slug, runs in (("flat", 20), ("deep", 100)):
        make_campaign(database, Shape(20, runs, SHAPE.queries, SHAPE.measures), slug=slug)
    visitor = app.test_client()
    of_one = "", "/progress", "/2020", "/2020/queries", "/2020/queries/q1"
    for path in (*of_one, "/2020?show=best", "/2020?show=latest"):
        ran = []
        for campaign in ("flat", "deep"):
            with counted(app) as statements:
                assert visitor.get(f"/campaigns/{campaign}{path}").status_code == 200
            ran.append(list(statements))
        assert len(ran[0]) == len(ran[1]), path
        of_runs = [one for one in ran[1] if "submission.received_at" in one]
        assert of_runs, path
        assert all("JOIN standing" in one for one in of_runs), path


MOST_STATEMENTS = 11  # of a first view, by whoever looks


def first_views(app: Flask, database: Database, slug: str, cookie: str | None) -> dict[str, int]:
    """Kind of page -> the statements of a first view of it, as this reader."""
    of_year = Evaluation.slug == "2020", Campaign.slug == slug
    with database.read() as session:
        ends = sa.select(sa.func.min(Submission.id), sa.func.max(Submission.id))
        first, last = session.execute(ends.join(Submission.evaluation).join(Evaluation.campaign).where(*of_year)).one()
        sets = sa.select(ScoringSet.id).join(Evaluation).join(Evaluation.campaign).order_by(ScoringSet.id)
        before, after = session.scalars(sets.where(*of_year))
    year = f"/campaigns/{slug}/2020"
    addresses = {
        "campaign": f"/campaigns/{slug}", "progress": f"/campaigns/{slug}/progress", "board": year,
        "queries": f"{year}/queries", "query": f"{year}/queries/q2", "run": f"/submissions/{last}", "front": "/",
        "moved": f"{year}/boards/{before}/to/{after}", "compare": f"{year}/compare?a={last}&b={first}",
        "across": f"/campaigns/{slug}/across", "tags": f"{year}/tags", "heat map": f"{year}/heat-map",
    }  # fmt: skip
    reader, ran = browser_of(app, cookie), {}
    for kind, address in addresses.items():
        with counted(app) as statements:
            assert reader.get(address).status_code == 200
        ran[kind] = len(statements)
    return ran


def test_pages_of_a_team_and_of_a_system_take_as_many_statements_whatever_the_rows(
    app: Flask, database: Database
) -> None:
    visitor, ran = app.test_client(), []
    for slug, shape in {"few": Shape(3, 3, 4, 2), "more": Shape(12, 24, 8, 4)}.items():
        make_campaign(database, shape, slug=slug)
        with database.read() as session:
            of_slug = sa.select(Team.slug, System.slug).join(System.team).where(Team.slug.startswith(f"{slug}-team"))
            team, system = session.execute(of_slug.order_by(System.id).limit(1)).one()
        for path in (f"/teams/{team}", f"/teams/{team}/{system}"):
            with counted(app) as statements:
                assert visitor.get(path).status_code == 200
            ran.append(len(statements))
    assert ran[:2] == ran[2:]
    assert max(ran) <= MOST_STATEMENTS
    with database.write() as session:
        first_year = (
            sa.select(Evaluation).join(Evaluation.campaign).where(Campaign.slug == slug, Evaluation.slug == "2019")
        )
        session.scalars(first_year).one().condition = "speech"
    with counted(app) as statements:
        page = visitor.get(f"/teams/{team}/{system}").text
    assert page.count("speech") > 0
    assert len(statements) == ran[3]  # in one condition and in two


@pytest.mark.parametrize("engine_name", ["postgresql"])  # which statements run is decided above the engine
def test_a_first_view_takes_as_many_statements_whatever_the_rows(app: Flask, database: Database) -> None:
    seen: dict[str, list[dict[str, int]]] = {}
    for slug, shape in {"few": Shape(3, 3, 4, 2, boards=2), "more": Shape(12, 24, 8, 4, boards=2)}.items():
        make_campaign(database, shape, slug=slug)
        with database.write() as session:
            campaign = session.scalars(sa.select(Campaign).where(Campaign.slug == slug)).one()
            last = session.scalars(sa.select(Submission).order_by(Submission.id.desc()).limit(1)).one()
            member, organiser = (
                people.create_user(session, CONSOLE, new_account(f"{role} of {slug}")) for role in ("one", "another")
            )
            teams.add_member(session, CONSOLE, session.get_one(Team, last.team_id), member, Role.OWNER)
            session.add(CampaignOrganiser(campaign_id=campaign.id, user_id=organiser.id))
            cookies = {
                "a visitor": None,
                "a participant": signed_in(session, member.id),
                "an organiser": signed_in(session, organiser.id),
            }
        for reader, cookie in cookies.items():
            seen.setdefault(reader, []).append(first_views(app, database, slug, cookie))
    for reader, (few, more) in seen.items():
        assert few == more, reader
        assert max(more.values()) <= MOST_STATEMENTS, (reader, more)
    with database.write() as session:
        for one in session.scalars(sa.select(Evaluation)):
            one.anonymous_until = dt.datetime(2999, 1, 1, tzinfo=dt.UTC)
    for cookie in cookies.values():
        nameless = first_views(app, database, "more", cookie)
        assert max(nameless.values()) <= MOST_STATEMENTS, nameless


@BOTH
def test_a_board_of_every_run_comes_in_pages_of_the_same_rows_as_its_file(app: Flask, database: Database) -> None:
    """Ties that go on over the end of a page, means that nothing is known of, and late runs among them."""
    shapes = {"crowd": Shape(20, 260, 3, 2, years=1), "apart": Shape(70, 240, 3, 2, years=1)}
    for slug, shape in shapes.items():
        make_campaign(database, shape, slug=slug)
        with database.write() as session:
            of_it = sa.select(Submission.id).join(Submission.evaluation).join(Evaluation.campaign)
            ids = session.scalars(of_it.where(Campaign.slug == slug).order_by(Submission.id)).all()
            for some, mean in ((ids[80:140], 0.35), (ids[150:155], None)):
                scorings = sa.select(Scoring.id).where(Scoring.submission_id.in_(some))
                _raw(session, sa.update(Score).where(Score.scoring_id.in_(scorings)).values(mean=mean))
            _keep_again(session, lacking=9)
            _raw(session, sa.update(Submission).where(Submission.id.in_(ids[200:205])).values(late=True))
            team = session.get_one(Team, session.get_one(Submission, ids[-1]).team_id)
            user = people.create_user(session, CONSOLE, new_account(f"member of {slug}"))
            teams.add_member(session, CONSOLE, team, user, Role.OWNER)
            cookie = signed_in(session, user.id)
        board = f"/campaigns/{slug}/2019"
        rows = table_of(app.test_client().get(f"{board}.csv?show=all"))
        ranks = {int(row["submission"]): row["rank"] or "–" for row in rows}
        baselines = {int(row["submission"]) for row in rows if row["kind"] == "baseline"}
        expected = [run for run in ranks if run not in baselines]
        assert len(rows) == shape.runs
        reader = browser_of(app, cookie)
        pages = [reader.get(f"{board}?show=all&page={number}").text for number in (1, 2, 3)]
        shown = [runs_on(page) for page in pages]
        stay = set(shown[0]) & set(shown[1])
        assert stay == (baselines if slug == "apart" else set())
        listed = [[run for run in own if run not in stay] for own in shown]
        assert [run for own in listed for run in own if run not in baselines] == expected
        assert sorted(run for own in listed for run in own) == sorted(ranks.keys() - stay)
        for own, page in zip(shown, pages, strict=True):
            cells = re.findall(r'<td class="figure rank">(?:<label><input[^>]*>)?(?:<span[^>]*>)?([\d–]+)', page)
            assert cells == [ranks[run] for run in own]
        for run in ids[80:140:6]:  # of those that tie
            assert run in runs_on(reader.get(f"{board}?show=all&run={run}").text)
        with database.write() as session:
            campaign = session.scalars(sa.select(Campaign).where(Campaign.slug == slug)).one()
            session.add(CampaignOrganiser(campaign_id=campaign.id, user_id=user.id))
            _keep_again(session, lacking=0)
        with counted(app) as statements:
            assert runs_on(reader.get(f"{board}?show=all&page=2").text) == shown[1]
        assert len(statements) <= MOST_STATEMENTS + 1  # all runs come as arrays first


def _keep_again(session: Session, lacking: int) -> None:
    """Boards keep the figures that stand now; not of one run in so many, as if these had been scored since."""
    figures: dict[tuple[int, str, Subset], dict[int, KeptFigure]] = {}
    of_figure = Score.mean, Score.count, Score.low, Score.high
    columns = Scoring.scoring_set_id, Score.measure, Score.subset, Scoring.id
    for set_id, measure, subset, run, *own in session.execute(sa.select(*columns, *of_figure).join(Scoring)):
        if not lacking or run % lacking:
            figures.setdefault((set_id, measure, subset), {})[run] = (own[0], own[1], own[2], own[3])
    for board in session.scalars(sa.select(Board)):
        for name, packed in packed_figures(figures[board.scoring_set_id, board.measure, board.subset]).items():
            setattr(board, name, packed)


def _raw(session: Session, statement: sa.Update) -> None:
    session.execute(statement, execution_options={"synchronize_session": False})


def test_no_page_reads_the_figures_of_all_runs_by_one_measure(app: Flask, large: Database) -> None:
    make_campaign(large, Shape(systems=3, runs=3, queries=6, measures=2), slug="small")
    visitor = app.test_client()
    for path in ("/", BOARD, f"{BOARD}?show=all", "/campaigns/large/progress"):
        with counted(app) as ran:
            assert visitor.get(path).status_code == 200
        plans = [plan for statement in ran for plan in _plan_of(large, statement)]
        assert any("SEARCH score" in plan for plan in plans)
        assert not [plan for plan in plans if re.search(r"(SCAN score\b|ix_score_of_boards \(measure=\?\))", plan)], (
            path
        )


def _plan_of(database: Database, statement: str) -> list[str]:
    with database.engine.connect() as connection:
        nothing = (None,) * statement.count("?")
        return [str(row[3]) for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", nothing)]
