"""One submission: what its page says of it, and its values over all queries."""

import datetime as dt

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE, VISITOR, Actor
from leaderboard.audit.writes import present
from leaderboard.boards.writes import due, refresh
from leaderboard.campaigns.models import Campaign
from leaderboard.db import Database
from leaderboard.errors import NotFound
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import Judging, Opening, Split
from leaderboard.judgments.writes import set_split
from leaderboard.results.reads.run import SubmissionResults, results
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.status import SubmissionStatus, status
from leaderboard.submissions.rules import Ruling, RunChoice, State
from leaderboard.submissions.writes import submissions
from leaderboard.worker.models import Scoring
from tests.submissions.test_writes import act
from tests.support.field import DAY, NAN, NOW, Field


def of(field: Field, run: int, actor: Actor = VISITOR, **asked: str) -> SubmissionResults:
    with field.database.read() as session:
        return results(session, actor, run, NOW, **asked)


def seen(field: Field, run: int, actor: Actor = VISITOR, now: dt.datetime = NOW) -> SubmissionStatus:
    with field.database.read() as session:
        return status(session, actor, run, now)


def test_means_come_with_the_number_of_queries_behind_them(database: Database) -> None:
    field = Field(database).campaign().evaluation(tags=[()] * 6)
    values = {"AP": [0.5, 0.25, NAN, 0.0, 0.25, 0.25], "P@5": [0.2] * 6}
    run = field.run("Alder", values, intervals={"AP": (0.1, 0.4)})
    found = of(field, run)
    assert [(figure.mean, figure.count) for figure in found.figures] == [(0.25, 5), (pytest.approx(0.2), 6)]
    assert (found.figures[0].low, found.figures[0].high) == (0.1, 0.4)


def test_a_run_knows_its_rank_on_the_board(field: Field) -> None:
    field.run("Alder", {"AP": [0.9] * 4})
    second = field.run("Birch", {"AP": [0.5] * 4})
    field.run("Cedar", {"AP": [0.1] * 4})
    later = field.run("Cedar", {"AP": [0.7] * 4})
    assert (of(field, second).rank, of(field, second).ranked) == (2, 3)
    assert of(field, later).rank is None  # another run stands for its system


def test_every_query_has_its_values_with_the_fields_median_beside(field: Field) -> None:
    run = field.run("Alder", {"AP": [0.2, 0.9, NAN, 0.0]})
    field.run("Birch", {"AP": [0.4, 0.1, 0.5, 0.0]})
    field.run("Cedar", {"AP": [0.9, 0.2, 0.7, 0.0]})
    rows = of(field, run).queries
    assert [row.external_id for row in rows] == ["q1", "q2", "q3", "q4"]
    assert [row.values[0] for row in rows] == [0.2, 0.9, None, 0.0]
    assert [row.median for row in rows] == [0.4, 0.2, pytest.approx(0.6), 0.0]


def test_queries_sort_by_a_measure_or_by_the_difference_to_the_median(field: Field) -> None:
    run = field.run("Alder", {"AP": [0.2, 0.9, NAN, 0.3]})
    field.run("Birch", {"AP": [0.8, 0.9, 0.5, 0.1]})
    field.run("Cedar", {"AP": [0.8, 0.9, 0.5, 0.1]})
    for sort, order in (("AP", "2413"), ("-AP", "1423"), ("difference", "4213")):
        assert [row.external_id for row in of(field, run, sort=sort).queries] == [f"q{n}" for n in order]


def test_missing_queries_are_marked(field: Field) -> None:
    run = field.run("Alder", {"AP": [0.2, 0.0, 0.4, 0.0]})
    with field.database.write() as session:
        session.get_one(Scoring, field.scoring(run)).missing = ["q2"]
    found = of(field, run)
    assert (found.missing, found.nothing_relevant, found.not_judged) == (("q2",), (), ())
    assert [row.missing for row in found.queries] == [False, True, False, False]


def test_a_right_empty_answer_is_told_from_a_list_that_is_missing_where_judgments_may_be_guessed(field: Field) -> None:
    field.evaluation("2027", qrels="q1 0 d1 1\nq2 0 d1 1\nq3 0 d1 0\n", judging=Judging.COMPLETE)
    run = field.run("Alder", {"AP": [0.2, 0.0, NAN, NAN]}, team="Woods", evaluation="2027")
    with field.database.write() as session:
        session.get_one(Scoring, field.scoring(run)).missing = ["q2", "q3", "q4"]
    assert of(field, run).nothing_relevant == ("q3", "q4")
    with field.database.write() as session:  # as where it is left out for want of judgments
        session.get_one(Scoring, field.scoring(run)).unjudged = ["q4"]
    assert (of(field, run).nothing_relevant, of(field, run).not_judged) == (("q3",), ("q4",))
    assert of(field, run).standing.missing == 2  # a list for what nobody judged is not missed
    field.change("2027", details=Opening.NEVER)
    for actor in (VISITOR, field.member("Woods")):
        closed = of(field, run, actor)
        assert (closed.missing, closed.nothing_relevant, closed.not_judged) == (("q2", "q3", "q4"), None, None)
        assert of(field, run, actor).standing.missing == 3
    assert of(field, run, CONSOLE).nothing_relevant == ("q3",)


def test_of_hidden_queries_nobody_is_told_that_a_run_lacks_them(field: Field) -> None:
    with field.database.write() as session:
        evaluation = session.get_one(Evaluation, field.evaluations["2026"])
        set_split(session, CONSOLE, evaluation, ["q4"], Split.HIDDEN)
    run = field.run("Alder", {"AP": [0.5] * 4})
    with field.database.write() as session:
        session.get_one(Scoring, field.scoring(run)).missing = ["q4"]
    field.change(closes_at=NOW + DAY, results=Opening.ALWAYS, details=Opening.ALWAYS)
    assert (of(field, run).missing, of(field, run).nothing_relevant) == ((), ())
    assert of(field, run, CONSOLE).missing == ("q4",)
    field.change(details=Opening.NEVER)
    assert of(field, run, field.member("Team Alder")).missing == ()
    assert of(field, run).standing.missing == 0


@pytest.mark.parametrize(("choice", "stands"), [(RunChoice.PRIMARY, 0), (RunChoice.BEST, 1), (RunChoice.LATEST, 2)])
def test_a_run_knows_which_run_stands_for_its_system(field: Field, choice: RunChoice, stands: int) -> None:
    runs = [field.run("Alder", {"AP": [value] * 4}, team="Woods") for value in (0.2, 0.9, 0.5)]
    late = field.run("Alder", {"AP": [1.0] * 4}, team="Woods", received_at=NOW)
    with field.database.write() as session:
        session.scalars(sa.select(Campaign)).one().run_choice = choice
    assert {of(field, run).standing.submission_id for run in runs} == {runs[stands]}
    assert of(field, late).standing.submission_id == late
    chosen = [seen(field, run, field.member("Woods"), NOW - 2 * DAY).may_let_stand for run in (*runs, late)]
    assert not any(seen(field, run, field.member("Woods")).may_let_stand for run in (*runs, late))
    assert chosen == ([False, True, True, False] if choice is RunChoice.PRIMARY else [False] * 4)
    assert not any(seen(field, run).may_let_stand for run in runs)


def test_while_details_are_closed_a_team_sees_its_means_and_no_single_query(field: Field) -> None:
    run = field.run("Alder", {"AP": [0.5] * 4}, team="Woods")
    field.change(results=Opening.CLOSED, closes_at=NOW + DAY)
    found = of(field, run, field.member("Woods"))
    assert (found.figures[0].mean, found.rank, found.queries, found.details_open) == (0.5, None, (), False)
    with pytest.raises(NotFound):
        of(field, run)
    assert len(of(field, run, CONSOLE).queries) == 4


def test_the_team_sees_its_receipt_and_problems_and_others_do_not(field: Field) -> None:
    run = field.run("Alder", {"AP": [0.5] * 4}, team="Woods", notes="ours", label="first")
    own, other = seen(field, run, field.member("Woods")), seen(field, run)
    assert (own.state, own.title, own.notes, len(own.receipt), own.may_act) == ("scored", "first", "ours", 64, True)
    assert (other.state, other.notes, other.receipt, other.filename, other.may_act) == ("scored", "", "", "", False)


@pytest.mark.parametrize("state", [State.QUEUED, State.SCORING, State.REJECTED, State.FAILED])
def test_a_run_that_is_on_no_board_is_known_to_its_team_and_organisers_only(field: Field, state: State) -> None:
    run = field.run("Alder", team="Woods", state=state)
    assert seen(field, run, field.member("Woods")).state == state.value
    assert seen(field, run, CONSOLE).state == state.value
    field.run("Birch", {"AP": [0.5] * 4}, team="Meadow")
    for actor in (VISITOR, field.member("Meadow")):
        with pytest.raises(NotFound):
            seen(field, run, actor)


def test_a_waiting_run_knows_how_many_go_before_it(field: Field) -> None:
    for name in ("Alder", "Birch"):
        field.run(name, state=State.QUEUED)
    run = field.run("Cedar", state=State.QUEUED)
    assert seen(field, run, CONSOLE).ahead == 2


def test_in_an_anonymous_period_a_runs_page_names_nobody(field: Field) -> None:
    run = field.run("Alder", {"AP": [0.5] * 4}, label="alder-1")
    field.change(anonymous_until=NOW + DAY)
    shown = seen(field, run)
    assert shown.system.name.startswith("Anonymous ")
    assert (shown.system.team, shown.title) == ("", f"Run {shown.id}")
    assert of(field, run).system.name == shown.system.name


def test_a_page_awaits_the_scores_and_then_their_intervals(database: Database) -> None:
    field = Field(database).campaign().evaluation(tags=[()] * 5)
    queued = field.run("Alder", state=State.QUEUED)
    run = field.run("Birch", {"AP": [0.5, 0.25, 0.75, 0.0, 0.5], "P@5": [0.2, 0.4, 0.0, 0.2, 0.2]})
    with field.database.write() as session:
        session.get_one(Scoring, field.scoring(run)).finished_at = present()
    assert (seen(field, queued, CONSOLE).awaits, seen(field, run).awaits) == ("scores", "intervals")
    with field.database.read() as session:
        wanted = due(session)
    for one in wanted:
        refresh(field.database, one)
    assert seen(field, run).awaits == ""
    assert of(field, run).figures[0].low is not None


def test_where_nothing_stands_it_is_told_whether_its_team_or_the_organisers_took_the_run_away(field: Field) -> None:
    stood, other = (field.run("Alder", {"AP": [mean] * 4}) for mean in (0.9, 0.7))
    assert (of(field, other).empty_because, of(field, stood).empty_because) == ("", "")
    with field.database.write() as session:
        submissions.hide_run(session, CONSOLE, session.get_one(Submission, stood), Ruling.DISQUALIFIED, "by hand")
    assert (of(field, other).standing, of(field, other).empty_because) == (None, "was taken off by the organisers")
    gone, other = (field.run("Birch", {"AP": [mean] * 4}) for mean in (0.9, 0.7))
    act(field, submissions.withdraw, gone, actor=field.member("Team Birch"), now=NOW)
    assert (of(field, other).standing, of(field, other).empty_because) == (None, "was withdrawn after closing")
