"""The campaigns that come with the product, imported as any campaign of past years.

What is there already is left as it is, so they may be loaded again. The worked examples are the golden cases of the
measures: manifests, with queries, judgments and runs beside them.

The simulated campaign is read from `seeds/harbour/`, its judgments and runs are drawn from seeded random numbers. A
query has relevant documents and distractors: documents that systems find hard to tell from relevant ones. A system
gives every one of them a hidden value: standard normal for a distractor, higher by the system's quality for a relevant
one. Part of it is common to all systems (some documents mislead everybody), the rest the system's own.
"""

import gzip
import tempfile
import tomllib
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.accounts.models import User
from leaderboard.accounts.writes import create_user, new_account, set_founder
from leaderboard.campaigns.models import Campaign
from leaderboard.campaigns.rules import beta_of
from leaderboard.campaigns.writes import add_organiser
from leaderboard.config import folder
from leaderboard.db import Database
from leaderboard.evaluations.models import Evaluation
from leaderboard.formats import RUN_WRITERS, QueryRow, RunLine, read_queries
from leaderboard.frozen import frozen
from leaderboard.metrics.segments import Bools, Floats, Ints
from leaderboard.names import name_key
from leaderboard.store import RunStore
from leaderboard.teams.reads import find_team
from leaderboard.teams.rules import Role
from leaderboard.teams.writes import add_member
from leaderboard.transfer.exporting import write_lines
from leaderboard.transfer.importing import bring_in
from leaderboard.transfer.manifest import NAME, open_tree, read_manifest, written

Table = Mapping[str, Any]  # of a TOML file, as its comments say


@frozen
class Account:
    """`does` says in a few words what it is for; `founds`: it may make campaigns; `owns` are the slugs of its teams."""

    name: str
    password: str
    does: str
    is_admin: bool = False
    organises: bool = False
    founds: bool = False
    owns: Sequence[str] = ()


def read_accounts(path: Path) -> tuple[Account, ...]:
    """The demonstration's accounts, from a TOML file with a `[[user]]` for each."""
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    return tuple(Account(**user) for user in document["user"])


def load_accounts(database: Database, accounts: Sequence[Account]) -> None:
    """Makes those that the database lacks, once their teams and campaigns are there."""
    with database.read() as session:
        there = set(session.scalars(sa.select(User.name_key)))
    lacking = [account for account in accounts if name_key(account.name) not in there]
    hashed = [new_account(account.name, account.password) for account in lacking]
    with database.write() as session:
        for account, new in zip(lacking, hashed, strict=True):
            user = create_user(session, CONSOLE, new, is_admin=account.is_admin)
            for slug in account.owns:
                add_member(session, CONSOLE, find_team(session, slug), user, Role.OWNER)
            if account.founds:
                set_founder(session, CONSOLE, user, may_found=True)
            for campaign in session.scalars(sa.select(Campaign)) if account.organises else ():
                add_organiser(session, CONSOLE, campaign, user)


def import_folder(database: Database, store: RunStore, files: Path, manifest: Path) -> None:
    """Brings a campaign in as `leaderboard import-campaign` does. Raises FileRejected."""
    with open_tree(files) as tree:
        bring_in(database, store, lambda _: CONSOLE, read_manifest(manifest), tree, manifest.name)


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


@frozen
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

    def judgments(self, unjudged: Bools, doubted: Bools) -> Iterator[Table]:
        """A line for each document that was judged, unless `unjudged`; where `doubted`, not by the true grade."""
        grade = np.where(doubted, self.grade == 0, self.grade)
        for row in np.flatnonzero(self.judged & ~unjudged).tolist():
            query = self.queries[self.query[row]].id
            yield {"query": query, "document": self.document[row], "grade": int(grade[row])}


def make_pool(
    rng: np.random.Generator, queries: tuple[QueryRow, ...], shape: Table, documents: int, prefix: str, ease: float
) -> Pool:
    """Ids are the number of a document after `prefix`. ease: of the queries, on average"""
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
        ease=rng.normal(ease, DIFFICULTY, len(queries)),
    )


def list_documents(
    rng: np.random.Generator, pool: Pool, quality: float, conceptual: float, missing: int
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
    rank = np.arange(len(order)) - np.searchsorted(pool.query, pool.query)  # `order` has the pool's queries, too
    left_out = rng.choice(np.unique(pool.query), missing, replace=False)
    shown = (rank < DEPTH) & (hidden[order] >= FLOOR) & ~np.isin(pool.query, left_out)
    return order[shown], hidden[order][shown]


def write_run(pool: Pool, listing: tuple[Ints, Floats], threshold: float, system: Table, tag: str) -> bytes:
    """The run as a gzipped file, in the system's format and scale. tag: the system's name in it."""
    rows, hidden = listing
    query = pool.query[rows]
    rank = np.arange(1, len(query) + 1) - np.searchsorted(query, query)
    columns = query, rows, rank, SCALES[system["scale"]](hidden, threshold), hidden >= threshold
    lines = (
        RunLine(pool.queries[number].id, pool.document[row], at, f"{score:.{DIGITS}f}", decision, tag)
        for number, row, at, score, decision in zip(*(column.tolist() for column in columns), strict=True)
    )
    return gzip.compress("".join(map(RUN_WRITERS[system["format"]], lines)).encode(), compresslevel=6, mtime=0)


def damage(run: bytes) -> bytes:
    """A decision list with a few mistakes that a script makes: each kind is told apart when the file is read."""
    lines = gzip.decompress(run).decode().splitlines()
    lines[16] = lines[16].rpartition("\t")[0]  # no score
    lines[39] = lines[39].rpartition("\t")[0] + "\tnan"
    lines[60] = lines[59]
    lines[85] = "h00" + lines[85][3:]  # a query of another year
    return gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0)


@frozen
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
    now: datetime

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

    def write(self, folder: Path) -> None:
        """Writes the campaign as an archive with its manifest."""
        content = {name: self.scenario[name] for name in ("campaign", "team")}
        midnight = self.now.replace(hour=0, minute=0, second=0, microsecond=0)
        content["evaluation"] = [each.write(folder, midnight) for each in self._rounds]
        period = str(self.latest + 1)
        content["evaluation"].append({
            "slug": f"{period}-text", "title": f"Text {period}", "period": period, **self.scenario["draft"],
        })  # fmt: skip
        (folder / NAME).write_text(written(content), encoding="utf-8")

    def sample(self) -> SampleRun:
        sample = self.scenario["sample"]
        newest = next(each for each in reversed(self._rounds) if each.condition["slug"] == sample["condition"])
        text = gzip.decompress(newest.draw(sample["name"], sample, sample["quality"], {}))
        return SampleRun(sample["name"], text, newest.slug)


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
        ease = shape["ease"].get(str(self.year), 0.0)
        return make_pool(self._rng("pool"), queries, shape, documents, self._prefix, ease)

    @cached_property
    def _own(self) -> Table:
        """What the scenario says of this evaluation only."""
        return next(self._happened("own"), {})

    def _rng(self, subject: str) -> np.random.Generator:
        names = (self.condition["slug"], subject)
        return np.random.default_rng([self.scenario["seed"], self.year, *(zlib.crc32(name.encode()) for name in names)])

    def write(self, folder: Path, midnight: datetime) -> dict[str, Any]:
        """Writes its queries, judgments and runs; gives its table of the manifest.

        The newest one is open at `midnight`, each of the others was in the September of its year.
        """
        condition, name = self.condition, self.condition["name"]
        opens_at, closes_at = (datetime(self.calendar, month, 1, tzinfo=UTC) for month in (9, 10))
        note, details = "", "closed"
        if self.is_newest:
            opens_at, closes_at = (midnight + timedelta(days=days) for days in (-30, 60))
            note, details = condition["details_note"], condition["details"]
        (folder / self.slug).mkdir()
        write_lines(folder / self.slug / "queries.jsonl", map(asdict, self._pool.queries))
        names_after = self._own.get("names_after")
        return {
            "slug": self.slug,
            "title": f"{name} {self.calendar}",
            "description": f"{condition['description']} {note}".strip(),
            "period": str(self.calendar),
            "condition": name,
            "collection": f"{name} collection {self.calendar}, simulated",
            "documents": condition["documents"],
            "opens_at": opens_at,
            "closes_at": closes_at,
            "details": details,
            **self.scenario["evaluation"],
            "field": self._own.get("field", []),
            "agreement": self._own.get("agreement", []),
            **({"anonymous_until": closes_at + timedelta(days=names_after)} if names_after else {}),
            "file_rules": {"document_pattern": f"{self._prefix}[0-9]+"},
            "queries": f"{self.slug}/queries.jsonl",
            "judgments": list(self._judgments(folder, closes_at)),
            "run": list(self._runs(folder, opens_at)),
        }

    def _judgments(self, folder: Path, closes_at: datetime) -> Iterator[Table]:
        """Writes each revision and gives its table of the manifest: `judgments` of the scenario, and the whole pool."""
        whole = {} if self.is_newest else {"days": self.scenario["queries"]["judged_after"]}
        entries = sorted((*self._happened("judgments"), whole), key=lambda entry: entry.get("days", 0))
        for number, entry in enumerate(entries, 1):
            file = f"{self.slug}/judgments-{number}.jsonl"
            chance = self._rng(file).random(len(self._pool.grade))
            unjudged, doubted = chance < entry.get("unjudged", 0.0), chance > 1 - entry.get("doubted", 0.0)
            write_lines(folder / file, self._pool.judgments(unjudged, doubted))
            days = {"released": closes_at + timedelta(days=entry["days"])} if "days" in entry else {}
            yield {"file": file, **{name: entry[name] for name in ("note", "source") if name in entry}, **days}

    def _runs(self, folder: Path, opens_at: datetime) -> Iterator[Table]:
        """Writes each run, and gives its table of the manifest; a team's first one is its primary run."""
        condition, teams = self.condition["slug"], set[str]()
        for slug, system in self.scenario["system"].items():
            if str(self.year) in system["quality"] and condition in system.get("conditions", [condition]):
                usual = next(self._happened("episode", slug), {})
                for episode in (usual, *self._happened("extra", slug), *self._sent_again(slug, system)):
                    designation = "contrastive" if system["team"] in teams else "primary"
                    teams.add(system["team"])
                    yield {**self._run(folder, opens_at, slug, episode), "designation": designation}

    def _sent_again(self, slug: str, system: Table) -> Iterator[Table]:
        """The system as it was in the first year, where its team sends that beside what it has become."""
        if system.get("sent_again") and self.year > 1:
            first = str(self.calendar - self.year + 1)
            label = f"{slug}-of-{first}"
            note = "Unchanged since the first year, so that years can be compared."
            quality = system["quality"]["1"]
            yield {"label": label, "same_as": label, "version": first, "quality": quality, "note": note}

    def _happened(self, kind: str, system: str | None = None) -> Iterator[Table]:
        """The scenario's tables of this kind about this evaluation, or about a system's runs here."""
        here = {"year": self.year, "condition": self.condition["slug"]} | ({"system": system} if system else {})
        return (each for each in self.scenario[kind] if here.items() <= each.items())

    def _run(self, folder: Path, opens_at: datetime, slug: str, episode: Table) -> dict[str, Any]:
        system = self.scenario["system"][slug]
        is_decided, asked = system["format"] == "decisions", {field["key"] for field in self._own.get("field", [])}
        label = episode.get("label", f"{slug}-{self.calendar}")
        file = f"{self.slug}/{label}.{'tsv' if is_decided else 'run'}.gz"
        bonus = system.get("bonus", {}).get(self.condition["slug"], 0.0)
        quality = episode.get("quality", system["quality"][str(self.year)]) + self.condition["quality"] + bonus
        (folder / file).write_bytes(self.draw(slug, system, quality, episode))
        threshold = self._threshold(quality, episode)
        stated = round(float(SCALES[system["scale"]](np.array(threshold), threshold)), DIGITS)
        # When it was received, 3 to 26 days after the opening: it looks random and is the same whenever the label is.
        minutes = 23 * 24 * 60
        chance = zlib.crc32(f"{label} {self.condition['slug']}".encode())
        return {
            "file": file,
            "team": system["team"],
            "system": slug,
            "label": label,
            "version": episode.get("version", system.get("version", "")),
            "received": opens_at + timedelta(days=3, minutes=chance % minutes),
            "threshold": None if is_decided else stated,
            "notes": episode.get("note", ""),
            "answers": {key: answer for key, answer in system.get("answers", {}).items() if key in asked},
        }

    def draw(self, name: str, system: Table, quality: float, episode: Table) -> bytes:
        """The file of a run, in the system's format and scale."""
        rng, missing = self._rng(episode.get("same_as", name)), episode.get("missing", 0)
        listing = list_documents(rng, self._pool, quality, system.get("conceptual", 0.0), missing)
        run = write_run(self._pool, listing, self._threshold(quality, episode), system, name)
        return damage(run) if episode.get("damaged") else run

    def _threshold(self, quality: float, episode: Table) -> float:
        """The hidden value from which on the system decides Y: where one more document gains as much as it costs."""
        campaign, shape = self.scenario["campaign"], self.scenario["queries"]
        # Distractors returned for one more relevant document that cost just what it gains.
        odds = 1 / (beta_of(campaign["cost"], campaign["value"], campaign["prior"]) * campaign["prior"])
        best = float(np.log(shape["distractors"] / (shape["relevant"] * odds)) / quality + quality / 2)
        return best + float(episode.get("threshold", 0.0))


@frozen
class Seeded:
    """What `load` made or found."""

    accounts: tuple[Account, ...]
    sample: SampleRun


def load(database: Database, store: RunStore, now: datetime) -> Seeded:
    """Makes the worked examples, the simulated campaign and the accounts, as far as they are missing."""
    accounts = read_accounts(folder("seeds") / "accounts.toml")
    with database.read() as session:
        # The newest year where it was loaded before, perhaps in an earlier year than this; the next one is a draft.
        newest = sa.select(sa.func.max(Evaluation.period_key)).where(Evaluation.draft.is_(False))
        latest = session.scalar(newest.where(Evaluation.campaign.has(slug=SimulatedCampaign.SLUG)))
    simulated = SimulatedCampaign(folder("seeds") / "harbour", latest or now.year, now)
    with tempfile.TemporaryDirectory(prefix="leaderboard-demo-") as drawn:
        if latest is None:
            simulated.write(Path(drawn))
        for manifest in sorted((folder("seeds") / "worked-examples").glob("*.toml")):
            import_folder(database, store, manifest.parent, manifest)
        if latest is None:
            import_folder(database, store, Path(drawn), Path(drawn, NAME))
    load_accounts(database, accounts)
    return Seeded(accounts, simulated.sample())
