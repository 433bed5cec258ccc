"""Documents that a query has twice."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from leaderboard.formats.ids import Ids, as_texts, repeated_rows
from tests.formats.collisions import with_equal_keys


@given(
    rows=st.lists(
        st.tuples(
            st.integers(0, 3), st.sampled_from(["a", "b", "ab", "a document of more words", "a document of more"])
        ),
        max_size=40,
    ),
    grouped=st.booleans(),
)
def test_repeats_are_those_that_a_dictionary_finds(
    rows: list[tuple[int, str]], grouped: bool
) -> None:  # hypothesis passes by name
    rows = sorted(rows, key=lambda row: row[0]) if grouped else rows
    seen: dict[tuple[int, str], int] = {}
    expected = [(place, seen[row]) for place, row in enumerate(rows) if seen.setdefault(row, place) != place]
    documents = as_texts([document for _, document in rows])
    query = np.array([query for query, _ in rows], np.uint32)
    later, first = repeated_rows(query, Ids([documents]))
    assert list(zip(later.tolist(), first.tolist(), strict=True)) == expected


def test_documents_of_one_hash_are_no_repeats() -> None:
    one, other = with_equal_keys()
    documents = np.array([one, other, one])
    later, first = repeated_rows(np.zeros(3, np.uint32), Ids([documents]))
    assert (later.tolist(), first.tolist()) == ([2], [0])


@pytest.mark.parametrize(
    "queries",
    [
        pytest.param([1_000] * 150, id="many queries"),
        pytest.param([10, 120_000, 20_000, 10], id="a long one"),
        pytest.param([*[1_000] * 140, 0, 10_000], id="one that goes on later"),
    ],
)
def test_repeats_in_many_rows_are_those_that_a_dictionary_finds(queries: list[int]) -> None:
    chance = np.random.default_rng(1)
    query = np.repeat(np.arange(len(queries), dtype=np.uint32), queries)
    query[query == len(queries) - 1] = 0 if 0 in queries else len(queries) - 1
    rows = len(query)
    named = np.arange(rows)
    copies = chance.choice(rows - 1, 200, replace=False)
    named[copies + 1] = named[np.maximum(copies - chance.integers(0, 2_000, 200), 0)]
    documents = as_texts([f"d{name}" for name in named.tolist()])
    seen: dict[tuple[int, bytes], int] = {}
    pairs = zip(query.tolist(), documents.tolist(), strict=True)
    expected = [(place, seen[pair]) for place, pair in enumerate(pairs) if seen.setdefault(pair, place) != place]
    assert len(expected) > 50

    ends = np.append(np.sort(chance.choice(rows, 20, replace=False)), rows).tolist()
    parts = [documents[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    later, first = repeated_rows(query, Ids(parts))
    assert list(zip(later.tolist(), first.tolist(), strict=True)) == expected
