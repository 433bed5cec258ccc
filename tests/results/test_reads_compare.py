"""Two runs beside each other: what their difference is by definition, how sure it is, and who may see it."""

from typing import Any

import numpy as np
import pytest

from leaderboard.access import CONSOLE, VISITOR, Actor
from leaderboard.boards.reads.board import BoardQuery
from leaderboard.db import Database
from leaderboard.errors import NotAllowed, NotFound
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import Opening, Split
from leaderboard.judgments.writes import exclude_queries, set_split
from leaderboard.results.reads.queries import Compared, ComparePage, compare
from leaderboard.statistics import RESAMPLES, difference_interval, randomisation_test
from tests.support.field import DAY, NAN, NOW, Field

FIRST, SECOND = [0.9, 0.8, 0.7, 0.6], [0.8, 0.6, 0.4, 0.7]


def page_of(field: Field, *runs: int, actor: Actor = VISITOR, year: str = "2026", **asked: Any) -> ComparePage:
    named = dict(zip("ab", runs, strict=False))
    with field.database.read() as session:
        return compare(session, actor, "news", year, NOW, **named, view=BoardQuery(**asked))


def compared(field: Field, *runs: int, **asked: Any) -> Compared:
    found = page_of(field, *runs, **asked).compared
    assert found is not None
    return found


@pytest.fixture
def two(field: Field) -> tuple[int, int]:
    first = field.run("Alder", {"AP": FIRST, "P@5": [0.2, 0.2, NAN, 0.2]})
    return first, field.run("Birch", {"AP": SECOND, "P@5": [0.2, 0.4, 0.6, 0.1]})


def test_the_difference_its_test_and_the_better_queries_are_those_of_the_definition(
    field: Field, two: tuple[int, int]
) -> None:
    found = compared(field, *two)
    assert found.names == ("Alder", "Birch")
    assert found.interval is not None
    assert found.test is not None
    assert found.interval.estimate == pytest.approx((0.1 + 0.2 + 0.3 - 0.1) / 4)
    # Of the 16 ways to exchange the two, those with a sum of at least .5 or at most −.5: .7 once and .5 twice.
    assert (found.test.p, found.test.exact) == (6 / 16, True)
    assert [(row.external_id, row.first, row.second) for row in found.queries] == [
        (f"q{n + 1}", FIRST[n], SECOND[n]) for n in range(4)
    ]
    assert [row.difference for row in found.queries] == pytest.approx([0.1, 0.2, 0.3, -0.1])
    by_ap, by_precision = found.measures
    assert by_ap.difference == pytest.approx(0.125)
    assert by_ap.effects is not None
    assert by_precision.effects is not None
    assert (by_ap.effects.better, by_ap.effects.worse, by_ap.effects.tied) == (3, 1, 0)
    assert (by_precision.effects.better, by_precision.effects.worse, by_precision.effects.tied) == (1, 1, 1)
    assert by_precision.effects.left_out == 1
    assert (found.interval.low, found.interval.high) == (None, None)  # of four queries there is none
    other = compared(field, *two[::-1])
    assert other.interval is not None
    assert other.interval.estimate == pytest.approx(-0.125)


def test_the_interval_is_that_of_the_statistics_room_in_the_order_in_which_means_are_added_up(field: Field) -> None:
    queries = 12
    field.evaluation("2027", tags=[()] * queries)
    generator = np.random.default_rng(7)
    values = generator.random((2, queries)).round(3)
    runs = [
        field.run(name, {"AP": own.tolist()}, evaluation="2027")
        for name, own in zip(("Alder", "Birch"), values, strict=True)
    ]
    found = compared(field, *runs, year="2027")
    order = sorted(range(queries), key=lambda n: f"q{n + 1}")  # ids as bytes: q1, q10, q11 …
    mine, theirs = (own[order] for own in values)
    assert found.interval == difference_interval((mine,), (theirs,), resamples=RESAMPLES)
    assert found.test == randomisation_test(mine, theirs)


def test_where_lower_is_better_the_lower_run_is_the_better_one_and_comes_first(database: Database) -> None:
    field = Field(database, measures=("Pmiss",)).campaign().evaluation()
    runs = [field.run("Alder", {"Pmiss": [0.2, 0.5, 0.2, 0.2]}), field.run("Birch", {"Pmiss": [0.6, 0.1, 0.2, 0.3]})]
    found = compared(field, *runs, sort="difference")
    (by_miss,) = found.measures
    assert by_miss.effects is not None
    assert (by_miss.effects.better, by_miss.effects.worse, by_miss.effects.tied) == (2, 1, 1)
    assert [row.external_id for row in found.queries] == ["q1", "q4", "q3", "q2"]
    assert next(row.external_id for row in compared(field, *runs, sort="-a").queries) == "q2"


def test_runs_that_stand_can_be_chosen_and_another_one_that_is_named(field: Field, two: tuple[int, int]) -> None:
    again = field.run("Birch", {"AP": FIRST})
    page = page_of(field)
    assert [(run.submission_id, run.name) for run in page.runs] == [(two[0], "Alder"), (two[1], "Birch")]
    assert (page.compared, page.first) == (None, None)
    page = page_of(field, again)
    assert page.first == again
    assert page.compared is None
    assert [run.submission_id for run in page.runs] == [two[0], two[1], again]
    own = compared(field, two[1], again)  # two runs of one system go by their own names
    assert own.names[0] != own.names[1]


def test_a_query_that_is_excluded_that_nobody_judged_or_without_a_value_is_marked_as_left_out(field: Field) -> None:
    field.evaluation("2027", qrels="q1 0 d1 1\nq2 0 d1 1\nq3 0 d1 1\n")  # pooled: q4 is left out
    with field.database.write() as session:
        exclude_queries(
            session, CONSOLE, session.get_one(Evaluation, field.evaluations["2027"]), ["q2"], "two readings"
        )
    values = {"Alder": [0.1, NAN, NAN, NAN], "Birch": [NAN, NAN, NAN, NAN]}  # of q3 neither has any
    runs = [field.run(name, {"AP": own}, evaluation="2027") for name, own in values.items()]
    assert [row.counted for row in compared(field, *runs, year="2027").queries] == [True, False, False, False]


def test_what_are_no_two_runs_of_the_board_is_refused(field: Field, two: tuple[int, int]) -> None:
    rejected_elsewhere = field.run("Cedar", {"AP": FIRST})
    field.withdraw(rejected_elsewhere)
    for runs, words in (
        ((two[0], 999_999), "submission 999999 is on no board of The year 2026"),
        ((rejected_elsewhere, two[0]), "is on no board of The year 2026"),
    ):
        with pytest.raises(NotFound, match=words):
            page_of(field, *runs)


def test_runs_are_compared_by_whoever_may_see_single_queries_and_over_those_that_they_may_know_of(
    field: Field, two: tuple[int, int]
) -> None:
    with field.database.write() as session:
        set_split(session, CONSOLE, session.get_one(Evaluation, field.evaluations["2026"]), ["q1"], Split.HIDDEN)
    field.change(closes_at=NOW + DAY, details=Opening.ALWAYS)
    shown = [row.external_id for row in compared(field, *two).queries]
    everything = [row.external_id for row in compared(field, *two, actor=CONSOLE).queries]
    assert (shown, everything) == (["q2", "q3", "q4"], ["q1", "q2", "q3", "q4"])
    field.change(details=Opening.CLOSED)
    for named in ((), two):
        with pytest.raises(NotAllowed, match="Single queries would give the judgments away"):
            page_of(field, *named)
    assert compared(field, *two, actor=CONSOLE)
