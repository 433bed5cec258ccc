import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from leaderboard.errors import BadInput
from leaderboard.statistics.ranks import RankSet, _Moved, exact_evidence, pairs_of, rank_sets
from leaderboard.statistics.samples import draws

NAN = np.nan
SOME = {"resamples": 499}


def field(systems=6, queries=40, seed=0, step=0.05):
    """float64[Q, S]: each system is a little worse than the one before."""
    draw = np.random.default_rng(seed)
    difficulty = draw.random((queries, 1)) / 2
    return difficulty + 0.4 - step * np.arange(systems) + draw.normal(0, 0.1, (queries, systems))


def sets_of(found):
    return [(each.rank, each.low, each.high) for each in found.sets]


# The slow twin: the definition, one resample, one pair and one step after the other.


def slow_t(differences, counts, centre):
    """t of one pair in one resample: how far its mean is above `centre`, in the resample's own standard errors."""
    drawn = [one for one, times in zip(differences, counts, strict=True) for _ in range(times) if not math.isnan(one)]
    if not drawn:
        return 0.0
    mean = sum(drawn) / len(drawn)
    moved = mean - centre
    if abs(moved) < 1e-11:
        return 0.0
    if len(drawn) == 1:
        return math.copysign(math.inf, moved)
    error = math.sqrt(sum((one - mean) ** 2 for one in drawn) / (len(drawn) - 1) / len(drawn))
    return math.copysign(math.inf, moved) if error < 1e-11 else moved / error


INFINITE = 1e6  # times √(n − 1): what the program takes for it


def slow_pairs(values, resamples):
    """(i, j) -> mean, t, how many queries differ, the largest t that is possible, t of each resample."""
    values = [row for row in values.tolist() if sum(not math.isnan(value) for value in row) >= 2]
    pairs, lacking = {}, {}
    for i, j in itertools.combinations(range(len(values[0])), 2):
        differences = [0.0 if abs(row[i] - row[j]) <= 1e-12 else row[i] - row[j] for row in values]
        defined = [one for one in differences if not math.isnan(one)]
        differing = sum(one != 0 for one in defined)
        alike = max((sum(abs(one - other) <= 1e-12 for other in defined) for one in defined), default=0)
        if differing >= 6 and any(abs(one - defined[0]) > 1e-9 for one in defined):
            mean, n = sum(defined) / len(defined), len(defined)
            reach = math.inf if differing == n else math.sqrt((n - 1) * differing / (n - differing))
            observed = slow_t(differences, [1] * len(values), 0.0)
            infinite = INFINITE * math.sqrt(n - 1)
            moved = [slow_t(differences, counts, mean) for counts in resamples]
            moved = [max(-infinite, min(one, infinite)) for one in moved]
            # One resample in 200 exceeds it; with so few resamples, the largest is held against Student's t.
            beyond = sorted(map(abs, moved))[min(len(moved), math.ceil(0.995 * (len(moved) + 1))) - 1]
            w = max(1.0, beyond / (1.25 * stats.t.ppf(1 - 0.005 / 2, n - 1)))
            pairs[i, j] = (mean, observed / w, differing, reach / w, [one / w for one in moved])
            # at most one query in eight of a resample is another than the most frequent one
            lacking[i, j] = stats.binom.cdf(n // 8, n, 1 - alike / n)
    together = {pair: sum(one for one in lacking.values() if one <= own * (1 + 1e-9)) for pair, own in lacking.items()}
    return {pair: own for pair, own in pairs.items() if together[pair] <= 0.002}


def slow_better(pairs, direction, resamples, alpha=0.05):
    """{(i, j)}: i is significantly better than j."""
    place = math.ceil(round((1 - alpha) * (len(resamples) + 1), 9))  # of the resamples, from the smallest
    found = set()
    while left := {pair: own for pair, own in pairs.items() if pair not in found}:
        critical = math.inf
        for fewest in sorted({own[2] for own in left.values()}):
            family = [own for own in left.values() if own[2] >= fewest]
            out_of_reach = max((own[3] for own in left.values() if own[2] < fewest), default=0.0)
            largest = sorted(max(abs(own[4][b]) for own in family) for b in range(len(resamples)))
            quantile = largest[place - 1] if place <= len(largest) else math.inf
            critical = min(critical, max(quantile, out_of_reach))
        new = {pair for pair, own in left.items() if abs(own[1]) > critical * (1 + 1e-9)}
        if not new:
            break
        found |= new
    sign = 1 if direction == "higher" else -1
    return {(i, j) if pairs[i, j][0] * sign > 0 else (j, i) for i, j in found}


def slow_may_be_best(pairs, direction, candidate, rivals, queries, alpha=0.05):
    """Whether no rival is ahead of the candidate by more than chance puts the farthest of them."""
    ahead, moved = [0.0], []
    for (i, j), (_, observed, _, _, resampled) in pairs.items():
        if (i == candidate and j in rivals) or (j == candidate and i in rivals):
            sign = (1 if j == candidate else -1) * (1 if direction == "higher" else -1)
            ahead.append(sign * observed)
            moved.append([sign * one for one in resampled])
    if not moved:
        return True
    quantiles = [stats.t.ppf(1 - alpha, queries - 1)]
    for side in (1, -1):
        largest = sorted(max(side * one for one in of_resample) for of_resample in zip(*moved, strict=True))
        place = math.ceil(round((1 - alpha) * (len(largest) + 1), 9))
        quantiles.append(largest[place - 1] if place <= len(largest) else math.inf)
    return max(ahead) <= max(quantiles) * (1 + 1e-9)


@st.composite
def boards(draw):
    """float64[Q, S] with ties, clones, sparse differences and gaps."""
    queries, systems = draw(st.integers(5, 12)), draw(st.integers(1, 6))
    seed = draw(st.integers(0, 2**32 - 1))
    generator = np.random.default_rng(seed)
    values = generator.random((queries, 1)) + generator.normal(0, 0.1, (queries, systems))
    values -= draw(st.sampled_from([0.0, 0.1, 0.5])) * np.arange(systems)
    if draw(st.booleans()):
        values = np.round(values, 1)
    for copy, original in itertools.pairwise(range(systems)):
        kind = draw(st.sampled_from(["own", "own", "clone", "nearly"]))
        if kind != "own":
            values[:, copy] = values[:, original]
        if kind == "nearly":
            values[: draw(st.integers(1, queries)), copy] += 0.25
    gaps = draw(st.integers(0, 3))
    values[generator.integers(0, queries, gaps), generator.integers(0, systems, gaps)] = NAN
    return values


@settings(max_examples=100)
@given(boards(), st.sampled_from(["higher", "lower"]), st.integers(1, 99))
def test_the_definition_taken_literally_tells_the_same_pairs_apart(values, direction, seed):
    found = rank_sets(values, direction, resamples=59, seed=seed)
    if found.queries < 5:
        assert found.reason or values.shape[1] == 1
        return
    resamples = np.concatenate(list(draws(found.queries, 59, seed))).astype(int).tolist()
    pairs = slow_pairs(values, resamples)
    expected = slow_better(pairs, direction, resamples)
    assert {(int(i), int(j)) for i, j in np.argwhere(found.better)} == expected
    for place, own in enumerate(found.sets):
        if own.rank is not None:
            wins, losses = Counter(i for i, _ in expected)[place], Counter(j for _, j in expected)[place]
            ranked = sum(each.rank is not None for each in found.sets)
            assert (own.low, own.high) == (min(1 + losses, own.rank), max(ranked - wins, own.rank))
            rivals = {other for other, each in enumerate(found.sets) if each.rank is not None}
            left = {pair: own for pair, own in pairs.items() if not {pair, pair[::-1]} & expected}
            is_candidate = slow_may_be_best(left, direction, place, rivals, found.queries)
            assert found.best[place] == (own.rank == 1 or (own.low == 1 and is_candidate))


@settings(max_examples=50)
@given(boards(), st.integers(1, 99))
def test_what_is_found_roughly_is_never_less_than_the_t_itself_and_hardly_more(values, seed):
    values = values[np.count_nonzero(~np.isnan(values), axis=1) >= 2]
    pairs = pairs_of(values, math.inf)
    pairs = pairs.kept((pairs.differing >= 2) & (pairs.error > 0))
    if not len(pairs.first):
        return
    weights = np.concatenate(list(draws(len(values), 40, seed)))
    with_gaps, every = bool(np.isnan(values).any()), np.arange(len(pairs.first))
    exact = _Moved(pairs, every, with_gaps=with_gaps)
    rough = _Moved(pairs, every, with_gaps=with_gaps, roughly=True)
    for stretch in (None, np.linspace(1.0, 3.0, len(every))):
        largest, bound = exact.largest_t(weights, stretch), rough.largest_t(weights, stretch)
        assert (bound >= largest).all()
        ordinary = largest < 20.0
        assert bound[ordinary] == pytest.approx(largest[ordinary], rel=0.01, abs=0.001)
    t = exact.t(weights)
    middle = np.median(t, axis=0)
    assert (rough.how_often_above(weights, middle) >= np.count_nonzero(t > middle, axis=0)).all()


def test_the_critical_value_is_the_quantile_over_all_resamples_that_there_are():
    # Of 6 queries there are 6^6 equally likely resamples. The critical value found from 4,000 of them leaves .05 of all
    # above it, give or take four standard errors of such a share.
    values = np.array(
        [[0.9, 0.1, 0.3], [0.8, 0.3, 0.2], [0.7, 0.25, 0.5], [0.2, 0.6, 0.4], [0.6, 0.05, 0.9], [0.3, 0.4, 0]]
    )
    found = rank_sets(values, "higher", resamples=4_000)
    assert not found.better.any()
    pairs = [values[:, i] - values[:, j] for i, j in ((0, 1), (0, 2), (1, 2))]
    ways, moved = [], []
    for drawn in itertools.combinations_with_replacement(range(6), 6):
        counts = [drawn.count(query) for query in range(6)]
        ways.append(math.factorial(6) / math.prod(map(math.factorial, counts)))
        moved.append([slow_t(pair.tolist(), counts, float(pair.mean())) for pair in pairs])
    chance, t = np.array(ways) / 6**6, np.array(moved)
    # Each pair's t over that which one resample in 200 exceeds, as a multiple of 1.25 times Student's.
    order = np.argsort(t, axis=0)
    beyond = [own[by][np.searchsorted(np.cumsum(chance[by]), 0.995)] for own, by in zip(t.T, order.T, strict=True)]
    t /= np.maximum(1.0, np.array(beyond) / (1.25 * stats.t.ppf(1 - 0.005 / 2, 5)))
    above = chance[t.max(axis=1) > found.critical].sum()
    assert above == pytest.approx(0.05, abs=4 * math.sqrt(0.05 * 0.95 / 4_000))


@pytest.mark.parametrize("copied", [0, 7])
@pytest.mark.parametrize("lost", [1, 3])
def test_a_near_copy_that_lost_a_few_queries_takes_nothing_from_what_is_said_of_others(copied, lost):
    """In a third of the resamples such a pair has hardly a standard error: its t there is beyond a hundred."""
    values = field(8, 50, step=0.035)
    before = rank_sets(values, "higher", resamples=999)
    copy = values[:, copied] - np.random.default_rng(1).random(50) * 0.001
    copy[np.argsort(-values[:, copied])[:lost]] = 0.0
    after = rank_sets(np.column_stack([values, copy]), "higher", resamples=999)
    assert before.better.sum() > 10
    assert after.critical < before.critical + 0.5
    changed = before.better != after.better[:8, :8]
    assert changed.sum() <= 2  # pairs at the brink, as another seed changes


@pytest.mark.parametrize("queries", [25, 50])
def test_twenty_near_copies_change_nothing_that_is_said_of_the_others(queries):
    """Each pair of them has a resample with hardly any spread seldom; that one of the hundreds has one is likely."""
    draw = np.random.default_rng(1)
    values = field(10, queries, step=0.05)
    shifted = np.linspace(0.001, 0.01, 20) * (draw.random((queries, 20)) < 0.85)
    before = rank_sets(values, "higher", resamples=1_999)
    after = rank_sets(np.column_stack([values, values[:, [3]] - shifted]), "higher", resamples=1_999)
    assert before.better.sum() > 10
    assert after.better[:10, :10].tolist() == before.better.tolist()
    assert after.best[:10].tolist() == before.best.tolist()


@pytest.mark.parametrize("queries", [10, 25, 50])
def test_one_disastrous_run_changes_nothing_that_is_said_of_the_others(queries):
    for seed in range(3):
        values = field(8, queries, seed, step=0.05) + 0.5
        alone = rank_sets(values, "higher", **SOME)
        spread = np.random.default_rng(seed).random(queries)
        nothing_found, everything_returned, on_all_alike = np.zeros(queries), -999.9 + spread, np.full(queries, -999.9)
        for odd in (nothing_found, everything_returned, on_all_alike):
            found = rank_sets(np.column_stack([values, odd]), "higher", **SOME)
            assert found.better[:8, :8].tolist() == alone.better.tolist()
            assert found.critical == pytest.approx(alone.critical, rel=1e-9)
            assert [low for _, low, _ in found.sets[: len(alone.sets)]] == [low for _, low, _ in alone.sets]


def test_two_systems_that_differ_by_the_same_amount_nearly_everywhere_are_not_told_apart():
    column = np.random.default_rng(2).random(30)
    for others in (0, 4):
        gain = np.where(np.arange(30) < others, 0.2, 0.1)
        found = rank_sets(np.stack([column, column + gain], axis=1), "higher", width=1.0, **SOME)
        assert (sets_of(found), found.critical) == ([(2, 1, 2), (1, 1, 2)], 0.0)


def test_nearly_all_right_is_better_than_nothing_at_all_where_the_measure_has_limits():
    # 1 on all of 30 queries but two: no resample without these two has a standard error, and yet there is no doubt.
    right = np.where(np.arange(30) < 2, 0.5, 1.0)
    values = np.stack([np.zeros(30), right], axis=1)
    assert rank_sets(values, "higher", width=1.0, **SOME).better.tolist() == [[False, False], [True, False]]
    assert not rank_sets(values, "higher", **SOME).better.any()
    assert rank_sets(-values, "lower", width=1.0, **SOME).better.tolist() == [[False, False], [True, False]]
    # ten queries are too few for that
    assert not rank_sets(values[:10], "higher", width=1.0, **SOME).better.any()


def test_the_exact_test_is_right_as_often_as_it_says():
    # Of all 2^n equally likely ways in which n differences of ±1 may fall, at most 1 in x gives x or more.
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=12))).T
    found = exact_evidence(signs, 1.0)
    assert found.mean() == pytest.approx(1.0)
    for x in (2.0, 20.0, 100.0):
        assert np.mean(found >= x) <= 1 / x
    assert found.max() > 100


def test_a_run_that_found_nothing_does_not_hide_what_is_known_of_runs_that_are_nearly_always_right():
    # Against it a run with 1 on all but a few queries has a difference of 1 there, and hardly any spread.
    draw = np.random.default_rng(3)
    right = np.ones((30, 3))
    for place, wrong in enumerate((2, 4, 5)):
        right[draw.permutation(30)[:wrong], place] = 0.5
    values = np.column_stack([right, draw.random((30, 2)), draw.random((30, 2)) / 2])
    alone = rank_sets(values, "higher", width=1.0, **SOME)
    found = rank_sets(np.column_stack([values, np.zeros(30)]), "higher", width=1.0, **SOME)
    assert alone.better.sum() > 5
    assert found.better[:7, :7].tolist() == alone.better.tolist()
    assert found.better[:7, 7].all()


@pytest.mark.parametrize("population", ["smooth", "reciprocal ranks", "copies"])
def test_who_may_be_the_best_holds_the_best_and_names_fewer_than_rank_sets_do(population):
    """Of eight systems the first two are the best; `python -m trials statistics` tries it with real runs."""
    draw, campaigns, held, size, in_sets = np.random.default_rng(4), 150, 0, 0, 0
    for _ in range(campaigns):
        query = draw.random((25, 1))
        values = query + draw.normal(0, 0.2, (25, 8)) - 0.08 * np.maximum(0, np.arange(8) - 1)
        if population == "reciprocal ranks":  # the systems as they are drawn are alike
            worse = np.minimum(1, 0.05 * np.maximum(0, np.arange(8) - 1))
            right = np.where(draw.random((25, 8)) < 0.5, draw.choice([1, 0.5, 0.2, 0], (25, 8)), query > 0.5)
            values = np.where(draw.random((25, 8)) < worse, 0.0, right)
        elif population == "copies":
            values[:, 1] = values[:, 0] + draw.choice([-0.01, 0.01], 25) * (draw.random(25) < 0.85)
        found = rank_sets(values, "higher", **SOME)
        held += found.best[0]
        size += found.best.sum()
        in_sets += sum(each.low == 1 for each in found.sets)
        assert all(each.low == 1 for each, best in zip(found.sets, found.best, strict=True) if best)
        assert all(best for each, best in zip(found.sets, found.best, strict=True) if each.rank == 1)
    assert held / campaigns >= 0.95 - 2 * math.sqrt(0.05 * 0.95 / campaigns)
    assert size < 0.96 * in_sets


def test_a_baseline_is_no_rival_of_those_that_may_be_the_best():
    values = np.column_stack([field(3, 60, step=0.3), np.full(60, 3.0) + np.linspace(0, 0.1, 60)])
    found = rank_sets(values, "higher", ranked=np.array([True, True, True, False]), **SOME)
    assert found.better[3, :3].all()
    assert found.best.tolist() == [True, False, False, False]


def test_a_query_that_one_system_lacks_is_not_taken_from_the_pairs_of_others():
    values = field(5, 40, step=0.06)
    found = rank_sets(values, "higher", **SOME)
    gaps = np.column_stack([values, values[:, 0] - 2.0])
    gaps[:20, 5] = NAN
    with_gaps = rank_sets(gaps, "higher", **SOME)
    assert with_gaps.queries == found.queries == 40
    assert with_gaps.better[:5, :5].tolist() == found.better.tolist()
    # a system with a value where nobody else has one changes no draw
    more = np.full((45, 6), NAN)
    more[:40, :5] = values
    more[:, 5] = -2.0 + np.random.default_rng(1).random(45)
    assert rank_sets(more, "higher", **SOME).better[:5, :5].tolist() == found.better.tolist()


def test_a_system_without_a_value_has_no_set_and_one_without_common_queries_any_rank():
    values = field(3, 40, step=0.5)
    empty = np.column_stack([values, np.full(40, NAN)])
    assert sets_of(rank_sets(empty, "higher", **SOME)) == [(1, 1, 1), (2, 2, 2), (3, 3, 3), (None, None, None)]
    apart = np.full((60, 4), NAN)
    apart[:40, :3] = values
    apart[40:, 3] = -5.0
    assert rank_sets(apart, "higher", **SOME).sets[3] == RankSet(4, 1, 4)


def test_a_baseline_is_compared_and_pushes_no_rank():
    values = field(4, 60, step=0.3)
    found = rank_sets(values, "higher", ranked=np.array([False, True, True, True]), **SOME)
    assert sets_of(found) == [(None, 1, 1), (1, 1, 1), (2, 2, 2), (3, 3, 3)]
    assert found.better[0].tolist() == [False, True, True, True]
    last = rank_sets(values, "higher", ranked=np.array([True, True, True, False]), **SOME)
    assert sets_of(last) == [(1, 1, 1), (2, 2, 2), (3, 3, 3), (None, 4, 4)]


def test_the_same_seed_gives_the_same_and_impossible_settings_are_refused():
    values = field(6, 30)
    first, again, other = (rank_sets(values, "higher", seed=seed, **SOME) for seed in (5, 5, 6))
    assert (first.sets, first.critical) == (again.sets, again.critical)
    assert first.critical != other.critical
    with pytest.raises(BadInput, match="at least one resample"):
        rank_sets(values, "higher", resamples=0)
