"""Answers to an evaluation's form fields, and what runs say of themselves, as their readers may see them."""

import datetime as dt
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.boards.reads.entries import Entry
from leaderboard.errors import BadInput
from leaderboard.evaluations.models import Acceptance, Agreement, Evaluation
from leaderboard.evaluations.reads.form_fields import form_fields
from leaderboard.evaluations.rules.form_fields import Answer, FormField, ShownTo, answers_of, in_words, said_by, said_to
from leaderboard.submissions.models import Submission
from leaderboard.worker.models import Scoring

MOST_VALUES = 50  # that a filter offers


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """shown_to: who sees it beside the run's team, for a reader who should know."""

    label: str
    text: str
    shown_to: ShownTo


@dataclass(frozen=True, slots=True)
class AcceptedAgreement:
    """A version of an agreement that whoever submitted a run accepted in its evaluation, and when."""

    key: str
    version: int
    title: str
    text: str
    accepted_at: dt.datetime


@dataclass(frozen=True, slots=True)
class AnswerFilter:
    """A field that a board can be filtered by, and the answers of its runs, most frequent first, each with how many."""

    field: FormField
    values: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class BoardAnswers:
    """What a board shows of answers.

    columns   fields that are columns
    filters   fields that the reader can filter by
    of_run    submission -> field -> its answer
    chosen    the field's key and the answer that the reader filters by; None without a filter
    """

    columns: tuple[FormField, ...] = ()
    filters: tuple[AnswerFilter, ...] = ()
    of_run: Mapping[int, Mapping[FormField, Answer]] | None = None
    chosen: tuple[str, str] | None = None

    def of(self, submission_id: int) -> Mapping[FormField, Answer]:
        return (self.of_run or {}).get(submission_id, {})

    def has(self, submission_id: int) -> bool:
        """Whether a run passes the filter."""
        if self.chosen is None:
            return True
        key, text = self.chosen
        return any(field.key == key and in_words(answer) == text for field, answer in self.of(submission_id).items())


def circles(*, inside: bool, named: bool) -> frozenset[ShownTo]:
    """The circles that a reader of a run belongs to: of what is shown to whom they see it.

    inside, named  whether they answer for the run (its team, the organisers), know whose it is
    """
    seen = {ShownTo.EVERYONE: named, ShownTo.ORGANISERS: inside}
    return frozenset(circle for circle, sees in seen.items() if sees)


def answers_of_run(run: Submission, scoring: Scoring | None) -> dict[FormField, Answer]:
    """All answers of a run, whoever may see them."""
    return answers_of(form_fields(run.evaluation), run.answers, _said_of(run, scoring))


def shown_answers(run: Submission, scoring: Scoring | None, seen: Collection[ShownTo]) -> tuple[ShownAnswer, ...]:
    """The answers of a run that a reader of these circles may see."""
    return tuple(
        ShownAnswer(field.label, in_words(answer), field.shown_to)
        for field, answer in answers_of_run(run, scoring).items()
        if field.shown_to in seen
    )


def shown_metadata(run: Submission, scoring: Scoring | None, seen: Collection[ShownTo]) -> tuple[tuple[str, str], ...]:
    """What a run says of itself, by key, as far as a reader of these circles may see it."""
    if not seen:
        return ()
    return tuple(said_to(form_fields(run.evaluation), _said_of(run, scoring), seen).items())


def accepted_agreements(session: Session, run: Submission) -> tuple[AcceptedAgreement, ...]:
    """What its submitter accepted in its evaluation, by key and version; for its team and organisers."""
    rows = session.execute(
        sa.select(Agreement, Acceptance.accepted_at)
        .join(Acceptance)
        .where(Agreement.evaluation_id == run.evaluation_id, Acceptance.user_id == run.submitter_id)
        .order_by(Agreement.key, Agreement.version)
    )
    return tuple(
        AcceptedAgreement(agreement.key, agreement.version, agreement.title, agreement.text, at)
        for agreement, at in rows
    )


def _said_of(run: Submission, scoring: Scoring | None) -> dict[str, str]:
    """What a run says of itself: in the file beside it, else in its own header."""
    return said_by(scoring.facts if scoring else {}, run.said)


def board_answers(
    session: Session, evaluation: Evaluation, entries: Iterable[Entry], asked: str | None
) -> BoardAnswers:
    """The answers of a board's runs, those of systems without a name left out.

    asked  `key:answer` to filter by. Raises BadInput that lists the fields when it is none of them.
    """
    fields = [field for field in form_fields(evaluation) if field.on_board]
    chosen = _chosen([field for field in fields if field.filter], asked)
    if not fields:
        return BoardAnswers()
    named = [entry for entry in entries if not entry.system.is_anonymous]
    rows = session.execute(
        sa.select(Submission.id, Submission.answers, Submission.said, Scoring.facts)
        .join(Scoring, Scoring.submission_id == Submission.id)
        .where(Scoring.id.in_([entry.scoring_id for entry in named]))
    )
    of_run = {run: answers_of(fields, given, said_by(facts, said)) for run, given, said, facts in rows}
    filters = [AnswerFilter(field, _values(field, of_run.values())) for field in fields if field.filter]
    return BoardAnswers(tuple(field for field in fields if field.column), tuple(filters), of_run, chosen)


def _values(field: FormField, answers: Iterable[Mapping[FormField, Answer]]) -> tuple[tuple[str, int], ...]:
    counts: dict[str, int] = {}
    for own in answers:
        if field in own:
            text = in_words(own[field])
            counts[text] = counts.get(text, 0) + 1
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MOST_VALUES])


def _chosen(fields: Collection[FormField], asked: str | None) -> tuple[str, str] | None:
    if not asked:
        return None
    key, colon, text = asked.partition(":")
    if not colon or key not in {field.key for field in fields}:
        there = ", ".join(field.key for field in fields) or "none"
        raise BadInput(f"answer={asked}: give a field and an answer as key:answer; fields to filter by: {there}")
    return key, text
