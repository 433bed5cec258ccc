"""What is declared once: read from texts and JSON, told all at once, shown in docs."""

import pytest

from leaderboard.declared.inputs import Inputs, Line, Whole, changes_of, checked, checked_json, setting
from leaderboard.errors import InvalidFields
from leaderboard.web.forms import fields_of


class Seats(Inputs):
    name: Line = setting("Name")
    seats: Whole | None = setting("Seats", default=4, ge=1)
    rows: Whole = setting("Rows", default=2)


@changes_of
class SeatChanges(Seats):
    """What is to change."""


def test_texts_are_read_and_an_empty_one_is_none_or_what_holds_otherwise() -> None:
    read = checked(Seats, {"name": " a  b ", "seats": "", "rows": " "})
    assert (read.name, read.seats, read.rows) == ("a b", None, 2)
    assert checked(Seats, {"name": "", "seats": "7"}).seats == 7


def test_everything_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(InvalidFields) as told:
        checked(Seats, {"seats": "0", "rows": "1_0", "colour": "red"})
    assert told.value.fields == {
        "name": ["is missing"],
        "seats": ["give a number of at least 1"],
        "rows": ["give a whole number of at most 18 digits"],
        "colour": ["is not known here; known are: name, rows, seats"],
    }


def test_in_json_a_text_is_no_number() -> None:
    with pytest.raises(InvalidFields, match="seats: give a whole number"):
        checked_json(Seats, b'{"name": "a", "seats": "7"}')


def test_changes_say_what_was_given_and_nothing_else() -> None:
    assert checked_json(SeatChanges, b'{"seats": null}').given() == {"seats": None}
    assert "default" not in SeatChanges.model_json_schema()["properties"]["rows"]


def test_a_form_of_changes_asks_for_what_may_not_be_emptied() -> None:
    fields = {
        name: field.kwargs["render_kw"] | {"label": field.kwargs["label"]}
        for name, field in fields_of(SeatChanges).items()
    }
    assert fields["name"] == {"required": True, "label": "Name"}
    assert "required" not in fields["seats"]
