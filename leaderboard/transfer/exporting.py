"""A campaign of this installation as files: its manifest, queries, judgments and runs, which `importing` takes back.

For its organisers only: judgments, hidden queries, and what teams note for the organisers are in it. What the database
holds is written first, in one session; the runs follow one by one from the store, so that an export of any size takes
the memory of a piece and the disk of its judgments and of one run. `packing` makes an archive of it as it goes.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
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
from leaderboard.transfer.manifest import NAME, WORDS
from leaderboard.transfer.stood import LISTS_OF_RUNS, stood_of
from leaderboard.transfer.toml import written

__all__ = ["Export", "ExportedFile", "begin_export"]

PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """A file of an export: its path there, parted by /, and where it lies on this machine until the next is asked for.

    is_run  whether it is a run's file
    """

    path: str
    place: Path
    is_run: bool = False


@dataclass
class Export:
    """A campaign that is being exported: begun in a session, which its `files` need no more.

    slug   of the campaign
    runs   how many runs it has
    lost   runs that `files` left out so far, since their stored file is gone or damaged
    """

    slug: str
    evaluations: int
    runs: int
    lost: list[str] = field(default_factory=list)
    _content: dict[str, Any] = field(default_factory=dict)
    _folder: Path = field(default_factory=Path)

    def files(self, store: RunStore) -> Iterator[ExportedFile]:
        """Every file, once: runs first, so that a store that does not answer is noticed; the manifest last, which knows
        what was left out. Raises NoStore.
        """
        place: Path
        for evaluation in self._content["evaluation"]:
            whole = []
            listed = evaluation["run"]
            for name, run in listed:
                place = self._folder / ".run"  # no evaluation is called so
                try:
                    with store.open_run(run["sha256"]) as source, place.open("wb") as target:
                        while piece := source.read(PIECE):
                            target.write(piece)
                except (Damaged, NotFound) as error:
                    self.lost.append(f"{name}: {error.message}")
                else:
                    whole.append(run)
                    yield ExportedFile(run["file"], place, is_run=True)
                finally:
                    place.unlink(missing_ok=True)
            evaluation["run"] = whole
            lost = {run["file"] for _, run in listed} - {run["file"] for run in whole}
            for board in evaluation["stood"] if lost else ():
                of_board = LISTS_OF_RUNS & board.keys()
                board.update({name: [file for file in board[name] if file not in lost] for name in of_board})
        for place in sorted(path for path in self._folder.rglob("*") if path.is_file()):
            yield ExportedFile(place.relative_to(self._folder).as_posix(), place)
            place.unlink(missing_ok=True)
        manifest = self._folder / NAME
        manifest.write_text(written(self._content), encoding="utf-8")
        yield ExportedFile(NAME, manifest)


def begin_export(session: Session, actor: Actor, campaign: Campaign, folder: Path) -> Export:
    """Writes what the database holds of a campaign into an empty folder, which is the export's own until it ends.

    Raises NotAllowed for whoever does not organise the campaign.
    """
    require_organiser(actor, campaign.id)
    own = sa.select(Evaluation).where(Evaluation.campaign_id == campaign.id).order_by(Evaluation.id)
    entries = [_evaluation(session, evaluation, folder) for evaluation in session.scalars(own).all()]
    content = {"campaign": settings_of(campaign), "team": _teams(session, campaign), "evaluation": entries}
    runs = sum(len(entry["run"]) for entry in entries)
    return Export(campaign.slug, len(entries), runs, _content=content, _folder=folder)


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
    """Its table of the manifest, each run with its name, and the files of its queries and judgments beside it."""
    (folder / evaluation.slug).mkdir()
    own = sa.select(Query).where(Query.evaluation_id == evaluation.id).order_by(Query.position)
    queries = session.scalars(own).all()
    entry: dict[str, Any] = settings_of(evaluation)
    if queries:
        entry["queries"] = f"{evaluation.slug}/queries.jsonl"
        lines = (
            json.dumps(
                {"id": one.external_id, "text": one.text, "tags": one.tags, "description": one.description},
                ensure_ascii=False,
            )
            + "\n"
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
    ).all()
    entry["judgments"] = [_judgments(session, evaluation, one, folder) for one in revisions]
    runs = _runs(session, evaluation)
    judged = {one.id: told["file"] for one, told in zip(revisions, entry["judgments"], strict=True)}
    files = {number: run["file"] for number, (_, run) in runs.items()}
    entry["stood"] = list(stood_of(session, evaluation, judged, files))
    return entry | {"run": list(runs.values())}


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
        "released": revision.released_at,
        "known": write("-known", KnownDocument, KnownDocument.document),
        "subtopics": write(
            "-subtopics", SubtopicJudgment, SubtopicJudgment.subtopic, SubtopicJudgment.document, SubtopicJudgment.grade
        ),
    }


def _runs(session: Session, evaluation: Evaluation) -> dict[int, tuple[str, dict[str, Any]]]:
    """Each run's name and its table of the manifest, by its id, in the order in which they were submitted."""
    runs = session.scalars(
        sa.select(Submission)
        .where(Submission.evaluation_id == evaluation.id)
        .options(sa.orm.joinedload(Submission.team), sa.orm.joinedload(Submission.system))
        .order_by(Submission.id)
    )
    found = {}
    for run in runs:
        said = settings_of(run) | {"label": run.label}
        found[run.id] = (
            run.name,
            {
                "file": f"{evaluation.slug}/runs/{run.id}/{run.filename}",
                "team": run.team.slug,
                "system": run.system.slug,
                "md5": run.md5,
                "sha256": run.sha256,
                "rejected": run.problem_count > 0 or None,
                **{WORDS.get(name, name): value for name, value in said.items()},
            },
        )
    return found
