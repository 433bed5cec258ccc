"""The minute around closing, played: whose uploads are on time, and what is open to whom at which second.

No time passes while it is played: the site asks the clock of this test, which an upload moves on while it is read.
"""

import datetime as dt

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from leaderboard.evaluations.rules import Opening
from tests.web.conftest import BOARD, FORM, RUN, Body, Reader, World

CLOSES = dt.datetime(2026, 6, 30, 12, 0, tzinfo=dt.UTC)
SECOND = dt.timedelta(seconds=1)


class Clock:
    """The moment that the site believes it is."""

    def __init__(self) -> None:
        self.at = CLOSES - 3600 * SECOND

    def __call__(self) -> dt.datetime:
        return self.at


@pytest.fixture
def clock(app: Flask, world: World) -> Clock:
    """The clock of the site, an hour before the evaluation closes."""
    clock = Clock()
    app.extensions["clock"] = clock
    world.change(opens_at=CLOSES - 3600 * SECOND, closes_at=CLOSES, results=Opening.CLOSED, details=Opening.CLOSED)
    return clock


def feed(reader: Reader, world: World, clock: Clock, begun: dt.datetime, until: dt.datetime) -> TestResponse:
    """Posts the form in a request that begins at one moment and whose last byte comes at another."""

    def end(body: Body) -> None:
        if body.given == body.size:
            clock.at = until

    fields = {"csrf_token": reader.token(), **world.sent(designation="primary")}
    body = Body(fields, f"{RUN}q3 Q0 d{until:%H%M%S} 2 0.1 alpha".encode(), end)
    clock.at = begun
    return reader.stream(body)


def test_an_upload_begun_before_closing_and_fed_past_the_grace_is_refused_or_late_and_within_it_on_time(
    world: World, participant: Reader, clock: Clock
) -> None:
    refused = feed(participant, world, clock, CLOSES - SECOND, CLOSES + 75 * SECOND)
    assert refused.status_code == 409
    assert "it takes no late runs" in refused.text
    assert world.runs() == []

    assert feed(participant, world, clock, CLOSES - SECOND, CLOSES + 30 * SECOND).status_code == 302
    [run] = world.runs()
    assert (run.late, run.begun_at, run.received_at) == (False, CLOSES - SECOND, CLOSES + 30 * SECOND)

    world.change(late_allowed=True)
    assert feed(participant, world, clock, CLOSES - SECOND, CLOSES + 75 * SECOND).status_code == 302
    assert feed(participant, world, clock, CLOSES, CLOSES + SECOND).status_code == 302
    assert [run.late for run in world.runs()] == [False, True, True]


def test_boards_are_closed_to_the_public_in_the_grace_and_open_when_it_is_over(
    visitor: Reader, participant: Reader, clock: Clock
) -> None:
    clock.at = CLOSES + 59 * SECOND
    page = visitor.get(BOARD)
    assert "Results aren&#39;t open yet" in page
    assert "Submit run" not in page
    assert "An upload that began before then is still accepted until" in participant.get(FORM)
    clock.at = CLOSES + 60 * SECOND
    assert "is still taken" not in participant.get(FORM)
    page = visitor.get(BOARD)
    assert "Results aren&#39;t open yet" not in page
    assert 'status-closed">closed' in page
