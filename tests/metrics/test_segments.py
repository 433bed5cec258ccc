import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from leaderboard.metrics.segments import running


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 40), max_size=12),
    st.sampled_from([np.add, np.multiply, np.maximum]),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_each_query_is_accumulated_element_by_element(sizes, step, backwards, seed):
    query = np.repeat(np.arange(len(sizes)), sizes)
    amount = np.random.default_rng(seed).random(len(query))
    expected = []
    for number in range(len(sizes)):
        values = amount[query == number].tolist()
        found = list(itertools.accumulate(values[::-1] if backwards else values, step))
        expected += found[::-1] if backwards else found
    # To the last bit: sums are printed with all their digits.
    assert running(query, amount, step, backwards=backwards).tolist() == expected


@pytest.mark.parametrize("backwards", [False, True])
def test_one_long_query_among_many_short_ones_takes_no_table_of_all_by_the_longest(backwards):
    # A row as long as the longest for every query would take 160 GB.
    query = np.concatenate([np.zeros(200_000, np.int64), np.arange(1, 100_001)])
    summed = running(query, np.ones(len(query)), backwards=backwards)
    assert summed[200_000:].tolist() == [1.0] * 100_000
    assert summed[[0, 199_999]].tolist() == ([200_000.0, 1.0] if backwards else [1.0, 200_000.0])
