"""A campaign of this installation as a folder: its manifest, queries, judgments and runs, which `importing` takes back.

For its organisers only: judgments, hidden queries, and what teams note for the organisers are in it.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, require_organiser
from leaderboard.errors import Damaged, NotFound
from leaderboard.models import (
    Campaign,
    Evaluation,
    Judgment,
    JudgmentRevision,
    KnownDocument,
    Query,
    Submission,
    SubtopicJudgment,
    System,
    Team,
)
from leaderboard.rules.settings import Split
from leaderboard.store import RunStore
from leaderboard.transfer.columns import settings_of
from leaderboard.transfer.forms import form_of
from leaderboard.transfer.manifest import NAME, OF_RUN
from leaderboard.transfer.toml import written

__all__ = ["Exported", "export_campaign", "runs_of"]

PIECE = 1 << 20
WORDS = {column: word for word, column in OF_RUN.items()}


@dataclass(frozen=True, slots=True)
class Exported:
    """How much an export holds. lost: runs that are left out, since their stored file is gone or damaged."""

    evaluations: int
    runs: int
    lost: tuple[str, ...]


def runs_of(session: Session, campaign: Campaign) -> int:
    """How many runs an export of the campaign holds."""
    own = (
        sa.select(sa.func.count(Submission.id)).join(Submission.evaluation).where(Evaluation.campaign_id == campaign.id)
    )
    return session.scalar(own) or 0


def export_campaign(
    session: Session,
    store: RunStore,
    actor: Actor,
    campaign: Campaign,
    folder: Path,
    done: Callable[[int], None] = lambda _: None,
) -> Exported:
    """Writes a campaign into an empty folder; `done` is told after each run. Raises NotAllowed and NoStore."""
    require_organiser(actor, campaign.id)
    own = sa.select(Evaluation).where(Evaluation.campaign_id == campaign.id).order_by(Evaluation.id)
    evaluations = session.scalars(own).all()
    lost: list[str] = []
    entries, runs = [], 0
    for evaluation in evaluations:
        entry = _evaluation(session, evaluation, folder)
        entry["run"] = list(_runs(session, store, evaluation, folder, lost, done))
        runs += len(entry["run"])
        entries.append(entry)
    content = {"campaign": settings_of(campaign), "team": _teams(session, campaign), "evaluation": entries}
    (folder / NAME).write_text(written(content), encoding="utf-8")
    return Exported(len(entries), runs, tuple(lost))


def _teams(session: Session, campaign: Campaign) -> list[dict[str, Any]]:
    """Those with runs in the campaign, and their systems that have some."""
    systems = session.execute(
        sa.select(System, Team)
        .join(Team, Team.id == System.team_id)
        .where(
            System.id.in_(
                sa.select(Submission.system_id).join(Submission.evaluation).where(Evaluation.campaign_id == campaign.id)
            )
        )
        .order_by(Team.id, System.id)
    ).all()
    found: dict[int, dict[str, Any]] = {}
    for system, team in systems:
        found.setdefault(team.id, {**settings_of(team), "system": []})["system"].append(settings_of(system))
    return list(found.values())


def _evaluation(session: Session, evaluation: Evaluation, folder: Path) -> dict[str, Any]:
    """Its table of the manifest but for the runs, with the files of its queries and judgments beside it."""
    (folder / evaluation.slug / "runs").mkdir(parents=True)
    own = sa.select(Query).where(Query.evaluation_id == evaluation.id).order_by(Query.position)
    queries = session.scalars(own).all()
    entry: dict[str, Any] = settings_of(evaluation)
    if queries:
        entry["queries"] = f"{evaluation.slug}/queries.jsonl"
        lines = (
            json.dumps({"id": one.external_id, "text": one.text, "tags": one.tags}, ensure_ascii=False) + "\n"
            for one in queries
        )
        (folder / entry["queries"]).write_text("".join(lines), encoding="utf-8")
    entry |= form_of(session, evaluation, folder)
    entry["hidden"] = [one.external_id for one in queries if one.split is Split.HIDDEN] or None
    entry["excluded"] = [
        {"query": one.external_id, "because": one.excluded_because} for one in queries if one.excluded_at is not None
    ]
    revisions = session.scalars(
        sa.select(JudgmentRevision)
        .where(JudgmentRevision.evaluation_id == evaluation.id, JudgmentRevision.finished_at.is_not(None))
        .order_by(JudgmentRevision.number)
    )
    entry["judgments"] = [_judgments(session, evaluation, one, folder) for one in revisions]
    return entry


def _judgments(session: Session, evaluation: Evaluation, revision: JudgmentRevision, folder: Path) -> dict[str, Any]:
    """A revision's table of the manifest, and its files. They are JSON lines: any id that is stored can be written."""

    def write(name: str, table: Any, *columns: Any) -> str | None:
        rows = session.execute(
            sa.select(Query.external_id, *columns)
            .join(Query, Query.id == table.query_id)
            .where(table.revision_id == revision.id)
            .order_by(Query.position, *columns)
        )
        path = f"{evaluation.slug}/judgments-{revision.number}{name}.jsonl"
        keys = ("query", *(column.key for column in columns))
        with (folder / path).open("w", encoding="utf-8") as file:
            some = False
            for row in rows:
                line = dict(zip(keys, row, strict=True))
                file.write(json.dumps(line if "grade" in line else {**line, "grade": 1}, ensure_ascii=False) + "\n")
                some = True
        if some or table is Judgment:
            return path
        (folder / path).unlink()
        return None

    return {
        "file": write("", Judgment, Judgment.document, Judgment.grade),
        "note": revision.note or None,
        "source": revision.source,
        "known": write("-known", KnownDocument, KnownDocument.document),
        "subtopics": write(
            "-subtopics", SubtopicJudgment, SubtopicJudgment.subtopic, SubtopicJudgment.document, SubtopicJudgment.grade
        ),
    }


def _runs(
    session: Session,
    store: RunStore,
    evaluation: Evaluation,
    folder: Path,
    lost: list[str],
    done: Callable[[int], None],
) -> Iterator[dict[str, Any]]:
    """Each run's table of the manifest, in the order in which they were submitted, and its file as it was received."""
    runs = session.scalars(
        sa.select(Submission)
        .where(Submission.evaluation_id == evaluation.id)
        .options(sa.orm.joinedload(Submission.team), sa.orm.joinedload(Submission.system))
        .order_by(Submission.id)
    )
    for run in runs:
        path = f"{evaluation.slug}/runs/{run.id}/{run.filename}"
        (folder / path).parent.mkdir()
        try:
            with store.open_run(run.sha256) as source, (folder / path).open("wb") as target:
                while piece := source.read(PIECE):
                    target.write(piece)
        except (Damaged, NotFound) as error:
            (folder / path).unlink(missing_ok=True)
            lost.append(f"{run.name}: {error.message}")
            continue
        finally:
            done(1)
        said = settings_of(run) | {"label": run.label}
        yield {
            "file": path,
            "team": run.team.slug,
            "system": run.system.slug,
            "md5": run.md5,
            "sha256": run.sha256,
            **{WORDS.get(name, name): value for name, value in said.items()},
        }
