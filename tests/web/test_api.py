"""The API: a token and nothing else tells who asks; what may be asked follows from the signatures of the endpoints."""

import datetime as dt
from collections.abc import Callable

import brotli
import pytest
import sqlalchemy as sa
from flask import Flask

from leaderboard.access import CONSOLE
from leaderboard.accounts import writes as credentials, writes as people
from leaderboard.accounts.models import ApiToken, Attempt, User
from leaderboard.accounts.reads import open_token, tokens_of
from leaderboard.accounts.rules import Scope
from leaderboard.audit.models import Event
from leaderboard.audit.writes import present
from leaderboard.evaluations.writes import change_evaluation
from leaderboard.generations.models import Generation
from leaderboard.teams.models import Team
from tests.web.conftest import API, PASSWORD, Program, Reader, World

BOARD = f"{API}/campaigns/harbour/evaluations/2025/board"


@pytest.mark.parametrize(("accepted", "coding"), [("gzip, br", "br"), ("gzip;q=0", None)])
def test_an_answer_is_packed_and_told_only_once(app: Flask, world: World, accepted: str, coding: str | None) -> None:
    client = app.test_client()
    plain = client.get(BOARD)
    packed = client.get(BOARD, headers={"Accept-Encoding": accepted})
    unpacked = {"br": brotli.decompress, None: bytes}[coding]
    assert packed.headers.get("Content-Encoding") == coding
    assert unpacked(packed.data) == plain.data
    assert int(packed.headers["Content-Length"]) == len(packed.data)
    assert {"Accept-Encoding", "Authorization"} <= set(packed.vary)
    assert packed.headers["Cache-Control"] == "private, no-cache"
    known = {"If-None-Match": packed.headers["ETag"], "Accept-Encoding": accepted}
    unchanged = client.get(BOARD, headers=known)
    assert (unchanged.status_code, unchanged.data, "Content-Type" in unchanged.headers) == (304, b"", False)
    assert client.get(BOARD, headers={"If-Match": '"another"'}).data == plain.data  # of no use to a GET
    assert client.head(BOARD, headers=known).status_code == 304
    assert client.head(BOARD).headers["ETag"] == plain.headers["ETag"]
    with world.database.write() as session:
        change_evaluation(session, CONSOLE, session.merge(world.evaluation), title="Haven 2025")
    changed = client.get(BOARD, headers=known)
    assert changed.status_code == 200
    assert b"Haven 2025" in unpacked(changed.data)


def test_what_one_reader_has_is_not_unchanged_for_another(program: Callable[..., Program]) -> None:
    own = f"{API}/account"
    first, second = (program(name).send(own) for name in ("ada", "eve"))
    assert first.headers["ETag"] != second.headers["ETag"]
    refused = program().send(own, headers={"If-None-Match": first.headers["ETag"]})
    assert (refused.status_code, "ETag" in refused.headers) == (401, False)


def test_a_cookie_says_nothing_to_the_api(participant: Reader) -> None:
    assert participant.client.get("/account/").status_code == 200
    answer = participant.client.get(f"{API}/account")
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert answer.json is not None
    assert answer.json["title"] == "A token is needed"


def test_without_the_scope_organise_an_organiser_is_a_participant(
    program: Callable[..., Program], world: World
) -> None:
    world.change(opens_at=present() + dt.timedelta(days=1))
    queries = f"{API}/campaigns/harbour/evaluations/2025/queries"
    assert not program("orla", Scope.READ).ask(queries)["texts_open"]
    assert program("orla", Scope.ORGANISE).ask(queries)["texts_open"]
    assert not program("ada", Scope.ORGANISE).ask(queries)["texts_open"]


def test_a_token_opens_nothing_once_it_is_revoked_over_or_its_account_closed(
    program: Callable[..., Program], world: World
) -> None:
    ada, ben, eve, orla = program("ada"), program("ben"), program("eve", days=1), program("orla")
    for one in (ada, ben, eve, orla):
        one.ask(f"{API}/account")
    with world.database.write() as session:
        users = {name: session.get_one(User, user.id) for name, user in world.users.items()}
        tokens = {
            name: session.scalars(sa.select(ApiToken).where(ApiToken.user_id == user.id)).one()
            for name, user in users.items()
        }
        credentials.revoke_token(session, CONSOLE, users["ada"], tokens["ada"].id)
        people.close_account(session, CONSOLE, users["ben"])
        tokens["eve"].expires_at = present()
        people.set_password(session, CONSOLE, users["orla"], users["orla"].password_hash)
    for one in (ada, ben, eve, orla):
        said = one.ask(BOARD, status=401)  # public, but whoever shows a dead token is told so
        assert "opens nothing" in said["detail"]


def test_wrong_tokens_are_counted_and_a_right_one_beside_them_works_on(
    app: Flask, program: Callable[..., Program], world: World
) -> None:
    good = program("ada")
    with world.database.write() as session:
        session.add_all(Attempt(subject="tokens from address 127.0.0.1", at=present()) for _ in range(49))
    assert Program(app, "lb_wrong").send(BOARD).status_code == 401
    refused = Program(app, "lb_wrong").send(BOARD)
    assert refused.status_code == 429
    assert int(refused.headers["Retry-After"]) > 0
    good.ask(f"{API}/account")


def test_an_argument_that_there_is_not_is_named(program: Callable[..., Program]) -> None:
    said = program().ask(f"{BOARD}?mesure=AP", status=400)
    assert said["fields"] == {"mesure": ["is not known here; known are: answer, measure, show, sort, tag"]}
    assert said["instance"] == BOARD
    assert program().ask(f"{BOARD}?sort=AP&sort=P@5", status=400)["fields"] == {"sort": ["is given twice"]}


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ('{"name": "Gamma", "n\\u0061me": "Gamma", "description": ""}', {"name": ["is given twice"]}),
        ('{"name": {"a": 1, "b": 2, "a": 3}}', {"a": ["is given twice"]}),
    ],
)
def test_a_name_that_stands_twice_in_a_body_is_refused_by_name(
    program: Callable[..., Program], world: World, body: str, fields: dict[str, list[str]]
) -> None:
    answer = program("ada", Scope.MANAGE).send(f"{API}/teams", "POST", data=body, content_type="application/json")
    assert (answer.status_code, answer.json and answer.json["fields"]) == (400, fields)
    with world.database.read() as session:
        assert set(session.scalars(sa.select(Team.name))) == {"Alpha", "Beta"}


def test_a_method_that_there_is_not_is_a_problem_in_json(program: Callable[..., Program]) -> None:
    answer = program("ada").send(f"{API}/teams", "DELETE")
    assert (answer.status_code, answer.json and answer.json["status"]) == (405, 405)
    assert {"GET", "POST"} <= set(answer.allow)


def test_a_token_is_shown_once_and_only_its_hash_is_kept(participant: Reader, app: Flask, world: World) -> None:
    asked = {"name": "the lab's machine", "scopes": "submit", "days": "30"}
    page = participant.post("/account/tokens/new", **asked, current="hers?")
    assert (page.status_code, 'id="current-error"' in page.text) == (400, True)
    assert "This is not your current password" in page.text
    assert "the lab&#39;s machine" in page.text  # the form comes back filled
    page = participant.post("/account/tokens/new", **asked, current=PASSWORD)
    assert page.status_code == 200
    assert page.headers["Cache-Control"] == "no-store"
    token = page.text.partition('<code class="whole">')[2].partition("<")[0]
    assert Program(app, token).ask(f"{API}/account")["name"] == "ada"
    account = participant.get("/account/")
    assert "the lab&#39;s machine" in account
    assert token not in account
    assert "read, submit" in account
    with world.database.read() as session:
        kept = session.scalars(sa.select(ApiToken)).one()
        assert token not in (kept.token_hash, kept.name)
        assert kept.last_used_at is not None
        assert kept.expires_at is not None
        assert dt.timedelta(days=29) < kept.expires_at - present() < dt.timedelta(days=31)
        assert [open_token(session, token, present())] == tokens_of(session, kept.user_id, present()) == [kept]
        events = session.scalars(sa.select(Event).where(Event.action == "make token")).all()
        assert [event.facts["scopes"] for event in events] == [["read", "submit"]]
        assert token not in str([event.facts for event in events])


def test_the_last_use_of_a_token_is_true_within_a_minute_and_not_every_request_writes(
    app: Flask, program: Callable[..., Program], participant: Reader, world: World
) -> None:
    ada, moment = program("ada"), present()
    app.extensions["clock"] = lambda: moment

    def noted() -> tuple[dt.datetime | None, int]:
        with world.database.read() as session:
            used = session.scalars(sa.select(ApiToken.last_used_at)).one()
            return used, session.scalar(sa.select(sa.func.sum(Generation.number))) or 0

    ada.ask(f"{API}/account")
    first, pages = noted()
    assert first == moment
    moment += dt.timedelta(seconds=59)
    ada.ask(f"{API}/account")
    assert noted() == (first, pages)  # one request of a minute writes
    moment += dt.timedelta(seconds=1)
    ada.ask(f"{API}/account")
    assert noted() == (moment, pages)  # and no page that is kept is out of date by it
    moment += dt.timedelta(seconds=30)
    account = participant.get("/account/")
    assert "30 s ago" in account
    assert "We record when each token was last used." in account
