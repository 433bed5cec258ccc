"""Populations of queries whose true figures are known, made of real runs: what the claims of a board are held against.

A population is a finite set of queries, and a campaign draws its queries from it with replacement. So its true figure
is the one over all of the population's queries, and a claim about "queries like these" is right or wrong, for certain.
The values are those of real runs on real queries, of TREC Deep Learning 2019 (43 queries) and of TREC-COVID (round 1
with 30, round 2 with 35). Detection needs a threshold, which these runs do not state: each run gets the one θ with the
best value over its population, the work of a team that set it well.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from leaderboard.formats import read_judgments, read_run
from leaderboard.metrics import Columns, Floats, Ints, Ranking, Setting, parse, sweep
from leaderboard.metrics.aggregation import GEOMETRIC_FLOOR, GEOMETRIC_MEAN, MEAN, VALUE_OF_MEANS, Aggregation
from leaderboard.metrics.ranking import NoRelevant
from leaderboard.scoring import join, prepare
from tests.support.shared import SHARED_VARIABLE, shared_data

__all__ = [
    "BETAS", "COLLECTIONS", "POLICIES", "Population", "clones", "crossed", "decided", "detection", "false_alarms",
    "on_queries", "parser", "rankings", "real", "real_runs", "recentred",
]  # fmt: skip


@dataclass(frozen=True)
class Collection:
    """Where its runs are, how many documents it has, and the grade from which its track counts one as relevant."""

    folder: str
    documents: int
    rel: int


COLLECTIONS = {
    "TREC DL 2019": Collection("trec-dl/2019", 8_841_823, 2),
    "TREC-COVID 1": Collection("trec-covid/round1", 51_078, 1),
    "TREC-COVID 2": Collection("trec-covid/round2", 59_851, 1),
}
BETAS = (20.0, 999.9)
POLICIES: tuple[NoRelevant, ...] = ("exclude", "pfa_only", "pmiss_zero")
SEED = 1


def parser(trial: str, about: str | None) -> argparse.ArgumentParser:
    """Of a trial's arguments; about: the docstring of its module."""
    return argparse.ArgumentParser(prog=f"python -m trials {trial}", description=(about or "").split("\n")[0])


def real_runs() -> Path | None:
    """The folder of the real runs and judgments; None where there is none, which is said."""
    data = shared_data()
    if data is None:
        print(f"left out: no real runs; {SHARED_VARIABLE} names their folder", file=sys.stderr)
    return data


@dataclass(frozen=True, eq=False)
class Population:
    """Q queries that a campaign draws from, and S systems.

    columns  float64[Q, S] each, as the aggregation takes them
    truth    float64[S], the figure of each system over all Q queries
    """

    name: str
    columns: Columns
    aggregation: Aggregation

    @property
    def truth(self) -> Floats:
        every_query_once = np.ones((1, len(self.columns[0])))
        found: Floats = self.aggregation.combine(self.columns, every_query_once)[0]
        return found

    @property
    def systems(self) -> int:
        return int(self.columns[0].shape[1])

    def draw(self, queries: int, generator: np.random.Generator) -> Columns:
        """A campaign: float64[queries, S] each, of queries drawn with replacement."""
        drawn = generator.integers(0, len(self.columns[0]), queries)
        return tuple(column[drawn] for column in self.columns)


@cache
def rankings(data: Path, name: str) -> tuple[Ranking, ...]:
    """The runs of a collection, in the order of their names, joined with its judgments."""
    folder = data / COLLECTIONS[name].folder
    judged = prepare(read_judgments(folder / "qrels.txt"))
    setting = Setting(documents=COLLECTIONS[name].documents, beta=BETAS[0])
    files = [file for file in sorted(folder.glob("*.gz")) if ".trec_eval" not in file.name]
    return tuple(join(read_run(file), judged, setting).ranking for file in files)


def real(data: Path, measure: str) -> Iterator[Population]:
    """The runs under a measure that is a mean, or a geometric mean, of what each query has; one for each collection."""
    for name, collection in COLLECTIONS.items():
        own = parse(measure).at_relevance(collection.rel)
        values = [own.evaluate(ranking).values for ranking in rankings(data, name)]
        yield Population(f"{name}, {own}", (np.stack(values, axis=1),), own.family.aggregation)


def decided(data: Path, name: str, beta: float) -> list[Ranking]:
    """Every third run of a collection with decisions of its own: a θ somewhat less strict than the best one."""
    rel, found = COLLECTIONS[name].rel, []
    for each in rankings(data, name)[::3]:
        ranking = replace(each, setting=replace(each.setting, beta=beta))
        thresholds = sweep(ranking, rel)
        theta = thresholds.theta[min(len(thresholds.theta) - 1, int(thresholds.best * 1.5) + 20)]
        above = np.concatenate(([0], np.cumsum(ranking.scores >= theta)))
        returned = above[ranking.line_start[1:]] - above[ranking.line_start[:-1]]
        found.append(replace(ranking, returned=returned, is_returned=ranking.rank <= returned[ranking.query]))
    return found


def on_queries(ranking: Ranking, queries: Ints) -> Ranking:
    """The run on these of its queries, int64[q], each as often as it is named."""

    def places(start: Ints) -> Ints:
        return np.concatenate([np.arange(start[query], start[query + 1]) for query in queries])

    hits, judged, lines = (places(start) for start in (ranking.hit_start, ranking.judged_start, ranking.line_start))
    scores = ranking.scores[lines]
    return replace(
        ranking,
        retrieved=ranking.retrieved[queries],
        returned=ranking.returned[queries],
        query=np.repeat(np.arange(len(queries)), np.diff(ranking.hit_start)[queries]),
        rank=ranking.rank[hits],
        grade=ranking.grade[hits],
        is_returned=ranking.is_returned[hits],
        judged_start=np.concatenate(([0], np.cumsum(np.diff(ranking.judged_start)[queries]))),
        judged_grade=ranking.judged_grade[judged],
        load_scores=lambda: scores,
    )


def detection(data: Path, beta: float, policy: NoRelevant) -> Iterator[Population]:
    """The runs under AQWV, each with the θ that is best over its population.

    Every judged query of these collections has relevant documents. So that the policy matters, a half of the queries,
    the same for all runs, loses them: as if none of them were in the collection. Its false alarms stay. Under `exclude`
    these queries are left out, so that a campaign's queries are those that count.
    """
    for name, collection in COLLECTIONS.items():
        columns = [
            _at_best_threshold(replace(each, setting=replace(each.setting, beta=beta)), collection.rel)
            for each in rankings(data, name)
        ]
        p_miss, weighted_p_fa = (np.stack(column, axis=1) for column in zip(*columns, strict=True))
        without = np.random.default_rng(SEED).permutation(len(p_miss)) < len(p_miss) // 2
        p_miss[without] = 0.0 if policy == "pmiss_zero" else np.nan
        if policy == "exclude":
            p_miss, weighted_p_fa = p_miss[~without], weighted_p_fa[~without]
        yield Population(f"{name}, AQWV β {beta:g} {policy}", (p_miss, weighted_p_fa), VALUE_OF_MEANS)


def false_alarms(data: Path, beta: float) -> Iterator[Population]:
    """What false alarms cost the runs of `detection`: β · P_fa, of which everything is said as of P_fa."""
    for population in detection(data, beta, "exclude"):
        yield Population(population.name.replace("AQWV", "P_fa"), population.columns[1:], MEAN)


def _at_best_threshold(ranking: Ranking, rel: int) -> Columns:
    thresholds = sweep(ranking, rel)
    theta = thresholds.theta[thresholds.best]
    above = np.concatenate(([0], np.cumsum(ranking.scores >= theta)))
    returned = above[ranking.line_start[1:]] - above[ranking.line_start[:-1]]
    found = ranking.relevant(rel).within(returned)
    others = (ranking.setting.documents or 0) - ranking.relevant(rel).judged
    return 1.0 - found / ranking.relevant(rel).judged, (ranking.setting.beta or 0.0) * (returned - found) / others


def recentred(population: Population, below: Floats | float = 0.0) -> Population:
    """The systems made equal, or as far below the best as said: each one's values are moved.

    below: float64[S] or one number for all, what is taken off the common figure. Under AQWV what false alarms cost is
    moved; under a geometric mean all values of a system are multiplied, upwards, so that none falls below the floor.
    """
    truth, aggregation = population.truth, population.aggregation
    if aggregation is GEOMETRIC_MEAN:
        (values,) = population.columns
        raised = np.maximum(values, GEOMETRIC_FLOOR) * (truth.max() / truth)
        return replace(population, columns=(raised,))
    up = truth.mean() - below - truth
    *others, last = population.columns
    return replace(population, columns=(*others, last - up if aggregation is VALUE_OF_MEANS else last + up))


def crossed(population: Population, systems: int, generator: np.random.Generator) -> Population:
    """As many systems as wanted. Where there are more than real ones, each of the others takes its value on every query
    from one of two real runs, by the toss of a coin: the values are real, and so is how systems go together."""
    queries, there = population.columns[0].shape
    order = generator.permutation(there)[:systems]
    chosen = np.broadcast_to(order, (queries, len(order)))
    if systems > there:
        parents = generator.integers(0, there, (2, systems - there))
        heads = generator.random((queries, systems - there)) < 0.5
        chosen = np.concatenate((chosen, np.where(heads, parents[0], parents[1])), axis=1)
    return replace(population, columns=tuple(np.take_along_axis(one, chosen, axis=1) for one in population.columns))


def clones(population: Population, systems: int, variable: int, generator: np.random.Generator) -> Population:
    """Copies of one real run, and after them `variable` other real runs, all with equal means."""
    order = generator.permutation(population.systems)[: variable + 1]
    chosen = np.concatenate((np.repeat(order[0], systems - variable), order[1:]))
    return recentred(replace(population, columns=(population.columns[0][:, chosen],)))
