"""Brings a manifest's campaign in: revisions of judgments and runs are replayed in the order of their dates.

All of it is one transaction, through the ordinary writes, so that old boards come about by themselves; a single problem
undoes it, and a preview is the same without the keeping. Files of runs are in the store before: one that no run names
is swept a day later. Workers score what comes in, old boards last.
"""

import io
import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import db, formats, numbers
from leaderboard.access import Actor, knows_campaign, may_bring_in, require_organiser
from leaderboard.audit.writes import present, replaying
from leaderboard.campaigns import writes as campaigns
from leaderboard.campaigns.models import Campaign
from leaderboard.errors import BadInput, Conflict, FileRejected, InvalidFields, NotFound, Problem
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import Split
from leaderboard.formats.archives import ARCHIVE_START, is_archive
from leaderboard.formats.plain_text import beginning, shown
from leaderboard.frozen import frozen
from leaderboard.judgments import writes as judgments
from leaderboard.judgments.rules import READERS, JudgmentFiles
from leaderboard.names import name_key, slug_of
from leaderboard.store import Received, RunStore
from leaderboard.submissions.inputs import PastRun
from leaderboard.submissions.models import Submission
from leaderboard.submissions.writes.submissions import go_by_source, import_run
from leaderboard.teams.inputs import SystemSettings
from leaderboard.teams.models import Membership, System, Team
from leaderboard.teams.reads import known_system, merged, team_called, teams_with_runs
from leaderboard.teams.writes import NewSystem, create_system, create_team
from leaderboard.transfer import manifest as entries

TELLABLE = (BadInput, Conflict, NotFound)  # what is wrong with a manifest; anything else is not its fault
LOOKED_AT = 1 << 16  # bytes of a run's text
Made = TypeVar("Made", Campaign, Team, System)


@frozen
class EvaluationPlan:
    """An evaluation as it is, or would be. queries: its file of them, "" without one; runs: those of the manifest."""

    title: str
    period: str
    closes_at: datetime | None
    queries: str
    query_ids: int
    revisions: int
    runs: int


@dataclass(slots=True)
class Report:
    """What an import did, or would do.

    made, there  in words
    already      runs that are here
    unmatched    files of the tree that nothing in the manifest names
    """

    made: list[str] = field(default_factory=list)
    there: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    imported: int = 0
    already: int = 0
    unmatched: list[str] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Imported:
    """A campaign that was brought in, or would be. teams: those of its runs."""

    campaign: str
    title: str = ""
    evaluations: list[EvaluationPlan] = field(default_factory=list)
    teams: list[str] = field(default_factory=list)
    report: Report = field(default_factory=Report)


@dataclass
class _Problems:
    """Everything that is wrong with what a manifest means, each with its place."""

    name: str
    messages: list[str] = field(default_factory=list)

    @contextmanager
    def at(self, where: str, session: Session | None = None) -> Iterator[None]:
        """Notes what is wrong in this block, and undoes it."""
        try:
            with session.begin_nested() if session is not None else nullcontext():
                yield
        except InvalidFields as error:
            self.messages += [f"{where}: {name}: {words}" for name, said in error.fields.items() for words in said]
        except FileRejected as error:
            self.messages += [f"{where}: {error.name}: {line}" for line in error.lines]
        except TELLABLE as error:
            self.messages.append(f"{where}: {error.message}")
        except OSError as error:
            self.messages.append(f"{where}: can't be read: {error.strerror}")

    def raise_any(self) -> None:
        if self.messages:
            problems = [Problem(None, problem) for problem in self.messages]
            raise FileRejected(problems[: entries.MOST_PROBLEMS], len(problems), self.name)


def unpack(manifest: entries.Manifest, tree: entries.Tree, name: str) -> None:
    """Adds to the tree what the manifest's archives hold, unless it is there. Raises FileRejected with every problem.

    name  what messages call the manifest
    """
    problems = _Problems(name)
    for path in manifest.archives:
        with problems.at("archives"):
            tree.unpack(path)
    problems.raise_any()


def bring_in(
    database: db.Database,
    store: RunStore,
    actor: Callable[[Session], Actor],
    manifest: entries.Manifest,
    tree: entries.Tree,
    name: str,
    *,
    keep: bool = True,
    done: Callable[[int], None] = lambda _: None,
) -> Imported:
    """Brings in what is missing; with `keep` False only says what that is. What is here already is left as it is.

    actor  gives who imports, with their present rights, in a session
    name   what messages call the manifest
    done   is told after each run's file

    Raises FileRejected with every problem, and NotAllowed.
    """
    unpack(manifest, tree, name)
    problems, imported = _Problems(name), Imported(campaign=manifest.campaign.slug)
    runs, imported.report.unmatched = manifest.runs(tree)
    uploads: dict[str, Received] = {}
    for _, run in runs:
        with problems.at(shown(run.file)):
            uploads[run.file] = _received(store, tree, run)
        done(1)
    with database.write() as session:
        _Replay(session, actor, manifest, tree, problems, imported).everything(runs, uploads)
        problems.raise_any()
        if not keep:
            session.rollback()
    return imported


def _received(store: RunStore, tree: entries.Tree, run: entries.RunEntry) -> Received:
    """Takes a run's file into the store. Raises BadInput for one that is no run, or not the one that is meant."""
    path = tree.file(run.file)
    if not run.team:
        raise BadInput("no team is named: add team = …")
    if not run.rejected:
        _require_run(path, run.file)
    with path.open("rb", buffering=0) as stream, store.receiving(stream, PurePosixPath(run.file).name) as (upload, _):
        for kind, meant in (("sha256", run.sha256), ("md5", run.md5)):
            own = getattr(upload, kind)
            if meant and meant != own and meant != entries.hash_of_text(path, kind):
                raise BadInput(f"is not the file that the manifest means: its {kind} is {own}, not {meant}")
    return upload


def _require_run(path: Path, name: str) -> None:
    """Raises BadInput for a file in whose beginning no line is one of a run: a document, judgments, a page.

    An archive of lists says nothing by its beginning. A run with mistakes is one all the same: it is rejected when a
    worker reads it, and is on record with its problems.
    """
    text, _ = beginning(path, LOOKED_AT, name)
    if is_archive(text[:ARCHIVE_START]) or (len(text) == LOOKED_AT and not text.endswith(b"\n")):
        return
    try:
        formats.read_run(io.BytesIO(text), name=name)
    except FileRejected as error:
        if error.count >= sum(line.strip() != b"" and not line.startswith(b"#") for line in text.splitlines()):
            raise BadInput(f"no line of its beginning is one of a run; {error.problems[0]}") from None


Step = tuple[datetime, int, str, Callable[..., object]]
EXCLUDING, JUDGING, RUNNING, SETTING_ASIDE = range(4)  # what goes first of what has one date


@dataclass
class _Replay:
    """One import, in a session.

    rights  gives who imports, with their present rights
    known   teams and systems of the manifest, None for one that can't be used
    """

    session: Session
    rights: Callable[[Session], Actor]
    manifest: entries.Manifest
    tree: entries.Tree
    problems: _Problems
    imported: Imported
    actor: Actor = field(init=False)
    now: datetime = field(default_factory=present)
    known: dict[Hashable, Any] = field(default_factory=dict)

    @property
    def report(self) -> Report:
        return self.imported.report

    def everything(
        self, runs: Sequence[tuple[entries.EvaluationEntry, entries.RunEntry]], uploads: Mapping[str, Received]
    ) -> None:
        """The campaign, and its evaluations in the order of the manifest."""
        self.actor = self.rights(self.session)
        campaign = self._once((), "campaign", self._campaign)
        if campaign is None:
            return
        self.actor = self.rights(self.session)  # who made the campaign organises it
        require_organiser(self.actor, campaign.id)
        self.imported.title = campaign.title
        for number, entry in enumerate(self.manifest.evaluation, 1):
            heading = f"evaluation {number} ({shown(entry.address)})"
            own = [(run, uploads[run.file]) for evaluation, run in runs if evaluation is entry and run.file in uploads]
            with self.problems.at(heading, self.session):
                self._evaluation(campaign, entry, heading, own)
        self.imported.teams = sorted({team.name for team in self.known.values() if isinstance(team, Team)})

    def _campaign(self) -> Campaign:
        entry = self.manifest.campaign
        campaign = self.session.scalar(sa.select(Campaign).where(Campaign.slug == entry.slug))
        if campaign is not None and knows_campaign(self.actor, campaign):
            self.report.there.append(f"the campaign {campaign.title}")
            return campaign
        settings = entry.settings(campaigns.DEFAULTS) | {"measures": entry.measures, "visibility": entry.visibility}
        campaign = campaigns.create_campaign(self.session, self.actor, entry.slug, entry.title, **settings)
        self.report.made.append(f"the campaign {campaign.title}")
        if "visibility" not in entry.model_fields_set:
            self.report.notes.append(f"{campaign.title}: nothing says who sees it (visibility), so it is a draft")
        return campaign

    def _evaluation(
        self,
        campaign: Campaign,
        entry: entries.EvaluationEntry,
        heading: str,
        runs: Sequence[tuple[entries.RunEntry, Received]],
    ) -> None:
        """One that is here already keeps its settings, queries and judgments, and gets the runs that it lacks."""
        own = Evaluation.campaign_id == campaign.id, Evaluation.slug == entry.address
        evaluation = self.session.scalar(sa.select(Evaluation).where(*own))
        steps: list[Step] = []
        there: Counter[tuple[str, int]] = Counter()
        if evaluation is None:
            evaluation = self._new_evaluation(campaign, entry)
            steps = self._judging(evaluation, entry, heading)
        else:
            self.report.there.append(f"the evaluation {evaluation.title}")
            of_runs = sa.select(Submission.sha256, Submission.system_id)
            there.update(self.session.execute(of_runs.where(Submission.evaluation_id == evaluation.id)))
        for run, upload in runs:
            where = shown(run.file)
            # When it came onto boards, as far as anything says it.
            moment = run.scored_at or run.received_at or run.run_at or evaluation.closes_at or self.now
            steps.append((moment, RUNNING, where, partial(self._run, where, evaluation, run, upload, there)))
        for moment, kind, where, step in sorted(steps, key=itemgetter(0, 1)):
            if kind == RUNNING:  # which has its dates itself
                step()
                continue
            with replaying(moment), self.problems.at(where, self.session):
                step()
        named = evaluation.title, evaluation.period, evaluation.closes_at, entry.queries
        self.imported.evaluations.append(EvaluationPlan(*named, len(entry.query_ids), len(entry.judgments), len(runs)))

    def _new_evaluation(self, campaign: Campaign, entry: entries.EvaluationEntry) -> Evaluation:
        """With its form. Without a word on its closing it is a draft: published, it would take runs for good."""
        settings = entry.settings(evaluations.DEFAULTS)
        named = entry.address, entry.title or entry.period, entry.period
        if "closes_at" not in settings:
            settings["draft"] = True
            self.report.notes.append(f"{named[1]}: nothing says when it closed (closes_at), so it is a draft")
        evaluation = evaluations.create_evaluation(self.session, self.actor, campaign, *named, **settings)
        self.report.made.append(f"the evaluation {evaluation.title}")
        here = self.session, self.actor, evaluation
        if entry.official_source != evaluation.official_source:
            go_by_source(*here, entry.official_source)
        for form_field in entry.field:
            evaluations.set_field(*here, dict(form_field))
        for agreement in entry.agreement:
            evaluations.state_agreement(*here, agreement.key, agreement.title, agreement.text)
            if agreement.ended:
                evaluations.end_agreement(*here, agreement.key)
        if rules := entry.file_rules.settings(entry.file_rules.model_fields_set):
            evaluations.set_rules(*here, **rules)
        if entry.document_list:
            evaluations.set_documents(*here, self._read(entry.document_list, formats.document_list))
        return evaluation

    def _judging(self, evaluation: Evaluation, entry: entries.EvaluationEntry, heading: str) -> list[Step]:
        """Adds the queries; gives the steps that exclude some, judge them and set sources aside, with their dates."""
        here, steps = (self.session, self.actor, evaluation), list[Step]()
        paths = ({"judgments": each.file, "known": each.known, "subtopics": each.subtopics} for each in entry.judgments)
        judged = [
            JudgmentFiles.of({kind: self._read(path, READERS[kind]) for kind, path in own.items() if path}, "judgments")
            for own in paths
        ]
        ids = list(dict.fromkeys(query for files in judged for query in files.judgments.queries))
        judgments.import_queries(*here, self._queries(entry, ids))
        if entry.hidden:
            judgments.set_split(*here, entry.hidden, Split.HIDDEN)
        for excluded in entry.excluded:
            exclude = partial(judgments.exclude_queries, *here, [excluded.query], excluded.because)
            if excluded.date is None:
                exclude()
            else:
                steps.append((excluded.date, EXCLUDING, f"{heading}: excluded", exclude))
        moment = self.now
        last = {revision.source: revision for revision in entry.judgments}
        # In the manifest's order where dates are the same. One without a date was replaced when the next one came.
        for revision, files in reversed(list(zip(entry.judgments, judged, strict=True))):
            moment = min(revision.since or revision.released or moment, moment)
            judge = partial(self._judge, evaluation, revision, files, last[revision.source] is revision)
            steps.insert(0, (moment, JUDGING, f"{heading}: {shown(revision.file)}", judge))
        if entry.set_aside:
            set_aside = partial(judgments.set_aside_sources, *here, entry.set_aside, evaluation.official_source)
            steps.append((self.now, SETTING_ASIDE, f"{heading}: set_aside", set_aside))
        return steps

    def _read(self, path: str, reader: Callable[..., Any]) -> Any:
        return reader(self.tree.file(path), name=path, limits=self.tree.limits)

    def _queries(self, entry: entries.EvaluationEntry, judged: list[str]) -> Sequence[formats.QueryRow]:
        """Those of the file, or of the list, or those that are judged, as numbers where all ids are some."""
        if entry.queries:
            rows: Sequence[formats.QueryRow] = self._read(entry.queries, formats.read_queries)
            return rows
        if all(query.isascii() and query.isdigit() for query in judged):
            judged.sort(key=int)
        lines = "".join(json.dumps({"id": query}) + "\n" for query in entry.query_ids or judged)
        source = io.BytesIO(lines.encode())
        return formats.read_queries(source, name="query_ids", limits=self.tree.limits) if lines else ()

    def _judge(
        self, evaluation: Evaluation, entry: entries.JudgmentsEntry, files: JudgmentFiles, is_last: bool
    ) -> None:
        """A revision that lacks what a measure of today needs had a board without it: that does not come back."""
        given = entry.note, entry.source or None, entry.released
        import_them = partial(judgments.import_judgments, self.session, self.actor, evaluation, files, *given)
        try:
            with self.session.begin_nested():
                revision = import_them()
        except InvalidFields:
            if is_last:
                raise
            revision = import_them(with_set=False)
        words = f"{numbers.counted(revision.judgments, 'judgment')} of {evaluation.title}, revision {revision.number}"
        self.report.made.append(words)

    def _run(
        self,
        where: str,
        evaluation: Evaluation,
        run: entries.RunEntry,
        upload: Received,
        there: Counter[tuple[str, int]],
    ) -> None:
        """Team, system and run in a savepoint each: what one has made stays for the runs after it."""
        entry = self.manifest.team_called(run.team)
        team = self._once(entry.name, f"{where}: team {shown(entry.name)}", partial(self._team, evaluation, entry))
        if team is None:
            return
        own = entries.SystemEntry(name=run.system or run.name)
        listed = next((system for system in entry.system if name_key(own.name) in system.keys), own)
        key = team.id, name_key(listed.name)
        system = self._once(key, where, partial(self._system, team, entry, listed, run))
        if system is None:
            return
        if there[upload.sha256, system.id]:
            there[upload.sha256, system.id] -= 1
            self.report.already += 1
            return
        with self.problems.at(where, self.session):
            settings = {**run.settings(PastRun.model_fields), "label": run.name}
            import_run(self.session, self.actor, evaluation, system, upload, **settings)
            self.report.imported += 1

    def _once(self, key: Hashable, where: str, make: Callable[[], Made]) -> Made | None:
        """What is known by this key, or is made at its first use; None where it can't be."""
        if key not in self.known:
            self.known[key] = None
            with self.problems.at(where, self.session):
                self.known[key] = make()
        made: Made | None = self.known[key]
        return made

    def _team(self, evaluation: Evaluation, entry: entries.TeamEntry) -> Team:
        """The team that is, or was, called so, or was merged into another; else a new one. A name is free for anybody
        to take: who took it would have the team's runs, and could withdraw them.
        """
        session = self.session
        called = team_called(session, name_key(entry.name))
        if called is None:
            made = create_team(session, self.actor, entry.name, entry.slug or None, entry.description, own=False)
            self.report.made.append(f"the team {made.name}")
            return made
        team = merged(session, called)
        if not may_bring_in(session, self.actor, team.id):
            raise BadInput(
                "is here already, and is neither yours nor was ever part of a campaign that you organise: ask an "
                "operator of this site to import the archive (leaderboard import-campaign), or give the team another "
                "name in the manifest"
            )
        known = entry.known or self.actor.is_in(team.id) or team in teams_with_runs(session, evaluation.campaign_id)
        if not known and db.exists(session, Membership.team_id == team.id):
            raise BadInput(
                f"a team of this name ({team.slug}) is here already and has no run in this campaign: its members would "
                "have these runs, and could withdraw them. If it is this team, write known = true in its [[team]]; "
                "else give it another name"
            )
        return team

    def _system(
        self, team: Team, of_team: entries.TeamEntry, entry: entries.SystemEntry, run: entries.RunEntry
    ) -> System:
        """The team's system that is, or was, called so; else a new one."""
        session, called = self.session, team_called(self.session, name_key(of_team.name))
        former = known_system(session, (called or team).slug, entry.slug or slug_of(entry.name))
        if former is not None and former.team_id == team.id:
            return former
        own = System.team_id == team.id, System.name_key == name_key(entry.name)
        if (system := session.scalar(sa.select(System).where(*own))) is not None:
            return merged(session, system)
        settings = ({"kind": run.kind} if run.kind else {}) | entry.settings(SystemSettings.model_fields)
        made = create_system(session, self.actor, team, NewSystem(entry.name, **settings), entry.slug)
        self.report.made.append(f"the system {made.name} of {team.name}")
        return made
