"""Whether the events follow each other unaltered, and what they tell of rows and scorings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.lookup import StoredEvent, stored_events
from leaderboard.models import Chain, Event, User
from leaderboard.rules.digests import FIRST
from leaderboard.rules.moments import moment_in_words
from leaderboard.rules.states import State
from leaderboard.services.guarded import is_nothing, state_before
from leaderboard.services.verification.report import NOTHING, Report, part
from leaderboard.services.verification.sayings import says_what_events_say

__all__ = ["Ended", "Scored", "TakenOver", "Told", "check_trail"]


@dataclass(frozen=True, slots=True)
class TakenOver:
    """What an event found was not what the last one about the same thing had left: `last`, in words, left `left`."""

    event_id: int
    found: Any
    left: Any
    last: str


@dataclass(frozen=True, slots=True)
class Scored:
    """What the trail says of a scoring with figures; `last` the event in words.

    figures  `AP all` -> the mean, and the first digits of the digest
    """

    digest: str
    figures: Mapping[str, Any]
    submission_id: int
    last: str


@dataclass(frozen=True, slots=True)
class Ended:
    """What the trail says of a scoring without figures; `failure` in words, `last` the event in words."""

    state: State
    failure: str
    damaged: bool
    submission_id: int
    last: str


@dataclass(frozen=True, slots=True)
class Told:
    """What the trail says.

    states      a thing -> its last state, and the event in words
    taken_over  by thing
    scored      by id of the scoring
    ended       by id of the scoring: those that were rejected or have failed
    """

    states: dict[str, tuple[Any, str]] = field(default_factory=dict)
    taken_over: dict[str, list[TakenOver]] = field(default_factory=dict)
    scored: dict[int, Scored] = field(default_factory=dict)
    ended: dict[int, Ended] = field(default_factory=dict)


def check_trail(session: Session, report: Report, noted: tuple[int, str] | None) -> Told:
    """Looks at every event, and gives what they tell.

    noted  the number of an event and its hash, as `verify` has them
    """
    told = Told()
    names: dict[int, str] = {}
    with part(session, report, "the names of accounts"):
        names |= dict(session.execute(sa.select(User.id, User.name)).all())
    number, head, noted_hash = 0, FIRST, NOTHING
    for stored in stored_events(session):
        event = stored.event
        words = _in_words(event, names) if event is not None else ""
        _check_event(report, stored, words, number, head)
        if event is not None and says_what_events_say(event):
            _hear_states(event, words, told)
            _hear_scoring(event, words, told)
        else:
            problem = stored.problem or "it says what no event of this program says"
            report.add("the trail", f"event {stored.id}", f"can't be read ({problem})", "an event", words)
        number, head = stored.id, stored.hash
        if noted is not None and number == noted[0]:
            noted_hash = head
    report.events, report.head = number, head
    with part(session, report, "the count of events"):
        _check_end(session, report)
    if noted is not None and noted_hash != noted[1]:
        report.add("the trail", f"event {noted[0]}", noted_hash, f"{noted[1]}, as noted down")
    return told


def _check_event(report: Report, stored: StoredEvent, words: str, number: int, head: str) -> None:
    """Whether an event follows the one before, which has this number and hash, and gives its own hash."""
    if stored.id != number + 1:
        gone = f"event {number + 1}" if stored.id == number + 2 else f"events {number + 1} to {stored.id - 1}"
        report.add("the trail", gone, NOTHING, "an event")
    elif stored.previous_hash != head:
        report.add("the trail", f"event {stored.id}", f"follows {stored.previous_hash}", f"follows {head}", words)
    if stored.event is not None and stored.computed != stored.hash:
        report.add("the trail", f"event {stored.id}", f"a content of hash {stored.computed}", stored.hash, words)


def _check_end(session: Session, report: Report) -> None:
    """Whether the trail ends with the event that was counted last."""
    rows = session.execute(sa.select(Chain.events, Chain.head)).all()
    counted = " and ".join(f"{events} events, the last {head}" for events, head in rows) or NOTHING
    found = f"{report.events} events, the last {report.head}"
    if counted != found:
        # Of the two the longer one is what there was: the end of the trail is gone, or the count was changed.
        report.add("the trail", "its end", found, counted)


def _hear_states(event: Event, words: str, told: Told) -> None:
    """What an event says of rows, and whether it found them as the event before had left them."""
    for thing, state in event.state.items():
        found = state_before(event.changed[thing], state) if thing in event.changed else state
        left, by = told.states.get(thing, (None, ""))
        if found != left and not (is_nothing(found) and is_nothing(left)):
            told.taken_over.setdefault(thing, []).append(TakenOver(event.id, found, left, by))
        told.states[thing] = state, words


def _hear_scoring(event: Event, words: str, told: Told) -> None:
    """What an event says of a scoring."""
    facts, run = event.facts, event.subject_id
    if event.action == "score" and facts.keys() >= {"scoring", "digest", "figures"}:
        told.scored[facts["scoring"]] = Scored(facts["digest"], facts["figures"], run, words)
    elif event.action == "reject" and "scoring" in facts:
        told.ended[facts["scoring"]] = Ended(State.REJECTED, "", False, run, words)
    elif event.action == "fail" and facts.keys() >= {"scoring", "reason", "damaged"}:
        told.ended[facts["scoring"]] = Ended(State.FAILED, facts["reason"], facts["damaged"], run, words)
    elif event.action == "retry":
        for scoring_id in facts.get("scorings", []):
            told.ended.pop(scoring_id, None)


def _in_words(event: Event, names: Mapping[int, str]) -> str:
    actor = names.get(event.actor_id, f"account {event.actor_id}") if event.actor_id else "the command line or a worker"
    return f"{event.id}, {event.action!r} by {actor}, {moment_in_words(event.at)}"
