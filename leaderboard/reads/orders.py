"""How two boards order the systems that both rank, by one measure."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from leaderboard.metrics.families.agreement import pairs, tau_ap_of, tau_b
from leaderboard.metrics.ranking import Ints
from leaderboard.reads.columns import Column

__all__ = ["Names", "Orders", "Ranked", "Shared", "orders", "shared"]


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
class Shared:
    """The systems that are compared on two boards, and their places before and after among themselves."""

    systems: Ints
    before: Ints
    after: Ints

    @property
    def moves(self) -> dict[int, int]:
        """System -> how many places it went up."""
        return dict(zip(self.systems.tolist(), (self.before - self.after).tolist(), strict=True))


def shared(before: Ranked, after: Ranked, *, any_run: bool) -> Shared:
    """Those that both rank by the same run; by whichever run, where `any_run` says so."""
    there = _places_in(after.systems, before.systems)
    here = np.flatnonzero(there >= 0)
    there = there[here]
    if not any_run:
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
    found = pairs(before, after)
    tau = _defined(tau_b(found))
    reference = np.empty(len(at), dtype=np.int64)
    reference[np.argsort(before, kind="stable")] = np.arange(len(at))
    in_order = reference[np.argsort(after, kind="stable")]
    return Orders(
        column=column,
        systems=len(at),
        swapped=found.discordant,
        parted=found.tied_first + found.tied_second - 2 * found.tied_both,
        tau=tau,
        tau_ap=None if tau is None else _defined(tau_ap_of(in_order)),
        leaders=(_leaders(systems[before == 1], names), _leaders(systems[after == 1], names)),
        largest=int(np.abs(before - after).max(initial=0)),
    )


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else value


def _leaders(systems: Ints, names: Names) -> tuple[str, ...]:
    return tuple(sorted(names.of_system[system] for system in systems.tolist()))
