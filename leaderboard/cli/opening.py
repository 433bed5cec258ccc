"""How a command gets at the installation's database: from the environment, and only when its tables are up to date."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import migrate
from leaderboard.config import Config
from leaderboard.db import Database
from leaderboard.errors import BadInput, Conflict, Unavailable

__all__ = ["connected", "reading", "require_up_to_date", "shown", "up_to_date", "writing"]


@contextmanager
def connected(config: Config) -> Iterator[Database]:
    """The database of the installation, whatever its tables. Raises Unavailable when it does not answer."""
    database = Database.connect(config.database_url)
    _require_folder(database)
    try:
        yield database
    except sa.exc.OperationalError as error:
        raise Unavailable(f"the database {shown(database)} does not answer: {error.orig}") from error
    finally:
        database.close()


@contextmanager
def up_to_date(config: Config) -> Iterator[Database]:
    """The same. Raises Conflict, saying what to do, when its tables are not those that this version needs."""
    with connected(config) as database:
        _require_newest(database)
        yield database


def require_up_to_date(config: Config) -> None:
    """Raises what `up_to_date` raises: for what opens the database itself later, or in another process."""
    with up_to_date(config):
        pass


@contextmanager
def reading() -> Iterator[Session]:
    with up_to_date(Config.from_environment()) as database, database.read() as session:
        yield session


@contextmanager
def writing() -> Iterator[Session]:
    """One transaction: what the command did is there when it ends without a complaint, and nothing of it otherwise."""
    with up_to_date(Config.from_environment()) as database, database.write() as session:
        yield session


def shown(database: Database) -> str:
    """Its address, without the password."""
    return database.engine.url.render_as_string(hide_password=True)


def _require_newest(database: Database) -> None:
    # Connecting would make an empty file where there is none.
    found = migrate.current(database) if _is_there(database) else None
    newest = migrate.newest()
    if found != newest:
        state = f"is at revision {found}, this version needs {newest}" if found else "has no tables yet"
        raise Conflict(f"the database {shown(database)} {state}; run `leaderboard db upgrade`")


def _require_folder(database: Database) -> None:
    """SQLite makes the file, but not the folder around it."""
    file = _file(database)
    if file is not None and not file.parent.is_dir():
        raise BadInput(
            f"there is no folder {file.parent} for the database {shown(database)}; "
            "make it, or name another place in LEADERBOARD_DATABASE_URL"
        )


def _is_there(database: Database) -> bool:
    file = _file(database)
    return file is None or file.exists()


def _file(database: Database) -> Path | None:
    """That of a database of SQLite; None for one on a server."""
    url = database.engine.url
    return Path(url.database or "") if url.get_backend_name() == "sqlite" else None
