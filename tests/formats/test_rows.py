"""Documents that a query has twice."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.formats.ids import Ids, as_texts
from leaderboard.formats.rows import repeated_rows
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
