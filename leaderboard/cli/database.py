"""`leaderboard db`, and how every command opens the database: as the environment names it, with up-to-date tables."""

from collections.abc import Iterator
from contextlib import contextmanager

import click
from sqlalchemy.orm import Session

from leaderboard import access, errors, migrate
from leaderboard.accounts.writes import find_user
from leaderboard.config import Config
from leaderboard.db import PATIENCE_SECONDS, Database


@click.group()
def db() -> None:
    """Brings the database's tables up to date."""


@db.command()
def upgrade() -> None:
    """Make the tables, or bring them to what this version needs. Does nothing when they are.

    \b
    LEADERBOARD_DATABASE_URL=postgresql://localhost/leaderboard leaderboard db upgrade
    """
    with connected(Config.from_environment()) as database:
        migrate.upgrade(database)
        click.echo(f"{_shown(database)} is at revision {migrate.current(database)}")


@db.command()
def current() -> int:
    """Say which revision the tables are at, and what to do next. The exit status is 1 where an upgrade is due.

    \b
    leaderboard db current
    """
    with connected(Config.from_environment(), must_exist=True) as database:
        due = _upgrade_due(database)
        click.echo(due or f"{_shown(database)} is at revision {migrate.newest()}, which this version needs")
        return int(bool(due))


@contextmanager
def connected(config: Config, *, must_exist: bool = False) -> Iterator[Database]:
    """The installation's database, with or without tables. Raises BadInput, and Unavailable when it can't be used."""
    context = click.get_current_context(silent=True)
    program = context.command_path if context else "leaderboard"
    database = Database.connect(
        config.database_url, patience_seconds=PATIENCE_SECONDS, must_exist=must_exist, program=program
    )
    try:
        yield database
    except errors.NoDatabase as error:
        is_other = isinstance(error, errors.OtherBuild)
        what = "belongs to another version of this program" if is_other else "does not answer as it should"
        to_do = "" if is_other else "; start it, make it, or correct LEADERBOARD_DATABASE_URL"
        raise errors.Unavailable(f"the database {_shown(database)} {what}: {error.reason}{to_do}") from error
    finally:
        database.close()


@contextmanager
def up_to_date(config: Config, *, or_older: bool = False) -> Iterator[Database]:
    """The same, when its tables are those that this version needs, or an older one did; raises Conflict, saying what to
    do, when not."""
    with connected(config, must_exist=True) as database:
        if (due := _upgrade_due(database)) and not (or_older and migrate.current(database)):
            raise errors.Conflict(due)
        yield database


def _upgrade_due(database: Database) -> str:
    """What an upgrade would bring, and how; "" where the tables are as this version needs them. Raises OtherBuild."""
    revision = migrate.current(database)
    migrate.require_known(revision)
    if revision == migrate.newest():
        return ""
    state = f"is at revision {revision}, this version needs {migrate.newest()}" if revision else "has no tables yet"
    return f"the database {_shown(database)} {state}; run `leaderboard db upgrade`"


@contextmanager
def reading() -> Iterator[Session]:
    """A session that reads this installation's database. Raises what `up_to_date` does."""
    with up_to_date(Config.from_environment()) as database, database.read() as session:
        yield session


@contextmanager
def writing() -> Iterator[Session]:
    """A session in one transaction, committed when the block ends without an exception. Raises as `reading` does."""
    with up_to_date(Config.from_environment()) as database, database.write() as session:
        yield session


def actor_named(session: Session, user: str | None) -> access.Actor:
    """The account of this name; without one, the console. Raises NotFound."""
    return access.CONSOLE if user is None else access.actor_of(session, find_user(session, user).id)


def _shown(database: Database) -> str:
    """Its address, without passwords."""
    url = database.engine.url
    secret = [name for name in url.query if "password" in name]
    return url.difference_update_query(secret).render_as_string(hide_password=True)
