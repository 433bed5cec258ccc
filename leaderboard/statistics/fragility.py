"""How few queries the lead on a board rests on: the fewest whose removal takes the first place from the leader alone.

An observation on these queries, not an inference: it says nothing of other queries, and assumes nothing of them.

Against one rival, the difference of the two means is a sum over queries once it is known how many queries of each kind
are left. The ones to remove are then those that add most to it: sorting finds them, and no set of queries has to be
tried. Where every query has a value for both systems there is one kind. Under `pfa_only` there are two, since a query
without relevant documents counts in the mean of P_fa only; every way to split the number removed between the kinds is
tried then.

Source for the question: T. Broderick, R. Giordano and R. Meager, An Automatic Finite-Sample Robustness Metric, 2020,
who approximate the answer; for means it is exact.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from leaderboard.metrics.aggregation import GEOMETRIC_MEAN, MEAN, SUM, VALUE_OF_MEANS, Aggregation, Columns
from leaderboard.metrics.measure import Direction
from leaderboard.metrics.segments import Bools, Ints
from leaderboard.statistics.ranks import competition_ranks
from leaderboard.statistics.samples import has_value, terms

SPLITS = 20_000  # of the number removed between kinds of queries, tried for one board, about two seconds
LOOKED_AT = 4_000_000  # queries, in all of these: of a set of thousands fewer splits are tried
CLOSE = 1e-9  # two means that differ by less are looked at exactly

NO_LEADER = "no system is first alone"
NO_RIVAL = "there is no other system"
NEVER = "the leader is ahead whichever queries are removed"
NOT_BY_SORTING = "not exact for this measure"
TOO_MANY = "too many ways to remove queries of several kinds"


class Fragility(NamedTuple):
    """How many queries have to be removed, at least, until the leader is no longer first alone.

    leader   None where several systems share the first place
    removed  positions of such queries, rising; other sets of as many may do the same. Empty where there are none, and
             `reason` says why
    then     who is first without them; the leader among them where it shares the place
    queries  on which the leader has a value
    """

    leader: str | None
    removed: tuple[int, ...] = ()
    then: tuple[str, ...] = ()
    queries: int = 0
    reason: str | None = None


def fragility(
    systems: Mapping[str, Columns], aggregation: Aggregation = MEAN, *, direction: Direction = "higher"
) -> Fragility:
    """The fewest queries without which the leader is level with another system or behind it.

    systems: name -> columns, float64[Q] each and all over the same queries in the same order, NaN where a query has no
    value; aggregation and direction are the measure's own. A tie, by the board's own rule (`competition_ranks`), takes
    the lead away, as it does on the board. The leader's mean and the one that is level with it stay defined. Exact for
    means, geometric means, sums and AQWV under each policy; no claim for other aggregations. Raises ValueError for the
    direction "none".

    >>> import numpy as np
    >>> found = fragility({"a": (np.array([0.9, 0.5, 0.5]),), "b": (np.array([0.1, 0.6, 0.5]),)})
    >>> found.leader, found.removed, found.then  # without the first query b has .55, a .5
    ('a', (0,), ('b',))
    """
    columns = list(systems.values())
    means = np.array([aggregation.combine(each, None) for each in columns])
    first = np.flatnonzero(competition_ranks(means, direction) == 1)
    if len(first) != 1 or np.isnan(means[first[0]]):
        return Fragility(None, reason=NO_LEADER)
    number = int(first[0])
    lead, leader = columns[number], list(systems)[number]
    queries = int(has_value(lead).sum())
    none = partial(Fragility, leader, queries=queries)
    rivals = np.argsort(np.abs(means - means[number]), kind="stable").tolist()
    rivals = [rival for rival in rivals if rival != number and not np.isnan(means[rival])]
    if not rivals:
        return none(reason=NO_RIVAL)
    if aggregation not in (MEAN, GEOMETRIC_MEAN, SUM, VALUE_OF_MEANS):
        return none(reason=NOT_BY_SORTING)
    removed: Ints | None = None
    tries = iter(range(min(SPLITS, LOOKED_AT // max(1, queries))))
    for rival in rivals:  # the closest first, so that the others need not be looked at far
        duel = _Duel(lead, columns[rival], aggregation, direction)
        try:
            taken_out = duel.fewest(duel.queries if removed is None else len(removed), tries)
        except StopIteration:
            return none(reason=TOO_MANY)
        removed = removed if taken_out is None else taken_out
    if removed is None:
        return none(reason=NEVER)
    ranks = _ranks_without(removed, columns, aggregation, direction)
    then = tuple(name for name, rank in zip(systems, ranks, strict=True) if rank == 1)
    return none(removed=tuple(sorted(removed.tolist())), then=then)


def _ranks_without(removed: Ints, systems: Sequence[Columns], aggregation: Aggregation, direction: Direction) -> Ints:
    mask = np.ones(len(systems[0][0]), dtype=bool)
    mask[removed] = False
    left = [aggregation.combine(tuple(column[mask] for column in columns), None) for columns in systems]
    return competition_ranks(np.array(left), direction)


class _Duel:
    """The leader against one rival.

    Each system's figure is a sum of means, one a term: of the values; or of −P_miss and of −β · P_fa. `shares` are the
    terms of both systems with the leader's sign turned so that the sum of all is its lead: float64[T, Q], 0 where
    undefined; `there` says where they are defined.
    """

    def __init__(self, lead: Columns, rival: Columns, aggregation: Aggregation, direction: Direction) -> None:
        self.pair = (lead, rival)
        self.aggregation, self.direction = aggregation, direction
        sign = -1.0 if direction == "lower" else 1.0
        as_mean = MEAN if aggregation is SUM else aggregation
        own = np.array([*terms(lead, as_mean), *(-term for term in terms(rival, as_mean))])
        self.there: Bools = ~np.isnan(own)
        self.shares = np.where(self.there, sign * own, 0.0)
        used = np.flatnonzero(self.there.any(axis=0))
        self.queries = len(used)
        patterns, kind_of = np.unique(self.there[:, used], axis=1, return_inverse=True)
        self.kinds = [used[kind_of.ravel() == kind] for kind in range(patterns.shape[1])]
        self.patterns: Bools = patterns

    def fewest(self, fewer: int, tries: Iterator[int]) -> Ints | None:
        """Positions of the fewest queries that take the lead away, None where it takes `fewer` or more. Each split
        takes one of the tries; raises StopIteration where none is left."""
        if len(self.kinds) == 1:
            return self._of_one_kind(fewer)
        for number in range(1, fewer):
            removals = []
            for split in _splits(number, [len(kind) for kind in self.kinds]):
                next(tries)
                removals.append(self._of_split(split))
            if lost := [removal for removal in removals if removal is not None]:
                return min(lost, key=itemgetter(0))[1]
        return None

    def _of_one_kind(self, fewer: int) -> Ints | None:
        """All queries have a value in every term, so what counts is the sum of each query's shares, however many go."""
        (queries,) = self.kinds
        order = queries[np.argsort(-self.shares[:, queries].sum(axis=0), kind="stable")]
        ahead = np.cumsum(self.shares[:, order][:, ::-1].sum(axis=0))[::-1]  # of the queries left, before each removal
        sizes = np.ones(len(order)) if self.aggregation is SUM else np.arange(len(order), 0, -1)
        numbers = np.flatnonzero(ahead / sizes < CLOSE)[:fewer].tolist()
        removals = (order[:number] for number in numbers if 0 < number < fewer)
        return next(filter(self._is_lost, removals), None)

    def _of_split(self, split: Sequence[int]) -> tuple[float, Ints] | None:
        """(the lead that is left, positions) when so many of each kind go; None where the lead stays."""
        sizes = self.there.sum(axis=1) - self.patterns @ np.array(split)
        if (sizes == 0).any():
            return None
        per_query = (self.shares / (1 if self.aggregation is SUM else sizes[:, np.newaxis])).sum(axis=0)
        chosen = [
            kind[np.argsort(-per_query[kind], kind="stable")[:number]]
            for kind, number in zip(self.kinds, split, strict=True)
        ]
        removed: Ints = np.concatenate(chosen)
        ahead = float(per_query.sum() - per_query[removed].sum())
        return (ahead, removed) if ahead < CLOSE and self._is_lost(removed) else None

    def _is_lost(self, removed: Ints) -> bool:
        """Whether the leader is level with the rival, or behind it, without these queries."""
        return bool(_ranks_without(removed, self.pair, self.aggregation, self.direction)[1] == 1)


def _splits(number: int, sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every way to take `number` queries from kinds of these sizes."""
    if len(sizes) == 1:
        if number <= sizes[0]:
            yield (number,)
        return
    for own in range(min(number, sizes[0]) + 1):
        for others in _splits(number - own, sizes[1:]):
            yield own, *others
