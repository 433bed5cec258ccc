"""A large campaign made from a seed, written straight into a database: what pages are measured with, and looked at:
`python -m bench.campaigns DATABASE_URL --systems 500 --runs 556`.

No file is scored: every value is drawn, and stands in the tables as a worker would have recorded it.
"""

import argparse
import datetime as dt
import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import migrate
from leaderboard.access import CONSOLE
from leaderboard.boards import writes as boards
from leaderboard.boards.models import Board, Standing
from leaderboard.campaigns import writes as campaigns
from leaderboard.campaigns.models import Campaign
from leaderboard.db import Base, Database
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import Opening, Subset
from leaderboard.formats import QueryRow, read_judgments
from leaderboard.judgments import writes as judgments, writes as queries
from leaderboard.judgments.rules import JudgmentFiles
from leaderboard.names import name_key
from leaderboard.results.models import TeamFinds
from leaderboard.submissions.models import Participation, Submission
from leaderboard.submissions.reads.selection import scored_runs
from leaderboard.submissions.rules import Designation, RunChoice, SetState, State, SystemKind
from leaderboard.submissions.writes.selection import selection_by_rule
from leaderboard.teams.models import System, Team, TeamName
from leaderboard.teams.writes import ensure_pseudonym
from leaderboard.worker.models import Score, Scoring, ScoringSet

__all__ = ["MEASURES", "Shape", "make_campaign"]

SEED = 20191112
START = dt.datetime(2019, 3, 1, 12, tzinfo=dt.UTC)
A_YEAR = dt.timedelta(days=365)
MEASURES = (
    "AP", "nDCG@10", "RR", "P@5", "P@10", "P@20", "P@100", "R@10", "R@100", "R@1000", "nDCG", "nDCG@20", "Rprec",
    "Bpref", "Success@1", "Success@10", "AP@100", "infAP", "SetF", "P@30",
)  # fmt: skip
TEAM_OF = 5  # systems a team has
BASELINES = 3
WRITTEN_ONCE = 1  # `BoardGeneration` of an evaluation that one transaction wrote
TAGS = 5  # of queries, each with one
AT_ONCE = 5_000  # rows of one statement
WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "islet", "juniper", "kelp", "lumen")


@dataclass(frozen=True, slots=True)
class Shape:
    """How large a campaign is.

    runs    of the newest year; the years before have one run of each system
    boards  that the newest year has had, each by judgments of its own; those of the past have one run of each system
    conditions  of the newest year; those beside its own have one run of each system
    sources     of its judgments, of which the official one has the boards
    """

    systems: int = 1_000
    runs: int = 10_000
    queries: int = 50
    measures: int = 20
    years: int = 2
    boards: int = 1
    conditions: int = 1
    sources: int = 1


def make_campaign(database: Database, shape: Shape, *, slug: str = "large", choice: RunChoice | None = None) -> None:
    """Makes the campaign, its evaluations named by their years, the last one open; the same for the same shape."""
    rng = np.random.default_rng(SEED)
    with database.write() as session:
        made = campaigns.create_campaign(
            session, CONSOLE, slug, "A large campaign", measures=list(MEASURES[: shape.measures]),
            primary_measure=MEASURES[0], **({} if choice is None else {"run_choice": choice}),
        )  # fmt: skip
        teams, systems = _field(session, shape, slug)
        session.flush()
        quality = rng.normal(0.35, 0.08, len(systems)).clip(0.02, 0.9)
        for year in range(shape.years):
            last = year == shape.years - 1
            opens, field = START + year * A_YEAR, (teams, systems, quality)
            for number in range(1, shape.conditions if last else 1):
                _evaluation(session, rng, made, shape, opens, False, len(systems), *field, f"condition-{number}")
            _evaluation(session, rng, made, shape, opens, last, shape.runs if last else len(systems), *field)


def _field(session: Session, shape: Shape, slug: str) -> tuple[list[int], list[int]]:
    """(team of each system, systems): their ids. The first systems are baselines."""
    first_team = (session.scalar(sa.select(sa.func.max(Team.id))) or 0) + 1
    first = (session.scalar(sa.select(sa.func.max(System.id))) or 0) + 1
    count = -(-shape.systems // TEAM_OF)
    _insert(
        session, Team,
        [{"slug": f"{slug}-team-{n}", "name": f"{slug.title()} team {n}", "created_at": START} for n in range(count)],
    )  # fmt: skip
    _insert(
        session, TeamName, [{"team_id": first_team + n, "name_key": name_key(f"{slug} team {n}")} for n in range(count)]
    )
    teams = [first_team + number // TEAM_OF for number in range(shape.systems)]
    rows = []
    for number, team in enumerate(teams):
        name = f"{WORDS[number % len(WORDS)]}-{WORDS[number // 12 % len(WORDS)]}-{number}"
        kind = SystemKind.BASELINE if number < min(BASELINES, shape.systems - 1) else SystemKind.AUTOMATIC
        rows.append({"team_id": team, "slug": name, "name": name, "name_key": name, "kind": kind, "created_at": START})
    _insert(session, System, rows)
    return teams, list(range(first, first + shape.systems))


def _evaluation(
    session: Session,
    rng: np.random.Generator,
    campaign: Campaign,
    shape: Shape,
    opens: dt.datetime,
    last: bool,
    runs: int,
    teams: Sequence[int],
    systems: Sequence[int],
    quality: Any,
    condition: str = "",
) -> None:
    year = str(opens.year)
    slug, words = "-".join(filter(None, (year, condition))), " ".join(filter(None, ("The year", year, condition)))
    made = evaluations.create_evaluation(
        session, CONSOLE, campaign, slug, words, year, condition=condition, opens_at=opens, details=Opening.ALWAYS,
        closes_at=opens + 20 * A_YEAR if last else opens + A_YEAR / 2, documents=100_000, daily_quota=None,
    )  # fmt: skip
    rows = [
        QueryRow(f"q{n}", f"what is known of {WORDS[n % 12]} {n}", (f"tag {n % TAGS}",))
        for n in range(1, shape.queries + 1)
    ]
    queries.import_queries(session, CONSOLE, made, rows)
    others = [f"source-{number}" for number in range(1, shape.sources if last else 1)]
    for revision, source in enumerate([*others, *[None] * (shape.boards if last else 1)]):
        judged = ((n, k, (k + n * revision) % 2) for n in range(1, shape.queries + 1) for k in range(4))
        lines = "".join(f"q{n} 0 d{n}-{k} {grade}\n" for n, k, grade in judged)
        files = JudgmentFiles(read_judgments(io.BytesIO(lines.encode())))
        judgments.import_judgments(session, CONSOLE, made, files, source=source)
    first_run = (session.scalar(sa.select(sa.func.max(Submission.id))) or 0) + 1
    entered = sorted({*teams})
    _insert(
        session, Participation,
        [{"team_id": team, "evaluation_id": made.id, "day": opens.date(), "used": 1} for team in entered],
    )  # fmt: skip
    own = [number % len(systems) for number in range(runs)]
    submitted = [
        _submission(made.id, year, number, teams[which], systems[which], opens) for number, which in enumerate(own)
    ]
    _insert(session, Submission, submitted)
    for system in sorted({systems[which] for which in own}):
        ensure_pseudonym(session, made.id, system)
    sets = sa.select(ScoringSet).where(ScoringSet.evaluation_id == made.id).order_by(ScoringSet.id)
    for one in session.scalars(sets).all():
        count = runs if one.state is SetState.CURRENT else min(runs, len(systems))
        _scored(session, rng, one, shape, first_run, submitted[:count], quality[own[:count]])
        if not last:
            _find(session, one, teams)


def _find(session: Session, scoring_set: ScoringSet, teams: Sequence[int]) -> None:
    """What each team of a closed evaluation found alone, as a worker keeps it."""
    first = session.scalars(sa.select(sa.func.min(Scoring.id)).where(Scoring.scoring_set_id == scoring_set.id)).one()
    without: dict[int, dict[str, float]] = {}
    for scoring, team in enumerate(teams, start=first):
        without.setdefault(team, {})[str(scoring)] = 0.3
    found = [{"team": team, "runs": len(own), "unique": 3, "without": own} for team, own in without.items()]
    finds = {"lines": 50_000, "depth": 100, "subsets": {"all": {"relevant": 9_000, "teams": found}}}
    session.add(TeamFinds(scoring_set_id=scoring_set.id, generation=WRITTEN_ONCE, finds=finds))


def _scored(
    session: Session,
    rng: np.random.Generator,
    scoring_set: ScoringSet,
    shape: Shape,
    first_run: int,
    submitted: Sequence[dict[str, Any]],
    quality: Any,
) -> None:
    """The figures of these runs by that set, and what is kept of its boards."""
    first_scoring = (session.scalar(sa.select(sa.func.max(Scoring.id))) or 0) + 1
    _insert(
        session, Scoring,
        [{"submission_id": first_run + number, "scoring_set_id": scoring_set.id, "state": State.SCORED,
          "queued_at": run["received_at"], "finished_at": run["scored_at"], "digest": f"{number:064x}",
          "missing": ["q1"] if number % 7 == 0 else []} for number, run in enumerate(submitted)],
    )  # fmt: skip
    found = _scores(session, rng, scoring_set, first_scoring, shape, quality)
    _stand(session, scoring_set)
    _figures(session, scoring_set, first_scoring, found)


def _stand(session: Session, scoring_set: ScoringSet) -> None:
    """Which runs stand, as services keep it."""
    stands = selection_by_rule(session, of_sets=ScoringSet.id == scoring_set.id)
    _insert(session, Standing, [row._asdict() for row in stands])


def _submission(evaluation: int, year: str, number: int, team: int, system: int, opens: dt.datetime) -> dict[str, Any]:
    """Every second system comes in the same version each year, which links the years."""
    at, version = opens + dt.timedelta(minutes=number + 1), year if system % 2 else "1"
    digest = f"{number:032x}{year:0>32}"
    return {
        "evaluation_id": evaluation, "team_id": team, "system_id": system, "label": f"run-{number}",
        "designation": Designation.CONTRASTIVE, "version": version, "filename": f"run-{number}.txt", "sha256": digest,
        "md5": digest[:32], "text_sha256": digest, "size": 10, "text_size": 10, "begun_at": at, "received_at": at,
        "scored_at": at,
    }  # fmt: skip


def _scores(
    session: Session, rng: np.random.Generator, scoring_set: ScoringSet, first: int, shape: Shape, quality: Any
) -> Any:
    """Values of every run on every query under every measure; (mean, count, low, high) of each, by measure."""
    figures: list[list[Any]] = [[] for _ in scoring_set.settings.measures]
    rows = []
    for number, own in enumerate(quality):
        for place, measure in enumerate(scoring_set.settings.measures):
            values = np.clip(rng.normal(own, 0.2, shape.queries), 0.0, 1.0)
            mean = float(values.mean())
            half = 2 * float(values.std()) / shape.queries**0.5
            figures[place].append((mean, shape.queries, mean - half, mean + half))
            row = {
                "scoring_id": first + number, "measure": measure, "mean": mean, "low": mean - half,
                "high": mean + half, "count": shape.queries, "values": values,
            }  # fmt: skip
            rows += [{**row, "subset": subset} for subset in Subset]
        if len(rows) > AT_ONCE:
            _insert(session, Score, rows)
            rows = []
    _insert(session, Score, rows)
    return figures


def _figures(session: Session, scoring_set: ScoringSet, first: int, found: Any) -> None:
    """What a worker keeps of the boards, without the work: by the first measure each rank set is a few ranks around its
    rank, and by the others there are none, as of boards with many pairs."""
    rule = session.get_one(Evaluation, scoring_set.evaluation_id).campaign.run_choice
    terms = boards.StandingSet(rule, scoring_set.settings)
    runs = scored_runs(session, of_sets=ScoringSet.id == scoring_set.id)[scoring_set.id]
    best = boards.best_means(session, {scoring_set.id: terms}).get(scoring_set.id, {})
    measures = scoring_set.settings.measures
    for (name, subset), lineup in boards.lineups_of(runs, terms, best).items():
        own = found[measures.index(name)]
        ordered = sorted(lineup.ranked, key=lambda run: -own[run - first][0]) if name == measures[0] else []
        ranks = {str(run): [max(1, n - 12), min(len(ordered), n + 12)] for n, run in enumerate(ordered, start=1)}
        figures = {
            "over": lineup.digest, "runs": len(lineup.all), "confidence": 0.95, "resamples": 10_000, "seed": 1,
            "ranked": list(lineup.ranked), "ranks": ranks, "rank_resamples": 4_000 if ranks else 0,
            "rank_queries": 50 if ranks else 0, "needed_queries": None, "above_baselines": [],
            "may_be_best": ordered[:13], "queries": None,
        }  # fmt: skip
        packed = boards.packed_figures({run: own[run - first] for run in lineup.all})
        key = {"scoring_set_id": scoring_set.id, "measure": name, "version": boards.FIGURES_VERSION}
        row = {**key, "figures": figures, "refreshed_at": START, **packed}
        whole = Subset if len(scoring_set.settings.subsets) == 1 else (subset,)
        _insert(session, Board, [{**row, "subset": each} for each in whole])


def _insert(session: Session, table: type[Base], rows: Sequence[dict[str, Any]]) -> None:
    """All rows, their columns' defaults with them."""
    left = iter(rows)
    while some := list(islice(left, AT_ONCE)):
        session.execute(sa.insert(table), some)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.campaigns", description=__doc__)
    parser.add_argument("database_url", help="of a database that is empty or holds an installation")
    parser.add_argument("--slug", default="large", help="the campaign's name in addresses (large)")
    for name, default in asdict(Shape()).items():
        parser.add_argument(f"--{name}", type=int, default=default, help=f"({default:,})")
    arguments = vars(parser.parse_args())
    database = Database.connect(arguments.pop("database_url"))
    migrate.upgrade(database)
    slug = arguments.pop("slug")
    make_campaign(database, Shape(**arguments), slug=slug)
    database.close()


if __name__ == "__main__":
    main()
