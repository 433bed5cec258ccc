"""What is said of queries, of a revision of judgments and of its source, each declared once."""

from typing import Annotated

from leaderboard.declared.inputs import Confirm, Inputs, Line, Shown, setting, text_of
from leaderboard.texts import LONGEST_REASON


class NamedQueries(Inputs):
    """Queries by their ids."""

    queries: list[str] = setting("Queries", min_length=1)
    confirm: Confirm = False


class ExcludedQueries(NamedQueries):
    """Queries by their ids, and why they are excluded."""

    because: str = setting("Reason", "Readers see it beside the query.")


class RevisionWords(Inputs):
    """What is said of a file of judgments."""

    source: Line = setting(
        "Source",
        "Who judged, in one short word such as llm or second-lab, where several do side by side. Left empty, these are "
        "the official judgments.",
        default="",
        shown=Shown(attributes={"autocomplete": "off"}),
    )
    note: Annotated[str, text_of(LONGEST_REASON)] = setting("Note", "What is new in this revision.", default="")
    state: str | None = setting("State of the preview", default=None)


class OfficialSource(Inputs):
    """Whose judgments boards go by."""

    source: str = setting("Source")
    confirm: Confirm = False


class RemovedSource(Inputs):
    """The source of judgments to remove."""

    source: str = setting("Source")


class RenamedSource(Inputs):
    """What a source of judgments is called so far, and from now on."""

    source: str = setting("Source")
    name: str = setting("New name", "One short word.", shown=Shown(attributes={"autocomplete": "off"}))
