"""Rows by the names that addresses and commands give them."""

import pytest

from leaderboard.access import CONSOLE
from leaderboard.db import missing
from leaderboard.errors import NotFound
from leaderboard.evaluations.reads.evaluations import find_campaign, find_evaluation, find_query
from leaderboard.teams.models import Team
from leaderboard.teams.reads import find_system, find_team
from tests.support.field import Field


def test_each_thing_is_found_by_its_name(field: Field) -> None:
    field.run("Alder", {"AP": [0.5] * 4}, team="Woods")
    with field.database.read() as session:
        evaluation = find_evaluation(session, CONSOLE, "news", "2026")
        assert evaluation.id == field.evaluations["2026"]
        assert evaluation.campaign is find_campaign(session, CONSOLE, "news")
        assert find_query(session, evaluation, "q2").text == "text of 2"
        assert find_system(session, find_team(session, "woods").slug, "alder").name == "Alder"


def test_what_is_not_there_is_said_with_the_nearest_names_or_the_first_ones(field: Field) -> None:
    with field.database.read() as session:
        with pytest.raises(NotFound, match=r"there is no campaign 'new'; did you mean news\?"):
            find_campaign(session, CONSOLE, "new")
        with pytest.raises(NotFound, match=r"there is no campaign 'news-search'"):
            find_evaluation(session, CONSOLE, "news-search", "2026")
        with pytest.raises(NotFound, match=r"there is no evaluation '2062' in news; did you mean 2026\?"):
            find_evaluation(session, CONSOLE, "news", "2062")
        with pytest.raises(NotFound, match=r"'301' in The year 2026; known are q1, q2, q3, q4$"):
            find_query(session, find_evaluation(session, CONSOLE, "news", "2026"), "301")
        with pytest.raises(NotFound, match=r"there is no team 'nobody'$"):
            missing(session, "team", "nobody", Team.slug, Team.slug == "nowhere")
