"""Leave one team out: the relevant documents that the runs of one team alone list, and its figures without them.

What only one team found would not have been judged, had the team not taken part. So a team whose figure falls without
its own finds is one that a later system of another kind may be treated like: its finds are unjudged there.

Sources: J. Zobel, How Reliable Are the Results of Large-Scale Information Retrieval Experiments?, SIGIR 1998; C.
Buckley, D. Dimmick, I. Soboroff and E. Voorhees, Bias and the Limits of Pooling for Large Collections, Information
Retrieval 10, 2007.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from leaderboard.formats import Run
from leaderboard.metrics import Measure, Setting
from leaderboard.scoring import JudgedQueries, score
from leaderboard.scoring.joined_run import judged_within
from leaderboard.scoring.judged_queries import without

DEPTH = 100  # ranks within which a run finds a document
MOST_LINES = 200_000_000  # of all runs together: a few minutes


class TeamRun(NamedTuple):
    """team: a number; 0 for all baselines. stands: whether the run's figure is wanted."""

    team: int
    submission_id: int
    scoring_id: int
    threshold: float | None
    stands: bool


def team_finds(
    runs: Sequence[TeamRun],
    read: Callable[[int], Run],
    judged: Mapping[str, JudgedQueries],
    measure: Measure,
    setting: Setting,
    level: int,
) -> Iterator[dict[str, Any] | None]:
    """None after each run that was read, so that other work may come between; last what was found, which JSON can hold.

    read: a run's file by its submission; each is read up to twice. judged: subset of the queries -> its judgments.
    level: the lowest relevant grade. Of each subset: `relevant`, how many documents are; `teams`, each with its
    `runs`, its `unique` documents, and `without`: scoring -> the figure that the run has without them, None where it is
    undefined, and where there are none of them. `lines` alone where the runs have more than MOST_LINES.
    """
    by_team = {team: [*own] for team, own in groupby(sorted(runs), key=lambda run: run.team)}
    teams, last = ({subset: np.zeros(len(own.judged_grade), np.int64) for subset, own in judged.items()} for _ in "12")
    lines = 0
    for team, own in by_team.items():
        listed = {subset: np.zeros(len(each.judged_grade), bool) for subset, each in judged.items()}
        for run in own:
            file = read(run.submission_id)
            lines += len(file)
            for subset, each in judged.items():
                listed[subset][judged_within(file, each, setting.compat, DEPTH)] = True
            yield None
        for subset, own_list in listed.items():
            teams[subset] += own_list
            last[subset][own_list] = team
        if lines > MOST_LINES:
            yield {"lines": lines}
            return
    finds: dict[str, Any] = {}
    for subset, times in teams.items():
        relevant = judged[subset].judged_grade >= level
        finds[subset] = {"relevant": int(relevant.sum()), "teams": []}
        for team, own in by_team.items():
            places = np.flatnonzero(relevant & (times == 1) & (last[subset] == team))
            standing, left = [run for run in own if run.stands], without(judged[subset], places)
            means: dict[str, float | None] = {str(run.scoring_id): None for run in standing}
            for run in standing if len(places) else ():
                scored = score(read(run.submission_id), left, [measure], setting, threshold=run.threshold)
                mean = scored.results[measure].mean
                means[str(run.scoring_id)] = mean if math.isfinite(mean) else None
                yield None
            finds[subset]["teams"].append({"team": team, "runs": len(own), "unique": len(places), "without": means})
    yield {"lines": lines, "depth": DEPTH, "subsets": finds}
