"""Whether scored runs have the figures that the trail has the digest of, and other runs the end that it tells."""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.models import Score, Scoring, Submission
from leaderboard.rules.digests import SHORT, ScoreLine, scoring_digest
from leaderboard.rules.states import State
from leaderboard.services.verification.report import NOTHING, Report, run_in_words
from leaderboard.services.verification.trail import Ended, Scored, Told

__all__ = ["check_ended", "check_scored", "lines_of"]

AT_ONCE = 200  # scorings whose figures are in memory


def check_scored(session: Session, report: Report, told: Told, tell: Callable[[int], None]) -> None:
    """Computes the digest of every scored run anew; `tell` is told how many more were looked at."""
    ids = iter(session.scalars(sa.select(Scoring.id).where(Scoring.state == State.SCORED).order_by(Scoring.id)).all())
    unseen = dict(told.scored)
    while batch := list(islice(ids, AT_ONCE)):
        rows = session.execute(
            sa.select(
                Scoring.id, Scoring.submission_id, Scoring.scoring_set_id, Scoring.beta, Scoring.missing,
                Scoring.unjudged, Scoring.facts, Scoring.digest, Submission.sha256,
            )
            .join(Submission, Submission.id == Scoring.submission_id)
            .where(Scoring.id.in_(batch))
            .order_by(Scoring.id)
        ).all()  # fmt: skip
        lines = lines_of(session, batch)
        for row in rows:
            _check_figures(session, report, row, lines.get(row.id, []), unseen.pop(row.id, None))
        report.runs += len(batch)
        tell(len(batch))
    for scoring_id, scored in unseen.items():
        _add_lost(session, report, scoring_id, scored, State.SCORED)


def check_ended(session: Session, report: Report, told: Told) -> None:
    """Compares the scorings that were rejected or have failed with those of which the trail says so."""
    unseen = dict(told.ended)
    rows = session.execute(
        sa.select(Scoring.id, Scoring.submission_id, Scoring.state, Scoring.failure, Scoring.damaged)
        .where(Scoring.state.in_((State.REJECTED, State.FAILED)))
        .order_by(Scoring.id)
    ).all()
    for row in rows:
        ended = unseen.pop(row.id, None)
        if ended is None and row.id in told.scored:
            continue  # named already: it has figures
        found = list(_differing_end(row, ended))
        if found:
            where = run_in_words(session, row.submission_id)
            for what, stored, expected in found:
                report.add(where, what, stored, expected, ended.last if ended is not None else "")
    for scoring_id, ended in unseen.items():
        _add_lost(session, report, scoring_id, ended, ended.state)


def lines_of(session: Session, scorings: list[int]) -> dict[int, list[ScoreLine]]:
    """Scoring -> its figures as they are stored."""
    rows = session.execute(
        sa.select(
            Score.scoring_id, Score.measure, sa.cast(Score.subset, sa.Text), Score.mean, Score.count,
            sa.type_coerce(Score.values, sa.LargeBinary),
        ).where(Score.scoring_id.in_(scorings))
    )  # fmt: skip
    lines: dict[int, list[ScoreLine]] = {}
    for scoring_id, measure, subset, mean, count, values in rows:
        lines.setdefault(scoring_id, []).append(ScoreLine(measure, subset, mean, count, values))
    return lines


def _add_lost(session: Session, report: Report, scoring_id: int, told: Scored | Ended, expected: State) -> None:
    """Adds that a scoring is not in the state that the trail tells."""
    state = session.scalar(sa.select(Scoring.state).where(Scoring.id == scoring_id))
    where = run_in_words(session, told.submission_id)
    report.add(where, f"scoring {scoring_id}", state.value if state is not None else NOTHING, expected.value, told.last)


def _check_figures(session: Session, report: Report, row: Any, lines: list[ScoreLine], told: Scored | None) -> None:
    beside = {"missing": row.missing, "unjudged": row.unjudged, "facts": row.facts}
    computed = scoring_digest(row.submission_id, row.sha256, row.scoring_set_id, row.beta, beside, lines)
    if told is not None and told.digest == computed == row.digest:
        return
    where = run_in_words(session, row.submission_id)
    if told is None:
        report.add(where, f"scoring {row.id}", State.SCORED.value, NOTHING)
        return
    found = list(_differing_figures(told.figures, lines))
    if not found and computed != told.digest:
        found.append(("what its figures were computed with", computed, told.digest))
    if row.digest != told.digest:
        found.append(("digest", str(row.digest), told.digest))
    for what, stored, expected in found:
        report.add(where, what, stored, expected, told.last)


def _differing_figures(figures: Mapping[str, Any], lines: list[ScoreLine]) -> Iterator[tuple[str, str, str]]:
    stored = {f"{line.measure} {line.subset}": line for line in lines}
    for name in sorted(figures.keys() | stored.keys()):
        measure, _, subset = name.rpartition(" ")
        what = f"{measure} over {subset} queries"
        line = stored.get(name)
        if line is None or name not in figures:
            yield what, NOTHING if line is None else "there", "there" if line is None else NOTHING
            continue
        mean, digest = figures[name]
        if line.mean != mean:
            yield what, f"mean {line.mean}", f"mean {mean}"
        elif line.digest[:SHORT] != digest:
            yield f"{what}, values or count", line.digest[:SHORT], digest


def _differing_end(row: Any, told: Ended | None) -> Iterator[tuple[str, str, str]]:
    """(what, stored, expected) for a scoring that was rejected or has failed."""
    what = f"scoring {row.id}"
    if told is None or row.state is not told.state:
        yield what, row.state.value, told.state.value if told is not None else NOTHING
        return
    for name, stored, left in (("failure", row.failure, told.failure), ("damaged", row.damaged, told.damaged)):
        if stored != left:
            yield f"{name} of {what}", str(stored), str(left)
