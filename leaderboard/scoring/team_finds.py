"""Leave one team out: the relevant documents that the runs of one team alone list, and its figures without them.

What only one team found would not have been judged, had the team not taken part. So a team whose figure falls without
its own finds is one that a later system of another kind may be treated like: its finds are unjudged there.

Sources: J. Zobel, How Reliable Are the Results of Large-Scale Information Retrieval Experiments?, SIGIR 1998; C.
Buckley, D. Dimmick, I. Soboroff and E. Voorhees, Bias and the Limits of Pooling for Large Collections, Information
Retrieval 10, 2007.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from leaderboard.formats import Run
from leaderboard.metrics import Measure, Setting
from leaderboard.scoring import JudgedQueries, score
from leaderboard.scoring.joined_run import judged_within
from leaderboard.scoring.judged_queries import without

DEPTH = 100  # ranks within which a run finds a document
MOST_LINES = 50_000_000  # of all runs together: a minute or two, in which a worker scores nothing else
NOBODY, SEVERAL = -1, -2  # in place of the team that found a document


class TeamRun(NamedTuple):
    """team: a number; 0 for all baselines."""

    team: int
    submission_id: int
    scoring_id: int
    threshold: float | None
    lines: int


def team_finds(
    runs: Sequence[TeamRun],
    read: Callable[[int], Run],
    judged: Mapping[str, JudgedQueries],
    measure: Measure,
    setting: Setting,
    level: int,
) -> dict[str, Any]:
    """What was found, which JSON can hold.

    read: a run's file by its submission; each is read once, and once more for each subset in which its team alone found
    something. judged: subset of the queries -> its judgments.
    level: the lowest relevant grade. Of each subset: `relevant`, how many documents are; `teams`, each with its
    `runs`, its `unique` documents, and `without`: scoring -> the figure that the run has without them, None where it is
    undefined, and where there are none of them. `lines` alone where the runs have more than MOST_LINES.
    """
    lines = sum(run.lines for run in runs)
    if lines > MOST_LINES:
        return {"lines": lines}
    by_team = {team: [*own] for team, own in groupby(sorted(runs), key=lambda run: run.team)}
    finders = {subset: np.full(len(each.judged_grade), NOBODY) for subset, each in judged.items()}
    for run in sorted(runs):
        file = read(run.submission_id)
        for subset, each in judged.items():
            finder, places = finders[subset], judged_within(file, each, setting.compat, DEPTH)
            finder[places] = np.where(np.isin(finder[places], (NOBODY, run.team)), run.team, SEVERAL)
    finds: dict[str, Any] = {}
    for subset, each in judged.items():
        relevant = each.judged_grade >= level
        finds[subset] = {"relevant": int(relevant.sum()), "teams": []}
        for team, own in by_team.items():
            places = np.flatnonzero(relevant & (finders[subset] == team))
            left, means = without(each, places), dict[str, float | None].fromkeys(str(run.scoring_id) for run in own)
            for run in own if len(places) else ():
                scored = score(read(run.submission_id), left, [measure], setting, threshold=run.threshold)
                mean = scored.results[measure].mean
                means[str(run.scoring_id)] = mean if math.isfinite(mean) else None
            finds[subset]["teams"].append({"team": team, "runs": len(own), "unique": len(places), "without": means})
    return {"lines": lines, "depth": DEPTH, "subsets": finds}
