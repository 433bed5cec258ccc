"""Fails when migrations and models describe different tables: `alembic check` on a temporary SQLite database."""

import sys
import tempfile
from pathlib import Path

from alembic.util import CommandError

from leaderboard import migrate
from leaderboard.db import Database


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        database = Database.connect(f"sqlite:///{Path(folder) / 'check.sqlite'}")
        try:
            migrate.upgrade(database)
            migrate.check(database)
        except CommandError as error:
            sys.stderr.write(f"migrations: {error}\n  write a migration for it in migrations/versions\n")
            return 1
        finally:
            database.close()
    sys.stdout.write("migrations: the models and the newest migration agree\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
