"""Every command of docs/operating.md, in the order of the page, in one installation of the wheel.

Blocks marked ```sh are run by bash as the account `leaderboard` has it: in the home folder, with ~/.profile read; any
command that fails fails the test. Blocks marked ```console, with lines that begin with `#`, need root and a machine of
their own; ROOTS lists the programs that may stand there. Everything else is no command: SQL, settings, units.

In place of other machines there are, by the texts of REPLACED, a PostgreSQL, a mail server, an S3 service (moto) and
nginx of the test's own. The site and two workers are started where the page has started them, as the units say.

    python -m pytest -n 0 tests/installed/test_operating_page.py     # half a minute; its output is the page's
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
import sqlalchemy as sa
from moto.server import ThreadedMotoServer

from tests.support.installed import environment_of_a_stranger, prepare
from tests.support.mail import mail_server
from tests.support.processes import Process, free_port
from tests.support.proxy import nginx_before
from tests.support.shared import REPOSITORY

PAGE = REPOSITORY / "docs" / "operating.md"
HOME = "/var/lib/leaderboard"
UNITS = REPOSITORY / "deploy" / "systemd"
STARTED_BEFORE = "Proxy and TLS"  # the section
ROOTS = {"adduser", "apt-get", "certbot", "cp", "runuser", "sed", "su", "systemctl"}
NO_COMMANDS = {"ini", "sql", "text", "yaml"}
PASSWORD = "keep this harbour"  # it opens nothing
SECONDS = 120


@dataclass(frozen=True)
class Block:
    """A fenced block of the page: the section that it stands in, what it is marked as, its lines."""

    section: str
    kind: str
    text: str


def _blocks() -> Iterator[Block]:
    section = ""
    for found in re.finditer(r"^## ([^\n]+)$|^```(\S*)\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL):
        if found[1]:
            section = found[1]
        else:
            yield Block(section, found[2], found[3])


def test_only_what_needs_root_and_a_machine_of_its_own_is_not_run() -> None:
    for block in _blocks():
        assert block.kind in {"sh", "console", *NO_COMMANDS}, block
        if block.kind == "console":
            commands = [line for line in block.text.splitlines() if not line.startswith("    ")]
            assert [line for line in commands if not line.startswith("# ") or line.split()[1] not in ROOTS] == []


@dataclass
class Machine:
    """home: of the user; replaced: a text of the page -> what stands for it here."""

    home: Path
    environment: dict[str, str]
    replaced: dict[str, str]

    def run(self, block: Block) -> None:
        text = block.text
        for mine, own in self.replaced.items():
            text = text.replace(mine, own)
        bash = ["bash", "-e", "-o", "pipefail", "-c", f". ~/.profile\n{text}"]
        done = subprocess.run(
            bash, cwd=self.home, env=self.environment, input=f"{PASSWORD}\n", capture_output=True, text=True,
            timeout=SECONDS,
        )  # fmt: skip
        print(f"{text}--- {done.returncode}\n{done.stdout}{done.stderr}")
        assert done.returncode == 0, f"## {block.section}\n{text}\n{done.stdout}{done.stderr}"

    def start(self, unit: str, *more: str) -> Process:
        """What systemd would start; more: options of this machine's."""
        text = (UNITS / unit).read_text().replace(HOME, str(self.home))
        [command] = re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE)
        settings = f"set -a; . {self.home}/leaderboard.env; set +a; exec {command} {' '.join(more)}"
        return Process(["bash", "-c", settings], cwd=self.home, env=self.environment)


def _database(postgres_url: str) -> dict[str, str]:
    """An account and an empty database, both called as on the page; how its programs find them."""
    url = sa.make_url(postgres_url).set(drivername="postgresql+psycopg")
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql("CREATE ROLE leaderboard LOGIN PASSWORD 'harbour'")
        connection.exec_driver_sql("CREATE DATABASE leaderboard OWNER leaderboard TEMPLATE template0")
    engine.dispose()
    host, port = url.query.get("host", url.host), url.query.get("port", url.port or 5432)
    return {"PGHOST": str(host), "PGPORT": str(port), "PGUSER": "leaderboard", "PGPASSWORD": "harbour"}


def _drop(postgres_url: str) -> None:
    engine = sa.create_engine(
        sa.make_url(postgres_url).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT"
    )
    with engine.connect() as connection:
        for name in connection.scalars(sa.text("SELECT datname FROM pg_database WHERE datname LIKE 'leaderboard%'")):
            if not name.startswith("leaderboard_test"):
                connection.exec_driver_sql(f'DROP DATABASE "{name}" WITH (FORCE)')
        connection.exec_driver_sql("DROP ROLE leaderboard")
    engine.dispose()


@pytest.fixture
def machine(wheel: Path, postgres_url: str, tmp_path: Path) -> Iterator[Machine]:
    home = tmp_path / "home"
    prepare(wheel, home / "venv", ["site"])
    (home / ".profile").touch()
    shutil.copy(wheel, home)
    own = {name: value for name, value in environment_of_a_stranger().items() if not name.startswith("LEADERBOARD_")}
    with ExitStack() as stack:
        port = free_port()
        proxy = stack.enter_context(nginx_before(f"http://127.0.0.1:{port}", tmp_path))
        mailbox = stack.enter_context(mail_server())
        bucket = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        bucket.start()
        stack.callback(bucket.stop)
        service = "http://{}:{}".format(*bucket.get_host_and_port())
        urlopen(Request(f"{service}/leaderboard", method="PUT")).close()
        stack.callback(_drop, postgres_url)
        environment = {
            **own,
            **_database(postgres_url),
            "HOME": str(home),
            "PATH": f"{Path(sys.base_prefix) / 'bin'}:{os.environ['PATH']}",  # of python3
            "PIP_NO_INDEX": "1",
            "CURL_CA_BUNDLE": str(proxy.certificate),
            "SSL_CERT_FILE": str(proxy.certificate),
        }
        replaced = {
            "leaderboard init": "leaderboard init --password-stdin",
            HOME: str(home),
            "https://leaderboard.example.org": proxy.url,
            "http://127.0.0.1:8000": f"http://127.0.0.1:{port}",
            "smtps://user:password@mail.example.org": mailbox.url,
            "https://s3.example.org": service,
        }
        yield Machine(home, environment, replaced)


def test_every_command_of_the_page_works(machine: Machine) -> None:
    with ExitStack() as stack:
        is_up = False
        for block in _blocks():
            if block.kind != "sh":
                continue
            if block.section == STARTED_BEFORE and not is_up:
                address = machine.replaced["http://127.0.0.1:8000"]
                site = stack.enter_context(machine.start("leaderboard-site.service", "--port", address.split(":")[-1]))
                stack.enter_context(machine.start("leaderboard-worker@.service"))
                site.wait_for_url(f"{address}/healthz", seconds=SECONDS)
                is_up = True
            machine.run(block)
        assert is_up
