"""The simulated campaign: makes a plan for the loader from `seeds/harbour/`."""

import datetime as dt
import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import ClassVar

import numpy as np

from leaderboard.campaigns.rules import beta_of
from leaderboard.demo.plans import CampaignPlan, EvaluationPlan, RunPlan, SystemPlan, TeamPlan
from leaderboard.demo.scenario import Condition, Episode, Sample, Scenario, System, Team
from leaderboard.demo.simulation import (
    Listing,
    Pool,
    best_threshold,
    damage,
    list_documents,
    make_pool,
    threshold_score,
    write_run,
)
from leaderboard.formats import QueryRow, read_queries

OPENED_DAYS_AGO = 30  # the newest year, when it is loaded
CLOSES_IN_DAYS = 60
FIRST_RUN_DAYS, LAST_RUN_DAYS = 3, 26  # after the opening
TOTAL_QUOTA = 30


@dataclass(frozen=True, slots=True)
class SampleRun:
    """A run for a visitor to submit, as plain text, and the slug of the evaluation that it is for."""

    name: str
    text: bytes
    evaluation: str


@dataclass(frozen=True)
class Harbour:
    """`latest` is the calendar year that is open; the campaign's other years precede it. `now` is when it is loaded."""

    SLUG: ClassVar[str] = "harbour"

    folder: Path
    latest: int
    now: dt.datetime

    @cached_property
    def scenario(self) -> Scenario:
        return Scenario.read(self.folder / "scenario.toml")

    @cached_property
    def _queries(self) -> tuple[QueryRow, ...]:
        """All queries, shuffled, so that every year gets some of each domain."""
        rows = read_queries(self.folder / "queries.tsv")
        order = np.random.default_rng(self.scenario.seed).permutation(len(rows))
        return tuple(rows[row] for row in order)

    def plan(self) -> CampaignPlan:
        return CampaignPlan(
            slug=self.SLUG,
            settings={**self.scenario.campaign, "simulated": True},
            teams=tuple(_team_plan(team) for team in self.scenario.teams),
            evaluations=tuple(
                self._evaluation(year, condition)
                for year in range(1, self.scenario.years + 1)
                for condition in self.scenario.conditions
            ),
        )

    def sample(self) -> SampleRun:
        sample: Sample = self.scenario.sample
        condition = next(condition for condition in self.scenario.conditions if condition.slug == sample.condition)
        year = self.scenario.years
        system = System(slug=sample.name, name="", description="", format="decisions", scale="probability", quality={})
        drawing = _Drawing(self.scenario, self._pool(year, condition), year, self._calendar_year(year), condition)
        content = drawing.write(system, sample.quality)
        return SampleRun(sample.name, gzip.decompress(content), self._slug(year, condition))

    def _calendar_year(self, year: int) -> int:
        return self.latest - self.scenario.years + year

    def _slug(self, year: int, condition: Condition) -> str:
        return f"{self._calendar_year(year)}-{condition.slug}"

    def _title(self, year: int, condition: Condition) -> str:
        return f"{condition.name} {self._calendar_year(year)}"

    def _evaluation(self, year: int, condition: Condition) -> EvaluationPlan:
        calendar = self._calendar_year(year)
        newest = year == self.scenario.years
        if newest:
            midnight = self.now.replace(hour=0, minute=0, second=0, microsecond=0)
            opens_at = midnight - dt.timedelta(days=OPENED_DAYS_AGO)
            closes_at = midnight + dt.timedelta(days=CLOSES_IN_DAYS)
        else:
            opens_at, closes_at = (
                dt.datetime(calendar, 9, 1, tzinfo=dt.UTC),
                dt.datetime(calendar, 10, 1, tzinfo=dt.UTC),
            )
        pool = self._pool(year, condition)
        return EvaluationPlan(
            slug=self._slug(year, condition),
            settings={
                "title": self._title(year, condition),
                "description": f"{condition.description} {condition.details_note if newest else ''}".strip(),
                "period": str(calendar),
                "period_key": calendar,
                "condition": condition.name,
                "collection": f"{condition.name} collection {calendar}, simulated",
                "documents": condition.documents,
                "judging": "complete",
                "opens_at": opens_at,
                "closes_at": closes_at,
                "results": "always",
                "details": condition.details if newest else "closed",
                "total_quota": TOTAL_QUOTA,
            },
            queries=pool.queries,
            judgments=pool.judgments(),
            runs=tuple(self._runs(pool, year, condition)),
            file_rules={"document_pattern": f"{self._prefix(year, condition)}[0-9]+"},
        )

    def _prefix(self, year: int, condition: Condition) -> str:
        """What the ids of a collection's documents begin with."""
        return f"{condition.slug}-{self._calendar_year(year)}-"

    def _pool(self, year: int, condition: Condition) -> Pool:
        """The documents of one evaluation. Years share no query; the conditions of a year have the same queries."""
        calendar, size = self._calendar_year(year), self.scenario.queries.a_year
        queries = tuple(
            QueryRow(f"h{calendar % 100:02d}-{number:02d}", row.text, row.tags)
            for number, row in enumerate(self._queries[(year - 1) * size : year * size], 1)
        )
        rng = _rng(self.scenario, year, condition, "pool")
        return make_pool(rng, queries, self.scenario.queries, condition.documents, self._prefix(year, condition))

    def _runs(self, pool: Pool, year: int, condition: Condition) -> Iterator[RunPlan]:
        drawing = _Drawing(self.scenario, pool, year, self._calendar_year(year), condition)
        for team in self.scenario.teams:
            designation = "primary"
            for system in team.systems:
                if year not in system.quality or (system.conditions and condition.slug not in system.conditions):
                    continue
                episodes = self.scenario.happened(system, year, condition)
                usual = next((episode for episode in episodes if not episode.label), None)
                yield drawing.plan(team, system, usual, designation)
                designation = "contrastive"
                for episode in episodes:
                    if episode.label:
                        yield drawing.plan(team, system, episode, designation)


@dataclass(frozen=True, slots=True)
class _Drawing:
    """Draws the runs of one evaluation."""

    scenario: Scenario
    pool: Pool
    year: int
    calendar: int
    condition: Condition

    def plan(self, team: Team, system: System, episode: Episode | None, designation: str) -> RunPlan:
        label = episode.label if episode is not None and episode.label else f"{system.slug}-{self.calendar}"
        quality = self._quality(system)
        threshold = None
        if system.format == "trec":
            threshold = threshold_score(self._threshold(quality, episode), system.scale)
        return RunPlan(
            team=team.slug,
            system=system.slug,
            label=label,
            designation=designation,
            threshold=threshold,
            notes=episode.note if episode is not None else "",
            filename=f"{label}.{'tsv' if system.format == 'decisions' else 'run'}.gz",
            after_opening=self._after_opening(label),
            content=partial(self.write, system, quality, episode),
        )

    def write(self, system: System, quality: float, episode: Episode | None = None) -> bytes:
        threshold = self._threshold(quality, episode)
        listing = self._listing(system, quality, episode)
        run = write_run(self.pool, listing, threshold, style=system.format, scale=system.scale, tag=system.slug)
        return damage(run) if episode is not None and episode.damaged else run

    def _listing(self, system: System, quality: float, episode: Episode | None) -> Listing:
        if episode is not None and episode.same_as:
            system = self.scenario.system(episode.same_as)
            quality = self._quality(system)
        rng = _rng(self.scenario, self.year, self.condition, system.slug)
        missing = episode.missing if episode is not None else 0
        return list_documents(rng, self.pool, quality, conceptual=system.conceptual, missing=missing)

    def _quality(self, system: System) -> float:
        return system.quality[self.year] + self.condition.quality + system.bonus.get(self.condition.slug, 0.0)

    def _threshold(self, quality: float, episode: Episode | None) -> float:
        """The hidden value from which on the system decides Y; with `same_as` that of the system that it copies."""
        if episode is not None and episode.same_as:
            quality = self._quality(self.scenario.system(episode.same_as))
        campaign = self.scenario.campaign
        odds = 1 / (beta_of(campaign["cost"], campaign["value"], campaign["prior"]) * campaign["prior"])
        best = best_threshold(quality, self.scenario.queries, odds)
        return best + (episode.threshold if episode is not None else 0.0)

    def _after_opening(self, label: str) -> dt.timedelta:
        """When the run was received: a time that looks random and is the same whenever the label is."""
        minutes = (LAST_RUN_DAYS - FIRST_RUN_DAYS) * 24 * 60
        chance = zlib.crc32(f"{label} {self.condition.slug}".encode())
        return dt.timedelta(days=FIRST_RUN_DAYS, minutes=chance % minutes)


def _rng(scenario: Scenario, year: int, condition: Condition, subject: str) -> np.random.Generator:
    return np.random.default_rng(
        [scenario.seed, year, zlib.crc32(condition.slug.encode()), zlib.crc32(subject.encode())]
    )


def _team_plan(team: Team) -> TeamPlan:
    systems = tuple(
        SystemPlan(system.slug, system.name, {"description": system.description, "kind": system.kind})
        for system in team.systems
    )
    return TeamPlan(team.slug, team.name, team.description, systems)
