"""Exports as files: what a cell holds, which formats a table has, and what it looks like in a paper."""

import csv
import datetime as dt
import io
import json
import re
from collections.abc import Mapping, Sequence

import pytest
from flask import Blueprint, Flask
from flask.testing import FlaskClient
from markdown_it import MarkdownIt

from leaderboard.boards.reads.entries import Column, column
from leaderboard.boards.rules import Rounded
from leaderboard.config import Config
from leaderboard.web.exports import (
    FORMATS,
    Cell,
    Table,
    exported,
    figures_of,
    file_name,
    measure_columns,
    paper_column,
    table,
)
from tests.support.latex import table_in

NOON = dt.datetime(2026, 6, 1, 12, 0, tzinfo=dt.UTC)


def client_of(*values: Cell) -> FlaskClient:
    """A site with one table: a row for each value."""
    blueprint = Blueprint("values", __name__)

    @exported(blueprint, "/values/<name>")
    def values_file(name: str) -> Table:
        return table(name, {"value": lambda value: value}, values, {"since": NOON})

    app = Flask(__name__)
    app.extensions["config"] = Config(public_url="https://boards.example.org")
    app.register_blueprint(blueprint)
    return app.test_client()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (0.1 + 0.2, "0.30000000000000004"),
        (True, "yes"),
        (False, "no"),
        (NOON, "2026-06-01T12:00:00+00:00"),
        ('Alder, of "Woods"\nand others', 'Alder, of "Woods"\nand others'),
        ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
        ("-1", "'-1"),
        ("@sum", "'@sum"),
        ("＝1", "'＝1"),
        ("\ufeff=1", "'\ufeff=1"),
        (" \u200b+1", "' \u200b+1"),
        ("\tx", "'\tx"),
    ],
)
def test_a_cell_of_csv_holds_the_value_and_never_a_formula(value: Cell, text: str) -> None:
    answer = client_of(value).get("/values/all.csv")
    assert answer.content_type == "text/csv; charset=utf-8"
    assert list(csv.reader(io.StringIO(answer.text, newline=""))) == [["value"], [text]]


def test_json_holds_the_values_as_they_are_with_the_settings_before_them() -> None:
    answer = client_of(None, 0.1 + 0.2, True, NOON, "=x").get("/values/all.json")
    assert answer.json == {
        "since": "2026-06-01T12:00:00+00:00",
        "rows": [
            {"value": None},
            {"value": 0.30000000000000004},
            {"value": True},
            {"value": "2026-06-01T12:00:00+00:00"},
            {"value": "=x"},
        ],
    }
    assert list(json.loads(answer.text)) == ["since", "rows"]


@pytest.mark.parametrize("ending", FORMATS)
def test_every_format_is_a_download_under_the_name_of_the_table(ending: str) -> None:
    answer = client_of(1).get(f"/values/all.{ending}")
    assert answer.headers["Content-Disposition"] == f'attachment; filename="all.{ending}"'


def test_an_id_in_the_name_of_a_file_keeps_letters_digits_dots_and_dashes_only() -> None:
    assert file_name('Q-1.2 a/b"é') == "Q-1.2_a_b_"


AP, MISSES = column("AP"), column("Pmiss")
HOSTILE = r"""\input{x} & 50 % $a_b$ #1 {~^} <b>|*x*|`y` [z](w) "é" −"""


def paper(rows: Sequence[Mapping[str, Cell]], measures: Sequence[Column] = (AP, MISSES), **more: str) -> Table:
    """System and measures of these rows, as a board has them."""
    names = ("system", "may_be_best", *(measure.name for measure in measures))
    columns = [paper_column("System"), *measure_columns(measures, measures[0])]
    return Table("board", names, rows, {}, columns, address="https://boards.example.org/b?x=1%20y", **more)


def rows_of(*figures: tuple[float | None, float | None], level: Sequence[bool | None] = ()) -> list[dict[str, Cell]]:
    """A row for each system, with its AP, its P_miss, and whether it may be the best."""
    names = (f"S{number}" for number in range(1, len(figures) + 1))
    levels = level or [None] * len(figures)
    return [
        {"system": name, "AP": own[0], "Pmiss": own[1], "may_be_best": is_level}
        for name, own, is_level in zip(names, figures, levels, strict=True)
    ]


def in_latex(content: Table) -> list[list[str]]:
    return table_in(FORMATS["tex"][1](content))


def in_markdown(content: Table) -> list[list[str]]:
    """The cells of the only table as a reader of CommonMark with tables has them, bold ones in asterisks."""
    tokens = MarkdownIt("commonmark").enable("table").parse(FORMATS["md"][1](content))
    rows: list[list[str]] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        if token.type == "inline" and token.level > 2:
            marks = {"text": None, "text_special": None, "strong_open": "**", "strong_close": "**"}
            rows[-1].append("".join(marks[part.type] or part.content for part in token.children or ()))
    return rows


@pytest.mark.parametrize(("write", "bold"), [(in_latex, r"\textbf{%s}"), (in_markdown, "**%s**")])
def test_in_a_paper_the_best_of_each_column_is_bold_by_the_direction_of_its_measure(write: object, bold: str) -> None:
    assert callable(write)
    head, *rows = write(paper(rows_of((0.5, 0.25), (0.4996, 0.75), (0.2, 0.125), (None, None))))
    assert head == ["System", "AP ↑", "Pmiss ↓"]
    assert rows == [
        ["S1", bold % "0.500", "0.250"],
        ["S2", bold % "0.500", "0.750"],  # as printed none is better
        ["S3", "0.200", bold % "0.125"],
        ["S4", "–", "–"],
    ]


def test_a_mark_says_which_rows_may_be_the_best_too() -> None:
    rows = rows_of((0.5, 0.2), (0.4, 0.2), (0.3, 0.2), (0.1, 0.2), level=[True, True, False, None])
    for cells, best in ((in_latex(paper(rows)), r"\textbf{0.500}"), (in_markdown(paper(rows)), "**0.500**")):
        assert [row[1] for row in cells[1:]] == [best, "0.400†", "0.300", "0.100"]


def test_a_figure_in_a_paper_has_the_digits_of_its_page() -> None:
    rows = rows_of((Rounded(0.5, 1), -0.25), (Rounded(0.4, 1), 0.5))
    assert [row[1:] for row in in_latex(paper(rows))[1:]] == [
        [r"\textbf{0.5}", r"\textbf{−0.250}"],
        ["0.4", "0.500"],
    ]


def test_names_in_a_paper_are_text_and_never_a_command() -> None:
    rows = [
        {**row, "system": name} for row, name in zip(rows_of((0.1, 0.2), (0.3, 0.2)), (HOSTILE, "[x\n*"), strict=True)
    ]
    latex = FORMATS["tex"][1](paper(rows, caption=HOSTILE + "\n%"))
    assert [row[0] for row in table_in(latex)[1:]] == [HOSTILE, "[x *"]
    assert not re.search(r"\\input|(?<!\\)[&#](?!\s)", latex.partition(r"\begin")[2].replace(" & ", ""))
    assert r"\\" + "\n[" not in latex  # the command before would take it
    assert [row[0] for row in in_markdown(paper(rows))[1:]] == [HOSTILE, "[x *"]


def test_a_table_that_says_nothing_of_papers_has_all_of_its_columns_there_that_hold_something() -> None:
    content = Table(
        "all", ["name", "n", "x", "at", "is"], [{"name": "-1", "n": 1200, "x": 1 / 3, "at": NOON, "is": True}], {}
    )
    for write in (in_latex, in_markdown):
        assert write(content) == [["Name", "N", "X", "At", "Is"], ["-1", "1200", "0.333", "2026-06-01 12:00", "yes"]]


def test_heads_in_a_paper_are_words_measures_keep_their_names_and_empty_columns_are_left_out() -> None:
    row: dict[str, Cell] = {"best_system": "heron", "P@10": 0, "note": "", "late": False, "low": None}
    for write in (in_latex, in_markdown):
        assert write(Table("all", list(row), [row], {})) == [["Best system", "P@10"], ["heron", "0"]]
        assert len(write(Table("all", list(row), [], {}))[0]) == 5


def test_figures_of_a_run_have_the_digits_of_its_page_and_none_is_the_best() -> None:
    rows: list[dict[str, Cell]] = [{"query": "q1", "Pfa": 0.00912}, {"query": "q2", "Pfa": 0.5}]
    latex = FORMATS["tex"][1](
        Table("run", ["query", "Pfa"], rows, {}, [paper_column("Query"), figures_of(column("Pfa"))])
    )
    assert table_in(latex) == [["Query", "Pfa"], ["q1", "0.0091"], ["q2", "0.5000"]]
    assert "Bold" not in latex


def test_a_table_in_a_paper_says_where_it_can_be_read() -> None:
    client = client_of(1.5)
    assert "% https://boards.example.org/values/a%20b?c=d\n" in client.get("/values/a%20b.tex?c=d").text
    assert "<https://boards.example.org/values/all>" in client.get("/values/all.md").text


def test_a_cell_that_a_row_lacks_is_a_dash_in_a_paper_too() -> None:
    """As MQWV in the rows of single queries."""
    content = Table("run", ["query", "MQWV"], [{"query": "all", "MQWV": 0.5}, {"query": "q1"}], {})
    for cells in in_latex(content), in_markdown(content):
        assert cells[1:] == [["all", "0.500"], ["q1", "–"]]
