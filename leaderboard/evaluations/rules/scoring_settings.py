"""What an evaluation's figures depend on, beside its judgments and the runs."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Literal

from leaderboard.metrics import Measure, Setting, parse
from leaderboard.metrics.measure import Need

ASSESSORS = "assessors"  # the source of judgments where no other is named

# The settings that campaigns and evaluations give to their scoring sets as they are, with what they decide in words.
OF_CAMPAIGN = {
    "beta": "β",
    "no_relevant": "what happens to queries without a relevant document",
    "compat": "ties and rounding",
}
OF_EVALUATION = {
    "documents": "the number of documents",
    "relevance_level": "the lowest relevant grade",
    "judging": "whether judgments are pooled or complete",
}


class NoRelevant(StrEnum):
    """What becomes of a query without relevant documents in the detection measures."""

    EXCLUDE = "exclude"
    PFA_ONLY = "pfa_only"
    PMISS_ZERO = "pmiss_zero"


class Judging(StrEnum):
    POOLED = "pooled"  # a query without judgments is left out and reported
    COMPLETE = "complete"  # every query counts; what is not listed is not relevant


class Split(StrEnum):
    """Who sees a query: everybody, or organisers only until the evaluation closes."""

    SHOWN = "shown"
    HIDDEN = "hidden"


class Subset(StrEnum):
    """Over which queries a mean runs: those that everybody may see, or hidden ones too."""

    SHOWN = "shown"
    ALL = "all"

    def leaves_out(self, split: Split) -> bool:
        """Whether queries of this split are not in the subset, and not to be known to whoever sees only this subset."""
        return self is Subset.SHOWN and split is Split.HIDDEN


def compat_problem(given: Any) -> str | None:
    """What is wrong with a number for the version of trec_eval by whose rules figures are worked out."""
    return None if given in (9, 10) else "choose trec_eval's version 9 or 10"


def lacks(
    measure: Measure, *, documents: int | None, beta: float | None, known: bool, subtopics: bool
) -> tuple[Need, ...]:
    """What a measure needs and an evaluation does not have; empty when the measure can be computed.

    documents  N_total, None when it is not given
    beta       None when the campaign states none
    known      whether there is a list of the documents that the user knew already
    subtopics  whether documents are judged for subtopics too
    """
    missing: dict[Need, bool] = {
        "documents": documents is None,
        "beta": beta is None,
        "known": not known,
        "subtopics": not subtopics,
    }
    return tuple(need for need, is_missing in missing.items() if is_missing and need in measure.needs)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringSettings:
    """Every setting of a campaign and an evaluation that changes a figure, as a scoring set freezes them.

    documents  N_total, None when it is not given
    queries    how many queries there are, and so how many values a stored vector holds
    known      whether the judgments come with a list of the documents that the user knew already
    subtopics  whether the judgments come with some of subtopics
    excluded   external ids of queries that count nowhere, sorted
    hidden     external ids of queries that count for Subset.ALL only, sorted
    measures   canonical names of the measures that are shown, the primary one first
    kept       those of measures that are scored only because an interval of a shown one needs their values
    """

    beta: float | None
    no_relevant: NoRelevant
    documents: int | None
    relevance_level: int
    judging: Judging
    compat: Literal[9, 10]
    highest_grade: int
    queries: int
    known: bool
    subtopics: bool
    excluded: tuple[str, ...]
    hidden: tuple[str, ...]
    measures: tuple[str, ...]
    kept: tuple[str, ...]

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "ScoringSettings":
        """What `as_json` gave. Raises TypeError or ValueError for anything else."""
        typed: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in content.items()
        }
        typed["no_relevant"], typed["judging"] = NoRelevant(typed["no_relevant"]), Judging(typed["judging"])
        return cls(**typed)

    def as_json(self) -> dict[str, Any]:
        """Plain numbers, texts and lists."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @property
    def hash(self) -> str:
        """SHA-256 in hexadecimal digits, equal for settings that differ in the order of their measures only."""
        content = self.as_json() | {"measures": sorted(self.measures)}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    @property
    def metric(self) -> Setting:
        """The part that the measures take. Raises BadInput for numbers that can't be."""
        return Setting(
            documents=self.documents,
            beta=self.beta,
            no_relevant=self.no_relevant.value,
            compat=self.compat,
            highest_grade=self.highest_grade,
        )

    @property
    def scored(self) -> tuple[Measure, ...]:
        """Every measure that is computed, shown or not."""
        return tuple(parse(name) for name in (*self.measures, *self.kept))

    @property
    def subsets(self) -> tuple[Subset, ...]:
        """The subsets whose figures differ: without hidden queries there is one, and both names stand for it."""
        return (Subset.SHOWN, Subset.ALL) if self.hidden else (Subset.ALL,)

    def counted(self, queries: Iterable[str], subset: Subset) -> list[str]:
        """Those of the queries, by external id, that count in a subset's means if they are judged."""
        left_out = {*self.excluded, *(self.hidden if subset is Subset.SHOWN else ())}
        return [query for query in queries if query not in left_out]

    def size(self, subset: Subset) -> int:
        """How many queries count in a subset's means if they are judged."""
        return self.queries - len({*self.excluded, *(self.hidden if subset is Subset.SHOWN else ())})

    def lacks(self, measure: Measure) -> tuple[Need, ...]:
        """What the measure needs and is not given."""
        return lacks(measure, documents=self.documents, beta=self.beta, known=self.known, subtopics=self.subtopics)
