"""The page that leaves one team out: its sentence, its table and files, and what it says without them."""

import pytest
import sqlalchemy as sa
from flask import Flask

from leaderboard.generations.models import BoardGeneration
from leaderboard.results.models import TeamFinds
from tests.support.field import DAY, NOW, Field
from tests.support.pages import seen

PAGE = "/campaigns/news/2026/leave-one-team-out"


def keep(field: Field, run: int, unique: int, mean: float | None) -> None:
    with field.database.write() as session:
        number = session.scalars(sa.select(BoardGeneration.number)).one()
        own = {
            "team": field.teams["Team Alder"],
            "runs": 2,
            "unique": unique,
            "without": {str(field.scoring(run)): mean},
        }
        finds = {"lines": 9, "depth": 100, "subsets": {"all": {"relevant": 1234, "teams": [own]}}}
        session.merge(TeamFinds(scoring_set_id=field.current_set().id, generation=number, finds=finds))


@pytest.mark.parametrize("engine_name", ["sqlite"])  # words; what is read is tested on both
def test_the_page_says_who_would_lose_most_and_files_have_the_same(app: Flask, field: Field) -> None:
    run = field.run("Alder", {"AP": [0.8] * 4})
    field.run("Birch", {"AP": [0.7] * 4})
    assert "Not computed yet This follows within minutes once all runs are scored." in seen(app, PAGE)
    keep(field, run, 12, 0.69)
    page = seen(app, PAGE)  # kept as it was, it would still say so
    assert (
        "Team Alder would lose most if its own finds had not been judged: AP of Alder would be 0.690 instead of 0.800, "
        "rank 2 instead of 1. Of 1,234 relevant documents, 12 were found by one team alone."
    ) in page
    assert "Team Alder 2 12 Alder 0.800 0.690 −0.110 1 2" in page
    csv = app.test_client().get(f"{PAGE}.csv").text.splitlines()
    assert csv[0] == "team,runs,unique,system,submission,AP,without,difference,rank,rank_without"
    assert csv[1].startswith(f"Team Alder,2,12,Alder,{run},0.8,0.69,-0.1")
    answer = app.test_client().get("/api/v1/campaigns/news/evaluations/2026/leave-one-team-out").json
    assert [row["rank_without"] for row in answer["teams"]] == [2]
    assert f'href="{PAGE}"' in app.test_client().get("/campaigns/news/2026").text


@pytest.mark.parametrize("engine_name", ["sqlite"])  # the same
def test_the_page_says_so_where_nobody_loses_once_runs_changed_and_before_closing(app: Flask, field: Field) -> None:
    run = field.run("Alder", {"AP": [0.8] * 4})
    keep(field, run, 0, None)
    words = "No team's figure would be worse if its own finds had not been judged."
    assert f"{words} Of 1,234 relevant documents, 0 were found by one team alone." in seen(app, PAGE)
    field.run("Birch", {"AP": [0.7] * 4})
    assert "Not computed yet" in seen(app, PAGE)
    field.change(closes_at=NOW + 30_000 * DAY, details="always")
    assert "This is computed once the evaluation has closed and all runs are scored." in seen(app, PAGE)
