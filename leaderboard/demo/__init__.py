"""The campaigns that come with the product, loaded through the same services as any other campaign.

What is there already is left as it is, so a plan may be loaded again. The worked examples are the golden cases of the
measures: TOML files, with queries, judgments and runs beside them.

The simulated campaign is read from `seeds/harbour/`, its judgments and runs are drawn from seeded random numbers. A
query has relevant documents and distractors: documents that systems find hard to tell from relevant ones. A system
gives every one of them a hidden value: standard normal for a distractor, higher by the system's quality for a relevant
one. Part of it is common to all systems (some documents mislead everybody), the rest the system's own.
"""

import gzip
import io
import tomllib
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property, partial
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE
from leaderboard.accounts.models import User
from leaderboard.accounts.writes import NewAccount, create_user, find_user, new_account, set_founder
from leaderboard.campaigns.models import Campaign
from leaderboard.campaigns.rules import beta_of
from leaderboard.campaigns.writes import add_organiser, create_campaign
from leaderboard.config import folder
from leaderboard.db import Database, exists
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads import find_evaluation
from leaderboard.evaluations.writes import create_evaluation, set_rules
from leaderboard.formats import RUN_WRITERS, Ids, Judgments, QueryRow, RunLine, read_judgments, read_queries
from leaderboard.frozen import frozen
from leaderboard.judgments.rules import JudgmentFiles
from leaderboard.judgments.writes import import_judgments, import_queries
from leaderboard.metrics.segments import Bools, Floats, Ints
from leaderboard.names import name_key, slug_of
from leaderboard.store import RunStore
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import Designation, SystemKind
from leaderboard.submissions.writes.submissions import submit
from leaderboard.teams.models import System, Team
from leaderboard.teams.reads import find_system, find_team
from leaderboard.teams.rules import Role
from leaderboard.teams.writes import NewSystem, add_member, create_system, create_team

Table = Mapping[str, Any]  # of a TOML file: arguments of the service that makes it by name, or as its comments say


@frozen
class RunPlan:
    """One run to submit, unless the team has a run with this label in the evaluation already.

    after_opening  when it was received, counted from the opening of the evaluation
    content        draws or reads the file
    settings       what else `submit` takes, by name
    """

    team: str
    system: str
    label: str
    filename: str
    content: Callable[[], bytes]
    after_opening: timedelta = timedelta()
    settings: Table = field(default_factory=dict)


@frozen
class EvaluationPlan:
    """One evaluation. file_rules: what it asks of run files, by the names of `FileRules`."""

    slug: str
    settings: Table
    queries: tuple[QueryRow, ...]
    judgments: Judgments
    runs: tuple[RunPlan, ...]
    file_rules: Table = field(default_factory=dict)


@frozen
class CampaignPlan:
    """One campaign. teams: each with its `slug`, `name`, `description` and its list `system`."""

    slug: str
    settings: Table
    teams: Sequence[Table]
    evaluations: tuple[EvaluationPlan, ...]


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


def new_accounts(session: Session, accounts: tuple[Account, ...]) -> dict[str, NewAccount]:
    """Those that the database lacks, by name, with their passwords hashed."""
    there = set(session.scalars(sa.select(User.name_key)))
    return {
        account.name: new_account(account.name, account.password)
        for account in accounts
        if name_key(account.name) not in there
    }


def load_accounts(session: Session, accounts: tuple[Account, ...], new: Mapping[str, NewAccount]) -> None:
    """Makes the `new` ones; existing ones keep their password. Their teams and campaigns must exist already."""
    for account in accounts:
        if account.name in new:
            user = create_user(session, CONSOLE, new[account.name], is_admin=account.is_admin)
        else:
            user = find_user(session, account.name)
        for slug in account.owns:
            add_member(session, CONSOLE, find_team(session, slug), user, Role.OWNER)
        if account.founds:
            set_founder(session, CONSOLE, user, may_found=True)
        if account.organises:
            for campaign in session.scalars(sa.select(Campaign)):
                add_organiser(session, CONSOLE, campaign, user)


def load_campaign(session: Session, plan: CampaignPlan) -> None:
    """The campaign with its teams, systems, evaluations, queries and judgments; no run yet."""
    for team in plan.teams:
        _load_team(session, team)
    campaign = session.scalar(sa.select(Campaign).where(Campaign.slug == plan.slug))
    if campaign is None:
        campaign = create_campaign(session, CONSOLE, plan.slug, **plan.settings)
    there = set(session.scalars(sa.select(Evaluation.slug).where(Evaluation.campaign_id == campaign.id)))
    for evaluation in plan.evaluations:
        if evaluation.slug not in there:
            _load_evaluation(session, campaign, evaluation)


def submit_runs(database: Database, store: RunStore, plan: CampaignPlan) -> None:
    """Submits the missing runs, oldest first, each in a transaction of its own."""
    for evaluation in plan.evaluations:
        for run in sorted(evaluation.runs, key=attrgetter("after_opening")):
            _submit(database, store, (plan.slug, evaluation.slug), run)


def _load_team(session: Session, plan: Table) -> None:
    team = session.scalar(sa.select(Team).where(Team.slug == plan["slug"]))
    if team is None:
        team = create_team(session, CONSOLE, plan["name"], plan["slug"], plan["description"])
    there = set(session.scalars(sa.select(System.slug).where(System.team_id == team.id)))
    for system in plan["system"]:
        if system["slug"] not in there:
            kind = SystemKind(system.get("kind", "automatic"))
            create_system(session, CONSOLE, team, NewSystem(system["name"], kind, system.get("description", "")))


def _load_evaluation(session: Session, campaign: Campaign, plan: EvaluationPlan) -> None:
    evaluation = create_evaluation(session, CONSOLE, campaign, plan.slug, **plan.settings)
    import_queries(session, CONSOLE, evaluation, plan.queries)
    import_judgments(session, CONSOLE, evaluation, JudgmentFiles(plan.judgments))
    if plan.file_rules:
        set_rules(session, CONSOLE, evaluation, **plan.file_rules)


def _submit(database: Database, store: RunStore, slugs: tuple[str, str], run: RunPlan) -> None:
    with database.read() as session:
        evaluation, team = find_evaluation(session, CONSOLE, *slugs), find_team(session, run.team)
        own = Submission.evaluation_id == evaluation.id, Submission.team_id == team.id
        if exists(session, *own, Submission.label == run.label):
            return
    upload = store.receive(io.BytesIO(run.content()), run.filename)
    with database.write() as session:
        evaluation, system = find_evaluation(session, CONSOLE, *slugs), find_system(session, run.team, run.system)
        received_at = evaluation.opens_at and evaluation.opens_at + run.after_opening
        settings = {"label": run.label, "received_at": received_at, **run.settings}
        submit(session, CONSOLE, evaluation, system.team, system=system, upload=upload, **settings)


TEAM = {
    "slug": "worked-examples",
    "name": "Worked examples",
    "description": "Lists made to show what the measures say.",
}
# Over and done, so that no board asks for runs and every query can be looked at.
OPENED = datetime(2025, 1, 1, tzinfo=UTC)
CLOSED = {"period": "2025", "opens_at": OPENED, "closes_at": OPENED + timedelta(days=1)}


def worked_examples() -> tuple[CampaignPlan, ...]:
    """A campaign for each TOML file in `seeds/worked-examples`, by file name."""
    return tuple(_read_campaign(path) for path in sorted((folder("seeds") / "worked-examples").glob("*.toml")))


def _read_campaign(path: Path) -> CampaignPlan:
    """`[campaign]` and each `[[evaluation]]` hold the services' arguments by name, and the files by their place."""
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    campaign, evaluations = document["campaign"], document["evaluation"]
    names = dict.fromkeys(run["system"] for evaluation in evaluations for run in evaluation["runs"])
    return CampaignPlan(
        slug=campaign.pop("slug"),
        settings=campaign,
        teams=[{**TEAM, "system": [{"slug": slug_of(name), "name": name} for name in names]}],
        evaluations=tuple(_evaluation(path.parent, evaluation) for evaluation in evaluations),
    )


def _evaluation(files: Path, table: dict[str, Any]) -> EvaluationPlan:
    queries = read_queries(files / table.pop("queries"))
    return EvaluationPlan(
        slug=table.pop("slug"),
        queries=queries,
        judgments=read_judgments(files / table.pop("judgments"), queries=[query.id for query in queries]),
        runs=tuple(_run(files, run) for run in table.pop("runs")),
        settings=CLOSED | table,
    )


def _run(files: Path, table: Table) -> RunPlan:
    path = files / table["file"]
    slug = slug_of(table["system"])
    return RunPlan(TEAM["slug"], slug, slug, path.name, path.read_bytes)


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


def write_run(pool: Pool, listing: tuple[Ints, Floats], threshold: float, system: Table) -> bytes:
    """The run as a gzipped file, in the system's format and scale."""
    rows, hidden = listing
    query = pool.query[rows]
    rank = np.arange(1, len(query) + 1) - np.searchsorted(query, query)
    columns = query, rows, rank, SCALES[system["scale"]](hidden, threshold), hidden >= threshold
    lines = (
        RunLine(pool.queries[number].id, pool.document[row], at, f"{score:.{DIGITS}f}", decision, system["slug"])
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


OPENED_DAYS_AGO = 30  # the newest year, when it is loaded
CLOSES_IN_DAYS = 60
FIRST_RUN_DAYS, LAST_RUN_DAYS = 3, 26  # after the opening


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

    def plan(self) -> CampaignPlan:
        midnight = self.now.replace(hour=0, minute=0, second=0, microsecond=0)
        return CampaignPlan(
            slug=self.SLUG,
            settings={**self.scenario["campaign"], "simulated": True},
            teams=self.scenario["team"],
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

    def plan(self, midnight: datetime) -> EvaluationPlan:
        """The newest one is open at `midnight`, each of the others was in the September of its year."""
        condition, name = self.condition, self.condition["name"]
        opens_at, closes_at = (datetime(self.calendar, month, 1, tzinfo=UTC) for month in (9, 10))
        note, details = "", "closed"
        if self.is_newest:
            opens_at, closes_at = (midnight + timedelta(days=days) for days in (-OPENED_DAYS_AGO, CLOSES_IN_DAYS))
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
                "opens_at": opens_at,
                "closes_at": closes_at,
                "details": details,
                **self.scenario["evaluation"],
            },
            queries=self._pool.queries,
            judgments=self._pool.judgments(),
            runs=tuple(self._runs()),
            file_rules={"document_pattern": f"{self._prefix}[0-9]+"},
        )

    def _runs(self) -> Iterator[RunPlan]:
        """Of each team first its primary run, then what else its systems did."""
        for team in self.scenario["team"]:
            designation = Designation.PRIMARY
            for system in filter(self._takes_part, team["system"]):
                for episode in (next(self._happened("episode", system), {}), *self._happened("extra", system)):
                    yield self._run(team, system, episode, designation)
                    designation = Designation.CONTRASTIVE

    def _happened(self, kind: str, system: Table) -> Iterator[Table]:
        """What was special about its run here (`episode`), or about further ones of it (`extra`)."""
        here = {"system": system["slug"], "year": self.year, "condition": self.condition["slug"]}
        return (each for each in self.scenario[kind] if here.items() <= each.items())

    def _takes_part(self, system: Table) -> bool:
        slug = self.condition["slug"]
        return str(self.year) in system["quality"] and slug in system.get("conditions", [slug])

    def _run(self, team: Table, system: Table, episode: Table, designation: Designation) -> RunPlan:
        label = episode.get("label", f"{system['slug']}-{self.calendar}")
        systems = {each["slug"]: each for team in self.scenario["team"] for each in team["system"]}
        source = systems[episode.get("same_as", system["slug"])]
        bonus = source.get("bonus", {}).get(self.condition["slug"], 0.0)
        quality = source["quality"][str(self.year)] + self.condition["quality"] + bonus
        threshold = self._threshold(quality, episode)
        stated = round(float(SCALES[system["scale"]](np.array(threshold), threshold)), DIGITS)
        # When it was received: a time that looks random and is the same whenever the label is.
        minutes = (LAST_RUN_DAYS - FIRST_RUN_DAYS) * 24 * 60
        chance = zlib.crc32(f"{label} {self.condition['slug']}".encode())
        return RunPlan(
            team=team["slug"],
            system=system["slug"],
            label=label,
            filename=f"{label}.{'tsv' if system['format'] == 'decisions' else 'run'}.gz",
            content=partial(self.write, system, source, quality, episode),
            after_opening=timedelta(days=FIRST_RUN_DAYS, minutes=chance % minutes),
            settings={
                "designation": designation,
                "threshold": stated if system["format"] == "trec" else None,
                "notes": episode.get("note", ""),
            },
        )

    def write(self, system: Table, source: Table, quality: float, episode: Table) -> bytes:
        """The file of a run, in the system's format and scale, with the documents that `source` lists."""
        conceptual, missing = source.get("conceptual", 0.0), episode.get("missing", 0)
        listing = list_documents(self._rng(source["slug"]), self._pool, quality, conceptual, missing)
        run = write_run(self._pool, listing, self._threshold(quality, episode), system)
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
    """Makes the worked examples, the simulated campaign and the accounts, as far as they are missing.

    Campaigns, queries, judgments and accounts come first, in one transaction; then run by run.
    """
    accounts = read_accounts(folder("seeds") / "accounts.toml")
    with database.read() as session:
        new = new_accounts(session, accounts)
    with database.write() as session:
        # The newest year where it was loaded before, perhaps in an earlier year than this.
        newest = sa.select(sa.func.max(Evaluation.period_key))
        latest = session.scalar(newest.where(Evaluation.campaign.has(slug=SimulatedCampaign.SLUG)))
        simulated = SimulatedCampaign(folder("seeds") / "harbour", latest or now.year, now)
        plans = (*worked_examples(), simulated.plan())
        for plan in plans:
            load_campaign(session, plan)
        load_accounts(session, accounts, new)
    for plan in plans:
        submit_runs(database, store, plan)
    return Seeded(accounts, simulated.sample())
