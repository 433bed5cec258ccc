"""What is written as TOML is read as it was."""

import datetime as dt
import tomllib
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as some

from leaderboard.transfer.toml import written

TEXTS = some.text(some.characters(exclude_categories=["Cs"]))
PLAIN = (
    TEXTS
    | some.integers(-(2**63), 2**63 - 1)
    | some.floats(allow_nan=False)
    | some.booleans()
    | some.datetimes(min_value=dt.datetime(1901, 1, 1), timezones=some.just(dt.UTC))  # noqa: DTZ001  # made aware
)
VALUES = some.recursive(
    PLAIN | some.lists(PLAIN, max_size=3),
    lambda inner: some.dictionaries(TEXTS, inner, max_size=3) | some.lists(some.dictionaries(TEXTS, inner), min_size=1),
    max_leaves=8,
)


@settings(max_examples=50)
@given(some.dictionaries(TEXTS, VALUES, max_size=4))
def test_what_is_written_is_read_as_it_was(content: dict[str, Any]) -> None:
    assert tomllib.loads(written(content)) == content


def test_what_has_no_value_is_left_out() -> None:
    assert tomllib.loads(written({"a": None, "b": [{"c": None, "d": 1}]})) == {"b": [{"d": 1}]}
