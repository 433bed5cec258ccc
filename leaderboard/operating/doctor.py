"""What may be wrong with an installation, and what to do about it: the checks of `leaderboard doctor`.

A check gives the state of its part, and doubts about it, each as whether it holds, its verdict, and words that say what
to do. An error that a check raises is a problem, and the other checks are made all the same.
"""

import os
import shutil
import socket
import ssl
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import sqlalchemy as sa

from leaderboard import migrate
from leaderboard.config import Config, unknown_settings
from leaderboard.db import Database, clock
from leaderboard.errors import LeaderboardError, Unavailable
from leaderboard.mail.smtp import connected, is_here
from leaderboard.moments import moment_in_words
from leaderboard.numbers import counted, size
from leaderboard.operating.reads import SILENT_SECONDS, installation_status
from leaderboard.store import RunStore
from leaderboard.submissions.writes.run_store import require_own

SECONDS = 5.0  # to wait for a server
OK, WARNING, PROBLEM, NOT_CHECKED = "ok", "warning", "problem", "not checked"
NEEDED = "the database is needed for this"
Answer = tuple[str, list[tuple[object, str, str]]]


class Finding(NamedTuple):
    """words: the state of what was checked and, where it is not ok, what to do."""

    check: str
    verdict: str
    words: str


def _settings(config: Config, _: Database) -> Answer:
    url, host, names = config.site_url, urlsplit(config.site_url).hostname or "", config.host_names
    tls, far = url.startswith("https:"), not is_here(host)
    return f"the site is {url}", [
        (not config.secret_key, PROBLEM, "no secret key: set LEADERBOARD_SECRET_KEY to a long random text"),
        (host not in names, PROBLEM, f"the site does not answer to {host}: add this name to LEADERBOARD_HOSTS"),
        (far and not tls, PROBLEM, f"{url} has no TLS for log-ins: set up a proxy, and LEADERBOARD_PUBLIC_URL=https://…"),
        (tls and not config.secure_cookies, WARNING, "cookies may go unencrypted: unset LEADERBOARD_SECURE_COOKIES"),
        (config.oidc_file and not os.access(config.oidc_file, os.R_OK), PROBLEM,
         f"LEADERBOARD_OIDC_FILE: {config.oidc_file} can't be read: without it the site does not start"),
        (tls and not config.trusted_proxies, WARNING, "TLS but no proxy: set LEADERBOARD_TRUSTED_PROXIES to 1 or more"),
        *((True, WARNING, f"{name} is no setting: `leaderboard --help` lists them") for name in unknown_settings()),
    ]  # fmt: skip


def _certificate(config: Config, _: Database) -> Answer:
    address = urlsplit(config.site_url)
    if address.scheme == "http":
        return "the public URL needs none", []
    connection = socket.create_connection((address.hostname or "", address.port or 443), timeout=SECONDS)
    with ssl.create_default_context().wrap_socket(connection, server_hostname=address.hostname) as encrypted:
        ends = ssl.cert_time_to_seconds(str((encrypted.getpeercert() or {})["notAfter"]))
    days = (datetime.fromtimestamp(ends, UTC) - datetime.now(UTC)).days
    state = f"good for {counted(days, 'day')}"
    return state, [(days < 14, WARNING, f"{state}: see why it is not renewed")]


def _mail(config: Config, _: Database) -> Answer:
    if config.mail_server is None:
        return "", [(True, WARNING, "no mail server: set LEADERBOARD_SMTP_URL and LEADERBOARD_MAIL_FROM")]
    with connected(config.mail_server):
        return f"{config.mail_server.host} takes mails", []


def _disk(config: Config, _: Database) -> Answer:
    of_settings = config.store_url.removeprefix("file://"), Path(config.database_url.removeprefix("sqlite:///")).parent
    own = os.environ.get("TMPDIR") or tempfile.gettempdir()  # Python passes over a TMPDIR that is full or missing
    folders = {Path(path).absolute() for path in (own, *of_settings) if path == own or Path(path).is_dir()}
    free = {path: shutil.disk_usage(path).free for path in sorted(folders)}
    most = config.upload_bytes
    return ", ".join(f"{size(space)} free in {path}" for path, space in free.items()), [
        (space < 4 * most, PROBLEM if space < most else WARNING,
         f"{size(space)} free in {path}: make room, one upload may have {size(most)}")
        for path, space in free.items()
    ]  # fmt: skip


def _database(_: Config, database: Database) -> Answer:
    revision, engine = migrate.current(database), database.engine.dialect.name
    migrate.require_known(revision)
    version = ".".join(map(str, database.engine.dialect.server_version_info or ()))
    doubt = revision != migrate.newest(), PROBLEM, f"schema {revision or 'missing'}: run `leaderboard db upgrade`"
    return f"{engine} {version}, schema {revision}", [doubt]


def _clock(_: Config, database: Database) -> Answer:
    with database.read() as session:
        ahead = (session.scalars(sa.select(clock())).one() - datetime.now(UTC)).total_seconds()
    state = f"the database's is {abs(ahead):.1f} s {'ahead of' if ahead > 0 else 'behind'} this host's"
    return state, [(abs(ahead) > 2, PROBLEM if abs(ahead) > 60 else WARNING, f"{state}: set both by NTP")]


def _store(config: Config, database: Database) -> Answer:
    store = RunStore(config.store_url, config, must_exist=True)
    with database.read() as session:
        store.bound = require_own(session, store)
    store.check()
    return f"{config.store_url} is the database's own and takes files", []


def _work(_: Config, database: Database) -> Answer:
    now = datetime.now(UTC)
    with database.read() as session:
        status = installation_status(session, now)
    age, differ = status.waiting_seconds or 0, status.verified.differences
    alive = sum(worker.silent_seconds < SILENT_SECONDS for worker in status.workers)
    state = f"{counted(alive, 'worker')} seen within two minutes, {counted(status.waiting, 'run')} waiting"
    nightly = ("verify", status.verified.clean_at), ("backup", status.backed_up_at)
    return state, [
        (not alive, PROBLEM if status.waiting else WARNING, f"{state}: start `leaderboard worker`"),
        (age > 900, WARNING, f"a run has waited for {age / 60:,.0f} minutes: read the logs of the workers"),
        (status.failed, WARNING, f"{counted(status.failed, 'run')} not scored: `leaderboard submission list` says why"),
        (status.mails_failed, WARNING, f"{counted(status.mails_failed, 'mail')} not sent: see `leaderboard mail list`"),
        (differ, PROBLEM, f"the last `leaderboard verify` found {counted(differ, 'difference')}: run it again"),
        *((not done or done < now - timedelta(days=2), WARNING,
           f"run `leaderboard {command}` every night, last: {day_of(done)}") for command, done in nightly),
    ]  # fmt: skip


def day_of(moment: datetime | None) -> str:
    """In words; `never` for None."""
    return moment_in_words(moment) if moment else "never"


CHECKS: dict[Callable[[Config, Database], Answer], str] = {  # in this order, and what to do where one raises
    _settings: "correct this setting",
    _certificate: "correct the certificate, the proxy or LEADERBOARD_PUBLIC_URL; SSL_CERT_FILE names your own CA's",
    _mail: "mails wait; correct LEADERBOARD_SMTP_URL, or ask whoever runs the server",
    _disk: "make the folder, or let this account read it",
    _database: "start it, or correct LEADERBOARD_DATABASE_URL",
    _clock: "see the database's log",
    _store: "bring it back, let its key or this account write there, or correct LEADERBOARD_STORE_URL",
    _work: "see the database's log",
}


def examine(config: Config) -> Iterator[Finding]:
    """Makes every check; those after the database's are only named where that does not answer. Raises BadInput for a
    URL of no database."""
    is_away = False
    with closing(Database.connect(config.database_url, patience_seconds=SECONDS, must_exist=True)) as database:
        for check, to_do in CHECKS.items():
            name = check.__name__.removeprefix("_")
            try:
                state, doubts = (NEEDED, [(True, NOT_CHECKED, NEEDED)]) if is_away else check(config, database)
            except (LeaderboardError, OSError, sa.exc.SQLAlchemyError) as error:
                state = (isinstance(error, Unavailable) and error.reason) or str(error)
                doubts = [(True, PROBLEM, f"{state}; {to_do}")]
            findings = [Finding(name, verdict, words) for holds, verdict, words in doubts if holds]
            yield from findings or [Finding(name, OK, state)]
            is_away |= check is _database and PROBLEM in {finding.verdict for finding in findings}
