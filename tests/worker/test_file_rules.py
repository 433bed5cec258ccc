"""The worker holds a run against its evaluation's file rules: once, before its first figures."""

import io

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.audit.writes import present
from leaderboard.errors import FileRejected
from leaderboard.evaluations import writes as submission_forms
from leaderboard.formats import Limits, document_list
from leaderboard.submissions.models import Submission
from leaderboard.worker.messages import RunScores
from leaderboard.worker.run_scorer import RunScorer
from tests.support.world import RUN, World


def score(world: World, run: int) -> RunScores:
    """As the worker's child does."""
    scoring = world.scoring(run)
    scorer = RunScorer(world.database, world.store, Limits())
    return scorer.score(run, scoring.scoring_set_id)


def test_a_file_that_breaks_a_rule_is_rejected_with_its_lines_and_one_that_was_scored_keeps_its_figures(
    world: World,
) -> None:
    run = world.submit()
    with world.organising() as (session, _, evaluation):
        submission_forms.set_rules(session, CONSOLE, evaluation, most_documents=1, tag_pattern="[0-9]+")
        listed = document_list(io.BytesIO(b"d1\nd2\n"))
        submission_forms.set_documents(session, CONSOLE, evaluation, listed)
    with pytest.raises(FileRejected) as caught:
        score(world, run)
    tag = "run tag a-run has not the form that is asked for here: [0-9]+"
    assert {(problem.line, problem.message) for problem in caught.value.problems} == {
        *((line, tag) for line in (1, 2, 3)),
        (1, "query q1 has more than 1 documents, the most allowed here"),
        (3, "document d3 is not of this collection"),
    }
    with world.database.write() as session:
        session.execute(sa.update(Submission).values(scored_at=present()))
    assert score(world, run).facts["lines"] == 3


def test_every_query_that_everybody_may_see_must_have_a_list_and_no_hidden_one_is_named(world: World) -> None:
    run = world.submit()
    with world.organising() as (session, _, evaluation):
        submission_forms.set_rules(session, CONSOLE, evaluation, every_query=True)
    with pytest.raises(FileRejected, match="1 query has no list, and here every query must have one: q3"):
        score(world, run)


def test_what_a_run_says_of_itself_is_kept_with_its_scoring(world: World) -> None:
    run = world.submit("# method: bm25\n# ir_metadata is used elsewhere\n" + RUN)
    assert score(world, run).facts["said"] == {"method": "bm25"}
