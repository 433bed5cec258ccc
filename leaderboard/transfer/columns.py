"""What of each table a manifest and the files beside it hold, and what they leave out, each with the reason.

A test holds the two against the tables: a column that is in neither fails it.
"""

import datetime as dt
import math
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from leaderboard.db import Base, UtcDateTime
from leaderboard.models import (
    Agreement,
    Campaign,
    CollectionList,
    Evaluation,
    Judgment,
    JudgmentRevision,
    KnownDocument,
    Query,
    ScoringSet,
    Standing,
    Submission,
    SubtopicJudgment,
    System,
    Team,
)
from leaderboard.rules.settings import ASSESSORS
from leaderboard.services import campaigns, evaluations
from leaderboard.services.imports import RUN_SETTINGS

__all__ = ["LEFT_OUT", "NONE", "NOT_OF_A_CAMPAIGN", "SETTINGS", "WRITTEN", "as_moment", "as_stored", "settings_of"]

NONE = "none"  # in a manifest the word for no value where there would be one otherwise

# The columns that a manifest's tables name as they are, with what holds where one is left out.
SETTINGS: Mapping[type[Base], Mapping[str, Any]] = {
    Campaign: {"slug": "", "title": "", "measures": [], "primary_measure": "", **campaigns.DEFAULTS},
    Evaluation: {
        "slug": "",
        "title": "",
        "period": "",
        **evaluations.DEFAULTS,
        "official_source": ASSESSORS,
        "set_aside": [],
    },
    Team: {"slug": "", "name": "", "description": ""},
    System: {"slug": "", "name": "", "kind": "automatic", "description": "", "code_url": "", "paper_url": ""},
    Submission: RUN_SETTINGS,
}

# Which of them are written whatever they are, since an import that is not told takes care (docs/import.md).
ALWAYS: Mapping[type[Base], frozenset[str]] = {
    Campaign: frozenset({"visibility"}),
    Evaluation: frozenset({"closes_at"}),
    System: frozenset({"kind"}),
}

# Columns that stand in a manifest in a form of their own, or in the files beside it.
WRITTEN: Mapping[type[Base], frozenset[str]] = {
    Evaluation: frozenset({"form_fields", "file_rules"}),
    Query: frozenset({"external_id", "text", "description", "tags", "position", "split", "excluded_because"}),
    ScoringSet: frozenset({"revision_id", "metric_version", "settings", "switched_at", "shown_until", "shown_before"}),
    Standing: frozenset({"run_choice", "subset", "rounded"}),
    JudgmentRevision: frozenset({"number", "source", "sha256", "judgments", "highest_grade", "note", "released_at"}),
    Judgment: frozenset({"document", "grade"}),
    KnownDocument: frozenset({"document"}),
    SubtopicJudgment: frozenset({"subtopic", "document", "grade"}),
    Agreement: frozenset({"key", "version", "title", "text"}),
    CollectionList: frozenset({"packed"}),
    Submission: frozenset({"filename", "sha256", "md5", "text_sha256", "size", "text_size"}),
}

ROW = "says which rows belong together, by numbers of this installation"
HERE = "when it came into this installation"
PERSON = "an account of this installation"
FROM_NAME = "made from the name"
MERGED = "what was merged into another has no runs of its own any more"
ANEW = "found anew when the file is read"
LEFT_OUT: Mapping[type[Base], Mapping[str, str]] = {
    Campaign: {
        "id": ROW,
        "created_at": HERE,
        "locked_at": "the first result locks it anew",
        "archived_at": "what is brought in can be worked on; its organisers archive it again",
    },
    Evaluation: {"id": ROW, "campaign_id": ROW, "created_at": HERE},
    Query: {"id": ROW, "evaluation_id": ROW, "excluded_at": HERE},
    JudgmentRevision: dict.fromkeys(("id", "evaluation_id"), ROW)
    | {"imported_at": HERE, "finished_at": HERE, "imported_by_id": PERSON},
    Judgment: dict.fromkeys(("revision_id", "query_id"), ROW),
    KnownDocument: dict.fromkeys(("revision_id", "query_id"), ROW),
    SubtopicJudgment: dict.fromkeys(("revision_id", "query_id"), ROW),
    Agreement: {"id": ROW, "evaluation_id": ROW, "created_at": HERE, "ended_at": HERE},
    CollectionList: {"evaluation_id": ROW},
    ScoringSet: dict.fromkeys(("id", "evaluation_id"), ROW)
    | {
        "source": "that of its judgments",
        "settings_hash": "follows from the settings",
        "primary_measure": "the first one of its measures, in the order in which they are written",
        "state": "follows from what an evaluation is now",
        "created_at": HERE,
        "refreshing_until": "while a worker is at it",
    },
    Standing: dict.fromkeys(("scoring_set_id", "scoring_id"), ROW)
    | dict.fromkeys(("system_id", "late"), "the run's own"),
    Team: {
        "id": ROW,
        "created_at": HERE,
        "merged_into_id": MERGED,
        "is_listed": "whether people may ask to join: nobody is in it who could answer",
    },
    System: {"id": ROW, "team_id": ROW, "name_key": FROM_NAME, "created_at": HERE, "merged_into_id": MERGED},
    Submission: dict.fromkeys(("id", "evaluation_id", "team_id", "system_id"), ROW)
    | dict.fromkeys(("submitter_id", "imported_by_id", "withdrawn_by_id", "ruled_by_id"), PERSON)
    | {
        "begun_at": "of an upload to this installation",
        "sending_key": "of an upload to this installation",
        "imported_at": HERE,
        "charged": "no quota is counted for what is brought in",
        "problems": ANEW,
        "problem_count": ANEW,
    },
}

# Tables of which nothing is in an export.
NOT_OF_A_CAMPAIGN: Mapping[str, str] = (
    dict.fromkeys(
        ("user", "session", "attempt", "membership", "invitation", "join_request", "identity", "api_token", "mail",
         "mail_link", "campaign_organiser", "campaign_team", "acceptance", "personal_use", "arrival", "staged_run"),
        "people: accounts, who is in what and what they do just now are personal, and of one installation",
    )
    | dict.fromkeys(("event", "chain"), "the trail says what happened here")
    | dict.fromkeys(
        ("scoring", "score", "board", "participation"), "computed again, to the same digits"
    )
    | {"pseudonym": "random; what systems are called here while names are hidden"}
    | {"generation": "which pages are out of date here", "former_address": "where links of this installation led"}
    | {"team_name": "what teams were called in this installation; names of teams are taken anew"}
)  # fmt: skip


def settings_of(row: Base) -> dict[str, Any]:
    """What a manifest says of a row: the columns of SETTINGS that differ from what holds without a word, and ALWAYS."""
    found = {}
    always = ALWAYS.get(type(row), frozenset())
    for name, usual in SETTINGS[type(row)].items():
        value = getattr(row, name)
        if value != usual or name in always:
            found[name] = NONE if value is None else value
    return found


def as_stored(model: type[Base], name: str, value: Any) -> Any:
    """A manifest's value as the column keeps it. Raises ValueError, in words, for one of another kind."""
    column = model.__table__.columns[name]
    kind = column.type
    if value == NONE and column.nullable:
        return None
    if isinstance(kind, sa.Enum):
        words = [one.value for one in _members(kind)]
        if value not in words:
            raise ValueError(f"give one of {', '.join(words)}")
        return next(one for one in _members(kind) if one.value == value)
    if isinstance(kind, UtcDateTime):
        return as_moment(value)
    if isinstance(kind, sa.Boolean):
        return _of(bool, value, "give true or false")
    if isinstance(kind, sa.Integer):
        return _whole(value)
    if isinstance(kind, sa.Double | sa.Float):
        return _finite(value) if isinstance(value, float) else float(_whole(value, "a number"))
    if isinstance(kind, sa.JSON):
        return _json(name, value)
    return _of(str, value, "give a text, in quotes")


def as_moment(value: Any) -> dt.datetime:
    """A date or a moment; without a time zone it is one of UTC. Raises ValueError."""
    try:
        if isinstance(value, str):
            value = dt.datetime.fromisoformat(value)
        if not isinstance(value, dt.datetime):
            value = dt.datetime.combine(value, dt.time())
    except (TypeError, ValueError):
        raise ValueError("give a date like 2020-04-23 or 2020-04-23T18:00:00Z") from None
    moment: dt.datetime = value
    try:
        return moment.astimezone(dt.UTC) if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
    except OverflowError:
        raise ValueError("give a date of a year that there is in UTC, too") from None


def _members(kind: sa.Enum) -> list[StrEnum]:
    assert kind.enum_class is not None  # noqa: S101  # every choice of ours has one, see `db.choice`
    return list(kind.enum_class)


def _whole(value: Any, what: str = "a whole number") -> int:
    number: int = _of(int, None if isinstance(value, bool) else value, f"give {what}, without quotes")
    if abs(number) >= 10**18:
        raise ValueError(f"give {what} of at most 18 digits")
    return number


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError("give a finite number")
    return value


def _json(name: str, value: Any) -> Any:
    """Lists of texts (`measures`, `set_aside`), of pairs of texts (`links`), and tables of one value a key."""
    texts = isinstance(value, list) and all(isinstance(one, str) for one in value)
    if name in ("measures", "set_aside"):
        return _of(list, value if texts else None, "give a list of texts, each in quotes")
    if name == "links":
        pairs = isinstance(value, list) and all(
            isinstance(one, list) and len(one) == 2 and all(isinstance(part, str) for part in one) for one in value
        )
        return _of(list, value if pairs else None, 'give a list of pairs: [["title", "https://…"]]')
    plain = isinstance(value, dict) and all(isinstance(one, str | bool | int | float) for one in value.values())
    return _of(dict, value if plain else None, "give a table of texts, numbers, true or false")


def _of(kind: type | tuple[type, ...], value: Any, otherwise: str) -> Any:
    if not isinstance(value, kind):
        raise ValueError(otherwise)  # noqa: TRY004  # a value of a file, not an argument
    return value
