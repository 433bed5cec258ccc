"""What a change of a form's fields does with answers that were given before it: who else reads them, and where."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.lookup import with_current_scoring
from leaderboard.models import Evaluation, Scoring, Submission
from leaderboard.numbers import counted
from leaderboard.rules.form_fields import FormField, ShownTo, answers_of, said_by, said_to
from leaderboard.rules.states import State

__all__ = ["shown_otherwise"]

Run = tuple[Mapping[str, Any], Mapping[str, str]]  # its answers as they are stored, and what it says of itself
ON_BOARD = {"column": "as a column", "filter": "as a filter"}


def shown_otherwise(
    session: Session, evaluation: Evaluation, before: Sequence[FormField], after: Sequence[FormField]
) -> Iterator[str]:
    """Which answers more readers see by the fields of `after` than by those of `before`, and which come onto the board:
    a sentence each, with how many there are.
    """
    if before == after:
        return
    opened, answered = Counter[str](), Counter[str]()
    for run in _runs(session, evaluation):
        items = _open_items(after, *run) - _open_items(before, *run)
        opened.update({_label(before, after, item) for item in items})
        answered.update(field.key for field in answers_of(after, *run))
    for label, count in opened.items():
        yield (
            f"With this, everyone who sees whose run it is sees {counted(count, 'answer')} to “{label}”, given for the "
            "run's team and the organisers only. What somebody has read can't be taken back."
        )
    stood = {field.key: field for field in before}
    for field in after:
        parts = [part for part in ON_BOARD if getattr(field, part) and not getattr(stood.get(field.key), part, False)]
        if parts and answered[field.key]:
            given = f"{counted(answered[field.key], 'answer')} to “{field.label}”, given before"
            yield f"With this, the board has {given}, {' and '.join(ON_BOARD[part] for part in parts)}."


def _runs(session: Session, evaluation: Evaluation) -> Iterator[Run]:
    """Those that others may see, now or later: withdrawn and rejected ones are left out."""
    rows = session.execute(
        with_current_scoring(sa.select(Submission.answers, Submission.said, Scoring.facts)).where(
            Submission.evaluation_id == evaluation.id,
            Submission.withdrawn_at.is_(None),
            sa.or_(Scoring.state.is_(None), Scoring.state != State.REJECTED),
        )
    )
    for answers, beside, facts in rows:
        yield answers, said_by(facts or {}, beside)


def _open_items(
    fields: Sequence[FormField], answers: Mapping[str, Any], said: Mapping[str, str]
) -> set[tuple[str, str]]:
    """What everyone who sees whose run it is sees of its answers and its metadata: ("answer" or "file", its key)."""
    everyone = [field for field in fields if field.shown_to is ShownTo.EVERYONE]
    read = [key for key in said if any(field.reads(key) for field in everyone)]
    of_file = {("file", key) for key in (*read, *said_to(fields, said, {ShownTo.EVERYONE}))}
    return of_file | {("answer", field.key) for field in everyone if field.key in answers}


def _label(before: Sequence[FormField], after: Sequence[FormField], item: tuple[str, str]) -> str:
    """Of the field that kept it to fewer; of an answer its own field, new ones too."""
    kind, key = item
    if kind == "answer":
        return next(field.label for field in (*before, *after) if field.key == key)
    return next(field.label for field in before if field.shown_to is not ShownTo.EVERYONE and field.covers(key))
