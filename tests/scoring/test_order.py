"""The order of a run, in files that come sorted and in others."""

from typing import Any, Literal

import numpy as np
from hypothesis import given, settings, strategies as st

from leaderboard.scoring import ranked_lines
from leaderboard.scoring.order import InOrder, OutOfOrder, first_where, order
from tests.scoring.obvious import Line, lists, ranked, run_of

compats: Any = st.sampled_from([9, 10])


@settings(deadline=None)
@given(lines=lists, compat=compats)
def test_ranked_lines_are_the_whole_order(lines: tuple[Line, ...], compat: Literal[9, 10]) -> None:
    expected = [
        (query, rank, line.document, line.score)
        for query in dict.fromkeys(line.query for line in lines)
        for rank, line in enumerate(ranked(lines, query, compat), 1)
    ]
    run = run_of(lines)
    listed = ranked_lines(run, compat)
    queries = [run.queries[number] for number in listed.query]
    documents = [document.decode() for document in listed.document]
    assert listed.decision is None
    assert list(zip(queries, listed.rank, documents, listed.score, strict=True)) == expected


@settings(deadline=None)
@given(lines=lists, compat=compats, sort=st.booleans(), data=st.data())
def test_some_lines_have_the_ranks_that_they_have_among_all(
    lines: tuple[Line, ...], compat: Literal[9, 10], sort: bool, data: st.DataObject
) -> None:
    queries = dict.fromkeys(line.query for line in lines)
    given_lines = [line for query in queries for line in ranked(lines, query, compat)] if sort else list(lines)
    wanted = data.draw(st.lists(st.sampled_from(range(len(lines))), unique=True))
    expected = []
    for place in wanted:
        line = given_lines[place]
        expected.append(ranked(lines, line.query, compat).index(line) + 1)
    places = order(run_of(given_lines), compat)
    assert not sort or isinstance(places, InOrder)
    assert places.rank(np.array(wanted, np.int64)).tolist() == expected


def test_a_query_whose_lines_lie_apart_or_whose_scores_rise_is_sorted_first() -> None:
    together = [Line("q", "a", 2.0), Line("q", "b", 1.0), Line("p", "c", 3.0)]
    assert isinstance(order(run_of(together)), InOrder)
    assert isinstance(order(run_of([together[0], together[2], together[1]])), OutOfOrder)
    assert isinstance(order(run_of([together[1], together[0], together[2]])), OutOfOrder)


@given(
    values=st.lists(st.integers(0, 9), min_size=1, max_size=30).map(sorted),
    ends=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=5),
    least=st.integers(0, 10),
)
def test_every_range_is_searched_for_the_first_place_where_it_holds(
    values: list[int], ends: list[tuple[int, int]], least: int
) -> None:
    ranges = [(min(pair), min(max(pair), len(values))) for pair in ends if min(pair) <= len(values)]
    first, last = np.array(ranges, np.int64).reshape(-1, 2).T
    found = first_where(lambda place, _: np.array(values)[place] >= least, first, last)
    assert found.tolist() == [
        next((place for place in range(start, end) if values[place] >= least), end) for start, end in ranges
    ]
