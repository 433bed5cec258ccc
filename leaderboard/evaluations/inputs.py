"""The settings of an evaluation, each declared once."""

import re
from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, ValidationInfo, field_validator

from leaderboard import errors, metrics, moments as time_zones
from leaderboard.declared.inputs import (
    GREATEST,
    Confirm,
    Inputs,
    Line,
    Moment,
    Name,
    Shown,
    Slug,
    Whole,
    changes_of,
    line_of,
    needed,
    setting,
    text_of,
)
from leaderboard.evaluations import rules
from leaderboard.evaluations.rules import KEY, MOST_CHOICES, RESERVED, FieldKind, Judging, Opening, ShownTo, lacks
from leaderboard.formats import Pattern
from leaderboard.formats.metadata import LONGEST_KEY
from leaderboard.metrics.measure import NEEDED
from leaderboard.submissions.rules import DAILY_QUOTA

YEAR = re.compile(r"(?<!\d)(?:19|20)[0-9][0-9](?!\d)")
OPENING = Shown(words={
    Opening.ALWAYS: "always", Opening.OPENED: "once the evaluation has opened",
    Opening.CLOSED: "once the evaluation has closed", Opening.NEVER: "never: to organisers only",
})  # fmt: skip
MOST_DOCUMENTS = 10**7  # of one query
NO_LIMIT = "Left empty, there is no limit."
DRAFT = "Draft: visible to organisers only"


class EvaluationSettings(Inputs):
    """Every setting that organisers change, in the order of the form."""

    title: Name = setting("Title", "Its name on every page.")
    period: Name = setting("Period", "Its year or round, like 2026.")
    condition: Line = setting("Condition", "Its language or task, where a period has several evaluations.", default="")
    description: Annotated[str, text_of(4000)] = setting("Description", default="", shown=Shown(lines=3))
    draft: bool = setting(DRAFT, default=False, shown=Shown("--draft/--public"))
    period_key: Whole | None = setting(
        "Number to sort periods by", "Left empty, it is the year in the period.", default=None, validate_default=True,
        ge=-GREATEST, le=GREATEST,
    )  # fmt: skip
    time_zone: Line = setting(
        "Time zone of the dates",
        "UTC, AoE (anywhere on Earth), or one such as Europe/Berlin. Pages show UTC.",
        default=time_zones.UTC,
        shown=Shown(attributes={"list": "zones", "autocomplete": "off", "autocapitalize": "none"}),
    )
    opens_at: Moment | None = setting(
        "Opens", "Left empty, it is open from the start.", default=None, shown=Shown("--opens")
    )
    closes_at: Moment | None = setting("Closes", "Left empty, it never closes.", default=None, shown=Shown("--closes"))
    grace_seconds: Whole = setting(
        "Seconds of grace after closing",
        "Uploads that began before closing may end in this time. What closing makes public becomes public after it.",
        default=60, ge=0, le=rules.LONGEST_GRACE, shown=Shown("--grace"),
    )  # fmt: skip
    late_allowed: bool = setting(
        "Accept late runs; they are shown but not ranked", default=False, shown=Shown("--late/--no-late")
    )
    daily_quota: Whole | None = setting(
        "Submissions of a team in a day", f"{NO_LIMIT} Each submission's figures reveal something of the judgments.",
        default=DAILY_QUOTA, ge=0, le=GREATEST,
    )  # fmt: skip
    total_quota: Whole | None = setting("Submissions of a team in all", NO_LIMIT, default=None, ge=0, le=GREATEST)
    collection: Line = setting("Collection", "What is searched.", default="")
    documents: Whole | None = setting(
        "Documents in the collection",
        "N_total. Detection measures such as AQWV need it.",
        default=None,
        ge=1,
        le=10**15,
    )
    judging: Judging = setting("Judging", default=Judging.POOLED, shown=Shown(words={
        Judging.POOLED: "Pooled: a query without judgments is left out and reported",
        Judging.COMPLETE: "Complete: a query without judgments has no relevant document",
    }))  # fmt: skip
    relevance_level: Whole = setting("Lowest grade that is relevant", default=1, ge=1, le=GREATEST)
    results: Opening = setting("The board is public", default=Opening.ALWAYS, shown=OPENING)
    own_results: bool = setting("Always show a team its own means", default=True)
    details: Opening = setting(
        "Results by query, which reveal judgments, are public", default=Opening.CLOSED, shown=OPENING
    )
    texts: Opening = setting("Texts and tags of queries are public", default=Opening.OPENED, shown=OPENING)
    hidden_queries: Opening = setting(
        "Hidden queries become visible",
        "Until then only organisers see them, and public means leave them out.",
        default=Opening.CLOSED, shown=OPENING,
    )  # fmt: skip
    anonymous_until: Moment | None = setting(
        "Names of teams and systems are hidden until",
        "Each team sees its own names. The board reveals all names at this moment.", default=None,
    )  # fmt: skip
    judgments_published: bool = setting(
        "Publish the judgments", "After closing, never before: as pages, and as a file for trec_eval.",
        default=False, shown=Shown("--publish-judgments/--keep-judgments"),
    )  # fmt: skip

    @field_validator("period_key")
    @classmethod
    def _sort_by_year(cls, key: int | None, info: ValidationInfo) -> int | None:
        if key is not None or not info.data.get("period"):
            return key
        year = YEAR.search(info.data["period"])
        if year is None:
            raise ValueError("the label holds no year: give a whole number to sort it by")
        return int(year[0])

    @field_validator("time_zone")
    @classmethod
    def _is_a_zone(cls, zone: str) -> str:
        if zone not in time_zones.zone_names():
            raise ValueError("give UTC, AoE (anywhere on Earth) or a zone such as Europe/Berlin")
        return zone

    @field_validator("opens_at", "closes_at", "anonymous_until")
    @classmethod
    def _in_utc(cls, moment: datetime | None, info: ValidationInfo) -> datetime | None:
        """A date without an offset is what clocks of the evaluation's time zone show; it stays where none is given."""
        zone, opens_at = info.data.get("time_zone"), info.data.get("opens_at")
        if moment is None or zone is None:
            return moment
        moment = time_zones.from_local(moment, zone) if moment.tzinfo is None else moment
        if info.field_name == "closes_at" and opens_at is not None and opens_at >= moment:
            raise ValueError("give a moment after the opening")
        return moment

    @field_validator("documents")
    @classmethod
    def _measures_have_what_they_need(cls, documents: int | None, info: ValidationInfo) -> int | None:
        """context: the measures of the campaign."""
        measures = () if info.data.get("draft") else (info.context or {}).get("measures", ())
        for measure in map(metrics.parse, measures):
            if lacks(measure, documents=documents):
                raise ValueError(f"{measure} needs {NEEDED['documents']}; only a draft may lack it")
        return documents


@changes_of
class EvaluationChanges(EvaluationSettings):
    """What of an evaluation is to change; what is left out stays."""

    confirm: Confirm = False


class NewEvaluation(EvaluationSettings):
    """An evaluation to make, as a draft unless told."""

    slug: Slug = setting("Address", "The last part of its address, like 2026-text. It can't be changed later. Left "
        "empty, it is made from period and condition.", default="")  # fmt: skip
    draft: bool = setting(DRAFT, default=True, shown=Shown("--draft/--public"))


@changes_of
class EvaluationClone(EvaluationSettings):
    """What is to be another than a year later in the clone."""

    slug: Slug = setting("Address", "The last part of its address.", default="")
    with_queries: bool = setting(
        "Copy the queries too: texts, tags, which are hidden and which are excluded",
        default=False, shown=Shown("--with-queries"),
    )  # fmt: skip


def _key(key: str) -> str:
    if not KEY.fullmatch(key):
        raise ValueError("use small letters, digits, - and _, at most 40, a letter first")
    return key


def _pattern(text: str) -> str:
    try:
        return Pattern(text.strip()).text
    except errors.BadInput as error:
        raise ValueError(error.message) from None


Key = Annotated[Line, AfterValidator(_key)]
PatternText = Annotated[str, AfterValidator(_pattern)]
KEY_HINT = "Names it in files and in the API: small letters, digits, - and _."


class FormFieldSettings(Inputs):
    """What is asked by a field of the submission form."""

    key: Key = setting("Key", KEY_HINT)
    label: Name = setting("Label", "What the form calls it.")
    kind: FieldKind = setting("Kind of answer", default=FieldKind.TEXT, shown=Shown(words={
        FieldKind.TEXT: "Text", FieldKind.CHOICE: "One of several choices",
        FieldKind.NUMBER: "Number", FieldKind.YES_NO: "Yes or no",
    }))  # fmt: skip
    choices: Annotated[
        list[Line], BeforeValidator(lambda lines: lines.splitlines() if isinstance(lines, str) else lines)
    ] = setting(
        "Choices", "For a choice: one a line.", default=[], shown=Shown("--choice", lines=3), validate_default=True
    )
    required: bool = setting("Every run must answer", default=False, shown=Shown("--required/--optional"))
    column: bool = setting("A column of the board", default=False)
    filter: bool = setting("Readers can filter the board by it", default=False)
    shown_to: ShownTo = setting(
        "Who sees the answers", default=ShownTo.ORGANISERS, validate_default=True, shown=Shown(words={
            ShownTo.ORGANISERS: "Organisers, and the run's team",
            ShownTo.EVERYONE: "Everyone who sees the run",
        })
    )  # fmt: skip
    hint: Annotated[str, line_of(500)] = setting("Hint", "A sentence below the label.", default="")
    header: Annotated[str, line_of(LONGEST_KEY)] = setting(
        "Read from the file",
        "What the run's own metadata calls it, such as platform.hardware.cpu.model. The form asks for it only where it "
        "is required, for files that lack it. Metadata that no field reads is public with the run. Numbers may have "
        "units: times become seconds, energies joules.",
        default="",
    )
    asked: bool = setting("Asked of new runs", default=True)

    @field_validator("key")
    @classmethod
    def _is_free(cls, key: str) -> str:
        if key in RESERVED:
            raise ValueError(f"{key!r} is a part of every submission; take another key")
        return key

    @field_validator("choices")
    @classmethod
    def _are_of_a_choice(cls, choices: list[str], info: ValidationInfo) -> list[str]:
        choices, kind = [choice for choice in choices if choice], info.data.get("kind")
        if kind is FieldKind.CHOICE and not 2 <= len(set(choices)) == len(choices) <= MOST_CHOICES:
            raise ValueError(f"give 2 to {MOST_CHOICES} different choices, one a line")
        if choices and kind not in (FieldKind.CHOICE, None):
            raise ValueError("only a choice has choices")
        return choices

    @field_validator("shown_to")
    @classmethod
    def _boards_are_for_everyone(cls, shown_to: ShownTo, info: ValidationInfo) -> ShownTo:
        if shown_to is not ShownTo.EVERYONE and (info.data.get("column") or info.data.get("filter")):
            raise ValueError("a column or a filter of the board is shown to everyone")
        return shown_to


@changes_of
class FormFieldChanges(FormFieldSettings):
    """A field to add, or what of the field of this key is to change. What is left out stays as it is; a new field is an
    optional text for organisers unless it says otherwise.
    """

    key: Key = setting("Key", KEY_HINT)
    confirm: Confirm = False


class AgreementText(Inputs):
    """What has to be accepted to submit a run."""

    key: Key = setting("Key", KEY_HINT, shown=Shown(attributes={"id": "agreement-key"}))
    title: Name = setting("Title", "What the form calls it.")
    wording: Annotated[str, text_of(20_000, lambda text: needed(text.replace("\r\n", "\n").strip()))] = setting(
        "Text", "Markdown, as in guidelines.", shown=Shown("--text", lines=6, is_file=True)
    )


@changes_of
class AgreementVersion(AgreementText):
    """An agreement, or the next version of the one of this key."""

    key: str = setting("Key")


@changes_of
class FileRuleChanges(Inputs):
    """What of the rules for run files is to change; what is left out stays, null or "" asks for nothing."""

    most_documents: Whole | None = setting(
        "Documents of a query at most", default=None, shown=Shown("--most"), ge=1, le=MOST_DOCUMENTS
    )
    least_documents: Whole | None = setting(
        "Documents of a query at least", default=None, shown=Shown("--least"), ge=1, le=MOST_DOCUMENTS
    )
    every_query: bool = setting("Every query must have a list", default=False, shown=Shown("--every-query/--any-query"))
    document_pattern: PatternText = setting(
        "What document ids look like",
        "Such as doc-[0-9]{1,6}: letters and digits, classes, . for any sign, * + ? {2,5}, ( | ).",
        default="",
    )
    tag_pattern: PatternText = setting(
        "What run tags look like",
        "A pattern, too, of every line. A run of a format without tags (CSV, decisions) passes.",
        default="",
    )

    @field_validator("least_documents")
    @classmethod
    def _is_below_the_most(cls, least: int | None, info: ValidationInfo) -> int | None:
        if (least or 0) > (info.data.get("most_documents") or MOST_DOCUMENTS):
            raise ValueError("this is more than the most that are allowed")
        return least


class CopiedForm(Inputs):
    """The evaluation whose form is copied; its campaign where that is another one."""

    source: str = setting("Evaluation")
    from_campaign: str = setting("Campaign", default="")
    confirm: Confirm = False
