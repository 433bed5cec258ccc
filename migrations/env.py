"""How alembic reaches the database: by the engine or the connection that leaderboard.migrate hands over."""

import sqlalchemy as sa
from alembic import context

from leaderboard.db import Base, load_tables


def _run(connection: sa.Connection) -> None:
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        render_as_batch=connection.dialect.name == "sqlite",
        compare_type=True,
        transactional_ddl=True,
    )
    with context.begin_transaction():
        if connection.dialect.name == "postgresql":
            # Of several that are at it the others wait, however long it takes, and then find nothing left to do.
            # SQLite's transaction lets one write at a time anyway.
            connection.execute(sa.text("SET LOCAL lock_timeout = 0"))
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtext("leaderboard migrations"))))
        context.run_migrations()


load_tables()
if (within := context.config.attributes.get("within")) is not None:
    _run(within)  # whose transaction goes on
else:
    with context.config.attributes["engine"].execution_options(writing=True).connect() as connection:
        _run(connection)
