"""`leaderboard init`, `status` and `doctor`: an installation made, looked at and examined."""

import os
import secrets
import shlex
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import click

from leaderboard import migrate
from leaderboard.access import CONSOLE
from leaderboard.accounts import writes as people
from leaderboard.accounts.models import User
from leaderboard.audit.writes import present
from leaderboard.cli.database import connected, reading
from leaderboard.cli.options import Reads, aligned, flag, json_text, option
from leaderboard.cli.users import ask_password, password_stdin
from leaderboard.config import Config
from leaderboard.db import Database, exists
from leaderboard.errors import BadInput
from leaderboard.operating.doctor import PROBLEM, day_of, examine
from leaderboard.operating.reads import installation_status
from leaderboard.private_files import private_file
from leaderboard.store import RunStore
from leaderboard.submissions.writes.run_store import bind

JSON = flag("--json as_json", "Print JSON.")
NEXT = """made the settings {path}, which only you can read. Next, in a shell each:

set -a; . {path}; leaderboard serve
set -a; . {path}; leaderboard worker"""


def _new(text: str) -> Path:
    if (path := Path(text).absolute()).exists():
        raise ValueError(f"{text} is there already, and stays as it is; give another name")
    return path


def _sound(check: Callable[[str], object]) -> Reads:
    """A text that a check of the settings takes: a question is asked again at once."""

    def read(text: str) -> str:
        try:
            check(text)
        except BadInput as error:
            raise ValueError(error.message) from error
        return text

    return Reads("text", read)


DATABASE = _sound(lambda text: "://" in text and Database.connect(text))
ADDRESS = _sound(lambda text: Config(public_url=text))
SMTP = _sound(lambda text: Config(smtp_url=text, mail_from="a@b.example", public_url="http://b.example"))


@click.command()
@option("--file path", "The file of settings to make.", Reads("file", _new), default="leaderboard.env", is_eager=True)
@option("--database", "A folder or a URL.", DATABASE, prompt="Database (folder, or postgresql://…)", default=".")
@option("--store", "What keeps the run files.", prompt="Folder of the run files", default="store")
@option("--public-url", "Where the site is.", ADDRESS, prompt="Address of the site", default=Config().public_url)
@option("--smtp", "The mail server.", SMTP, prompt="Mail server, if any (smtp://user:password@host:587)", default="")
@option("--mail-from", "The address that mails come from.", default="")
@option("--admin", "Name of the first account, which may do everything.", prompt="Name of the first admin")
@password_stdin
def init(
    path: Path, database: str, store: str, public_url: str, smtp: str, mail_from: str, admin: str, stdin: str | None
) -> None:
    """Make an installation: its file of settings, database, store and first admin. Asks for what is not given.

    After a failure, start it again: it goes on. It overwrites nothing.

    \b
    leaderboard init
    """
    if smtp and not mail_from:
        mail_from = click.prompt("Mails come from")
    address, own = urlsplit(public_url), Path(database, "leaderboard.sqlite").absolute()
    is_encrypted = address.scheme == "https"
    config = replace(
        Config.from_environment(),  # what is set already, such as for a bucket, goes into the file too
        database_url=database if "://" in database else f"sqlite:///{own}",
        store_url=store if "://" in store else str(Path(store).absolute()),
        secret_key=secrets.token_hex(32),
        hosts=",".join(dict.fromkeys((address.hostname or "", "localhost", "127.0.0.1"))),
        secure_cookies=is_encrypted,
        trusted_proxies=int(is_encrypted),  # the one that does TLS
        public_url=public_url,
        smtp_url=smtp,
        mail_from=mail_from,
    )
    new = people.new_account(admin, ask_password(stdin))
    if "://" not in database:
        own.parent.mkdir(parents=True, exist_ok=True)
    with connected(config) as opened:
        migrate.upgrade(opened)
        bind(opened, RunStore(config.store_url, config, must_exist=True))
        with opened.write() as session:
            if not exists(session, User.is_admin.is_(True)):  # else it was made before something failed
                people.create_user(session, CONSOLE, new, is_admin=True)
    private_file(path)
    of_bucket = {name: text for name, text in os.environ.items() if name.startswith("AWS_")}
    settings = of_bucket | dict(config.as_environment().items() - Config().as_environment().items())
    path.write_text("".join(f"{name}={shlex.quote(settings[name])}\n" for name in sorted(settings)), encoding="utf-8")
    click.echo(NEXT.format(path=shlex.quote(str(path))))


@click.command()
@JSON
def status(as_json: bool) -> None:
    """Say what is going on: the queue, workers, mails, the last verification and backup.

    \b
    leaderboard status

    A run counts once for each set of judgments that it is scored by.
    """
    with reading() as session:
        now = installation_status(session, present())
    age = f", the oldest for {timedelta(seconds=round(now.waiting_seconds))}" if now.waiting_seconds is not None else ""
    rows = [
        ("runs", f"{now.waiting:,} waiting{age}; {now.scoring:,} being scored; {now.failed:,} failed"),
        *(("worker", f"{each.name}, version {each.version}, {each.silent_seconds:.0f} s ago") for each in now.workers),
        ("mails", f"{now.mails_waiting:,} waiting; {now.mails_failed:,} failed"),
        ("verified", f"{day_of(now.verified.clean_at)}{', differences since' if now.verified.differences else ''}"),
        ("backed up", day_of(now.backed_up_at)),
    ]
    click.echo(json_text(asdict(now)) if as_json else aligned(rows, (0, 1)), nl=False)


@click.command()
@JSON
def doctor(as_json: bool) -> int:
    """Examine the installation: settings, certificate, mail, disk, database, clock, store, workers, backup.

    Says what to do about each finding. The exit status is 1 where one is a problem. Sends no mail and changes nothing.

    \b
    leaderboard doctor
    """
    findings = [finding._asdict() for finding in examine(Config.from_environment())]
    rows = [tuple(finding.values()) for finding in findings]
    click.echo(json_text(findings) if as_json else aligned(rows, (0, 1, 2)), nl=False)
    return int(any(finding["verdict"] == PROBLEM for finding in findings))
