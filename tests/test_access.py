"""Who sees what: every kind of reader against every way an evaluation may be opened."""

import datetime as dt
from typing import Any

import pytest

from leaderboard.access import CONSOLE, VISITOR, Actor, Content, knows, may_see, require_organiser, subset_seen
from leaderboard.campaigns.models import Campaign
from leaderboard.campaigns.rules import Visibility
from leaderboard.errors import NotAllowed
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import Opening, Subset

NOW = dt.datetime(2026, 6, 1, tzinfo=dt.UTC)
DAY = dt.timedelta(days=1)

MEMBER = Actor(user_id=1, teams=frozenset({7}))
OTHER = Actor(user_id=2, teams=frozenset({8}))
ORGANISER = Actor(user_id=3, organises=frozenset({5}))
ELSEWHERE = Actor(user_id=4, organises=frozenset({6}))
READERS = (VISITOR, ELSEWHERE, OTHER, MEMBER, ORGANISER, CONSOLE)


def evaluation(**settings: Any) -> Evaluation:
    given = {
        "campaign_id": 5, "results": Opening.ALWAYS, "details": Opening.CLOSED, "own_results": True,
        "judgments_published": False, "anonymous_until": None, "opens_at": NOW - DAY, "closes_at": NOW + DAY,
        "grace_seconds": 60, "texts": Opening.OPENED, "hidden_queries": Opening.CLOSED, "draft": False,
        "campaign": Campaign(id=5, visibility=Visibility.PUBLIC),
    }  # fmt: skip
    return Evaluation(**{**given, **settings})


SECOND = dt.timedelta(seconds=1)
OPEN, GRACE, CLOSED = {"closes_at": NOW + DAY}, {"closes_at": NOW - 59 * SECOND}, {"closes_at": NOW - 60 * SECOND}


@pytest.mark.parametrize(
    ("sight", "settings", "who"),
    [
        # Of team 7's runs: visitor, another campaign's organiser, another team, the team, organiser, admin
        (Content.RESULTS, {"results": Opening.ALWAYS, **OPEN}, "111111"),
        (Content.RESULTS, {"results": Opening.CLOSED, **OPEN}, "000111"),
        (Content.RESULTS, {"results": Opening.CLOSED, **GRACE}, "000111"),
        (Content.RESULTS, {"results": Opening.CLOSED, **CLOSED}, "111111"),
        (Content.RESULTS, {"results": Opening.NEVER, **CLOSED}, "000111"),
        (Content.RESULTS, {"results": Opening.CLOSED, "own_results": False, **OPEN}, "000011"),
        (Content.DETAILS, {"details": Opening.CLOSED, **OPEN}, "000011"),
        (Content.DETAILS, {"details": Opening.CLOSED, **GRACE}, "000011"),
        (Content.DETAILS, {"details": Opening.CLOSED, **CLOSED}, "111111"),
        (Content.DETAILS, {"details": Opening.ALWAYS, **OPEN}, "111111"),
        (Content.DETAILS, {"details": Opening.NEVER, **CLOSED}, "000011"),
        # Without a day of closing nothing opens by closing.
        (Content.DETAILS, {"details": Opening.CLOSED, "closes_at": None}, "000011"),
        # Results that are held back hold the details back, except a team's own where these are open.
        (Content.DETAILS, {"results": Opening.NEVER, "details": Opening.ALWAYS, **OPEN}, "000111"),
        (Content.DETAILS, {"results": Opening.NEVER, "own_results": False, **CLOSED}, "000011"),
        (Content.JUDGMENTS, {**CLOSED}, "000011"),
        (Content.JUDGMENTS, {"judgments_published": True, **OPEN}, "000011"),
        (Content.JUDGMENTS, {"judgments_published": True, **GRACE}, "000011"),
        (Content.JUDGMENTS, {"judgments_published": True, **CLOSED}, "111111"),
        (Content.JUDGMENTS, {"judgments_published": True, "closes_at": None}, "000011"),
        (Content.NAMES, {}, "111111"),
        (Content.NAMES, {"anonymous_until": NOW + DAY}, "000111"),
        (Content.NAMES, {"anonymous_until": NOW}, "111111"),
        (Content.TEXTS, {"opens_at": NOW + DAY}, "000011"),
        (Content.TEXTS, {"opens_at": NOW}, "111111"),
        (Content.TEXTS, {"opens_at": None}, "111111"),
    ],
)
def test_each_reader_sees_what_the_evaluation_opens(sight: Content, settings: dict[str, Any], who: str) -> None:
    held = evaluation(**settings)
    assert [may_see(reader, held, sight, NOW, team_id=7) for reader in READERS] == [mark == "1" for mark in who]


@pytest.mark.parametrize("sight", list(Content))
def test_a_board_as_a_whole_opens_to_nobody_for_being_in_a_team(sight: Content) -> None:
    held = evaluation(results=Opening.NEVER, details=Opening.ALWAYS, anonymous_until=NOW + DAY)
    assert may_see(MEMBER, held, sight, NOW) == may_see(VISITOR, held, sight, NOW)


@pytest.mark.parametrize(("dates", "visitors"), [(OPEN, Subset.SHOWN), (GRACE, Subset.SHOWN), (CLOSED, Subset.ALL)])
def test_hidden_queries_count_for_organisers_and_once_it_has_closed_for_all(
    dates: dict[str, Any], visitors: Subset
) -> None:
    subsets = [subset_seen(reader, evaluation(**dates), NOW) for reader in READERS]
    assert subsets == [visitors] * 4 + [Subset.ALL] * 2


def test_only_who_organises_this_campaign_and_admins_pass_as_organisers() -> None:
    for actor in (ORGANISER, CONSOLE):
        require_organiser(actor, 5)
    for actor in (VISITOR, MEMBER, OTHER, ELSEWHERE):
        with pytest.raises(NotAllowed, match="Only organisers of the campaign"):
            require_organiser(actor, 5)


def test_members_organisers_and_admins_answer_for_a_teams_runs() -> None:
    assert "".join(str(int(who.answers_for(7, 5))) for who in READERS) == "000111"


@pytest.mark.parametrize(
    ("settings", "texts", "hidden"),
    [
        ({"opens_at": NOW + DAY, "texts": Opening.ALWAYS, "hidden_queries": Opening.CLOSED}, True, False),
        ({"opens_at": NOW + DAY, "texts": Opening.OPENED, "hidden_queries": Opening.NEVER}, False, False),
        ({"texts": Opening.OPENED, "hidden_queries": Opening.ALWAYS}, True, True),
        ({"texts": Opening.CLOSED, "hidden_queries": Opening.CLOSED}, False, False),
        ({"texts": Opening.CLOSED, "hidden_queries": Opening.CLOSED, **CLOSED}, True, True),
        ({"texts": Opening.NEVER, "hidden_queries": Opening.NEVER, **CLOSED}, False, False),
    ],
)
def test_texts_and_hidden_queries_open_when_the_organiser_says(
    settings: dict[str, Any], texts: bool, hidden: bool
) -> None:
    found = evaluation(**settings)
    assert may_see(VISITOR, found, Content.TEXTS, NOW) is texts
    assert (subset_seen(VISITOR, found, NOW) is Subset.ALL) is hidden
    assert may_see(ORGANISER, found, Content.TEXTS, NOW)
    assert subset_seen(ORGANISER, found, NOW) is Subset.ALL


@pytest.mark.parametrize(
    ("visibility", "draft", "who"),
    [
        # a visitor, another campaign's organiser, a member of another team, of a team let in, the organiser, an admin
        (Visibility.PUBLIC, False, "111111"),
        (Visibility.PUBLIC, True, "000011"),
        (Visibility.PRIVATE, False, "000111"),
        (Visibility.PRIVATE, True, "000011"),
        (Visibility.DRAFT, False, "000011"),
    ],
)
def test_for_whoever_may_not_know_of_an_evaluation_nothing_of_it_is_there(
    visibility: Visibility, draft: bool, who: str
) -> None:
    found = evaluation(campaign=Campaign(id=5, visibility=visibility), draft=draft)
    let_in = Actor(user_id=1, teams=frozenset({7}), let_into=frozenset({5}))
    readers = (VISITOR, ELSEWHERE, OTHER, let_in, ORGANISER, CONSOLE)
    assert "".join(str(int(knows(reader, found))) for reader in readers) == who
    assert "".join(str(int(may_see(reader, found, Content.RESULTS, NOW, 7))) for reader in readers) == who
