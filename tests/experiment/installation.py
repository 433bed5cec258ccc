"""One installation of the experiment: site, store, database and worker in this process, by a set clock and set chance.

What two installations answer must differ by their judgments only, so everything else is equal by construction: the key
that signs, the clock (`time_machine`), and what the system calls random (tokens, salts, keys against forged forms).
"""

import contextlib
import datetime as dt
import hashlib
import io
import os
import random
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec
import sqlalchemy as sa
import time_machine
from flask import Flask
from flask.testing import FlaskClient

from leaderboard.accounts import writes as credentials
from leaderboard.config import Config
from leaderboard.db import Database
from leaderboard.store import RunStore
from leaderboard.teams.models import System, Team
from leaderboard.web.app import create_app
from leaderboard.worker.messages import Reply, RunScores
from tests.experiment.answers import Answer, Key
from tests.support.pages import hidden
from tests.support.scoring import WorkerHere
from tests.support.world import QUICK

PASSWORD = "four words of the experiment"  # it opens nothing
API = "/api/v1/"


class Chance:
    """What stands in for the system's randomness: bytes that follow from a text, which `restart` gives."""

    def __init__(self) -> None:
        self._of = b""
        self._count = 0

    def restart(self, of: str) -> None:
        self._of, self._count = of.encode(), 0

    def take(self, size: int) -> bytes:
        """The next so many bytes."""
        taken = b""
        while len(taken) < size:
            taken += hashlib.sha256(self._of + self._count.to_bytes(8, "big")).digest()
            self._count += 1
        return taken[:size]


@contextlib.contextmanager
def chance() -> Iterator[Chance]:
    """Within the block `os.urandom`, and `secrets`, `random.SystemRandom` and `uuid4` with it, give this chance."""
    made = Chance()
    sources = (os, "urandom"), (random, "_urandom")
    before = [getattr(module, name) for module, name in sources]
    for module, name in sources:
        setattr(module, name, made.take)
    try:
        yield made
    finally:
        for (module, name), take in zip(sources, before, strict=True):
            setattr(module, name, take)


class _WorkerHere(WorkerHere):
    """How long scoring took is measured, and so never the same twice; it is set to nothing here."""

    def told(self, reply: Reply) -> Reply:
        return msgspec.structs.replace(reply, seconds=0.0) if isinstance(reply, RunScores) else reply


@dataclass
class Person:
    """Somebody with a browser. `name` is "" for a visitor."""

    name: str
    client: FlaskClient
    installation: "Installation"
    _token: str = ""
    _session: str = ""

    def get(self, address: str) -> Answer:
        """A page by its browser; what programs are answered, by a program with its token."""
        self.installation.begin(f"{self.name} GET {address}")
        if address.startswith(API):
            return Answer.of(self.installation.app.test_client().get(address, headers=self._bearer()))
        return Answer.of(self.client.get(address))

    def post(self, address: str, run: str | None = None, filename: str = "", **fields: str) -> Answer:
        """Sends a form, with a file where `run` is given."""
        self.installation.begin(f"{self.name} POST {address}")
        if address.startswith(API):
            program = self.installation.app.test_client()
            return Answer.of(program.post(address, json=fields, headers=self._bearer()))
        data: dict[str, Any] = {"csrf_token": self._token, **fields}
        if run is not None:
            data["run"] = (io.BytesIO(run.encode()), filename)
            return Answer.of(self.client.post(address, data=data, content_type="multipart/form-data"))
        return Answer.of(self.client.post(address, data=data))

    def post_settled(self, address: str) -> Answer:
        """Sends a form from the session as it was when it settled: without a message, or a place where a log-in leads,
        that something asked since left there."""
        self.client.set_cookie(self._cookie, self._session)
        return self.post(address)

    @property
    def _cookie(self) -> str:
        return str(self.installation.app.config["SESSION_COOKIE_NAME"])

    def _bearer(self) -> dict[str, str]:
        token = self.installation.api_tokens.get(self.name)
        return {"Authorization": f"Bearer {token}"} if token else {}

    def settle(self) -> "Person":
        """Reads a page, so that its session has what it gets with its first form, and no message waits for the next.

        From here on what a page answers does not depend on which pages were read before.
        """
        self.installation.begin(f"{self.name} settles")
        self._token = hidden(self.client.get("/login").text)
        cookie = self.client.get_cookie(self._cookie)
        self._session = cookie.value if cookie else ""
        return self


@dataclass
class Installation:
    """A site with its database, store and worker.

    steps, walked  the answers to what was done in the year, and to the walks: when, who, the method, the address
    api_tokens     of everybody, for whatever their accounts may
    to_organiser   some answers that an organiser got: the judgments do show there
    """

    app: Flask
    database: Database
    store: RunStore
    clock: time_machine.Traveller
    chance: Chance
    api_tokens: dict[str, str] = field(default_factory=dict)
    people: dict[str, Person] = field(default_factory=dict)
    steps: dict[Key, Answer] = field(default_factory=dict)
    walked: dict[Key, Answer] = field(default_factory=dict)
    to_organiser: list[Answer] = field(default_factory=list)

    def begin(self, what: str) -> None:
        """Starts chance anew for a step, so that what one step took of it changes no other."""
        self.chance.restart(f"{dt.datetime.now(dt.UTC)} {what}")

    def at(self, moment: dt.datetime, *names: str) -> None:
        """Sets the clock, and logs these people in; "" is a visitor."""
        self.clock.move_to(moment, tick=False)
        for name in names:
            client = self.app.test_client()
            if name:
                answer = Person(name, client, self).settle().post("/login", name=name, password=PASSWORD)
                assert answer.status == 302, f"{name} can't log in: {answer}"
            self.people[name] = Person(name, client, self).settle()  # another session has begun

    def drain(self, steps: int | None = None) -> None:
        """Lets a worker do so many steps; all that there is to do where no number is given."""
        self.begin("a worker starts")
        config = self.app.extensions["config"]
        with contextlib.closing(_WorkerHere(self.database, self.store, config)) as worker:
            while steps != 0 and worker.step(threading.Event()):
                steps = None if steps is None else steps - 1

    def team_id(self, name: str) -> int:
        with self.database.read() as session:
            return session.scalars(sa.select(Team.id).where(Team.name == name)).one()

    def system_field(self, team: str, system: str) -> dict[str, str]:
        """The fields of the submission form that name a system of the team: one that is there, or a new one."""
        with self.database.read() as session:
            found = session.scalar(sa.select(System.id).where(System.name == system))
        if found is not None:
            return {"system": str(found)}
        return {"system": f"new-{self.team_id(team)}", "new_system": system}


def quick_passwords() -> contextlib.AbstractContextManager[object]:
    """Passwords hashed the same way at the lowest cost: nobody guesses here."""
    return mock.patch.object(credentials, "hasher", QUICK)


@contextlib.contextmanager
def installed(database_url: str, folder: Path) -> Iterator[Installation]:
    """An installation on a migrated, empty database, within a clock and a chance of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    config = Config(
        database_url=database_url,
        store_url=str(folder / "store"),
        secret_key="a key that only the experiment knows",
        secure_cookies=False,
        upload_bytes=100_000,
        text_bytes=1_000_000,
        lease_seconds=3600,
    )
    app = create_app(config)
    database: Database = app.extensions["database"]
    try:
        with (
            quick_passwords(),
            time_machine.travel(dt.datetime(2024, 1, 1, tzinfo=dt.UTC), tick=False) as clock,
            chance() as drawn,
        ):
            yield Installation(app, database, app.extensions["store"], clock, drawn)
    finally:
        database.close()
