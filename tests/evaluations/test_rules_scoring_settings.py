import json
from dataclasses import fields, replace

import pytest

from leaderboard.evaluations.rules import Judging, NoRelevant, ScoringSettings, Split, Subset, lacks
from leaderboard.metrics import Setting, parse

SETTINGS = ScoringSettings(
    beta=20.0, no_relevant=NoRelevant.PFA_ONLY, documents=1000, relevance_level=2, judging=Judging.COMPLETE, compat=9,
    highest_grade=3, queries=4, known=False, subtopics=False, excluded=("q2",), hidden=("q3", "q4"),
    measures=("AQWV(rel=2)", "AP(rel=2)"), kept=("Pmiss(rel=2)", "Pfa(rel=2)"),
)  # fmt: skip
OTHERS = {
    "beta": 40.0, "no_relevant": NoRelevant.EXCLUDE, "documents": 999, "relevance_level": 1, "judging": Judging.POOLED,
    "compat": 10, "highest_grade": 1, "queries": 5, "known": True, "subtopics": True, "excluded": (), "hidden": ("q3",),
    "measures": ("AP(rel=2)",), "kept": (),
}  # fmt: skip


def test_settings_come_back_from_json_as_they_went() -> None:
    assert ScoringSettings.from_json(json.loads(json.dumps(SETTINGS.as_json()))) == SETTINGS


def test_another_value_of_any_setting_makes_another_hash_but_the_order_of_the_measures_does_not() -> None:
    assert set(OTHERS) == {field.name for field in fields(ScoringSettings)}
    for name, value in OTHERS.items():
        assert replace(SETTINGS, **{name: value}).hash != SETTINGS.hash, name
    assert replace(SETTINGS, measures=SETTINGS.measures[::-1]).hash == SETTINGS.hash


def test_measures_take_their_part() -> None:
    assert SETTINGS.metric == Setting(documents=1000, beta=20.0, no_relevant="pfa_only", compat=9, highest_grade=3)
    assert [str(measure) for measure in SETTINGS.scored] == [
        "AQWV(rel=2)", "AP(rel=2)", "Pmiss(rel=2)", "Pfa(rel=2)",
    ]  # fmt: skip


def test_excluded_queries_count_nowhere_and_hidden_ones_where_all_do() -> None:
    queries = ["q1", "q2", "q3", "q4"]
    assert SETTINGS.counted(queries, Subset.ALL) == ["q1", "q3", "q4"]
    assert SETTINGS.counted(queries, Subset.SHOWN) == ["q1"]
    assert (SETTINGS.size(Subset.ALL), SETTINGS.size(Subset.SHOWN)) == (3, 1)
    assert SETTINGS.subsets == (Subset.SHOWN, Subset.ALL)
    assert replace(SETTINGS, hidden=()).subsets == (Subset.ALL,)
    left_out = {(subset, split) for subset in Subset for split in Split if subset.leaves_out(split)}
    assert left_out == {(Subset.SHOWN, Split.HIDDEN)}


@pytest.mark.parametrize(
    ("measure", "given", "missing"),
    [
        ("AP", {}, ()),
        ("AQWV", {}, ("documents", "beta")),
        ("AQWV", {"documents": 9, "beta": 0.0}, ()),
        ("Coverage", {"documents": 9, "beta": 1.0, "subtopics": True}, ("known",)),
        ("alpha_nDCG@10", {"documents": 9, "beta": 1.0, "known": True}, ("subtopics",)),
        ("alpha_nDCG@10", {"subtopics": True}, ()),
    ],
)
def test_a_measure_says_what_it_lacks(measure: str, given: dict[str, object], missing: tuple[str, ...]) -> None:
    nothing = {"documents": None, "beta": None, "known": False, "subtopics": False}
    assert lacks(parse(measure), **nothing | given) == missing
