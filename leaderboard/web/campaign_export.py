"""A campaign as a download: what `leaderboard export` writes, made while it is sent."""

from contextlib import ExitStack
from itertools import chain

from flask import Response

from leaderboard.transfer.packing import exporting, packed
from leaderboard.web.context import actor, database, store
from leaderboard.web.exports import file_name

__all__ = ["campaign_export"]


def campaign_export(slug: str) -> Response:
    """The .tar.gz of a campaign that the reader organises. Raises NotFound, NotAllowed or NoStore at once."""
    with ExitStack() as opened:
        pieces = packed(opened.enter_context(exporting(database(), actor(), slug)), store())
        first = next(pieces)
        kept = opened.pop_all()
    answer = Response(chain([first], pieces), content_type="application/gzip")
    answer.call_on_close(kept.close)
    answer.headers["Content-Disposition"] = f'attachment; filename="{file_name(slug)}.tar.gz"'
    answer.headers["Cache-Control"] = "private, no-store"
    return answer
