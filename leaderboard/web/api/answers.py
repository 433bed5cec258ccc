"""What the API answers: the frozen dataclasses that pages are made from, as JSON, and their types for the document.

There is no second description of an answer. What a page reads is what a program gets, but for the few fields below that
mean something inside the program only.
"""

import dataclasses
import datetime as dt
import math
import types
import typing
from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Any

import msgspec

from leaderboard.boards.reads.arrays import Orders
from leaderboard.boards.reads.board import BoardPage, BoardRow
from leaderboard.boards.reads.columns import Column
from leaderboard.boards.reads.entries import Entry, SystemLabel
from leaderboard.boards.reads.statistics import BoardStatistics, Lead
from leaderboard.boards.rules import Rounding
from leaderboard.errors import LeaderboardError
from leaderboard.evaluations.reads.headings import EvaluationHeading
from leaderboard.evaluations.rules.scoring_settings import ScoringSettings
from leaderboard.history.reads.boards import StoodSet
from leaderboard.history.reads.differences import MovedSystem, SourceRow
from leaderboard.judgments.reads.judgment_file import JudgmentChanges
from leaderboard.judgments.reads.published import JudgedDocuments, PublishedPage
from leaderboard.judgments.reads.query_file import OrganisedQueries, QueryChanges
from leaderboard.progress.reads import Line, Period
from leaderboard.results.reads.queries import QueryListPage, QueryPage
from leaderboard.results.reads.ranked_lists import RankedListPage
from leaderboard.results.reads.run import SubmissionResults
from leaderboard.submissions.reads.effects import Effect
from leaderboard.submissions.reads.organised import SubmissionList
from leaderboard.submissions.rules.checks import Checked, Warned
from leaderboard.teams.reads.organised import Merging
from leaderboard.teams.reads.system import SystemPage

# Fields that are not told. The number of a system would say across years whose an anonymous run is; that of a scoring
# means nothing outside; since when a run counts as scored is of a past one its receipt (its results say when it was
# scored); and a scoring set's settings name the hidden queries.
LEFT_OUT: dict[type, frozenset[str]] = {
    SystemLabel: frozenset({"id"}),
    SystemPage: frozenset({"id"}),
    Entry: frozenset({"evaluation_id", "scoring_id", "system_id", "scored_at"}),
    EvaluationHeading: frozenset({"id"}),
    Period: frozenset({"evaluation_id"}),
    Line: frozenset({"number"}),
    BoardStatistics: frozenset({"ranks", "above_baselines"}),
    Lead: frozenset({"leader", "then"}),
    BoardPage: frozenset({"sort", "text", "listed", "shown", "paging", "own_elsewhere", "whole", "queries_in_means"}),
    QueryListPage: frozenset({"sort", "paging"}),
    QueryPage: frozenset({"ends", "paging"}),
    RankedListPage: frozenset({"paging"}),
    OrganisedQueries: frozenset({"paging"}),
    SubmissionList: frozenset({"paging"}),
    PublishedPage: frozenset({"paging"}),
    JudgedDocuments: frozenset({"paging"}),
    Checked: frozenset({"expected"}),
    SubmissionResults: frozenset({"sort", "shown", "paging"}),
    ScoringSettings: frozenset({"highest_grade", "queries", "known", "subtopics", "excluded", "hidden", "kept"}),
}
# What is computed from a type's fields and told beside them.
ADDED: dict[type, Mapping[str, Any]] = {
    Rounding: {"decimals": int},
    BoardRow: {"may_be_best": bool | None},
    Entry: {"name": str},
    SystemLabel: {"is_anonymous": bool},
    QueryChanges: {"is_nothing": bool, "described": int},
    JudgmentChanges: {"would_be_refused": bool, "is_nothing": bool, "state": str},
    Effect: {"seen": str},
    Merging: {"effect": str},
    Checked: {
        "warnings": tuple[Warned, ...],
        "unsettled": str,
        "remarks": tuple[str, ...],
        "is_sound": bool | None,
        "refused_now": str,
        "late_now": bool,
        "in_words": tuple[str, ...],
    },
    StoodSet: {"words": str},
    Orders: {"pairs": int},
    MovedSystem: {"difference": float | None},
    SourceRow: {"spread": int | None},
}
# Bounds that may be infinite, which JSON can't say.
UNBOUNDED: dict[type, frozenset[str]] = {Column: frozenset({"lowest", "highest"})}


NAMED: dict[str, type] = {}  # name in the document -> the type that has it


def plain(value: Any) -> Any:
    """The value as JSON has it: texts, numbers, lists and objects; None for what is no finite number."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: plain(getattr(value, name)) for name in told(type(value))}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float):  # one that was rounded is of a class of its own
        return float(value) if math.isfinite(value) else None
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): plain(own) for key, own in value.items()}
    if isinstance(value, frozenset):
        return sorted(map(plain, value))
    if isinstance(value, tuple | list):
        return [plain(own) for own in value]
    if value is None or isinstance(value, str | int):
        return value
    raise LeaderboardError(f"the API has no way to tell a {type(value).__name__}")


@cache
def told(kind: type) -> tuple[str, ...]:
    """The names of what is told of a dataclass, in their order."""
    own = (field.name for field in dataclasses.fields(kind) if field.name not in LEFT_OUT.get(kind, ()))
    return (*own, *ADDED.get(kind, ()))


@cache
def shape(kind: Any) -> Any:
    """The type of what `plain` makes of a value of this type, for msgspec's JSON schema."""
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints = typing.get_type_hints(kind) | dict(ADDED.get(kind, {}))
        unbounded = UNBOUNDED.get(kind, ())
        fields = [(name, shape(hints[name] | None if name in unbounded else hints[name])) for name in told(kind)]
        return msgspec.defstruct(_name(kind), fields, kw_only=True, namespace={"__doc__": _first_words(kind)})
    parts = typing.get_args(kind)
    origin = typing.get_origin(kind)
    if not parts or origin is typing.Literal:
        return kind
    made = tuple(part if part is Ellipsis else shape(part) for part in parts)
    return typing.Union[made] if origin in (types.UnionType, typing.Union) else origin[made]  # noqa: UP007  # made at run time


def _name(kind: type) -> str:
    """The type's name in the document; of two of one name the later one has its module's before it."""
    if NAMED.setdefault(kind.__name__, kind) is kind:
        return kind.__name__
    return kind.__module__.rpartition(".")[2].title().replace("_", "") + kind.__name__


def _first_words(kind: type) -> str:
    """The first paragraph of a docstring; of a dataclass without one Python makes its signature, which says nothing."""
    text = (kind.__doc__ or "").strip()
    return "" if text.startswith(f"{kind.__name__}(") else " ".join(text.split("\n\n")[0].split())
