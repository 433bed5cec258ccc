"""The messages between the worker and its scoring process: one JSON object a line."""

import base64
import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from leaderboard.errors import Problem
from leaderboard.evaluations.rules.scoring_settings import Subset
from leaderboard.worker.writes.queue import MeasureScore, RunScores


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


@dataclass(frozen=True, slots=True)
class Settings:
    """What a scoring process needs to start. It comes by the pipe, because the database's URL may hold a password."""

    database_url: str
    store_url: str
    text_bytes: int
    job_bytes: int

    def line(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, line: str) -> "Settings":
        return cls(**json.loads(line))


@dataclass(frozen=True, slots=True)
class Job:
    """One run to score, or only to copy: its ranked lists are kept again and nothing is computed."""

    submission_id: int
    scoring_set_id: int
    copy_only: bool = False

    def line(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, line: str) -> "Job":
        return cls(**json.loads(line))


@dataclass(frozen=True, slots=True)
class Rejected:
    """The run file can't be scored: its first problems, and how many there are in all."""

    problems: tuple[Problem, ...]
    count: int


@dataclass(frozen=True, slots=True)
class Exceeded:
    """The run file asks for more memory or computing than one run may use here; in words. The process has to go."""

    reason: str


@dataclass(frozen=True, slots=True)
class Failed:
    """Scoring the run failed for a reason that is not in its file; the reason in words."""

    reason: str


@dataclass(frozen=True, slots=True)
class Copied:
    """The ranked lists of a run were kept again."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """What the run is scored from can't be used, and there is nothing to make it from again; the reason in words.

    damaged  it is the run's stored file, and that is not merely missing
    """

    reason: str
    damaged: bool


@dataclass(frozen=True, slots=True)
class Postponed:
    """The database or the run store did not answer: the job waits, and nothing is counted; the reason in words."""

    reason: str


@dataclass(frozen=True, slots=True)
class Entered:
    """The job has come to its next stage; no reply to it yet."""

    stage: Stage


def out_of_memory(job_bytes: int, stage: Stage) -> Exceeded | Failed:
    """What becomes of a run that met the bound on memory."""
    allowed = f"{job_bytes / 2**30:.3g} GiB"
    if stage.is_about_the_file:
        return Exceeded(f"this file needs more memory to score than the {allowed} allowed here")
    return Failed(f"{stage} needed more than {allowed} of memory, the most that one run may use here")


Reply = RunScores | Copied | Rejected | Exceeded | Unreadable | Postponed | Failed


def write_reply(reply: Reply | Entered) -> str:
    """The reply as one line of JSON; `read_reply` reads it back."""
    content = asdict(reply)
    if isinstance(reply, RunScores):
        for each in content["measures"]:
            each["values"] = base64.b64encode(each["values"].tobytes()).decode()
    return json.dumps({"kind": type(reply).__name__, **content})


def read_reply(line: str) -> Reply | Entered:
    """The reply that `write_reply` wrote as this line."""
    content: dict[str, Any] = json.loads(line)
    match content.pop("kind"):
        case "RunScores":
            measures = tuple(
                MeasureScore(
                    **{
                        **each,
                        "subset": Subset(each["subset"]),
                        "values": np.frombuffer(base64.b64decode(each["values"])),
                    }
                )
                for each in content.pop("measures")
            )
            missing, unjudged = tuple(content.pop("missing")), tuple(content.pop("unjudged"))
            return RunScores(measures=measures, missing=missing, unjudged=unjudged, **content)
        case "Rejected":
            return Rejected(tuple(Problem(**problem) for problem in content["problems"]), content["count"])
        case "Exceeded":
            return Exceeded(content["reason"])
        case "Entered":
            return Entered(Stage(content["stage"]))
        case "Copied":
            return Copied()
        case "Unreadable":
            return Unreadable(content["reason"], content["damaged"])
        case "Postponed":
            return Postponed(content["reason"])
        case "Failed":
            return Failed(content["reason"])
        case kind:
            raise ValueError(f"a reply of an unknown kind: {kind}")
