"""What a change does at once, as counts: listed before it is kept, so that nobody re-scores or opens unawares.

To know it the change is made in `session`, and compared with what `committed` reads; it is undone unless confirmed.
"""

import datetime as dt
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, open_to_all
from leaderboard.boards.reads.columns import column
from leaderboard.boards.reads.entries import load_entries
from leaderboard.boards.reads.ranking import Show, choose, ranks
from leaderboard.campaigns.models import CampaignTeam
from leaderboard.campaigns.rules import Visibility, is_known
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.form_fields import form_fields
from leaderboard.evaluations.reads.visibility import REVEALING, of_what_there_is, once_revealed
from leaderboard.evaluations.rules.form_fields import FormField, ShownTo, said_by, said_to
from leaderboard.evaluations.rules.phases import Phase, phase_of
from leaderboard.numbers import counted
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.selection import with_current_scoring
from leaderboard.submissions.rules import SetState, State, SystemKind
from leaderboard.teams.models import System
from leaderboard.teams.reads.find import teams_with_runs
from leaderboard.worker.models import Scoring, ScoringSet
from leaderboard.worker.reads import standing_set

IN_WORDS = {
    "results": "the board",
    "details": "results by query, which reveal judgments",
    "judgments": "the judgments themselves",
    "hidden_queries": "the hidden queries",
    "texts": "texts and tags of queries",
    "names": "names of teams and systems",
}
READERS = Visibility.DRAFT, Visibility.PRIVATE, Visibility.PUBLIC  # from few to many
Places = dict[tuple[int, bool], tuple[int, int | None]]  # system, whether late -> the run that is shown, its rank
TAKES_RUNS = Phase.UPCOMING, Phase.OPEN  # those that are ranked, now or later


@dataclass(frozen=True, slots=True)
class _State:
    """An evaluation before or after a change.

    readers   how many know of it: a place in READERS
    open      what all of them can read
    knowing   the teams with runs in it that know of it; let_in: those of them that are let into its campaign
    ranked_by what the order of its board depends on, beside figures
    """

    readers: int
    takes_runs: bool
    open: frozenset[str]
    knowing: frozenset[int]
    let_in: frozenset[int]
    ranked_by: tuple[Any, ...]
    fields: tuple[FormField, ...]


def effects(
    session: Session, committed: Session, actor: Actor, changed: sa.ColumnElement[bool], now: dt.datetime
) -> tuple[str, ...]:
    """What the change does that nobody may do unawares, a line each; empty for nothing.

    changed  which evaluations it may be about
    """
    session.flush()
    evaluations = session.scalars(sa.select(Evaluation).where(changed).order_by(Evaluation.id)).all()
    stored = {one.id: one for one in committed.scalars(sa.select(Evaluation).where(changed))}
    pairs = [(one, stored[one.id], _state(session, one, now), _state(committed, stored[one.id], now))
             for one in evaluations if one.id in stored]  # fmt: skip
    lines = [*_rescored(session, committed, changed)]
    shut_out = {team for _, _, after, before in pairs for team in before.knowing - after.knowing}
    let_in = {team for _, _, after, before in pairs
              for team in (after.knowing - before.knowing) | (after.let_in - before.let_in)}  # fmt: skip
    if shut_out:
        lines.append(f"{counted(len(shut_out), 'team')} with runs can't see them any more.")
    if let_in and any(after.readers != before.readers for _, _, after, before in pairs):
        lines.append(f"{counted(len(let_in), 'team')} with runs let in.")
    for evaluation, stored_evaluation, after, before in pairs:
        lines += _opened(session, evaluation, before, after)
        if before.ranked_by != after.ranked_by:
            places = _places(session, actor, evaluation, now)
            places_before = _places(committed, actor, stored_evaluation, now)
            other_source = stored_evaluation.official_source != evaluation.official_source  # the figures are others too
            lines += _moved(evaluation.title, places_before, places, always=other_source)
        if before.fields != after.fields:
            lines += _answers_shown(session, evaluation, before.fields, after.fields)
    return tuple(lines)


def entered_by(system_id: int) -> sa.ColumnElement[bool]:
    """The evaluations that a change of this system may be about."""
    return Evaluation.id.in_(sa.select(Submission.evaluation_id).where(Submission.system_id == system_id))


def scored_again(session: Session, changed: sa.ColumnElement[bool]) -> dict[int, int]:
    """Each set that is being built for a board -> how many runs it scores."""
    rows = session.execute(
        sa.select(ScoringSet.id, sa.func.count(Scoring.id))
        .join(Evaluation, Evaluation.id == ScoringSet.evaluation_id)
        .join(Scoring, Scoring.scoring_set_id == ScoringSet.id)
        .where(changed, ScoringSet.state == SetState.BUILDING, ScoringSet.source == Evaluation.official_source)
        .group_by(ScoringSet.id)
    )
    return dict(rows.all())


def revealed_in_words(opened: Collection[str]) -> str:
    """What of it everybody may read, or could, in words."""
    return "; ".join(words for name, words in IN_WORDS.items() if name in opened)


def _rescored(session: Session, committed: Session, changed: sa.ColumnElement[bool]) -> Iterator[str]:
    before = scored_again(committed, changed)
    if made := [runs for scoring_set, runs in scored_again(session, changed).items() if scoring_set not in before]:
        yield (
            f"{counted(sum(made), 'run')} of {counted(len(made), 'evaluation')} scored again; boards show the figures "
            "of before until all are."
        )


def _state(session: Session, evaluation: Evaluation, now: dt.datetime) -> _State:
    campaign = evaluation.campaign
    known_to = Visibility.DRAFT if evaluation.draft else campaign.visibility
    let_in = {*session.scalars(sa.select(CampaignTeam.team_id).where(CampaignTeam.campaign_id == campaign.id))}
    entered = {team.id for team in teams_with_runs(session, campaign.id, evaluation.id)}
    current = standing_set(session, evaluation.id, evaluation.official_source)
    baselines = sa.select(System.id).join(Submission).where(
        Submission.evaluation_id == evaluation.id, System.kind == SystemKind.BASELINE
    )  # fmt: skip
    return _State(
        readers=READERS.index(known_to),
        takes_runs=phase_of(evaluation, now) in TAKES_RUNS,
        open=open_to_all(evaluation, now),
        knowing=frozenset(team for team in entered if is_known(known_to, let_in=team in let_in)),
        let_in=frozenset(entered & let_in),
        ranked_by=(
            None if current is None else (current.source, current.primary_measure),
            campaign.run_choice,
            frozenset(session.scalars(baselines)),
        ),
        fields=form_fields(evaluation),
    )


def _opened(session: Session, evaluation: Evaluation, before: _State, after: _State) -> Iterator[str]:
    """What closes or opens: for runs, and for readers."""
    title = evaluation.title
    if before.takes_runs and not after.takes_runs and before.readers and after.readers:
        follows = "runs are late from now on" if evaluation.late_allowed else "it takes no runs any more"
        yield f"{title} closes at once: {follows}."
    hidden_names = frozenset() if "results" in after.open else {"names"}  # there is no board that they stand on
    known_before = frozenset() if before.readers < after.readers else before.open
    if opened := of_what_there_is(session, evaluation, after.open - known_before - hidden_names):
        private = evaluation.campaign.visibility is Visibility.PRIVATE
        whom = "members of the teams that are let in" if private else "everybody"
        yield f"{title} opens to {whom}, for good: {revealed_in_words(opened)}."
    reopened = not before.takes_runs or (before.readers == 0 and after.readers > 0)
    if not (after.takes_runs and after.readers and reopened):
        return
    revealed = once_revealed(session, evaluation) | of_what_there_is(session, evaluation, REVEALING & before.open)
    if revealed:
        yield f"{title} takes runs again, although these could be read: {revealed_in_words(revealed)}."


def _places(session: Session, actor: Actor, evaluation: Evaluation, now: dt.datetime) -> Places:
    current = standing_set(session, evaluation.id, evaluation.official_source)
    if current is None:
        return {}
    by = column(current.primary_measure)
    entries = load_entries(session, actor, [evaluation], now, [by.name], scoring_set=current)
    selected = choose(entries, Show(evaluation.campaign.run_choice.value), by)
    found = ranks(selected, by)
    return {(run.system_id, run.late): (run.submission_id, found.get(run.submission_id)) for run in selected}


def _moved(title: str, before: Places, after: Places, *, always: bool) -> Iterator[str]:
    none = (0, None)
    both = before.keys() | after.keys()
    systems = len({system for system, _ in both})
    other_runs, moved = (
        {place[0] for place in both if before.get(place, none)[part] != after.get(place, none)[part]} for part in (0, 1)
    )
    if moved or other_runs or (always and both):
        yield f"{title}: {len(moved):,} of {counted(systems, 'system')} change rank, {len(other_runs):,} the run shown."


def _answers_shown(
    session: Session, evaluation: Evaluation, before: tuple[FormField, ...], after: tuple[FormField, ...]
) -> Iterator[str]:
    """How many answers, and entries of runs' own metadata, were for their team and the organisers only."""
    rows = session.execute(
        with_current_scoring(sa.select(Submission.answers, Submission.said, Scoring.facts)).where(
            Submission.evaluation_id == evaluation.id,
            Submission.withdrawn_at.is_(None),
            sa.or_(Scoring.state.is_(None), Scoring.state != State.REJECTED),
        )
    )
    opened = sum(
        len(_for_everyone(after, answers, said) - _for_everyone(before, answers, said))
        for answers, said in ((answers, said_by(facts or {}, said)) for answers, said, facts in rows)
    )
    if opened:
        yield f"{evaluation.title}: {counted(opened, 'answer')} shown to more readers, for good."


def _for_everyone(fields: tuple[FormField, ...], answers: Any, said: dict[str, str]) -> set[tuple[str, str]]:
    """What everyone who sees whose run it is sees of its answers and its metadata: ("answer" or "file", its key)."""
    everyone = [field for field in fields if field.shown_to is ShownTo.EVERYONE]
    read = [key for key in said if any(field.reads(key) for field in everyone)]
    of_file = {("file", key) for key in (*read, *said_to(fields, said, {ShownTo.EVERYONE}))}
    return of_file | {("answer", field.key) for field in everyone if field.key in answers}
