"""Draws judgments and runs of a made-up field from seeded random numbers; pure, and the same on every machine.

A query has relevant documents and distractors: documents that systems find hard to tell from relevant ones. A
system gives every one of them a hidden value: standard normal for a distractor, higher by the system's quality for a
relevant one. Part of it is common to all systems (some documents mislead everybody), the rest the system's own.
"""

import gzip
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from leaderboard.demo.scenario import Queries
from leaderboard.formats import RUN_WRITERS, Ids, Judgments, QueryRow, RunLine
from leaderboard.metrics.segments import Bools, Floats, Ints

COMMON = 0.5  # share of a hidden value's variance that all systems have in common
DIFFICULTY = 0.45  # standard deviation of what a query adds to every system's quality
OWN_DIFFICULTY = 0.25  # the same, for each system on its own
HIGHLY = 0.4  # added to a highly relevant document
DEPTH = 120  # lines a query that a system lists at most
FLOOR = -1.2  # hidden values below it are not listed
DIGITS = 6

SCALES: Mapping[str, Callable[[Floats, float], Floats]] = {
    "probability": lambda hidden, threshold: 1 / (1 + np.exp(threshold - hidden)),
    "log": lambda hidden, _: hidden - 6.0,
    "cosine": lambda hidden, _: 0.3 + 0.08 * hidden,
    "count": lambda hidden, _: np.floor(3 * (hidden - FLOOR)),  # few values, so many ties
}


@dataclass(frozen=True, slots=True)
class Pool:
    """Documents of one evaluation's queries, query after query.

    query     int64[D], index into `queries`
    document  D ids
    grade     int64[D]: 0 a distractor, 1 relevant, 2 highly relevant
    judged    bool[D]
    common    float64[D], standard normal
    ease      float64[Q], what the query adds to the quality of every system
    """

    queries: tuple[QueryRow, ...]
    query: Ints
    document: tuple[str, ...]
    grade: Ints
    judged: Bools
    common: Floats
    ease: Floats

    def judgments(self) -> Judgments:
        chosen = np.flatnonzero(self.judged)
        return Judgments(
            queries=tuple(query.id for query in self.queries),
            query=self.query[chosen].astype(np.uint32),
            document=Ids.of(self.document[row] for row in chosen),
            grade=self.grade[chosen],
        )


@dataclass(frozen=True, slots=True)
class Listing:
    """What one system lists: places in the pool, best first within a query, and the hidden values there."""

    place: Ints
    hidden: Floats


def make_pool(
    rng: np.random.Generator, queries: tuple[QueryRow, ...], shape: Queries, documents: int, prefix: str
) -> Pool:
    """Documents are numbered below `documents`; ids are the number after `prefix`."""
    relevant = 1 + rng.poisson(shape.relevant - 1, len(queries))
    relevant[rng.choice(len(queries), shape.without_relevant, replace=False)] = 0
    query, names, grade, judged = [], [], [], []
    for number, relevant_count in enumerate(relevant.tolist()):
        size = relevant_count + shape.distractors
        names += [f"{prefix}{pick:04d}" for pick in rng.choice(documents, size, replace=False)]
        query.append(np.full(size, number))
        grade.append(
            np.concatenate([1 + (rng.random(relevant_count) < 0.3), np.zeros(shape.distractors)]).astype(np.int64)
        )
        judged.append(np.arange(size) < relevant_count + shape.judged)
    where = np.concatenate(query)
    return Pool(
        queries=queries,
        query=where,
        document=tuple(names),
        grade=np.concatenate(grade),
        judged=np.concatenate(judged),
        common=rng.standard_normal(len(where)),
        ease=rng.normal(0.0, DIFFICULTY, len(queries)),
    )


def list_documents(
    rng: np.random.Generator, pool: Pool, quality: float, *, conceptual: float = 0.0, missing: int = 0
) -> Listing:
    """What one system lists: `conceptual` is added on queries of that type, `missing` queries are left out."""
    own_ease = rng.normal(0.0, OWN_DIFFICULTY, len(pool.queries))
    of_type = np.array([conceptual if "conceptual" in query.tags else 0.0 for query in pool.queries])
    skill = quality + pool.ease + own_ease + of_type
    noise = np.sqrt(COMMON) * pool.common + np.sqrt(1 - COMMON) * rng.standard_normal(len(pool.common))
    hidden = noise + (pool.grade > 0) * skill[pool.query] + (pool.grade > 1) * HIGHLY
    order = np.lexsort((-hidden, pool.query))
    starts = np.searchsorted(pool.query, np.arange(len(pool.queries)))
    rank = np.arange(len(order)) - starts[pool.query]  # the queries of `order` are those of the pool
    left_out = rng.choice(np.unique(pool.query), missing, replace=False)
    shown = (rank < DEPTH) & (hidden[order] >= FLOOR) & ~np.isin(pool.query, left_out)
    return Listing(order[shown], hidden[order][shown])


def best_threshold(quality: float, shape: Queries, odds: float) -> float:
    """Where to decide Y, on the hidden values: where one more document gains as much as it costs.

    odds  distractors returned for one more relevant document that cost just what it gains: 1 / (β · prior)
    """
    return float(np.log(shape.distractors / (shape.relevant * odds)) / quality + quality / 2)


def write_run(pool: Pool, listing: Listing, threshold: float, *, style: str, scale: str, tag: str) -> bytes:
    """The run as a gzipped file; `style` is a key of `RUN_WRITERS`, "trec" or "decisions"."""
    scores = SCALES[scale](listing.hidden, threshold)
    query = pool.query[listing.place]
    starts = np.searchsorted(query, np.arange(len(pool.queries)))
    rank = np.arange(1, len(query) + 1) - starts[query]
    decided = listing.hidden >= threshold
    names = [row.id for row in pool.queries]
    write = RUN_WRITERS[style]
    lines = [
        write(RunLine(names[number], pool.document[row], its_rank, f"{score:.{DIGITS}f}", decision, tag))
        for number, row, its_rank, score, decision in zip(
            query.tolist(), listing.place.tolist(), rank.tolist(), scores.tolist(), decided.tolist(), strict=True
        )
    ]
    return gzip.compress("".join(lines).encode(), compresslevel=6, mtime=0)


def damage(run: bytes) -> bytes:
    """A decision list with a few mistakes that a script makes: each kind is told apart when the file is read."""
    lines = gzip.decompress(run).decode().splitlines()
    lines[16] = lines[16].rpartition("\t")[0]  # no score
    lines[39] = lines[39].rpartition("\t")[0] + "\tnan"
    lines[60] = lines[59]
    lines[85] = "h00" + lines[85][3:]  # a query of another year
    return gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0)


def threshold_score(threshold: float, scale: str) -> float:
    """The threshold on the scale of the run's scores, as a team would state it."""
    return round(float(SCALES[scale](np.array([threshold]), threshold)[0]), DIGITS)
