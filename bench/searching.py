"""A collection searched with BM25, as a whole process: `python -m bench.searching NAME FOLDER`.

Every contender reads the files that `make_collection` makes, takes texts apart, removes the same stop words, stems with
the same stemmer, indexes, answers each query 1,000 deep and prints the mean of the best scores, so that a test can see
that they agree.
"""

import json
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

__all__ = ["SEARCHERS", "make_collection"]

SEED = 20191112
VOCABULARY = 200_000
ENDINGS = ("", "s", "ed", "ing")
MEAN_WORDS, SPREAD = 100, 0.5  # of a document: log-normal
DEPTH = 1000
K1, B = 1.2, 0.75
AT_ONCE = 1000


def make_collection(folder: Path, documents: int, queries: int) -> None:
    """Writes documents.jsonl and queries.tsv: words as rare as Zipf has it, the same for the same seed."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    share = np.cumsum(1 / np.arange(1, VOCABULARY + 1))
    words = [stem + ending for stem, ending in product(_stems(VOCABULARY // len(ENDINGS)), ENDINGS)]

    def text(length: int, most: int = VOCABULARY) -> str:
        drawn = np.searchsorted(share, rng.random(length) * share[most - 1])
        return " ".join(words[word] for word in drawn.tolist())

    with (folder / "documents.jsonl").open("w") as file:
        for number in range(documents):
            length = 1 + int(rng.lognormal(np.log(MEAN_WORDS) - SPREAD**2 / 2, SPREAD))
            file.write(json.dumps({"id": f"D{number:07}", "text": text(length)}) + "\n")
    with (folder / "queries.tsv").open("w") as file:
        file.writelines(f"q{number}\t{text(int(rng.integers(3, 9)), 20_000)}\n" for number in range(queries))


def _stems(count: int) -> Iterator[str]:
    """Syllables put together, the short words first."""
    syllables = ["".join(letters) for letters in product("bdfgklmnprtv", "aeou", "bdgklmnprt")]
    size = 1
    while True:
        for parts in product(syllables, repeat=size):
            yield "".join(parts)
            count -= 1
            if not count:
                return
        size += 1


def ours(folder: Path) -> float:
    """What `leaderboard baseline bm25` does, with every check of the files, and the run is written."""
    from leaderboard.cli import run

    out = folder / "run.txt"
    files = ["--documents", str(folder / "documents.jsonl"), "--queries", str(folder / "queries.tsv")]
    status = run(["baseline", "bm25", *files, "--out", str(out), "--depth", str(DEPTH)])
    if status != 0:
        raise RuntimeError(f"it ended with status {status}")
    with out.open() as file:
        best = [float(line.split()[4]) for line in file if line.split()[3] == "1"]
    return sum(best) / len(best)


def bm25s(folder: Path) -> float:
    """bm25s with its own way of taking texts apart; it checks nothing and writes no run."""
    import bm25s as theirs
    import Stemmer
    import stopwords

    with (folder / "documents.jsonl").open() as file:
        records = [json.loads(line) for line in file]
    ids, texts = [record["id"] for record in records], [record["text"] for record in records]
    with (folder / "queries.tsv").open() as file:
        queries = [line.rstrip("\n").split("\t")[1] for line in file]
    how = {
        "stopwords": stopwords.get_stopwords("english"),
        "stemmer": Stemmer.Stemmer("english"),
        "show_progress": False,
    }
    index = theirs.BM25(k1=K1, b=B, method="lucene")
    index.index(theirs.tokenize(texts, **how), show_progress=False)
    depth = min(DEPTH, len(ids))
    found = index.retrieve(theirs.tokenize(queries, **how), corpus=ids, k=depth, show_progress=False)
    best = found.scores[:, 0]
    return float(best[best > 0].mean()) * (K1 + 1)  # it leaves out this factor


SEARCHERS: dict[str, Callable[[Path], float]] = {"ours": ours, "bm25s": bm25s}

if __name__ == "__main__":
    print(repr(SEARCHERS[sys.argv[1]](Path(sys.argv[2]))))
