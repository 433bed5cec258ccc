"""Whether guarded rows are as their last event left them, and were so whenever an event found them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sqlalchemy.orm import Session

from leaderboard.services.guarded import GUARDED, is_nothing, states_of_all
from leaderboard.services.verification.report import NOTHING, Report, part, thing_in_words
from leaderboard.services.verification.trail import TakenOver, Told

__all__ = ["check_rows"]

A_ROW = "a row"  # that can't be named, since another content has taken its place

Found = Iterator[tuple[str, str, str, str]]  # what, stored, expected, and the last event about it in words


def check_rows(session: Session, report: Report, told: Told) -> None:
    """Compares every guarded row with what the trail tells of it. Takes out of `told` what it has found."""
    for name in GUARDED:
        with part(session, report, f"the rows of {name}"):
            _check_things(session, report, told, name)
    _check_gone(report, told)


def _check_things(session: Session, report: Report, told: Told, name: str) -> None:
    for thing, state, labels in states_of_all(session, name):
        report.rows += max(1, len(labels))
        found = [
            *_differing_before(told.taken_over.pop(thing, []), labels),
            *_differing_now(told.states.pop(thing, None), state, labels),
        ]
        if found:
            where = thing_in_words(session, thing)
            for one in found:
                report.add(where, *one)


def _check_gone(report: Report, told: Told) -> None:
    """What the trail tells of and no row is of."""
    for thing, taken_over in told.taken_over.items():
        for one in _differing_before(taken_over, {}):
            report.add(thing, *one)
    for thing, (recorded, words) in told.states.items():
        if not is_nothing(recorded):
            report.add(thing, "itself", NOTHING, "there", words)


def _differing_before(taken_over: Iterable[TakenOver], labels: Mapping[str, str]) -> Found:
    for one in taken_over:
        for what, stored, expected in _differing(one.left, one.found, labels):
            yield f"{what}, as event {one.event_id} found it", stored, expected, one.last


def _differing_now(told: tuple[Any, str] | None, state: Any, labels: Mapping[str, str]) -> Found:
    if told is None:
        yield "itself", "there", NOTHING, ""
        return
    recorded, words = told
    for what, stored, expected in _differing(recorded, state, labels):
        yield what, stored, expected, words


def _differing(recorded: Any, state: Any, labels: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """(what, stored, expected) for each column, or each row, that differs."""
    if recorded == state:
        return
    if not state or not recorded:
        yield "itself", "there" if state else NOTHING, "there" if recorded else NOTHING
    elif "rows" not in state:
        for column in sorted(recorded.keys() | state.keys()):
            if recorded.get(column) != state.get(column):
                yield column, state.get(column, NOTHING), recorded.get(column, NOTHING)
    else:
        changed = [labels.get(row, A_ROW) for row in state["rows"] if row not in recorded["rows"]]
        for label in sorted(changed):
            yield label, "another content", "as the last event left it"
        gone = [row for row in recorded["rows"] if row not in state["rows"]]
        if len(gone) > len(changed):
            yield "rows", str(len(state["rows"])), str(len(recorded["rows"]))
        elif not changed:
            yield "rows", state["digest"], recorded["digest"]
