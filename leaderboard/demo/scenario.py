"""Reads the description of the simulated campaign: `seeds/harbour/scenario.toml`."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Queries:
    """How many queries a year has, and how many documents of each kind a query has; the file says more."""

    a_year: int
    without_relevant: int
    relevant: float
    distractors: int
    judged: int


@dataclass(frozen=True, slots=True)
class Condition:
    slug: str
    name: str
    description: str
    documents: int
    quality: float
    details: str
    details_note: str


@dataclass(frozen=True, slots=True)
class System:
    """`quality` is by year of the campaign, from 1 on; the system took no part in a year without an entry."""

    slug: str
    name: str
    description: str
    format: str
    scale: str
    quality: Mapping[int, float]
    kind: str = "automatic"
    conceptual: float = 0.0
    bonus: Mapping[str, float] = field(default_factory=dict)
    conditions: tuple[str, ...] = ()  # empty: all


@dataclass(frozen=True, slots=True)
class Team:
    slug: str
    name: str
    description: str
    systems: tuple[System, ...]


@dataclass(frozen=True, slots=True)
class Episode:
    """What was special about a system's run in one evaluation, or, with a `label`, about a further run of the system.

    same_as  the system whose list and decisions it copies
    missing  how many queries it lacks
    damaged  the file has mistakes, so that it is rejected
    """

    system: str
    year: int
    condition: str
    note: str
    label: str = ""
    threshold: float = 0.0
    missing: int = 0
    same_as: str = ""
    damaged: bool = False


@dataclass(frozen=True, slots=True)
class Sample:
    """The run that a visitor can submit."""

    name: str
    condition: str
    quality: float


@dataclass(frozen=True, slots=True)
class Scenario:
    seed: int
    campaign: Mapping[str, Any]
    queries: Queries
    conditions: tuple[Condition, ...]
    teams: tuple[Team, ...]
    episodes: tuple[Episode, ...]
    sample: Sample

    @classmethod
    def read(cls, path: Path) -> "Scenario":
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        return cls(
            seed=document["seed"],
            campaign=document["campaign"],
            queries=Queries(**document["queries"]),
            conditions=tuple(Condition(**condition) for condition in document["condition"]),
            teams=tuple(_team(team) for team in document["team"]),
            episodes=tuple(Episode(**episode) for episode in [*document["episode"], *document["extra"]]),
            sample=Sample(**document["sample"]),
        )

    @property
    def years(self) -> int:
        return max(year for team in self.teams for system in team.systems for year in system.quality)

    def system(self, slug: str) -> System:
        return next(system for team in self.teams for system in team.systems if system.slug == slug)

    def happened(self, system: System, year: int, condition: Condition) -> tuple[Episode, ...]:
        return tuple(
            episode
            for episode in self.episodes
            if (episode.system, episode.year, episode.condition) == (system.slug, year, condition.slug)
        )


def _team(table: Mapping[str, Any]) -> Team:
    systems = tuple(_system(system) for system in table["system"])
    return Team(table["slug"], table["name"], table["description"], systems)


def _system(table: Mapping[str, Any]) -> System:
    quality = {int(year): float(value) for year, value in table["quality"].items()}
    return System(**{**table, "quality": quality, "conditions": tuple(table.get("conditions", ()))})
