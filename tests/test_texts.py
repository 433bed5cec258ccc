"""Every text that people write has a length, and holds nothing that can't be kept or shown."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE
from leaderboard.campaigns import writes as campaigns
from leaderboard.campaigns.models import Campaign
from leaderboard.errors import InvalidFields
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.models import Evaluation
from leaderboard.judgments import writes as judgments
from leaderboard.judgments.rules import JudgmentFiles
from leaderboard.submissions.models import Submission
from leaderboard.submissions.writes import submissions
from leaderboard.teams import writes as teams
from leaderboard.teams.models import Team
from tests.support.world import World, judged

SQLITE = pytest.mark.parametrize("engine_name", ["sqlite"])  # refused before any statement


JUDGED = JudgmentFiles(judged("q1 0 d1 1\nq2 0 d3 1\nq3 0 d9 1\n"))


class Place:
    """A writing session, with who writes and what is written to."""

    def __init__(self, world: World, session: Session) -> None:
        self.session, self.ada, self.eve = session, world.ada, world.eve
        self.team = session.get_one(Team, world.team)
        self.campaign = session.get_one(Campaign, world.campaign)
        self.evaluation = session.get_one(Evaluation, world.evaluation)
        self.run = session.query(Submission).first()


def _campaign(at: Place, text: str, *, name: str) -> None:
    campaigns.change_campaign(at.session, CONSOLE, at.campaign, **{name: text})


def _evaluation(at: Place, text: str, *, name: str) -> None:
    evaluations.change_evaluation(at.session, CONSOLE, at.evaluation, **{name: text, "period_key": 2026})


Write = Callable[[Any, str], object]
# Where it is written -> its longest, and how it is written, with the session, the world's actor and rows, and the text.
TEXTS: dict[str, tuple[int, Write]] = {
    "why a run is withdrawn": (500, lambda at, text: submissions.withdraw(at.session, at.ada, at.run, because=text)),
    "why a query is left out": (
        500, lambda at, text: judgments.exclude_queries(at.session, CONSOLE, at.evaluation, ["q1"], text)
    ),
    "a note on judgments": (
        500, lambda at, text: judgments.import_judgments(at.session, CONSOLE, at.evaluation, JUDGED, note=text)
    ),
    "a team's description": (2000, lambda at, text: teams.change_team(at.session, at.ada, at.team, description=text)),
    "a new team's description": (
        2000, lambda at, text: teams.create_team(at.session, at.eve, "Others", description=text)
    ),
    "a system's description": (
        4000,
        lambda at, text: teams.create_system(at.session, at.ada, at.team, teams.NewSystem("New", description=text)),
    ),
    **{
        f"a campaign's {name}": (longest, partial(_campaign, name=name))
        for name, longest in {"description": 4000, "title": 120}.items()
    },
    **{
        f"an evaluation's {name}": (longest, partial(_evaluation, name=name))
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
            write(Place(world, session), text)
    with world.database.write() as session:
        write(Place(world, session), "é" * longest)


@SQLITE
@pytest.mark.parametrize("field", ["code_url", "paper_url"])
@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "data:text/html,x", "ftp://example.org", "//example.org", "https://", "https://a\x00b.org",
     "https://example.org/" + "x" * 500, "file:///etc/passwd", "https://ex\nample.org"],
)  # fmt: skip
def test_a_systems_links_lead_to_web_pages_only(world: World, field: str, url: str) -> None:
    with pytest.raises(InvalidFields) as caught, world.database.write() as session:
        teams.create_system(session, world.ada, Place(world, session).team, teams.NewSystem("New", **{field: url}))
    assert set(caught.value.fields) == {field}


def test_a_description_is_kept_without_blanks_around_it_and_one_of_blanks_only_is_none(world: World) -> None:
    with world.database.write() as session:
        for change, row in (
            (campaigns.change_campaign, Place(world, session).campaign),
            (evaluations.change_evaluation, Place(world, session).evaluation),
        ):
            change(session, CONSOLE, row, description="\r\n two\r\nlines \r\n")
            assert row.description == "two\r\nlines"
            change(session, CONSOLE, row, description="\r\n\r\n")
            assert row.description == ""
