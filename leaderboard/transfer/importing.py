"""Brings a manifest's campaign in through the services. What is there already is left, so it may be called again.

The campaign with its teams is one transaction, each evaluation with its queries and judgments another, then each run:
wherever it is killed, the next call goes on from there, and nothing is there twice.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, require_organiser
from leaderboard.db import Database
from leaderboard.errors import BadInput, FileRejected, InvalidFields, LeaderboardError, TooLarge
from leaderboard.formats import (
    Judgments,
    Limits,
    QueryRow,
    SubtopicJudgments,
    read_judgments,
    read_queries,
    read_subtopic_judgments,
)
from leaderboard.formats.file_rules import document_list
from leaderboard.formats.harmless import shown
from leaderboard.models import Campaign, Evaluation, JudgmentRevision, Query, Scoring, Submission, System, Team
from leaderboard.numbers import counted
from leaderboard.rules.settings import Split
from leaderboard.rules.standings import SystemKind
from leaderboard.rules.states import UNFINISHED
from leaderboard.services.campaigns import create_campaign
from leaderboard.services.evaluations import create_evaluation
from leaderboard.services.imports import import_run
from leaderboard.services.judgments import import_judgments, revision_sha256
from leaderboard.services.names import name_key
from leaderboard.services.queries import exclude_queries, import_queries, set_split
from leaderboard.services.scoring_sets import make_official
from leaderboard.services.systems import NewSystem, create_system
from leaderboard.services.teams import create_team
from leaderboard.store import Received, RunStore
from leaderboard.transfer.forms import bring_form_in
from leaderboard.transfer.hashes import hash_of, require_hashes
from leaderboard.transfer.manifest import (
    EvaluationEntry,
    JudgmentsEntry,
    Manifest,
    TeamEntry,
)
from leaderboard.transfer.planning import PlannedRun, planned_runs
from leaderboard.transfer.tree import Tree

__all__ = ["Import", "Refusal", "Report"]


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Refusal:
    """What was not brought in, or rejected when it was read, and why: a line for each problem."""

    file: str
    why: tuple[str, ...]


@dataclass(slots=True)
class Report:
    """What an import did. made, there: in words; unmatched: files of the tree that nothing in the manifest names."""

    made: list[str] = field(default_factory=list)
    there: list[str] = field(default_factory=list)
    imported: int = 0
    already: int = 0
    refused: list[Refusal] = field(default_factory=list)
    unmatched: list[str] = field(default_factory=list)


class Import:
    """One import: `prepare` first, then `receive` and `enter` for each of its `runs`.

    report   what it did so far
    waiting  runs that an earlier call submitted and that are not scored yet, with their submissions
    """

    def __init__(
        self,
        database: Database,
        store: RunStore,
        actor: Callable[[Session], Actor],
        manifest: Manifest,
        tree: Tree,
        limits: Limits | None = None,
    ) -> None:
        """actor: gives who imports, with their present rights, in a session. limits: of queries and judgments."""
        self.report = Report()
        self.runs: list[PlannedRun] = []
        self._database = database
        self._store = store
        self._actor = actor
        self._manifest = manifest
        self._tree = tree
        self._limits = limits or Limits()
        self._evaluations: dict[str, int] = {}  # by slug
        self._systems: dict[int, int] = {}  # by the number of the run
        self.waiting: list[tuple[PlannedRun, int]] = []
        # Submissions by evaluation, system and SHA-256, the first one last; and those that are not scored yet.
        self._there: dict[tuple[int, int, str], list[int]] = {}
        self._unfinished: set[int] = set()
        self._begun: set[tuple[int, int]] = set()  # evaluations and systems that have runs already

    def prepare(self) -> None:
        """Makes the campaign, teams, systems and evaluations, with queries and judgments, as far as they are missing.

        Raises what the services raise, NotAllowed above all, and FileRejected or BadInput for files of the tree. What
        is wrong with a single run is in the report, and the run is not among `runs`.
        """
        for path in self._manifest.archives:
            self._tree.unpack(path)
        runs, self.report.unmatched = planned_runs(self._manifest, self._tree)
        with self._database.write() as session:
            self._make_campaign(session)
            self._make_listed_teams(session)
        for entry in self._manifest.evaluations:
            self._make_evaluation(entry)
        with self._database.write() as session:
            require_organiser(self._actor(session), self._campaign(session).id)
            teams: dict[str, Team] = {}
            systems: dict[tuple[int, str], System] = {}
            for run in runs:
                self._plan(session, run, teams, systems)
        self._count_what_is_there()

    def receive(self, run: PlannedRun) -> Received | None:
        """Takes a run's file into the store; None for one that is there already, and for one that is refused."""
        key = (self._evaluations[run.evaluation], self._systems[run.number])
        try:
            path = self._tree.file(run.entry.file)
            if key in self._begun:
                sha256 = hash_of(path, "sha256")
                if own := self._there.get((*key, sha256)):
                    submission = own.pop()
                    if submission in self._unfinished:
                        self.waiting.append((run, submission))
                    self.report.already += 1
                    return None
            with path.open("rb", buffering=0) as stream, self._store.receiving(stream, path_name(run)) as received:
                require_hashes(run.entry, received, path)
            return received
        except (BadInput, TooLarge, OSError) as error:
            self.refuse(run, error)
            return None

    def enter(self, session: Session, run: PlannedRun, upload: Received) -> Submission | None:
        """Submits a run whose file was received; None when it is refused. The caller owns the transaction."""
        evaluation = session.get_one(Evaluation, self._evaluations[run.evaluation])
        system = session.get_one(System, self._systems[run.number])
        settings = {**run.entry.settings, "label": run.label}
        try:
            submission = import_run(session, self._actor(session), evaluation, system, upload, **settings)
        except InvalidFields as error:
            self.refuse(run, error)
            return None
        self.report.imported += 1
        return submission

    def refuse(self, run: PlannedRun, error: LeaderboardError | OSError) -> None:
        """Adds to the report that a run was refused or rejected, and why; once, however many sets it is scored in."""
        if any(one.file == run.entry.file for one in self.report.refused):
            return
        match error:
            case FileRejected(problems=problems, count=count):
                told = sum(problem.lines for problem in problems)
                more = (f"and {count - told:,} more problems",) if count > told else ()
                self.report.refused.append(Refusal(run.entry.file, (*map(str, problems), *more)))
            case InvalidFields(fields=fields):
                why = tuple(f"{name}: {message}" for name, messages in fields.items() for message in messages)
                self.report.refused.append(Refusal(run.entry.file, why))
            case OSError(strerror=reason):
                self.report.refused.append(Refusal(run.entry.file, (f"can't be read: {reason}",)))
            case LeaderboardError(message=message):
                self.report.refused.append(Refusal(run.entry.file, (message,)))

    def _campaign(self, session: Session) -> Campaign:
        return session.scalars(sa.select(Campaign).where(Campaign.slug == self._manifest.slug)).one()

    def _make_campaign(self, session: Session) -> None:
        manifest, actor = self._manifest, self._actor(session)
        found = session.scalar(sa.select(Campaign).where(Campaign.slug == manifest.slug))
        if found is not None:
            require_organiser(actor, found.id)
            self.report.there.append(f"the campaign {found.title}")
            return
        given = dict(manifest.settings)
        measures = given.pop("measures", [])
        primary = given.pop("primary_measure", "") or (measures[0] if measures else "")
        made = create_campaign(
            session, actor, manifest.slug, given.pop("title"), measures=measures, primary_measure=primary, **given
        )
        self.report.made.append(f"the campaign {made.title}")

    def _make_listed_teams(self, session: Session) -> None:
        for entry in self._manifest.teams:
            team = self._team(session, entry)
            for one in entry.systems:
                self._system(session, team, entry, one.name, SystemKind.AUTOMATIC)

    def _team(self, session: Session, entry: TeamEntry) -> Team:
        found = session.scalar(sa.select(Team).where(Team.slug == entry.slug)) if entry.slug else None
        found = found or session.scalar(sa.select(Team).where(Team.name_key == name_key(entry.name)))
        if found is not None:
            return found
        made = create_team(session, self._actor(session), entry.name, entry.slug or None, entry.description, own=False)
        self.report.made.append(f"the team {made.name}")
        return made

    def _system(self, session: Session, team: Team, entry: TeamEntry, spelled: str, kind: SystemKind) -> System:
        key = name_key(spelled)
        listed = next(
            (one for one in entry.systems if key in {name_key(name) for name in (one.name, one.slug, *one.spellings)}),
            None,
        )
        name, slug = (spelled, "") if listed is None else (listed.name, listed.slug)
        own = System.team_id == team.id
        found = session.scalar(sa.select(System).where(own, System.slug == slug)) if slug else None
        found = found or session.scalar(sa.select(System).where(own, System.name_key == name_key(name)))
        if found is not None:
            return found
        settings = {"kind": kind} if listed is None else {"kind": kind, **listed.settings}
        made = create_system(session, self._actor(session), team, NewSystem(name, **settings), slug)
        self.report.made.append(f"the system {made.name} of {team.name}")
        return made

    def _plan(
        self, session: Session, run: PlannedRun, teams: dict[str, Team], systems: dict[tuple[int, str], System]
    ) -> None:
        """Finds or makes the run's team and system."""
        try:
            if run.entry.file not in self._tree.files:
                raise BadInput(f"{self._tree.name} has no file {shown(run.entry.file)}")
            if not run.entry.team:
                raise BadInput("no team is named: add team = …")
            entry = self._manifest.team(run.entry.team)
            if entry.name not in teams:
                teams[entry.name] = self._team(session, entry)
            team, key = teams[entry.name], name_key(run.system)
            if (team.id, key) not in systems:
                kind = SystemKind(run.entry.kind or SystemKind.AUTOMATIC)
                systems[team.id, key] = self._system(session, team, entry, run.system, kind)
            self._systems[run.number] = systems[team.id, key].id
            self.runs.append(run)
        except BadInput as error:
            self.refuse(run, error)

    def _make_evaluation(self, entry: EvaluationEntry) -> None:
        """With its queries and judgments, whose files are read before the transaction begins."""
        revisions = [(one, *self._read_judgments(one)) for one in entry.judgments]
        rows = self._read_queries(entry, [judged for _, judged, _, _ in revisions])
        listed = self._tree.file(entry.document_list) if entry.document_list else None
        documents = None if listed is None else document_list(listed, name=entry.document_list)
        with self._database.write() as session:
            actor, campaign = self._actor(session), self._campaign(session)
            evaluation = session.scalar(
                sa.select(Evaluation).where(Evaluation.campaign_id == campaign.id, Evaluation.slug == entry.slug)
            )
            if evaluation is None:
                settings = {name: value for name, value in entry.settings.items() if name != "official_source"}
                evaluation = create_evaluation(
                    session, actor, campaign, entry.slug, entry.title, entry.period, **settings
                )
                self.report.made.append(f"the evaluation {evaluation.title}")
            else:
                require_organiser(actor, campaign.id)
                self.report.there.append(f"the evaluation {evaluation.title}")
            self._evaluations[entry.slug] = evaluation.id
            bring_form_in(
                session,
                actor,
                evaluation,
                fields=entry.fields,
                agreements=entry.agreements,
                rules=entry.rules,
                documents=documents,
            )
            self._add_queries(session, actor, evaluation, entry, rows)
            for one, judged, known, subtopics in revisions:
                self._add_judgments(session, actor, evaluation, one, judged, known, subtopics)
            source = entry.settings.get("official_source")
            if source is not None and source != evaluation.official_source:
                make_official(session, actor, evaluation, source)

    def _read_judgments(self, entry: JudgmentsEntry) -> tuple[Judgments, Judgments | None, SubtopicJudgments | None]:
        def read(path: str, reader: Callable[..., T]) -> T | None:
            return reader(self._tree.file(path), name=path, limits=self._limits) if path else None

        judged = read_judgments(self._tree.file(entry.file), name=entry.file, limits=self._limits)
        return judged, read(entry.known, read_judgments), read(entry.subtopics, read_subtopic_judgments)

    def _read_queries(self, entry: EvaluationEntry, judged: list[Judgments]) -> tuple[QueryRow, ...]:
        """Those of the file, or of the list, or those that are judged, as numbers where all ids are some."""
        if entry.queries:
            return read_queries(self._tree.file(entry.queries), name=entry.queries, limits=self._limits)
        ids = list(dict.fromkeys(entry.query_ids or (query for one in judged for query in one.queries)))
        if not entry.query_ids and all(one.isascii() and one.isdigit() for one in ids):
            ids.sort(key=int)
        return tuple(QueryRow(one, "", ()) for one in ids)

    def _add_queries(
        self, session: Session, actor: Actor, evaluation: Evaluation, entry: EvaluationEntry, rows: tuple[QueryRow, ...]
    ) -> None:
        own = sa.select(Query).where(Query.evaluation_id == evaluation.id)
        there = {query.external_id: query for query in session.scalars(own)}
        new = [row for row in rows if row.id not in there]
        if new:
            import_queries(session, actor, evaluation, new)
            there = {query.external_id: query for query in session.scalars(own)}
            self.report.made.append(f"{counted(len(new), 'query', 'queries')} of {evaluation.title}")
        hidden = [one for one in entry.hidden if one not in there or there[one].split is not Split.HIDDEN]
        if hidden:
            set_split(session, actor, evaluation, hidden, Split.HIDDEN)
        for one, because in entry.excluded.items():
            if one not in there or there[one].excluded_at is None:
                exclude_queries(session, actor, evaluation, [one], because)

    def _add_judgments(
        self,
        session: Session,
        actor: Actor,
        evaluation: Evaluation,
        entry: JudgmentsEntry,
        judged: Judgments,
        known: Judgments | None,
        subtopics: SubtopicJudgments | None,
    ) -> None:
        source = entry.source or evaluation.official_source
        there = session.scalar(
            sa.select(JudgmentRevision.number).where(
                JudgmentRevision.evaluation_id == evaluation.id,
                JudgmentRevision.source == source,
                JudgmentRevision.sha256 == revision_sha256(judged, known, subtopics),
            )
        )
        if there is not None:
            return
        try:
            made = import_judgments(session, actor, evaluation, judged, entry.note, known, subtopics, source)
        except FileRejected as error:
            raise FileRejected(error.problems, error.count, entry.file) from None
        self.report.made.append(f"{counted(made.judgments, 'judgment')} of {evaluation.title}, revision {made.number}")

    def _count_what_is_there(self) -> None:
        with self._database.read() as session:
            own = Submission.evaluation_id.in_(self._evaluations.values())
            columns = Submission.id, Submission.evaluation_id, Submission.system_id, Submission.sha256
            for number, evaluation, system, sha256 in session.execute(
                sa.select(*columns).where(own).order_by(Submission.id.desc())
            ):
                self._there.setdefault((evaluation, system, sha256), []).append(number)
                self._begun.add((evaluation, system))
            self._unfinished = set(
                session.scalars(
                    sa.select(Scoring.submission_id).join(Submission).where(own, Scoring.state.in_(UNFINISHED))
                )
            )


def path_name(run: PlannedRun) -> str:
    """What the run's file is called, from now on."""
    return PurePosixPath(run.entry.file).name
