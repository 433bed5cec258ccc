"""The schema is only ever made by migrations: this runs them."""

import io
from typing import Any

from alembic import command
from alembic.config import Config as AlembicConfig
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from leaderboard.config import folder
from leaderboard.db import Database, answering

__all__ = ["check", "current", "guarding_functions", "guards", "newest", "upgrade"]


def _config(database: Database) -> AlembicConfig:
    config = AlembicConfig(stdout=io.StringIO())
    config.set_main_option("script_location", str(folder("migrations")))
    config.attributes["engine"] = database.engine
    return config


def upgrade(database: Database, revision: str = "head") -> None:
    """Bring the schema up to `revision`; does nothing when it is there. Raises NoDatabase."""
    with answering():
        command.upgrade(_config(database), revision)


def check(database: Database) -> None:
    """Raises alembic.util.CommandError when the tables differ from the models."""
    command.check(_config(database))


def current(database: Database) -> str | None:
    """The revision that the schema is at; None when there is no schema. Raises NoDatabase."""
    with answering(), database.engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def newest() -> str | None:
    """The revision that this version of the product needs."""
    return ScriptDirectory(str(folder("migrations"))).get_current_head()


def guards(dialect: str) -> dict[str, str]:
    """The triggers that the newest schema has on an engine: name -> the rest of its definition."""
    triggers: dict[str, str] = _locks().SQLITE if dialect == "sqlite" else _locks().POSTGRESQL
    return triggers


def guarding_functions() -> dict[str, str]:
    """The functions that PostgreSQL's triggers call: name -> body."""
    functions: dict[str, str] = _locks().FUNCTIONS
    return functions


def _locks() -> Any:
    return ScriptDirectory(str(folder("migrations"))).get_revision("0002").module
