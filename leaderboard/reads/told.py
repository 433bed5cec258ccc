"""What an evaluation's queries can tell of the runs on its board, as the worker has worked it out.

All of it comes from single queries' values: `boards` hands it out only to whoever may see these.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leaderboard.statistics import Detectable, SwapRate

__all__ = ["Lead", "ToldByQueries", "told_by_queries"]


@dataclass(frozen=True, slots=True)
class Lead:
    """How few queries the lead rests on (`statistics.Fragility`), with scorings for systems.

    removed  how many queries have to go; 0 where there is no such set, and `reason` says why
    named    ids of such queries, where they are few
    then     scorings that are first without them
    """

    leader: int | None
    removed: int
    named: tuple[str, ...]
    then: tuple[int, ...]
    queries: int
    reason: str | None


@dataclass(frozen=True, slots=True)
class ToldByQueries:
    """of_logarithms: whether differences are those of mean logarithms, so that e to their power is a ratio of two
    geometric means. swaps: by rising size; empty where they were not counted."""

    lead: Lead
    detectable: Detectable
    of_logarithms: bool
    swaps: tuple[SwapRate, ...]


def told_by_queries(kept: Mapping[str, Any] | None) -> ToldByQueries | None:
    """From what the worker keeps of a board; None where it kept nothing, since fewer than two runs are ranked."""
    if kept is None:
        return None
    lead = kept["lead"]
    return ToldByQueries(
        lead=Lead(**{**lead, "named": tuple(lead["named"]), "then": tuple(lead["then"])}),
        detectable=Detectable(**kept["detectable"]),
        of_logarithms=kept["of_logarithms"],
        swaps=tuple(SwapRate(**rate) for rate in kept["swaps"]),
    )
