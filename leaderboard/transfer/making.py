"""Makes all of a manifest but its runs, as far as it is missing, and finds every problem on the way.

All of it is one transaction of the caller's, which it keeps where there was no problem: so what is refused leaves
nothing, and a preview is the same without the keeping. What a problem is in the way of is made with a stand-in, so that
what comes after it is looked at too.
"""

import io
import json
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, may_bring_in, require_organiser
from leaderboard.db import Base
from leaderboard.errors import BadInput, Conflict, FileRejected, InvalidFields, LeaderboardError, NotFound, Problem
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
from leaderboard.lookup import known_system, known_team, merged_system, merged_team
from leaderboard.models import Campaign, Evaluation, Event, JudgmentRevision, Query, Submission, System, Team
from leaderboard.numbers import counted
from leaderboard.rules.phases import is_closed
from leaderboard.rules.settings import Split
from leaderboard.rules.standings import SystemKind
from leaderboard.rules.visibility import Visibility
from leaderboard.services.campaigns import create_campaign
from leaderboard.services.evaluations import create_evaluation
from leaderboard.services.imports import checked_settings
from leaderboard.services.judgments import import_judgments, revision_sha256
from leaderboard.services.names import name_key, slug_of
from leaderboard.services.queries import exclude_queries, import_queries, set_split
from leaderboard.services.scoring_sets import make_official
from leaderboard.services.systems import NewSystem, create_system
from leaderboard.services.teams import create_team
from leaderboard.transfer.forms import bring_form_in
from leaderboard.transfer.manifest import WORDS, EvaluationEntry, JudgmentsEntry, Manifest, SystemEntry, TeamEntry
from leaderboard.transfer.planning import PlannedRun
from leaderboard.transfer.tree import Tree

__all__ = ["Made", "Making"]

MOST_PROBLEMS = 100
SEEN_BY = {
    Visibility.PUBLIC: "public: everybody sees it at once",
    Visibility.PRIVATE: "private: its organisers and the teams that they let in see it",
    Visibility.DRAFT: "a draft: only its organisers see it until they publish it",
}
TELLABLE = (BadInput, Conflict, NotFound)  # what is wrong with a manifest; anything else is not its fault

Row = TypeVar("Row", bound=Base)
T = TypeVar("T")


@dataclass(slots=True)
class Made:
    """What there is now. made, there, notes: in words.

    evaluations  their ids by slug
    systems      their ids by the number of the run
    refused      runs that can't be brought in, with the reason
    """

    made: list[str] = field(default_factory=list)
    there: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    evaluations: dict[str, int] = field(default_factory=dict)
    systems: dict[int, int] = field(default_factory=dict)
    refused: list[tuple[PlannedRun, LeaderboardError]] = field(default_factory=list)


class Making:
    """One walk through a manifest, in a session.

    problems  what was wrong so far, each with its place: `evaluation 2 (round1): slug: …`
    """

    def __init__(
        self,
        session: Session,
        actor: Callable[[Session], Actor],
        manifest: Manifest,
        tree: Tree,
        limits: Limits,
        problems: list[str],
    ) -> None:
        self.made = Made()
        self.problems = problems
        self._session = session
        self._actor = actor
        self._manifest = manifest
        self._tree = tree
        self._limits = limits
        self._teams: dict[str, Team | None] = {}  # by the name of the entry; None: one that can't be used
        self._known: dict[str, Team] = {}  # those of them that were here, as they were before they were merged
        self._systems: dict[tuple[str, str], System] = {}  # by the names of the entries

    def everything(self, runs: list[PlannedRun], *, whole: bool) -> None:
        """Raises NotAllowed, and FileRejected with every problem where there was one.

        whole  a run that can't be brought in is a problem too
        """
        campaign = self._campaign()
        require_organiser(self._actor(self._session), campaign.id)
        self._make_teams(campaign, runs)
        for number, entry in enumerate(self._manifest.evaluations, 1):
            self._make_evaluation(campaign, entry, f"evaluation {number} ({shown(entry.slug)})")
        for run in runs:
            try:
                self._plan(run)
            except TELLABLE as error:
                self.made.refused.append((run, error))
        for run, refusal in self.made.refused if whole else ():
            self._note(shown(run.entry.file), refusal)
        self._note_what_nobody_says(runs)
        if self.problems:
            found = [Problem(None, problem) for problem in self.problems]
            raise FileRejected(found[:MOST_PROBLEMS], len(found), self._manifest.name)

    @contextmanager
    def _telling(self, place: str) -> Iterator[None]:
        """Notes what is wrong in this block, and undoes it."""
        try:
            with self._session.begin_nested():
                yield
        except TELLABLE as error:
            self._note(place, error)

    def _note(self, place: str, error: LeaderboardError) -> None:
        match error:
            case InvalidFields(fields=fields):
                told = [(f"{place}: {name}", message) for name, messages in fields.items() for message in messages]
            case FileRejected(problems=problems, count=count, name=name):
                told = [(f"{place}: {name}", str(one)) for one in problems]
                rest = count - sum(one.lines for one in problems)
                told += [(f"{place}: {name}", f"and {rest:,} more problems")] if rest > 0 else []
            case _:
                told = [(place, error.message)]
        already = tuple(self.problems)
        for where, message in told:
            # What was no text or number when it was read was left out: it is not missing as well.
            if not isinstance(error, InvalidFields) or not any(one.startswith(f"{where}: ") for one in already):
                self.problems.append(f"{where}: {message}")

    def _row(self, place: str, make: Callable[..., Row], given: dict[str, Any], instead: Mapping[str, Any]) -> Row:
        """What `make` makes of the settings, or of what can be used of them; `instead` of those that it needs.

        Raises FileRejected where that is not enough.
        """
        while True:
            try:
                with self._session.begin_nested():
                    return make(**given)
            except InvalidFields as error:
                self._note(place, error)
                wrong = {name: instead[name] for name in error.fields if name in instead}
                left = {name: value for name, value in given.items() if name not in error.fields} | wrong
                if left == given:
                    found = [Problem(None, problem) for problem in self.problems]
                    raise FileRejected(found[:MOST_PROBLEMS], len(found), self._manifest.name) from None
                given = left

    def _campaign(self) -> Campaign:
        manifest, actor = self._manifest, self._actor(self._session)
        found = self._session.scalar(sa.select(Campaign).where(Campaign.slug == manifest.slug))
        if found is not None:
            require_organiser(actor, found.id)
            self.made.there.append(f"the campaign {found.title}")
            return found
        given = {"slug": manifest.slug, "measures": [], "primary_measure": "", **manifest.settings}
        given["primary_measure"] = given["primary_measure"] or next(iter(given["measures"]), "")
        given.setdefault("visibility", Visibility.DRAFT)

        def make(**settings: Any) -> Campaign:
            return create_campaign(self._session, actor, settings.pop("slug"), settings.pop("title"), **settings)

        instead = {
            "slug": f"x-{secrets.token_hex(8)}", "title": "Without a title", "measures": ["AP"],
            "primary_measure": "AP", "beta": 1.0,
        }  # fmt: skip
        made = self._row("campaign", make, given, instead)
        self.made.made.append(f"the campaign {made.title}")
        why = "" if "visibility" in manifest.settings else "nothing says who sees it (visibility), so it is "
        self.made.notes.append(f"{made.title}: {why}{SEEN_BY[made.visibility]}")
        return made

    def _make_teams(self, campaign: Campaign, runs: list[PlannedRun]) -> None:
        """Those that runs are of: the listed ones first, in their order."""
        used = {self._manifest.team(run.entry.team).name for run in runs if run.entry.team}
        for number, entry in enumerate(self._manifest.teams, 1):
            if entry.name in used:
                self._team(campaign, entry, f"team {number} ({shown(entry.name)})")
        for run in runs:
            entry = self._manifest.team(run.entry.team)
            if run.entry.team and entry.name not in self._teams:
                self._team(campaign, entry, f"{shown(run.entry.file)}: team {shown(entry.name)}")

    def _team(self, campaign: Campaign, entry: TeamEntry, place: str) -> Team | None:
        self._teams[entry.name] = None
        with self._telling(place):
            self._teams[entry.name] = self._found_team(campaign, entry) or self._new_team(entry)
        return self._teams[entry.name]

    def _new_team(self, entry: TeamEntry) -> Team:
        actor = self._actor(self._session)
        made = create_team(self._session, actor, entry.name, entry.slug or None, entry.description, own=False)
        self.made.made.append(f"the team {made.name}")
        return made

    def _found_team(self, campaign: Campaign, entry: TeamEntry) -> Team | None:
        """The team that is here already, whatever it is called now, or was merged into.

        Raises InvalidFields for one that is another's, or not for this actor.
        """
        known = self._known_team(campaign, entry)
        team = None if known is None else merged_team(self._session, known)
        if team is not None and not may_bring_in(self._session, self._actor(self._session), team.id):
            words = (
                f"the team {team.name} is here already, and is neither yours nor was ever part of a campaign that you "
                "organise: ask an operator of this site to import the archive (leaderboard import-campaign), or give "
                "the team another name in the manifest"
            )
            raise InvalidFields({"name": [words]})
        if known is not None:
            self._known[entry.name] = known
        return team

    def _known_team(self, campaign: Campaign, entry: TeamEntry) -> Team | None:
        """By its address, by its name, or by the address that this name made when it was called so."""
        session, key, made = self._session, name_key(entry.name), slug_of(entry.name)
        named = session.scalar(sa.select(Team).where(Team.name_key == key))
        addressed = known_team(session, entry.slug or made)
        if addressed is None or addressed is named:
            return named
        took_part = _took_part(session, merged_team(session, addressed), campaign)
        if not entry.slug:
            return named or (addressed if addressed.slug != made or _was_called(session, addressed, key) else None)
        if took_part or (addressed.slug != entry.slug and entry.slug == made) or _was_called(session, addressed, key):
            return addressed
        if addressed.slug != entry.slug and named is not None:
            return named
        now = merged_team(session, addressed)
        word = "is" if addressed.slug == entry.slug else "was the address of"
        words = f"{entry.slug} {word} another team here, {now.name} ({now.slug}): give another slug, or that name"
        raise InvalidFields({"slug": [words]})

    def _system(self, team: Team, entry: TeamEntry, spelled: str, kind: SystemKind | None) -> System:
        listed = _listed(entry, spelled)
        name, slug = (spelled, "") if listed is None else (listed.name, listed.slug)
        key = entry.name, name_key(name)
        if key in self._systems:
            return self._systems[key]
        found = self._known_system(team, entry, name, slug)
        if found is None:
            settings = ({} if kind is None else {"kind": kind}) | dict(listed.settings if listed else {})
            found = create_system(self._session, self._actor(self._session), team, NewSystem(name, **settings), slug)
            self.made.made.append(f"the system {found.name} of {team.name}")
        self._systems[key] = found
        return found

    def _known_system(self, team: Team, entry: TeamEntry, name: str, slug: str) -> System | None:
        """The team's system that is here already. One of a team that was merged is looked for where it was, first:
        the team that has it now may have had another one of this name.
        """
        session, own, key = self._session, System.team_id == team.id, name_key(name)
        before = self._known.get(entry.name, team)
        if before is not team:
            found = known_system(session, before.slug, slug or slug_of(name))
            if found is not None and found.team_id == team.id:
                return found
        found = session.scalar(sa.select(System).where(own, System.slug == slug)) if slug else None
        found = found or session.scalar(sa.select(System).where(own, System.name_key == key))
        return None if found is None else merged_system(session, found)

    def _plan(self, run: PlannedRun) -> None:
        """Finds or makes the run's system, and asks whether it could be brought in."""
        self._tree.file(run.entry.file)
        if not run.entry.team:
            raise BadInput("no team is named: add team = …")
        try:
            checked_settings({**run.entry.settings, "label": run.label})
        except InvalidFields as error:
            raise InvalidFields({WORDS.get(name, name): told for name, told in error.fields.items()}) from None
        entry = self._manifest.team(run.entry.team)
        team = self._teams[entry.name]
        if team is not None:
            with self._session.begin_nested():
                kind = SystemKind(run.entry.kind) if run.entry.kind else None
                self.made.systems[run.number] = self._system(team, entry, run.system, kind).id

    def _make_evaluation(self, campaign: Campaign, entry: EvaluationEntry, place: str) -> None:
        """With its queries and judgments."""
        session, actor = self._session, self._actor(self._session)
        own = Evaluation.campaign_id == campaign.id, Evaluation.slug == entry.slug
        evaluation = session.scalar(sa.select(Evaluation).where(*own))
        if evaluation is None:
            evaluation = self._new_evaluation(campaign, entry, place)
        else:
            self.made.there.append(f"the evaluation {evaluation.title}")
        self.made.evaluations[entry.slug] = evaluation.id
        with self._telling(place):
            listed = self._tree.file(entry.document_list) if entry.document_list else None
            documents = None if listed is None else document_list(listed, name=entry.document_list)
            bring_form_in(
                session, actor, evaluation, fields=entry.fields, agreements=entry.agreements, rules=entry.rules,
                documents=documents,
            )  # fmt: skip
        revisions = list(self._judgments(entry, place))
        with self._telling(f"{place}: queries"):
            self._add_queries(actor, evaluation, entry, [judged for _, judged, _, _ in revisions])
        there = {query.external_id for query in _queries(session, evaluation)}
        for name, ids in (("hidden", entry.hidden), ("excluded", entry.excluded)):
            if lost := [shown(one) for one in ids if one not in there]:
                self.problems.append(f"{place}: {name}: there is no query {', '.join(lost[:5])}")
        with self._telling(place):
            self._set_queries_apart(actor, evaluation, entry, there)
        for one, judged, known, subtopics in revisions if there else ():  # else the queries' problem is told already
            with self._telling(f"{place}: {shown(one.file)}"):
                self._add_judgments(actor, evaluation, one, judged, known, subtopics)
        source = entry.settings.get("official_source")
        if source is not None and source != evaluation.official_source:
            with self._telling(f"{place}: official_source"):
                make_official(session, actor, evaluation, source)

    def _new_evaluation(self, campaign: Campaign, entry: EvaluationEntry, place: str) -> Evaluation:
        """Without a word on its closing it is a draft: published, it would take runs for good."""
        settings = {name: value for name, value in entry.settings.items() if name != "official_source"}
        if "closes_at" not in settings:
            settings["draft"] = True
        given = {"slug": entry.slug, "title": entry.title, "period": entry.period, **settings}

        def make(**settings: Any) -> Evaluation:
            actor, texts = self._actor(self._session), [settings.pop(name) for name in ("slug", "title", "period")]
            return create_evaluation(self._session, actor, campaign, *texts, **settings)

        instead = {
            "slug": f"x-{secrets.token_hex(8)}", "title": "Without a title", "period": "2000", "period_key": 2000,
            "documents": 10**15,
        }  # fmt: skip
        made = self._row(place, make, given, instead)
        self.made.made.append(f"the evaluation {made.title}")
        if "closes_at" not in entry.settings:
            self.made.notes.append(
                f"{made.title}: nothing says when it closed (closes_at), so it is a draft, which only organisers see "
                "and which takes no runs"
            )
        return made

    def _judgments(
        self, entry: EvaluationEntry, place: str
    ) -> Iterator[tuple[JudgmentsEntry, Judgments, Judgments | None, SubtopicJudgments | None]]:
        """What the files of judgments hold, those that can be read."""

        def read(path: str, reader: Callable[..., T]) -> T | None:
            return reader(self._tree.file(path), name=path, limits=self._limits) if path else None

        for one in entry.judgments:
            found = None
            with self._telling(f"{place}: judgments"):
                judged = read_judgments(self._tree.file(one.file), name=one.file, limits=self._limits)
                found = one, judged, read(one.known, read_judgments), read(one.subtopics, read_subtopic_judgments)
            if found is not None:
                yield found

    def _add_queries(
        self, actor: Actor, evaluation: Evaluation, entry: EvaluationEntry, judged: list[Judgments]
    ) -> None:
        """Those of the file, or of the list, or those that are judged, as numbers where all ids are some."""
        if entry.queries:
            rows = read_queries(self._tree.file(entry.queries), name=entry.queries, limits=self._limits)
        elif entry.query_ids:
            lines = "".join(json.dumps({"id": one}) + "\n" for one in entry.query_ids)
            rows = read_queries(io.BytesIO(lines.encode()), name="query_ids", limits=self._limits)
        else:
            ids = list(dict.fromkeys(query for one in judged for query in one.queries))
            if all(one.isascii() and one.isdigit() for one in ids):
                ids.sort(key=int)
            rows = tuple(QueryRow(one, "", ()) for one in ids)
        there = {query.external_id for query in _queries(self._session, evaluation)}
        new = [row for row in rows if row.id not in there]
        if new:
            import_queries(self._session, actor, evaluation, new)
            self.made.made.append(f"{counted(len(new), 'query', 'queries')} of {evaluation.title}")

    def _set_queries_apart(self, actor: Actor, evaluation: Evaluation, entry: EvaluationEntry, there: set[str]) -> None:
        """Hides and excludes those that the manifest names."""
        queries = {query.external_id: query for query in _queries(self._session, evaluation)}
        hidden = [one for one in entry.hidden if one in there and queries[one].split is not Split.HIDDEN]
        if hidden:
            set_split(self._session, actor, evaluation, hidden, Split.HIDDEN)
        for one, because in entry.excluded.items():
            if one in there and queries[one].excluded_at is None:
                exclude_queries(self._session, actor, evaluation, [one], because)

    def _add_judgments(
        self,
        actor: Actor,
        evaluation: Evaluation,
        entry: JudgmentsEntry,
        judged: Judgments,
        known: Judgments | None,
        subtopics: SubtopicJudgments | None,
    ) -> None:
        source = entry.source or evaluation.official_source
        there = self._session.scalar(
            sa.select(JudgmentRevision.number).where(
                JudgmentRevision.evaluation_id == evaluation.id,
                JudgmentRevision.source == source,
                JudgmentRevision.sha256 == revision_sha256(judged, known, subtopics),
            )
        )
        if there is None:
            made = import_judgments(self._session, actor, evaluation, judged, entry.note, known, subtopics, source)
            words = f"{counted(made.judgments, 'judgment')} of {evaluation.title}, revision {made.number}"
            self.made.made.append(words)

    def _note_what_nobody_says(self, runs: list[PlannedRun]) -> None:
        """What holds for want of a word: the kinds of systems, and when runs were received."""
        kinds = {
            system
            for run in runs
            if (system := self.made.systems.get(run.number)) is not None
            and not run.entry.kind
            and not _says_kind(_listed(self._manifest.team(run.entry.team), run.system))
        }
        made = {one.id for one in self._systems.values() if one.kind is SystemKind.AUTOMATIC}
        if silent := len(kinds & made):
            self.made.notes.append(
                f"Kinds: of {counted(silent, 'system')} nothing says whether they are manual: they count as automatic "
                '(kind = "manual")'
            )
        for entry in self._manifest.evaluations:
            own = [run.entry.settings for run in runs if run.evaluation == entry.slug]
            self._note_dates(self._session.get_one(Evaluation, self.made.evaluations[entry.slug]), own)

    def _note_dates(self, evaluation: Evaluation, runs: list[Mapping[str, Any]]) -> None:
        """When runs count as received of which nothing says it, and which came after closing without being late."""
        undated = sum(not {"run_at", "received_at"} & one.keys() for one in runs)
        if evaluation.closes_at is None and undated:
            self.made.notes.append(
                f"{evaluation.title}: {counted(undated, 'run')} without a date count as received on the day on "
                "which they are brought in"
            )
        elif unsaid := sum("received_at" not in one for one in runs):
            self.made.notes.append(
                f"{evaluation.title}: of {counted(unsaid, 'run')} nothing says when they were received (received): it "
                "is assumed that they were on their own date, or when the evaluation closed"
            )
        came = [one.get("received_at") or one.get("run_at") for one in runs if not one.get("late")]
        if after := sum(one is not None and is_closed(evaluation, one) for one in came):
            self.made.notes.append(
                f"{evaluation.title}: {counted(after, 'run')} received after it closed and not marked late (late = "
                "true), so they count as in time"
            )


def _listed(entry: TeamEntry, spelled: str) -> SystemEntry | None:
    key = name_key(spelled)
    return next(
        (one for one in entry.systems if key in {name_key(name) for name in (one.name, one.slug, *one.spellings)}),
        None,
    )


def _says_kind(listed: SystemEntry | None) -> bool:
    return listed is not None and "kind" in listed.settings


def _queries(session: Session, evaluation: Evaluation) -> list[Query]:
    return list(session.scalars(sa.select(Query).where(Query.evaluation_id == evaluation.id)))


def _was_called(session: Session, team: Team, key: str) -> bool:
    """Whether it had this name once, before it was renamed."""
    own = Event.subject == "team", Event.subject_id == team.id, Event.action == "rename"
    return any(name_key(facts["name"][0]) == key for facts in session.scalars(sa.select(Event.facts).where(*own)))


def _took_part(session: Session, team: Team, campaign: Campaign) -> bool:
    own = sa.select(Submission.id).join(Submission.evaluation)
    return bool(
        session.scalar(
            sa.select(own.where(Submission.team_id == team.id, Evaluation.campaign_id == campaign.id).exists())
        )
    )
