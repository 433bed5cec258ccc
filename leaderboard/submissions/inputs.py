"""What is given to change a run, each declared once."""

from typing import Annotated

from leaderboard.declared.inputs import Confirm, Inputs, Shown, changes_of, setting, text_of
from leaderboard.submissions.rules import Ruling
from leaderboard.texts import LONGEST_REASON


class Choice(Inputs):
    """That a run is to stand, or to be its team's primary one."""

    confirm: Confirm = False


class Withdrawal(Inputs):
    """Why a run is withdrawn."""

    because: Annotated[str, text_of(LONGEST_REASON)] = setting("Reason", "Whoever sees the run reads it.", default="")
    confirm: Confirm = False


class TakenOff(Inputs):
    """How and why a run is taken off the boards."""

    ruling: Ruling = setting("What to do")
    because: Annotated[str, text_of(LONGEST_REASON)] = setting("Reason", "Its team reads it.")
    holds_place: bool = setting(
        "Leave its place empty, or let another run of the system take it",
        default=True,
        shown=Shown("--leave-empty/--fill"),
    )
    confirm: Confirm = False


class RunWords(Inputs):
    """What a run is called, and says to its readers."""

    label: str = setting("Label", "A short name that tells your runs apart; boards show it.")
    notes: str = setting("Notes", "Only your team and the organisers see them.")


@changes_of
class RunChanges(RunWords):
    """A run's label, and its notes; what is left out stays."""
