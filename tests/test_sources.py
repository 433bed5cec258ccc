"""Every figure of docs/sources.md, computed anew from its examples."""

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from leaderboard.baselines.index import BM25, TfIdf, Weighting, Weights
from leaderboard.campaigns.rules import beta_of
from leaderboard.metrics import Ranking, Setting, parse, parse_agreements
from tests.baselines.collections import index_of
from tests.metrics.rankings import Line, Query, of_grades, ranking_of, relevant_at

PAGE = Path(__file__).parents[1] / "docs" / "sources.md"
ROWS_OF_SOURCES = (15, 33, 18, 10, 8)


class Row(NamedTuple):
    """said: what the document calls it; there: its own figures, "" where it has none; ours: figures, as text."""

    section: int
    said: str
    name: str
    example: str
    there: str
    ours: str
    remark: str


def rows() -> list[Row]:
    found = []
    section = 0
    for line in PAGE.read_text().splitlines():
        section = int(line[3]) if re.match(r"## \d", line) else section
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if section and len(cells) == len(Row._fields) - 1 and cells[0] not in ("in the document", "---"):
            found.append(Row(section, *cells))
    return found


ROWS = rows()
DECIDED = {"Y": True, "N": False}


def decided(relevant: str, *lines: str) -> Query:
    parts = [line.split() for line in lines]
    return Query(
        [Line(document, float(score), DECIDED[decision]) for document, score, decision in parts],
        dict.fromkeys(relevant, 1),
    )


def decisions(no_relevant: str) -> Ranking:
    return ranking_of(
        decided("ab", "a 0.9 Y", "x 0.8 Y", "b 0.4 N", "y 0.3 N"),
        decided("c", "z 0.7 Y", "c 0.6 Y", "w 0.6 N"),
        decided("", "u 0.5 Y"),
        setting=Setting(documents=601, beta=20.0, no_relevant=no_relevant),
    )


RIGHT = [Line(f"r{number}", 1.0) for number in range(9)]
EXAMPLES: dict[str, Ranking] = {
    "ten": ranking_of(relevant_at([1, 3, 6, 9, 10], retrieved=10, relevant=5)),
    "plurals": ranking_of(*(relevant_at([rank], retrieved=3, relevant=1) for rank in (3, 2, 1))),
    "result 1": ranking_of(of_grades([3, 1, 1])),
    "result 2": ranking_of(of_grades([1, 3, 1])),
    "classes": ranking_of(
        relevant_at([1, 2, 4, 5, 11], retrieved=14, relevant=6, grade=2), setting=Setting(documents=1814)
    ),
    "two lists": ranking_of(
        relevant_at([1, 3, 4, 5, 6, 10], retrieved=10, relevant=6),
        relevant_at([2, 5, 6, 7, 9, 10], retrieved=10, relevant=6),
    ),
    "decisions": decisions("exclude"),
    "decisions, pfa_only": decisions("pfa_only"),
    "decisions, pmiss_zero": decisions("pmiss_zero"),
    "low recall": ranking_of(
        Query([*RIGHT, Line("x", 0.5)], {f"r{number}": 1 for number in range(90)}), setting=Setting(documents=1000)
    ),
    "half": ranking_of(Query([Line("a", 1.0), Line("b", 0.5)], {"a": 1})),
    "known": ranking_of(
        Query(
            [Line(name, -place) for place, name in enumerate("acxd")], dict.fromkeys("abcde", 1), known=["a", "b", "z"]
        )
    ),
}
TEXTS = {"d1": "a a b", "d2": "a c", "d3": "b c c c d", "d4": "c d"}


def scored(weighting: Weighting, query: str, document: str) -> float:
    listed = Weights(index_of(TEXTS, query), weighting).answer("q", query, 10)
    return float(listed.score[listed.document.tolist().index(document.encode())])


def agreed(name: str) -> Callable[[], float]:
    def compute() -> float:
        (agreement,) = parse_agreements(name)
        return agreement.compute(np.array(list("abcde")), np.array(list("bacxe"))).value

    return compute


# What is no measure of a run.
COMPUTED: dict[str, Callable[[], float]] = {
    "β from C, V and the prior": lambda: beta_of(0.0333, 1, 1 / 600),
    "tf of a in d1": lambda: TfIdf().tf_part(2.0, 3.0, 3.0),
    "idf of c": lambda: TfIdf().idf(3, 4),
    "tf-idf of c in d3": lambda: scored(TfIdf(), "c", "d3"),
    "BM25 of a in d1": lambda: scored(BM25(k1=1, b=0), "a", "d1"),
    "BM25 with lengths of a in d2": lambda: scored(BM25(k1=1, b=1), "a", "d2"),
    "Robertson's idf of c": lambda: BM25(inverse="robertson").idf(3, 4),
    "BM25 with Robertson's idf of c in d3": lambda: scored(BM25(k1=1, b=0, inverse="robertson"), "c", "d3"),
    "BM25 with k3 of a a in d1": lambda: scored(BM25(k1=1, b=0, k3=1), "a a", "d1"),
    "`KendallDistance@5`": agreed("KendallDistance@5"),
    "`SpearmanRho`": agreed("SpearmanRho"),
}


def figures(row: Row, count: int) -> list[float]:
    """What the product gives for a row with so many figures."""
    if row.name in COMPUTED:
        return [COMPUTED[row.name]()]
    name, ranking = row.name.strip("`"), EXAMPLES[row.example]
    if name.endswith("@k"):
        return [parse(f"{name[:-1]}{k}").evaluate(ranking).mean for k in range(1, count + 1)]
    evaluated = parse(name).evaluate(ranking)
    return [evaluated.mean] if count == 1 else evaluated.values.tolist()


def as_printed(value: float, text: str) -> bool:
    """Whether a number is this text, to as many digits as it has."""
    if text == "–":
        return math.isnan(value)
    digits = len(text.partition(".")[2])
    return abs(value - float(text)) <= 0.5 * 10**-digits * (1 + 1e-9) if digits else value == pytest.approx(float(text))


def test_every_row_of_the_sources_is_there() -> None:
    sections = [row.section for row in ROWS]
    assert [sections.count(section) for section in range(1, 6)] == list(ROWS_OF_SOURCES)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.section} {row.said}")
def test_the_figure_is_what_the_page_says_and_the_sources_but_for_its_slips(row: Row) -> None:
    ours = row.ours.split()
    computed = figures(row, len(ours))
    assert len(computed) == len(ours)
    wrong = [(value, text) for value, text in zip(computed, ours, strict=True) if not as_printed(value, text)]
    assert wrong == []
    if row.there:
        agree = [as_printed(value, text) for value, text in zip(computed, row.there.split(), strict=True)]
        assert all(agree) is not row.remark.startswith("slip")
