"""Logging in and out, and registering."""

import re
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from flask import Flask

from leaderboard.accounts.models import BrowserSession, User
from leaderboard.web.sessions import local
from tests.support.statements import counted
from tests.web.conftest import BOTH, PASSWORD, Reader, World, errors


def test_a_wrong_password_brings_the_form_back_and_too_many_say_when_to_try_again(
    world: World, visitor: Reader
) -> None:
    for _ in range(10):
        answer = visitor.post("/login", name="ada", password="wrong")
        assert (answer.status_code, "belong together" in answer.text) == (400, True)
        assert re.findall(r'value="(ada|wrong)"', answer.text) == ["ada"]
    answer = visitor.post("/login", name="ada", password=PASSWORD)
    assert answer.status_code == 429
    assert "try again in 15 min" in answer.text
    assert answer.headers["Retry-After"] == "900"


def test_logging_in_leads_back_to_where_one_was(world: World, visitor: Reader) -> None:
    first = visitor.client.get("/account/password")
    assert first.location == "/login?next=/account/password"
    answer = visitor.post("/login", name="ada", password=PASSWORD, next="/account/password")
    assert answer.location == "/account/password"


@pytest.mark.parametrize(
    "address", ["https://example.org/", "//example.org/", "/\\example.org", "/\t/example.org", "", None, "account"]
)
def test_a_log_in_never_leads_to_another_site(app: Flask, address: str | None) -> None:
    with app.test_request_context():
        assert local(address) == "/account/"


def test_logging_out_ends_the_session_wherever_its_cookie_was_copied(app: Flask, participant: Reader) -> None:
    thief = app.test_client()
    cookie = participant.client.get_cookie("leaderboard")
    assert cookie is not None
    thief.set_cookie("leaderboard", cookie.value)
    assert thief.get("/account/").status_code == 200
    participant.post("/logout")
    assert thief.get("/account/").location == "/login?next=/account/"


def test_a_visit_is_noted_once_an_hour_and_read_in_one_statement(world: World, participant: Reader) -> None:
    def visit() -> list[str]:
        with counted(participant.client.application) as statements:
            participant.get("/account/password")
        return [one.split()[0] for one in statements if " session" in one]

    assert visit() == ["SELECT"]
    with world.database.write() as session:
        session.execute(sa.update(BrowserSession).values(last_seen_at=datetime.now(UTC) - timedelta(hours=1)))
    assert visit() == ["SELECT", "UPDATE"]
    assert visit() == ["SELECT"]


@BOTH
def test_somebody_elses_guesses_from_the_same_address_do_not_keep_a_browser_out_that_logged_in_before(
    app: Flask, world: World, visitor: Reader
) -> None:
    visitor.post("/login", name="ada", password=PASSWORD)
    visitor.post("/logout")
    thief = Reader(app.test_client())
    for _ in range(10):
        assert thief.post("/login", name="ada", password="a wrong guess").status_code == 400
    assert thief.post("/login", name="ada", password=PASSWORD).status_code == 429
    assert visitor.post("/login", name="ada", password=PASSWORD).status_code == 302


def test_a_made_up_proof_of_a_known_browser_counts_for_nothing(app: Flask, world: World, visitor: Reader) -> None:
    for number in range(10):
        visitor.client.set_cookie("leaderboard-browser", f"made-up-{number}")
        visitor.post("/login", name="ada", password="a wrong guess")
    assert visitor.post("/login", name="ada", password=PASSWORD).status_code == 429


@BOTH
def test_registering_brings_every_error_back_beside_its_field(world: World, visitor: Reader) -> None:
    for password in ("short", ""):
        answer = visitor.post("/register", name="ADA", email="no address", password=password)
        assert answer.status_code == 400
        assert errors(answer.text) == {"name", "email", "password"}
        assert "this name is taken" in answer.text.lower()
    for part in ('id="email-error"', 'id="password-error"', 'value="ADA"', 'value="no address"'):
        assert part in answer.text


@BOTH
def test_a_list_of_names_is_not_tried_to_its_end(world: World, visitor: Reader) -> None:
    """A name that is taken has to be called so; each one that is not costs an account."""
    for _ in range(10):
        answer = visitor.post("/register", name="ada", password=PASSWORD)
        assert (answer.status_code, "taken" in answer.text) == (400, True)
    for name in ("ada", "Grace"):  # no longer told which of them is taken
        answer = visitor.post("/register", name=name, password=PASSWORD)
        assert answer.status_code == 429
        assert "names that were tried from your network are taken" in answer.text
    assert "Grace" not in world.all(sa.select(User.name))


def test_a_session_planted_before_the_log_in_is_worth_nothing_after(world: World, visitor: Reader) -> None:
    with visitor.client.session_transaction() as session:
        session["planted"] = "yes"
    visitor.post("/login", name="ada", password=PASSWORD)
    with visitor.client.session_transaction() as session:
        assert "planted" not in session
