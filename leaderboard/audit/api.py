"""The audit trail of a campaign: who did what to what, when, and what it changed."""

from typing import Annotated

from msgspec import Meta

from leaderboard.accounts.rules import Scope
from leaderboard.audit import reads
from leaderboard.web.context import MOST_PAGES, read
from leaderboard.web.endpoints import get
from leaderboard.web.organise import CAMPAIGN


@get(f"{CAMPAIGN}/trail", Scope.ORGANISE)
def trail(
    campaign: str,
    *,
    subject: str = "",
    number: str = "",
    person: str = "",
    since: str = "",
    until: str = "",
    page: Annotated[int, Meta(ge=1, le=MOST_PAGES)] = 1,
) -> reads.TrailPage:
    """The audit trail of a campaign, the newest first, page by page. subject: evaluation, submission, team …, and
    number the id of one; person: the id of an account, or worker; since, until: days in UTC, such as 2026-11-20.
    """
    filters = reads.TrailFilters(subject, number, person, since, until)
    return read(reads.trail, campaign, filters=filters, page=page)
