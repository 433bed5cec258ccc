"""What an evaluation's figures depend on."""

from enum import StrEnum

__all__ = ["Judging", "NoRelevant", "Subset"]


class NoRelevant(StrEnum):
    """What becomes of a query without relevant documents in the detection measures."""

    EXCLUDE = "exclude"
    PFA_ONLY = "pfa_only"
    PMISS_ZERO = "pmiss_zero"


class Judging(StrEnum):
    POOLED = "pooled"  # a query without judgments is left out and reported
    COMPLETE = "complete"  # every query counts; what is not listed is not relevant


class Subset(StrEnum):
    """Over which queries a mean runs: those that everybody may see, or hidden ones too."""

    SHOWN = "shown"
    ALL = "all"
