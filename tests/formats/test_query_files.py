import io

import pytest

from leaderboard.formats import Limits, QueryRow, read_queries
from tests.formats.files import problems_of, text


def test_queries_have_an_id_a_text_and_tags() -> None:
    assert read_queries(text("q1\twhat is it\tshort, hard", "# no query", "", "q2\tand this", "q3")) == (
        QueryRow("q1", "what is it", ("short", "hard")),
        QueryRow("q2", "and this", ()),
        QueryRow("q3", "", ()),
    )


def test_every_problem_is_told_with_its_line() -> None:
    source = io.BytesIO(b"q\ta\nq\tb\nmy id\tc\n\td\na\tb\tc\td\n\xff\te\nlonger\tf\n")
    assert problems_of(read_queries, source, limits=Limits(id_bytes=5)) == [
        (2, "query q is there twice (first on line 1)"),
        (3, "query id 'my id' is empty or holds blanks (id TAB text TAB tags)"),
        (4, "query id '' is empty or holds blanks (id TAB text TAB tags)"),
        (5, "expected up to 3 columns, found 4 (id TAB text TAB tags)"),
        (6, "byte 1 is no UTF-8 text; save the file as UTF-8"),
        (7, "query id longer than 5 bytes: longer"),
    ]


@pytest.mark.parametrize("header", ["topic;doc;rank;sim", "[", "<html>"])
def test_a_file_of_another_kind_is_not_taken_for_a_list_of_ids(header: str) -> None:
    (_, message), *examples = problems_of(read_queries, text(header, *[f"{number};d1;0.5" for number in range(6000)]))
    assert message.startswith("6,001 of 6,001 lines: no TAB, and no id alone either (id TAB text TAB tags)")
    assert [line for line, _ in examples] == [*range(1, 11)]


def test_ids_alone_are_queries_whatever_else_they_hold() -> None:
    ids = ["301", "81_1", "q-7", "test-env:pro02a", "d41d8cd9", "topic.5", "a/b", "2", "größe", "x'y", "(1)"]
    assert [row.id for row in read_queries(text(*ids))] == ids


@pytest.mark.parametrize("header", ["id\ttext\ttags", "qid\tquery", "Query_ID\ttext", "topic"])
def test_a_header_is_no_query(header: str) -> None:
    said = "is a header, not a query; leave it out"
    assert problems_of(read_queries, text("# ours", header, "q1\tfees")) == [(2, said)]


def test_an_id_in_quotes_is_refused_because_no_run_has_it_so() -> None:
    assert problems_of(read_queries, text('"q1"\t"fees"', "q2\tfees")) == [
        (1, 'query id "q1" is in quotes; leave them out')
    ]


def test_a_tag_with_a_blank_is_told_with_its_line() -> None:
    assert problems_of(read_queries, text("q1\tone\tshort", "q2\ttwo\thard,very  short")) == [
        (2, "tag 'very short' holds a blank")
    ]


def test_a_text_that_turns_what_follows_around_is_told_with_its_line() -> None:
    assert problems_of(read_queries, text("q1\tfees \u202eruobrah", "q2\tfees")) == [
        (1, "text 'fees �ruobrah' holds a control character"),
    ]


def test_an_empty_file_is_refused() -> None:
    assert problems_of(read_queries, text("# nothing")) == [(None, "is empty")]


def test_the_limits_on_lines_hold() -> None:
    assert problems_of(read_queries, text("q1", "q2", "q3"), limits=Limits(lines=2)) == [
        (None, "more than 2 lines, the most allowed")
    ]
