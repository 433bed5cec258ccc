"""How alembic reaches the database: by the engine that leaderboard.migrate hands over."""

import leaderboard.models  # noqa: F401  # fills the metadata
import sqlalchemy as sa
from alembic import context

from leaderboard.db import Base


def _run(engine: sa.Engine) -> None:
    with engine.execution_options(writing=True).connect() as connection:
        context.configure(
            connection=connection,
            target_metadata=Base.metadata,
            render_as_batch=connection.dialect.name == "sqlite",
            compare_type=True,
            transactional_ddl=True,
        )
        with context.begin_transaction():
            context.run_migrations()


_run(context.config.attributes["engine"])
