"""What the dates of an evaluation mean: its phase, which runs it takes, which are late, and what is public when.

Closing has two moments. From `closes_at` on no request to submit may begin; one that began before may go on sending
until `closed_from`, the end of the grace. What closing makes public opens only then, so that nobody who is still
sending can look at it first.

What an evaluation's figures depend on, beside its judgments and the runs.

The fields that an organiser adds to an evaluation's submission form, and the answers to them.

An answer is kept under its field's key with the run it was given for, and stays as it was given whatever becomes of the
field: a new label, another choice of choices or other readers change nothing in it. What kind of answer a key has never
changes once somebody answered, and a field that was answered, or keeps a part of what runs say of themselves to fewer,
is no longer asked rather than removed.
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Literal, Protocol

from leaderboard import errors, moments, numbers
from leaderboard.frozen import frozen
from leaderboard.metrics import Measure, Setting, parse
from leaderboard.metrics.measure import NEEDED, Need

LONGEST_GRACE = 24 * 3600  # seconds; migration 0001 has it too


class Phase(StrEnum):
    UPCOMING = "upcoming"
    OPEN = "open"
    GRACE = "closing"  # closed to new requests; uploads that began in time are still taken
    CLOSED = "closed"


TAKES_RUNS = Phase.UPCOMING, Phase.OPEN  # those that are ranked, now or later


class Opening(StrEnum):
    """From when the public may see something of an evaluation."""

    ALWAYS = "always"
    OPENED = "opened"  # once the evaluation has opened
    CLOSED = "closed"  # once the evaluation has closed and its grace is over
    NEVER = "never"  # organisers only


class Dates(Protocol):
    """An evaluation, as far as its dates go. None: it has always been open, or never closes."""

    title: str
    opens_at: datetime | None
    closes_at: datetime | None
    grace_seconds: int
    late_allowed: bool


def closed_from(evaluation: Dates) -> datetime | None:
    """The end of the grace, from which on the evaluation is closed to everything; None when it never closes."""
    return evaluation.closes_at and evaluation.closes_at + timedelta(seconds=evaluation.grace_seconds)


def phase_of(evaluation: Dates, now: datetime) -> Phase:
    """It is open from `opens_at`, in its grace from `closes_at` and closed from `closed_from` on, each included."""
    end = closed_from(evaluation)
    if end and end <= now:
        return Phase.CLOSED
    if evaluation.closes_at and evaluation.closes_at <= now:
        return Phase.GRACE
    if evaluation.opens_at and now < evaluation.opens_at:
        return Phase.UPCOMING
    return Phase.OPEN


def is_late(evaluation: Dates, begun_at: datetime, received_at: datetime) -> bool:
    """Whether a run is late, by the start of its request and its last byte: shown, where it is taken, and never ranked.

    It is on time when its last byte came before closing, or before the grace ended of a request begun before closing.
    """
    in_time = phase_of(evaluation, begun_at) in (Phase.UPCOMING, Phase.OPEN)
    return not in_time or phase_of(evaluation, received_at) is Phase.CLOSED


def refusal(evaluation: Dates, begun_at: datetime, received_at: datetime) -> str | None:
    """Why a run of a request begun then, whose last byte came then, is not taken, in words; None when it is taken."""
    if phase_of(evaluation, begun_at) is Phase.UPCOMING and evaluation.opens_at:
        return f"{evaluation.title} takes runs from {moments.moment_in_words(evaluation.opens_at)} on."
    if evaluation.closes_at is None or evaluation.late_allowed or not is_late(evaluation, begun_at, received_at):
        return None
    closed = f"{evaluation.title} closed on {moments.moment_in_words(evaluation.closes_at)}"
    grace = f", and {evaluation.grace_seconds} s later for files on their way" if evaluation.grace_seconds else ""
    return f"{closed}{grace}; it takes no late runs."


def teams_may_change(evaluation: Dates, now: datetime) -> bool:
    """Whether what a team does now may still change which of its runs stand: until closing, without any grace."""
    return evaluation.closes_at is None or now < evaluation.closes_at


def is_public(opening: Opening, evaluation: Dates, now: datetime) -> bool:
    """Whether something that opens to the public by this rule is open to it now."""
    if opening is Opening.OPENED:
        return phase_of(evaluation, now) is not Phase.UPCOMING
    if opening is Opening.CLOSED:
        return phase_of(evaluation, now) is Phase.CLOSED
    return opening is Opening.ALWAYS


ASSESSORS = "assessors"  # the source of judgments where no other is named

# The settings that campaigns and evaluations give to their scoring sets as they are, with what they decide in words.
OF_CAMPAIGN = {
    "beta": "β",
    "no_relevant": "what happens to queries without a relevant document",
    "compat": "ties and rounding",
}
OF_EVALUATION = {
    "documents": "the number of documents",
    "relevance_level": "the lowest relevant grade",
    "judging": "whether judgments are pooled or complete",
}


# Scored beside the campaign's measures where judgments are pooled: how far they know what a run lists first.
JUDGED = "Judged@10"


class NoRelevant(StrEnum):
    """What becomes of a query without relevant documents in the detection measures."""

    EXCLUDE = "exclude"
    PFA_ONLY = "pfa_only"
    PMISS_ZERO = "pmiss_zero"


class Judging(StrEnum):
    POOLED = "pooled"  # a query without judgments is left out and reported
    COMPLETE = "complete"  # every query counts; what is not listed is not relevant


class Split(StrEnum):
    """Who sees a query: everybody, or organisers only until the evaluation closes."""

    SHOWN = "shown"
    HIDDEN = "hidden"


class Subset(StrEnum):
    """Over which queries a mean runs: those that everybody may see, or hidden ones too."""

    SHOWN = "shown"
    ALL = "all"

    def leaves_out(self, split: Split) -> bool:
        """Whether queries of this split are not in the subset, and not to be known to whoever sees only this subset."""
        return self is Subset.SHOWN and split is Split.HIDDEN


def lacks(measure: Measure, **has: object) -> tuple[Need, ...]:
    """What a measure needs of these and an evaluation does not have; empty when the measure can be computed.

    has  of the keys of NEEDED those that are asked about: what there is, None or False for nothing
    """
    absent = {need for need, value in has.items() if value is None or value is False}
    return tuple(need for need in NEEDED if need in absent and need in measure.family.needs)


@frozen
class ScoringSettings:
    """Every setting of a campaign and an evaluation that changes a figure, as a scoring set freezes them.

    documents  N_total, None when it is not given
    queries    how many queries there are, and so how many values a stored vector holds
    known      whether the judgments come with a list of the documents that the user knew already
    subtopics  whether the judgments come with some of subtopics
    excluded   external ids of queries that count nowhere, sorted
    hidden     external ids of queries that count for Subset.ALL only, sorted
    measures   canonical names of the measures that are shown, the primary one first
    kept       those of measures that are scored only because an interval of a shown one needs their values, and JUDGED
    """

    beta: float | None
    no_relevant: NoRelevant
    documents: int | None
    relevance_level: int
    judging: Judging
    compat: Literal[9, 10]
    highest_grade: int
    queries: int
    known: bool
    subtopics: bool
    excluded: tuple[str, ...]
    hidden: tuple[str, ...]
    measures: tuple[str, ...]
    kept: tuple[str, ...]

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "ScoringSettings":
        """What `as_json` gave. Raises TypeError or ValueError for anything else."""
        typed: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in content.items()
        }
        typed |= {"no_relevant": NoRelevant(typed["no_relevant"]), "judging": Judging(typed["judging"])}
        return cls(**typed)

    def as_json(self) -> dict[str, Any]:
        """Plain numbers, texts and lists."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @property
    def hash(self) -> str:
        """SHA-256 in hexadecimal digits, equal for settings that differ in the order of their measures only."""
        content = self.as_json() | {"measures": sorted(self.measures)}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    @property
    def metric(self) -> Setting:
        """The part that the measures take. Raises BadInput for numbers that can't be."""
        names = ("documents", "beta", "compat", "highest_grade")
        return Setting(no_relevant=self.no_relevant.value, **{name: getattr(self, name) for name in names})

    @property
    def scored(self) -> tuple[Measure, ...]:
        """Every measure that is computed, shown or not."""
        return tuple(parse(name) for name in (*self.measures, *self.kept))

    @property
    def subsets(self) -> tuple[Subset, ...]:
        """The subsets whose figures differ: without hidden queries there is one, and both names stand for it."""
        return (Subset.SHOWN, Subset.ALL) if self.hidden else (Subset.ALL,)

    def subset_kept(self, seen: Subset) -> Subset:
        """The one of `subsets` that has the figures of a reader who sees this one."""
        return seen if self.hidden else Subset.ALL

    def counted(self, queries: Iterable[str], subset: Subset) -> list[str]:
        """Those of the queries, by external id, that count in a subset's means if they are judged."""
        left_out = self._left_out(subset)
        return [query for query in queries if query not in left_out]

    def size(self, subset: Subset) -> int:
        """How many queries count in a subset's means if they are judged."""
        return self.queries - len(self._left_out(subset))

    def _left_out(self, subset: Subset) -> set[str]:
        return {*self.excluded, *(self.hidden if subset is Subset.SHOWN else ())}

    def lacks(self, measure: Measure) -> tuple[Need, ...]:
        """What the measure needs and is not given."""
        return lacks(measure, documents=self.documents, beta=self.beta, known=self.known, subtopics=self.subtopics)


Answer = str | float | bool

MOST_FIELDS = 40
MOST_EXACT = 2**53  # from here on a number has no digits of its own for each whole one
LONGEST_ANSWER = 1000  # characters
MOST_CHOICES = 50
# What forms, programs and commands call the parts of every submission: a field of one of these names would be another.
RESERVED = {
    "agree", "agreement", "agreements", "answer", "answers", "beside", "confirm", "designation", "evaluation", "file",
    "kept", "label", "new_system", "notes", "run", "stand", "system", "team", "threshold", "version",
    "yes",
}  # fmt: skip
KEY = re.compile(r"[a-z][a-z0-9_-]{0,39}")
# Where the text of an agreement stands, which a form asks beside its fields.
WHERE_READ = "its text is on the page where runs are submitted, and among the API's `agreements` at …/submitting"


class FieldKind(StrEnum):
    TEXT = "text"
    CHOICE = "choice"
    NUMBER = "number"
    YES_NO = "yes_no"


class ShownTo(StrEnum):
    """Who sees the answers: organisers, or everyone who sees the run and whose it is. The run's team sees its own."""

    ORGANISERS = "organisers"
    EVERYONE = "everyone"

    @property
    def in_words(self) -> str:
        """What whoever answers is told."""
        if self is ShownTo.EVERYONE:
            return "public with your run"
        return "shown to your team and the organisers only"


@frozen
class FormField:
    """One field.

    column, filter  whether boards show it as a column, and let readers filter by it; for fields that everyone sees
    choices         of a choice
    required        every run has an answer to it
    header          what the run's own metadata calls it (`platform.hardware.cpu`): its answer is read from the file;
                    the form asks only where it is required, for files that lack it. "" for a field of the form
    asked           False once it is retired: no new run is asked, and earlier answers are still shown
    """

    key: str
    label: str
    kind: FieldKind = FieldKind.TEXT
    required: bool = False
    shown_to: ShownTo = ShownTo.ORGANISERS
    column: bool = False
    filter: bool = False
    choices: tuple[str, ...] = ()
    hint: str = ""
    header: str = ""
    asked: bool = True

    @property
    def in_form(self) -> bool:
        return self.asked and (self.required or not self.header)

    @property
    def on_board(self) -> bool:
        return self.column or self.filter

    @property
    def how(self) -> str:
        """How to answer it."""
        return HOW[self.kind].format(self.choices_in_words)

    @property
    def choices_in_words(self) -> str:
        return ", ".join(f"“{choice}”" for choice in self.choices)

    def reads(self, key: str) -> bool:
        """Whether this entry of a run's own metadata is its answer: capitals don't matter."""
        return bool(self.header) and key.casefold() == self.header.casefold()

    def covers(self, key: str) -> bool:
        """Whether this entry of a run's own metadata is its answer, or a part of it: `method.kind` of `method`."""
        return bool(self.header) and f"{key.casefold()}.".startswith(f"{self.header.casefold()}.")

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "choices": [*self.choices]}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "FormField":
        """What `as_json` gave. Raises TypeError or ValueError for anything else."""
        typed = {"kind": FieldKind(content["kind"]), "shown_to": ShownTo(content["shown_to"])}
        return cls(**{**content, **typed, "choices": tuple(content["choices"])})


def download_name(campaign: str, evaluation: str, content: str) -> str:
    """What a file of an evaluation is called as a download and in commands. content: such as `judgments`"""
    return f"{campaign}-{evaluation}-{content}.{'tsv' if content == 'queries' else 'txt'}"


def form_name(key: str) -> str:
    """What forms and messages call the answer to a field."""
    return f"answer-{key}"


def checked_answers(
    fields: Sequence[FormField],
    sent: Mapping[str, Any],
    said: Mapping[str, str] | None = None,
    *,
    complete: bool = True,
) -> dict[str, Any]:
    """The answers as they are stored, by key; what was left empty is left out, and so is what only the file says. That
    has to be an answer, too, required or not, where none is given in its place.

    sent      key -> text, number or bool, from a form, an API or a stored draft
    said      the run's own metadata, which may answer what was left empty
    complete  whether required fields must be answered

    Raises InvalidFields by `form_name`, for keys that no field has too.
    """
    answers: dict[str, Any] = {}
    in_form = [field.key for field in fields if field.in_form]
    unknown = f"there is no such field; asked are: {', '.join(in_form) or 'none'}"
    wrong = {form_name(key): [unknown] for key in sent.keys() - set(in_form)}
    for field in (field for field in fields if field.asked):
        try:
            answer = _checked(field, sent.get(field.key)) if field.in_form else None
            if answer is not None:
                answers[field.key] = answer
            elif not _is_in_file(field, said or {}) and field.required and complete:
                raise ValueError(_lacking(field))
        except ValueError as error:
            wrong.setdefault(form_name(field.key), []).append(str(error))
    if wrong:
        raise errors.InvalidFields(wrong)
    return answers


def answers_in_file(fields: Sequence[FormField], said: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is wrong with the answers in a run's own metadata, a sentence each, as `checked_answers` refuses it where
    nothing else is given; and which it lacks that every run needs, also a sentence each.
    """
    wrong, lacking = [], []
    for field in fields:
        try:
            if field.asked and field.header and not _is_in_file(field, said) and field.required:
                lacking.append(_lacking(field))
        except ValueError as error:
            wrong.append(str(error))
    return tuple(wrong), tuple(lacking)


def _lacking(field: FormField) -> str:
    or_file = f"; or say {field.header} in the run's own metadata" if field.header else ""
    return f"{field.label} is lacking, which every run here needs: {field.how}{or_file}"


def _checked(field: FormField, value: Any) -> Answer | None:
    """The answer; None where there is none. Raises ValueError that says what is asked."""
    text = "" if value is None else str(value).strip()
    if not text:
        return None
    if field.kind is FieldKind.TEXT:
        if len(text) > LONGEST_ANSWER:
            raise ValueError(f"use at most {LONGEST_ANSWER:,} characters")
        return text
    if field.kind is FieldKind.CHOICE and text in field.choices:
        return text
    if field.kind is FieldKind.YES_NO and text.lower() in YES_OR_NO:
        return YES_OR_NO[text.lower()]
    if field.kind is FieldKind.NUMBER:
        with suppress(ValueError):
            return numbers.read_quantity(text)  # not of True and False, whose text is none
    raise ValueError(field.how)


def _is_in_file(field: FormField, said: Mapping[str, str]) -> bool:
    """Whether the file answers it. Raises ValueError where what it says is no answer."""
    text = _said_of(field, said)
    try:
        return _checked(field, text) is not None
    except ValueError as error:
        raise ValueError(f"the run's own metadata has {text!r} as {field.header}: {error}") from None


YES_OR_NO = {"yes": True, "true": True, "no": False, "false": False}  # also as programs and metadata write it
# How to give an answer, with the choices of a choice.
HOW = {
    FieldKind.TEXT: "write a text",
    FieldKind.CHOICE: "choose one of: {}",
    FieldKind.NUMBER: "give a number such as 0.5",
    FieldKind.YES_NO: "answer yes or no",
}


def answers_of(
    fields: Sequence[FormField], answers: Mapping[str, Any], said: Mapping[str, str]
) -> dict[FormField, Answer]:
    """A run's answers by field, in the fields' order; retired fields too, those without an answer not.

    answers  as stored with the run: what its sender answered goes before what the file says
    said     the run's own metadata
    """
    by_field = ((field, answers[field.key] if field.key in answers else _from_file(field, said)) for field in fields)
    return {field: answer for field, answer in by_field if answer is not None}


def said_by(facts: Mapping[str, Any], beside: Mapping[str, str]) -> dict[str, str]:
    """A run's own metadata: what the file beside it says, else its own header.

    facts   what scoring found out about the run
    beside  what is kept of the file beside it
    """
    return {**facts.get("said", {}), **beside}


def said_to(fields: Sequence[FormField], said: Mapping[str, str], circles: Collection[ShownTo]) -> dict[str, str]:
    """What of a run's own metadata its readers see: what a field reads is shown to whom the field is shown, whenever
    either came, and everything else to all of them.

    fields   retired ones too
    circles  whose answers they see
    """
    closed = [field for field in fields if field.shown_to not in circles]
    return {key: text for key, text in said.items() if not any(field.covers(key) for field in closed)}


def _from_file(field: FormField, said: Mapping[str, str]) -> Answer | None:
    """What the file answers, if that is one. Of a choice it is whatever was said: its choices may be others by now."""
    text = _said_of(field, said)
    if field.kind is FieldKind.CHOICE:
        return text or None
    with suppress(ValueError):
        return _checked(field, text)
    return None


def _said_of(field: FormField, said: Mapping[str, str]) -> str | None:
    """What a run's own metadata has of the field, as it stands there; None where it has nothing of it."""
    if not field.header:
        return None
    return said.get(field.header) or next((text for key, text in said.items() if field.reads(key)), None)


def in_words(answer: Answer) -> str:
    """An answer as pages and filters write it."""
    return ("no", "yes")[answer] if isinstance(answer, bool) else str(as_written(answer))


def as_written(answer: Answer) -> Answer | int:
    """An answer as files have it: a number without a fraction has none.

    >>> as_written(7.0), as_written(12.5), as_written("7.0")
    (7, 12.5, '7.0')
    """
    whole = isinstance(answer, float) and answer.is_integer() and abs(answer) <= MOST_EXACT
    return int(answer) if whole else answer
