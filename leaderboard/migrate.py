"""The schema is only ever made by migrations: this runs them."""

import io

from alembic import command
from alembic.config import Config as AlembicConfig

from leaderboard.config import folder
from leaderboard.db import Database

__all__ = ["check", "current", "upgrade"]


def _config(database: Database, output: io.StringIO | None = None) -> AlembicConfig:
    config = AlembicConfig(stdout=output or io.StringIO())
    config.set_main_option("script_location", str(folder("migrations")))
    config.attributes["engine"] = database.engine
    return config


def upgrade(database: Database, revision: str = "head") -> None:
    """Bring the schema up to `revision`; does nothing when it is there."""
    command.upgrade(_config(database), revision)


def check(database: Database) -> None:
    """Raises alembic.util.CommandError when the tables differ from the models."""
    command.check(_config(database))


def current(database: Database) -> str:
    """The revision that the schema is at, as alembic prints it; empty when there is none."""
    output = io.StringIO()
    command.current(_config(database, output))
    return output.getvalue().strip()
