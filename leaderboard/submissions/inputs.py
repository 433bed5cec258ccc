"""What is given to change a run, each declared once."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator

from leaderboard import moments, texts
from leaderboard.declared.inputs import Confirm, Inputs, Moment, Number, Shown, changes_of, line_of, setting, text_of
from leaderboard.submissions.rules import Designation, Ruling

LONGEST_LABEL = 80  # characters
LONGEST_NOTES = 4000
Reason = Annotated[str, text_of(texts.LONGEST_REASON)]


class Choice(Inputs):
    """That a run is to stand, or to be its team's primary one."""

    confirm: Confirm = False


class Withdrawal(Inputs):
    """Why a run is withdrawn."""

    because: Reason = setting("Reason", "Whoever sees the run reads it.", default="")
    confirm: Confirm = False


class TakenOff(Inputs):
    """How and why a run is taken off the boards."""

    ruling: Ruling = setting("What to do", shown=Shown(words={
        Ruling.HIDDEN: "Hide: the run is on no board until you put it back",
        Ruling.DISQUALIFIED: "Disqualify: the same, and its team reads that the run does not count",
    }))  # fmt: skip
    holds_place: bool = setting(
        "Leave its place empty", "Else another run of the system takes it.", default=True,
        shown=Shown("--leave-empty/--fill"),
    )  # fmt: skip
    because: Reason = setting("Reason", "The team reads it.", shown=Shown(lines=2))
    confirm: Confirm = False


class RunWords(Inputs):
    """What a run is called, and says to its readers."""

    label: Annotated[str, line_of(LONGEST_LABEL)] = setting(
        "Label", "Tells your own runs apart; boards show it. Left empty, it is the file's run tag, or its name.",
        default="", shown=Shown(attributes={"autocomplete": "off"}),
    )  # fmt: skip
    notes: Annotated[str, text_of(LONGEST_NOTES)] = setting(
        "Notes", "Only your team and the organisers see them.", default="", shown=Shown(lines=3)
    )


class RunSettings(RunWords):
    """What is said of a run as it is sent."""

    designation: Designation = setting(
        "Primary or contrastive", "A team has one primary run in an evaluation.", default=Designation.CONTRASTIVE,
        shown=Shown(words={
            Designation.PRIMARY: "Primary: your team's one main run in this evaluation",
            Designation.CONTRASTIVE: "Contrastive: a variant, for comparison",
        }),
    )  # fmt: skip
    stand: bool = setting(
        "Let this contrastive run count for its system on the board", default=False, shown=Shown("--stand")
    )
    threshold: Number | None = setting(
        "Threshold θ", "Documents with a score of at least θ count as returned, in AQWV and the set measures; a file "
        "with decisions needs none. Left empty, every document that the file lists counts.",
        default=None, shown=Shown(short=True),
    )  # fmt: skip
    version: Annotated[str, line_of(LONGEST_LABEL)] = setting(
        "Version of the system", "Left empty, it is the evaluation's period. Equal versions link the years.", default=""
    )


def _past(moment: datetime) -> datetime:
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if moment > datetime.now(UTC):
        raise ValueError(f"{moments.moment_in_words(moment)} is in the future")
    return moment


Past = Annotated[Moment, AfterValidator(_past)]


class PastRun(RunSettings):
    """What is said of a run of the past that is brought in, as columns of Submission."""

    run_at: Past | None = None
    received_at: Past | None = None
    received_assumed: bool = False
    scored_at: Past | None = None
    chosen_at: Past | None = None
    late: bool = False
    withdrawn_at: Past | None = None
    withdrawn_because: Reason = ""
    holds_place: bool = False
    ruling: Ruling | None = None
    ruled_at: Past | None = None
    ruled_because: Reason = ""
    answers: dict[str, str | bool | int | float] = {}  # noqa: RUF012  # pydantic copies it
    said: dict[str, str] = {}  # noqa: RUF012  # the same


class RunForm(RunSettings):
    """A run as a program sends it: these fields first, then the file, `run`.

    Beside these, answers to the evaluation's own fields are called `answer-…`, and agreements are accepted with
    `agreement-…` = the number of the version that you read. `beside`: a YAML file with metadata of the run.
    """

    team: str = setting("Team", "Its slug.")
    system: str = setting("System", "The slug of one of the team's systems.", default="")
    new_system: str = setting("New system", "The name of a system to make.", default="")
    confirm: Confirm = False


@changes_of
class RunChanges(RunWords):
    """A run's label, and its notes; what is left out stays."""
