"""The fewest queries that a lead rests on, against every subset of the queries where these are few."""

from itertools import combinations

import numpy as np
from hypothesis import given, settings, strategies as st

from leaderboard.metrics.aggregation import GEOMETRIC_MEAN, MEAN, SUM, VALUE_OF_MEANS, WHOLE_RUN
from leaderboard.statistics import competition_ranks, fragility
from leaderboard.statistics.fragility import NEVER, NO_LEADER, NOT_BY_SORTING, TOO_MANY

NAN = np.nan


def column(*values):
    return (np.array(values),)


def means_without(systems, aggregation, removed):
    kept = np.delete(np.arange(len(next(iter(systems.values()))[0])), removed)
    return np.array([aggregation.combine(tuple(c[kept] for c in columns), None) for columns in systems.values()])


def leads_alone(means, place, direction):
    ranks = competition_ranks(means, direction)
    return ranks[place] == 1 and np.count_nonzero(ranks == 1) == 1


def by_trying_all(systems, aggregation, direction):
    """The size of the smallest set of queries without which the leader is not first alone; None where there is none."""
    queries = len(next(iter(systems.values()))[0])
    means = means_without(systems, aggregation, [])
    leader = int(np.argmin(competition_ranks(means, direction)))
    for number in range(1, queries):
        for removed in combinations(range(queries), number):
            left = means_without(systems, aggregation, list(removed))
            if not np.isnan(left[leader]) and not leads_alone(left, leader, direction):
                return number
    return None


def agrees(systems, aggregation, direction="higher"):
    """Whether the answer is the one that trying all subsets gives, and is what it says; None without a leader."""
    found = fragility(systems, aggregation, direction=direction)
    if found.leader is None:
        return None
    expected = by_trying_all(systems, aggregation, direction)
    if expected is None:
        return found.reason == NEVER and found.removed == ()
    left = means_without(systems, aggregation, list(found.removed))
    first = tuple(np.array(list(systems))[competition_ranks(left, direction) == 1])
    return len(found.removed) == expected and found.then == first and first != (found.leader,)


SEEDS = st.integers(0, 2**32)


@given(SEEDS, st.integers(2, 8), st.integers(2, 4), st.sampled_from(["higher", "lower"]))
@settings(max_examples=60, deadline=None)
def test_no_smaller_set_of_queries_takes_the_lead_away(seed, queries, systems, direction):
    draw = np.random.default_rng(seed)
    values = draw.integers(0, 5, (systems, queries)) / 4  # few values, so that ties are frequent
    assert agrees({str(n): (own,) for n, own in enumerate(values)}, MEAN, direction) in (True, None)


@given(SEEDS, st.integers(2, 7))
@settings(max_examples=40, deadline=None)
def test_so_it_is_for_geometric_means_and_for_sums(seed, queries):
    values = np.random.default_rng(seed).random((3, queries))
    values[values < 0.1] = 0.0
    systems = {str(n): (own,) for n, own in enumerate(values)}
    assert agrees(systems, GEOMETRIC_MEAN) in (True, None)
    assert agrees(systems, SUM) in (True, None)


@given(SEEDS, st.integers(3, 7))
@settings(max_examples=60, deadline=None)
def test_so_it_is_for_aqwv_where_some_queries_have_no_relevant_document(seed, queries):
    draw = np.random.default_rng(seed)
    none_relevant = draw.random(queries) < 0.4
    none_relevant[0] = False
    systems = {
        str(n): (np.where(none_relevant, NAN, draw.integers(0, 5, queries) / 4), 20 * draw.random(queries) / 60)
        for n in range(3)
    }
    assert agrees(systems, VALUE_OF_MEANS) in (True, None)


def test_a_shared_first_place_is_no_lead():
    found = fragility({"Alder": column(0.5, 0.25), "Birch": column(0.25, 0.5)})
    assert (found.leader, found.reason) == (None, NO_LEADER)
    assert fragility({"Alder": column(NAN, NAN)}).reason == NO_LEADER
    assert fragility({}).reason == NO_LEADER


def test_nothing_is_claimed_where_sorting_does_not_find_the_queries():
    mine = type(MEAN)("median", lambda columns, _: np.median(columns[0]), lambda columns: columns[0])
    assert fragility({"a": column(0.5, 0.2), "b": column(0.1, 0.2)}, mine).reason == NOT_BY_SORTING
    assert fragility({"a": column(0.5, 0.2), "b": column(0.1, 0.2)}, WHOLE_RUN).reason == NO_LEADER
    draw = np.random.default_rng(1)
    none_relevant = np.arange(2000) % 2 == 0
    lead, rival = (
        (np.where(none_relevant, NAN, shift + 0.01 * draw.random(2000)), 0.1 * draw.random(2000))
        for shift in (0.1, 0.5)
    )
    rival[0][1:40:2] = 0.0
    assert fragility({"a": lead, "b": rival}, VALUE_OF_MEANS).reason == TOO_MANY


def test_hundreds_of_systems_are_looked_at_by_sorting():
    draw = np.random.default_rng(1)
    values = draw.random((50, 1)) + 0.1 * draw.normal(size=(50, 300))
    found = fragility({str(n): (values[:, n],) for n in range(300)})
    place = int(found.leader)
    order = [np.sort(values[:, place] - values[:, other])[::-1] for other in range(300) if other != place]
    expected = min(next(k for k in range(1, 50) if own[k:].sum() <= 0) for own in order)
    assert len(found.removed) == expected
