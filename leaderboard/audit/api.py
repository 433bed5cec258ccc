"""The audit trail of a campaign: who did what to what, when, and what it changed."""

from collections.abc import Iterator, Mapping
from typing import Any

from leaderboard.accounts.rules import Scope
from leaderboard.audit import reads
from leaderboard.declared.commands import Command
from leaderboard.web.context import read
from leaderboard.web.endpoints import get
from leaderboard.web.organise import CAMPAIGN


def _lines(answer: Any, _: Mapping[str, Any]) -> str:
    """Each event in a line, and below it what it changed."""

    def of_row(row: Any) -> Iterator[str]:
        at = row["at"]
        said = f"{at[:10]} {at[11:19]}  {row['who']}: {row['did']} {row['thing']}" if at else "can't be read"
        yield f"{row['number']}  {said}"
        for change in row["changes"]:
            yield f"    {change['what']}: {change['before'] or 'nothing'} → {change['after'] or 'nothing'}"
        yield from (f"    {name}: {value}" for name, value in row["facts"])

    return "\n".join(line for row in answer["rows"] for line in of_row(row)) or "no event is like that"


@get(f"{CAMPAIGN}/trail", Scope.ORGANISE, command=Command(
    "trail CAMPAIGN", _lines, "harbour --subject submission --number 17"
))  # fmt: skip
def trail(
    campaign: str,
    *,
    subject: str = "",
    number: str = "",
    person: str = "",
    since: str = "",
    until: str = "",
    page: int = 1,
) -> reads.TrailPage:
    """The audit trail of a campaign, the newest first, page by page. subject: evaluation, submission, team …, and
    number the id of one; person: the id of an account, or worker; since, until: days in UTC, such as 2026-11-20.
    """
    filters = reads.TrailFilters(subject, number, person, since, until)
    return read(reads.trail, campaign, filters=filters, page=page)
