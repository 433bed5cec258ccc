"""Sets: what the user knew already, and what was new."""

from dataclasses import replace

import numpy as np

from leaderboard.metrics.detection import found_returned
from leaderboard.metrics.measure import LEVEL, Family
from leaderboard.metrics.ranking import Ranking
from leaderboard.metrics.segments import Floats, Ints, count, share
from leaderboard.metrics.wording import SETS

__all__ = ["KNOWN"]

GROUP = "Sets"


def known_and_found(ranking: Ranking, rel: int) -> Ints:
    """int64[Q]: relevant documents that are returned and known to the user. Needs the known documents' columns."""
    is_known = np.zeros(len(ranking.query), dtype=bool) if ranking.is_known is None else ranking.is_known
    return count(ranking.query[ranking.is_returned & is_known & (ranking.grade >= rel)], ranking.queries)


def coverage(ranking: Ranking, *, rel: int) -> Floats:
    """Relevant, returned and known / relevant and known, float64[Q] in [0, 1]; 0 where nothing relevant is known."""
    start = np.zeros(ranking.queries + 1, dtype=np.int64) if ranking.known_start is None else ranking.known_start
    grade = np.zeros(0, dtype=np.int64) if ranking.known_grade is None else ranking.known_grade
    query = np.repeat(np.arange(ranking.queries), np.diff(start))
    return share(known_and_found(ranking, rel), count(query[grade >= rel], ranking.queries))


def novelty(ranking: Ranking, *, rel: int) -> Floats:
    """Relevant, returned and unknown / relevant and returned, float64[Q] in [0, 1]; 0 where that is nothing."""
    found = found_returned(ranking, rel)
    return share(found - known_and_found(ranking, rel), found)


BAEZA = "R. Baeza-Yates, B. Ribeiro-Neto: Modern Information Retrieval, Addison-Wesley, 1999, section 3.2.2"
BASE = replace(
    SETS,
    where="known are the documents that the evaluation lists as known to the user who asked.",
    elsewhere="Neither has it.",
    source=f"{BAEZA}",
)

COVERAGE = Family(
    name="Coverage",
    title="Coverage",
    summary="The share of the relevant documents known to the user that is returned.",
    group=GROUP,
    compute=coverage,
    parameters=(LEVEL,),
    needs=frozenset({"known"}),
    reference=replace(
        BASE,
        formula="Coverage = |returned ∩ relevant ∩ known| / |relevant ∩ known|",
        no_relevant="0, and the query counts; so too where no relevant document is known.",
        source=BAEZA,
    ),
)
NOVELTY = Family(
    name="Novelty",
    title="Novelty",
    summary="The share of the relevant documents returned that the user did not know.",
    group=GROUP,
    compute=novelty,
    parameters=(LEVEL,),
    needs=frozenset({"known"}),
    reference=replace(
        BASE,
        formula="Novelty = |(returned ∩ relevant) − known| / |returned ∩ relevant|",
        no_relevant="0, and the query counts; so too where nothing relevant is returned.",
        source=BAEZA,
    ),
)

KNOWN = (COVERAGE, NOVELTY)
