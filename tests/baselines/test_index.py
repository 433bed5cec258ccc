"""BM25 and tf-idf: by hand, and against bm25s."""

import math
import time
from collections import Counter
from functools import reduce
from operator import add

import bm25s
import numpy as np
import pytest

from leaderboard.baselines.documents import Document
from leaderboard.baselines.index import BM25, IndexBuilder, TfIdf, Weighting, Weights
from leaderboard.baselines.languages import Analyser
from leaderboard.errors import BadInput
from tests.baselines.collections import index_of, zipf_texts

# Lengths 3, 2, 5, 2, so avgdl = 3. df: a 2, b 2, c 3, d 2.
TEXTS = {"d1": "a a b", "d2": "a c", "d3": "b c c c d", "d4": "c d"}


def _scores(weighting: Weighting, query: str, texts: dict[str, str] = TEXTS, depth: int = 1000) -> dict[str, float]:
    listed = Weights(index_of(texts, query), weighting).answer("q", query, depth)
    return {name.decode(): score for name, score in zip(listed.document.tolist(), listed.score.tolist(), strict=True)}


@pytest.mark.parametrize(
    ("weighting", "query", "scores"),
    [
        # ln(1 + 2.5 / 2.5) = ln 2; f (k1 + 1) / (f + k1) = 4/3 for f = 2 and 1 for f = 1.
        (BM25(k1=1, b=0), "a", {"d1": math.log(2) * 4 / 3, "d2": math.log(2)}),
        # b = 1: |D| / avgdl = 1 for d1, 2/3 for d2: 2 / (1 + 2/3) = 6/5.
        (BM25(k1=1, b=1), "a", {"d1": math.log(2) * 4 / 3, "d2": math.log(2) * 6 / 5}),
        (BM25(k1=0, b=0.75), "a", {"d2": math.log(2), "d1": math.log(2)}),
        # ln(1.5 / 3.5) is negative: c is in three of four documents; f = 3 gives 6/4.
        (
            BM25(k1=1, b=0, inverse="robertson"),
            "c",
            {"d4": math.log(3 / 7), "d2": math.log(3 / 7), "d3": math.log(3 / 7) * 1.5},
        ),
        # The query has a twice: it counts twice without k3, and (1 + 1) · 2 / (1 + 2) = 4/3 times with k3 = 1.
        (BM25(k1=1, b=0), "a b a", {"d1": math.log(2) * (8 / 3 + 1), "d2": math.log(2) * 2, "d3": math.log(2)}),
        (BM25(k1=1, b=0, k3=1), "a a", {"d1": math.log(2) * 16 / 9, "d2": math.log(2) * 4 / 3}),
        (BM25(k1=1, b=0, k3=0), "a a", {"d1": math.log(2) * 4 / 3, "d2": math.log(2)}),
        # tf = 2/3 and 1/2, idf = log2(4/2) = 1; c: log2(4/3).
        (TfIdf(), "a", {"d1": 2 / 3, "d2": 1 / 2}),
        (TfIdf(), "c a", {"d2": (1 + math.log2(4 / 3)) / 2, "d1": 2 / 3, "d3": 0.6 * math.log2(4 / 3),
                          "d4": math.log2(4 / 3) / 2}),
        (BM25(), "nowhere", {}),
        (BM25(), "", {}),
    ],
)  # fmt: skip
def test_scores_are_those_computed_by_hand(weighting: Weighting, query: str, scores: dict[str, float]) -> None:
    found = _scores(weighting, query)
    assert found == pytest.approx(scores, rel=1e-14)
    assert list(found) == list(scores)  # best first, and of equal scores the last id


@pytest.mark.parametrize("method", ["lucene", "robertson"])
def test_scores_equal_those_of_bm25s(method: str) -> None:
    texts = zipf_texts(300, 40, 800, seed=5)
    theirs = bm25s.BM25(k1=1.2, b=0.75, method=method, dtype="float64")
    theirs.index([text.split() for text in texts], show_progress=False)
    named = {f"d{number:03}": text for number, text in enumerate(texts)}
    # It leaves out the factor k1 + 1, and clips the negative idf of what most documents have.
    df = Counter(word for text in texts for word in set(text.split()))
    rare = sorted(word for word, count in df.items() if count <= len(texts) / 2)
    assert len(rare) > 300
    rng = np.random.default_rng(5)
    for _ in range(20):
        words = rng.choice(rare, 5).tolist()
        expected = theirs.get_scores(words) * (1.2 + 1)
        found = _scores(BM25(inverse=method), " ".join(words), named)  # type: ignore[arg-type]  # one of the two
        assert found == pytest.approx({f"d{at:03}": expected[at] for at in np.flatnonzero(expected)}, rel=1e-12)


def test_a_posting_is_found_wherever_its_document_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {f"d{number}": text for number, text in enumerate(zipf_texts(50, 20, 40, seed=1))}
    whole = index_of(texts, "w0 w5 w9")
    monkeypatch.setattr("leaderboard.baselines.index.WORDS_AT_ONCE", 30)
    monkeypatch.setattr("leaderboard.baselines.index.MOST_WORDS", 5)
    parts = index_of(texts, "w0 w5 w9")
    for name in ("length", "start", "document", "tf"):
        assert np.array_equal(getattr(whole, name), getattr(parts, name)), name
    assert whole.ids.to_list() == parts.ids.to_list()
    assert len(whole.ids.parts) == 1 < len(parts.ids.parts)
    assert [parts.number_of(f"d{number}") for number in (0, 17, 49)] == [0, 17, 49]


@pytest.mark.parametrize("weighting", [BM25(inverse="robertson", k3=2), TfIdf()])
def test_the_shares_that_are_explained_add_up_to_the_score(weighting: Weighting) -> None:
    texts = {f"d{number}": text for number, text in enumerate(zipf_texts(80, 25, 60, seed=2))}
    query = "w1 w0 w44 w3 w3 nowhere"
    weights = Weights(index_of(texts, query), weighting)
    listed = weights.answer("q", query, 1000)
    assert len(listed.score) > 70
    for name, score in zip(listed.document.tolist(), listed.score.tolist(), strict=True):
        explained = weights.explain(query, name.decode())
        assert explained.score == score
        assert reduce(add, [each.share for each in explained.shares]) == score
        for each in explained.shares:
            assert each.share == pytest.approx(each.weight * each.idf * each.tf_part, rel=1e-14)
            assert each.tf == texts[name.decode()].split().count(each.term)
    assert [(each.term, each.qf) for each in explained.shares] == [
        ("w1", 1), ("w0", 1), ("w44", 1), ("w3", 2), ("nowhere", 1),
    ]  # fmt: skip


def test_a_document_that_is_there_twice_is_refused() -> None:
    builder = IndexBuilder(Analyser("none"), ["a"])
    for names in (["d1", "d2"], ["d3", "d2"]):
        builder.add_all([Document(name, "a") for name in names])
    with pytest.raises(BadInput, match=r"^document d2 is there twice$"):
        builder.index()
    builder = IndexBuilder(Analyser("none"), ["a"])
    builder.add_all([Document(name, "a") for name in ["d1", "d2", "d1", "d2", "d2"]])
    with pytest.raises(BadInput, match=r"^document d1 is there twice, as are 2 more$"):
        builder.index()


def test_documents_of_stop_words_alone_are_refused() -> None:
    with pytest.raises(BadInput, match="no document has a single word"):
        index_of({"d1": "the of", "d2": "."}, "harbour", language="english")


def test_it_takes_no_longer_than_bm25s() -> None:
    texts, queries = zipf_texts(2000, 60, 5000, seed=9), zipf_texts(30, 5, 3000, seed=8)

    def ours() -> None:
        builder = IndexBuilder(Analyser("none"), queries)
        builder.add_all(Document(f"d{number}", text) for number, text in enumerate(texts))
        weights = Weights(builder.index(), BM25())
        for query in queries:
            weights.answer("q", query, 1000)

    def theirs() -> None:
        index = bm25s.BM25()
        index.index(bm25s.tokenize(texts, stopwords=None, show_progress=False), show_progress=False)
        tokens = bm25s.tokenize(queries, stopwords=None, show_progress=False)
        index.retrieve(tokens, k=1000, show_progress=False)

    took = dict.fromkeys((ours, theirs), math.inf)
    for _ in range(2):
        for each in took:
            start = time.process_time()
            each()
            took[each] = min(took[each], time.process_time() - start)
    assert took[ours] < 1.2 * took[theirs]
