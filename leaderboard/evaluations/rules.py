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

import datetime as dt
import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Literal, Protocol

from leaderboard.errors import InvalidFields
from leaderboard.metrics import Measure, Setting, parse
from leaderboard.metrics.measure import Need
from leaderboard.moments import exact_moment_in_words, moment_in_words
from leaderboard.numbers import read_number

LONGEST_GRACE = 24 * 3600  # seconds; migration 0001 has it too


class Phase(StrEnum):
    UPCOMING = "upcoming"
    OPEN = "open"
    GRACE = "closing"  # closed to new requests; uploads that began in time are still taken
    CLOSED = "closed"


class Opening(StrEnum):
    """From when the public may see something of an evaluation."""

    ALWAYS = "always"
    OPENED = "opened"  # once the evaluation has opened
    CLOSED = "closed"  # once the evaluation has closed and its grace is over
    NEVER = "never"  # organisers only


class Dates(Protocol):
    """An evaluation, as far as its dates go. None: it has always been open, or never closes."""

    @property
    def title(self) -> str: ...
    @property
    def opens_at(self) -> dt.datetime | None: ...
    @property
    def closes_at(self) -> dt.datetime | None: ...
    @property
    def grace_seconds(self) -> int: ...
    @property
    def late_allowed(self) -> bool: ...


def closed_from(evaluation: Dates) -> dt.datetime | None:
    """The end of the grace, from which on the evaluation is closed to everything; None when it never closes."""
    if evaluation.closes_at is None:
        return None
    return evaluation.closes_at + dt.timedelta(seconds=evaluation.grace_seconds)


def phase_of(evaluation: Dates, now: dt.datetime) -> Phase:
    """It is open from `opens_at`, in its grace from `closes_at` and closed from `closed_from` on, each included."""
    end = closed_from(evaluation)
    if end is not None and end <= now:
        return Phase.CLOSED
    if evaluation.closes_at is not None and evaluation.closes_at <= now:
        return Phase.GRACE
    if evaluation.opens_at is not None and now < evaluation.opens_at:
        return Phase.UPCOMING
    return Phase.OPEN


def is_closed(evaluation: Dates, now: dt.datetime) -> bool:
    """Whether the evaluation has closed at the moment `now` and its grace is over."""
    return phase_of(evaluation, now) is Phase.CLOSED


def is_late(evaluation: Dates, begun_at: dt.datetime, received_at: dt.datetime) -> bool:
    """Whether a run is late, by the start of its request and its last byte: shown, where it is taken, and never ranked.

    It is on time when its last byte came before closing, or before the grace ended of a request begun before closing.
    """
    in_time = Phase.UPCOMING, Phase.OPEN
    return phase_of(evaluation, begun_at) not in in_time or is_closed(evaluation, received_at)


def refusal(evaluation: Dates, begun_at: dt.datetime, received_at: dt.datetime) -> str | None:
    """Why a run of a request begun then, whose last byte came then, is not taken, in words; None when it is taken."""
    if phase_of(evaluation, begun_at) is Phase.UPCOMING and evaluation.opens_at is not None:
        return f"{evaluation.title} takes runs from {moment_in_words(evaluation.opens_at)} on."
    if evaluation.closes_at is None or evaluation.late_allowed or not is_late(evaluation, begun_at, received_at):
        return None
    closed = f"{evaluation.title} closed on {moment_in_words(evaluation.closes_at)}"
    if begun_at < evaluation.closes_at:
        return (
            f"{closed} and waited {evaluation.grace_seconds} s for files that were on their way. The last byte of this "
            f"one came on {exact_moment_in_words(received_at)}; late runs are not taken."
        )
    return f"{closed}; it takes no late runs."


def teams_may_change(evaluation: Dates, now: dt.datetime) -> bool:
    """Whether what a team does now may still change which of its runs stand: until closing, without any grace."""
    return evaluation.closes_at is None or now < evaluation.closes_at


def is_public(opening: Opening, evaluation: Dates, now: dt.datetime) -> bool:
    """Whether something that opens to the public by this rule is open to it now."""
    match opening:
        case Opening.ALWAYS:
            return True
        case Opening.OPENED:
            return phase_of(evaluation, now) is not Phase.UPCOMING
        case Opening.CLOSED:
            return is_closed(evaluation, now)
        case Opening.NEVER:
            return False


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


def compat_problem(version: Any) -> str | None:
    """What is wrong with a number for the version of trec_eval by whose rules figures are worked out."""
    return None if version in (9, 10) else "choose trec_eval's version 9 or 10"


def lacks(
    measure: Measure, *, documents: int | None, beta: float | None, known: bool, subtopics: bool
) -> tuple[Need, ...]:
    """What a measure needs and an evaluation does not have; empty when the measure can be computed.

    documents  N_total, None when it is not given
    beta       None when the campaign states none
    known      whether there is a list of the documents that the user knew already
    subtopics  whether documents are judged for subtopics too
    """
    missing: dict[Need, bool] = {
        "documents": documents is None,
        "beta": beta is None,
        "known": not known,
        "subtopics": not subtopics,
    }
    return tuple(need for need, is_missing in missing.items() if is_missing and need in measure.needs)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringSettings:
    """Every setting of a campaign and an evaluation that changes a figure, as a scoring set freezes them.

    documents  N_total, None when it is not given
    queries    how many queries there are, and so how many values a stored vector holds
    known      whether the judgments come with a list of the documents that the user knew already
    subtopics  whether the judgments come with some of subtopics
    excluded   external ids of queries that count nowhere, sorted
    hidden     external ids of queries that count for Subset.ALL only, sorted
    measures   canonical names of the measures that are shown, the primary one first
    kept       those of measures that are scored only because an interval of a shown one needs their values
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
        typed["no_relevant"], typed["judging"] = NoRelevant(typed["no_relevant"]), Judging(typed["judging"])
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
        return Setting(
            documents=self.documents,
            beta=self.beta,
            no_relevant=self.no_relevant.value,
            compat=self.compat,
            highest_grade=self.highest_grade,
        )

    @property
    def scored(self) -> tuple[Measure, ...]:
        """Every measure that is computed, shown or not."""
        return tuple(parse(name) for name in (*self.measures, *self.kept))

    @property
    def subsets(self) -> tuple[Subset, ...]:
        """The subsets whose figures differ: without hidden queries there is one, and both names stand for it."""
        return (Subset.SHOWN, Subset.ALL) if self.hidden else (Subset.ALL,)

    def counted(self, queries: Iterable[str], subset: Subset) -> list[str]:
        """Those of the queries, by external id, that count in a subset's means if they are judged."""
        left_out = {*self.excluded, *(self.hidden if subset is Subset.SHOWN else ())}
        return [query for query in queries if query not in left_out]

    def size(self, subset: Subset) -> int:
        """How many queries count in a subset's means if they are judged."""
        return self.queries - len({*self.excluded, *(self.hidden if subset is Subset.SHOWN else ())})

    def lacks(self, measure: Measure) -> tuple[Need, ...]:
        """What the measure needs and is not given."""
        return lacks(measure, documents=self.documents, beta=self.beta, known=self.known, subtopics=self.subtopics)


Answer = str | float | bool

MOST_FIELDS = 40
MOST_EXACT = 2**53  # from here on a number has no digits of its own for each whole one
LONGEST_ANSWER = 1000  # characters
MOST_CHOICES = 50
# What forms, programs and commands call the parts of every submission: a field of one of these names would be another.
RESERVED = frozenset(
    {
        "agree", "agreement", "agreements", "answer", "answers", "beside", "confirm", "designation", "evaluation",
        "file", "kept", "label", "new_system", "notes", "run", "stand", "system", "system_name", "team", "threshold",
        "version", "yes",
    }
)  # fmt: skip
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
        return TOLD_READERS[self]


TOLD_READERS = {
    ShownTo.ORGANISERS: "shown to your team and the organisers only",
    ShownTo.EVERYONE: "shown to everyone who sees whose run it is",
}


@dataclass(frozen=True, slots=True, kw_only=True)
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
    def choices_in_words(self) -> str:
        """Its choices, told apart where they hold commas or quotes themselves."""
        apart = any(set(choice) & set(",;\"'“”") for choice in self.choices)
        return ", ".join(f"“{choice}”" if apart else choice for choice in self.choices)

    def reads(self, key: str) -> bool:
        """Whether this entry of a run's own metadata is its answer: capitals don't matter."""
        return bool(self.header) and key.casefold() == self.header.casefold()

    def covers(self, key: str) -> bool:
        """Whether this entry of a run's own metadata is its answer, or a part of it: `method.kind` of `method`."""
        return self.reads(key) or (bool(self.header) and key.casefold().startswith(f"{self.header.casefold()}."))

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "kind": self.kind.value, "shown_to": self.shown_to.value, "choices": [*self.choices]}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "FormField":
        """What `as_json` gave. Raises TypeError or ValueError for anything else."""
        typed = {"kind": FieldKind(content["kind"]), "shown_to": ShownTo(content["shown_to"])}
        return cls(**{**content, **typed, "choices": tuple(content["choices"])})


def fields_from_json(content: Sequence[Mapping[str, Any]]) -> tuple[FormField, ...]:
    """What `as_json` gave of each. Raises TypeError or ValueError for anything else."""
    return tuple(map(FormField.from_json, content))


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
    wrong: dict[str, list[str]] = {}
    answers: dict[str, Any] = {}
    in_form = [field.key for field in fields if field.in_form]
    for key in sent.keys() - set(in_form):
        asked = f"asked are: {', '.join(in_form)}" if in_form else "none is asked"
        wrong[form_name(key)] = [f"there is no such field; {asked}"]
    for field in fields:
        if not field.asked:
            continue
        key = field.key
        try:
            answer = _checked(field, sent.get(key)) if field.in_form else None
            is_answered = answer is not None or _is_in_file(field, said or {})
        except ValueError as error:
            wrong.setdefault(form_name(key), []).append(str(error))
            continue
        if answer is not None:
            answers[key] = answer
        elif field.required and complete and not is_answered:
            or_file = f"; or say {field.header} in the run's own metadata" if field.header else ""
            what = f"{field.label} is lacking, which every run here needs"
            wrong[form_name(key)] = [f"{what}: {HOW[field.kind](field)}{or_file}"]
    if wrong:
        raise InvalidFields(wrong)
    return answers


def answers_in_file(fields: Sequence[FormField], said: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is wrong with the answers in a run's own metadata, a sentence each, as `checked_answers` refuses it where
    nothing else is given; and which it lacks that every run needs, also a sentence each.
    """
    wrong, lacking = list[str](), list[str]()
    for field in fields:
        if not (field.asked and field.header):
            continue
        try:
            if not _is_in_file(field, said) and field.required:
                lacking.append(
                    f"{field.label} is lacking, which every run here needs: say {field.header} in the run's own "
                    f"metadata, or answer it with the run ({HOW[field.kind](field)})"
                )
        except ValueError as error:
            wrong.append(str(error))
    return tuple(wrong), tuple(lacking)


def _checked(field: FormField, value: Any) -> Answer | None:
    """The answer; None where there is none. Raises ValueError that says what is asked."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    return CHECKS[field.kind](field, value)


def _is_in_file(field: FormField, said: Mapping[str, str]) -> bool:
    """Whether the file answers it. Raises ValueError where what it says is no answer."""
    text = _said_of(field, said)
    try:
        return text is not None and _of_text(field, text) is not None
    except ValueError as error:
        raise ValueError(f"the run's own metadata has {text!r} as {field.header}: {error}") from None


def _yes_or_no(_: FormField, value: Any) -> bool:
    if value in (True, "yes"):
        return True
    if value in (False, "no"):
        return False
    raise ValueError("answer yes or no")


def _number(_: FormField, value: Any) -> float:
    try:
        return read_number(str(value).strip())  # of True and False too, which are no numbers
    except ValueError:
        raise ValueError("give a number such as 0.5") from None


def _choice(field: FormField, value: Any) -> str:
    if value not in field.choices:
        raise ValueError(f"choose one of: {field.choices_in_words}")
    return str(value)


def _text(_: FormField, value: Any) -> str:
    text = str(value).strip()
    if len(text) > LONGEST_ANSWER:
        raise ValueError(f"use at most {LONGEST_ANSWER:,} characters")
    return text


CHECKS: Mapping[FieldKind, Callable[[FormField, Any], Answer]] = {
    FieldKind.TEXT: _text,
    FieldKind.CHOICE: _choice,
    FieldKind.NUMBER: _number,
    FieldKind.YES_NO: _yes_or_no,
}


# How to give an answer.
HOW: Mapping[FieldKind, Callable[[FormField], str]] = {
    FieldKind.TEXT: lambda _: "write a text",
    FieldKind.CHOICE: lambda field: f"choose one of: {field.choices_in_words}",
    FieldKind.NUMBER: lambda _: "give a number such as 0.5",
    FieldKind.YES_NO: lambda _: "answer yes or no",
}


def answers_of(
    fields: Sequence[FormField], answers: Mapping[str, Any], said: Mapping[str, str]
) -> dict[FormField, Answer]:
    """A run's answers by field, in the fields' order; retired fields too, those without an answer not.

    answers  as stored with the run: what its sender answered goes before what the file says
    said     the run's own metadata
    """
    by_field: dict[FormField, Answer] = {}
    for field in fields:
        answer = answers.get(field.key)
        if answer is None:
            answer = _from_file(field, said)
        if answer is not None:
            by_field[field] = answer
    return by_field


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
    if text is None or field.kind is FieldKind.CHOICE:
        return text or None
    try:
        return _of_text(field, text)
    except ValueError:
        return None


def _said_of(field: FormField, said: Mapping[str, str]) -> str | None:
    """What a run's own metadata has of the field, as it stands there; None where it has nothing of it."""
    if not field.header:
        return None
    return said.get(field.header) or next((text for key, text in said.items() if field.reads(key)), None)


def _of_text(field: FormField, text: str) -> Answer | None:
    """The answer that a text of the metadata is, where true and false are yes and no too; None for an empty one.
    Raises ValueError that says what is asked.
    """
    if field.kind is FieldKind.YES_NO:
        text = {"true": "yes", "false": "no"}.get(text.lower(), text.lower())
    return _checked(field, text)


def in_words(answer: Answer) -> str:
    """An answer as pages and filters write it."""
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    return str(as_written(answer))


def as_written(answer: Answer) -> Answer | int:
    """An answer as files have it: a number without a fraction has none.

    >>> as_written(7.0), as_written(12.5), as_written("7.0")
    (7, 12.5, '7.0')
    """
    whole = isinstance(answer, float) and answer.is_integer() and abs(answer) <= MOST_EXACT
    return int(answer) if whole else answer
