import io

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from leaderboard.formats import RUN_WRITERS, Limits, Run, RunLine, read_run
from leaderboard.formats.plain_text import PIECE_BYTES
from tests.formats.files import problems_of, text

SIX = "query Q0 document rank score tag"


def rows(run: Run) -> list[tuple[str, str, float]]:
    queries = [run.queries[number] for number in run.query]
    return list(zip(queries, run.document.to_list(), run.score.tolist(), strict=True))


def test_a_run_is_read_in_the_order_of_the_file() -> None:
    run = read_run(text("q2 Q0 d1 1 3.5 mine", "q1 Q0 d1 1 -2e3 mine", "q2 Q0 d9 7 .25 mine"))
    assert rows(run) == [("q2", "d1", 3.5), ("q1", "d1", -2000.0), ("q2", "d9", 0.25)]
    assert run.queries == ("q2", "q1")
    assert run.decision is None
    assert run.tag == "mine"


@pytest.mark.parametrize(
    "line",
    [
        "q Q0 d 1 2.5 t",
        "q\tQ0\td\t1\t2.5\tt",
        "  q   Q0\t d 1\t\t2.5 t  ",
        "q Q0 d 1 2.5 t\r",
        "q Q0 d 1 +2.5 t",
        "q Q0 d 1 25e-1 t",
        "q\vQ0\fd 1 2.5 t",
    ],
)
def test_any_blanks_part_the_columns(line: str) -> None:
    plain = "q Q0 e 1 1 t"
    assert rows(read_run(text(line, plain))) == [("q", "d", 2.5), ("q", "e", 1.0)]
    assert rows(read_run(text(plain, line))) == [("q", "e", 1.0), ("q", "d", 2.5)]


def test_comments_and_empty_lines_are_left_out_and_still_count_as_lines() -> None:
    source = text("# a run", "q Q0 d 1 2 t", "", "   ", "#q Q0 x 1 2 t", "  # indented", "q Q0 e# 2 1 t", "q Q0 f 3 t")
    assert problems_of(read_run, source) == [(8, f"expected 6 columns, found 5 ({SIX})")]
    assert rows(read_run(text("# a run", "q Q0 d#1 1 2 t", "", "q Q0 #e 2 1 t"))) == [("q", "d#1", 2), ("q", "#e", 1)]


def test_a_byte_order_mark_is_no_part_of_the_first_query() -> None:
    assert read_run(io.BytesIO(b"\xef\xbb\xbfq Q0 d 1 2 t\n")).queries == ("q",)


def test_ids_may_hold_any_script() -> None:
    assert rows(read_run(text("frage-ü Q0 文書 1 2 t"))) == [("frage-ü", "文書", 2.0)]


def test_decisions_are_told_from_columns_by_the_first_line() -> None:
    run = read_run(text("q\td\tY\t2", "q\te\tN\t1"))
    assert rows(run) == [("q", "d", 2.0), ("q", "e", 1.0)]
    assert run.decision is not None
    assert run.decision.tolist() == [True, False]
    assert run.tag == ""


def test_a_decision_is_exactly_y_or_n() -> None:
    source = text("q d Y 2", "q e y 1", "q f 1 1", "q g N 1")
    assert problems_of(read_run, source) == [
        (2, "decision y is neither Y nor N"),
        (3, "decision 1 is neither Y nor N"),
    ]


def test_a_stated_format_goes_before_the_first_line() -> None:
    assert problems_of(read_run, text("q\td\tY\t2"), format="trec") == [(1, f"expected 6 columns, found 4 ({SIX})")]
    assert problems_of(read_run, text("q Q0 d 1 2 t"), format="decisions") == [
        (1, "expected 4 columns, found 6 (query document Y|N score)")
    ]


def test_what_follows_the_tag_is_refused_except_in_trec_evals_way() -> None:
    lines = ("q Q0 d 1 2 t and more", "q Q0 e 2 1 t")
    assert problems_of(read_run, text(*lines)) == [(1, f"expected 6 columns, found 8 ({SIX})")]
    assert rows(read_run(text(*lines), format="trec_eval")) == [("q", "d", 2.0), ("q", "e", 1.0)]


@pytest.mark.parametrize("count", [1, 3, 4, 5, 7, 12])
@pytest.mark.parametrize("others", [0, 1, 5000])
def test_a_wrong_number_of_columns_is_told_with_its_line(count: int, others: int) -> None:
    good = [f"q Q0 d{number} 1 2 t" for number in range(others)]
    source = text("q Q0 first 1 9 t", *good, " ".join("x" * count), "q Q0 last 1 0 t")
    expected = [(others + 2, f"expected 6 columns, found {count} ({SIX})")]
    assert problems_of(read_run, source) == expected


@pytest.mark.parametrize(
    "score", ["inf", "-inf", "nan", "NaN", "Infinity", "1e999", "abc", "1_0", "0x1p3", "1,5", "１"]
)
def test_a_score_that_is_no_finite_number_is_told_with_its_line(score: str) -> None:
    source = text("q Q0 d 1 2 t", f"q Q0 e 2 {score} t")
    assert problems_of(read_run, source) == [(2, f"score {score} is no finite number")]


@pytest.mark.parametrize(
    ("written", "value"),
    [("-0", 0.0), ("1e-999", 0.0), ("0.1", 0.1), ("1.7976931348623157e308", 1.7976931348623157e308)],
)
def test_a_score_is_the_nearest_double(written: str, value: float) -> None:
    assert read_run(text(f"q Q0 d 1 {written} t")).score.tolist() == [value]


def test_a_document_twice_in_one_query_is_told_with_both_lines() -> None:
    source = text("q Q0 d 1 3 t", "r Q0 d 1 3 t", "q Q0 e 2 2 t", "q Q0 d 3 1 t", "q Q0 d 4 0 t")
    assert problems_of(read_run, source) == [
        (4, "document d is listed twice for query q (first on line 1)"),
        (5, "document d is listed twice for query q (first on line 1)"),
    ]


def test_an_unknown_query_is_told_where_an_evaluation_has_a_list() -> None:
    lines = ("q Q0 d 1 3 t", "x Q0 d 1 3 t", "q Q0 e 2 2 t", "x Q0 e 2 2 t")
    assert problems_of(read_run, text(*lines), queries=["q", "r"]) == [
        (2, "query x is not in this evaluation"),
        (4, "query x is not in this evaluation"),
    ]
    assert read_run(text(*lines)).queries == ("q", "x")


def test_an_id_over_the_limit_is_told_with_its_line() -> None:
    limits = Limits(id_bytes=5)
    source = text("q Q0 12345 1 2 t", "q Q0 123456 2 1 t", "ööö Q0 d 1 1 t")
    assert problems_of(read_run, source, limits=limits) == [
        (2, "document id longer than 5 bytes: 123456"),
        (3, "query id longer than 5 bytes: ööö"),
    ]


def test_text_that_is_no_utf_8_is_told_with_its_line() -> None:
    source = io.BytesIO(b"q Q0 d 1 2 t\nq Q0 caf\xe9 2 1 t\n")
    assert problems_of(read_run, source) == [(2, "byte 9 is no UTF-8 text; save the file as UTF-8")]


@pytest.mark.parametrize("content", [b"", b"\n\n", b"   \r\n", b"# only a comment\n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_refused(content: bytes) -> None:
    assert problems_of(read_run, io.BytesIO(content)) == [(None, "is empty")]


def test_lines_are_numbered_over_the_borders_of_pieces() -> None:
    line = "query Q0 document-number-%09d 1 0.5 tag"
    count = PIECE_BYTES // len(line % 0) + 1000
    lines = [line % number for number in range(count)]
    lines[count - 5] = "query Q0 late 1 nan tag"
    lines[count - 3] = lines[10]
    assert problems_of(read_run, text(*lines)) == [
        (count - 4, "score nan is no finite number"),
        (count - 2, "document document-number-000000010 is listed twice for query query (first on line 11)"),
    ]


def test_the_caps_on_lines_and_on_one_line_hold_while_reading() -> None:
    assert problems_of(read_run, text(*["q Q0 d 1 1 t"] * 11), limits=Limits(lines=10)) == [
        (None, "more than 10 lines, the most allowed")
    ]
    endless = io.BytesIO(b"x" * (2 * PIECE_BYTES))
    assert problems_of(read_run, endless) == [(1, "longer than 1,048,576 bytes, the most allowed")]


@settings(deadline=None)
@given(order=st.permutations(range(40)))
def test_queries_are_numbered_right_in_any_order_of_lines(order: list[int]) -> None:
    run = read_run(text(*[f"q{number % 7} Q0 d{number} 1 {number} t" for number in order]))
    assert rows(run) == [(f"q{number % 7}", f"d{number}", float(number)) for number in order]
    assert run.query.dtype == np.uint32


@pytest.mark.parametrize(
    ("odd", "what"),
    [
        ("\x7f", "document id e\N{REPLACEMENT CHARACTER}f holds a control character"),
        ("\x85", "document id 'e\N{REPLACEMENT CHARACTER}f' holds a control character"),
        ("\xa0", "document id 'e\N{REPLACEMENT CHARACTER}f' holds a blank"),
        ("\u2003", "document id 'e\N{REPLACEMENT CHARACTER}f' holds a blank"),
    ],
)
def test_a_control_character_or_blank_beyond_the_usual_ones_is_told_with_its_line(odd: str, what: str) -> None:
    assert problems_of(read_run, text("q Q0 d 1 2 t", f"q Q0 e{odd}f 2 1 t")) == [(2, what)]
    assert read_run(text("q Q0 d 1 2 t", f"q Q{odd}0 e 2 1 t")).document.to_list() == ["d", "e"]


@pytest.mark.parametrize("style", RUN_WRITERS)
def test_what_a_writer_writes_is_read_back(style: str) -> None:
    lines = [RunLine("q1", "d7", 1, "2.5", True, "mine"), RunLine("q1", "d3", 2, "-1.25", False, "mine")]
    run = read_run(io.BytesIO("".join(map(RUN_WRITERS[style], lines)).encode()))
    assert rows(run) == [("q1", "d7", 2.5), ("q1", "d3", -1.25)]
    decisions = None if run.decision is None else run.decision.tolist()
    assert (decisions, run.tag) == {"trec": (None, "mine"), "decisions": ([True, False], "")}[style]
