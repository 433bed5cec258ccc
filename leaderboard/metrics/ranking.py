"""A run joined with its judgments, over all queries at once: what every measure is computed from."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Ints", "NoRelevant", "Ranking", "Setting"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

NoRelevant = Literal["exclude", "pfa_only", "pmiss_zero"]


@dataclass(frozen=True, slots=True)
class Setting:
    """What an evaluation fixes for every run, beside its judgments.

    documents      N_total, documents in the collection; None when unknown (then detection measures can't be computed)
    beta           β of Value = 1 − (P_miss + β · P_fa); None when the campaign states none
    no_relevant    what becomes of a query without relevant documents in the detection measures
    compat         trec_eval's version whose conventions hold: 10 or 9
    highest_grade  the evaluation's highest grade (ERR's default gmax); None: the highest judged one
    """

    documents: int | None = None
    beta: float | None = None
    no_relevant: NoRelevant = "exclude"
    compat: Literal[9, 10] = 10
    highest_grade: int | None = None


@dataclass(frozen=True)
class Ranking:
    """One run's judged documents in rank order, and per query what else the measures ask for.

    Q queries, H hits (retrieved documents that have a judgment), J judgments, L lines of the run on these queries.
    Ranks of unjudged documents are never materialised: a rank between two hits holds an unjudged document.

    retrieved     int64[Q]    documents the run lists (0 for a missing query)
    returned      int64[Q]    those that count as returned: decision Y, else score >= θ, else all
    in_run        bool[Q]     the run has this query
    query         int64[H]    0 .. Q-1, never falling
    rank          int64[H]    1-based, rising within a query
    grade         int64[H]    as judged; negative grades are kept (measures decide)
    is_returned   bool[H]
    judged_start  int64[Q+1]  query q's judgments are judged_grade[judged_start[q]:judged_start[q + 1]]
    judged_grade  int64[J]    falling within a query: the ideal order
    setting       what the evaluation fixes
    load_scores   gives float64[L], every line's score in rank order, query after query (query q's lines start at
                  line_start[q]); asked for only by sweeps and tie-aware measures
    known         int64[Q] documents known to the user and bool[H], this hit is one, and int64[Q] those of the known
                  that are relevant at grade >= 1 is derived from `known_grade`; None when the evaluation lists none
    """

    retrieved: Ints
    returned: Ints
    in_run: Bools
    query: Ints
    rank: Ints
    grade: Ints
    is_returned: Bools
    judged_start: Ints
    judged_grade: Ints
    setting: Setting = field(default_factory=Setting)
    load_scores: Callable[[], Floats] | None = None
    known_start: Ints | None = None
    known_grade: Ints | None = None
    is_known: Bools | None = None

    @property
    def queries(self) -> int:
        return len(self.retrieved)

    @cached_property
    def line_start(self) -> Ints:
        """int64[Q+1]: where each query's lines start among all scores."""
        return np.concatenate(([0], np.cumsum(self.retrieved)))

    @cached_property
    def scores(self) -> Floats:
        """float64[L], every line's score in rank order. Raises ValueError when the run was joined without them."""
        if self.load_scores is None:
            raise ValueError("this ranking was joined without scores")
        return self.load_scores()
