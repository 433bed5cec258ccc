"""The files of a revision of judgments, and what becomes of a source that is taken away."""

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Any

from leaderboard.audit.rules import judgments_sha256, rows_of, rows_of_subtopics
from leaderboard.errors import InvalidFields
from leaderboard.formats import Judgments, SubtopicJudgments, of_any_subtopic, read_judgments, read_subtopic_judgments
from leaderboard.frozen import frozen

# What a file of judgments may hold; a revision is made of one of each at most.
READERS: Mapping[str, Callable[..., Any]] = {
    "judgments": read_judgments,
    "subtopics": read_subtopic_judgments,
    "known": read_judgments,
}


@frozen
class JudgmentFiles:
    """What the files of a revision hold. Judgments of subtopics alone say what holds for whole queries too."""

    judgments: Judgments
    known: Judgments | None = None
    subtopics: SubtopicJudgments | None = None

    @classmethod
    def of(cls, contents: Mapping[str, Any], field: str) -> "JudgmentFiles":
        """Of what was read, by its kind. Raises InvalidFields for `field` where there are no judgments."""
        judgments, subtopics = contents.get("judgments"), contents.get("subtopics")
        if judgments is None and subtopics is not None:
            judgments = of_any_subtopic(subtopics)
        if judgments is None:
            raise InvalidFields({field: ["give the judgments first"]})
        return cls(judgments, contents.get("known"), subtopics)

    @property
    def rows(self) -> tuple[Iterable[tuple[Any, ...]], ...]:
        """(query, document, grade), (query, document) and (query, subtopic, document, grade)."""
        known = () if self.known is None else (row[:2] for row in rows_of(self.known))
        return rows_of(self.judgments), known, () if self.subtopics is None else rows_of_subtopics(self.subtopics)

    @property
    def sha256(self) -> str:
        """The hash that a revision of these has."""
        return judgments_sha256(*self.rows)


class Removal(StrEnum):
    """What becomes of a source of judgments that is taken away, as the one who does it is told."""

    GONE = "nothing was submitted yet, so it goes for good, with its judgments"
    HIDDEN = (
        "only organisers could see boards by it: these go, and no run is scored by it any more; its judgments stay on "
        "record"
    )
    KEPT = "readers could see boards by it: these stay to be read as they stood, and no run is scored by it any more"
