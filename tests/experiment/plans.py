"""What the year holds fixed: campaigns, evaluations, queries, documents and the runs that teams send.

Each evaluation says how its judgments may differ between two installations; see `draws`.
"""

import datetime as dt
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from leaderboard.evaluations.rules import Judging, Opening
from leaderboard.submissions.rules import RunChoice

COLLECTION = 40  # documents, N_total
DOCUMENTS = [f"d{number:02}" for number in range(1, COLLECTION + 1)]
QUERIES = {"q1": "tides in the harbour", "q2": "the price of rope", "q3": "lost anchors", "q4": "a pilot's fee"}
HIDDEN = {"h1": "the night watch"}
TAGS = {"q1": ["law"], "q2": ["news"], "q3": ["law"], "q4": [], "h1": ["news"]}

# What is closed to everybody who is no organiser, for all of the year.
Closed = Literal["everything", "all but means", "all but means of detection"]


def moment(month: int, day: int, hour: int = 12, minute: int = 0, second: int = 0) -> dt.datetime:
    """Of the year that is played."""
    return dt.datetime(2024, month, day, hour, minute, second, tzinfo=dt.UTC)


@dataclass(frozen=True, slots=True)
class Plan:
    """An evaluation.

    closed  how its judgments may differ: "everything": freely, since no figure is shown; "all but means": so that all
            means that are shown stay as they are by definition; "… of detection": the same where the only measures are
            of detection, under which a query without relevant documents counts nowhere
    hidden  whether the query h1 is hidden
    """

    campaign: str
    closed: Closed
    settings: Mapping[str, Any]
    hidden: bool = False

    @property
    def closes_within(self) -> bool:
        """Whether it closes within what is played, so that hidden queries count for all at the end."""
        return bool(self.settings["closes_at"] <= moment(3, 1))

    @property
    def queries(self) -> list[str]:
        """By external id, the hidden one last."""
        return [*QUERIES, *(HIDDEN if self.hidden else ())]

    @property
    def seen(self) -> list[str]:
        """Those that the means shown are over."""
        return [query for query in self.queries if self.closes_within or query not in HIDDEN]


OWN_MEANS_CLOSED = {"own_results": False}
WINTER = {"opens_at": moment(1, 10), "closes_at": moment(2, 1)}
GRACED = moment(10, 1)  # when `graced` closes: the year ends within its grace
LONG = {"opens_at": moment(1, 10), "closes_at": moment(12, 1)}

CAMPAIGNS: dict[str, dict[str, Any]] = {
    "harbour": {"measures": ["AP", "P@5"], "primary_measure": "AP"},
    "quay": {"measures": ["AQWV", "Pmiss"], "primary_measure": "AQWV", "beta": 2.0, "run_choice": RunChoice.BEST},
}
ALWAYS, CLOSED, NEVER = Opening.ALWAYS, Opening.CLOSED, Opening.NEVER
EVALUATIONS: dict[str, Plan] = {
    "upcoming": Plan("harbour", "everything", {"opens_at": dt.datetime(2025, 1, 1, tzinfo=dt.UTC)}),
    "sealed": Plan(
        "harbour", "everything",
        {**LONG, **OWN_MEANS_CLOSED, "results": NEVER, "details": NEVER, "anonymous_until": moment(6, 1)}, hidden=True,
    ),
    "graced": Plan(
        "harbour", "everything",
        {**OWN_MEANS_CLOSED, "opens_at": moment(1, 10), "closes_at": GRACED, "results": CLOSED},
    ),
    "finished": Plan("harbour", "everything", {**WINTER, **OWN_MEANS_CLOSED, "results": NEVER, "late_allowed": True}),
    "shown": Plan("harbour", "all but means", {**LONG, "results": ALWAYS}, hidden=True),
    "kept": Plan("harbour", "all but means", {**WINTER, "results": ALWAYS, "details": NEVER}, hidden=True),
    "best": Plan("quay", "everything", {**LONG, **OWN_MEANS_CLOSED, "results": CLOSED}),
    "own": Plan("quay", "all but means of detection", {**LONG, "results": CLOSED}),
    "complete": Plan(
        "quay", "all but means of detection",
        {**WINTER, "judging": Judging.COMPLETE, "results": CLOSED, "details": NEVER},
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class RunFile:
    """A file as a team sends it. lists: query -> its documents, best first; broken: a line that is none."""

    lists: Mapping[str, list[str]]
    broken: str = ""
    tag: str = field(default="tag")

    @property
    def text(self) -> str:
        return self.text_for(HIDDEN)

    def text_for(self, hidden: Collection[str]) -> str:
        """As it is sent to an evaluation that has these hidden queries: one with others would be refused."""
        lines = [
            f"{query} Q0 {document} {rank} {100 - rank} {self.tag}"
            for query, documents in self.lists.items()
            if query in hidden or query not in HIDDEN
            for rank, document in enumerate(documents, 1)
        ]
        return "\n".join([*lines, *([self.broken] if self.broken else []), ""])


RUNS = {
    "good": RunFile(
        {
            "q1": ["d01", "d02", "d03", "d04", "d05", "d06"],
            "q2": ["d07", "d01", "d08", "d02"],
            "q3": ["d09", "d03"],
            "q4": ["d10", "d11", "d01"],
            "h1": ["d12", "d01", "d02"],
        },
        tag="good",
    ),
    "lacking": RunFile({"q1": ["d03", "d01", "d13"], "q4": ["d01", "d10"], "h1": ["d01"]}, tag="lacking"),
    "other": RunFile(
        {"q1": ["d02", "d14", "d01"], "q2": ["d08", "d07"], "q3": ["d03", "d09", "d15"], "q4": ["d02"]}, tag="other"
    ),
    # Only a collection without judged documents beyond these has room for as many.
    "crowded": RunFile(
        {"q1": [*DOCUMENTS[:36], "x1", "x2", "x3"], "q2": ["d07", "x4"], "q3": DOCUMENTS[:30]}, tag="crowded"
    ),
    "too many": RunFile({"q1": [f"x{number}" for number in range(COLLECTION + 5)]}, tag="many"),
    "broken": RunFile({"q1": ["d01"]}, broken="q1 Q0 d02 two"),
    "strange": RunFile({"q1": ["d01"], "q99": ["d01"]}, tag="strange"),
}
