"""A small world for the tests of the site, and readers that look at it: visitor, participant, other team, organiser."""

import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from argon2 import PasswordHasher
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy.orm import Session
from werkzeug.datastructures import FileStorage
from werkzeug.test import TestResponse, encode_multipart

from leaderboard import names
from leaderboard.access import CONSOLE
from leaderboard.accounts import writes as credentials
from leaderboard.accounts.models import User
from leaderboard.accounts.rules import Scope
from leaderboard.audit.writes import present
from leaderboard.campaigns import writes as campaigns
from leaderboard.campaigns.models import Campaign
from leaderboard.config import Config
from leaderboard.db import Database
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import Opening
from leaderboard.formats import read_judgments, read_queries
from leaderboard.judgments import writes as judgments, writes as queries
from leaderboard.judgments.rules import JudgmentFiles
from leaderboard.store import IDENTITY
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import State
from leaderboard.teams import writes as systems, writes as teams
from leaderboard.teams.models import System, Team
from leaderboard.teams.rules import Role
from leaderboard.web.app import create_app
from leaderboard.worker.models import Scoring
from tests.support.databases import Filling, OwnDatabase
from tests.support.pages import hidden
from tests.support.world import signed_in

PASSWORD = "correct horse battery"
API = "/api/v1"
BOARD = "/campaigns/harbour/2025"
FORM = f"{BOARD}/submit"
SUBMISSIONS = f"{API}/campaigns/harbour/evaluations/2025/submissions"
BOTH = pytest.mark.parametrize("engine_name", ["sqlite", "postgresql"])

QUERIES = "q1\tfirst query\tlaw\nq2\tsecond query\tnews\nq3\tthird query\tlaw\n"
JUDGMENTS = "q1 0 d1 1\nq1 0 d2 0\nq1 0 d3 1\nq2 0 d1 0\nq2 0 d4 1\nq3 0 d5 1\n"
RUN = "q1 Q0 d1 1 0.9 alpha\nq1 Q0 d2 2 0.8 alpha\nq2 Q0 d4 1 0.7 alpha\nq3 Q0 d6 1 0.6 alpha\n"


PASSWORD_HASH = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)


@dataclass
class World:
    """One campaign with one open evaluation; `alpha` is the participant's team and has the system `searcher`.

    users: ada (owner of Alpha), ben (member of Alpha), eve (owner of the other team, Beta), orla (organiser).
    """

    database: Database
    users: dict[str, User]
    teams: dict[str, Team]
    campaign: Campaign
    evaluation: Evaluation
    system: System

    def change(self, **columns: object) -> None:
        """Sets columns of the evaluation."""
        with self.database.write() as session:
            evaluation = session.get_one(Evaluation, self.evaluation.id)
            for name, value in columns.items():
                setattr(evaluation, name, value)

    def do(self, write: Callable[..., Any], *values: Any, **named: Any) -> Any:
        """What a service gives that writes to the evaluation, as the command line would."""
        with self.database.write() as session:
            return write(session, CONSOLE, session.get_one(Evaluation, self.evaluation.id), *values, **named)

    def measure(self, *names: str) -> None:
        """Has the campaign show these measures, on the form too."""
        with self.database.write() as session:
            session.get_one(Campaign, self.campaign.id).measures = list(names)

    def all(self, statement: sa.Select[Any]) -> list[Any]:
        with self.database.read() as session:
            return list(session.scalars(statement))

    def count(self, table: type) -> int:
        return int(self.all(sa.select(sa.func.count()).select_from(table))[0])

    def runs(self) -> list[Submission]:
        return self.all(sa.select(Submission).order_by(Submission.id))

    def sent(self, **more: str) -> dict[str, str]:
        """What the form of a run sends beside its file: a contrastive one of Searcher's."""
        return {"system": str(self.system.id), "designation": "contrastive", **more}

    def turn(self, state: State, **submission: object) -> None:
        """Puts the scoring of every run into `state`, as a worker would."""
        with self.database.write() as session:
            for scoring in session.scalars(sa.select(Scoring).options(sa.orm.joinedload(Scoring.submission))):
                run, scoring.state = scoring.submission, state
                changes = {"scored_at": run.received_at} if state is State.SCORED else {}
                for name, value in {**changes, **submission}.items():
                    setattr(run, name, value)


class Body(io.RawIOBase):
    """The form of a run, its file last, and how much of it was read; `watch` looks at it each time that some was.

    keep  so many bytes are sent, though more are promised
    """

    def __init__(
        self,
        fields: dict[str, str],
        file: bytes = RUN.encode(),
        watch: Callable[["Body"], object] = lambda _: None,
        ending: str = "\r\n--b--\r\n",
        keep: int | None = None,
    ) -> None:
        super().__init__()
        head = "--b\r\nContent-Disposition: form-data; name="
        text = "".join(f'{head}"{name}"\r\n\r\n{value}\r\n' for name, value in fields.items())
        whole = f'{text}{head}"run"; filename="a.run"\r\n\r\n'.encode() + file + ending.encode()
        self.size, self.given, self.asked, self._watch = len(whole), 0, 0, watch
        self._content = io.BytesIO(whole[:keep])

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]  # all that is passed here
        self.asked, count = len(buffer), self._content.readinto(buffer)
        self.given += count
        self._watch(self)
        return count

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:  # the test client measures its body so
        return self._content.seek(offset, whence)

    def tell(self) -> int:
        return self._content.tell()


class Reader:
    """Somebody with a browser: a client that brings its token along with what it posts."""

    def __init__(self, client: FlaskClient, user: User | None = None) -> None:
        self.client = client
        self._token = ("", "")  # the session's cookie, and the token that goes with it
        if user is not None:
            database: Database = client.application.extensions["database"]
            with database.write() as session, client.session_transaction() as cookie:
                cookie["_user_id"] = signed_in(session, user.id)

    def get(self, path: str, *, status: int = 200) -> str:
        """The page's text; the status is checked."""
        answer = self.client.get(path)
        assert answer.status_code == status, f"{path}: {answer.status} {_title(answer)}"
        return answer.text

    def token(self) -> str:
        """A token for forms: the last one, until the session is another."""
        if not self._cookie() or self._token[0] != self._cookie():
            token = hidden(self.client.get("/login").text)
            self._token = (self._cookie(), token)
        return self._token[1]

    def _cookie(self) -> str:
        cookie = self.client.get_cookie("leaderboard")
        return "" if cookie is None else cookie.value

    def post(self, path: str, **fields: str) -> TestResponse:
        return self.client.post(path, data={"csrf_token": self.token(), **fields})

    def stream(self, body: Body) -> TestResponse:
        """Posts the form of a run as a body that is watched while it is read."""
        kind = "multipart/form-data; boundary=b"
        return self.client.post(FORM, input_stream=body, content_length=body.size, content_type=kind)

    def send(
        self,
        path: str,
        run: str | bytes | None,
        filename: str = "alpha.run",
        *,
        field: str = "run",
        metadata: str = "",
        **fields: str,
    ) -> TestResponse:
        """Posts a form with a file, the file last, as browsers send the fields of the page. metadata: of a run."""
        content = run.encode() if isinstance(run, str) else run
        file = FileStorage(io.BytesIO(content or b""), filename if content is not None else "")
        # Made here: of a large form the client would make a file and leave it open.
        said = {"beside": FileStorage(io.BytesIO(metadata.encode()), "run.yaml")} if metadata else {}
        boundary, body = encode_multipart({"csrf_token": self.token(), **fields, **said, field: file})
        return self.client.post(path, data=body, content_type=f'multipart/form-data; boundary="{boundary}"')


class Program:
    """A program with a token; it keeps no cookies."""

    def __init__(self, app: Flask, token: str | None) -> None:
        self.app, self.token = app, token

    def ask(self, path: str, method: str = "GET", *, status: int = 200, **more: Any) -> Any:
        """The decoded answer; its status is checked."""
        answer = self.send(path, method, **more)
        assert answer.status_code == status, f"{path}: {answer.status} {answer.text}"
        assert answer.content_type == ("application/json" if status < 300 else "application/problem+json")
        return answer.json

    def post(self, path: str, status: int = 200, /, **body: Any) -> Any:
        """What it answers to a body of JSON."""
        return self.ask(path, "POST", status=status, json=body)

    def send(self, path: str, method: str = "GET", **more: Any) -> TestResponse:
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return self.app.test_client().open(path, method=method, headers={**headers, **more.pop("headers", {})}, **more)

    def submit(self, run: str | None = RUN, path: str = SUBMISSIONS, key: str = "", **fields: str) -> Any:
        """The answer to a run of Searcher's, unless other fields say whose it is."""
        data: dict[str, Any] = {**(fields or {"team": "alpha", "system": "searcher"})}
        if run is not None:
            data["run"] = (io.BytesIO(run.encode()), "alpha.run")
        headers = {"Idempotency-Key": key} if key else {}
        return self.send(path, "POST", data=data, content_type="multipart/form-data", headers=headers)


def _title(answer: TestResponse) -> str:
    found = re.search(r"<title>(.*?)</title>", answer.text)
    return found[1] if found else ""


def errors(page: str) -> set[str]:
    """The names of the fields that have an error beside them."""
    return set(re.findall(r'id="(?:\w+-)?(\w+)-error"', page))


def browser_of(app: Flask, cookie: str | None) -> FlaskClient:
    """Somebody's browser, with the session that this cookie names; without one a visitor's."""
    browser = app.test_client()
    if cookie:
        with browser.session_transaction() as kept:
            kept["_user_id"] = cookie
    return browser


def kept_runs(app: Flask) -> list[str]:
    """The SHA-256 of every run file, in a store of either kind."""
    return [name.rpartition("/")[2] for name, _ in app.extensions["store"].place.names("runs")]


def files_in(app: Flask) -> list[Path]:
    """Every file of the run store, half-written ones too."""
    return [
        path for path in Path(app.extensions["config"].store_url).rglob("*") if path.is_file() and path.name != IDENTITY
    ]


@pytest.fixture
def engine_name() -> str:
    """One engine, unless BOTH is said: what reads and writes do is tried on both where they stand."""
    return "sqlite"


@pytest.fixture
def app(database_url: str, store_url: str, quick_hashes: None) -> Iterator[Flask]:
    """The site on a database of this test's own."""
    config = Config(
        database_url=database_url,
        store_url=store_url,
        secret_key="a secret that only the tests know",
        secure_cookies=False,
        upload_bytes=100_000,
        text_bytes=1_000_000,
    )
    app = create_app(config)
    app.testing = True
    yield app
    app.extensions["database"].close()


def _fill(database: Database) -> dict[str, Any]:
    """Makes the campaign; the fields of a World that this decides."""
    with database.write() as session:
        users = {name: _user(session, name) for name in ("ada", "ben", "eve", "orla")}
        alpha = teams.create_team(session, CONSOLE, "Alpha")
        beta = teams.create_team(session, CONSOLE, "Beta")
        teams.add_member(session, CONSOLE, alpha, users["ada"], Role.OWNER)
        teams.add_member(session, CONSOLE, alpha, users["ben"])
        teams.add_member(session, CONSOLE, beta, users["eve"], Role.OWNER)
        campaign = campaigns.create_campaign(
            session, CONSOLE, "harbour", "Harbour", measures=["AP", "P@5"], primary_measure="AP"
        )
        campaigns.add_organiser(session, CONSOLE, campaign, users["orla"])
        evaluation = evaluations.create_evaluation(
            session, CONSOLE, campaign, "2025", "Harbour 2025", "2025", results=Opening.ALWAYS, daily_quota=None
        )
        queries.import_queries(session, CONSOLE, evaluation, read_queries(io.BytesIO(QUERIES.encode())))
        judgments.import_judgments(
            session, CONSOLE, evaluation, JudgmentFiles(read_judgments(io.BytesIO(JUDGMENTS.encode())))
        )
        system = systems.create_system(session, CONSOLE, alpha, systems.NewSystem("Searcher"))
    return {
        "users": users, "teams": {"alpha": alpha, "beta": beta},
        "campaign": campaign, "evaluation": evaluation, "system": system,
    }  # fmt: skip


@pytest.fixture(scope="session")
def fill_world() -> Filling:
    """Puts into a database what `world` begins with."""
    return _fill


@pytest.fixture
def world(app: Flask, own_database: OwnDatabase, fill_world: Filling) -> World:
    return World(app.extensions["database"], **own_database.known)


@pytest.fixture
def reader(app: Flask, world: World) -> Callable[[str], Reader]:
    """`reader("ada")`: somebody of the world, signed in; `reader("")`: a visitor."""

    def by_name(name: str = "") -> Reader:
        return Reader(app.test_client(), world.users[name] if name else None)

    return by_name


@pytest.fixture
def visitor(reader: Callable[[str], Reader]) -> Reader:
    return reader("")


@pytest.fixture
def participant(reader: Callable[[str], Reader]) -> Reader:
    """Ada, who owns team Alpha."""
    return reader("ada")


@pytest.fixture
def other(reader: Callable[[str], Reader]) -> Reader:
    """Eve, of team Beta."""
    return reader("eve")


@pytest.fixture
def organiser(reader: Callable[[str], Reader]) -> Reader:
    return reader("orla")


def _user(session: Session, name: str) -> User:
    user = User(
        name=name, name_key=names.name_key(name), email=None, email_key=None,
        password_hash=PASSWORD_HASH, created_at=present(),
    )  # fmt: skip
    session.add(user)
    session.flush()
    return user


@pytest.fixture
def program(app: Flask, world: World) -> Callable[..., Program]:
    """`program("ada", Scope.SUBMIT)`: a program with a token of hers; `program()`: one without."""

    def of(name: str = "", *scopes: Scope, days: int | None = None) -> Program:
        if not name:
            return Program(app, None)
        with world.database.write() as session:
            user = session.get_one(User, world.users[name].id)
            token = credentials.make_token(session, CONSOLE, user, "test", scopes, days=days, now=present())
        return Program(app, token)

    return of


@pytest.fixture
def orla(program: Callable[..., Program]) -> Program:
    """The organiser's program."""
    return program("orla", Scope.ORGANISE)
