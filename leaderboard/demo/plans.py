"""What a seed consists of, before it is loaded: one campaign with its teams, evaluations and runs."""

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from leaderboard.formats import Judgments, QueryRow

Settings = Mapping[str, Any]  # further arguments of the service that makes it, by name


@dataclass(frozen=True, slots=True)
class SystemPlan:
    slug: str
    name: str
    settings: Settings = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TeamPlan:
    slug: str
    name: str
    description: str
    systems: tuple[SystemPlan, ...]


@dataclass(frozen=True, slots=True)
class RunPlan:
    """One run to submit, unless the team has a run with this label in the evaluation already.

    after_opening  when it was received, counted from the opening of the evaluation
    content        draws or reads the file
    """

    team: str
    system: str
    label: str
    designation: str
    threshold: float | None
    notes: str
    filename: str
    after_opening: dt.timedelta
    content: Callable[[], bytes]


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """One evaluation. file_rules: what it asks of run files, by the names of `FileRules`."""

    slug: str
    settings: Settings
    queries: tuple[QueryRow, ...]
    judgments: Judgments
    runs: tuple[RunPlan, ...]
    file_rules: Settings = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CampaignPlan:
    slug: str
    settings: Settings
    teams: tuple[TeamPlan, ...]
    evaluations: tuple[EvaluationPlan, ...]
