"""Every text that people write has a length, and holds nothing that can't be kept or shown."""

from collections.abc import Callable

import pytest
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE
from leaderboard.campaigns import writes as campaigns
from leaderboard.campaigns.models import Campaign
from leaderboard.errors import InvalidFields
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.models import Evaluation
from leaderboard.judgments import writes as judgments
from leaderboard.judgments import writes as queries
from leaderboard.submissions.models import Submission
from leaderboard.submissions.writes import submissions
from leaderboard.teams import writes as systems
from leaderboard.teams import writes as teams
from leaderboard.teams.models import Team
from leaderboard.teams.writes import NewSystem
from tests.support.world import World, judged

Write = Callable[[World, Session, str], object]
SQLITE = pytest.mark.parametrize("engine_name", ["sqlite"])  # refused before any statement


def team(world: World, session: Session) -> Team:
    return session.get_one(Team, world.team)


def campaign(world: World, session: Session) -> Campaign:
    return session.get_one(Campaign, world.campaign)


def evaluation(world: World, session: Session) -> Evaluation:
    return session.get_one(Evaluation, world.evaluation)


def withdraw(world: World, session: Session, text: str) -> None:
    submissions.withdraw(session, world.ada, session.query(Submission).one(), because=text)


# Where it is written -> (its longest, how it is written)
TEXTS: dict[str, tuple[int, Write]] = {
    "why a run is withdrawn": (500, withdraw),
    "why a query is left out": (
        500,
        lambda world, session, text: queries.exclude_queries(
            session, CONSOLE, evaluation(world, session), ["q1"], text
        ),
    ),
    "a note on judgments": (
        500,
        lambda world, session, text: judgments.import_judgments(
            session, CONSOLE, evaluation(world, session), judged("q1 0 d1 1\nq2 0 d3 1\nq3 0 d9 1\n"), note=text
        ),
    ),
    "a team's description": (
        2000, lambda world, session, text: teams.change_team(session, world.ada, team(world, session), description=text)
    ),
    "a new team's description": (
        2000, lambda world, session, text: teams.create_team(session, world.eve, "Others", description=text)
    ),
    "a system's description": (
        4000,
        lambda world, session, text: systems.create_system(
            session, world.ada, team(world, session), NewSystem("New", description=text)
        ),
    ),
    "a campaign's description": (
        4000,
        lambda world, session, text: campaigns.change_campaign(
            session, CONSOLE, campaign(world, session), description=text
        ),
    ),
    "a campaign's title": (
        120,
        lambda world, session, text: campaigns.change_campaign(session, CONSOLE, campaign(world, session), title=text),
    ),
    **{
        f"an evaluation's {name}": (
            longest,
            lambda world, session, text, name=name: evaluations.change_evaluation(  # type: ignore[misc]  # mypy infers no default
                session, CONSOLE, evaluation(world, session), **{name: text, "period_key": 2026}
            ),
        )
        for name, longest in {
            "description": 4000, "title": 120, "period": 120, "condition": 120, "collection": 120
        }.items()
    },
}  # fmt: skip


@pytest.mark.parametrize("where", TEXTS)
def test_every_text_has_a_length_and_holds_no_control_characters(world: World, where: str) -> None:
    longest, write = TEXTS[where]
    world.submit()
    for text in ("x" * (longest + 1), "a\x00b", "\x1b[31m", "half of a pair: \ud800", "fees \u202eruobrah"):
        with pytest.raises(InvalidFields), world.database.write() as session:
            write(world, session, text)
    with world.database.write() as session:
        write(world, session, "é" * longest)


@SQLITE
@pytest.mark.parametrize("field", ["code_url", "paper_url"])
@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "data:text/html,x", "ftp://example.org", "//example.org", "https://", "https://a\x00b.org",
     "https://example.org/" + "x" * 500, "file:///etc/passwd", "https://ex\nample.org"],
)  # fmt: skip
def test_a_systems_links_lead_to_web_pages_only(world: World, field: str, url: str) -> None:
    with pytest.raises(InvalidFields) as caught, world.database.write() as session:
        systems.create_system(session, world.ada, team(world, session), NewSystem("New", **{field: url}))
    assert set(caught.value.fields) == {field}


@SQLITE
@pytest.mark.parametrize("name", ["documents", "relevance_level", "period_key", "daily_quota", "total_quota"])
def test_a_number_that_no_database_holds_is_refused(world: World, name: str) -> None:
    for number in (2**63, 10**30):
        with pytest.raises(InvalidFields) as caught:
            world.change_evaluation(**{name: number})
        assert set(caught.value.fields) == {name}


def test_a_description_is_kept_without_blanks_around_it_and_one_of_blanks_only_is_none(world: World) -> None:
    with world.database.write() as session:
        for change, row in (
            (campaigns.change_campaign, campaign(world, session)),
            (evaluations.change_evaluation, evaluation(world, session)),
        ):
            change(session, CONSOLE, row, description="\r\n two\r\nlines \r\n")
            assert row.description == "two\r\nlines"
            change(session, CONSOLE, row, description="\r\n\r\n")
            assert row.description == ""
        kept = campaigns.change_campaign(session, CONSOLE, campaign(world, session), guidelines="\r\n ")
        assert kept.guidelines == ""
