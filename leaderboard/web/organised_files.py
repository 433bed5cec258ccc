"""Files of organisers that the site reads itself, while somebody waits: how much of them, and judgments of several."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from flask import request

from leaderboard.errors import BadInput, InvalidFields, file_of
from leaderboard.formats import (
    ByteSource,
    Judgments,
    Limits,
    SubtopicJudgments,
    of_any_subtopic,
    read_judgments,
    read_subtopic_judgments,
)
from leaderboard.web.context import config
from leaderboard.web.request_limits import FORM_TYPES

GONE = "the file is not here any more; choose it again"
MIB = 2**20
MOST_TEXT = 256 * MIB
MOST_LINES = 5_000_000
MOST_QUERIES = 100_000

Content = TypeVar("Content")

# What a file of judgments may hold; a revision is made of one of each at most.
JUDGMENT_FILES: Mapping[str, Callable[..., Any]] = {
    "judgments": read_judgments,
    "subtopics": read_subtopic_judgments,
    "known": read_judgments,
}


@dataclass(frozen=True, slots=True)
class JudgmentFiles:
    """What the files of a revision hold. Judgments of subtopics alone say what holds for whole queries too."""

    judgments: Judgments
    subtopics: SubtopicJudgments | None
    known: Judgments | None

    @classmethod
    def of(cls, found: Mapping[str, Any], field: str) -> "JudgmentFiles":
        """Of what was read, by its kind. Raises InvalidFields for `field` where there are no judgments."""
        judgments, subtopics = found.get("judgments"), found.get("subtopics")
        if judgments is None and subtopics is not None:
            judgments = of_any_subtopic(subtopics)
        if judgments is None:
            raise InvalidFields({field: ["give the judgments first"]})
        return cls(judgments, subtopics, found.get("known"))


def limits() -> Limits:
    """How much of such a file is read: what the installation allows, and less than would hold everybody up."""
    most = min(config().text_bytes, MOST_TEXT)
    return Limits(expanded_bytes=most, all_id_bytes=most, lines=MOST_LINES, queries=MOST_QUERIES)


def read_body(read_file: Callable[..., Content], field: str) -> Content:
    """This request's body as a file. Raises BadInput where it says that it is something else, and InvalidFields for
    `field`, what a form calls it.
    """
    if request.mimetype in FORM_TYPES or request.mimetype.endswith("json"):
        raise BadInput(
            "Send the file itself as the body, with Content-Type: application/octet-stream and not "
            f"{request.mimetype}, such as by curl -H 'Content-Type: application/octet-stream' --data-binary @FILE."
        )
    request.max_content_length = config().upload_bytes
    source: ByteSource = request.stream
    with file_of(field):
        return read_file(source, name="the body", limits=limits())
