"""Boards of an evaluation as arrays, for pages that compare them: what each lists, ranks and says by each measure."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, Sight, may_see, subset_seen
from leaderboard.lookup import has_its_place, scored_runs
from leaderboard.metrics import Floats
from leaderboard.metrics.ranking import Ints
from leaderboard.models import Evaluation, Scoring, ScoringSet, Submission
from leaderboard.reads.columns import Column
from leaderboard.reads.entries import Figure, scorings_of
from leaderboard.reads.means import Wanted, load_figures
from leaderboard.reads.orders import Ranked
from leaderboard.reads.runs import Runs, load_runs
from leaderboard.reads.seen import figures_as_seen, means_as_seen, results_seen
from leaderboard.reads.standings import Show, show_of, stands_by
from leaderboard.rules.standings import KeptChoice, RunChoice, best_runs, places_of, standing_runs

__all__ = ["ComparedBoard", "Line", "load_boards"]


@dataclass(frozen=True, slots=True)
class Line:
    """The run that stands for a system, and its figure by the measure that is looked at."""

    submission_id: int
    figure: Figure


@dataclass(frozen=True, slots=True)
class ComparedBoard:
    """What a set's board lists, as one reader sees it.

    moment   by whose rules the figures are seen
    runs     from which those that stand are chosen, in the order of their arrival where that has a say
    means    by every measure that is compared, the means of these runs as the reader sees them; NaN for none
    lines    system -> the run that stands for it by the measure that is looked at; of one in time and one late that in
             time
    """

    scoring_set: ScoringSet
    moment: dt.datetime
    show: Show
    results_open: bool
    runs: Runs
    means: dict[str, Floats]
    lines: dict[int, Line] = field(default_factory=dict)
    chosen: dict[str, Ints] = field(default_factory=dict)
    ranks: dict[str, Ranked] = field(default_factory=dict)

    def standing(self, by: Column) -> Ints:
        """Where those that stand are in `runs`, found once where the measure has no say in it."""
        key = by.name if self.show is Show.BEST else ""
        if key not in self.chosen:
            means = self._means(by) if self.show is Show.BEST else np.zeros(len(self.runs.systems))
            stand = best_runs(_places(self.runs), means, by.direction)  # of equal means the latest stands
            self.chosen[key] = stand[~self.runs.off_board[stand]]
        return self.chosen[key]

    def _means(self, by: Column) -> Floats:
        return self.means.get(by.name, np.full(len(self.runs.systems), np.nan))

    def ranked(self, by: Column) -> Ranked:
        """Nothing where the results are not open. Found once for each measure."""
        if by.name not in self.ranks:
            self.ranks[by.name] = self._ranked(by)
        return self.ranks[by.name]

    def _ranked(self, by: Column) -> Ranked:
        standing, means = self.standing(by), self._means(by)
        if not self.results_open or by.direction == "none":
            standing = standing[:0]
        may_rank = ~(self.runs.late | self.runs.baseline | np.isnan(means))
        standing = standing[may_rank[standing]]
        ranks = places_of(means[standing], by.direction)
        return Ranked(self.runs.systems[standing], self.runs.submissions[standing], ranks)


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
    runs = _load_runs(session, actor, evaluation, [(one, moment) for one, moment, _ in asked], show)
    wanted = [
        Wanted(one.id, subset_seen(actor, evaluation, moment), names, own.scorings, in_full=[looked_at.name])
        for (one, moment, names), own, looked_at in zip(asked, runs, by, strict=True)
    ]
    boards = []
    for (one, moment, _), own, found, looked_at in zip(asked, runs, load_figures(session, wanted), by, strict=True):
        seen = actor, evaluation, one, moment
        means = {name: means_as_seen(*seen, own.own, name, figures[0]) for name, figures in found.items()}
        results_open = may_see(actor, evaluation, Sight.RESULTS, moment)
        board = ComparedBoard(one, moment, show, results_open, own, means)
        standing = board.standing(looked_at)
        standing = standing[np.argsort(~own.late[standing], kind="stable")]
        stand = own.at(standing)
        in_full = found.get(looked_at.name, np.full((4, len(own.scorings)), np.nan))[:, standing]
        figures = figures_as_seen(*seen, stand.own, looked_at.name, in_full)
        for system, run, figure in zip(stand.systems.tolist(), stand.submissions.tolist(), figures, strict=True):
            board.lines[system] = Line(run, figure)
        boards.append(board)
    return tuple(boards)


def _load_runs(
    session: Session,
    actor: Actor,
    evaluation: Evaluation,
    sets: Sequence[tuple[ScoringSet, dt.datetime]],
    show: Show,
) -> list[Runs]:
    """The runs that `standing` has to choose from, in the order of their arrival where it asks for that."""
    asked = stands_by(KeptChoice(RunChoice.PRIMARY)) if show is Show.PRIMARY else None
    listed = {one.id: scorings_of(one, moment, asked) for one, moment in sets}
    found: dict[int, Runs] = {}
    for kept in (True, False):
        own = {number: which for number, (which, standing) in listed.items() if (standing is not None) is kept}
        if own:
            of_each = (sa.and_(Scoring.scoring_set_id == number, *which) for number, which in own.items())
            which = sa.and_(has_its_place(), sa.or_(*of_each))
            found |= load_runs(
                session, actor, own, which, standing=asked if kept else None, by_arrival=show is not Show.PRIMARY
            )
    runs = []
    for one, moment in sets:
        own_runs = found[one.id]
        if show is Show.PRIMARY:
            own_runs = own_runs.at(_by_rule(session, one, own_runs))
        runs.append(own_runs.at(results_seen(actor, evaluation, moment, own_runs.own)))
    return runs


def _by_rule(session: Session, scoring_set: ScoringSet, runs: Runs) -> Ints:
    """Where the runs are that stand by the rule of primary runs, which no array says: of a system with several runs,
    because what stands is not kept or systems were united since, they are read."""
    _, group, size = np.unique(_places(runs), return_inverse=True, return_counts=True)
    several = size[group] > 1
    if not several.any():
        return np.arange(len(group))
    ids = {*runs.submissions[several].tolist()}
    of_systems = Submission.system_id.in_(np.unique(runs.systems[several]).tolist())
    read = scored_runs(session, of_systems, of_sets=ScoringSet.id == scoring_set.id)[scoring_set.id]
    chosen = standing_runs(
        [one for one in read if one.submission_id in ids], RunChoice.PRIMARY, lambda _: None, "higher"
    )
    stand = [one.submission_id for one in chosen]
    return np.flatnonzero(~several | np.isin(runs.submissions, stand))


def _places(runs: Runs) -> Ints:
    """Of each run a number of its place: of the runs of one place one stands."""
    return 2 * runs.systems + runs.late
