import pytest

from leaderboard.formats import of_any_subtopic, read_judgments, read_subtopic_judgments
from tests.formats.files import problems_of, text


def test_judgments_are_read_in_the_order_of_the_file() -> None:
    judgments = read_judgments(text("# qrels", "q2 0 d1 1", "q1\t0\td1\t-1", "q2  0 d2 +3"))
    assert judgments.queries == ("q2", "q1")
    assert judgments.query.tolist() == [0, 1, 0]
    assert judgments.document.to_list() == ["d1", "d1", "d2"]
    assert judgments.grade.tolist() == [1, -1, 3]


@pytest.mark.parametrize("grade", ["1.0", "x", "1e3", "--1", "½"])
def test_a_grade_that_is_no_integer_is_told_with_its_line(grade: str) -> None:
    assert problems_of(read_judgments, text("q 0 d 1", f"q 0 e {grade}")) == [(2, f"grade {grade} is no integer")]


@pytest.mark.parametrize("grade", ["1001", "-1001", "3000000000", "99999999999999999999"])
def test_a_grade_that_is_too_large_is_told_with_its_line(grade: str) -> None:
    assert problems_of(read_judgments, text("q 0 d 1000", "q 0 c -1000", f"q 0 e {grade}")) == [
        (3, f"grade {grade} is beyond ±1,000, the largest allowed")
    ]


def test_a_document_judged_twice_alike_is_kept_once_and_counted() -> None:
    judgments = read_judgments(text("q 0 d 1", "q 0 e 0", "q 1 d 1"))
    assert judgments.document.to_list() == ["d", "e"]
    assert judgments.repeated == 1


def test_a_document_judged_twice_differently_is_told_with_both_lines() -> None:
    assert problems_of(read_judgments, text("q 0 d 1", "q 0 e 0", "q 0 d 2", "r 0 d 2")) == [
        (3, "document d is judged again with another grade for query q (first on line 1)")
    ]


def test_judgments_of_subtopics_hold_the_second_column_too() -> None:
    judged = read_subtopic_judgments(text("q2 a d1 1", "q1 1 d1 0", "q2 b d1 -2", "q2 a d1 1"))
    assert (judged.queries, judged.subtopics) == (("q2", "q1"), ("a", "1", "b"))
    assert (judged.query.tolist(), judged.subtopic.tolist()) == ([0, 1, 0], [0, 1, 2])
    assert (judged.document.to_list(), judged.grade.tolist()) == (["d1", "d1", "d1"], [1, 0, -2])


@pytest.mark.parametrize(
    "lines",
    [
        ("query,subtopic,document,grade", "q1,7,d1,2"),
        ('{"query": "q1", "subtopic": "7", "document": "d1", "grade": 2}',),
    ],
    ids=["csv", "json"],
)
def test_judgments_of_subtopics_are_read_by_their_columns_names(lines: tuple[str, ...]) -> None:
    judged = read_subtopic_judgments(text(*lines))
    assert (judged.queries, judged.subtopics, judged.grade.tolist()) == (("q1",), ("7",), [2])


def test_a_document_judged_twice_differently_for_one_subtopic_is_told_and_for_two_is_not() -> None:
    assert problems_of(read_subtopic_judgments, text("q 1 d 1", "q 2 d 0", "q 1 d 2")) == [
        (3, "document d is judged again for the same subtopic with another grade for query q (first on line 1)")
    ]


def test_a_document_has_its_highest_grade_of_any_subtopic() -> None:
    whole = of_any_subtopic(read_subtopic_judgments(text("q 1 d 0", "q 2 d 2", "r 1 d 1", "q 1 e -1")))
    assert (whole.queries, whole.query.tolist()) == (("q", "r"), [0, 1, 0])
    assert (whole.document.to_list(), whole.grade.tolist()) == (["d", "d", "e"], [2, 1, -1])
