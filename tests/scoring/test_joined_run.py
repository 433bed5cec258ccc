from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from leaderboard.metrics import Setting
from leaderboard.scoring import join, prepare
from tests.scoring.obvious import QUERIES, SCORES, Line, judgments_of, lists, pairs, ranked, run_of, subtopics_of

grades = st.dictionaries(pairs, st.integers(-1, 3), min_size=1)
compats: Any = st.sampled_from([9, 10])


def hits(ranking: Any) -> list[tuple[int, int, int]]:
    return list(zip(ranking.query.tolist(), ranking.rank.tolist(), ranking.grade.tolist(), strict=True))


@settings(deadline=None)
@given(lines=lists, grades=grades, compat=compats, sort=st.booleans())
def test_hits_ranks_and_scores_are_those_of_the_obvious_way(
    lines: tuple[Line, ...], grades: dict[tuple[str, str], int], compat: Literal[9, 10], sort: bool
) -> None:
    if sort:
        lines = tuple(line for query in QUERIES for line in ranked(lines, query, compat))
    judged = prepare(judgments_of(grades))
    joined = join(run_of(lines), judged, Setting(compat=compat))
    expected: list[tuple[int, int, int]] = []
    scores: list[float] = []
    for number, query in enumerate(sorted({query for query, _ in grades})):
        for rank, line in enumerate(ranked(lines, query, compat), 1):
            scores.append(float(np.float32(line.score)) if compat == 9 else line.score)
            if (query, line.document) in grades:
                expected.append((number, rank, grades[query, line.document]))
    assert hits(joined.ranking) == expected
    assert joined.ranking.scores.tolist() == scores
    assert set(joined.missing) == {query for query, _ in grades} - {line.query for line in lines}
    assert set(joined.unknown) == {line.query for line in lines} - {query for query, _ in grades}


@settings(deadline=None)
@given(lines=lists, grades=grades, compat=compats, depth=st.integers(0, 6), judged_only=st.booleans())
def test_depth_cuts_first_and_judged_only_takes_out_then(
    lines: tuple[Line, ...],
    grades: dict[tuple[str, str], int],
    compat: Literal[9, 10],
    depth: int,
    judged_only: bool,
) -> None:
    judged = prepare(judgments_of(grades))
    ranking = join(run_of(lines), judged, Setting(compat=compat), depth=depth, judged_only=judged_only).ranking
    expected = []
    lengths = []
    for number, query in enumerate(judged.queries):
        own = ranked(lines, query, compat)[:depth]
        if judged_only:
            own = [line for line in own if grades.get((query, line.document), -1) >= 0]
        lengths.append(len(own))
        expected += [
            (number, rank, grades[query, line.document])
            for rank, line in enumerate(own, 1)
            if (query, line.document) in grades
        ]
    assert hits(ranking) == expected
    assert ranking.retrieved.tolist() == lengths
    assert len(ranking.scores) == sum(lengths)


@settings(deadline=None)
@given(
    lines=lists,
    decisions=st.lists(st.booleans(), min_size=24, max_size=24),
    grades=grades,
    depth=st.none() | st.integers(0, 6),
)
def test_returned_is_what_was_decided(
    lines: tuple[Line, ...], decisions: list[bool], grades: dict[tuple[str, str], int], depth: int | None
) -> None:
    decided = tuple(line._replace(decision=each) for line, each in zip(lines, decisions, strict=False))
    judged = prepare(judgments_of(grades))
    ranking = join(run_of(decided), judged, depth=depth, threshold=99.0).ranking
    own = [ranked(decided, query)[:depth] for query in judged.queries]
    assert ranking.returned.tolist() == [sum(bool(line.decision) for line in each) for each in own]
    assert ranking.is_returned.tolist() == [
        line.decision
        for query, each in zip(judged.queries, own, strict=True)
        for line in each
        if (query, line.document) in grades
    ]


@settings(deadline=None)
@given(
    lines=lists,
    grades=grades,
    threshold=st.sampled_from(SCORES),
    compat=compats,
    depth=st.none() | st.integers(0, 6),
)
def test_without_decisions_the_threshold_says_what_is_returned(
    lines: tuple[Line, ...],
    grades: dict[tuple[str, str], int],
    threshold: float,
    compat: Literal[9, 10],
    depth: int | None,
) -> None:
    held = np.float32 if compat == 9 else np.float64
    judged = prepare(judgments_of(grades))
    ranking = join(run_of(lines), judged, Setting(compat=compat), threshold=threshold, depth=depth).ranking
    own = [ranked(lines, query, compat)[:depth] for query in judged.queries]
    assert ranking.returned.tolist() == [sum(held(line.score) >= held(threshold) for line in each) for each in own]
    assert ranking.is_returned.tolist() == [
        held(line.score) >= held(threshold)
        for query, each in zip(judged.queries, own, strict=True)
        for line in each
        if (query, line.document) in grades
    ]


@pytest.mark.parametrize("compat", [9, 10])
def test_scores_beyond_32_bits_are_ordered(compat: Literal[9, 10]) -> None:
    lines = [Line("q", "a", 1e300), Line("q", "b", 1e301), Line("q", "c", -1e300)]
    judged = prepare(judgments_of({("q", "b"): 1}))
    assert join(run_of(lines), judged, Setting(compat=compat)).ranking.rank.tolist() == [1]


def test_pooled_judgments_leave_a_query_without_any_out_and_complete_ones_count_it() -> None:
    judgments = judgments_of({("q1", "a"): 1})
    pooled = prepare(judgments, ["q2", "q1"], judging="pooled")
    assert (pooled.queries, pooled.left_out) == (("q1",), ("q2",))
    complete = prepare(judgments, ["q2", "q1"], judging="complete")
    assert (complete.queries, complete.left_out) == (("q1", "q2"), ())
    ranking = join(run_of([Line("q2", "a", 1.0)]), complete).ranking
    assert ranking.retrieved.tolist() == [0, 1]
    assert ranking.judged_start.tolist() == [0, 1, 1]


def test_documents_known_to_the_user_go_with_their_grades() -> None:
    judgments = judgments_of({("q", "a"): 2, ("q", "b"): 0, ("q", "c"): 1})
    known = judgments_of({("q", "a"): 1, ("q", "b"): 1, ("q", "unjudged"): 1})
    judged = prepare(judgments, known=known)
    lines = [Line("q", document, score) for score, document in enumerate(["c", "unjudged", "b", "a"])]
    ranking = join(run_of(lines), judged).ranking
    assert ranking.judged_known is not None
    judgments_known = zip(ranking.judged_grade.tolist(), ranking.judged_known.tolist(), strict=True)
    assert list(judgments_known) == [(2, True), (1, False), (0, True)]
    assert ranking.is_known is not None
    assert list(zip(ranking.rank.tolist(), ranking.is_known.tolist(), strict=True)) == [
        (1, True),
        (2, True),
        (4, False),
    ]


aspects = st.dictionaries(st.tuples(pairs, st.sampled_from(["1", "2"])), st.integers(-1, 2), min_size=1)


@settings(deadline=None, max_examples=50)
@given(lines=lists, grades=grades, aspects=aspects, depth=st.none() | st.integers(0, 6))
def test_judgments_of_subtopics_go_with_the_ranks_of_their_documents(
    lines: tuple[Line, ...],
    grades: dict[tuple[str, str], int],
    aspects: dict[tuple[tuple[str, str], str], int],
    depth: int | None,
) -> None:
    about = subtopics_of({(query, subtopic, document): g for ((query, document), subtopic), g in aspects.items()})
    judged = prepare(judgments_of(grades), subtopics=about)
    ranking = join(run_of(lines), judged, depth=depth).ranking
    subtopics, rank = ranking.subtopics, ranking.subtopic_rank
    assert subtopics is not None
    assert rank is not None
    expected = []
    for number, query in enumerate(judged.queries):
        listed = [line.document for line in ranked(lines, query)[:depth]]
        own = [(document, s, g) for ((q, document), s), g in aspects.items() if q == query]
        expected += [
            (number, s, g, listed.index(document) + 1 if document in listed else 0)
            for document, s, g in sorted(own, key=lambda each: each[0].encode(), reverse=True)
        ]
    names = [about.subtopics[place] for place in subtopics.subtopic]
    found = list(zip(subtopics.query.tolist(), names, subtopics.grade.tolist(), rank.tolist(), strict=True))
    assert sorted(found) == sorted(expected)
    assert [each[0] for each in found] == [each[0] for each in expected]
    opens = set(zip(subtopics.query.tolist(), subtopics.document.tolist(), strict=True))
    assert len(opens) == len({pair for pair, _ in aspects if pair[0] in judged.queries})


@pytest.mark.parametrize("shuffle", [False, True])
def test_a_long_run_with_long_ties_is_ranked_right(shuffle: bool) -> None:
    numbers = np.random.default_rng(7).permutation(3000) if shuffle else np.arange(3000)
    lines = [Line(f"q{n % 3}", f"d{n:05}", float(-(n // 300))) for n in sorted(numbers, key=lambda n: n % 3)]
    judged = prepare(judgments_of({(f"q{n % 3}", f"d{n:05}"): n % 4 for n in range(0, 3000, 7)}))
    ranking = join(run_of(lines), judged).ranking
    expected = [
        (number, rank, int(line.document[1:]) % 4)
        for number, query in enumerate(judged.queries)
        for rank, line in enumerate(ranked(lines, query), 1)
        if int(line.document[1:]) % 7 == 0
    ]
    assert hits(ranking) == expected
