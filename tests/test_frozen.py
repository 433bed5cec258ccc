"""Values that nothing changes."""

from dataclasses import FrozenInstanceError

import pytest

from leaderboard.frozen import frozen


@frozen
class Place:
    rank: int


def test_a_value_can_be_neither_changed_nor_given_what_it_does_not_declare() -> None:
    place = Place(1)
    with pytest.raises(FrozenInstanceError):
        setattr(place, "rank", 2)  # noqa: B010  # for mypy sees that it can't be set
    assert not hasattr(place, "__dict__")
