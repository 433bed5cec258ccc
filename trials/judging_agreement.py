"""Do intervals of κ hold the truth? Two made-up assessors judge the documents of made-up queries.

    python -m trials judging_agreement --campaigns 1000

Queries differ in how many documents they have, in how many of each grade, in how strict the second assessor is and in
how often they differ; the truth is the κ of very many such queries. `alike` and `unlike`: by how much queries differ.

The table is printed in Markdown; docs/statistics.md has it.
"""

import numpy as np

from leaderboard.metrics import Floats, Ints
from leaderboard.statistics import distances, kappa
from trials.populations import parser

GRADES = np.arange(4)
LEVEL = 2
MANY = 20_000  # queries
UNLIKE = {"alike": 0.3, "unlike": 0.7}
QUERIES = (8, 15, 30, 50)
LEAST_COVERED = 0.90


def main(arguments: list[str]) -> int:
    """1 when an interval holds the truth less often than LEAST_COVERED says."""
    options = parser("judging_agreement", __doc__)
    options.add_argument("--campaigns", type=int, default=300, help="drawn for each row (300)")
    options.add_argument("--seed", type=int, default=1)
    asked = options.parse_args(arguments)
    print("| queries | number | κ | relevant or not | linear | quadratic | percentiles instead |")
    print("|---|---|---|---|---|---|---|")
    good = True
    for name, unlike in UNLIKE.items():
        for queries in QUERIES:
            truth, held, by_percentiles = coverage(unlike, queries, asked.campaigns, asked.seed)
            shares = " | ".join(f"{100 * share:.1f}" for share in (*held, by_percentiles[0]))
            print(f"| {name} | {queries} | {', '.join(f'{each:.2f}' for each in truth)} | {shares} |")
            good &= bool((held >= LEAST_COVERED - 3 * np.sqrt(0.05 / asked.campaigns)).all())
    return 0 if good else 1


def coverage(unlike: float, queries: int, campaigns: int, seed: int) -> tuple[Floats, Floats, Floats]:
    """(κ in truth; how often its interval holds it; how often the percentiles of resampled queries do), float64[3]
    each: relevant or not, linear, quadratic."""
    generator, apart = np.random.default_rng(seed), distances(GRADES, LEVEL).values()
    judged = judgments(unlike, MANY, generator)
    truth = np.array([kappa(judged.sum(axis=0)[np.newaxis], each).value for each in apart])
    held, by_percentiles = np.zeros((2, campaigns, 3), bool)
    for number in range(campaigns):
        tables = judgments(unlike, queries, generator)
        drawn = tables[generator.integers(0, queries, (300, queries))].sum(axis=1)
        for at, each in enumerate(apart):
            own = kappa(tables, each)
            held[number, at] = own.low is not None and own.high is not None and own.low <= truth[at] <= own.high
            values = [value for table in drawn if (value := kappa(table[np.newaxis], each).value) is not None]
            low, high = np.quantile(values, [0.025, 0.975])
            by_percentiles[number, at] = low <= truth[at] <= high
    return truth, held.mean(axis=0), by_percentiles.mean(axis=0)


def judgments(unlike: float, queries: int, generator: np.random.Generator) -> Ints:
    """int64[queries, G, G]: documents by the grades of the two."""
    tables = np.zeros((queries, len(GRADES), len(GRADES)), np.int64)
    for table in tables:
        shares = generator.dirichlet(np.array([4, 2, 1.2, 0.8]) / unlike)
        documents = max(2, int(20 * np.exp(generator.normal(0, 0.5))))
        first = generator.choice(GRADES, documents, p=shares)
        strict, noise = generator.normal(0, 0.4 * unlike), np.exp(generator.normal(0, unlike)) / 1.5
        second = np.clip(np.round(first + strict + generator.normal(0, noise, documents)), 0, GRADES[-1])
        np.add.at(table, (first, second.astype(np.int64)), 1)
    return tables
