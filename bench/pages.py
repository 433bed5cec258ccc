"""What pages of a large campaign cost, on both engines: `python -m bench.pages [--systems N] [--runs N]`.

First views are requests to a site that keeps no page, in this process: time, statements and bytes. Unchanged pages are
asked for over 16 connections of a site of two processes, and of a bare Flask view that answers with the same bytes, in
turn.
"""

import argparse
import gc
import gzip
import re
import secrets
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient

from bench.campaigns import Shape, make_campaign
from bench.serving import ask, bare, rate, site
from leaderboard import migrate
from leaderboard.accounts import writes as credentials
from leaderboard.accounts.models import User
from leaderboard.audit.writes import present
from leaderboard.campaigns.models import Campaign
from leaderboard.config import Config
from leaderboard.db import Database
from leaderboard.evaluations.models import Evaluation
from leaderboard.submissions.models import Submission
from leaderboard.teams.models import Membership, System, Team
from leaderboard.teams.rules import Role
from leaderboard.web.app import create_app
from leaderboard.worker.models import ScoringSet
from tests.support.postgres import postgres_server
from tests.support.statements import counted

__all__ = ["pages"]

ENGINES = ("sqlite", "postgresql")
FIRST_VIEWS, ROUNDS = 9, 3
WIDE = Shape(systems=500, runs=556, boards=2, conditions=2, sources=2)
PAGES = {  # what is measured: its address in a campaign, what a first view is required to take and aims at, in ms
    "board": ("/2020", 150, 50),
    "queries": ("/2020/queries", 150, 50),
    "heat map": ("/2020/heat-map", 150, 50),
    "a query": ("/2020/queries/q1", 150, 50),
    "a run": ("run", 150, 50),
    "compare": ("compare", 150, 50),
    "what moved": ("moved", 150, 50),
    "progress": ("/progress", 300, 100),
    "across": ("/across", 150, 50),
    "by tag": ("/2020/tags", 150, 50),
    "years": ("/progress/years", 300, 100),
    "sources": ("/2020/sources", 150, 50),
    "leave one team out": ("/2019/leave-one-team-out", 150, 50),
    "cite": ("cite", 150, 50),
    "a team": ("team", 150, 50),
    "a system": ("system", 300, 100),  # it has what progress shows, for one system
    "front page": ("front", 300, 100),
}
CHOICES = {  # boards of other runs than the campaign's choice, of which growth is measured too
    "board of best runs": "/2020?show=best",
    "board of latest runs": "/2020?show=latest",
    "board of all runs": "/2020?show=all",
}
UNCHANGED = ("front page", "board", "progress", "queries")
MOST_STATEMENTS, HEAVIEST_CHART = 10, 100_000
OF_A_PAGE = re.compile(r'(?:href|src)="(/[^"]+\.(?:css|js|svg)(?:\?[^"]*)?)"')
PACKED = {"Accept-Encoding": "gzip"}


@dataclass(frozen=True, slots=True)
class Seen:
    """What one view took: seconds, those of this process's processor, statements, and its bytes plain and gzipped."""

    wall: float
    processor: float
    statements: int
    size: int
    packed: int


def pages(shape: Shape, engines: Sequence[str] = ENGINES) -> None:
    """Prints the table, one engine after the other."""
    print("\n| engine | case | required | aim | measured | processor |\n|---|---|---|---|---|---|")
    for engine in engines:
        with installation(engine) as config:
            _large(engine, config, shape)
        with installation(engine) as config:
            _wide(engine, config)


@contextmanager
def installation(engine: str) -> Iterator[Config]:
    """An empty installation on that engine, for as long as the block takes."""
    with tempfile.TemporaryDirectory() as folder:
        config = Config(f"sqlite:///{folder}/bench.sqlite", f"{folder}/store", secrets.token_hex(16))
        if engine == "sqlite":
            yield config
            return
        with postgres_server() as url:
            address = sa.make_url(url).set(drivername="postgresql+psycopg")
            yield replace(config, database_url=address.render_as_string(hide_password=False))


def _fill(config: Config, shapes: dict[str, Shape]) -> Database:
    """A database with these campaigns."""
    database = Database.connect(config.database_url)
    migrate.upgrade(database)
    for slug, shape in shapes.items():
        make_campaign(database, shape, slug=slug)
    if database.engine.dialect.name == "postgresql":  # as the server does by itself, later
        with database.engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
            connection.execute(sa.text("ANALYZE"))
    return database


def _large(engine: str, config: Config, shape: Shape) -> None:
    """First views, growth and the board's weight of the large campaign, and what its unchanged pages cost."""
    few = replace(shape, systems=max(1, shape.systems // 10), runs=max(1, shape.systems // 10))
    many = replace(few, runs=shape.runs)
    database = _fill(config, {"few": few, "many": many, "large": shape})
    client = create_app(_without_pages(config)).test_client()
    gc.collect()
    gc.freeze()  # as `leaderboard serve` does
    for name, (path, required, aim) in PAGES.items():
        (seen,) = _views(client, [_address(database, "large", path)])
        _row(engine, f"first view: {name}", f"{required} ms", f"{aim} ms", _ms(seen.wall), _ms(seen.processor))
        _row(engine, f"statements: {name}", f"{MOST_STATEMENTS}", "", f"{seen.statements}")
        heaviest = f"{HEAVIEST_CHART:,} B" if name in ("progress", "front page") else ""
        _row(engine, f"gzipped: {name}", heaviest, "", f"{seen.packed:,} B")
    for name, path in ({name: path for name, (path, *_) in PAGES.items()} | CHOICES).items():
        if path != "front":
            grown, before = _views(client, [_address(database, slug, path) for slug in ("many", "few")])
            ratios = f"{grown.wall / before.wall:.2f} ×", f"{grown.processor / before.processor:.2f} ×"
            _row(engine, f"growth: {name}", "1.5 ×", "1.1 ×", *ratios)
    weight = _weight(client, "/campaigns/large/2020")
    _row(engine, "the board's weight, all in, gzipped", "120,000 B", "60,000 B", f"{weight:,} B")
    _unchanged(engine, config, database)
    database.close()


def _wide(engine: str, config: Config) -> None:
    """What the pages of a campaign of 500 systems weigh and take, on whose front page it is the first."""
    database = _fill(config, {"wide": WIDE})
    client = create_app(_without_pages(config)).test_client()
    for name, (path, *_) in PAGES.items():
        address = _address(database, "wide", path)
        (seen,) = _views(client, [address])
        weight = f"{seen.size:,} B, {seen.packed:,} B gzipped, {_weight(client, address):,} B all in"
        case = f"{WIDE.runs} runs of {WIDE.systems} systems: {name}"
        _row(engine, case, "", "", f"{_ms(seen.wall)}; {weight}", _ms(seen.processor))
    database.close()


def _row(engine: str, case: str, required: str, aim: str, measured: str, processor: str = "") -> None:
    print(f"| {engine} | {case} | {required} | {aim} | {measured} | {processor} |", flush=True)


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.0f} ms"


def _without_pages(config: Config) -> Config:
    return replace(config, kept_bytes=0, secure_cookies=False)


def _address(database: Database, slug: str, path: str) -> str:
    if path == "front":
        return "/"
    with database.read() as session:
        if path == "run":
            of_it = sa.select(sa.func.max(Submission.id)).join(Submission.evaluation).join(Evaluation.campaign)
            return f"/submissions/{session.scalar(of_it.where(Campaign.slug == slug))}"
        if path in ("team", "system"):
            of_it = sa.select(Team.slug, System.slug).join(System.team).where(System.id == _of_campaign(slug))
            team, system = session.execute(of_it).one()
            return f"/teams/{team}" if path == "team" else f"/teams/{team}/{system}"
        if path == "compare":  # the first run of the last year with the last one
            ends = sa.select(sa.func.min(Submission.id), sa.func.max(Submission.id)).join(Submission.evaluation)
            of_year = ends.join(Evaluation.campaign).where(Campaign.slug == slug, Evaluation.slug == "2020")
            first, last = session.execute(of_year).one()
            return f"/campaigns/{slug}/2020/compare?a={first}&b={last}"
        if path in ("moved", "cite"):  # the board of today, from the one before
            of_it = sa.select(ScoringSet.id).join(Evaluation).join(Evaluation.campaign)
            own = session.scalars(of_it.where(Campaign.slug == slug).order_by(ScoringSet.id.desc()).limit(2)).all()
            of_sets = f"{own[1]}/to/{own[0]}" if path == "moved" else f"{own[0]}/cite"
            return f"/campaigns/{slug}/2020/boards/{of_sets}"
    return f"/campaigns/{slug}{path}"


def _of_campaign(slug: str) -> sa.ScalarSelect[int]:
    """The system of the campaign's last submission."""
    of_it = sa.select(Submission.system_id).join(Submission.evaluation).join(Evaluation.campaign)
    return of_it.where(Campaign.slug == slug).order_by(Submission.id.desc()).limit(1).scalar_subquery()


def _views(client: FlaskClient, paths: Sequence[str]) -> list[Seen]:
    """What a view of each of these pages takes, medians of some, in turn."""
    found: dict[str, list[Seen]] = {path: [] for path in paths}
    for path in paths:
        client.get(path)  # what is made once in a process
    for _ in range(FIRST_VIEWS):
        for path in paths:
            with counted(client.application) as ran:
                wall, processor = time.perf_counter(), time.process_time()
                answer = client.get(path)
                wall, processor = time.perf_counter() - wall, time.process_time() - processor
            if answer.status_code != 200:
                raise RuntimeError(f"{path} answered {answer.status}")
            found[path].append(Seen(wall, processor, len(ran), len(answer.data), len(gzip.compress(answer.data, 6))))

    def middle(seen: Sequence[Seen], of: Callable[[Seen], float]) -> float:
        return median(of(one) for one in seen)

    return [
        replace(own[0], wall=middle(own, lambda one: one.wall), processor=middle(own, lambda one: one.processor))
        for own in found.values()
    ]


def _weight(client: FlaskClient, path: str) -> int:
    """Bytes that a page, its style sheets, its scripts and its icon are sent in."""
    page = client.get(path)
    found = set(OF_A_PAGE.findall(page.text))
    return len(gzip.compress(page.data, 6)) + sum(len(client.get(one, headers=PACKED).data) for one in found)


def _unchanged(engine: str, config: Config, database: Database) -> None:
    """How many unchanged pages a second are answered, against a bare view that answers with as many bytes."""
    addresses = {name: _address(database, "large", PAGES[name][0]) for name in UNCHANGED}
    kept = create_app(replace(config, secure_cookies=False))
    cookie = {"Cookie": _signed_in(kept, database)}
    with tempfile.TemporaryDirectory() as folder, site(config) as ours:
        for name, path in addresses.items():
            for reader, own in (("out", {}), ("in", cookie)):
                (Path(folder) / f"{list(addresses).index(name)}-{reader}").write_bytes(ask(ours, path, PACKED | own)[1])
        with bare(Path(folder)) as theirs:
            for number, (name, path) in enumerate(addresses.items()):
                client = kept.test_client()
                tag = client.get(path).headers["ETag"]
                with counted(kept) as ran:
                    again = client.get(path, headers={"If-None-Match": tag})
                told = f"{again.status_code}, {len(ran)} statement{'' if len(ran) == 1 else 's'}"
                _row(engine, f"conditional request: {name}", "304, 1 statement", "", told)
                out, into = ((theirs, f"/{number}-{reader}", {}) for reader in ("out", "in"))
                cases = {
                    "out": (ours, path, PACKED), "bare out": out, "in": (ours, path, PACKED | cookie), "bare in": into,
                    "304": (ours, path, PACKED | {"If-None-Match": tag}),
                }  # fmt: skip
                rates: dict[str, list[float]] = {case: [] for case in cases}
                for _ in range(ROUNDS):  # in turn, so that a busy machine is busy for all
                    for case, asked in cases.items():
                        rates[case].append(rate(*asked))
                each = {case: median(own) for case, own in rates.items()}
                for case, words, beside, required, aim in (
                    ("out", "unchanged, signed out", "bare out", "0.35 ×", "0.6 ×"),
                    ("in", "unchanged, signed in", "bare in", "0.15 ×", "0.3 ×"),
                    ("304", "its 304", "bare out", "", ""),
                ):
                    measured = (
                        f"{each[case] / each[beside]:.2f} × ({each[case]:,.0f} against {each[beside]:,.0f} a second)"
                    )
                    _row(engine, f"{words}: {name}", required, aim, measured)


def _signed_in(app: Flask, database: Database) -> str:
    """The cookie of a member of a team."""
    with database.write() as session:
        user = User(name="Bench", name_key="bench", password_hash=None, created_at=present())
        session.add(user)
        session.flush()
        team = session.scalars(sa.select(Team.id).limit(1)).one()
        session.add(Membership(team_id=team, user_id=user.id, role=Role.MEMBER, joined_at=present()))
        token = credentials.start_session(session, user.id, present())
    signer: Any = app.session_interface.get_signing_serializer(app)  # type: ignore[attr-defined]  # Flask's own sessions
    return f"leaderboard={signer.dumps({'_user_id': token, '_fresh': False})}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.pages", description=__doc__)
    parser.add_argument("--systems", type=int, default=1_000, help="systems of the large campaign (1000)")
    parser.add_argument("--runs", type=int, default=10_000, help="submissions of its last year (10000)")
    parser.add_argument("--engine", choices=ENGINES, action="append", help="only this one (both)")
    arguments = parser.parse_args()
    pages(
        Shape(systems=arguments.systems, runs=arguments.runs, boards=2, conditions=2, sources=2),
        arguments.engine or ENGINES,
    )


if __name__ == "__main__":
    main()
