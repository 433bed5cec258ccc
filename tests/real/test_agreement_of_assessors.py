"""Eight assessors who judged part of TREC Deep Learning 2019 again, against its judgments: κ by scripts that share no
line with ours."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from leaderboard.statistics import distances, kappa
from tests.real.references import ANNOTATORS

OTHERS = ("andrew-parry", "eugene-yang", "ferdinand-schlatt", "froebe", "guglielmo-faggioli", "harry-scells",
          "saber-zerhoudi", "sean-macavaney")  # fmt: skip


def grades_in(file: Path) -> dict[tuple[str, str], int]:
    rows = (line.split() for line in file.read_text().splitlines())
    return {(query, document): int(grade) for query, _, document, grade in rows}


@pytest.mark.parametrize("name", OTHERS)
def test_kappa_of_an_assessor_is_that_of_a_short_script(shared_data: Path, name: str) -> None:
    first = grades_in(shared_data / "trec-dl/2019/qrels.txt")
    second = grades_in(shared_data / ANNOTATORS / f"{name}-qrels.txt")
    both = sorted(first.keys() & second.keys())
    pairs = [(first[each] >= 2, second[each] >= 2) for each in both]
    observed = sum(one == other for one, other in pairs) / len(pairs)
    shares = [Counter(own)[True] / len(pairs) for own in zip(*pairs, strict=True)]
    by_chance = shares[0] * shares[1] + (1 - shares[0]) * (1 - shares[1])
    queries = sorted({query for query, _ in both})
    tables = np.zeros((len(queries), 4, 4), np.int64)
    for each in both:
        tables[queries.index(each[0]), first[each], second[each]] += 1
    found = kappa(tables, distances(np.arange(4), 2)["relevant"])
    assert found.value == pytest.approx((observed - by_chance) / (1 - by_chance), abs=1e-12)
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.value < found.high
