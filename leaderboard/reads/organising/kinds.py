"""What another kind of a system would change on boards: told before it is saved, since it holds for all its years."""

import datetime as dt
from dataclasses import dataclass, replace

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor
from leaderboard.lookup import current_sets
from leaderboard.models import Campaign, Evaluation, Submission, System
from leaderboard.numbers import counted
from leaderboard.reads.campaigns import primary_candidates, primary_columns
from leaderboard.reads.standings import choose, ranks, show_of
from leaderboard.rules.digests import digest
from leaderboard.rules.standings import SystemKind

__all__ = ["KindEffect", "OtherBoard", "kind_effect"]


@dataclass(frozen=True, slots=True)
class OtherBoard:
    """A board that the system stands on. before, after: its rank there; others: how many other systems' change."""

    campaign: str
    evaluation: str
    before: int | None
    after: int | None
    others: int

    @property
    def in_words(self) -> str:
        """`Harbour, Text 2026: rank 2 now, none then; the rank of 3 other systems changes`."""
        was, then = (f"rank {rank}" if rank else "no rank" for rank in (self.before, self.after))
        moved = f"; {counted(self.others, 'other system moves', 'other systems move')}" if self.others else ""
        return f"{self.campaign}, {self.evaluation}: {was} now, {then} after it{moved}"


@dataclass(frozen=True, slots=True)
class KindEffect:
    """The boards that would be others, closed years too, the oldest first; empty where no rank depends on the change.

    name  of the system
    """

    name: str
    kind: SystemKind
    boards: tuple[OtherBoard, ...]

    @property
    def in_words(self) -> str:
        """Of all boards together: on how many, of how many campaigns."""
        campaigns = len({board.campaign for board in self.boards})
        where = f"{counted(len(self.boards), 'board')} of {counted(campaigns, 'campaign')}"
        if self.kind is SystemKind.BASELINE:
            return f"{self.name} is a baseline on {where}: shown there and never ranked, in past years too."
        return f"{self.name} is no baseline any more on {where}, and takes a rank there, in past years too."

    @property
    def seen(self) -> str:
        """Of all of this: a form brings it along, so that nobody says yes to something else."""
        return digest([self.name, self.kind, [board.in_words for board in self.boards]])[:16]


def kind_effect(session: Session, actor: Actor, system_id: int, kind: SystemKind, now: dt.datetime) -> KindEffect:
    """What changes on which boards where the system is made one of this kind, by each campaign's primary measure.

    For whoever may change it: they organise all campaigns that it has runs in.
    """
    system = session.get_one(System, system_id)
    baseline = kind is SystemKind.BASELINE
    if baseline is (system.kind is SystemKind.BASELINE):
        return KindEffect(system.name, kind, ())
    entered = sa.select(Submission.evaluation_id).where(Submission.system_id == system_id)
    evaluations = session.scalars(
        sa.select(Evaluation)
        .join(Campaign)
        .where(Evaluation.id.in_(entered))
        .order_by(Campaign.title, Evaluation.period_key, Evaluation.title)
    ).all()
    columns = primary_columns(current_sets(session, [one.id for one in evaluations]))
    entries = primary_candidates(session, actor, evaluations, now)
    boards = []
    for one in evaluations:
        if (column := columns.get(one.id)) is None:
            continue
        own = [entry for entry in entries if entry.evaluation_id == one.id]
        standing = choose(own, show_of(None, one.campaign.run_choice), column)
        mine = {entry.submission_id for entry in standing if entry.system_id == system_id}
        if not mine:
            continue
        then = [replace(run, is_baseline=baseline) if run.submission_id in mine else run for run in standing]
        before, after = ranks(standing, column), ranks(then, column)
        others = sum(before.get(run) != after.get(run) for run in (before.keys() | after.keys()) - mine)
        was, will_be = (next((found[run] for run in mine if run in found), None) for found in (before, after))
        boards.append(OtherBoard(one.campaign.title, one.title, was, will_be, others))
    return KindEffect(system.name, kind, tuple(boards))
