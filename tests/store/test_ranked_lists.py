"""The copies of scored runs, of which one query's list is read without the rest."""

import numpy as np
import pytest

from leaderboard.errors import Damaged, Unavailable
from leaderboard.store import RankedList, RunStore
from tests.store.conftest import files

DOCUMENTS, SCORES = ("d1", "ä-2", "d" * 255), np.array([0.1, -0.0, -1e300])
WITH_DECISIONS = RankedList(DOCUMENTS, SCORES, np.array([True, False, True]))


@pytest.mark.parametrize(
    "kept", [RankedList(DOCUMENTS, SCORES), WITH_DECISIONS, RankedList((), np.empty(0), np.empty(0, np.bool_))]
)
def test_a_ranked_list_is_read_as_it_was_kept(store: RunStore, kept: RankedList) -> None:
    store.keep_ranked_lists(7, 10, 4, [(2, kept)])
    found = store.ranked_list(7, 10, 2)
    assert found.documents == kept.documents
    assert found.scores.tobytes() == kept.scores.tobytes()
    assert (found.decisions is None) == (kept.decisions is None)
    assert found.decisions is None or found.decisions.tolist() == list(kept.decisions)


def test_a_query_that_the_run_lacks_has_an_empty_list(store: RunStore) -> None:
    store.keep_ranked_lists(7, 10, 3, [(1, WITH_DECISIONS)])
    assert [len(store.ranked_list(7, 10, position)) for position in range(5)] == [0, 3, 0, 0, 0]
    with pytest.raises(Damaged):
        store.ranked_list(7, 9, 1)


def test_one_query_is_read_without_the_rest(store: RunStore) -> None:
    queries, lines = 300, 500
    lists = {
        query: RankedList(tuple(f"d{query}-{rank}" for rank in range(lines)), np.arange(lines, 0.0, -1))
        for query in range(queries)
    }
    store.keep_ranked_lists(7, 10, queries, lists.items())
    (file,) = files(store)
    content = bytearray(file.read_bytes())
    first_block = int.from_bytes(content[16:24], "little")
    content[first_block : len(content) // 2] = bytes(len(content) // 2 - first_block)
    file.write_bytes(content)
    assert store.ranked_list(7, 10, 290).documents == lists[290].documents
    with pytest.raises(Unavailable, match="damaged"):
        store.ranked_list(7, 10, 1)


@pytest.mark.parametrize("size", [0, 7, 15, 20, 60])
def test_a_copy_that_lost_its_end_is_said_to_be_damaged(store: RunStore, size: int) -> None:
    store.keep_ranked_lists(7, 10, 2, [(1, WITH_DECISIONS)])
    (file,) = files(store)
    file.write_bytes(file.read_bytes()[:size])
    with pytest.raises(Unavailable, match="made again"):
        store.ranked_list(7, 10, 1)


def test_a_flipped_byte_anywhere_in_a_copy_is_found_and_the_copy_noted_to_be_made_again(store: RunStore) -> None:
    store.keep_ranked_lists(7, 10, 5, [(position, WITH_DECISIONS) for position in (0, 2, 3)])
    (file,) = files(store)
    content = file.read_bytes()

    def is_found() -> bool:
        try:
            for position in range(5):
                store.ranked_list(7, 10, position)
        except Damaged:
            return True
        return False

    for place in range(len(content)):
        file.write_bytes(content[:place] + bytes([content[place] ^ (1 << place % 8)]) + content[place + 1 :])
        assert is_found(), f"byte {place} of {len(content)}"
    assert store.damaged_copies() == [(7, 10)]
    store.copy_is_done(7, 10)
    assert store.damaged_copies() == []


def test_the_copy_of_another_run_in_its_place_is_found(store: RunStore) -> None:
    store.keep_ranked_lists(7, 10, 2, [(1, WITH_DECISIONS)])
    (file,) = files(store)
    content = file.read_bytes()
    store.keep_ranked_lists(8, 10, 2, [(1, WITH_DECISIONS)])
    (other,) = [path for path in files(store) if path != file]
    other.write_bytes(content)
    with pytest.raises(Damaged):
        store.ranked_list(8, 10, 1)
