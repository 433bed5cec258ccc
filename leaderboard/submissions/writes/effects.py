"""What choosing, withdrawing or taking a run off the boards would change: done, looked at and undone."""

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import chain
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, Content, may_see
from leaderboard.boards.reads.entries import Column, disclosures, load_entries
from leaderboard.boards.reads.ranking import ranks
from leaderboard.campaigns.reads import primary_columns
from leaderboard.errors import Conflict, NotFound
from leaderboard.submissions.models import Participation, Submission
from leaderboard.submissions.reads.selection import of_team, scored_runs
from leaderboard.submissions.reads.status import find_submission
from leaderboard.submissions.rules import Designation, Ruling, RunChoice, ScoredRun, selected_runs
from leaderboard.submissions.writes import submissions
from leaderboard.worker.reads import current_sets


class Act(StrEnum):
    """What may be done to a run that changes which run stands."""

    STAND = "stand"
    PRIMARY = "primary"
    WITHDRAW = "withdraw"
    EMPTY = "empty"  # taken off by organisers, and its place stays empty
    FILL = "fill"  # taken off by organisers, and another run of its system stands


_hide = partial(submissions.hide_run, ruling=Ruling.HIDDEN, because="-")
ACTS: dict[Act, Callable[..., None]] = {
    Act.STAND: submissions.select_run,
    Act.PRIMARY: submissions.make_primary,
    Act.WITHDRAW: submissions.withdraw,
    Act.EMPTY: partial(_hide, holds_place=True),
    Act.FILL: partial(_hide, holds_place=False),
}


@dataclass(frozen=True, slots=True)
class EffectsChange:
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

    changes: tuple[EffectsChange, ...] = ()
    primary: tuple[str, str] | None = None
    contrastive: tuple[str, ...] = ()
    ranked: bool = False
    known: bool = True
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


class _Standing(NamedTuple):
    """Of a team in an evaluation: its runs that stand, by system and whether late, each as (name, rank); the name of
    its primary run, and the names of those submitted as primary."""

    runs: dict[tuple[str, bool], tuple[str, int | None]]
    primary: str
    primaries: frozenset[str]


def effect(session: Session, actor: Actor, submission_id: int, now: dt.datetime, *, act: Act) -> Effect:
    """What `act` on the run would change among its team's systems.

    session  of a writing transaction, which is rolled back

    Raises NotFound for whoever may do no such thing.
    """
    run = find_submission(session, actor, submission_id, now).run
    evaluation = run.evaluation
    if not actor.answers_for(run.team_id, evaluation.campaign_id):
        raise NotFound
    column = primary_columns(current_sets(session, [evaluation.id])).get(evaluation.id)
    if not may_see(actor, evaluation, Content.RESULTS, now, run.team_id):
        column = None
    known = column is not None or evaluation.campaign.run_choice is not RunChoice.BEST
    ranked = column is not None and may_see(actor, evaluation, Content.RESULTS, now)
    before = _standing(session, actor, run, now, column)
    moment = {} if act in {Act.EMPTY, Act.FILL} else {"now": now}
    try:
        ACTS[act](session, actor, run, **moment)
        session.flush()
        after = _standing(session, actor, run, now, column)
    except Conflict as refused:
        return Effect(refusal=refused.message)
    finally:
        session.rollback()
    nothing = "", None
    changes = [
        EffectsChange(*slot, was[0], then[0], was[1], then[1])
        for slot in sorted(before.runs.keys() | after.runs.keys())
        if (was := before.runs.get(slot, nothing)) != (then := after.runs.get(slot, nothing))
    ]
    return Effect(
        changes=tuple(changes) if known else (),
        primary=(before.primary, after.primary) if before.primary != after.primary else None,
        contrastive=tuple(sorted(before.primaries - after.primaries)),
        ranked=ranked,
        known=known,
    )


def _standing(session: Session, actor: Actor, run: Submission, now: dt.datetime, column: Column | None) -> _Standing:
    """column: the primary measure, None where the reader does not see the team's results."""
    evaluation, choice = run.evaluation, run.evaluation.campaign.run_choice
    of_run = of_team(run.team_id, evaluation.id)
    own = {entered.id: entered for entered in session.scalars(sa.select(Submission).where(*of_run))}
    shown: Sequence[ScoredRun]
    if column is not None:
        entries = load_entries(session, disclosures(session, actor, [evaluation], now), {column.name})
        shown = standing = selected_runs(
            entries, choice, lambda entry: entry.figure(column.name).mean, column.direction
        )
        ranked = ranks(standing, column)
    else:
        scored, ranked = chain.from_iterable(scored_runs(session, *of_run).values()), {}
        shown = selected_runs(scored, choice, lambda _: None, "none")
    stand = [(own[each.submission_id], each) for each in shown if each.submission_id in own]
    part = session.get(Participation, (run.team_id, evaluation.id))
    primary = own.get(part.primary_submission_id or 0) if part else None
    return _Standing(
        {(own_run.system.name, each.late): (own_run.name, ranked.get(own_run.id)) for own_run, each in stand},
        primary.name if primary else "",
        frozenset(entered.name for entered in own.values() if entered.designation is Designation.PRIMARY),
    )
