"""The states of a scoring, of a scoring set, and of a submission as pages show it."""

import datetime as dt
from enum import StrEnum

__all__ = ["STANDING", "UNFINISHED", "WITHDRAWN", "SetState", "State", "shown_state"]


class State(StrEnum):
    """Where the scoring of a submission stands."""

    QUEUED = "queued"
    SCORING = "scoring"  # a worker has it
    SCORED = "scored"
    REJECTED = "rejected"  # something is wrong with the file
    FAILED = "failed"  # something went wrong here; an organiser may have it tried again


UNFINISHED = (State.QUEUED, State.SCORING)
WITHDRAWN = "withdrawn"


class SetState(StrEnum):
    """What a scoring set is to its evaluation."""

    BUILDING = "building"  # its runs are being scored; the boards still show the current set
    CURRENT = "current"  # the one that the boards show: by the official source of judgments
    BESIDE = "beside"  # what the current one is to the official source, to another one
    SUPERSEDED = "superseded"


STANDING = (SetState.CURRENT, SetState.BESIDE)  # of each source of judgments one


def shown_state(state: State | None, withdrawn_at: dt.datetime | None) -> str:
    """The state of a submission in one word: withdrawn, or else that of its scoring in the current set.

    state  None when there is no such scoring, because nothing is judged yet: the submission counts as queued
    """
    if withdrawn_at is not None:
        return WITHDRAWN
    return (state or State.QUEUED).value
