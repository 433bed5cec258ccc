import numpy as np
from hypothesis import given, strategies as st

from leaderboard.formats.ids import Ids, as_texts
from leaderboard.scoring.judged_queries import JudgmentIndex
from tests.formats.collisions import with_equal_keys

pairs = st.tuples(st.integers(0, 3), st.sampled_from(["a", "b", "ab", "a document of more words", "ä"]))


@given(judged=st.lists(pairs, unique=True, max_size=20), asked=st.lists(pairs, max_size=20))
def test_a_pair_is_found_where_it_stands(judged: list[tuple[int, str]], asked: list[tuple[int, str]]) -> None:
    lookup = JudgmentIndex(_numbers(judged), as_texts([document for _, document in judged]))
    documents = as_texts([document for _, document in asked])
    place = {pair: place for place, pair in enumerate(judged)}
    found = lookup.find(_numbers(asked), documents)
    assert found.tolist() == [place.get(pair, -1) for pair in asked]
    assert set(np.flatnonzero(found >= 0).tolist()) <= set(lookup.may_hold(Ids([documents])).tolist())


def test_documents_of_one_hash_are_told_apart() -> None:
    one, other = with_equal_keys()
    documents = np.array([one, other])
    zeros = np.zeros(2, np.int64)
    both = JudgmentIndex(zeros, documents)
    assert both.find(zeros, documents).tolist() == [0, 1]
    alone = JudgmentIndex(zeros[:1], documents[:1])
    assert alone.find(zeros, documents).tolist() == [0, -1]


def _numbers(rows: list[tuple[int, str]]) -> np.ndarray:
    return np.array([number for number, _ in rows], np.int64)
