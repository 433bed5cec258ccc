from typing import Literal

from hypothesis import given, strategies as st

from leaderboard.metrics import Setting, parse, parse_all
from leaderboard.scoring import prepare, score
from tests.scoring.obvious import Line, judgments_of, run_of


def test_a_missing_query_counts_as_an_empty_list_and_is_reported() -> None:
    judged = prepare(judgments_of({("q1", "a"): 1, ("q2", "a"): 1}))
    scored = score(run_of([Line("q1", "a", 1.0), Line("q9", "a", 1.0)]), judged, [parse("AP")])
    assert scored.queries == ("q1", "q2")
    assert scored.results[parse("AP")].values.tolist() == [1.0, 0.0]
    assert scored.results[parse("AP")].mean == 0.5
    assert scored.missing == ("q2",)
    assert scored.unknown == ("q9",)


def test_a_run_without_any_query_that_counts_is_scored_as_empty_lists() -> None:
    judged = prepare(judgments_of({("q1", "a"): 1}))
    scored = score(
        run_of([Line("other", "a", 1.0)]), judged, parse_all("AP NumRet MQWV"), Setting(documents=9, beta=1.0)
    )
    assert [result.mean for result in scored.results.values()] == [0.0, 0.0, 0.0]


# Ids that sort otherwise as numbers, in lower case, or by their length.
IDS = ["1", "10", "9", "Z", "a", "aa", "ä", "q-1", "q_1"]


@given(
    imported=st.permutations(IDS),
    ranks=st.lists(st.integers(1, 7), min_size=len(IDS), max_size=len(IDS)),
    judging=st.sampled_from(["pooled", "complete"]),
)
def test_every_order_of_import_gives_the_same_bits(
    imported: list[str], ranks: list[int], judging: Literal["pooled", "complete"]
) -> None:
    lines = [
        Line(query, "found" if place == rank else f"other {place}".replace(" ", "-"), float(-place))
        for query, rank in zip(IDS, ranks, strict=True)
        for place in range(1, rank + 1)
    ]
    grades = judgments_of({(query, "found"): 1 for query in imported})
    setting = Setting(documents=1000, beta=20.0)
    measures = parse_all("AP GMAP AQWV NumRet")
    scored = score(run_of(lines), prepare(grades, imported, judging=judging), measures, setting)
    in_order = [1 / ranks[IDS.index(query)] for query in sorted(IDS, key=str.encode)]
    summed = 0.0
    for value in in_order:
        summed += value
    assert scored.results[measures[0]].mean == summed / len(IDS)
    usual = score(run_of(lines), prepare(grades), measures, setting)
    assert [scored.results[each].mean for each in measures] == [usual.results[each].mean for each in measures]
