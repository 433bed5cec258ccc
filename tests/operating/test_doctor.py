"""What may be wrong with an installation is found, said with what to do, and keeps no other check from being made."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from leaderboard.config import Config
from leaderboard.db import clock
from leaderboard.operating.doctor import NOT_CHECKED, OK, PROBLEM, WARNING, Finding, examine
from leaderboard.operating.models import WorkerSeen
from leaderboard.submissions.rules import State
from leaderboard.submissions.writes.run_store import bind
from leaderboard.worker.models import Scoring
from tests.support.mail import certificate_for, mail_server
from tests.support.world import World

KEY = "a secret that only the tests know"
CHECKS = ["settings", "certificate", "mail", "disk", "database", "clock", "store", "work"]


def examined(config: Config) -> dict[str, list[tuple[str, str]]]:
    """By check: the verdicts and their words."""
    found: dict[str, list[tuple[str, str]]] = {}
    for finding in examine(config):
        found.setdefault(finding.check, []).append((finding.verdict, finding.words))
    assert list(found) == CHECKS
    return found


@pytest.fixture
def config(world: World) -> Config:
    bind(world.database, world.store)
    return replace(world.config, secret_key=KEY)


def seen(world: World, *, silent_seconds: float) -> None:
    with world.database.write() as session:
        moments = {"seen_at": clock(-silent_seconds), "looked_at": None}
        session.execute(sa.insert(WorkerSeen).values(name="a", version="0.2", **moments))


def test_an_installation_in_order_has_nothing_but_what_is_done_every_night(world: World, config: Config) -> None:
    seen(world, silent_seconds=1)
    with mail_server() as box:
        smtp = f"smtp://{box.server.host}:{box.server.port}"
        config = replace(config, smtp_url=smtp, mail_from="a@example.org", public_url="http://127.0.0.1:8000")
        found = examined(config)
        assert not box.messages
    work = found.pop("work")
    assert {verdict for words in found.values() for verdict, _ in words} == {OK}, found
    assert [(verdict, words.partition(":")[0]) for verdict, words in work] == [
        (WARNING, "run `leaderboard verify` every night, last"),
        (WARNING, "run `leaderboard backup` every night, last"),
    ]
    assert "schema 0" in found["database"][0][1]


def test_without_its_database_the_other_checks_are_made_and_those_that_need_it_are_named(tmp_path: Path) -> None:
    found = examined(Config(database_url=f"sqlite:///{tmp_path}/gone.sqlite", secret_key=KEY))
    ((verdict, words),) = found["database"]
    assert (verdict, "its file is missing" in words, "LEADERBOARD_DATABASE_URL" in words) == (PROBLEM, True, True)
    assert [found[check][0][0] for check in ("clock", "store", "work")] == [NOT_CHECKED] * 3
    assert found["disk"][0][0] == OK


def test_a_server_that_does_not_answer_is_a_problem_and_its_password_is_not_printed() -> None:
    found = examined(Config(database_url="postgresql://ada:hush@127.0.0.1:1/board", secret_key=KEY))
    assert found["database"][0][0] == PROBLEM
    assert "hush" not in str(found)
    assert KEY not in str(found)


def test_a_database_without_tables_needs_an_upgrade(new_database_url: object) -> None:
    url = new_database_url()  # type: ignore[operator]  # a fixture of tests/conftest.py
    if url.startswith("sqlite"):
        Path(url.removeprefix("sqlite:///")).touch()
    found = examined(Config(database_url=url, secret_key=KEY))
    assert found["database"] == [(PROBLEM, "schema missing: run `leaderboard db upgrade`")]
    assert found["work"][0][0] == NOT_CHECKED


def test_another_store_is_a_problem_that_says_what_to_do(config: Config, tmp_path: Path) -> None:
    ((verdict, words),) = examined(replace(config, store_url=str(tmp_path / "unmounted")))["store"]
    assert verdict == PROBLEM
    assert "unmounted is no run store" in words
    assert "LEADERBOARD_STORE_URL" in words


def test_runs_that_wait_for_nobody_are_a_problem(world: World, config: Config) -> None:
    seen(world, silent_seconds=1000)
    waiting, failed = world.submit(), world.submit("q1 Q0 d1 1 0.5 another\n")
    with world.database.write() as session:
        session.execute(sa.update(Scoring).where(Scoring.submission_id == failed).values(state=State.FAILED))
        session.execute(sa.update(Scoring).where(Scoring.submission_id == waiting).values(queued_at=clock(-3600)))
    work = examined(config)["work"]
    assert (PROBLEM, "0 workers seen within two minutes, 1 run waiting: start `leaderboard worker`") in work
    assert (WARNING, "a run has waited for 60 minutes: read the logs of the workers") in work
    assert (WARNING, "1 run not scored: `leaderboard submission list` says why") in work


@pytest.mark.parametrize(
    ("settings", "verdict", "words"),
    [
        ({"secret_key": ""}, PROBLEM, "no secret key"),
        ({"hosts": "other"}, PROBLEM, "the site does not answer to localhost: add this name to LEADERBOARD_HOSTS"),
        ({"hosts": "b.invalid", "public_url": "http://b.invalid"}, PROBLEM, "http://b.invalid has no TLS for log-ins"),
        ({"hosts": "b.invalid", "public_url": "https://b.invalid"}, WARNING, "set LEADERBOARD_TRUSTED_PROXIES"),
        ({"oidc_file": "gone.toml"}, PROBLEM, "LEADERBOARD_OIDC_FILE: gone.toml can't be read"),
    ],
)
def test_settings_that_do_not_go_together_are_named(
    settings: dict[str, str], verdict: str, words: str, tmp_path: Path
) -> None:
    config = replace(Config(f"sqlite:///{tmp_path}/gone", secret_key=KEY), **settings)  # type: ignore[arg-type]  # texts
    assert [(own, words in said) for own, said in examined(config)["settings"] if words in said] == [(verdict, True)]


def test_a_name_that_is_no_setting_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LEADERBOARD_COLOUR", "blue")
    found = examined(Config(f"sqlite:///{tmp_path}/gone", secret_key=KEY))
    assert (WARNING, "LEADERBOARD_COLOUR is no setting: `leaderboard --help` lists them") in found["settings"]


def test_a_mail_server_that_refuses_us_is_a_problem(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    smtp = {"smtp_url": f"smtp://ada:hush@127.0.0.1:{port}", "mail_from": "a@example.org"}
    found = examined(Config(f"sqlite:///{tmp_path}/gone", secret_key=KEY, public_url="http://127.0.0.1", **smtp))
    assert found["mail"][0][0] == PROBLEM
    assert "LEADERBOARD_SMTP_URL" in found["mail"][0][1]
    assert "hush" not in str(found)


def test_a_disk_with_less_room_than_one_upload_takes_is_a_problem(tmp_path: Path) -> None:
    found = examined(Config(f"sqlite:///{tmp_path}/gone", secret_key=KEY, upload_bytes=2**60))
    assert {verdict for verdict, _ in found["disk"]} == {PROBLEM}
    assert any(f"free in {tmp_path}: make room" in words for _, words in found["disk"])


def test_the_folder_of_uploads_is_looked_at_as_it_is_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "uploads"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))  # which Python passes over where it can't write there
    config = Config(f"sqlite:///{tmp_path}/gone", secret_key=KEY)
    assert f"free in {folder}" in str(examined(config)["disk"])
    folder.rmdir()
    ((verdict, words),) = examined(config)["disk"]
    assert (verdict, str(folder) in words) == (PROBLEM, True)


@contextmanager
def tls_site(certificate: Path) -> Iterator[str]:
    """The address of a server that shakes hands and hangs up."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            try:
                context.wrap_socket(connection, server_side=True).close()
            except OSError:
                connection.close()

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"https://127.0.0.1:{listener.getsockname()[1]}"
        thread.join()


@pytest.mark.parametrize("trusted", [True, False])
def test_the_certificate_of_the_public_url_is_looked_at(
    trusted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = certificate_for(tmp_path)
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with tls_site(certificate) as address:
        found = examined(Config(f"sqlite:///{tmp_path}/gone", secret_key=KEY, public_url=address))
    ((verdict, words),) = found["certificate"]
    if trusted:
        assert verdict in (OK, WARNING)
        assert words.startswith("good for")
    else:
        assert verdict == PROBLEM
        assert "certificate verify failed" in words
        assert "SSL_CERT_FILE names your own CA's" in words


def test_a_proxy_that_is_down_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    found = examined(Config(f"sqlite:///{tmp_path}/gone", secret_key=KEY, public_url=f"https://127.0.0.1:{port}"))
    ((verdict, words),) = found["certificate"]
    assert (verdict, "Connection refused" in words, "the proxy" in words) == (PROBLEM, True, True)


def test_a_finding_is_a_check_a_verdict_and_words() -> None:
    assert Finding("disk", OK, "much")._asdict() == {"check": "disk", "verdict": "ok", "words": "much"}
