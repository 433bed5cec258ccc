"""The schema is only ever made by migrations: this runs them.

alembic is imported when they run: asking whether there is something to run, as every command does, goes without it.
"""

import io
from types import SimpleNamespace
from typing import TYPE_CHECKING

import sqlalchemy as sa

from leaderboard import __version__, errors
from leaderboard.config import folder
from leaderboard.db import Database, answering

if TYPE_CHECKING:
    from alembic.config import Config as AlembicConfig


VERSION = "alembic_version"  # alembic's own table, of one row
# Of the code that this process runs: its files may be another version's since, while that is being installed.
REVISIONS = frozenset(file.name.partition("_")[0] for file in (folder("migrations") / "versions").glob("[0-9]*.py"))


def _config(database: Database) -> "AlembicConfig":
    from alembic.config import Config as AlembicConfig

    config = AlembicConfig(stdout=io.StringIO())
    config.set_main_option("script_location", str(folder("migrations")))
    config.attributes["engine"] = database.engine
    return config


def upgrade(database: Database, revision: str = "head", *, within: sa.Connection | None = None) -> None:
    """Brings the schema up to the newest revision, or to this one; does nothing when it is there. Raises NoDatabase,
    and OtherBuild where it is at one that this version does not know.

    within: a connection whose transaction it is part of
    """
    from alembic import command

    require_known(current(database))
    config = _config(database)
    config.attributes["within"] = within
    with answering():
        command.upgrade(config, revision)


def check(database: Database) -> None:
    """Raises alembic.util.CommandError when the tables differ from the models."""
    from alembic import command

    command.check(_config(database))


def current(database: Database) -> str | None:
    """The revision that the schema is at; None when there is no schema. Raises NoDatabase."""
    with answering(), database.engine.connect() as connection:
        if not sa.inspect(connection).has_table(VERSION):
            return None
        revision: str | None = connection.scalar(sa.select(sa.column("version_num")).select_from(sa.table(VERSION)))
        return revision


def newest() -> str:
    """The revision that this version of the product needs: the files of migrations begin with their numbers."""
    return max(REVISIONS)


def require_known(revision: str | None) -> None:
    """Raises OtherBuild for a revision that this version of the product has no migration to; None: no schema yet."""
    if revision is not None and revision not in REVISIONS:
        raise errors.OtherBuild(
            f"it is at revision {revision}, version {__version__} knows none after {newest()}: install the version "
            "that upgraded it, or a later one"
        )


def locks() -> SimpleNamespace:
    """The triggers that the newest schema has on each engine, in SQLITE and POSTGRESQL (name -> the rest of its
    definition), and the FUNCTIONS that PostgreSQL's call (name -> body).
    """
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory(str(folder("migrations")))
    first, told = (scripts.get_revision(revision).module for revision in ("0002", "0006"))
    of_both = {name: getattr(first, name) | getattr(told, name) for name in ("POSTGRESQL", "FUNCTIONS")}
    return SimpleNamespace(SQLITE=first.SQLITE, **of_both)
