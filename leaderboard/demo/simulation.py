"""The simulated campaign: read from `seeds/harbour/`, its judgments and runs drawn from seeded random numbers.

A query has relevant documents and distractors: documents that systems find hard to tell from relevant ones. A
system gives every one of them a hidden value: standard normal for a distractor, higher by the system's quality for a
relevant one. Part of it is common to all systems (some documents mislead everybody), the rest the system's own.
"""

import datetime as dt
import gzip
import tomllib
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from leaderboard.campaigns.rules import beta_of
from leaderboard.demo.loading import CampaignPlan, EvaluationPlan, RunPlan, SystemPlan, TeamPlan
from leaderboard.formats import RUN_WRITERS, Ids, Judgments, QueryRow, RunLine, read_queries
from leaderboard.metrics.segments import Bools, Floats, Ints


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


USUAL = Episode("", 0, "", "")  # nothing was special


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


COMMON = 0.5  # share of a hidden value's variance that all systems have in common
DIFFICULTY = 0.45  # standard deviation of what a query adds to every system's quality
OWN_DIFFICULTY = 0.25  # the same, for each system on its own
HIGHLY = 0.4  # added to a highly relevant document
DEPTH = 120  # lines a query that a system lists at most
FLOOR = -1.2  # hidden values below it are not listed
DIGITS = 6

SCALES: Mapping[str, Callable[[Floats, float], Floats]] = {
    "probability": lambda hidden, threshold: 1 / (1 + np.exp(threshold - hidden)),
    "log": lambda hidden, _: hidden - 6.0,
    "cosine": lambda hidden, _: 0.3 + 0.08 * hidden,
    "count": lambda hidden, _: np.floor(3 * (hidden - FLOOR)),  # few values, so many ties
}


@dataclass(frozen=True, slots=True)
class Pool:
    """Documents of one evaluation's queries, query after query.

    query     int64[D], index into `queries`
    document  D ids
    grade     int64[D]: 0 a distractor, 1 relevant, 2 highly relevant
    judged    bool[D]
    common    float64[D], standard normal
    ease      float64[Q], what the query adds to the quality of every system
    """

    queries: tuple[QueryRow, ...]
    query: Ints
    document: tuple[str, ...]
    grade: Ints
    judged: Bools
    common: Floats
    ease: Floats

    def judgments(self) -> Judgments:
        chosen = np.flatnonzero(self.judged)
        return Judgments(
            queries=tuple(query.id for query in self.queries),
            query=self.query[chosen].astype(np.uint32),
            document=Ids.of(self.document[row] for row in chosen),
            grade=self.grade[chosen],
        )


@dataclass(frozen=True, slots=True)
class Listing:
    """What one system lists: places in the pool, best first within a query, and the hidden values there."""

    place: Ints
    hidden: Floats


def make_pool(
    rng: np.random.Generator, queries: tuple[QueryRow, ...], shape: Queries, documents: int, prefix: str
) -> Pool:
    """Documents are numbered below `documents`; ids are the number after `prefix`."""
    relevant = 1 + rng.poisson(shape.relevant - 1, len(queries))
    relevant[rng.choice(len(queries), shape.without_relevant, replace=False)] = 0
    query, names, grade, judged = [], [], [], []
    for number, relevant_count in enumerate(relevant.tolist()):
        size = relevant_count + shape.distractors
        names += [f"{prefix}{pick:04d}" for pick in rng.choice(documents, size, replace=False)]
        query.append(np.full(size, number))
        grade.append(
            np.concatenate([1 + (rng.random(relevant_count) < 0.3), np.zeros(shape.distractors)]).astype(np.int64)
        )
        judged.append(np.arange(size) < relevant_count + shape.judged)
    where = np.concatenate(query)
    return Pool(
        queries=queries,
        query=where,
        document=tuple(names),
        grade=np.concatenate(grade),
        judged=np.concatenate(judged),
        common=rng.standard_normal(len(where)),
        ease=rng.normal(0.0, DIFFICULTY, len(queries)),
    )


def list_documents(
    rng: np.random.Generator, pool: Pool, quality: float, *, conceptual: float = 0.0, missing: int = 0
) -> Listing:
    """What one system lists: `conceptual` is added on queries of that type, `missing` queries are left out."""
    own_ease = rng.normal(0.0, OWN_DIFFICULTY, len(pool.queries))
    of_type = np.array([conceptual if "conceptual" in query.tags else 0.0 for query in pool.queries])
    skill = quality + pool.ease + own_ease + of_type
    noise = np.sqrt(COMMON) * pool.common + np.sqrt(1 - COMMON) * rng.standard_normal(len(pool.common))
    hidden = noise + (pool.grade > 0) * skill[pool.query] + (pool.grade > 1) * HIGHLY
    order = np.lexsort((-hidden, pool.query))
    starts = np.searchsorted(pool.query, np.arange(len(pool.queries)))
    rank = np.arange(len(order)) - starts[pool.query]  # the queries of `order` are those of the pool
    left_out = rng.choice(np.unique(pool.query), missing, replace=False)
    shown = (rank < DEPTH) & (hidden[order] >= FLOOR) & ~np.isin(pool.query, left_out)
    return Listing(order[shown], hidden[order][shown])


def best_threshold(quality: float, shape: Queries, odds: float) -> float:
    """Where to decide Y, on the hidden values: where one more document gains as much as it costs.

    odds  distractors returned for one more relevant document that cost just what it gains: 1 / (β · prior)
    """
    return float(np.log(shape.distractors / (shape.relevant * odds)) / quality + quality / 2)


def write_run(pool: Pool, listing: Listing, threshold: float, *, style: str, scale: str, tag: str) -> bytes:
    """The run as a gzipped file; `style` is a key of `RUN_WRITERS`, "trec" or "decisions"."""
    scores = SCALES[scale](listing.hidden, threshold)
    query = pool.query[listing.place]
    starts = np.searchsorted(query, np.arange(len(pool.queries)))
    rank = np.arange(1, len(query) + 1) - starts[query]
    decided = listing.hidden >= threshold
    names = [row.id for row in pool.queries]
    write = RUN_WRITERS[style]
    lines = [
        write(RunLine(names[number], pool.document[row], its_rank, f"{score:.{DIGITS}f}", decision, tag))
        for number, row, its_rank, score, decision in zip(
            query.tolist(), listing.place.tolist(), rank.tolist(), scores.tolist(), decided.tolist(), strict=True
        )
    ]
    return gzip.compress("".join(lines).encode(), compresslevel=6, mtime=0)


def damage(run: bytes) -> bytes:
    """A decision list with a few mistakes that a script makes: each kind is told apart when the file is read."""
    lines = gzip.decompress(run).decode().splitlines()
    lines[16] = lines[16].rpartition("\t")[0]  # no score
    lines[39] = lines[39].rpartition("\t")[0] + "\tnan"
    lines[60] = lines[59]
    lines[85] = "h00" + lines[85][3:]  # a query of another year
    return gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0)


def threshold_score(threshold: float, scale: str) -> float:
    """The threshold on the scale of the run's scores, as a team would state it."""
    return round(float(SCALES[scale](np.array([threshold]), threshold)[0]), DIGITS)


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
class SimulatedCampaign:
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
                usual = next((episode for episode in episodes if not episode.label), USUAL)
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

    def plan(self, team: Team, system: System, episode: Episode, designation: str) -> RunPlan:
        label = episode.label or f"{system.slug}-{self.calendar}"
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
            notes=episode.note,
            filename=f"{label}.{'tsv' if system.format == 'decisions' else 'run'}.gz",
            after_opening=self._after_opening(label),
            content=partial(self.write, system, quality, episode),
        )

    def write(self, system: System, quality: float, episode: Episode = USUAL) -> bytes:
        threshold = self._threshold(quality, episode)
        listing = self._listing(system, quality, episode)
        run = write_run(self.pool, listing, threshold, style=system.format, scale=system.scale, tag=system.slug)
        return damage(run) if episode.damaged else run

    def _listing(self, system: System, quality: float, episode: Episode) -> Listing:
        if episode.same_as:
            system = self.scenario.system(episode.same_as)
            quality = self._quality(system)
        rng = _rng(self.scenario, self.year, self.condition, system.slug)
        return list_documents(rng, self.pool, quality, conceptual=system.conceptual, missing=episode.missing)

    def _quality(self, system: System) -> float:
        return system.quality[self.year] + self.condition.quality + system.bonus.get(self.condition.slug, 0.0)

    def _threshold(self, quality: float, episode: Episode) -> float:
        """The hidden value from which on the system decides Y; with `same_as` that of the system that it copies."""
        if episode.same_as:
            quality = self._quality(self.scenario.system(episode.same_as))
        campaign = self.scenario.campaign
        odds = 1 / (beta_of(campaign["cost"], campaign["value"], campaign["prior"]) * campaign["prior"])
        return best_threshold(quality, self.scenario.queries, odds) + episode.threshold

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
