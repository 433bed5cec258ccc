"""Whether an event's JSON has the form that this program gives it.

Whoever inserts an event by SQL can give it any JSON, with the right hash too. Comparing rows and figures with it must
not fail.
"""

from collections.abc import Callable
from typing import Any

from leaderboard.models import Event
from leaderboard.services.guarded import GUARDED

__all__ = ["says_what_events_say"]

LARGEST_ID = 2**63 - 1  # that a database can be asked for


def says_what_events_say(event: Event) -> bool:
    """Whether what it says of rows and scorings can be compared with them."""
    if not all(isinstance(each, dict) for each in (event.facts, event.state, event.changed)):
        return False
    return (
        all(_is_state(thing, state) for thing, state in event.state.items())
        and all(_is_change(thing, change) for thing, change in event.changed.items())
        and _is_of_scorings(event.action, event.facts)
    )


def _is_state(thing: str, state: Any) -> bool:
    """As `guarded.states_of` gives it."""
    guarded = GUARDED.get(thing.rpartition(" ")[0])
    if guarded is None:
        return False
    return _is_many(state, "rows") if guarded.row is not None else state is None or _is_texts(state)


def _is_change(thing: str, change: Any) -> bool:
    """As `guarded.change_of` gives it."""
    guarded = GUARDED.get(thing.rpartition(" ")[0])
    if guarded is None:
        return False
    return _is_many(change, "gone", "come") if guarded.row is not None else change is None or _is_texts(change)


def _is_many(value: Any, *lists: str) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == {"digest", *lists}
        and isinstance(value["digest"], str)
        and all(_is_list(value[name], lambda each: isinstance(each, str)) for name in lists)
    )


def _is_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())


def _is_list(value: Any, fits: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and all(map(fits, value))


def _is_of_scorings(action: str, facts: dict[str, Any]) -> bool:
    """Whether the facts that are looked at of scorings are of their kinds, where they are there."""
    kinds: dict[str, Callable[[Any], bool]] = {
        "scoring": _is_id,
        "scorings": lambda value: _is_list(value, _is_id),
        "digest": lambda value: isinstance(value, str),
        "figures": _is_figures,
        "reason": lambda value: isinstance(value, str),
        "damaged": lambda value: isinstance(value, bool),
    }
    if action not in ("score", "reject", "fail", "retry"):
        return True
    return all(fits(facts[name]) for name, fits in kinds.items() if name in facts)


def _is_id(value: Any) -> bool:
    return isinstance(value, int) and 0 < value <= LARGEST_ID


def _is_figures(value: Any) -> bool:
    """Of each measure and subset its mean, if it has one, and a digest."""
    return isinstance(value, dict) and all(
        isinstance(each, list)
        and len(each) == 2
        and (each[0] is None or isinstance(each[0], (int, float)))
        and isinstance(each[1], str)
        for each in value.values()
    )
