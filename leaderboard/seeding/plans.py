"""What a seed consists of, before it is loaded: one campaign with its teams, evaluations and runs."""

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from leaderboard.formats import Judgments, QueryRow

__all__ = ["CampaignPlan", "EvaluationPlan", "RunPlan", "Settings", "SystemPlan", "TeamPlan"]

Settings = Mapping[str, Any]  # further arguments of the service that makes the thing, by their names there


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
    """One run to submit. `label` tells it from the team's other runs in the evaluation: what is there stays."""

    team: str
    system: str
    label: str
    designation: str
    threshold: float | None
    notes: str
    filename: str
    after_opening: dt.timedelta | None  # when it was received; None: when it is loaded
    content: Callable[[], bytes]


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    slug: str
    settings: Settings
    queries: tuple[QueryRow, ...]
    judgments: Judgments
    runs: tuple[RunPlan, ...]


@dataclass(frozen=True, slots=True)
class CampaignPlan:
    slug: str
    settings: Settings
    teams: tuple[TeamPlan, ...]
    evaluations: tuple[EvaluationPlan, ...]
