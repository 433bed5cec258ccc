"""The golden cases of the measures as small campaigns: TOML files, with queries, judgments and runs beside them."""

import datetime as dt
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from leaderboard.config import folder
from leaderboard.demo.plans import CampaignPlan, EvaluationPlan, RunPlan, SystemPlan, TeamPlan
from leaderboard.formats import read_judgments, read_queries
from leaderboard.names import slug_of

TEAM = TeamPlan("worked-examples", "Worked examples", "Lists made to show what the measures say.", ())
# Over and done, so that no board asks for runs and every query can be looked at.
OPENED = dt.datetime(2025, 1, 1, tzinfo=dt.UTC)
CLOSED = {"period": "2025", "opens_at": OPENED, "closes_at": OPENED + dt.timedelta(days=1)}
FILES = ("slug", "queries", "judgments", "runs")


def worked_examples() -> tuple[CampaignPlan, ...]:
    """A campaign for each TOML file in `seeds/worked-examples`, by file name."""
    return tuple(_read_campaign(path) for path in sorted((folder("seeds") / "worked-examples").glob("*.toml")))


def _read_campaign(path: Path) -> CampaignPlan:
    """`[campaign]` and each `[[evaluation]]` hold the services' arguments by name, and the files by their place."""
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    campaign, evaluations = document["campaign"], document["evaluation"]
    names = dict.fromkeys(run["system"] for evaluation in evaluations for run in evaluation["runs"])
    return CampaignPlan(
        slug=campaign["slug"],
        settings={name: value for name, value in campaign.items() if name != "slug"},
        teams=(
            TeamPlan(TEAM.slug, TEAM.name, TEAM.description, tuple(SystemPlan(slug_of(name), name) for name in names)),
        ),
        evaluations=tuple(_evaluation(path.parent, evaluation) for evaluation in evaluations),
    )


def _evaluation(folder: Path, table: Mapping[str, Any]) -> EvaluationPlan:
    queries = read_queries(folder / table["queries"])
    return EvaluationPlan(
        slug=table["slug"],
        settings=CLOSED | {name: table[name] for name in table if name not in FILES},
        queries=queries,
        judgments=read_judgments(folder / table["judgments"], queries=[query.id for query in queries]),
        runs=tuple(_run(folder, run) for run in table["runs"]),
    )


def _run(folder: Path, table: Mapping[str, Any]) -> RunPlan:
    path = folder / table["file"]
    slug = slug_of(table["system"])
    return RunPlan(
        team=TEAM.slug,
        system=slug,
        label=slug,
        designation="contrastive",
        threshold=None,
        notes="",
        filename=path.name,
        after_opening=dt.timedelta(),
        content=path.read_bytes,
    )
