"""A database that is taken away while something works with it, and given back."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa

from tests.support.world import World


def file_of(world: World) -> Path:
    return Path(str(world.database.engine.url.database))


@contextmanager
def server_of(world: World) -> Iterator[Callable[[str], object]]:
    """Runs statements on PostgreSQL from outside of the world's database."""
    engine = sa.create_engine(world.database.engine.url.set(database="postgres"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        yield connection.exec_driver_sql
    engine.dispose()


@contextmanager
def away(world: World) -> Iterator[None]:
    """The database is not there: its file is elsewhere, its server lets nobody in."""
    if world.database.engine.dialect.name == "sqlite":
        world.database.close()
        elsewhere = file_of(world).with_name("elsewhere.sqlite")
        file_of(world).rename(elsewhere)
        yield
        assert not file_of(world).exists()  # nobody made an empty one in its place
        elsewhere.rename(file_of(world))
        return
    name = world.database.engine.url.database
    with server_of(world) as run:
        run(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
        run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
        yield
        run(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')
