import math
import time
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from leaderboard.errors import UnknownMeasure
from leaderboard.metrics import AGREEMENTS, explain, parse_agreements
from leaderboard.metrics.families.agreement import (
    fagin_kendall,
    kendall_distance,
    kendall_tau,
    pairs,
    rank_biased_overlap,
    spearman_rho,
    tau_ap,
)

quick = settings(deadline=None)  # the machine may be busy
orders = st.integers(2, 30).flatmap(lambda n: st.permutations(range(n)))


def test_fewer_than_two_common_items_leave_it_undefined_and_say_so():
    for function in (kendall_distance, kendall_tau, spearman_rho, tau_ap):
        value, items = function(np.array(["a", "b"]), np.array(["b", "c"]))
        assert math.isnan(value)
        assert items == 1


def test_tied_scores_take_average_ranks_and_count_in_tau_b():
    items = np.array(list("abcd"))
    scores = (np.array([4.0, 3, 3, 1]), np.array([3.0, 4, 2, 2]))
    assert spearman_rho(items, items, scores=scores).value == pytest.approx(stats.spearmanr(*scores).statistic)
    assert kendall_tau(items, items, scores=scores).value == pytest.approx(stats.kendalltau(*scores).statistic)
    assert math.isnan(kendall_tau(items, items, scores=(np.ones(4), scores[1])).value)


@quick
@given(orders)
def test_correlations_agree_with_scipy(order):
    reference = np.arange(len(order))
    other = np.array(order)
    places = np.argsort(other)
    assert kendall_tau(reference, other).value == pytest.approx(stats.kendalltau(reference, places).statistic)
    assert spearman_rho(reference, other).value == pytest.approx(stats.spearmanr(reference, places).statistic)
    assert kendall_distance(reference, other).value == pytest.approx((1 - kendall_tau(reference, other).value) / 2)


@quick
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=30))
def test_pairs_are_counted_one_by_one_those_that_tie_in_either_left_out(places):
    x, y = (np.array([float(place[k]) for place in places]) for k in (0, 1))
    signs = [np.sign((a[0] - b[0]) * (a[1] - b[1])) for a, b in combinations(places, 2)]
    ties = [(a[0] == b[0], a[1] == b[1]) for a, b in combinations(places, 2)]
    tied = (sum(one for one, _ in ties), sum(other for _, other in ties), sum(one and other for one, other in ties))
    assert pairs(x, y) == (signs.count(1), signs.count(-1), *tied)


def test_pairs_of_long_lists_are_not_counted_in_a_time_that_grows_with_the_square():
    items = 400_000  # with the square: a minute
    started = time.process_time()
    counts = pairs(np.arange(items), -np.arange(items))
    assert time.process_time() - started < 10
    assert counts.discordant == math.comb(items, 2)


@quick
@given(orders)
def test_tau_ap_follows_its_definition(order):
    n = len(order)
    right = [sum(above < item for above in order[:i]) / i for i, item in enumerate(order) if i]
    assert tau_ap(np.arange(n), np.array(order)).value == pytest.approx(2 / (n - 1) * sum(right) - 1)


def extrapolated(first: list[int], second: list[int], p: float) -> float:
    """RBO_ext as the paper's equation 32 writes it."""
    short, long = sorted((first, second), key=len)
    s, n = len(short), len(long)
    overlap = {d: len(set(short[:d]) & set(long[:d])) for d in range(1, n + 1)}
    seen = sum(overlap[d] / d * p**d for d in range(1, n + 1))
    seen += sum(overlap[s] * (d - s) / (s * d) * p**d for d in range(s + 1, n + 1))
    return (1 - p) / p * seen + ((overlap[n] - overlap[s]) / n + overlap[s] / s) * p**n


@quick
@given(
    st.lists(st.integers(0, 20), min_size=1, unique=True),
    st.lists(st.integers(0, 20), min_size=1, unique=True),
    st.sampled_from([0.5, 0.9, 0.98]),
)
def test_rank_biased_overlap_follows_its_definition(first, second, p):
    value = rank_biased_overlap(np.array(first), np.array(second), p=p).value
    assert value == pytest.approx(extrapolated(first, second, p))
    assert -1e-12 <= value <= 1 + 1e-12


def pair_by_pair(first: list[int], second: list[int], p: float) -> float:
    """K^(p) as section 3 of the paper has it, a penalty for each pair of items in either list."""
    penalty = 0.0
    for i, j in combinations(sorted(set(first) | set(second)), 2):
        ways = []
        for each in (first, second):
            if i in each and j in each:
                ways.append(each.index(i) < each.index(j))
            elif i in each or j in each:
                ways.append(i in each)  # the item that a top list has stands before the one that it lacks
            else:
                ways.append(None)
        penalty += p if None in ways else float(ways[0] != ways[1])
    return penalty


top_lists = st.lists(st.integers(0, 9), max_size=6, unique=True)


@quick
@given(top_lists, top_lists, st.sampled_from([0.0, 0.5, 1.0]))
def test_the_distance_of_top_lists_adds_the_penalties_of_all_pairs(first, second, p):
    apart = [item + 100 for item in second]
    largest = pair_by_pair(first, apart, p)
    value, items = fagin_kendall(np.array(first), np.array(second), p=p)
    assert items == len({*first, *second})
    if not largest:
        assert math.isnan(value)
        return
    assert value == pytest.approx(pair_by_pair(first, second, p) / largest)
    assert fagin_kendall(np.array(first), np.array(apart), p=p).value == pytest.approx(1)
    assert fagin_kendall(np.array(second), np.array(first), p=p).value == pytest.approx(value)


def test_the_distance_of_top_lists_counts_items_in_one_list_only():
    # abc and abd, k = 3: c–d counts 1 of 3 · 3 + ½ · (3 + 3) = 12. KendallDistance sees no difference at all.
    first, second = np.array(list("abcd")), np.array(list("abdc"))
    (agreement,) = parse_agreements("FaginKendall@3")
    assert agreement.compute(first, second) == (pytest.approx(1 / 12), 4)
    assert kendall_distance(first, second, cutoff=3).value == 0


@pytest.mark.parametrize("parameter", ["cutoff", "self"])
def test_a_parameter_that_an_agreement_does_not_take_is_refused_whatever_it_is_called(parameter):
    with pytest.raises(UnknownMeasure, match=f"RBO takes no parameter '{parameter}'"):
        parse_agreements(f"RBO({parameter}=5)")


@pytest.mark.parametrize("agreement", AGREEMENTS, ids=lambda agreement: agreement.name)
def test_every_agreement_is_documented(agreement):
    assert all(text.strip() for _, text in agreement.reference.sections.items())
    assert agreement.reference.mathml.startswith("<math")
    assert agreement.name in agreement.text
    assert explain(agreement.name) == agreement.text


def test_names_of_agreements_take_parameters_and_a_cutoff():
    names = "kendalldistance@2, RBO(p=0.5) SpearmanRho RBO(p=0.9)"
    asked = parse_agreements(names)
    assert [str(each) for each in asked] == ["KendallDistance@2", "RBO(p=0.5)", "SpearmanRho", "RBO"]
    first, second = np.array(list("abcde")), np.array(list("bacxe"))
    assert asked[0].compute(first, second) == kendall_distance(first, second, cutoff=2)
    assert asked[1].compute(first, second) == rank_biased_overlap(first, second, p=0.5)
    assert explain("RBO(p=0.5)").splitlines()[0] == "RBO: Rank-biased overlap"
    assert "  p: the probability of looking one rank deeper; a number of at least 0.01" in explain("RBO")


def test_a_wrong_name_of_an_agreement_says_what_there_is():
    with pytest.raises(UnknownMeasure) as refused:
        parse_agreements("RBO(p=2) Tau TauAP@5 KendallTau")
    assert refused.value.message.splitlines() == [
        "RBO: p=2 is not allowed; expected a number of at least 0.01 and at most 0.9999",
        "no agreement is called 'Tau'; there are KendallDistance, FaginKendall, KendallTau, SpearmanRho, RBO, TauAP",
        "TauAP takes no cutoff (@5)",
    ]
