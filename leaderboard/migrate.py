"""The schema is only ever made by migrations: this runs them.

alembic is imported when they run: asking whether there is something to run, as every command does, goes without it.
"""

import io
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from leaderboard.config import folder
from leaderboard.db import Database, answering

if TYPE_CHECKING:
    from alembic.config import Config as AlembicConfig

__all__ = ["check", "current", "guarding_functions", "guards", "newest", "upgrade"]


VERSION = "alembic_version"  # alembic's own table, of one row


def _config(database: Database) -> "AlembicConfig":
    from alembic.config import Config as AlembicConfig

    config = AlembicConfig(stdout=io.StringIO())
    config.set_main_option("script_location", str(folder("migrations")))
    config.attributes["engine"] = database.engine
    return config


def upgrade(database: Database, revision: str = "head") -> None:
    """Bring the schema up to `revision`; does nothing when it is there. Raises NoDatabase."""
    from alembic import command

    with answering():
        command.upgrade(_config(database), revision)


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
    return max(file.name.partition("_")[0] for file in (folder("migrations") / "versions").glob("[0-9]*.py"))


def guards(dialect: str) -> dict[str, str]:
    """The triggers that the newest schema has on an engine: name -> the rest of its definition."""
    triggers: dict[str, str] = _locks().SQLITE if dialect == "sqlite" else _locks().POSTGRESQL
    return triggers


def guarding_functions() -> dict[str, str]:
    """The functions that PostgreSQL's triggers call: name -> body."""
    functions: dict[str, str] = _locks().FUNCTIONS
    return functions


def _locks() -> Any:
    from alembic.script import ScriptDirectory

    return ScriptDirectory(str(folder("migrations"))).get_revision("0002").module
