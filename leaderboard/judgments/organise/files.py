"""Files of queries and judgments: received once, kept under their hash, and named by a signed proof until the yes.

What a page shows before the yes is worked out from the stored file, and the yes reads it from there again: what the
browser sends back says which file is meant and nothing of what it holds.
"""

from collections.abc import Callable
from typing import TypeVar

from flask import g
from sqlalchemy.orm import Session
from werkzeug.datastructures import MultiDict

from leaderboard.campaigns.reads.organised import organised_evaluation
from leaderboard.errors import InvalidFields
from leaderboard.evaluations.models import Evaluation
from leaderboard.store import Received
from leaderboard.web import uploads
from leaderboard.web.context import actor, reading, store
from leaderboard.web.organise import limits

Read = TypeVar("Read")


def received(field: str) -> uploads.Posted:
    """This request's form and its file, which only those who organise the evaluation may send."""

    def admit(_: MultiDict[str, str]) -> None:
        with reading() as session:
            evaluation_here(session)

    return uploads.receive(field, admit)


def evaluation_here(session: Session) -> Evaluation:
    """The evaluation that this request's address is of. Raises NotFound for whoever does not organise it."""
    return organised_evaluation(session, actor(), g.room.campaign, g.room.evaluation)


def read_stored(upload: Received, read: Callable[..., Read]) -> Read:
    """What a reader of `formats` makes of a file in the store, under the site's own caps. Raises FileRejected."""
    with store().open_run(upload.sha256) as source:
        return read(source, name=upload.filename, limits=limits())


def chosen(posted: uploads.Posted, field: str) -> Received:
    """The file that was sent. Raises why it was not taken in, and InvalidFields where none was sent."""
    if posted.refusal is not None:
        raise posted.refusal
    if posted.upload is None:
        raise InvalidFields({field: [posted.refused or "choose a file"]})
    return posted.upload
