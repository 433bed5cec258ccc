"""The states of a scoring, of a scoring set, and of a submission as pages show it; what organisers rule about a run."""

import datetime as dt
from enum import StrEnum


class State(StrEnum):
    """Where the scoring of a submission stands."""

    QUEUED = "queued"
    SCORING = "scoring"  # a worker has it
    SCORED = "scored"
    REJECTED = "rejected"  # something is wrong with the file
    FAILED = "failed"  # something went wrong here; an organiser may have it tried again


class Ruling(StrEnum):
    """What organisers decided about a run that they took off the boards; they can take it back."""

    HIDDEN = "hidden"  # for a while, or because nobody needs to see it
    DISQUALIFIED = "disqualified"  # it does not count: its team reads so, and why


UNFINISHED = (State.QUEUED, State.SCORING)
WITHDRAWN = "withdrawn"
SHOWN_STATES = (*(state.value for state in State), *(ruling.value for ruling in Ruling), WITHDRAWN)


class SetState(StrEnum):
    """What a scoring set is to its evaluation."""

    BUILDING = "building"  # its runs are being scored; the boards still show the current set
    CURRENT = "current"  # the one that the boards show: by the official source of judgments
    BESIDE = "beside"  # what the current one is to the official source, to another one
    SUPERSEDED = "superseded"


STANDING = (SetState.CURRENT, SetState.BESIDE)  # of each source of judgments one


def shown_state(state: State | None, withdrawn_at: dt.datetime | None, ruling: Ruling | None) -> str:
    """The state of a submission in one word: withdrawn, hidden or disqualified, or else that of its current scoring.

    state  None when there is no such scoring, because nothing is judged yet: the submission counts as queued
    """
    if withdrawn_at is not None:
        return WITHDRAWN
    if ruling is not None:
        return ruling.value
    return (state or State.QUEUED).value
