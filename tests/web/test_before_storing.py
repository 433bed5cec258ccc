"""What is refused before a file is stored: the body is left unread, and the store holds no byte of it."""

import datetime as dt
import io
import itertools
from collections.abc import Callable
from dataclasses import replace

import pytest
import sqlalchemy as sa
from flask import Flask
from werkzeug.test import TestResponse

from leaderboard.access import CONSOLE
from leaderboard.audit.writes import present
from leaderboard.store import Caps
from leaderboard.submissions.models import Arrival, Submission
from leaderboard.teams import writes as teams
from tests.web.conftest import Reader, World, files_in

FORM = "/campaigns/harbour/2025/submit"
DAY = dt.timedelta(days=1)
MOST_READ = 2**18  # bytes: one piece, in memory, which holds the fields before the file
FILE = b"".join(b"q1 Q0 document-%06d 1 0.9 alpha\n" % number for number in range(120_000))  # 4 MB
NUMBERS = itertools.count()  # so that no two files are the same


class Counted(io.BytesIO):
    """A body that knows how much of it was read."""

    def __init__(self, body: bytes) -> None:
        super().__init__(body)
        self.given = 0

    def read(self, size: int | None = -1, /) -> bytes:
        piece = super().read(size)
        self.given += len(piece)
        return piece

    def readinto(self, buffer: bytearray, /) -> int:  # type: ignore[override]  # all that is passed here
        count = super().readinto(buffer)
        self.given += count
        return count


def post(reader: Reader, body_class: Callable[[bytes], Counted] = Counted, **fields: str) -> tuple[TestResponse, int]:
    """Sends the form with a file of 4 MB; the answer, and how many bytes of the body were read."""
    head = "--b\r\nContent-Disposition: form-data; name="
    parts = "".join(f'{head}"{name}"\r\n\r\n{value}\r\n' for name, value in fields.items())
    body = f'{parts}{head}"run"; filename="a.run"\r\n\r\n'.encode() + FILE + b"# %d\r\n--b--\r\n" % next(NUMBERS)
    stream = body_class(body)
    answer = reader.client.post(
        FORM, input_stream=stream, content_length=len(body), content_type="multipart/form-data; boundary=b"
    )
    return answer, stream.given


def send(reader: Reader, world: World, **fields: str) -> tuple[TestResponse, int]:
    given = {"csrf_token": reader.token(), "system": str(world.system.id), "designation": "contrastive", **fields}
    return post(reader, **given)


@pytest.fixture
def roomy(app: Flask) -> Flask:
    """The site with a cap above the file's size, so that only what is tried here refuses it."""
    app.extensions["store"].caps = Caps(upload_bytes=10**7, text_bytes=10**7)
    app.extensions["config"] = replace(app.extensions["config"], upload_bytes=10**7)
    return app


def refused_unread(
    app: Flask, world: World, reader: Reader, status: int, words: str, most_read: int, **fields: str
) -> None:
    answer, read = send(reader, world, **fields)
    assert (answer.status_code, words in answer.text) == (status, True), answer.text
    assert read <= most_read
    assert files_in(app) == []
    with world.database.read() as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Submission)) == 0


def test_before_opening_and_after_closing_no_byte_of_a_file_is_read(
    roomy: Flask, world: World, participant: Reader
) -> None:
    world.change(opens_at=present() + DAY)
    refused_unread(roomy, world, participant, 409, "takes runs from", 0)
    world.change(opens_at=present() - 2 * DAY, closes_at=present() - DAY)
    refused_unread(roomy, world, participant, 409, "it takes no late runs", 0)


def test_of_a_visitor_no_byte_of_a_file_is_read(roomy: Flask, world: World, visitor: Reader) -> None:
    answer, read = post(visitor, system=str(world.system.id))
    assert (answer.status_code, read, files_in(roomy)) == (302, 0, [])


def test_where_the_quota_is_spent_no_byte_of_a_file_is_read(roomy: Flask, world: World, participant: Reader) -> None:
    world.change(daily_quota=0)
    refused_unread(roomy, world, participant, 429, "used 0 of its 0 submissions for today", 0)


def test_a_file_for_somebody_else_s_team_is_refused_after_the_fields_before_it(
    roomy: Flask, world: World, other: Reader
) -> None:
    refused_unread(roomy, world, other, 403, "You may submit for no such team", MOST_READ)
    refused_unread(roomy, world, other, 403, "You may submit for no such team", MOST_READ, system="999")
    alpha = f"new-{world.teams['alpha'].id}"
    refused_unread(roomy, world, other, 403, "You may submit for no such team", MOST_READ, system=alpha)


def test_a_file_for_a_team_whose_quota_is_spent_is_refused_though_another_team_has_some(
    roomy: Flask, world: World, participant: Reader
) -> None:
    with world.database.write() as session:
        teams.add_member(session, CONSOLE, world.teams["beta"], world.users["ada"])
    world.change(daily_quota=1)
    with world.database.write() as session:
        session.execute(sa.text(
            "INSERT INTO participation (team_id, evaluation_id, day, used_today, rejected_today, used)"
            " VALUES (:team, :evaluation, :day, 1, 0, 1)"
        ), {"team": world.teams["alpha"].id, "evaluation": world.evaluation.id, "day": present().date()})  # fmt: skip
    refused_unread(roomy, world, participant, 429, "Your team has used 1 of its 1 submissions for today", MOST_READ)


class Interrupted(Counted):
    """A body in whose middle something else happens, once."""

    def __init__(self, body: bytes, meanwhile: Callable[[], None]) -> None:
        super().__init__(body)
        self._meanwhile: Callable[[], None] | None = meanwhile

    def read(self, size: int | None = -1, /) -> bytes:
        self._let_happen()
        return super().read(size)

    def readinto(self, buffer: bytearray, /) -> int:  # type: ignore[override]  # all that is passed here
        self._let_happen()
        return super().readinto(buffer)

    def _let_happen(self) -> None:
        if self.given > MOST_READ and self._meanwhile is not None:
            meanwhile, self._meanwhile = self._meanwhile, None
            meanwhile()


def test_no_more_files_are_read_at_the_same_moment_than_their_sender_has_room_for(
    roomy: Flask, world: World, reader: Callable[[str], Reader]
) -> None:
    world.change(daily_quota=2)
    seen: list[tuple[int, bool, int]] = []

    def in_the_middle(interrupt: Callable[[bytes], Counted] = Counted) -> TestResponse:
        return send_interrupted(reader("ada"), world, interrupt)

    def third() -> None:
        answer, read = send(reader("ada"), world)
        words = "reserved for files of your team in progress (2)"
        seen.append((answer.status_code, words in answer.text, read))
        assert answer.headers["Retry-After"] == "60"

    def second() -> None:
        assert in_the_middle(lambda body: Interrupted(body, third)).status_code == 302

    assert in_the_middle(lambda body: Interrupted(body, second)).status_code == 302
    assert seen == [(429, True, 0)]
    with world.database.read() as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Submission)) == 2
        assert session.scalar(sa.select(sa.func.count()).select_from(Arrival)) == 0


def test_a_file_that_breaks_off_gives_its_place_back(roomy: Flask, world: World, participant: Reader) -> None:
    def break_off() -> None:
        raise ConnectionResetError

    world.change(daily_quota=1)
    assert send_interrupted(participant, world, lambda body: Interrupted(body, break_off)).status_code == 400
    answer, _ = send(participant, world)
    assert answer.status_code == 302
    assert len(files_in(roomy)) == 1


def send_interrupted(reader: Reader, world: World, body_class: Callable[[bytes], Counted]) -> TestResponse:
    given = {"csrf_token": reader.token(), "system": str(world.system.id), "designation": "contrastive"}
    answer, _ = post(reader, body_class, **given)
    return answer
