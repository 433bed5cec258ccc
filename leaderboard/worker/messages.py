"""What the worker and its scoring process tell each other, one JSON object a line: jobs, and what came of them."""

import base64
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import msgspec
import numpy as np

from leaderboard import db, errors
from leaderboard.audit.rules import ScoreLine
from leaderboard.evaluations.rules import Subset
from leaderboard.metrics import Floats
from leaderboard.scoring.team_finds import TeamRun


class Stage(StrEnum):
    """What the scoring process is doing with a job, as messages say it."""

    STARTING = "starting"
    JUDGMENTS = "reading the judgments"
    RUN = "reading the run"
    SCORING = "scoring"
    LISTS = "keeping the ranked lists"

    @property
    def is_about_the_file(self) -> bool:
        """Whether what it takes of memory and time depends on the run's file, whose fault it is when they run out."""
        return self in (Stage.RUN, Stage.SCORING, Stage.LISTS)


class Message(msgspec.Struct, frozen=True, tag=True):
    """What one process tells the other: one line of JSON, which says by its `type` what it is."""


class Settings(Message, frozen=True):
    """What a scoring process needs to start. It comes by the pipe, because the database's URL may hold a password."""

    database_url: str
    store_url: str
    text_bytes: int
    job_bytes: int
    bound: str | None = None  # the id of the store


class Job(Message, frozen=True):
    """One run to score, or only to copy: its ranked lists are kept again and nothing is computed."""

    submission_id: int
    scoring_set_id: int
    copy_only: bool = False


class LeaveTeamsOut(Message, frozen=True):
    """The runs of a set in time. generation: of its evaluation's boards, by which it is asked for"""

    scoring_set_id: int
    measure: str
    generation: int
    runs: tuple[TeamRun, ...]


@dataclass(frozen=True)
class MeasureScore:
    """One measure over one subset of the queries; the columns of Score.

    low, high  of an interval that takes the run itself (MQWV); all others are worked out with the board
    lost_low, lost_high  of MQWV − AQWV, with MQWV where the set has both
    """

    measure: str
    subset: Subset
    mean: float | None
    count: int
    values: Floats
    low: float | None = None
    high: float | None = None
    lost_low: float | None = None
    lost_high: float | None = None

    @property
    def line(self) -> ScoreLine:
        """The row that is stored, for its digest."""
        values = self.values.astype(db.PackedFloats.VALUE).tobytes()
        return ScoreLine(self.measure, self.subset.value, self.mean, self.count, values)


class RunScores(Message, frozen=True):
    """What scoring a run gave.

    missing   the evaluation's queries that the run lacks, judged or not, by external id; excluded ones are left out
    unjudged  queries left out because the pooled judgments say nothing about them
    facts     lines, queries and tag of the run, theta of the measures that have one, and for how many queries the run
              and the judgments name more documents than the collection has (`crowded`); for organisers only. And
              whether a single θ gives the run's decisions (`one_threshold`), which everybody is told
    seconds   how long reading and scoring took
    curves    of each subset whose figures differ: the rows of Curve, by name
    """

    measures: tuple[MeasureScore, ...]
    missing: tuple[str, ...]
    unjudged: tuple[str, ...]
    seconds: float
    facts: dict[str, Any] = {}
    curves: dict[Subset, dict[str, Floats]] = {}


class Rejected(Message, frozen=True):
    """The run file can't be scored: its first problems, and how many there are in all."""

    problems: tuple[errors.Problem, ...]
    count: int


class Exceeded(Message, frozen=True):
    """The run file asks for more memory or computing than one run may use here; in words. The process has to go."""

    reason: str


class Failed(Message, frozen=True):
    """Scoring the run failed for a reason that is not in its file; the reason in words."""

    reason: str


class Copied(Message, frozen=True):
    """The ranked lists of a run were kept again."""


class TeamFinds(Message, frozen=True):
    """What `scoring.team_finds` gave."""

    finds: dict[str, Any]


class Unreadable(Message, frozen=True):
    """The run can't be scored, and another attempt would end the same; the reason in words.

    damaged  because its stored file is damaged, not merely missing
    """

    reason: str
    damaged: bool = False


class Postponed(Message, frozen=True):
    """The database or the run store did not answer: the job waits, and nothing is counted; the reason in words."""

    reason: str


class Entered(Message, frozen=True):
    """The job has come to its next stage; no reply to it yet."""

    stage: Stage


Reply = RunScores | Copied | TeamFinds | Rejected | Exceeded | Unreadable | Postponed | Failed

_ENCODER = msgspec.json.Encoder(enc_hook=lambda values: values.tobytes())
_DECODER = msgspec.json.Decoder(
    Settings | Job | LeaveTeamsOut | Entered | Reply, dec_hook=lambda _, values: np.frombuffer(base64.b64decode(values))
)


def write_message(message: Message) -> str:
    """The message as one line of JSON; `read_message` reads it back."""
    return _ENCODER.encode(message).decode()


def read_message(line: str) -> Any:
    """The message that `write_message` wrote as this line."""
    return _DECODER.decode(line)


def out_of_memory(job_bytes: int, stage: Stage) -> Exceeded | Failed:
    """What becomes of a run that met the bound on memory."""
    allowed = f"{job_bytes / 2**30:.3g} GiB"
    if stage.is_about_the_file:
        return Exceeded(f"this file needs more memory to score than the {allowed} allowed here")
    return Failed(f"{stage} needed more than {allowed} of memory, the most that one run may use here")
