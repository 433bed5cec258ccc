"""Boards as they stood, in a manifest: what they went by, from when to when, which runs were on them and which stood.

An export writes the sets that boards went by, as far as runs were scored by them; an import makes them again, with the
runs that were scored by them then. Figures are computed anew, as those of the boards that stand.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import metrics
from leaderboard.access import Actor
from leaderboard.errors import InvalidFields
from leaderboard.formats.harmless import shown
from leaderboard.lookup import newest_revision
from leaderboard.lookup.set_settings import terms_of
from leaderboard.models import Campaign, Evaluation, JudgmentRevision, Scoring, ScoringSet, Standing
from leaderboard.numbers import first_of
from leaderboard.rules.moments import moment_in_words
from leaderboard.rules.standings import KeptChoice, kept_choices
from leaderboard.rules.states import STANDING, SetState, State
from leaderboard.services.events import present
from leaderboard.services.stood import bring_set_in, find_stood_set
from leaderboard.transfer.columns import NONE
from leaderboard.transfer.manifest import STOOD_BY, EvaluationEntry, StoodEntry
from leaderboard.transfer.planning import PlannedRun
from leaderboard.transfer.telling import Telling

__all__ = ["LISTS_OF_RUNS", "OldBoards", "Stood", "stood_of"]

LISTS_OF_RUNS = frozenset({"runs", *STOOD_BY.values()})  # of a table of a board: files
NAMED = 3  # files
Stood = dict[int, dict[int, tuple[KeptChoice, ...]]]  # number of a run -> old set -> by which ways it stood there


def stood_of(
    session: Session, evaluation: Evaluation, judgments: Mapping[int, str], files: Mapping[int, str]
) -> Iterator[dict[str, Any]]:
    """A table for each set that boards have gone by, the oldest first.

    judgments  id of a revision -> the file of its judgments; files: id of a run -> its file
    """
    campaign = session.get_one(Campaign, evaluation.campaign_id)
    own = ScoringSet.evaluation_id == evaluation.id, ScoringSet.switched_at.is_not(None)
    order = ScoringSet.switched_at, ScoringSet.id
    for one in session.scalars(sa.select(ScoringSet).where(*own).order_by(*order)):
        settings = one.settings
        now = terms_of(session, evaluation, settings.relevance_level)
        now["relevance_level"] = evaluation.relevance_level
        otherwise = {name: getattr(settings, name) for name in now if getattr(settings, name) != now[name]}
        table = {
            "judgments": judgments[one.revision_id],
            "measures_version": one.metric_version,
            "since": one.switched_at,
            "until": one.shown_until,
            "before": [dict(zip(("since", "until"), times, strict=True)) for times in one.shown[:-1]] or None,
            **{name: _written(value) for name, value in otherwise.items()},
        }
        if _is_of_now(session, evaluation, one, otherwise):
            yield table
            continue
        if one.state is SetState.CURRENT:
            table["until"] = present()  # where it is imported, the set that is building here has nothing to wait for
        scored = _scored_then(session, one, files)
        if scored and (settings.beta, settings.no_relevant) == (campaign.beta, campaign.no_relevant):
            yield table | {"runs": list(scored.values())} | _standing(session, one, scored)


def _written(value: Any) -> Any:
    return NONE if value is None else list(value) if isinstance(value, tuple) else value


def _is_of_now(session: Session, evaluation: Evaluation, one: ScoringSet, otherwise: Mapping[str, Any]) -> bool:
    """Whether an import's board that stands goes by this set, so that nothing but its dates has to be said."""
    newest = newest_revision(session, evaluation, one.source)
    is_newest = newest is not None and one.revision_id == newest.id
    is_usual = not otherwise.keys() - ({"measures"} if one.source != evaluation.official_source else set())
    return one.state in STANDING and one.shown_until is None and is_newest and is_usual


def _scored_then(session: Session, one: ScoringSet, files: Mapping[int, str]) -> dict[int, str]:
    """Scoring -> the file of its run, of those that were scored while boards showed the set."""
    then = sa.true() if one.shown_until is None else Scoring.finished_at <= one.shown_until
    counts = sa.or_(sa.and_(Scoring.state == State.SCORED, then), Scoring.of_the_past)
    rows = session.execute(
        sa.select(Scoring.id, Scoring.submission_id)
        .where(Scoring.scoring_set_id == one.id, counts, Scoring.state.not_in((State.REJECTED, State.FAILED)))
        .order_by(Scoring.submission_id)
    )
    return {scoring: files[run] for scoring, run in rows}


def _standing(session: Session, one: ScoringSet, scored: Mapping[int, str]) -> dict[str, list[str]]:
    """The files of the runs that stood; by another way of choosing only where these were others."""
    stood: dict[KeptChoice, list[str]] = {kept: [] for kept in STOOD_BY}
    columns = Standing.scoring_id, Standing.run_choice, Standing.subset, Standing.rounded
    rows = session.execute(sa.select(*columns).where(Standing.scoring_set_id == one.id).order_by(Standing.scoring_id))
    for scoring, run_choice, subset, rounded in rows:
        if scoring in scored:
            stood[KeptChoice(run_choice, subset, rounded)].append(scored[scoring])
    first, *others = STOOD_BY
    differing = [kept for kept in others if kept in kept_choices(one.settings) and stood[kept] != stood[first]]
    return {STOOD_BY[kept]: stood[kept] for kept in (first, *differing)}


class OldBoards:
    """The old boards of one walk through a manifest, in a session.

    stood  of the runs that were on them: by the number of the run, the ids of the sets, and how it stood there
    """

    def __init__(self, session: Session, told: Telling, whose: Callable[[PlannedRun], Hashable]) -> None:
        """whose: tells the system of a run from others'."""
        self.stood: Stood = {}
        self._session = session
        self._told = told
        self._whose = whose

    def bring_in(
        self,
        actor: Actor,
        evaluation: Evaluation,
        entry: EvaluationEntry,
        place: str,
        revisions: Mapping[str, JudgmentRevision],
        runs: Sequence[PlannedRun],
        *,
        is_new: bool,
    ) -> None:
        """Those of an evaluation. Where it is not new they are left as they are, and further runs go onto them.

        revisions  by the path of their file
        """
        for number, one in enumerate(entry.stood, 1):
            where = f"{place}, stood {number}"
            revision = self._revision(evaluation, entry, one, where, revisions)
            with self._told.telling(where):
                made = None if revision is None else self._set(actor, evaluation, one, revision, is_new=is_new)
                is_old = made is not None and (made.state is SetState.SUPERSEDED or made.shown_until is not None)
                on_it = _runs_of(one, runs, self._whose if is_old else None)
                if made is not None and is_old:
                    kept = kept_choices(made.settings)
                    for run, ways in on_it.items():
                        self.stood.setdefault(run, {})[made.id] = tuple(way for way in ways if way in kept)

    def _revision(
        self,
        evaluation: Evaluation,
        entry: EvaluationEntry,
        one: StoodEntry,
        where: str,
        revisions: Mapping[str, JudgmentRevision],
    ) -> JudgmentRevision | None:
        """The one that it went by; None where that can't be read, which is told already, or is not there."""
        if not one.judgments:
            return newest_revision(self._session, evaluation, evaluation.official_source)
        if one.judgments not in {judged.file for judged in entry.judgments}:
            self._told.problems.append(f"{where}: judgments: {shown(one.judgments)} is no judgments of this evaluation")
        return revisions.get(one.judgments)

    def _set(
        self, actor: Actor, evaluation: Evaluation, one: StoodEntry, revision: JudgmentRevision, *, is_new: bool
    ) -> ScoringSet | None:
        """The set, made where the evaluation is new; None where the board is left out, which is told."""
        if one.measures_version not in ("", metrics.MEASURES_VERSION):
            version = shown(one.measures_version)
            self._leave_out(evaluation, one, f"it went by version {version} of the measures")
            return None
        if not is_new:
            found = find_stood_set(self._session, evaluation, revision, one.otherwise)
            if found is None:
                self._leave_out(evaluation, one, "the evaluation is here already, and keeps its boards")
            return found
        made = bring_set_in(self._session, actor, evaluation, revision, one.otherwise, one.since, one.until, one.before)
        if made.state is SetState.SUPERSEDED:
            until = f" to {moment_in_words(made.shown_until)}" if made.shown_until else ""
            since = moment_in_words(one.since)
            self._told.made.append(f"the board of {evaluation.title} as it stood from {since}{until}")
        return made

    def _leave_out(self, evaluation: Evaluation, one: StoodEntry, because: str) -> None:
        since = moment_in_words(one.since)
        self._told.notes.append(f"{evaluation.title}: its board as it stood from {since} is left out: {because}")


def _runs_of(
    one: StoodEntry, runs: Sequence[PlannedRun], whose: Callable[[PlannedRun], Hashable] | None
) -> dict[int, list[KeptChoice]]:
    """The numbers of the runs that were on a board, each with the ways by which it stood. Raises InvalidFields.

    whose: None where it stands still, and what is chosen now says which runs stand.
    """
    fields: dict[str, list[str]] = {}
    there = runs if one.runs is None else [run for run in runs if run.entry.file in one.runs]
    files = frozenset(run.entry.file for run in there)
    if lost := (one.runs or frozenset()) - files:
        fields["runs"] = [f"no run of this evaluation is in {_files(lost)}"]
    found: dict[int, list[KeptChoice]] = {run.number: [] for run in there}
    usual = one.standing.get(next(iter(STOOD_BY)), files)
    for kept, name in STOOD_BY.items():
        given = one.standing.get(kept, usual)
        if lost := given - files:
            fields[name] = [f"of the runs that were on it none is in {_files(lost)}"]
        standing = [run for run in there if run.entry.file in given]
        is_named = given is not usual or kept == next(iter(STOOD_BY))
        if whose and is_named and (rivals := _rivals(standing, whose)):
            fields[name] = [f"{_files(rivals)} are by one system: name the one that stood"]
        for run in standing:
            found[run.number].append(kept)
    if fields:
        raise InvalidFields(fields)
    return found


def _rivals(standing: Iterable[PlannedRun], whose: Callable[[PlannedRun], Hashable]) -> set[str]:
    """Files of the runs of one system that has several, all in time or all late."""
    seen: dict[Hashable, str] = {}
    for run in standing:
        file = seen.setdefault((whose(run), bool(run.entry.settings.get("late"))), run.entry.file)
        if file != run.entry.file:
            return {file, run.entry.file}
    return set()


def _files(paths: Iterable[str]) -> str:
    return first_of([shown(path) for path in sorted(paths)], NAMED)
