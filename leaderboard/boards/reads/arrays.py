"""Boards of an evaluation as arrays, for pages that compare them: what each lists and ranks, and how two order the
systems that both rank."""

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, Content
from leaderboard.boards.reads.columns import Column
from leaderboard.boards.reads.entries import NO_FIGURE, Disclosure, Figure, scorings_of
from leaderboard.boards.reads.ranking import Show, show_of, stands_by
from leaderboard.evaluations.models import Evaluation
from leaderboard.metrics import Floats
from leaderboard.metrics.families.agreement import pairs, tau_ap_of, tau_b
from leaderboard.metrics.segments import Ints
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.run_arrays import RunFigures, Runs, Wanted, load_figures, load_runs
from leaderboard.submissions.reads.selection import has_its_place, scored_runs
from leaderboard.submissions.rules import RunChoice, StoredChoice, best_runs, places_of, selected_runs
from leaderboard.worker.models import Scoring, ScoringSet


@dataclass(frozen=True, slots=True)
class Line:
    """The run that stands for a system, and its figure by the measure that is looked at."""

    submission_id: int
    figure: Figure


@dataclass(frozen=True, slots=True)
class Ranked:
    """The systems that a board ranks by one measure, each by one run; systems rise."""

    systems: Ints
    runs: Ints
    ranks: Ints

    @property
    def of_system(self) -> dict[int, int]:
        """System -> its rank."""
        return dict(zip(self.systems.tolist(), self.ranks.tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class ComparedBoard:
    """What a set's board lists, as one reader sees it.

    runs     from which those that stand are chosen, in the order of their arrival where that has a say
    figures  of these runs by every measure that is compared
    lines    system -> the run that stands for it by the measure that is looked at; of one in time and one late that in
             time
    """

    scoring_set: ScoringSet
    disclosure: Disclosure
    show: Show
    runs: Runs
    figures: Mapping[str, RunFigures]
    lines: dict[int, Line] = field(default_factory=dict)
    chosen: dict[str, Ints] = field(default_factory=dict)
    ranks: dict[str, Ranked] = field(default_factory=dict)

    @property
    def results_open(self) -> bool:
        return self.disclosure.sees(Content.RESULTS, own=False)

    def standing(self, by: Column) -> Ints:
        """Where those that stand are in `runs`, found once where the measure has no say in it."""
        key = by.name if self.show is Show.BEST else ""
        if key not in self.chosen:
            means = self._means(by) if self.show is Show.BEST else np.zeros(len(self.runs.systems))
            stand = best_runs(self.runs.groups, means, by.direction)  # of equal means the latest stands
            self.chosen[key] = stand[~self.runs.off_board[stand]]
        return self.chosen[key]

    def ranked(self, by: Column) -> Ranked:
        """Nothing where the results are not open. Found once for each measure."""
        if by.name not in self.ranks:
            standing, means = self.standing(by), self._means(by)
            if not self.results_open or by.direction == "none":
                standing = standing[:0]
            may_rank = ~(self.runs.late | self.runs.baseline | np.isnan(means))
            standing = standing[may_rank[standing]]
            ranks = places_of(means[standing], by.direction)
            self.ranks[by.name] = Ranked(self.runs.systems[standing], self.runs.submissions[standing], ranks)
        return self.ranks[by.name]

    def _means(self, by: Column) -> Floats:
        return self.figures[by.name].means if by.name in self.figures else np.full(len(self.runs.systems), np.nan)

    def note_lines(self, by: Column) -> None:
        """Fills in `lines`; `by` is the measure that is looked at."""
        standing = self.standing(by)
        standing = standing[np.argsort(~self.runs.late[standing], kind="stable")]
        stand = self.runs.at(standing)
        figures = self.figures[by.name].at(standing) if by.name in self.figures else [NO_FIGURE] * len(standing)
        for system, run, figure in zip(stand.systems.tolist(), stand.submissions.tolist(), figures, strict=True):
            self.lines[system] = Line(run, figure)


def load_boards(
    session: Session,
    actor: Actor,
    evaluation: Evaluation,
    asked: Sequence[tuple[ScoringSet, dt.datetime, Sequence[str]]],
    by: Sequence[Column],
) -> tuple[ComparedBoard, ...]:
    """The boards by these sets, each with the moment by whose rules it is seen, and by these measures.

    by  of each board the measure that is looked at
    """
    show = show_of(None, evaluation.campaign.run_choice)
    runs = _load_runs(session, actor, [(scoring_set, moment) for scoring_set, moment, _ in asked], show)
    wanted = []
    for (scoring_set, moment, names), own_runs, looked_at in zip(asked, runs, by, strict=True):
        disclosure = Disclosure(actor, evaluation, scoring_set, moment)
        seen_runs = own_runs.at(disclosure.sees_each(Content.RESULTS, own_runs.own))
        wanted.append(Wanted(scoring_set.id, disclosure, names, seen_runs, in_full=[looked_at.name]))
    boards = []
    for (scoring_set, _, _), each, figures, looked_at in zip(
        asked, wanted, load_figures(session, wanted), by, strict=True
    ):
        board = ComparedBoard(scoring_set, each.disclosure, show, each.runs, figures)
        board.note_lines(looked_at)
        boards.append(board)
    return tuple(boards)


def _load_runs(
    session: Session, actor: Actor, sets: Sequence[tuple[ScoringSet, dt.datetime]], show: Show
) -> list[Runs]:
    """The runs that `standing` has to choose from, in the order of their arrival where it asks for that."""
    asked = stands_by(StoredChoice(RunChoice.PRIMARY)) if show is Show.PRIMARY else None
    listed = {scoring_set.id: scorings_of(scoring_set, moment, asked) for scoring_set, moment in sets}
    loaded: dict[int, Runs] = {}
    for by_rows in (True, False):
        own = {number: which for number, (which, standing) in listed.items() if (standing is not None) is by_rows}
        if own:
            of_each = (sa.and_(Scoring.scoring_set_id == number, *which) for number, which in own.items())
            which = sa.and_(has_its_place(), sa.or_(*of_each))
            standing = asked if by_rows else None
            loaded |= load_runs(session, actor, own, which, standing=standing, by_arrival=show is not Show.PRIMARY)
    if show is Show.PRIMARY:
        return [loaded[each.id].at(_by_rule(session, each, loaded[each.id])) for each, _ in sets]
    return [loaded[each.id] for each, _ in sets]


def _by_rule(session: Session, scoring_set: ScoringSet, runs: Runs) -> Ints:
    """Where the runs are that stand by the rule of primary runs, which no array says: of a system with several runs,
    because what stands is not kept or systems were united since, they are read."""
    _, group, size = np.unique(runs.groups, return_inverse=True, return_counts=True)
    several = size[group] > 1
    if not several.any():
        return np.arange(len(group))
    ids = {*runs.submissions[several].tolist()}
    of_systems = Submission.system_id.in_(np.unique(runs.systems[several]).tolist())
    read = scored_runs(session, of_systems, of_sets=ScoringSet.id == scoring_set.id)[scoring_set.id]
    candidates = [run for run in read if run.submission_id in ids]
    chosen = selected_runs(candidates, RunChoice.PRIMARY, lambda _: None, "higher")
    return np.flatnonzero(~several | np.isin(runs.submissions, [run.submission_id for run in chosen]))


@dataclass(frozen=True, slots=True)
class Orders:
    """How two boards order the systems that both rank by the same run, by one measure.

    Where the best runs stand, another run is the judgments' doing, so that systems that both rank are compared.

    systems   that are compared
    swapped   pairs of them in one order before and in the other after: Kendall's distance, in pairs
    parted    pairs that tie on one of the two boards only
    tau       Kendall's τ-b, which takes ties into account; None where it is undefined
    tau_ap    with the first board as the reference, those that tie in it in the order of their names; None likewise
    leaders   the names of the first ones, before and after
    largest   the most places that a system went up or down
    """

    column: Column
    systems: int
    swapped: int
    parted: int
    tau: float | None
    tau_ap: float | None
    leaders: tuple[tuple[str, ...], tuple[str, ...]]
    largest: int

    @property
    def pairs(self) -> int:
        return math.comb(self.systems, 2)

    @property
    def changed(self) -> bool:
        return bool(self.swapped or self.parted)


@dataclass(frozen=True, slots=True)
class Names:
    """What sentences call systems, in the order of the names. systems: their ids in this order."""

    of_system: Mapping[int, str]
    systems: Ints


@dataclass(frozen=True, slots=True)
class Shared:
    """The systems that are compared on two boards, and their places before and after among themselves."""

    systems: Ints
    before: Ints
    after: Ints

    @property
    def moves(self) -> dict[int, int]:
        """System -> how many places it went up."""
        return dict(zip(self.systems.tolist(), (self.before - self.after).tolist(), strict=True))


def shared(boards: Sequence[ComparedBoard], by: tuple[Column, Column]) -> Shared:
    """The systems that two boards rank by the same run, by whichever run where the best ones stand; by a measure that
    each board has its own name of."""
    before, after = (board.ranked(own) for board, own in zip(boards, by, strict=True))
    there = _places_in(after.systems, before.systems)
    here = np.flatnonzero(there >= 0)
    there = there[here]
    if boards[1].show is not Show.BEST:
        same = before.runs[here] == after.runs[there]
        here, there = here[same], there[same]
    return Shared(before.systems[here], _among(before.ranks[here]), _among(after.ranks[there]))


def _places_in(rising: Ints, wanted: Ints) -> Ints:
    """Where each of these numbers stands among those that rise; -1 where it does not."""
    if not len(rising):
        return np.full(len(wanted), -1)
    at = np.minimum(np.searchsorted(rising, wanted), len(rising) - 1)
    return np.where(rising[at] == wanted, at, -1)


def _among(ranks: Ints) -> Ints:
    """The places among themselves of systems with these ranks."""
    return np.searchsorted(np.sort(ranks), ranks) + 1


def orders(column: Column, compared: Shared, names: Names) -> Orders:
    """By this measure. names: of these systems and maybe of others."""
    at = _places_in(compared.systems, names.systems)
    at = at[at >= 0]
    systems, before, after = compared.systems[at], compared.before[at], compared.after[at]
    counts = pairs(before, after)
    tau = _defined(tau_b(counts))
    reference = np.empty(len(at), dtype=np.int64)
    reference[np.argsort(before, kind="stable")] = np.arange(len(at))
    in_order = reference[np.argsort(after, kind="stable")]
    return Orders(
        column=column,
        systems=len(at),
        swapped=counts.discordant,
        parted=counts.tied_first + counts.tied_second - 2 * counts.tied_both,
        tau=tau,
        tau_ap=None if tau is None else _defined(tau_ap_of(in_order)),
        leaders=(_leaders(systems[before == 1], names), _leaders(systems[after == 1], names)),
        largest=int(np.abs(before - after).max(initial=0)),
    )


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else value


def _leaders(systems: Ints, names: Names) -> tuple[str, ...]:
    return tuple(sorted(names.of_system[system] for system in systems.tolist()))
