"""What is refused before a file is stored: the body is left unread, and the store holds no byte of it."""

import datetime as dt
import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from leaderboard.access import CONSOLE
from leaderboard.audit.writes import present
from leaderboard.config import Config
from leaderboard.submissions.models import Arrival, Participation, Submission
from leaderboard.teams import writes as teams
from tests.web.conftest import BOTH, Body, Reader, World, files_in

pytestmark = BOTH
DAY = dt.timedelta(days=1)
MOST_READ = 2**18  # bytes: one piece, in memory, which holds the fields before the file
FILE = b"".join(b"q1 Q0 document-%06d 1 0.9 alpha\n" % number for number in range(120_000))  # 4 MB
NUMBERS = itertools.count()  # so that no two files are the same

Send = Callable[..., tuple[TestResponse, int]]


@pytest.fixture
def send(app: Flask, world: World) -> Send:
    """Sends the form with a file of 4 MB, which the site has room for; the answer, and how many bytes were read."""
    app.extensions["store"].config = Config(upload_bytes=10**7, text_bytes=10**7)
    app.extensions["config"] = replace(app.extensions["config"], upload_bytes=10**7)

    def post(
        reader: Reader, meanwhile: Callable[[Body], object] = lambda _: None, **fields: str
    ) -> tuple[TestResponse, int]:
        file = FILE + b"# %d" % next(NUMBERS)
        body = Body({"csrf_token": reader.token(), **world.sent(**fields)}, file, meanwhile)
        return reader.stream(body), body.given

    return post


@pytest.fixture
def refused(app: Flask, world: World, send: Send) -> Callable[..., None]:
    """Expects that a file is refused so, having read so many bytes at most, and that nothing is there of it."""

    def expect(reader: Reader, status: int, words: str, most_read: int, **fields: str) -> None:
        answer, read = send(reader, **fields)
        assert (answer.status_code, words in answer.text) == (status, True), answer.text
        assert read <= most_read
        assert (files_in(app), world.count(Submission)) == ([], 0)

    return expect


@pytest.mark.parametrize(
    ("columns", "status", "words"),
    [
        ({"opens_at": present() + DAY}, 409, "takes runs from"),
        ({"opens_at": present() - 2 * DAY, "closes_at": present() - DAY}, 409, "it takes no late runs"),
        ({"daily_quota": 0}, 429, "used 0 of its 0 submissions for today"),
    ],
)
def test_before_opening_after_closing_and_where_the_quota_is_spent_no_byte_of_a_file_is_read(
    world: World, participant: Reader, refused: Callable[..., None], columns: dict[str, object], status: int, words: str
) -> None:
    world.change(**columns)
    refused(participant, status, words, 0)


def test_of_a_visitor_no_byte_of_a_file_is_read(visitor: Reader, refused: Callable[..., None]) -> None:
    refused(visitor, 302, "", 0)


@pytest.mark.parametrize(("name", "is_read"), [("", False), ("ada", False), ("orla", True)])
def test_of_whoever_organises_nothing_no_byte_of_a_long_form_is_read(
    reader: Callable[[str], Reader], name: str, is_read: bool
) -> None:
    body = Body({"csrf_token": "x"}, FILE[:200_000])
    kind = "multipart/form-data; boundary=b"
    answer = reader(name).client.post(
        "/organise/harbour/settings", input_stream=body, content_length=body.size, content_type=kind
    )
    assert (answer.status_code == 413, body.given > 0) == (not is_read, is_read)


def test_a_file_for_somebody_else_s_team_is_refused_after_the_fields_before_it(
    world: World, other: Reader, refused: Callable[..., None]
) -> None:
    for system in (str(world.system.id), "999", f"new-{world.teams['alpha'].id}"):
        refused(other, 400, "choose one of the list", MOST_READ, system=system)


def test_a_file_for_a_team_whose_quota_is_spent_is_refused_though_another_team_has_some(
    world: World, participant: Reader, refused: Callable[..., None]
) -> None:
    world.change(daily_quota=1)
    used = {"day": present().date(), "used_today": 1, "rejected_today": 0, "used": 1}
    with world.database.write() as session:
        teams.add_member(session, CONSOLE, world.teams["beta"], world.users["ada"])
        session.add(Participation(team_id=world.teams["alpha"].id, evaluation_id=world.evaluation.id, **used))
    refused(participant, 429, "Your team has used 1 of its 1 submissions for today", MOST_READ)


def once(meanwhile: Callable[[], object]) -> Callable[[Body], None]:
    """Does it when the fields and a piece of the file have been read."""
    waiting = [meanwhile]

    def watch(body: Body) -> None:
        if body.given > MOST_READ and waiting:
            waiting.pop()()

    return watch


def test_no_more_files_are_read_at_the_same_moment_than_their_sender_has_room_for(
    world: World, reader: Callable[[str], Reader], send: Send
) -> None:
    world.change(daily_quota=2)
    seen: list[tuple[int, bool, int]] = []

    def third() -> None:
        answer, read = send(reader("ada"))
        words = "Your team has 2 files on the way"
        seen.append((answer.status_code, words in answer.text, read))
        assert answer.headers["Retry-After"] == "60"

    def second() -> None:
        assert send(reader("ada"), once(third))[0].status_code == 302

    assert send(reader("ada"), once(second))[0].status_code == 302
    assert seen == [(429, True, 0)]
    assert (world.count(Submission), world.count(Arrival)) == (2, 0)


def test_a_file_that_breaks_off_gives_its_place_back(app: Flask, world: World, participant: Reader, send: Send) -> None:
    def break_off() -> None:
        raise ConnectionResetError

    world.change(daily_quota=1)
    assert send(participant, once(break_off))[0].status_code == 400
    assert send(participant)[0].status_code == 302
    assert len(files_in(app)) == 1


def elsewhere(ask: Callable[[], int]) -> int:
    """In a thread of its own: a request within a request would have its time."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(ask).result()


def test_a_place_is_held_while_bytes_come(
    app: Flask, world: World, reader: Callable[[str], Reader], send: Send
) -> None:
    world.change(daily_quota=1)
    start, seconds, answers = present(), [0], list[int]()
    app.extensions["clock"] = lambda: start + dt.timedelta(seconds=seconds[0])

    def other(body: Body) -> None:
        if body.given > MOST_READ and seconds[0] < 400:
            answers.append(elsewhere(lambda: send(reader("ada"))[0].status_code))
            seconds[0] += 80

    assert send(reader("ada"), other)[0].status_code == 302
    assert answers == [429] * 5


def test_a_place_is_free_after_two_minutes_of_silence_as_after_a_kill(
    app: Flask, world: World, reader: Callable[[str], Reader], send: Send
) -> None:
    world.change(daily_quota=1)
    now, answers = [present()], list[int]()
    app.extensions["clock"] = lambda: now[0]

    def two_minutes_later() -> None:
        now[0] += dt.timedelta(minutes=2)
        answers.append(elsewhere(lambda: send(reader("ada"))[0].status_code))

    outer = send(reader("ada"), once(two_minutes_later))[0].status_code
    assert (answers, outer) == ([302], 429)  # the second one took what the first had lost
