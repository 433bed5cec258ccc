"""What a scored run leaves behind, with figures worked out by hand."""

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE
from leaderboard.audit.verify import Report
from leaderboard.audit.writes import present
from leaderboard.boards import writes as boards
from leaderboard.boards.reads.board import BoardQuery, board
from leaderboard.campaigns import writes as campaigns
from leaderboard.campaigns.models import Campaign
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.rules import Opening, Subset
from leaderboard.formats import Limits, QueryRow
from leaderboard.judgments import writes as queries
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import SetState, State
from leaderboard.submissions.writes import submissions
from leaderboard.worker.models import Score, Scoring, ScoringSet
from leaderboard.worker.stored_runs import recompute
from tests.support.verification import without_triggers
from tests.support.world import RUN, World

# The collection has 1000 documents and β is 20. On q1 the run lists d1 (relevant) and d2 (judged not relevant): nothing
# is missed, one of 999 other documents is a false alarm. On q2 it lists the relevant one only. q3 has none relevant.
VALUE_Q1 = 1 - 20 / 999


def _scores(world: World, submission: int) -> dict[tuple[str, str], Score]:
    with world.database.read() as session:
        scoring = world.scoring(submission).id
        rows = session.scalars(
            sa.select(Score).where(Score.scoring_id == scoring).options(sa.orm.undefer(Score.values))
        )
        return {(row.measure, row.subset.value): row for row in rows}


def _values(score: Score) -> tuple[float, ...]:
    return tuple(score.values.tolist())


def test_every_measure_is_kept_with_its_mean_and_its_value_on_each_query(world: World) -> None:
    run = world.submit()
    world.drain()
    scores = _scores(world, run)
    assert set(scores) == {(name, subset.value) for name in ("AQWV", "AP", "P@1", "Judged@10") for subset in Subset}
    assert (scores["AP", "all"].mean, scores["AP", "all"].count) == (0.5, 3)
    assert _values(scores["AP", "all"]) == (0.5, 1.0, 0.0)
    assert scores["P@1", "all"].mean == pytest.approx(1 / 3)
    assert scores["AQWV", "all"].mean == pytest.approx((VALUE_Q1 + 1) / 2)
    assert scores["AQWV", "all"].count == 2
    q1, q2, q3 = _values(scores["AQWV", "all"])
    assert (q1, q2) == (pytest.approx(VALUE_Q1), 1.0)
    assert math.isnan(q3)
    assert scores["AP", "shown"].mean == 0.5


def test_the_record_says_how_it_came_about(world: World) -> None:
    run = world.submit()
    world.drain()
    scoring = world.scoring(run)
    assert (scoring.state, scoring.attempt, scoring.errors, scoring.beta) == (State.SCORED, 1, 0, 20.0)
    assert scoring.missing == ["q3"]
    assert scoring.facts == {
        "lines": 3, "queries": 2, "tag": "a-run", "theta": {}, "crowded": 0, "one_threshold": True,
        "said": {}, "said_problem": "",
    }  # fmt: skip
    assert scoring.started_at is not None
    assert scoring.finished_at is not None
    assert scoring.seconds is not None
    assert scoring.seconds > 0
    (campaign,) = world.all(sa.select(Campaign))
    assert campaign.locked_at is not None


def test_an_undefined_mean_is_no_number(world: World) -> None:
    world.judge("q3 0 d4 0\n")
    run = world.submit()
    world.drain()
    score = _scores(world, run)["AQWV", "all"]
    assert (score.mean, score.count) == (None, 0)
    assert world.scoring(run).unjudged == ["q1", "q2"]


def test_the_ranked_lists_can_be_opened_query_by_query(world: World) -> None:
    run = world.submit(RUN + "q2 Q0 d9 2 1.0 a-run\n")
    world.drain()
    # Equal scores: the document whose id sorts last comes first.
    assert world.store.ranked_list(run, 10, 1).documents == ("d9", "d3")
    assert world.store.ranked_list(run, 10, 0).documents == ("d2", "d1")
    assert len(world.store.ranked_list(run, 10, 2)) == 0


def test_a_wrong_file_leaves_a_rejected_run_with_its_problems(world: World) -> None:
    run = world.submit("q1 Q0 d1 1 2.0\nq1 Q0 d1 1 high tag\nq7 Q0 d1 1 2.0 tag\n" + RUN)
    world.drain()
    assert world.scoring(run).state is State.REJECTED
    (submission,) = world.all(sa.select(Submission))
    assert submission.problem_count == 3
    assert [line for line, _ in submission.problems] == [1, 2, 3]
    assert "expected 6 columns, found 5" in submission.problems[0][1]
    assert "no finite number" in submission.problems[1][1]
    assert "q7" in submission.problems[2][1]
    assert not submission.charged
    assert world.all(sa.select(Score)) == []
    (campaign,) = world.all(sa.select(Campaign))
    assert campaign.locked_at is None


def _later_evaluation(world: World, queries_: Sequence[int], tags: Sequence[str] = (), **values: Any) -> None:
    """Another evaluation of the campaign, which the world's runs and judgments go to from here on."""
    with world.organising() as (session, campaign, _):
        made = evaluations.create_evaluation(session, CONSOLE, campaign, "2027", "2027", "2027", **values)
        queries.import_queries(session, CONSOLE, made, [QueryRow(f"q{n}", "", tuple(tags)) for n in queries_])
    world.evaluation = made.id


def test_runs_that_come_before_the_judgments_wait_for_them(world: World) -> None:
    _later_evaluation(world, (1, 2), documents=10)
    run = world.submit()
    world.drain()
    world.judge("q1 0 d1 1\nq2 0 d3 1\n")
    world.drain()
    assert world.scoring(run).state is State.SCORED


def test_a_mean_has_the_same_digits_whatever_the_order_of_import(world: World) -> None:
    """By query id AP is 1, 1 and 1/3; added up in the order of import the mean differs in its last bit."""
    _later_evaluation(world, (3, 2, 1), ["all"], documents=10, details=Opening.ALWAYS)
    world.judge("q1 0 d1 1\nq2 0 d1 1\nq3 0 d1 1\n")
    lines = ["q1 Q0 d1 1 1 t", "q2 Q0 d1 1 1 t", "q3 Q0 x 1 3 t", "q3 Q0 y 2 2 t", "q3 Q0 d1 3 1 t"]
    run = world.submit("".join(f"{line}\n" for line in lines))
    world.drain()
    assert _scores(world, run)["AP", "all"].mean == (1 + 1 + 1 / 3) / 3 != (1 / 3 + 1 + 1) / 3
    with world.database.read() as session:
        page = board(session, CONSOLE, "small", "2027", present(), BoardQuery(tag="all"))
    assert [row.entry.figures["AP"].mean for row in page.rows] == [(1 + 1 + 1 / 3) / 3]


def test_the_intervals_of_mqwv_come_with_its_score_outlive_boards_and_are_verified(
    world: World,
) -> None:
    """Of six queries three have both relevant documents first; the others one false alarm before each of them."""
    with world.organising() as (session, campaign, _):
        campaigns.change_campaign(session, CONSOLE, campaign, measures=["MQWV", "AQWV"])
    _later_evaluation(world, range(6), documents=102, details=Opening.ALWAYS)
    world.judge("".join(f"q{n} 0 a 1\nq{n} 0 b 1\n" for n in range(6)))
    good, bad = "q{0} Q0 a 1 4 t\nq{0} Q0 b 2 3 t\n", "q{0} Q0 x 1 4 t\nq{0} Q0 a 2 3 t\nq{0} Q0 y 3 2 t\n"
    run = world.submit("".join((good if n < 3 else bad).format(n) for n in range(6)))
    lines = "q{0}\ta\tY\t4\nq{0}\tb\tY\t3\n", "q{0}\tx\tN\t4\nq{0}\ta\tY\t3\nq{0}\ty\tN\t2\n"  # better than any θ
    decided = world.submit("".join(lines[n >= 3].format(n) for n in range(6)))
    world.drain()
    mean = 1 - (0 * 3 + 0.5 * 3) / 6 - 20 * (0.01 * 3) / 6  # at θ = 3
    actual = mean - 20 * (0.01 * 3) / 6  # all of them: y too
    _refresh(world)
    for subset in ("all", "shown"):
        scores = _scores(world, run)
        score = scores["MQWV", subset]
        assert score.mean == pytest.approx(mean)
        assert scores["AQWV", subset].mean == pytest.approx(actual)
        assert score.low < mean < score.high <= 1.0
        assert 0.0 <= score.lost_low < mean - actual < score.lost_high
        assert (scores["AQWV", subset].lost_low, scores["AQWV", subset].lost_high) == (None, None)
        own = _scores(world, decided)["MQWV", subset]
        assert own.low < mean < own.high
        assert (own.lost_low, own.lost_high) == (None, None)
    assert [world.scoring(one).facts["one_threshold"] for one in (run, decided)] == [True, False]
    with world.database.read() as session:
        assert list(boards.recomputed(session)) == []
    assert _recomputed(world) == []
    with world.database.write() as session:
        submissions.withdraw(session, CONSOLE, session.get_one(Submission, decided))
    _refresh(world)
    assert _recomputed(world) == []  # the board's row keeps what the withdrawn run's own rows do
    with world.database.write() as session:
        of_mqwv = (Score.scoring_id == world.scoring(run).id, Score.measure == "MQWV")
        session.execute(sa.update(Score).where(*of_mqwv, Score.subset == "all").values(low=0.5))
        session.execute(sa.update(Score).where(*of_mqwv, Score.subset == "shown").values(lost_high=0.5))
    assert _recomputed(world) == [
        "intervals of MQWV over all queries, scored again", "intervals of MQWV over shown queries, scored again",
        "intervals of its runs, MQWV over all queries",
    ]  # fmt: skip


def _refresh(world: World) -> None:
    with world.database.read() as session:
        for wanted in boards.due(session):
            boards.refresh(world.database, wanted)


def _recomputed(world: World) -> list[str]:
    report = Report()
    recompute(world.database, world.store, Limits(), report, lambda _: None)
    return sorted(each.what for each in report.differences)


def _made_up(session: Session, made: ScoringSet) -> int:
    """No trigger is in the way of a set of the same judgments in which q1 does not count."""
    columns = {column.key: getattr(made, column.key) for column in sa.inspect(ScoringSet).columns}
    settings = dataclasses.replace(made.settings, excluded=("q1",))
    values = columns | {"id": 99, "settings": settings, "settings_hash": settings.hash, "state": SetState.BUILDING}
    session.execute(sa.insert(ScoringSet).values(values))
    session.execute(sa.update(Scoring).values(scoring_set_id=99))
    return 99


def _changed(session: Session, made: ScoringSet) -> int:
    settings = dataclasses.replace(made.settings, excluded=("q1",))
    with without_triggers(session):
        session.execute(sa.update(ScoringSet).values(frozen=settings, settings_hash=settings.hash))
    return made.id


@pytest.mark.parametrize("forge", [_made_up, _changed])
def test_a_run_is_not_scored_by_a_set_that_sql_made_or_changed(
    world: World, forge: Callable[[Session, ScoringSet], int]
) -> None:
    run = world.submit()
    with world.database.write() as session:
        forged = forge(session, session.scalars(sa.select(ScoringSet)).one())
    world.drain()
    (scoring,) = world.all(sa.select(Scoring))
    assert (scoring.submission_id, scoring.scoring_set_id, scoring.state) == (run, forged, State.FAILED)
    assert scoring.failure == (f"scoring set {forged} is not the one that this program made: see `leaderboard verify`")
    assert not scoring.damaged
    assert world.all(sa.select(Score.mean)) == []


def _in_a_child(session: Session) -> None:
    """A row of a table that inherits is one of ours to whoever reads, and no trigger of ours runs for it."""
    session.connection().exec_driver_sql("CREATE TABLE mine () INHERITS (judgment)")
    session.connection().exec_driver_sql(
        "INSERT INTO mine SELECT revision_id, query_id, 'd59', 1 FROM judgment WHERE document = 'd1'"
    )


def _added(session: Session) -> None:
    with without_triggers(session):
        session.connection().exec_driver_sql(
            "INSERT INTO judgment SELECT revision_id, query_id, 'd59', 1 FROM judgment WHERE document = 'd1'"
        )


def test_a_run_is_not_scored_by_judgments_that_sql_added_to_a_revision(world: World, engine_name: str) -> None:
    run = world.submit()
    with world.database.write() as session:
        (_added if engine_name == "sqlite" else _in_a_child)(session)
    world.drain()
    (scoring,) = world.all(sa.select(Scoring))
    assert (scoring.submission_id, scoring.state, scoring.damaged) == (run, State.FAILED, False)
    assert scoring.failure == "the judgments are not those of an import as revision 1: see `leaderboard verify`"
    assert world.all(sa.select(Score.mean)) == []
