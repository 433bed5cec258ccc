"""Small collections: a few documents, and random ones of words as rare as Zipf has it."""

from collections.abc import Mapping

import numpy as np

from leaderboard.baselines.documents import Document
from leaderboard.baselines.index import Index, IndexBuilder
from leaderboard.baselines.languages import Analyser


def index_of(texts: Mapping[str, str], *queries: str, language: str = "none") -> Index:
    """The index of documents by their ids."""
    builder = IndexBuilder(Analyser(language), queries)
    builder.add_all(Document(name, text) for name, text in texts.items())
    return builder.index()


def zipf_texts(count: int, words: int, vocabulary: int, seed: int) -> list[str]:
    """Texts of about so many words each, drawn from w0 (the most usual), w1, …"""
    rng = np.random.default_rng(seed)
    share = np.cumsum(1 / np.arange(1, vocabulary + 1))
    lengths = rng.poisson(words, count) + 1
    drawn = np.searchsorted(share, rng.random(lengths.sum()) * share[-1])
    names = [f"w{word}" for word in drawn.tolist()]
    ends = np.cumsum(lengths).tolist()
    return [" ".join(names[first:last]) for first, last in zip([0, *ends[:-1]], ends, strict=True)]
