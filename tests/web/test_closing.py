"""The minute around closing, played: whose uploads are on time, and what is open to whom at which second.

No time passes while it is played: the site asks the clock of this test, which an upload moves on while it is read.
"""

import datetime as dt
import io

import pytest
import sqlalchemy as sa
from flask import Flask
from werkzeug.test import TestResponse

from leaderboard.evaluations.rules import Opening
from leaderboard.submissions.models import Submission
from tests.web.conftest import RUN, Reader, World

FORM = "/campaigns/harbour/2025/submit"
BOARD = "/campaigns/harbour/2025"

CLOSES = dt.datetime(2026, 6, 30, 12, 0, tzinfo=dt.UTC)
SECOND = dt.timedelta(seconds=1)


class Clock:
    """The moment that the site believes it is."""

    def __init__(self) -> None:
        self.at = CLOSES - 3600 * SECOND

    def __call__(self) -> dt.datetime:
        return self.at


class Fed(io.RawIOBase):
    """A body whose last byte is read at a given moment."""

    def __init__(self, body: bytes, clock: Clock, until: dt.datetime) -> None:
        super().__init__()
        self._body = io.BytesIO(body)
        self._clock = clock
        self._until = until

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]  # all that is passed here
        given = self._body.readinto(memoryview(buffer)[:1000])
        if self._body.tell() == len(self._body.getbuffer()):
            self._clock.at = self._until
        return given

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:  # the test client measures its body so
        return self._body.seek(offset, whence)

    def tell(self) -> int:
        return self._body.tell()


@pytest.fixture
def clock(app: Flask, world: World) -> Clock:
    """The clock of the site, an hour before the evaluation closes."""
    clock = Clock()
    app.extensions["clock"] = clock
    world.change(opens_at=CLOSES - 3600 * SECOND, closes_at=CLOSES, results=Opening.CLOSED, details=Opening.CLOSED)
    return clock


def feed(reader: Reader, world: World, clock: Clock, begun: dt.datetime, until: dt.datetime) -> TestResponse:
    """Posts the form in a request that begins at one moment and whose last byte comes at another."""
    token = reader.token()
    fields = {"csrf_token": token, "system": str(world.system.id), "designation": "primary"}
    head = "--b\r\nContent-Disposition: form-data; name="
    body = "".join(f'{head}"{name}"\r\n\r\n{value}\r\n' for name, value in fields.items())
    body += f'{head}"run"; filename="a.run"\r\n\r\n{RUN}q3 Q0 d{until:%H%M%S} 2 0.1 alpha\r\n--b--\r\n'
    clock.at = begun
    return reader.client.post(
        FORM,
        input_stream=Fed(body.encode(), clock, until),
        content_length=len(body.encode()),
        content_type="multipart/form-data; boundary=b",
    )


def submissions(world: World) -> list[Submission]:
    with world.database.read() as session:
        return list(session.scalars(sa.select(Submission).order_by(Submission.id)))


def test_an_upload_begun_before_closing_and_fed_past_the_grace_is_refused_or_late_and_within_it_on_time(
    world: World, participant: Reader, clock: Clock
) -> None:
    refused = feed(participant, world, clock, CLOSES - SECOND, CLOSES + 75 * SECOND)
    assert refused.status_code == 409
    assert "waited 60 s for files that were on their way" in refused.text
    assert submissions(world) == []

    assert feed(participant, world, clock, CLOSES - SECOND, CLOSES + 30 * SECOND).status_code == 302
    [run] = submissions(world)
    assert (run.late, run.begun_at, run.received_at) == (False, CLOSES - SECOND, CLOSES + 30 * SECOND)

    world.change(late_allowed=True)
    assert feed(participant, world, clock, CLOSES - SECOND, CLOSES + 75 * SECOND).status_code == 302
    assert feed(participant, world, clock, CLOSES, CLOSES + SECOND).status_code == 302
    assert [run.late for run in submissions(world)] == [False, True, True]


def test_boards_are_closed_to_the_public_in_the_grace_and_open_when_it_is_over(
    visitor: Reader, participant: Reader, clock: Clock
) -> None:
    clock.at = CLOSES + 59 * SECOND
    page = visitor.get(BOARD)
    assert "Results aren&#39;t open yet" in page
    assert "uploads that began before may end until" in page
    assert "12:01:00 UTC" in page
    assert "Submit run" not in page
    form = participant.get(FORM)
    assert "it takes no late runs" in form
    assert "An upload that began before then is still taken until" in form
    assert f'href="{BOARD}">The board of' in form
    clock.at = CLOSES + 60 * SECOND
    assert "is still taken" not in participant.get(FORM)
    page = visitor.get(BOARD)
    assert "Results aren&#39;t open yet" not in page
    assert 'status-closed">closed' in page
