"""Brings a manifest's campaign in through the services. What is there already is left, so it may be called again.

Campaign and evaluations are one transaction (`making`), which a single problem undoes; then each run is one of its own,
with its team and system where they are missing: wherever it is killed, the next call goes on from there, nothing is
there twice, and no team or system is there without a run.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor
from leaderboard.db import Database
from leaderboard.errors import BadInput, FileRejected, InvalidFields, LeaderboardError, NotAllowed, TooLarge
from leaderboard.formats import Limits
from leaderboard.models import Evaluation, Scoring, Submission, System, Team
from leaderboard.numbers import counted
from leaderboard.rules.states import UNFINISHED
from leaderboard.services.imports import correct_dates, corrected_dates, import_run
from leaderboard.store import Received, RunStore
from leaderboard.transfer.differing import note_runs
from leaderboard.transfer.evaluations import EvaluationFacts
from leaderboard.transfer.hashes import hash_of, require_hashes
from leaderboard.transfer.making import Making
from leaderboard.transfer.manifest import Manifest
from leaderboard.transfer.parties import Parties
from leaderboard.transfer.planning import PlannedRun, planned_runs
from leaderboard.transfer.run_files import require_run
from leaderboard.transfer.stood import Stood
from leaderboard.transfer.telling import TELLABLE, Telling
from leaderboard.transfer.tree import Tree
from leaderboard.transfer.unsaid import note_dates

__all__ = ["Import", "Refusal", "Report"]


@dataclass(frozen=True, slots=True)
class Refusal:
    """What was not brought in, or rejected when it was read, and why: a line for each problem."""

    file: str
    why: tuple[str, ...]


@dataclass(slots=True)
class Report:
    """What an import did.

    made, there  in words; a team or a system is made by its first run
    already      runs that are there; of a preview those that an import would leave
    corrected    those of them that were given the dates of the manifest
    other_dates  those of them that were brought in too, and have other dates here than in the manifest
    notes        what holds because the manifest says nothing of it, and what of it is left out or stays as it is here
    effects      what happens to boards that are here already, such as runs that are scored again, in sentences
    refused      what came out other than the manifest says
    rejected     files of runs that were rejected, as the manifest says they were where they come from
    unmatched    files of the tree that nothing in the manifest names
    """

    made: list[str] = field(default_factory=list)
    there: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    effects: list[str] = field(default_factory=list)
    imported: int = 0
    already: int = 0
    corrected: int = 0
    other_dates: int = 0
    refused: list[Refusal] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    unmatched: list[str] = field(default_factory=list)


class Import:
    """One import: `prepare` first, then `receive` and `enter` for each of its `runs`.

    report   what it did so far
    title, facts  of the campaign and its evaluations, by slug, as they are or would be
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
        most_runs: int | None = None,
        *,
        correct_dates: bool = False,
    ) -> None:
        """actor: gives who imports, with their present rights, in a session. limits: of queries and judgments.

        correct_dates  runs that an earlier import brought in get the dates of the manifest
        """
        self._correct_dates = correct_dates
        self._most_runs = most_runs
        self.report = Report()
        self.runs: list[PlannedRun] = []
        self._database = database
        self._store = store
        self._actor = actor
        self._manifest = manifest
        self._tree = tree
        self._limits = limits or Limits()
        self.title = ""
        self.facts: Mapping[str, EvaluationFacts] = {}
        self._evaluations: dict[str, int] = {}  # by slug
        self._systems: dict[int, int | None] = {}  # by the number of the run; None: not here when it began
        self._stood: Stood = {}
        self.waiting: list[tuple[PlannedRun, int]] = []
        self._there: dict[int, int] = {}  # submissions that are there already, by the number of the run
        self._unfinished: set[int] = set()  # those that are not scored yet

    def look(self, problems: list[str]) -> Report:
        """What an import would make, keeping nothing. problems: those that reading the manifest gave.

        Raises FileRejected with every problem, runs' too, and NotAllowed.
        """
        self._prepare(problems, whole=True, keep=False)
        self.report.already = len(self._there)
        return self.report

    def prepare(self, *, whole: bool = False) -> None:
        """Makes the campaign and evaluations, with queries and judgments, as far as they are missing.

        whole  a run that can't be brought in is a problem too; else it is in the report, and not among `runs`

        Raises FileRejected with every problem, and NotAllowed; nothing was made then.
        """
        self._prepare([], whole=whole, keep=True)

    def _prepare(self, problems: list[str], *, whole: bool, keep: bool) -> None:
        runs = self._planned(problems)
        if whole:
            self._look_at_files(runs, problems)
        with self._database.write() as session:
            making = Making(session, self._actor, self._manifest, self._tree, self._limits, problems)
            making.everything(runs, whole=whole, keep=keep)
            if not keep:
                session.rollback()
        told = making.told
        self.report.made, self.report.there, self.report.notes = told.made, told.there, told.notes
        self.report.effects = told.effects
        self.title, self.facts = making.title, making.facts
        self._evaluations, self._systems, self._stood = making.evaluations, making.systems, making.stood
        self.runs = [run for run in runs if run.number in making.systems]
        for run, error in making.refused:
            self.refuse(run, error)
        self._find_what_is_there()
        if keep and self._correct_dates:
            self._take_dates()
        self._note_runs(told)

    def _take_dates(self) -> None:
        """Gives runs that are here and were brought in the dates of the manifest, all of them in one transaction."""
        corrected: dict[str, int] = {}
        with self._database.write() as session:
            for run, here in self._here(session):
                if here.imported_at is None:
                    continue
                try:
                    changed = correct_dates(session, self._actor(session), here, run.entry.settings)
                except (NotAllowed, *TELLABLE) as error:
                    self.refuse(run, error)
                else:
                    corrected[run.evaluation] = corrected.get(run.evaluation, 0) + changed
        self.report.corrected = sum(corrected.values())
        for slug, number in corrected.items():
            if number:
                of_runs = f"{counted(number, 'run')} of {self.facts[slug].title}"
                self.report.made.append(f"the dates of {of_runs} as the manifest has them")

    def _here(self, session: Session) -> list[tuple[PlannedRun, Submission]]:
        """The runs that are here, with those that they are."""
        own = Submission.evaluation_id.in_(self._evaluations.values())
        here = {one.id: one for one in session.scalars(sa.select(Submission).where(own))}
        return [(run, here[self._there[run.number]]) for run in self.runs if run.number in self._there]

    def _note_runs(self, told: Telling) -> None:
        """What is to be said of runs of evaluations that were here already, and of those that are here themselves."""
        with self._database.read() as session:
            there = self._here(session)
            self.report.other_dates = sum(_has_other_dates(run, here) for run, here in there)
            for slug, facts in self.facts.items():
                if facts.is_new:
                    continue
                runs = [run for run in self.runs if run.evaluation == slug]
                evaluation = session.get_one(Evaluation, self._evaluations[slug])
                note_dates(evaluation, [run for run in runs if run.number not in self._there], told)
                note_runs(facts.title, [(run, here) for run, here in there if run.evaluation == slug], told)

    def _planned(self, problems: list[str]) -> list[PlannedRun]:
        for path in self._manifest.archives:
            try:
                self._tree.unpack(path)
            except BadInput as error:
                problems.append(f"archives: {error.message}")
        runs, self.report.unmatched = planned_runs(self._manifest, self._tree)
        if self._most_runs is not None and len(runs) > self._most_runs:
            raise BadInput(f"{self._tree.name} has more than {self._most_runs:,} runs; use leaderboard import-campaign")
        return runs

    def _look_at_files(self, runs: list[PlannedRun], problems: list[str]) -> None:
        for run in runs:
            path = self._tree.files.get(run.entry.file)
            if path is None:
                continue
            try:
                require_hashes(run.entry, path)
                if not run.entry.rejected:
                    require_run(path, run.entry.file)
            except FileRejected as error:
                problems.append(f"{run.entry.file}: {error.problems[0]}")
            except BadInput as error:
                problems.append(f"{run.entry.file}: {error.message}")

    def receive(self, run: PlannedRun) -> Received | None:
        """Takes a run's file into the store; None for one that is there already, and for one that is refused."""
        submission = self._there.get(run.number)
        if submission is not None:
            if submission in self._unfinished:
                self.waiting.append((run, submission))
            self.report.already += 1
            return None
        try:
            path = self._tree.file(run.entry.file)
            if not run.entry.rejected:
                require_run(path, run.entry.file)
            with path.open("rb", buffering=0) as stream, self._store.receiving(stream, path_name(run)) as (received, _):
                require_hashes(run.entry, path, received)
            return received
        except (BadInput, TooLarge, OSError) as error:
            self.refuse(run, error)
            return None

    def enter(self, session: Session, run: PlannedRun, upload: Received) -> Submission | None:
        """Submits a run whose file was received; None when it is refused. The caller owns the transaction."""
        evaluation = session.get_one(Evaluation, self._evaluations[run.evaluation])
        settings = {**run.entry.settings, "label": run.label}
        told = Telling(session, self._manifest.name, [])
        try:
            with session.begin_nested():
                system = self._system(session, evaluation, run, told)
                stood = self._stood.get(run.number, {})
                submission = import_run(
                    session, self._actor(session), evaluation, system, upload, stood=stood, **settings
                )
        except TELLABLE as error:
            self.refuse(run, error)
            return None
        self.report.made += told.made
        self.report.imported += 1
        return submission

    def _system(self, session: Session, evaluation: Evaluation, run: PlannedRun, told: Telling) -> System:
        known = self._systems[run.number]
        if known is not None:
            return session.get_one(System, known)
        parties = Parties(session, self._actor, self._manifest, told)
        return parties.of_run(evaluation.campaign, run)

    def scored(self, run: PlannedRun) -> None:
        """Notes that a run was scored, which is not what the manifest says of one that was rejected."""
        if run.entry.rejected:
            self.refuse(run, BadInput("was rejected where it comes from, and is scored here"))

    def rejected(self, run: PlannedRun, error: FileRejected) -> None:
        """Notes that a run's file has problems."""
        if not run.entry.rejected:
            self.refuse(run, error)
        elif run.entry.file not in self.report.rejected:
            self.report.rejected.append(run.entry.file)

    def refuse(self, run: PlannedRun, error: LeaderboardError | OSError) -> None:
        """Adds to the report that a run was refused or rejected, and why; once, however many sets it is scored in."""
        if any(one.file == run.entry.file for one in self.report.refused):
            return
        match error:
            case FileRejected(lines=lines):
                self.report.refused.append(Refusal(run.entry.file, tuple(lines)))
            case InvalidFields(fields=fields):
                why = tuple(f"{name}: {message}" for name, messages in fields.items() for message in messages)
                self.report.refused.append(Refusal(run.entry.file, why))
            case OSError(strerror=reason):
                self.report.refused.append(Refusal(run.entry.file, (f"can't be read: {reason}",)))
            case LeaderboardError(message=message):
                self.report.refused.append(Refusal(run.entry.file, (message,)))

    def _find_what_is_there(self) -> None:
        """A run is there when its evaluation has the same bytes by the same system, as often as the manifest has them.

        Bytes that are there and that no run of the manifest has by their own system are those of a run whose system is
        called otherwise now: it is there, too, and the report says under whose name.
        """
        by_system: dict[tuple[int, str, int], list[int]] = {}  # the first one last
        whose: dict[int, str] = {}
        with self._database.read() as session:
            own = Submission.evaluation_id.in_(self._evaluations.values())
            columns = Submission.id, Submission.evaluation_id, Submission.sha256, Submission.system_id
            found = sa.select(*columns, System.name, Team.name).join(Submission.system).join(Submission.team)
            for number, evaluation, sha256, system, name, team in session.execute(
                found.where(own).order_by(Submission.id.desc())
            ):
                by_system.setdefault((evaluation, sha256, system), []).append(number)
                whose[number] = f"{name} of {team}"
            self._unfinished = set(
                session.scalars(
                    sa.select(Scoring.submission_id).join(Submission).where(own, Scoring.state.in_(UNFINISHED))
                )
            )
        begun = {evaluation for evaluation, _, _ in by_system}
        missing: list[tuple[PlannedRun, tuple[int, str]]] = []
        for run in self.runs:
            evaluation = self._evaluations[run.evaluation]
            sha256 = self._sha256(run) if evaluation in begun else ""
            if left := by_system.get((evaluation, sha256, self._systems[run.number] or 0)):
                self._there[run.number] = left.pop()
            elif sha256:
                missing.append((run, (evaluation, sha256)))
        others: dict[tuple[int, str], list[int]] = {}
        for (evaluation, sha256, _), left in by_system.items():
            others.setdefault((evaluation, sha256), []).extend(left)
        for run, key in missing:
            if left := others.get(key):
                self._there[run.number] = left.pop()
                said = f"{run.entry.file}: is there already as a run by {whose[self._there[run.number]]}"
                self.report.notes.append(said)

    def _sha256(self, run: PlannedRun) -> str:
        """Of its file; "" where that can't be read, which is told when it is received."""
        try:
            return hash_of(self._tree.file(run.entry.file), "sha256")
        except (BadInput, OSError):
            return ""


def _has_other_dates(run: PlannedRun, here: Submission) -> bool:
    if here.imported_at is None:
        return False
    return any(getattr(here, name) != date for name, date in corrected_dates(here, run.entry.settings).items())


def path_name(run: PlannedRun) -> str:
    """What the run's file is called, from now on."""
    return PurePosixPath(run.entry.file).name
