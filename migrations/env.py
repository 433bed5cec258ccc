"""How alembic reaches the database: by the engine that leaderboard.migrate hands over."""

import sqlalchemy as sa
from alembic import context

from leaderboard.db import Base, load_tables


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


load_tables()
_run(context.config.attributes["engine"])
