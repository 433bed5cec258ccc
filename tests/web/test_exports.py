"""Exports as files: what a cell holds, and which formats a table has."""

import csv
import datetime as dt
import io
import json

import pytest
from flask import Blueprint, Flask
from flask.testing import FlaskClient

from leaderboard.web.exports import FORMATS, Cell, Table, exported, file_name, table

NOON = dt.datetime(2026, 6, 1, 12, 0, tzinfo=dt.UTC)


def client_of(*values: Cell) -> FlaskClient:
    """A site with one table: a row for each value."""
    blueprint = Blueprint("values", __name__)

    @exported(blueprint, "/values/<name>")
    def values_file(name: str) -> Table:
        return table(name, {"value": lambda value: value}, values, {"since": NOON})

    app = Flask(__name__)
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
