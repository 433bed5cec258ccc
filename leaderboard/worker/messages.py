"""The messages between the worker and its scoring process: one JSON object a line."""

import base64
import json
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from leaderboard.errors import Problem
from leaderboard.rules.settings import Subset
from leaderboard.services.queue import MeasureScore, RunScores

__all__ = ["Failed", "Job", "Rejected", "Reply", "Settings", "out_of_memory", "read_reply", "write_reply"]


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
    """One run to score."""

    submission_id: int
    scoring_set_id: int

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
class Failed:
    """Scoring the run failed for a reason that is not in its file; the reason in words."""

    reason: str


def out_of_memory(job_bytes: int) -> str:
    """The reason to give when scoring met the bound on memory."""
    return f"scoring needed more than {job_bytes / 2**30:.3g} GiB of memory, the most that one run may use here"


Reply = RunScores | Rejected | Failed


def write_reply(reply: Reply) -> str:
    """The reply as one line of JSON; `read_reply` reads it back."""
    content = asdict(reply)
    if isinstance(reply, RunScores):
        for each in content["measures"]:
            each["values"] = base64.b64encode(each["values"].tobytes()).decode()
    return json.dumps({"kind": type(reply).__name__, **content})


def read_reply(line: str) -> Reply:
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
        case "Failed":
            return Failed(content["reason"])
        case kind:
            raise ValueError(f"a reply of an unknown kind: {kind}")
