"""What choosing, withdrawing or taking a run off the boards would change: asked before somebody says yes."""

import datetime as dt
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, Content, may_change_standing, may_see
from leaderboard.boards.reads.entries import Column, Entry, load_entries
from leaderboard.boards.reads.ranking import ranks
from leaderboard.campaigns.reads import primary_columns
from leaderboard.errors import NotFound
from leaderboard.evaluations.models import Evaluation
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.selection import (
    PrimaryCandidate,
    hide_refusal,
    primary_refusal,
    scored_runs,
    select_refusal,
    withdrawal_refusal,
)
from leaderboard.submissions.reads.status import find_submission
from leaderboard.submissions.rules import Designation, RunChoice, ScoredRun, primary_run, selected_runs
from leaderboard.worker.reads import current_sets


class Act(StrEnum):
    """What may be done to a run that changes which run stands."""

    STAND = "stand"
    PRIMARY = "primary"
    WITHDRAW = "withdraw"
    EMPTY = "empty"  # taken off by organisers, and its place stays empty
    FILL = "fill"  # taken off by organisers, and another run of its system stands


@dataclass(frozen=True, slots=True)
class Change:
    """One system's standing run, before and after: its name, "" for none, and its rank where the reader sees it."""

    system: str
    late: bool
    before: str
    after: str
    rank_before: int | None
    rank_after: int | None


@dataclass(frozen=True, slots=True)
class Effect:
    """What would change.

    changes      of the team's systems whose standing run, or its rank, would be another
    primary      the team's primary run before and after, by name, "" for none; None where it stays
    contrastive  runs that would no longer count as submitted as primary
    ranked       whether the reader sees ranks
    known        whether it can be said at all: in a campaign of best runs only to whoever sees their means
    refusal      why it can't be done, in words; then nothing else is said. Empty where it can
    """

    changes: tuple[Change, ...]
    primary: tuple[str, str] | None
    contrastive: tuple[str, ...]
    ranked: bool
    known: bool
    refusal: str = ""

    @property
    def in_words(self) -> tuple[str, ...]:
        """A line for each; none where nothing changes."""
        if not self.known:
            return ("Which run stands follows from the means, which you do not see yet.",)
        lines = [
            f"{change.system}: {change.before or 'no run'}{_rank(change.rank_before)} stands now; "
            f"then {change.after or 'no run'}{_rank(change.rank_after)}."
            for change in self.changes
        ]
        if self.primary:
            lines.append(f"The primary run is {self.primary[0] or 'none'} now; then {self.primary[1] or 'none'}.")
        return *lines, *(f"{name} becomes contrastive." for name in self.contrastive)


def _rank(rank: int | None) -> str:
    return f" (rank {rank})" if rank else ""


@dataclass(frozen=True, slots=True)
class _Standing:
    """Which runs stand, by system and whether late, and the ranks of those that have one."""

    runs: dict[tuple[int, bool], int]
    ranks: dict[int, int]


def effect(session: Session, actor: Actor, submission_id: int, now: dt.datetime, *, act: Act) -> Effect:
    """What `act` on the run would change among its team's systems. Raises NotFound for whoever may do no such thing."""
    run, _ = find_submission(session, actor, submission_id, now)
    evaluation = run.evaluation
    if not actor.answers_for(run.team_id, evaluation.campaign_id):
        raise NotFound
    refusal = _refusal(session, actor, run, act, now)
    if refusal is not None:
        return Effect((), None, (), ranked=False, known=True, refusal=refusal)
    own = session.scalars(
        sa.select(Submission).where(Submission.team_id == run.team_id, Submission.evaluation_id == evaluation.id)
    ).all()
    names = {submission.id: submission.name for submission in own}
    systems = {submission.system_id: submission.system.name for submission in own}
    holds = act is Act.EMPTY or (
        act is Act.WITHDRAW and run.ruling is None and not may_change_standing(actor, evaluation, now)
    )
    gives_up = {
        submission.id
        for submission in own
        if act in {Act.STAND, Act.PRIMARY} and submission.system_id == run.system_id and submission.late == run.late
    }
    before = [PrimaryCandidate.of(submission) for submission in own]
    after = [
        _after(PrimaryCandidate.of(submission, gives_up=submission.id in gives_up), run, act, holds, now)
        for submission in own
    ]
    scored, column = _scored(session, actor, evaluation, run.team_id, now)
    choice = evaluation.campaign.run_choice
    known = choice is not RunChoice.BEST or column is not None
    primaries = primary_run(before), primary_run(after)
    stands = _standing(scored, choice, column)
    would = _standing(_changed(scored, run, act, holds, primaries, now), choice, column)
    changes = []
    for key in sorted(stands.runs.keys() | would.runs.keys()):
        if key[0] not in systems:
            continue
        one, other = stands.runs.get(key), would.runs.get(key)
        rank, new_rank = stands.ranks.get(one or 0), would.ranks.get(other or 0)
        if one != other or rank != new_rank:
            name = names.get(one or 0, ""), names.get(other or 0, "")
            changes.append(Change(systems[key[0]], key[1], *name, rank, new_rank))
    was, is_now = (names.get(number or 0, "") for number in primaries)
    demoted = [new for old, new in zip(before, after, strict=True) if old.designation is not new.designation]
    return Effect(
        changes=tuple(changes) if known else (),
        primary=(was, is_now) if was != is_now else None,
        contrastive=tuple(names[submission.id] for submission in demoted if submission.id != run.id),
        ranked=column is not None and may_see(actor, evaluation, Content.RESULTS, now),
        known=known,
    )


def _refusal(session: Session, actor: Actor, run: Submission, act: Act, now: dt.datetime) -> str | None:
    """Why `act` can't be done to the run; None where it can."""
    match act:
        case Act.STAND:
            return select_refusal(session, actor, run, now)
        case Act.PRIMARY:
            return primary_refusal(session, actor, run, now)
        case Act.WITHDRAW:
            return withdrawal_refusal(run)
        case _:
            return hide_refusal(run)


def _after(entered: PrimaryCandidate, run: Submission, act: Act, holds: bool, now: dt.datetime) -> PrimaryCandidate:
    """The submission as `services.submissions` would leave it."""
    if entered.id == run.id:
        match act:
            case Act.STAND:
                return entered
            case Act.PRIMARY:
                return replace(entered, designation=Designation.PRIMARY)
            case _:
                return replace(entered, withdrawn_at=now, holds_place=holds and entered.scored_at is not None)
    if act is Act.PRIMARY and entered.designation is Designation.PRIMARY:
        if entered.holds_place:
            return replace(entered, holds_place=False)
        if entered.withdrawn_at is None and entered.ruling is None:
            return replace(entered, designation=Designation.CONTRASTIVE)
    return entered


def _scored(
    session: Session, actor: Actor, evaluation: Evaluation, team_id: int, now: dt.datetime
) -> tuple[list[ScoredRun], Column | None]:
    """The scored runs that the reader sees means of, and by which measure; else the team's alone, and None."""
    column = primary_columns(current_sets(session, [evaluation.id])).get(evaluation.id)
    if column is not None and may_see(actor, evaluation, Content.RESULTS, now, team_id):
        return list(load_entries(session, actor, [evaluation], now, {column.name})), column
    of_team = Submission.team_id == team_id, Submission.evaluation_id == evaluation.id
    return [run for of_set in scored_runs(session, *of_team).values() for run in of_set], None


def _changed(
    runs: Iterable[ScoredRun],
    run: Submission,
    act: Act,
    holds: bool,
    primaries: tuple[int | None, int | None],
    now: dt.datetime,
) -> list[ScoredRun]:
    was, is_now = primaries
    place_of_run = run.system_id, run.late
    replaced = next((one for one in runs if one.submission_id == is_now), None)
    changed = []
    for other in runs:
        own = other.submission_id == run.id
        if own and act in {Act.WITHDRAW, Act.EMPTY, Act.FILL}:
            if not holds:
                continue
            other = replace(other, off_board=True)  # noqa: PLW2901  # the run as it would be
        elif other.off_board and act in {Act.STAND, Act.PRIMARY} and (other.system_id, other.late) == place_of_run:
            continue
        if own and act is Act.STAND:
            other = replace(other, chosen_at=now)  # noqa: PLW2901  # as above
        # `settle_primary`: the old primary run goes on standing for its own system.
        kept = other.submission_id == was and replaced is not None and replaced.system_id != other.system_id
        if kept and was != is_now and not other.off_board:
            other = replace(other, chosen_at=now)  # noqa: PLW2901  # as above
        if was is not None or is_now is not None:
            mine = other.submission_id in {was, is_now}
            other = replace(other, is_primary=other.submission_id == is_now) if mine else other  # noqa: PLW2901  # as above
        changed.append(other)
    return changed


def _standing(runs: list[ScoredRun], choice: RunChoice, column: Column | None) -> _Standing:
    mean: Callable[[ScoredRun], float | None] = lambda _: None  # noqa: E731  # a figure, where there is one
    if column is not None:
        name = column.name
        mean = lambda one: one.figure(name).mean if isinstance(one, Entry) else None  # noqa: E731  # as above
    standing = selected_runs(runs, choice, mean, column.direction if column else "none")
    taken = ranks([entry for entry in standing if isinstance(entry, Entry)], column) if column else {}
    return _Standing({(scored.system_id, scored.late): scored.submission_id for scored in standing}, taken)
