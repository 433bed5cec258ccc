"""The board: who is on it, in which order, under which rank, over which queries."""

import datetime as dt
import hashlib
from collections.abc import Sequence

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE, VISITOR, Actor
from leaderboard.boards.models import Board
from leaderboard.boards.reads.board import BoardPage, BoardQuery, board
from leaderboard.boards.reads.entries import Paging, paging_within
from leaderboard.boards.writes import packed_figures
from leaderboard.db import Database
from leaderboard.errors import BadInput, NotAllowed
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import NoRelevant, Opening, Split, Subset
from leaderboard.judgments.writes import set_split
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import RunChoice, State, SystemKind
from leaderboard.submissions.writes import submissions
from tests.support.field import DAY, NAN, NOW, Field


def read(
    field: Field, actor: Actor = VISITOR, now: dt.datetime = NOW, *, evaluation: str = "", **asked: str
) -> BoardPage:
    with field.database.read() as session:
        return board(session, actor, "news", evaluation or next(iter(field.evaluations)), now, BoardQuery(**asked))


def standing(page: BoardPage) -> list[tuple[int | None, str]]:
    return [(row.rank, row.entry.system.name) for row in page.rows]


def test_those_who_share_a_rank_are_sorted_by_name_and_not_by_the_last_bit_of_the_mean(field: Field) -> None:
    field.run("Birch", means={"AP": 0.1 + 0.2, "P@5": 0.2}, values={"AP": [0.3] * 4, "P@5": [0.2] * 4})
    field.run("Alder", means={"AP": 0.3, "P@5": 0.2}, values={"AP": [0.3] * 4, "P@5": [0.2] * 4})
    field.run("Cedar", means={"AP": 0.1, "P@5": 0.9}, values={"AP": [0.1] * 4, "P@5": [0.9] * 4})
    assert standing(read(field)) == [(1, "Alder"), (1, "Birch"), (3, "Cedar")]
    assert standing(read(field, sort="-AP")) == [(3, "Cedar"), (1, "Alder"), (1, "Birch")]


def test_an_undefined_mean_stands_last_without_a_rank(field: Field) -> None:
    field.run("Alder", {"AP": [NAN] * 4})
    field.run("Birch", {"AP": [-0.5] * 4})
    assert standing(read(field)) == [(1, "Birch"), (None, "Alder")]
    assert standing(read(field, sort="-AP")) == [(1, "Birch"), (None, "Alder")]


def test_where_lower_is_better_the_lowest_leads(database: Database) -> None:
    field = Field(database, measures=("Pmiss", "AP")).campaign().evaluation()
    field.run("Alder", {"Pmiss": [0.5] * 4, "AP": [0.9] * 4})
    field.run("Birch", {"Pmiss": [0.25] * 4, "AP": [0.1] * 4})
    assert standing(read(field)) == [(1, "Birch"), (2, "Alder")]
    assert standing(read(field, measure="AP")) == [(1, "Alder"), (2, "Birch")]


def test_a_late_run_is_shown_below_without_a_rank(field: Field) -> None:
    field.run("Alder", {"AP": [0.9] * 4}, received_at=NOW - DAY / 2)
    field.run("Alder", {"AP": [0.4] * 4})
    field.run("Birch", {"AP": [0.5] * 4})
    page = read(field)
    assert standing(page) == [(1, "Birch"), (2, "Alder"), (None, "Alder")]
    assert [row.entry.late for row in page.rows] == [False, False, True]


def test_baselines_stand_apart_without_a_rank_and_count_what_is_ahead_of_them(field: Field) -> None:
    field.run("Term matching", {"AP": [0.5] * 4}, kind=SystemKind.BASELINE)
    field.run("Alder", {"AP": [0.6] * 4})
    field.run("Birch", {"AP": [0.5] * 4})
    page = read(field)
    assert [(row.rank, row.entry.system.name) for row in page.baselines] == [(None, "Term matching")]
    assert standing(page) == [(1, "Alder"), (2, "Birch")]
    assert page.whole.beaten == 1


@pytest.mark.parametrize("state", [State.QUEUED, State.SCORING, State.REJECTED, State.FAILED])
def test_only_scored_runs_are_on_the_board(field: Field, state: State) -> None:
    field.run("Alder", {"AP": [0.6] * 4}, state=state)
    page = read(field)
    assert page.rows == ()
    assert page.waiting == (state in (State.QUEUED, State.SCORING))


@pytest.mark.parametrize("sort", ["system", "-date", "-AP"])
def test_rows_sort_by_name_date_or_the_measure_and_keep_their_ranks(field: Field, sort: str) -> None:
    field.run("birch", {"AP": [0.5] * 4})
    field.run("Alder", {"AP": [0.4] * 4})
    assert standing(read(field, sort=sort)) == [(2, "Alder"), (1, "birch")]


def test_a_tag_leaves_only_its_queries_in_the_means(database: Database) -> None:
    field = Field(database).campaign().evaluation(tags=(["law"], ["law", "long"], ["long"], []))
    field.run("Alder", {"AP": [1.0, 0.5, 0.0, 0.0]})
    field.run("Birch", {"AP": [0.0, 0.5, NAN, 1.0]})
    page = read(field, tag="long")
    assert [(tag.name, tag.queries) for tag in page.tags] == [("law", 2), ("long", 2)]
    assert standing(page) == [(1, "Birch"), (2, "Alder")]
    assert [(row.ranked_by.mean, row.ranked_by.count) for row in page.rows] == [(0.5, 1), (0.25, 2)]


def test_over_a_tag_aqwv_follows_its_policy_from_its_parts(database: Database) -> None:
    """pfa_only, β 20: 1 − mean(P_miss over queries with relevant documents) − 20 · mean(P_fa over all)."""
    field = Field(database, measures=("AQWV", "MQWV"))  # its parts are kept though not shown
    field.campaign(beta=20.0, no_relevant=NoRelevant.PFA_ONLY)
    field.evaluation(tags=(["a"], ["a"], ["a"], ["b"]))
    values = {
        "AQWV": [0.3, NAN, 0.8, 0.0],
        "Pmiss": [0.5, NAN, 0.1, 1.0],
        "Pfa": [0.01, 0.02, 0.005, 0.0],
        "MQWV": [NAN] * 4,
    }
    field.run("Alder", values, means={"MQWV": 0.9})
    page = read(field, tag="a")
    aqwv, mqwv = page.rows[0].figures
    assert aqwv.mean == pytest.approx(1 - 0.6 / 2 - 20 * 0.035 / 3, abs=1e-12)
    assert mqwv.mean is None
    assert page.not_over_tag == ("MQWV",)


def test_results_that_are_not_open_show_a_team_its_own_runs_only_and_unranked(field: Field) -> None:
    field.run("Alder", {"AP": [0.6] * 4}, team="Woods")
    field.run("Birch", {"AP": [0.5] * 4}, team="Meadow")
    field.change(results=Opening.CLOSED)
    before = NOW - 2 * DAY
    assert read(field, VISITOR, before).rows == ()
    assert standing(read(field, field.member("Meadow"), before)) == [(None, "Birch")]
    assert standing(read(field, CONSOLE, before)) == [(1, "Alder"), (2, "Birch")]
    field.change(own_results=False)
    assert read(field, field.member("Meadow"), before).rows == ()
    assert standing(read(field)) == [(1, "Alder"), (2, "Birch")]


def test_in_an_anonymous_period_others_have_no_names_and_baselines_do(field: Field) -> None:
    field.run("Alder", {"AP": [0.6] * 4}, team="Woods", label="alder-1")
    field.run("Birch", {"AP": [0.5] * 4}, team="Meadow")
    field.run("Term matching", {"AP": [0.1] * 4}, kind=SystemKind.BASELINE)
    field.change(anonymous_until=NOW + DAY)
    page = read(field, field.member("Meadow"))
    alder, birch = page.rows
    assert alder.entry.system.name.startswith("Anonymous ")
    assert (alder.entry.system.team, alder.entry.system.slug, alder.entry.label) == ("", "", "")
    assert birch.entry.system.name == "Birch"
    assert page.baselines[0].entry.system.name == "Term matching"
    assert read(field, now=NOW + 2 * DAY).rows[0].entry.system.name == "Alder"


def test_a_made_up_name_is_one_system_s_in_one_evaluation_and_follows_from_no_file(field: Field) -> None:
    field.evaluation("2027", opens_at=NOW - 20 * DAY)
    first = field.run("Alder", {"AP": [0.9] * 4}, team="Woods")
    field.run("Alder", {"AP": [0.8] * 4}, team="Woods")
    field.run("Birch", {"AP": [0.5] * 4})
    field.run("Alder", {"AP": [0.7] * 4}, team="Woods", evaluation="2027")
    with field.database.write() as session:  # a copy of a file that is known, sent to be told which row it is
        files = session.execute(sa.select(Submission.sha256, Submission.md5)).first()
        assert files is not None
        session.execute(sa.update(Submission).values(sha256=files.sha256, md5=files.md5))
    for year in field.evaluations:
        field.change(year, anonymous_until=NOW + DAY)

    def names(evaluation: str) -> list[str]:
        return [row.entry.system.name for row in read(field, evaluation=evaluation, show="all").rows]

    best, again, other = names("2026")
    assert best == again
    (next_year,) = names("2027")
    assert len({best, other, next_year}) == 3
    drawn = {name.removeprefix("Anonymous ") for name in (best, other, next_year)}
    for known in (files.sha256, files.md5):
        assert not drawn & {known[:6], hashlib.sha256(known.encode()).hexdigest()[:6]}
    with field.database.write() as session:
        submissions.withdraw(session, CONSOLE, session.get_one(Submission, first))
    assert names("2026") == [best, other]


def test_hidden_queries_count_for_organisers_and_for_all_once_it_has_closed(field: Field) -> None:
    with field.database.write() as session:
        evaluation = session.get_one(Evaluation, field.evaluations["2026"])
        set_split(session, CONSOLE, evaluation, ["q4"], Split.HIDDEN)
    field.run("Alder", {"AP": [0.5, 0.5, 0.5, NAN]}, hidden={"AP": [0.5, 0.5, 0.5, 0.9]})
    before = NOW - 2 * DAY
    hidden = read(field, VISITOR, before)
    assert hidden.rows[0].ranked_by.mean == 0.5
    assert (hidden.terms.queries, hidden.terms.counted) == (3, 3)
    assert read(field, CONSOLE, before).rows[0].ranked_by.mean == pytest.approx(0.6)
    assert read(field).rows[0].ranked_by.mean == pytest.approx(0.6)


def test_rank_sets_and_who_may_be_the_best_come_from_what_the_worker_computed(field: Field) -> None:
    first = field.run("Alder", {"AP": [0.6] * 4})
    second = field.run("Birch", {"AP": [0.5] * 4})
    third = field.run("Cedar", {"AP": [0.1] * 4})
    keep_statistics(field, {first: [1, 2], second: [1, 2], third: [3, 3]})
    for page in (read(field), read(field, tag="")):
        assert [row.rank_set for row in page.rows] == [(1, 2), (1, 2), (3, 3)]
        assert [row.may_be_best for row in page.rows] == [True, True, False]
    keep_statistics(field, {first: [1, 2], second: [1, 2], third: [3, 3]}, may_be_best=[first])
    assert [(row.rank_set, row.may_be_best) for row in read(field).rows[:2]] == [((1, 2), True), ((1, 2), False)]
    # With another run on the board they speak of other ranks than are shown.
    field.run("Dogwood", {"AP": [0.2] * 4})
    page = read(field)
    assert [(row.rank_set, row.may_be_best) for row in page.rows] == [(None, None)] * 4


def test_while_details_are_closed_no_tag_slices_the_board(database: Database) -> None:
    # One query alone carries "rare", and all but one carry "common": either would give one query's values away.
    field = (
        Field(database)
        .campaign()
        .evaluation(tags=(["rare"], ["common"], ["common"], ["common"]), closes_at=NOW + DAY, results=Opening.ALWAYS)
    )
    field.run("Alder", {"AP": [0.75, 0.5, 0.5, 0.5]})
    assert read(field).tags == ()
    for tag in ("rare", "common", "no such tag"):
        with pytest.raises(NotAllowed, match="they open when the evaluation closes"):
            read(field, tag=tag)
    assert [tag.name for tag in read(field, CONSOLE).tags] == ["rare", "common"]
    field.change(closes_at=NOW - DAY)
    assert [tag.name for tag in read(field).tags] == ["rare", "common"]


@pytest.mark.parametrize(
    ("asked", "known"),
    [
        ({"measure": "RR"}, "this page shows AP, P@5"),
        ({"measure": "nonsense"}, "this page shows AP, P@5"),
        ({"show": "nonsense"}, "primary, best, latest, all"),
        ({"sort": "-P@5"}, "system, kind, date, AP"),
    ],
)
def test_what_the_board_does_not_know_is_refused_with_what_there_is(
    field: Field, asked: dict[str, str], known: str
) -> None:
    with pytest.raises(BadInput, match=known):
        read(field, **asked)


CLOSED_DETAILS = {"details": Opening.NEVER}


def test_while_details_are_closed_means_are_rounded_and_ranks_made_from_rounded_means(database: Database) -> None:
    field = Field(database).campaign().evaluation(tags=[()] * 50, **CLOSED_DETAILS)
    for system, mean in (("Alder", 0.4123), ("Birch", 0.4149), ("Cedar", 0.4251)):
        field.run(system, {"AP": [mean] * 50, "P@5": [0.2] * 50}, intervals={"AP": (0.3871, 0.4401)})
    page = read(field)
    seen = [
        (row.rank, row.entry.system.name, row.ranked_by.mean, row.ranked_by.low, row.ranked_by.high)
        for row in page.rows
    ]
    assert seen == [(1, "Cedar", 0.43, 0.38, 0.45), (2, "Alder", 0.41, 0.38, 0.45), (2, "Birch", 0.41, 0.38, 0.45)]
    full = [(row.rank, row.entry.system.name, row.ranked_by.mean) for row in read(field, CONSOLE).rows]
    assert full == [
        (1, "Cedar", pytest.approx(0.4251)),
        (2, "Birch", pytest.approx(0.4149)),
        (3, "Alder", pytest.approx(0.4123)),
    ]


def test_the_best_run_of_a_system_is_chosen_among_rounded_means_while_details_are_closed(database: Database) -> None:
    # Of runs that read alike the latest stands, so a run that stands does not say that it is better in the third digit.
    field = Field(database).campaign(run_choice=RunChoice.BEST).evaluation(tags=[()] * 50, **CLOSED_DETAILS)
    better, later = (field.run("Alder", {"AP": [mean] * 50}) for mean in (0.4149, 0.4123))
    assert [row.entry.submission_id for row in read(field).rows] == [later]
    assert [row.entry.submission_id for row in read(field, CONSOLE).rows] == [better]


def test_how_many_queries_are_judged_is_told_only_to_those_who_see_single_queries(database: Database) -> None:
    field = Field(database).campaign().evaluation(tags=[()] * 6, qrels="q1 0 d 1\nq2 0 d 0\n", **CLOSED_DETAILS)
    field.run("Alder", {"AP": [0.5, 0.5, NAN, NAN, NAN, NAN]}, intervals={"AP": (0.5, 0.5)})
    page, organisers = read(field), read(field, CONSOLE)
    assert page.terms is not None
    assert organisers.terms is not None
    assert (page.terms.queries, page.terms.counted, page.terms.unjudged) == (6, 6, None)
    assert (page.terms.nothing_relevant, page.rows[0].ranked_by.count) == (0, 6)
    assert (organisers.terms.counted, organisers.terms.unjudged, organisers.rows[0].ranked_by.count) == (2, 4, 2)


@pytest.mark.parametrize(("queries", "counted", "shown"), [(4, 4, False), (6, 4, False), (5, 5, True)])
def test_an_interval_needs_five_queries(database: Database, queries: int, counted: int, shown: bool) -> None:
    # Resamples of three queries have the lowest and the highest single value as their ends.
    field = Field(database).campaign().evaluation(tags=[()] * queries)
    field.run("Alder", {"AP": [0.5] * counted + [NAN] * (queries - counted)}, intervals={"AP": (0.1, 0.9)})
    for details in (Opening.ALWAYS, Opening.NEVER):
        field.change(details=details)
        assert (read(field).rows[0].ranked_by.low is not None) is shown


def test_a_measure_that_prints_judgments_has_no_figure_while_details_are_closed(database: Database) -> None:
    field = Field(database, measures=("AP", "NumRel", "NumQ")).campaign().evaluation(**CLOSED_DETAILS)
    field.run("Alder", {"AP": [0.5] * 4, "NumRel": [1.0, 2.0, 3.0, 4.0], "NumQ": [1.0] * 4})
    assert [figure.mean for figure in read(field).rows[0].figures] == [0.5, None, None]
    assert [figure.mean for figure in read(field, CONSOLE).rows[0].figures] == [0.5, 2.5, 1.0]


def keep_statistics(
    field: Field, ranks: dict[int, list[int]], above_baselines: Sequence[int] = (), may_be_best: Sequence[int] = ()
) -> None:
    """As the worker would have kept them: run -> the ends of its rank set. may_be_best: unless given, all whose set
    holds 1."""
    figures = {
        "ranked": [field.scoring(run) for run in ranks],
        "ranks": {str(field.scoring(run)): ends for run, ends in ranks.items()},
        "above_baselines": [field.scoring(run) for run in above_baselines],
        "may_be_best": [field.scoring(run) for run in (may_be_best or [run for run in ranks if ranks[run][0] == 1])],
        "confidence": 0.95, "resamples": 10_000, "rank_resamples": 10_000, "rank_queries": 50, "needed_queries": None,
        "queries": None, "seed": 1,
    }  # fmt: skip
    with field.database.write() as session:
        set_id = field.current_set().id
        kept = {"figures": figures, "refreshed_at": NOW, **packed_figures({})}
        session.merge(Board(scoring_set_id=set_id, measure="AP", subset=Subset.ALL, **kept))


def test_rank_sets_tell_none_from_another_that_reads_alike(database: Database) -> None:
    field = Field(database).campaign().evaluation(tags=[()] * 50, details=Opening.NEVER)
    runs = [
        field.run(name, {"AP": [mean] * 50}, intervals={"AP": (0.2, 0.5)})
        for name, mean in (("Alder", 0.4149), ("Birch", 0.4123), ("Cedar", 0.3))
    ]
    keep_statistics(field, {runs[0]: [1, 1], runs[1]: [2, 3], runs[2]: [2, 3]}, runs[:1])
    seen = [(row.entry.system.name, row.rank, row.rank_set, row.may_be_best) for row in read(field).rows]
    assert seen == [("Alder", 1, (1, 2), True), ("Birch", 1, (1, 3), True), ("Cedar", 3, (2, 3), False)]
    full = [(row.entry.system.name, row.rank, row.rank_set, row.may_be_best) for row in read(field, CONSOLE).rows]
    assert full == [("Alder", 1, (1, 1), True), ("Birch", 2, (2, 3), False), ("Cedar", 3, (2, 3), False)]


def test_who_may_be_the_best_tells_none_from_another_that_reads_alike(database: Database) -> None:
    field = Field(database).campaign().evaluation(tags=[()] * 50, details=Opening.NEVER)
    means = (("Alder", 0.45), ("Birch", 0.4149), ("Cedar", 0.4123), ("Dogwood", 0.4121), ("Elm", 0.3))
    runs = [field.run(name, {"AP": [mean] * 50}, intervals={"AP": (0.2, 0.5)}) for name, mean in means]
    ends = [[1, 4], [1, 4], [1, 4], [2, 5], [1, 5]]
    keep_statistics(field, dict(zip(runs, ends, strict=True)), may_be_best=runs[:2])
    assert [row.may_be_best for row in read(field, CONSOLE).rows] == [True, True, False, False, False]
    # Dogwood's rank set lacks 1: the two never contradict each other
    assert [row.may_be_best for row in read(field).rows] == [True, True, True, False, False]


@pytest.mark.parametrize(("rule", "show"), [(RunChoice.BEST, ""), (RunChoice.LATEST, "best")])
def test_the_best_of_several_runs_has_no_interval_and_nothing_is_said_of_ranks(
    database: Database, rule: RunChoice, show: str
) -> None:
    field = Field(database).campaign(run_choice=rule).evaluation(tags=[()] * 50)
    field.run("Alder", {"AP": [0.41] * 50}, intervals={"AP": (0.4, 0.5)})
    best = field.run("Alder", {"AP": [0.42] * 50}, intervals={"AP": (0.4, 0.5)})
    other = field.run("Birch", {"AP": [0.3] * 50}, intervals={"AP": (0.2, 0.4)})
    keep_statistics(field, {best: [1, 1], other: [2, 2]})
    rows = read(field, CONSOLE, show=show).rows
    assert [(row.entry.chosen_of, row.ranked_by.low, row.rank_set, row.may_be_best) for row in rows] == [
        (2, None, None, None), (1, 0.2, None, None)
    ]  # fmt: skip
    assert [figure.low for row in rows for figure in row.figures[:1]] == [None, 0.2]


def test_the_only_run_of_each_system_is_no_choice(database: Database) -> None:
    field = Field(database).campaign(run_choice=RunChoice.BEST).evaluation(tags=[()] * 50)
    runs = [field.run(name, {"AP": [0.4] * 50}, intervals={"AP": (0.3, 0.5)}) for name in ("Alder", "Birch")]
    keep_statistics(field, {runs[0]: [1, 2], runs[1]: [1, 2]})
    rows = read(field, CONSOLE).rows
    assert [(row.ranked_by.low, row.rank_set, row.may_be_best) for row in rows] == [(0.3, (1, 2), True)] * 2


def test_rank_sets_over_fewer_than_five_queries_are_not_shown_while_details_are_closed(database: Database) -> None:
    # Drawn from three queries they would say who is ahead on single ones.
    field = Field(database).campaign().evaluation(tags=[()] * 50, details=Opening.NEVER)
    values = {"Alder": [0.5] * 3 + [NAN] * 47, "Birch": [0.4] * 3 + [NAN] * 47}
    runs = [field.run(name, {"AP": own}, intervals={"AP": (0.1, 0.9)}) for name, own in values.items()]
    keep_statistics(field, {runs[0]: [1, 2], runs[1]: [1, 2]})
    assert [(row.ranked_by.low, row.rank_set, row.may_be_best) for row in read(field).rows] == [(None, None, None)] * 2


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (1, Paging(1, 11, 1100, more=True)),  # a page and COUNTED rows behind it
        (2, Paging(2, 12, 1200, more=True)),
        (3, Paging(3, 13, 1234)),
        (99, Paging(13, 13, 1234)),
        (None, Paging(1, 1, 1234)),
    ],
)
def test_a_long_list_is_counted_for_a_thousand_rows_behind_its_page(
    database: Database, page: int | None, expected: Paging
) -> None:
    number = sa.select(sa.literal(1).label("number")).cte(recursive=True)
    numbers = number.union_all(sa.select(number.c.number + 1).where(number.c.number < 1234))
    with database.read() as session:
        assert paging_within(session, sa.select(numbers.c.number), page, 100) == expected
