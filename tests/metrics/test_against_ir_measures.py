"""What ir_measures computes for the same judgments and the same list, by its own names."""

import random

import ir_measures
import pytest

from leaderboard.metrics import parse
from tests.metrics.rankings import Line, Query, ranking_of

NAMES = (
    *("SDCG(max_rel=3)@1", "SDCG(max_rel=2)@20", "BPM(max_rel=3)@5", "BPM(T=0.5, min_rel=1, max_rel=3)@1200"),
    *("BPM(T=3.0, max_rel=3)@30", "INSQ(max_rel=3)", "INSQ(T=0.5, max_rel=2)", "INST(max_rel=3)"),
    *("INST(T=2.0, min_rel=1, max_rel=2)", "NERR8(max_rel=3)@10", "NERR9(min_rel=1, max_rel=4)@1500"),
    *(
        "NERR10(p=0.7, max_rel=2)",
        "NERR11(T=3.0, max_rel=3)",
        "Compat",
        "Compat(p=0.5)",
        "Compat(p=0.8, normalize=False)",
    ),
    *("AP(judged_only=True)", "P(judged_only=True)@3", "R(rel=2, judged_only=True)@5", "RR(judged_only=True)"),
    *("Success(judged_only=True)@1", "Rprec(judged_only=True)", "IPrec(judged_only=True)@0.3"),
    *("nDCG(judged_only=True)@5", "SetP(judged_only=True)", "SetF(judged_only=True)", "SetAP(judged_only=True)"),
    *("SetRelP(judged_only=True)", "SetP(relative=True)", "SetP(relative=True, rel=2)", "SetRelP(relative=False)"),
    *("NumRet(rel=2)", "NumRet", "BPref", "RPrec"),
)
OF_SUBTOPICS = (
    *("alpha_nDCG@2", "alpha_nDCG@20", "alpha_nDCG(alpha=0.25, rel=2)@10", "alpha_DCG@2", "alpha_DCG(alpha=0.25)@20"),
    *("ERR_IA@3", "ERR_IA(rel=2)@20", "nERR_IA@1", "nERR_IA@10", "NRBP", "NRBP(alpha=0.25, beta=0.75)", "nNRBP"),
    *(
        "nNRBP(rel=2)",
        "AP_IA",
        "MAP_IA",
        "AP_IA(rel=2)",
        "P_IA@1",
        "P_IA@20",
        "StRecall@3",
        "StRecall(rel=2)@20",
        "α_nDCG@5",
    ),
)
LENGTHS = (1300, 30, 12, 12, 5, 1)  # cwl_eval's reader gives up after a thousand documents


def drawn(chance: random.Random, length: int) -> Query:
    """A list without equal scores, some of its documents judged, and some judged ones missing."""
    documents = [f"d{number:04}" for number in range(length + 5)]
    judged = {document: chance.choice([-1, 0, 0, 1, 2, 3]) for document in chance.sample(documents, length // 2 + 3)}
    found = chance.sample(documents, length)
    return Query([Line(document, float(length - place)) for place, document in enumerate(found)], judged)


@pytest.mark.parametrize("name", NAMES)
def test_values_equal_those_of_ir_measures(name: str) -> None:
    chance = random.Random(1)
    queries = [drawn(chance, length) for length in LENGTHS]
    theirs = ir_measures.iter_calc(
        [ir_measures.parse_measure(name)],
        [ir_measures.Qrel(str(q), d, grade) for q, query in enumerate(queries) for d, grade in query.judged.items()],
        [
            ir_measures.ScoredDoc(str(q), line.document, line.score)
            for q, query in enumerate(queries)
            for line in query.lines
        ],
    )
    expected = {int(each.query_id): each.value for each in theirs}
    values = parse(name).evaluate(ranking_of(*queries)).values
    assert len(expected) == len(queries)
    assert {q: pytest.approx(value, abs=1e-12) for q, value in expected.items()} == dict(enumerate(values.tolist()))


@pytest.mark.parametrize("name", OF_SUBTOPICS)
def test_values_of_subtopics_equal_those_of_ir_measures(name: str) -> None:
    chance = random.Random(2)
    queries = []
    for length in LENGTHS:
        plain = drawn(chance, length)
        documents = [line.document for line in plain.lines] + ["e1", "e2", "e3"]
        pairs = [(subtopic, document) for subtopic in range(4) for document in documents]
        judged = {pair: chance.choice([0, 0, 1, 2]) for pair in chance.sample(pairs, len(pairs) // 4 + 1)}
        queries.append(Query(plain.lines, plain.judged, subtopics=judged | {(9, "e1"): 2}))
    theirs = ir_measures.iter_calc(
        [ir_measures.parse_measure(name)],
        [
            ir_measures.Qrel(str(q), document, grade, str(subtopic))
            for q, query in enumerate(queries)
            for (subtopic, document), grade in query.aspects.items()
        ],
        [
            ir_measures.ScoredDoc(str(q), one.document, one.score)
            for q, query in enumerate(queries)
            for one in query.lines
        ],
    )
    expected = {int(each.query_id): pytest.approx(each.value, abs=1e-12) for each in theirs}
    values = parse(name).evaluate(ranking_of(*queries)).values
    assert len(expected) == len(queries)
    assert expected == dict(enumerate(values.tolist()))
