"""Draws many requests to the API from its own document: none may make a server error or get an answer of another type.

python -m trials api --examples 200
"""

import argparse
import tempfile
from contextlib import closing
from pathlib import Path
from typing import get_args

from leaderboard.config import Config
from leaderboard.db import Database
from leaderboard.migrate import upgrade
from leaderboard.web.app import create_app
from tests.support.asking import Mode, ask_everything, set_up


def main(arguments: list[str]) -> int:
    """0; a request that fails is printed with its answer and leaves with an exception."""
    parser = argparse.ArgumentParser(prog="api", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--examples", type=int, default=100, help="requests of each operation")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'api.sqlite'}"
        with closing(Database.connect(url)) as database:
            upgrade(database)
        config = Config(
            database_url=url,
            store_url=f"{folder}/store",
            secret_key="a key that only this trial knows..",
            secure_cookies=False,
        )
        app = create_app(config)
        token, places = set_up(app)
        for mode in get_args(Mode):
            tried = ask_everything(app, token, places, mode, options.examples, derandomize=False)
            print(f"{mode}: {len(tried)} operations, {options.examples} requests drawn of each: no server error")
        app.extensions["database"].close()
    return 0
