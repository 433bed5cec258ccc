"""Which names the site answers to, and which headers of proxies it believes: those that a setting covers, no other."""

import re
from collections.abc import Callable, Iterator

import pytest
from flask import Flask, request
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from leaderboard.config import Config
from leaderboard.errors import BadInput
from leaderboard.web.app import create_app
from leaderboard.web.context import client_address

Make = Callable[..., FlaskClient]

SPOOFED = {
    "X-Forwarded-For": "203.0.113.9",
    "X-Forwarded-Host": "evil.example",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Prefix": "/evil",
    "X-Forwarded-Port": "666",
    "X-Forwarded-Server": "evil.example",
    "X-Forwarded-Ssl": "on",
    "X-Forwarded-Protocol": "ssl",
    "Forwarded": "for=203.0.113.9;host=evil.example;proto=https",
    "X-Real-IP": "203.0.113.9",
    "X-Client-IP": "203.0.113.9",
    "True-Client-IP": "203.0.113.9",
    "CF-Connecting-IP": "203.0.113.9",
    "X-HTTP-Method-Override": "POST",
    "X-HTTP-Method": "POST",
    "X-Original-URL": "/evil",
    "X-Rewrite-URL": "/evil",
    "Script-Name": "/evil",
    "X-Host": "evil.example",
}


def what_it_takes_the_request_for() -> dict[str, str]:
    return {
        "address": client_address(), "host": request.host, "scheme": request.scheme, "method": request.method,
        "root": request.root_path, "url": request.url,
    }  # fmt: skip


@pytest.fixture
def site(tmp_path: object) -> Iterator[Make]:
    made: list[Flask] = []

    def make(**settings: object) -> FlaskClient:
        config = Config(f"sqlite:///{tmp_path}/x.sqlite", store_url=f"{tmp_path}/store", secret_key="s", **settings)  # type: ignore[arg-type]  # settings of several types
        app = create_app(config)
        app.add_url_rule("/taken-for", view_func=what_it_takes_the_request_for)
        made.append(app)
        return app.test_client()

    yield make
    for app in made:
        app.extensions["database"].close()


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "localhost.evil.example", "evil.example:8000", "localhost@evil.example",
        "evil.example@localhost",
        "localhost/evil.example", "localhost:8000:9", "localhost:evil", "[::1", "", "a b", "127.0.0.1.evil.example",
        "locαlhost",
    ],
)  # fmt: skip
def test_another_host_than_the_sites_own_is_refused(site: Make, host: str) -> None:
    client = site()
    for path in ("/login", "/static/leaderboard.css", "/no/such/page"):
        answer = client.get(path, environ_overrides={"HTTP_HOST": host})
        answer.close()
        assert answer.status_code == 400
        assert answer.location is None
        assert "evil" not in answer.text


def test_it_answers_to_the_names_that_are_set_and_to_no_other(site: Make) -> None:
    client = site(hosts=" Board.example.org, board")
    for host, status in (("board.example.org", 200), ("BOARD", 200), ("localhost", 400), ("x.board.example.org", 400)):
        assert client.get("/login", headers={"Host": host}).status_code == status


@pytest.mark.parametrize("hosts", ["", " , ", "https://board.example", "*"])
def test_a_setting_that_names_no_host_stops_the_site_from_starting(site: Make, hosts: str) -> None:
    with pytest.raises(BadInput, match="LEADERBOARD_HOSTS"):
        site(hosts=hosts)


@pytest.mark.parametrize("name", SPOOFED)
def test_no_header_of_a_proxy_is_believed_where_no_proxy_stands_in_front(site: Make, name: str) -> None:
    client = site()
    as_it_is = client.get("/taken-for").json
    assert as_it_is is not None
    assert client.get("/taken-for", headers={name: SPOOFED[name]}).json == as_it_is
    assert client.get("/taken-for", headers=SPOOFED).json == as_it_is


def test_one_proxy_is_believed_about_address_scheme_and_host_and_nothing_else(site: Make) -> None:
    client = site(trusted_proxies=1, hosts="board.example.org")
    told = {
        **SPOOFED,
        "X-Forwarded-For": "203.0.113.9, 198.51.100.7",  # the client wrote the first, the proxy the second
        "X-Forwarded-Host": "board.example.org",
        "X-Forwarded-Proto": "https",
    }
    assert client.get("/taken-for", headers=told).json == {
        "address": "198.51.100.7", "host": "board.example.org", "scheme": "https", "method": "GET", "root": "",
        "url": "https://board.example.org/taken-for",
    }  # fmt: skip


def test_a_host_that_a_proxy_reports_must_be_the_sites_own_too(site: Make) -> None:
    client = site(trusted_proxies=1, hosts="board.example.org")
    assert client.get("/login", headers={"X-Forwarded-Host": "evil.example"}).status_code == 400


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"public_url": "leaderboard.example.org"}, "LEADERBOARD_PUBLIC_URL"),
        ({"public_url": "https://leaderboard.example.org", "smtp_url": "mail.example.org"}, "LEADERBOARD_SMTP_URL"),
        ({"public_url": "https://leaderboard.example.org"}, "leaderboard.example.org is missing"),
    ],
)
def test_a_site_whose_mails_would_lead_nowhere_does_not_start(site: Make, settings: dict[str, str], says: str) -> None:
    given = {"hosts": "other.example.org", "smtp_url": "smtps://mail.example.org", "mail_from": "board@example.org"}
    with pytest.raises(BadInput, match=says):
        site(**{**given, **settings})


def log_in(client: FlaskClient, address: str) -> TestResponse:
    """As a browser does, which keeps no secure cookie of an address without TLS."""
    client = client.application.test_client(use_cookies=False)
    form = client.get("/login", base_url=address).text
    token = re.search('name="csrf_token"[^>]* value="([^"]+)"', form)
    assert token
    return client.post("/login", base_url=address, data={"csrf_token": token[1], "name": "ada", "password": "x"})


@pytest.mark.parametrize(
    ("public", "there"),
    [("https://board.example.org", "https://board.example.org/login"), ("http://board", "begins with https://")],
)
def test_whoever_can_not_log_in_over_plain_http_is_told_why_and_so_is_the_log(
    site: Make, caplog: pytest.LogCaptureFixture, public: str, there: str
) -> None:
    answer = log_in(site(hosts="board.example.org", public_url=public), "http://board.example.org:8000")
    assert answer.status_code == 400
    assert "it works with HTTPS only" in answer.text
    assert there in answer.text
    assert "Your session has ended" not in answer.text
    assert "http://board.example.org:8000/" in caplog.text
    assert "LEADERBOARD_SECURE_COOKIES=no" in caplog.text


@pytest.mark.parametrize("address", ["https://board.example.org", "http://board.example.org"])
def test_a_form_that_is_stale_for_another_reason_says_nothing_of_https(site: Make, address: str) -> None:
    client = site(hosts="board.example.org", secure_cookies=address.startswith("https"))
    answer = client.post("/login", base_url=address, data={"name": "ada", "password": "x"})
    assert answer.status_code == 400
    assert "Your session has ended" in answer.text
