"""Logging in with an account elsewhere, by a real provider of OpenID Connect on this machine."""

import dataclasses
import datetime as dt
import re
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlsplit

import pytest
import sqlalchemy as sa
from flask import Flask
from joserfc.jwk import RSAKey
from werkzeug.test import TestResponse

from leaderboard.accounts import pages as providers
from leaderboard.accounts.models import BrowserSession, Identity, User
from leaderboard.config import Config
from leaderboard.errors import BadInput
from leaderboard.web.app import create_app
from tests.support.provider import Provider, provider
from tests.web.conftest import PASSWORD, Reader, World

SITE = "http://localhost:8000"
BACK = "/login/with/lab/back"


@pytest.fixture(scope="module")
def running() -> Iterator[Provider]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTHLIB_INSECURE_TRANSPORT", "1")  # the provider's own check; the site has another
        with provider(f"{SITE}{BACK}") as own:
            yield own


@pytest.fixture
def lab(running: Provider, app: Flask, tmp_path: Path) -> Provider:
    """The provider as it was started, listed by the site."""
    fresh = Provider(running.issuer, running.redirect_uri, key=running.key)
    for one in dataclasses.fields(fresh):
        setattr(running, one.name, getattr(fresh, one.name))
    config: Config = app.extensions["config"]
    app.extensions["config"] = dataclasses.replace(config, oidc_file=running.listed_in(tmp_path), public_url=SITE)
    providers.init_app(app)
    return running


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def there(address: str) -> str:
    """Where the provider sends the browser to: the path of the site with its arguments."""
    with pytest.raises(HTTPError) as caught:
        urllib.request.build_opener(_Stay).open(address)
    with caught.value as answer:
        assert answer.code == 302, answer.read()
        location = answer.headers["Location"]
    assert location.startswith(f"{SITE}{BACK}?")
    return str(location.removeprefix(SITE))


def begun(reader: Reader, address: str = "/login/with/lab") -> str:
    answer = reader.client.get(address)
    assert answer.status_code == 302, answer.text
    assert answer.location is not None
    return answer.location


def come_back(reader: Reader, address: str = "/login/with/lab") -> TestResponse:
    """The whole way there and back."""
    return reader.client.get(there(begun(reader, address)))


def registered(reader: Reader, name: str = "Grace") -> None:
    assert come_back(reader).location == "/register/with"
    assert reader.post("/register/with", name=name).location == "/account/"


def test_a_provider_that_gives_no_address_makes_an_account_that_works_without_mail_and_password(
    world: World, lab: Provider, reader: Callable[[str], Reader]
) -> None:
    first = reader("")
    assert "Log in with The lab" in first.get("/login")
    assert come_back(first, "/login/with/lab?next=/account/teams/new").location == "/register/with"
    assert 'value="Grace"' in first.get("/register/with")  # the name that the provider gives
    taken = first.post("/register/with", name="ADA")
    assert (taken.status_code, 'id="name-error"' in taken.text) == (400, True)
    assert first.post("/register/with", name="Grace").location == "/account/teams/new"
    assert first.post("/account/teams/new", name="Gamma").location == "/teams/gamma"
    again = reader("")
    assert come_back(again).location == "/account/"
    assert "0000-0002-1825-0097" in again.get("/account/")
    with world.database.read() as session:
        grace = session.scalars(sa.select(User).where(User.name == "Grace")).one()
        assert (grace.email, grace.unconfirmed_email, grace.password_hash) == (None, None, None)
        assert grace.last_login_at is not None
    for guess in ("", "x", PASSWORD):
        assert reader("").post("/login", name="Grace", password=guess or " ").status_code == 400


def test_the_way_there_carries_pkce_state_and_nonce_and_the_way_back_the_sites_own_address(
    lab: Provider, visitor: Reader
) -> None:
    asked = parse_qs(urlsplit(begun(visitor)).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert {"state", "nonce", "code_challenge"} <= asked.keys()
    assert (asked["redirect_uri"], asked["response_type"], asked["scope"]) == ([SITE + BACK], ["code"], ["openid"])


def test_whoever_did_not_begin_can_not_come_back(lab: Provider, reader: Callable[[str], Reader]) -> None:
    begins, other = reader(""), reader("")
    address = there(begun(begins))
    assert other.client.get(address).status_code == 409  # another browser's state
    assert begins.client.get(address.replace("state=", "state=x")).status_code == 409
    assert begins.client.get(f"{BACK}?error=access_denied").status_code == 409
    assert begins.client.get(BACK).status_code == 409


def test_a_code_is_good_once_and_for_its_own_browser_only(lab: Provider, reader: Callable[[str], Reader]) -> None:
    victim, thief = reader(""), reader("")
    stolen = parse_qs(urlsplit(there(begun(victim))).query)["code"][0]
    own = there(begun(thief))
    own_code = parse_qs(urlsplit(own).query)["code"][0]
    assert thief.client.get(own.replace(own_code, stolen)).status_code == 409  # its verifier is another one
    thief.get("/register/with", status=409)


@pytest.mark.parametrize(
    "claims", [{"iss": "http://127.0.0.1:1"}, {"aud": ["another site"]}, {"nonce": "another"}, {"exp": 1}, {"sub": ""}]
)
def test_a_token_that_says_something_else_proves_nothing(
    lab: Provider, visitor: Reader, claims: dict[str, object]
) -> None:
    lab.claims = claims
    lab.subject = str(claims.get("sub", lab.subject))
    lab.claims.pop("sub", None)
    assert come_back(visitor).status_code == 409
    visitor.get("/register/with", status=409)


def test_a_token_signed_by_another_key_proves_nothing(lab: Provider, visitor: Reader) -> None:
    lab.signs_with = RSAKey.generate_key(2048, {"kid": "1", "alg": "RS256"})
    assert come_back(visitor).status_code == 409


@pytest.mark.parametrize(
    "names", [{"issuer": "https://elsewhere.example.org"}, {"token_endpoint": "HERE"}, {"jwks_uri": "HERE"}]
)
def test_nothing_is_fetched_but_from_the_configured_issuer(
    lab: Provider, visitor: Reader, names: dict[str, str]
) -> None:
    port = urlsplit(lab.issuer).port
    lab.metadata = {name: value.replace("HERE", f"http://127.0.0.2:{port}/trap") for name, value in names.items()}
    answer = visitor.client.get("/login/with/lab")
    if answer.status_code == 302:
        assert answer.location is not None
        answer = visitor.client.get(there(answer.location))
    assert answer.status_code == 409
    assert "/trap" not in lab.asked


def test_an_address_that_a_provider_names_finds_no_account(world: World, lab: Provider, visitor: Reader) -> None:
    with world.database.write() as session:
        session.execute(
            sa.update(User).where(User.name == "ada").values(email="ada@example.org", email_key="ada@example.org")
        )
    lab.claims = {"email": "ada@example.org", "email_verified": True}
    assert come_back(visitor).location == "/register/with"
    assert visitor.client.get("/account/").status_code == 302


def test_an_identity_is_linked_by_who_is_logged_in_and_gives_the_password_again(
    world: World, lab: Provider, participant: Reader, reader: Callable[[str], Reader]
) -> None:
    assert come_back(participant).location == "/account/identities/link"
    wrong = participant.post("/account/identities/link", current="not the password")
    assert wrong.status_code == 400
    with world.database.read() as session:
        assert session.scalars(sa.select(Identity)).all() == []
    assert participant.post("/account/identities/link", current=PASSWORD).location == "/account/"
    elsewhere = reader("")
    assert come_back(elsewhere).location == "/account/"
    assert "<h1>ada</h1>" in elsewhere.get("/account/")
    other = reader("eve")
    assert come_back(other).location == "/account/identities/link"
    assert other.post("/account/identities/link", current=PASSWORD).status_code == 409


def test_an_identity_is_taken_away_by_its_own_account_unless_nothing_else_opens_it(
    world: World, lab: Provider, visitor: Reader, other: Reader
) -> None:
    registered(visitor)
    found = re.search(r"/account/identities/\d+/remove", visitor.get("/account/"))
    assert found is not None
    assert other.post(found[0], current=PASSWORD).status_code == 404
    assert visitor.post(found[0]).status_code == 409
    assert visitor.post("/account/password", password="a first long password").location == "/account/"
    assert visitor.post(found[0], current="a first long password").location == "/account/"
    assert come_back(Reader(visitor.client.application.test_client())).location == "/register/with"


def test_an_account_without_a_password_proves_itself_by_a_fresh_log_in(
    world: World, lab: Provider, visitor: Reader
) -> None:
    registered(visitor)
    with world.database.write() as session:
        session.execute(sa.update(BrowserSession).values(created_at=dt.datetime(2025, 1, 2, tzinfo=dt.UTC)))
    late = visitor.post("/account/password", password="a first long password")
    assert late.status_code == 400
    assert "log out and in again" in late.text.lower()
    token = {"name": "my laptop", "days": "30"}
    assert visitor.post("/account/tokens/new", **token).status_code == 400
    assert visitor.post("/account/sessions/end").location == "/account/"  # which is no log-in
    assert visitor.post("/account/tokens/new", **token).status_code == 400
    visitor.post("/logout")
    come_back(visitor)
    assert visitor.post("/account/tokens/new", **token).status_code == 200
    assert visitor.post("/account/password", password="a first long password").location == "/account/"


GOOD = "[lab]\nissuer = 'https://a.example.org'\nclient_id = 'a'\nclient_secret = 'b'\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (GOOD.replace("client_secret", "# "), "client_secret: is missing"),
        (GOOD.replace("https", "http"), "expected an address with https"),
        (GOOD + "secret = 'c'\n", "secret: is not known here"),
        (GOOD.replace("lab", "'The lab'"), "The lab: section: use lower-case letters"),
        ("[lab\n", "LEADERBOARD_OIDC_FILE"),
    ],
)
def test_a_list_that_can_not_be_read_is_refused_at_the_start(app: Flask, tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "providers.toml"
    path.write_text(text)
    config: Config = app.extensions["config"]
    with pytest.raises(BadInput, match=re.escape(says)):
        create_app(dataclasses.replace(config, oidc_file=str(path)))
