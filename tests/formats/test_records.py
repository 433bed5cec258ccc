import io
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, strategies as st

from leaderboard.errors import FileRejected
from leaderboard.formats import Limits, read_judgments, read_run
from leaderboard.formats.plain_text import CappedReader
from leaderboard.formats.problems import Problems
from leaderboard.formats.records import read_csv, read_json
from leaderboard.formats.runs import FORMATS
from leaderboard.formats.tables import Table
from tests.formats.files import problems_of, text


def test_a_csv_run_is_read_by_the_names_of_its_columns() -> None:
    run = read_run(text("score,Query_ID,rank,doc_id", '2.5,q1,1,"d,1"', "1,q1,2,d2", "", "3,q2,1,d2"))
    assert run.queries == ("q1", "q2")
    assert run.query.tolist() == [0, 0, 1]
    assert run.document.to_list() == ["d,1", "d2", "d2"]
    assert run.score.tolist() == [2.5, 1.0, 3.0]
    assert run.decision is None
    assert run.tag == ""


def test_json_lines_are_read_by_the_names_of_their_members() -> None:
    source = text(
        '{"query": "301", "docno": "d1", "score": 2.5, "decision": true}',
        "",
        '{"query": "301", "docno": "d2", "score": -1e-07, "decision": "N", "more": [1]}',
    )
    run = read_run(source)
    assert run.queries == ("301",)
    assert run.document.to_list() == ["d1", "d2"]
    assert run.score.tolist() == [2.5, -1e-7]
    assert run.decision is not None
    assert run.decision.tolist() == [True, False]


def test_judgments_come_as_csv_and_json_lines_too() -> None:
    for source in (
        text("query,document,grade", "q,d,2", "q,e,-1"),
        text('{"qid": "q", "docid": "d", "rel": 2}', '{"qid": "q", "docid": "e", "rel": -1}'),
    ):
        judgments = read_judgments(source)
        assert judgments.document.to_list() == ["d", "e"]
        assert judgments.grade.tolist() == [2, -1]


def test_every_problem_of_a_csv_file_is_told_with_its_line() -> None:
    source = io.BytesIO(b'query,document,score\nq,d,1\nq,d,2\nq,e,nan\nq,f\nx,i,1\n\xff,j,1\nq,"g"h,1\nq,k,nan\n')
    assert problems_of(read_run, source, queries=["q"]) == [
        (3, "document d is listed twice for query q (first on line 2)"),
        (4, "score nan is no finite number"),
        (5, "expected 3 columns, found 2 (query, document, score)"),
        (6, "query x is not in this evaluation"),
        (7, "byte 1 is no UTF-8 text; save the file as UTF-8"),
        (8, "is no CSV: ',' expected after '\"'; reading ended here"),
    ]


def test_every_problem_of_json_lines_is_told_with_its_line() -> None:
    source = text(
        '{"query": "q", "document": "d", "score": 1}',
        '{"query": "q", "document": "e", "score": NaN}',
        '{"query": "q", "document": "f", "score": "high"}',
        '{"query": "q", "document": "g"}',
        '{"query": "q", "document": "h", "score": 1',
        '["q", "i", 1]',
    )
    assert problems_of(read_run, source) == [
        (2, "is no JSON object: JSON is malformed: invalid character (byte 41)"),
        (3, 'score "high" is no finite number'),
        (4, "no score (query document score)"),
        (5, "is no JSON object: Input data was truncated"),
        (6, "is no JSON object: Expected `object`, got `array`"),
    ]


@pytest.mark.parametrize("grade", ["1.0", "true", "null", '"x"'])
def test_a_grade_that_is_no_integer_is_told_with_its_line(grade: str) -> None:
    [(line, message)] = problems_of(read_judgments, text(f'{{"query": "q", "document": "d", "grade": {grade}}}'))
    assert line == 1
    assert message.endswith("is no integer")


def test_columns_that_are_missing_are_named() -> None:
    assert problems_of(read_run, text("query,document,rank", "q,d,1")) == [
        (2, "expected the columns query document score, found query, document, rank")
    ]


def test_a_header_without_rows_is_an_empty_file() -> None:
    assert problems_of(read_run, text("query,document,score")) == [(None, "is empty")]


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ('"query": "q", "document": "", "score": 1', "document id is empty"),
        ('"query": "q", "document": "  ", "score": 1', "document id '  ' holds a blank"),
        ('"query": "q", "document": "b b", "score": 1', "document id 'b b' holds a blank"),
        ('"query": "q\\u00a01", "document": "d", "score": 1', "query id 'q\N{REPLACEMENT CHARACTER}1' holds a blank"),
        (
            '"query": "q", "document": "d\\u0007", "score": 1',
            "document id d\N{REPLACEMENT CHARACTER} holds a control character",
        ),
        ('"query": "q", "document": null, "score": 1', "Expected `str`, got `null` - at `$.document`"),
        ('"query": 1, "document": "d", "score": 1', "Expected `str`, got `int` - at `$.query`"),
        ('"query": "q", "document": "d", "score": "3"', 'score "3" is no finite number'),
        ('"query": "q", "document": "d", "score": true', "score true is no finite number"),
    ],
)
def test_json_is_taken_as_it_stands_and_nothing_is_made_to_fit(members: str, message: str) -> None:
    source = text('{"query": "q", "document": "a", "score": 1}', "{" + members + "}")
    assert problems_of(read_run, source) == [(2, message)]


def test_a_json_number_of_any_length_is_a_problem_with_a_line() -> None:
    [(line, message)] = problems_of(read_run, text('{"query": "q", "document": "d", "score": ' + "9" * 5000 + "}"))
    assert line == 1
    assert message.endswith("… is no finite number")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q,,1", "document id is empty"),
        (",a,1", "query id is empty"),
        ('q,"a b",1', "document id 'a b' holds a blank"),
        ('q," a",1', "document id ' a' holds a blank"),
    ],
)
def test_an_id_of_a_csv_file_is_one_word(line: str, message: str) -> None:
    assert problems_of(read_run, text("query,document,score", "q,d,2", line)) == [(3, message)]


def test_a_csv_column_that_is_there_twice_is_a_problem() -> None:
    assert problems_of(read_run, text("query,document,score,sim", "q,d,1,2")) == [(2, "gives score twice")]


def test_a_csv_record_over_several_lines_is_told_by_its_first() -> None:
    source = text("query,document,score,note", 'q,d,high,"one', 'two"', "q,e,low,")
    assert problems_of(read_run, source) == [
        (2, "score high is no finite number"),
        (4, "score low is no finite number"),
    ]


def test_a_quote_that_is_never_closed_is_told_once_and_where_it_opens() -> None:
    source = text("query,document,score", 'q,"d,1', "q,e,2", "q,f,x")
    assert problems_of(read_run, source) == [(2, "is no CSV: unexpected end of data; reading ended here")]


@pytest.mark.parametrize("name", ["\u017fcore", "s\\u0063ore", " score", "SCORE"])
def test_a_name_means_a_column_in_any_capitals_of_ascii_and_however_it_is_escaped(name: str) -> None:
    lines = ['{"query": "q1", "document": "d1", "score": 1}', f'{{"query": "q1", "document": "d2", "{name}": 2}}']
    if name == "\u017fcore":
        assert problems_of(read_run, text(*lines)) == [(2, "no score (query document score)")]
    else:
        assert read_run(text(*lines)).score.tolist() == [1, 2]


PLAIN_RUN: dict[str, list[Any]] = {
    "query": ["q1", "q2"],
    "document": ["d1", "d2", "é", 'a"b'],
    "score": [1, 2.5, -1e-07, 0],
}
ODD_VALUES: list[Any] = ["", " ", "a b", "3", "\0", "\ud800", "\n", None, True, 7, 10**400, [1], {"query": "q9"}]
ODD_LINES = [
    *("", " ", "{", "1", "{}", "NaN", "}{", "\u2028", '{"query": "q1"}'),
    *(f'{{"query": "q1", "document": "d8", "score": {score}}}' for score in ("1e999", "NaN", "01")),
]
JSON_OBJECTS = st.fixed_dictionaries(
    {name: st.sampled_from(values) | st.sampled_from(ODD_VALUES) for name, values in PLAIN_RUN.items()},
    optional={"decision": st.sampled_from([True, False, "Y", "N", "true", None]), "x": st.sampled_from(ODD_VALUES)},
)
PLAIN_OBJECTS = st.fixed_dictionaries({name: st.sampled_from(values) for name, values in PLAIN_RUN.items()})
JSON_LINES = st.lists(
    st.builds(
        lambda members, escaped, gaps: json.dumps(dict(members), ensure_ascii=escaped, separators=gaps),
        (PLAIN_OBJECTS | JSON_OBJECTS).flatmap(lambda row: st.permutations(list(row.items()))),
        st.booleans(),
        st.sampled_from([(", ", ": "), (" ,\t", ":")]),
    )
    | st.sampled_from(ODD_LINES),
    max_size=12,
)
CSV_FIELDS = st.sampled_from(["q1", "d1", "d2", "2", "", '"a"', '"a\n"', '"', 'a"b', '"a"b', " ", "x\ry", "é"])
CSV_LINES = st.lists(
    st.lists(CSV_FIELDS, max_size=4).map(",".join) | st.sampled_from(["q1,d1,2", "q2,d3,1"]), max_size=12
)


def read_in_batches(read: Callable[..., Iterator[Table]], content: bytes, size: int) -> tuple[Any, Any]:
    """(rows by line, problems): what a reader of records gives when it takes about `size` bytes at a time."""
    problems = Problems("file", Limits())
    rows: list[tuple[Any, ...]] = []
    try:
        for table in read(CappedReader(io.BytesIO(content), 1 << 30, "file"), FORMATS["auto"]["json"], problems, size):
            names = list(table.columns)
            rows.extend(zip(table.numbers, *(table.columns[name].tolist() for name in names), strict=True))
            problems.add_lines(table.wrong, len(table))
        problems.raise_if_any()
    except FileRejected as rejected:
        return None, sorted((problem.line or 0, problem.message) for problem in rejected.problems)
    return rows, None


@given(lines=JSON_LINES, size=st.integers(1, 300))
def test_json_lines_read_many_at_once_give_what_they_give_one_by_one(lines: list[str], size: int) -> None:
    content = "\n".join(lines).encode(errors="surrogatepass")
    assert read_in_batches(read_json, content, size) == read_in_batches(read_json, content, 1 << 20)


@given(lines=CSV_LINES, size=st.integers(1, 60))
def test_csv_records_read_many_at_once_give_what_they_give_one_by_one(lines: list[str], size: int) -> None:
    content = "\n".join(["query,document,score", *lines]).encode()
    assert read_in_batches(read_csv, content, size) == read_in_batches(read_csv, content, 1 << 20)


def test_a_table_of_csv_holds_no_more_long_lines_than_are_read_at_once() -> None:
    lines = [b"query,document,score,note", *(b"q,d%d,1,%s" % (number, b"x" * 1000) for number in range(100))]
    text = CappedReader(io.BytesIO(b"\n".join(lines)), 1 << 30, "file")
    tables = list(read_csv(text, FORMATS["auto"]["csv"], Problems("file", Limits()), 10_000))
    assert sum(map(len, tables)) == 100
    assert max(map(len, tables)) <= 11


@pytest.mark.parametrize("size", [1, 40, 1 << 20])
def test_lines_behind_the_one_where_reading_ended_are_no_problems_however_many_are_read_at_once(size: int) -> None:
    lines = [b"query,document,score", b"q,\xff,1", b'q,"d,1', b"q,\xff,1", b'"x,1', b"q,e,1", *([b"q,\xff,1"] * 3)]
    assert read_in_batches(read_csv, b"\n".join(lines), size)[1] == [
        (2, "byte 3 is no UTF-8 text; save the file as UTF-8"),
        (3, "is no CSV: ',' expected after '\"'; reading ended here"),
        (4, "byte 3 is no UTF-8 text; save the file as UTF-8"),
    ]
