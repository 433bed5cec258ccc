"""A campaign of this installation as files: its manifest, queries, judgments and runs, which `importing` takes back.

For its organisers only: judgments, hidden queries, and what teams note for the organisers are in it. What the database
holds is written first, in one session; the runs follow one by one from the store, so that an export of any size takes
the memory of a piece and the disk of its judgments and of one run. `packed` makes an archive of it as it goes.
"""

import json
import tarfile
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from operator import itemgetter
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import access, db, errors
from leaderboard.campaigns.models import Campaign
from leaderboard.evaluations.models import Agreement, Evaluation
from leaderboard.evaluations.reads.evaluations import collection_list, file_rules, form_fields, organised_campaign
from leaderboard.evaluations.rules import Split
from leaderboard.judgments.models import JudgmentRevision, Query
from leaderboard.judgments.reads import COLUMNS, stored_rows
from leaderboard.store import RunStore
from leaderboard.submissions.models import Submission
from leaderboard.teams.models import System, Team
from leaderboard.transfer import manifest as entries
from leaderboard.worker.models import ScoringSet

PIECE = 1 << 20
LEFT_OUT = "left-out.txt"  # names the runs whose stored file is gone or damaged
LEVEL = 1  # of compression: the fastest, since somebody waits
JUDGMENT_FILES = {"file": "", "known": "-known", "subtopics": "-subtopics"}  # key -> how its file's name ends
MADE = 315_619_200  # the moment that archives give for their files, the same each time: 1980, before which zip has none
GZIP = 31  # zlib's number for a gzip head and 32 KiB of window


@dataclass
class Export:
    """A campaign that is being exported: begun in a session, which its `files` need no more.

    lost  runs that `files` left out so far, since their stored file is gone or damaged
    """

    slug: str
    _content: dict[str, Any]
    _folder: Path
    lost: list[str] = field(default_factory=list)

    def files(self, store: RunStore) -> Iterator[tuple[str, Path]]:
        """Every file, once: its path in the export, and where it lies until the next one is asked for.

        Runs come first, so that a store that does not answer is noticed; the manifest last, which knows what was left
        out. Raises NoStore.
        """
        copy = self._folder / ".run"  # no evaluation is called so
        for evaluation in self._content["evaluation"]:
            whole = []
            for run in evaluation["run"]:
                try:
                    with store.open_run(run["sha256"]) as source, copy.open("wb") as target:
                        while piece := source.read(PIECE):
                            target.write(piece)
                except (errors.Damaged, errors.NotFound) as error:
                    self.lost.append(f"{run['file']}: {error.message}")
                else:
                    whole.append(run)
                    yield run["file"], copy
                finally:
                    copy.unlink(missing_ok=True)
            evaluation["run"] = whole
        for path in sorted(path for path in self._folder.rglob("*") if path.is_file()):
            yield path.relative_to(self._folder).as_posix(), path
            path.unlink(missing_ok=True)
        if self.lost:
            (self._folder / LEFT_OUT).write_text("".join(f"left out: {line}\n" for line in self.lost), "utf-8")
            yield LEFT_OUT, self._folder / LEFT_OUT
        manifest = self._folder / entries.NAME
        manifest.write_text(entries.written(self._content), encoding="utf-8")
        yield entries.NAME, manifest


@contextmanager
def exporting(database: db.Database, actor: access.Actor, slug: str) -> Iterator[Export]:
    """An export of the campaign, whose files lie in a private folder while the block runs.

    Raises NotFound, also for whoever does not organise it.
    """
    with tempfile.TemporaryDirectory(prefix="leaderboard-export-") as folder:
        with database.read() as session:
            content = _campaign(session, organised_campaign(session, actor, slug), Path(folder))
        yield Export(slug, content, Path(folder))


def packed(export: Export, store: RunStore) -> Iterator[bytes]:
    """The bytes of a .tar.gz of the export, in a folder of the campaign's name, piece by piece."""
    packing = zlib.compressobj(LEVEL, wbits=GZIP)
    for path, source in export.files(store):
        head = tarfile.TarInfo(f"{export.slug}/{path}")
        head.size, head.mtime = source.stat().st_size, MADE
        yield packing.compress(head.tobuf(tarfile.PAX_FORMAT))
        with source.open("rb") as content:
            while piece := content.read(PIECE):
                yield packing.compress(piece)
        yield packing.compress(bytes(-head.size % tarfile.BLOCKSIZE))
    yield packing.compress(bytes(2 * tarfile.BLOCKSIZE))
    yield packing.flush()


def _table(entry: type[entries.Entry], row: Any, **more: Any) -> dict[str, Any]:
    """A table of the manifest: what of a row is otherwise than the record has it without a word, and more."""
    columns = row.__table__.columns if isinstance(row, db.Base) else entry.model_fields
    own = {name: getattr(row, name) for name in entry.model_fields if name in columns}
    record: dict[str, Any] = entry.model_construct(**own | more).model_dump(exclude_defaults=True)
    return record


def _campaign(session: Session, campaign: Campaign, folder: Path) -> dict[str, Any]:
    own = sa.select(Evaluation).where(Evaluation.campaign_id == campaign.id).order_by(Evaluation.id)
    evaluations = [_evaluation(session, evaluation, folder) for evaluation in session.scalars(own).all()]
    with_runs = sa.select(Submission.system_id).join(Submission.evaluation).where(Evaluation.campaign_id == campaign.id)
    systems = sa.select(System, Team).join(Team, Team.id == System.team_id).where(System.id.in_(with_runs))
    teams: dict[int, dict[str, Any]] = {}
    for system, team in session.execute(systems.order_by(Team.slug, System.slug)).all():
        teams.setdefault(team.id, {**_table(entries.TeamEntry, team), "system": []})["system"].append(
            _table(entries.SystemEntry, system)
        )
    return {
        "campaign": _table(entries.CampaignEntry, campaign),
        "team": list(teams.values()),
        "evaluation": evaluations,
    }


def _evaluation(session: Session, evaluation: Evaluation, folder: Path) -> dict[str, Any]:
    """Its table of the manifest, and the files of its queries, documents and judgments."""
    slug = evaluation.slug
    (folder / slug).mkdir()
    own = sa.select(Query).where(Query.evaluation_id == evaluation.id).order_by(Query.position)
    queries = session.scalars(own).all()
    agreements = sa.select(Agreement).where(Agreement.evaluation_id == evaluation.id).order_by(Agreement.id)
    if queries:
        columns = ("text", "tags", "description")
        lines = ({"id": query.external_id, **{name: getattr(query, name) for name in columns}} for query in queries)
        write_lines(folder / slug / "queries.jsonl", lines)
    documents = collection_list(session, evaluation.id)
    if documents is not None:
        (folder / slug / "documents.txt.gz").write_bytes(documents)
    begun = _begun(session, evaluation)
    # When boards began to leave a query out, else when it was excluded.
    left_out = {
        query: began
        for past, began in reversed(begun)
        if past.source == evaluation.official_source
        for query in past.settings.excluded
    }
    excluded = [
        {
            "query": query.external_id,
            "because": query.excluded_because,
            "date": left_out.get(query.external_id, query.excluded_at),
        }
        for query in queries
        if query.excluded_at is not None
    ]
    return {
        **_table(entries.EvaluationEntry, evaluation, file_rules=entries.FileRulesEntry()),
        "closes_at": evaluation.closes_at or entries.NONE,  # without a word an import makes a draft
        "queries": f"{slug}/queries.jsonl" if queries else None,
        "hidden": [query.external_id for query in queries if query.split is Split.HIDDEN] or None,
        "excluded": excluded,
        "field": [_table(entries.FieldEntry, form_field) for form_field in form_fields(evaluation)],
        "agreement": [
            _table(entries.AgreementEntry, stated, ended=stated.ended_at is not None)
            for stated in session.scalars(agreements)
        ],
        "file_rules": _table(entries.FileRulesEntry, file_rules(evaluation)),
        "document_list": f"{slug}/documents.txt.gz" if documents is not None else None,
        "judgments": list(_revisions(session, evaluation, queries, begun, folder)),
        "run": list(_runs(session, evaluation)),
    }


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Writes JSON lines, which hold any id that is stored."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _begun(session: Session, evaluation: Evaluation) -> list[tuple[ScoringSet, datetime]]:
    """The sets that stood, each with when it first did so, the earliest first."""
    sets = sa.select(ScoringSet).where(ScoringSet.evaluation_id == evaluation.id)
    begun = ((past, past.shown[0][0] if past.shown else past.switched_at) for past in session.scalars(sets))
    return sorted(((past, began) for past, began in begun if began), key=itemgetter(1))


def _revisions(
    session: Session,
    evaluation: Evaluation,
    queries: Iterable[Query],
    begun: list[tuple[ScoringSet, datetime]],
    folder: Path,
) -> Iterator[dict[str, Any]]:
    """A table for each revision of judgments, and its files."""
    since = {past.revision_id: began for past, began in reversed(begun)}
    position = {query.external_id: query.position for query in queries}
    own = JudgmentRevision.evaluation_id == evaluation.id, JudgmentRevision.finished_at.is_not(None)
    for revision in session.scalars(sa.select(JudgmentRevision).where(*own).order_by(JudgmentRevision.number)).all():
        table: dict[str, Any] = {"released": revision.released_at, "since": since.get(revision.id)}
        files = zip(JUDGMENT_FILES.items(), COLUMNS.values(), stored_rows(session, revision.id), strict=True)
        for (key, ending), columns, rows in files:
            names = ("query", *(column.key for column in columns))
            ordered = sorted(rows, key=lambda row: (position[row[0]], *row[1:]))
            if ordered or key == "file":
                table[key] = f"{evaluation.slug}/judgments-{revision.number}{ending}.jsonl"
                lines = ({"grade": 1, **dict(zip(names, row, strict=True))} for row in ordered)
                write_lines(folder / table[key], lines)
        yield _table(entries.JudgmentsEntry, revision, **table)


def _runs(session: Session, evaluation: Evaluation) -> Iterator[dict[str, Any]]:
    """Each run's table of the manifest, in the order in which an import replays them."""
    own = sa.select(Submission).where(Submission.evaluation_id == evaluation.id)
    loaded = own.options(sa.orm.joinedload(Submission.team), sa.orm.joinedload(Submission.system))
    runs = sorted(session.scalars(loaded), key=lambda run: (run.scored_at or run.received_at, run.id))
    for number, run in enumerate(runs, 1):
        named = {
            "file": f"{evaluation.slug}/runs/{number}/{run.filename}",
            "team": run.team.slug,
            "system": run.system.slug,
            "rejected": run.problem_count > 0,
        }
        yield {**_table(entries.RunEntry, run, **named), "label": run.label}
