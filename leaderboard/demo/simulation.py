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
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from leaderboard.campaigns.rules import beta_of
from leaderboard.demo.loading import CampaignPlan, EvaluationPlan, RunPlan, SystemPlan, TeamPlan
from leaderboard.formats import RUN_WRITERS, Ids, Judgments, QueryRow, RunLine, read_queries
from leaderboard.metrics.segments import Bools, Floats, Ints
from leaderboard.submissions.rules import SystemKind

Table = Mapping[str, Any]  # of scenario.toml, whose comments say what its entries mean

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


def make_pool(
    rng: np.random.Generator, queries: tuple[QueryRow, ...], shape: Table, documents: int, prefix: str
) -> Pool:
    """Ids are the number of a document after `prefix`."""
    relevant = 1 + rng.poisson(shape["relevant"] - 1, len(queries))
    relevant[rng.choice(len(queries), shape["without_relevant"], replace=False)] = 0
    sizes = relevant + shape["distractors"]
    names, grade, judged = [], [], []
    for count, size in zip(relevant.tolist(), sizes.tolist(), strict=True):
        names += [f"{prefix}{pick:04d}" for pick in rng.choice(documents, size, replace=False)]
        grade.append(np.pad(1 + (rng.random(count) < 0.3), (0, size - count)))
        judged.append(np.arange(size) < count + shape["judged"])
    return Pool(
        queries=queries,
        query=np.repeat(np.arange(len(queries)), sizes),
        document=tuple(names),
        grade=np.concatenate(grade),
        judged=np.concatenate(judged),
        common=rng.standard_normal(len(names)),
        ease=rng.normal(0.0, DIFFICULTY, len(queries)),
    )


def list_documents(
    rng: np.random.Generator, pool: Pool, quality: float, *, conceptual: float = 0.0, missing: int = 0
) -> tuple[Ints, Floats]:
    """What one system lists: places in the pool, best first within a query, and the hidden values there.

    conceptual  is added on queries of that type
    missing     how many queries are left out
    """
    own_ease = rng.normal(0.0, OWN_DIFFICULTY, len(pool.queries))
    of_type = np.array([conceptual if "conceptual" in query.tags else 0.0 for query in pool.queries])
    skill = quality + pool.ease + own_ease + of_type
    noise = np.sqrt(COMMON) * pool.common + np.sqrt(1 - COMMON) * rng.standard_normal(len(pool.common))
    hidden = noise + (pool.grade > 0) * skill[pool.query] + (pool.grade > 1) * HIGHLY
    order = np.lexsort((-hidden, pool.query))
    rank = np.arange(len(order)) - np.searchsorted(
        pool.query, pool.query
    )  # the queries of `order` are those of the pool
    left_out = rng.choice(np.unique(pool.query), missing, replace=False)
    shown = (rank < DEPTH) & (hidden[order] >= FLOOR) & ~np.isin(pool.query, left_out)
    return order[shown], hidden[order][shown]


def write_run(pool: Pool, listing: tuple[Ints, Floats], threshold: float, *, style: str, scale: str, tag: str) -> bytes:
    """The run as a gzipped file; `style` is a key of `RUN_WRITERS`, "trec" or "decisions"."""
    place, hidden = listing
    query = pool.query[place]
    rank = np.arange(1, len(query) + 1) - np.searchsorted(query, query)
    columns = query, place, rank, SCALES[scale](hidden, threshold), hidden >= threshold
    lines = (
        RunLine(pool.queries[number].id, pool.document[row], at, f"{score:.{DIGITS}f}", decision, tag)
        for number, row, at, score, decision in zip(*(column.tolist() for column in columns), strict=True)
    )
    return gzip.compress("".join(map(RUN_WRITERS[style], lines)).encode(), compresslevel=6, mtime=0)


def damage(run: bytes) -> bytes:
    """A decision list with a few mistakes that a script makes: each kind is told apart when the file is read."""
    lines = gzip.decompress(run).decode().splitlines()
    lines[16] = lines[16].rpartition("\t")[0]  # no score
    lines[39] = lines[39].rpartition("\t")[0] + "\tnan"
    lines[60] = lines[59]
    lines[85] = "h00" + lines[85][3:]  # a query of another year
    return gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0)


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
    def scenario(self) -> Table:
        return tomllib.loads((self.folder / "scenario.toml").read_text(encoding="utf-8"))

    @cached_property
    def _rounds(self) -> list["_Round"]:
        """Year by year, the conditions in order. Years share no query; the conditions of a year have the same ones."""
        rows, size = read_queries(self.folder / "queries.tsv"), self.scenario["queries"]["a_year"]
        order = np.random.default_rng(self.scenario["seed"]).permutation(len(rows))  # a year gets some of each domain
        years = len(rows) // size
        return [
            _Round(self.scenario, condition, year, self.latest - years + year, year == years, tuple(chosen))
            for year in range(1, years + 1)
            for chosen in [[rows[row] for row in order[(year - 1) * size : year * size]]]
            for condition in self.scenario["condition"]
        ]

    def plan(self) -> CampaignPlan:
        midnight = self.now.replace(hour=0, minute=0, second=0, microsecond=0)
        return CampaignPlan(
            slug=self.SLUG,
            settings={**self.scenario["campaign"], "simulated": True},
            teams=tuple(_team_plan(team) for team in self.scenario["team"]),
            evaluations=tuple(each.plan(midnight) for each in self._rounds),
        )

    def sample(self) -> SampleRun:
        sample = self.scenario["sample"]
        newest = next(each for each in reversed(self._rounds) if each.condition["slug"] == sample["condition"])
        system = {"slug": sample["name"], "format": "decisions", "scale": "probability"}
        return SampleRun(
            sample["name"], gzip.decompress(newest.write(system, system, sample["quality"], {})), newest.slug
        )


@dataclass(frozen=True)
class _Round:
    """One evaluation: `condition` in a year of the campaign, from 1 on, which is the year `calendar`."""

    scenario: Table
    condition: Table
    year: int
    calendar: int
    is_newest: bool
    rows: tuple[QueryRow, ...]

    @property
    def slug(self) -> str:
        return f"{self.calendar}-{self.condition['slug']}"

    @property
    def _prefix(self) -> str:
        """What the ids of the collection's documents begin with."""
        return f"{self.condition['slug']}-{self.calendar}-"

    @cached_property
    def _pool(self) -> Pool:
        queries = tuple(
            QueryRow(f"h{self.calendar % 100:02d}-{number:02d}", row.text, row.tags)
            for number, row in enumerate(self.rows, 1)
        )
        shape, documents = self.scenario["queries"], self.condition["documents"]
        return make_pool(self._rng("pool"), queries, shape, documents, self._prefix)

    def _rng(self, subject: str) -> np.random.Generator:
        names = (self.condition["slug"], subject)
        return np.random.default_rng([self.scenario["seed"], self.year, *(zlib.crc32(name.encode()) for name in names)])

    def plan(self, midnight: dt.datetime) -> EvaluationPlan:
        """The newest one is open at `midnight`, each of the others was in the September of its year."""
        condition, name = self.condition, self.condition["name"]
        opens_at, closes_at = (dt.datetime(self.calendar, month, 1, tzinfo=dt.UTC) for month in (9, 10))
        note, details = "", "closed"
        if self.is_newest:
            opens_at, closes_at = (midnight + dt.timedelta(days=days) for days in (-OPENED_DAYS_AGO, CLOSES_IN_DAYS))
            note, details = condition["details_note"], condition["details"]
        return EvaluationPlan(
            slug=self.slug,
            settings={
                "title": f"{name} {self.calendar}",
                "description": f"{condition['description']} {note}".strip(),
                "period": str(self.calendar),
                "period_key": self.calendar,
                "condition": name,
                "collection": f"{name} collection {self.calendar}, simulated",
                "documents": condition["documents"],
                "judging": "complete",
                "opens_at": opens_at,
                "closes_at": closes_at,
                "results": "always",
                "details": details,
                "total_quota": TOTAL_QUOTA,
            },
            queries=self._pool.queries,
            judgments=self._pool.judgments(),
            runs=tuple(self._runs()),
            file_rules={"document_pattern": f"{self._prefix}[0-9]+"},
        )

    def _runs(self) -> Iterator[RunPlan]:
        """Of each team first its primary run, then what else its systems did."""
        for team in self.scenario["team"]:
            designation = "primary"
            for system in team["system"]:
                if not self._takes_part(system):
                    continue
                for episode in (next(self._happened("episode", system), {}), *self._happened("extra", system)):
                    yield self._run(team, system, episode, designation)
                    designation = "contrastive"

    def _happened(self, kind: str, system: Table) -> Iterator[Table]:
        """What was special about its run here (`episode`), or about further ones of it (`extra`)."""
        here = {"system": system["slug"], "year": self.year, "condition": self.condition["slug"]}
        return (each for each in self.scenario[kind] if here.items() <= each.items())

    def _takes_part(self, system: Table) -> bool:
        slug = self.condition["slug"]
        return str(self.year) in system["quality"] and slug in system.get("conditions", [slug])

    def _run(self, team: Table, system: Table, episode: Table, designation: str) -> RunPlan:
        label = episode.get("label", f"{system['slug']}-{self.calendar}")
        systems = {each["slug"]: each for team in self.scenario["team"] for each in team["system"]}
        source = systems[episode.get("same_as", system["slug"])]
        bonus = source.get("bonus", {}).get(self.condition["slug"], 0.0)
        quality = source["quality"][str(self.year)] + self.condition["quality"] + bonus
        threshold = np.array([self._threshold(quality, episode)])
        stated = round(float(SCALES[system["scale"]](threshold, threshold[0])[0]), DIGITS)
        # When it was received: a time that looks random and is the same whenever the label is.
        minutes = (LAST_RUN_DAYS - FIRST_RUN_DAYS) * 24 * 60
        chance = zlib.crc32(f"{label} {self.condition['slug']}".encode())
        return RunPlan(
            team=team["slug"],
            system=system["slug"],
            label=label,
            designation=designation,
            threshold=stated if system["format"] == "trec" else None,
            notes=episode.get("note", ""),
            filename=f"{label}.{'tsv' if system['format'] == 'decisions' else 'run'}.gz",
            after_opening=dt.timedelta(days=FIRST_RUN_DAYS, minutes=chance % minutes),
            content=partial(self.write, system, source, quality, episode),
        )

    def write(self, system: Table, source: Table, quality: float, episode: Table) -> bytes:
        """The file of a run, in the system's format and scale, with the documents that `source` lists."""
        conceptual, missing = source.get("conceptual", 0.0), episode.get("missing", 0)
        listing = list_documents(self._rng(source["slug"]), self._pool, quality, conceptual=conceptual, missing=missing)
        threshold, style = self._threshold(quality, episode), system["format"]
        run = write_run(self._pool, listing, threshold, style=style, scale=system["scale"], tag=system["slug"])
        return damage(run) if episode.get("damaged") else run

    def _threshold(self, quality: float, episode: Table) -> float:
        """The hidden value from which on the system decides Y: where one more document gains as much as it costs."""
        campaign, shape = self.scenario["campaign"], self.scenario["queries"]
        # Distractors returned for one more relevant document that cost just what it gains.
        odds = 1 / (beta_of(campaign["cost"], campaign["value"], campaign["prior"]) * campaign["prior"])
        best = float(np.log(shape["distractors"] / (shape["relevant"] * odds)) / quality + quality / 2)
        return best + float(episode.get("threshold", 0.0))


def _team_plan(team: Table) -> TeamPlan:
    systems = tuple(
        SystemPlan(each["slug"], each["name"], SystemKind(each.get("kind", "automatic")), each["description"])
        for each in team["system"]
    )
    return TeamPlan(team["slug"], team["name"], team["description"], systems)
