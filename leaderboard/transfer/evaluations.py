"""Evaluations of a manifest: made where they are missing, with their queries, forms, rules and judgments."""

import datetime as dt
import io
import json
import secrets
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor
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
from leaderboard.lookup import newest_revision
from leaderboard.models import Campaign, Evaluation, JudgmentRevision, Query
from leaderboard.numbers import counted, first_of
from leaderboard.rules.digests import revision_sha256
from leaderboard.rules.settings import Split
from leaderboard.services.evaluations import create_evaluation
from leaderboard.services.judgments import import_judgments
from leaderboard.services.queries import exclude_queries, import_queries, set_split
from leaderboard.services.scoring_sets import make_official, make_set
from leaderboard.services.sources import set_aside_sources
from leaderboard.transfer.differing import (
    NAMED,
    note_agreements,
    note_evaluation,
    note_judgments,
    note_queries,
    note_queries_apart,
)
from leaderboard.transfer.forms import agreements_there, bring_form_in
from leaderboard.transfer.manifest import EvaluationEntry, JudgmentsEntry
from leaderboard.transfer.planning import PlannedRun
from leaderboard.transfer.stood import OldBoards
from leaderboard.transfer.telling import Telling
from leaderboard.transfer.tree import Tree
from leaderboard.transfer.unsaid import note_judgments_dates

__all__ = ["EvaluationFacts", "Evaluations"]

OF_SOURCES = frozenset({"official_source", "set_aside"})  # settings that follow once there are judgments
T = TypeVar("T")
ReadJudgments = tuple[JudgmentsEntry, Judgments, Judgments | None, SubtopicJudgments | None]


@dataclass(frozen=True, slots=True)
class EvaluationFacts:
    """An evaluation as it is, or would be, whatever a manifest calls it."""

    title: str
    period: str
    closes_at: dt.datetime | None
    is_new: bool


class Evaluations:
    """The evaluations of one walk through a manifest, in a session.

    ids    of those that there are now, by slug
    facts  of the same
    stood  the old boards that runs were on: see `stood.OldBoards`
    """

    def __init__(
        self,
        session: Session,
        actor: Callable[[Session], Actor],
        tree: Tree,
        limits: Limits,
        told: Telling,
        whose: Callable[[PlannedRun], Hashable],
    ) -> None:
        """whose: tells the system of a run from others'."""
        self.ids: dict[str, int] = {}
        self.facts: dict[str, EvaluationFacts] = {}
        self._boards = OldBoards(session, told, whose)
        self.stood = self._boards.stood
        self._session = session
        self._actor = actor
        self._tree = tree
        self._limits = limits
        self._told = told

    def make(self, campaign: Campaign, entry: EvaluationEntry, place: str, runs: Sequence[PlannedRun]) -> None:
        """With its queries, judgments and old boards. runs: those of it."""
        session, actor = self._session, self._actor(self._session)
        own = Evaluation.campaign_id == campaign.id, Evaluation.slug == entry.slug
        evaluation = session.scalar(sa.select(Evaluation).where(*own))
        is_new = evaluation is None
        if evaluation is None:
            evaluation = self._new_evaluation(campaign, entry, place)
        else:
            self._told.there.append(f"the evaluation {evaluation.title}")
            note_evaluation(evaluation, entry, self._told)
        self.ids[entry.slug] = evaluation.id
        self.facts[entry.slug] = EvaluationFacts(evaluation.title, evaluation.period, evaluation.closes_at, is_new)
        with self._told.telling(place):
            listed = self._tree.file(entry.document_list) if entry.document_list else None
            documents = None if listed is None else document_list(listed, name=entry.document_list)
            note_agreements(evaluation, entry, agreements_there(session, evaluation), self._told)
            changed = bring_form_in(
                session, actor, evaluation, fields=entry.fields, agreements=entry.agreements, rules=entry.rules,
                documents=documents,
            )  # fmt: skip
            self._told.made += [f"{one} of {evaluation.title}" for one in changed]
        revisions = list(self._judgments(entry, place))
        with self._told.telling(f"{place}: queries"):
            self._add_queries(actor, evaluation, entry, [judged for _, judged, _, _ in revisions])
        there = {query.external_id for query in _queries(session, evaluation)}
        for name, ids in (("hidden", entry.hidden), ("excluded", entry.excluded)):
            if lost := [shown(one) for one in ids if one not in there]:
                self._told.problems.append(f"{place}: {name}: there is no query {', '.join(lost[:5])}")
        with self._told.telling(place):
            self._set_queries_apart(actor, evaluation, entry, there)
        if not there:
            return  # the queries' problem is told already
        imported = self._import_judgments(actor, evaluation, place, revisions)
        note_judgments_dates(evaluation, imported.added, self._told)
        note_judgments(evaluation, entry, imported.by_file, self._told)
        source = entry.settings.get("official_source", evaluation.official_source)
        if is_new:
            with self._told.telling(f"{place}: set_aside"):
                set_aside_sources(session, actor, evaluation, entry.settings.get("set_aside", []), source)
        if imported.added and not (is_new and source != evaluation.official_source):
            with self._told.telling(f"{place}: {shown(imported.added[-1].file)}"):
                make_set(session, actor, evaluation)
        if source != evaluation.official_source:
            with self._told.telling(f"{place}: official_source"):
                make_official(session, actor, evaluation, source)
        self._boards.bring_in(actor, evaluation, entry, place, imported.by_file, runs, is_new=is_new)

    def _new_evaluation(self, campaign: Campaign, entry: EvaluationEntry, place: str) -> Evaluation:
        """Without a word on its closing it is a draft: published, it would take runs for good."""
        settings = {name: value for name, value in entry.settings.items() if name not in OF_SOURCES}
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
        made = self._told.row(place, make, given, instead)
        self._told.made.append(f"the evaluation {made.title}")
        if "closes_at" not in entry.settings:
            self._told.notes.append(
                f"{made.title}: nothing says when it closed (closes_at), so it is a draft, which only organisers see "
                "and which takes no runs"
            )
        return made

    def _judgments(self, entry: EvaluationEntry, place: str) -> Iterator[ReadJudgments]:
        """What the files of judgments hold, those that can be read."""

        def read(path: str, reader: Callable[..., T]) -> T | None:
            return reader(self._tree.file(path), name=path, limits=self._limits) if path else None

        for one in entry.judgments:
            found = None
            with self._told.telling(f"{place}: judgments"):
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
        there = {query.external_id: query for query in _queries(self._session, evaluation)}
        note_queries(evaluation, there, rows, self._told)
        new = [row for row in rows if row.id not in there]
        if new:
            import_queries(self._session, actor, evaluation, new)
            self._told.made.append(f"{counted(len(new), 'query', 'queries')} of {evaluation.title}")

    def _set_queries_apart(self, actor: Actor, evaluation: Evaluation, entry: EvaluationEntry, there: set[str]) -> None:
        """Hides and excludes those that the manifest names."""
        queries = {query.external_id: query for query in _queries(self._session, evaluation)}
        note_queries_apart(evaluation, entry, queries, self._told)
        hidden = [one for one in entry.hidden if one in there and queries[one].split is not Split.HIDDEN]
        if hidden:
            set_split(self._session, actor, evaluation, hidden, Split.HIDDEN)
        excluded = [one for one in entry.excluded if one in there and queries[one].excluded_at is None]
        for one in excluded:
            exclude_queries(self._session, actor, evaluation, [one], entry.excluded[one])
        for ids, word in ((hidden, "hidden"), (excluded, "excluded")):
            if ids:
                some = f"{counted(len(ids), 'query', 'queries')} of {evaluation.title} {word}"
                self._told.made.append(f"{some} ({first_of([shown(one) for one in ids], NAMED)})")

    def _import_judgments(
        self, actor: Actor, evaluation: Evaluation, place: str, revisions: Iterable[ReadJudgments]
    ) -> "_Imported":
        """As far as they are not here. Judgments may come back: the second file of the same is a second revision."""
        session = self._session
        own = JudgmentRevision.evaluation_id == evaluation.id
        left: dict[tuple[str, str], list[JudgmentRevision]] = {}
        for one in session.scalars(sa.select(JudgmentRevision).where(own).order_by(JudgmentRevision.number)):
            left.setdefault((one.source, one.sha256), []).append(one)
        imported = _Imported()
        for entry, judged, known, subtopics in revisions:
            source = entry.source or evaluation.official_source
            sha256 = revision_sha256(judged, known, subtopics)
            newest = newest_revision(session, evaluation, source)
            if here := left.get((source, sha256)):
                imported.by_file[entry.file] = here.pop(0)
            elif newest is not None and newest.sha256 == sha256:
                imported.by_file[entry.file] = newest
            else:
                with self._told.telling(f"{place}: {shown(entry.file)}"):
                    made = import_judgments(
                        session,
                        actor,
                        evaluation,
                        judged,
                        entry.note,
                        known,
                        subtopics,
                        source,
                        entry.released,
                        of_the_past=True,
                        is_last=False,
                    )
                    imported.by_file[entry.file] = made
                    imported.added.append(entry)
                    words = f"{counted(made.judgments, 'judgment')} of {evaluation.title}, revision {made.number}"
                    self._told.made.append(words)
        return imported


@dataclass
class _Imported:
    """Revisions by the path of their file, and what is said of those that are new."""

    by_file: dict[str, JudgmentRevision] = field(default_factory=dict)
    added: list[JudgmentsEntry] = field(default_factory=list)


def _queries(session: Session, evaluation: Evaluation) -> list[Query]:
    return list(session.scalars(sa.select(Query).where(Query.evaluation_id == evaluation.id)))
