"""What an installation sets, read from the environment once, and where the product's own folders are."""

import os
import re
from collections.abc import Mapping
from dataclasses import Field, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from leaderboard.errors import BadInput
from leaderboard.frozen import frozen

MAIL_ADDRESS = re.compile(r"[^@\s<>()\[\],;:\\\"]+@[a-z0-9.-]+", re.IGNORECASE)
WHOLE = re.compile("[0-9]{1,18}")
METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # what prometheus_client calls the folder that processes share
PREFIX = "LEADERBOARD_"
# By cli/options and the tests.
READ_ELSEWHERE = {f"{PREFIX}{name}" for name in ("TOKEN", "SERVER", "TEST_POSTGRES_URL", "SHARED")}
YES, NO = {"1", "yes", "true", "on"}, {"0", "no", "false", "off"}
HOST_NAME = re.compile(r"\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")  # no port


def folder(name: str) -> Path:
    """Where `templates`, `migrations`, `seeds` or `docs` is: in the installed package, else beside it (a checkout)."""
    package = Path(__file__).parent
    inside = package / name
    return inside if inside.is_dir() else package.parent / name


def _setting(default: Any, help: str, least: int = 0, most: int | None = None) -> Any:  # noqa: A002  # what every parser of options calls it
    """least, most: of a number; of a text that is not empty `least` characters."""
    return field(default=default, metadata={"help": help, "least": least, "most": most})


@frozen
class MailServer:
    """Where mails are handed over. encrypted: from the first byte; else by STARTTLS, where the server offers it."""

    host: str
    port: int
    encrypted: bool
    user: str
    password: str = field(repr=False)
    sender: str


@frozen
class Config:
    """One installation. Every field comes from the environment variable LEADERBOARD_<FIELD> when that is set.

    The list of settings is here and nowhere else: `leaderboard --help` prints it from these fields.
    """

    database_url: str = _setting("sqlite:///leaderboard.sqlite", "The database: a URL of SQLite or PostgreSQL.")
    database_connections: int = _setting(10, "The most connections to PostgreSQL of a process of the site.", least=6)
    store_url: str = _setting("store", "What keeps the run files: a folder, or s3://bucket/prefix.")
    secret_key: str = _setting("", "Signs sessions and forms. The site does not start without one.", least=32)
    upload_bytes: int = _setting(512 * 2**20, "The largest upload, as received.", least=1000)
    text_bytes: int = _setting(4 * 2**30, "The largest upload once it is decompressed.", least=1000)
    upload_bytes_per_second: int = _setting(10_000, "The least average speed of an upload, after 30 s; 0: no limit.")
    upload_seconds: int = _setting(30 * 60, "The longest that an upload may take; 0: no limit.")
    lease_seconds: int = _setting(30, "How long a worker may be silent before its run goes to another.", 2, 3600)
    job_seconds: int = _setting(15 * 60, "Processor seconds to score a run, which may take three times that.", least=1)
    job_bytes: int = _setting(8 * 2**30, "The address space that scoring one run may use; 0: no limit.")
    hosts: str = _setting("localhost, 127.0.0.1, [::1]", "The names that the site answers to, without ports.")
    kept_bytes: int = _setting(64 * 2**20, "Memory of each process of the site for the page cache; 0: no cache.")
    secure_cookies: bool = _setting(True, "Send cookies over HTTPS only; `no` for a local trial without TLS.")
    trusted_proxies: int = _setting(0, "How many proxies in front may set X-Forwarded-For, -Proto and -Host.", most=10)
    public_url: str = _setting("http://localhost:8000", "The public address of the site, for links in mails.")
    smtp_url: str = _setting("", "The mail server: smtp://user:password@host:587 or smtps://…; without one mails wait.")
    mail_from: str = _setting("", "The address that mails are sent from.")
    oidc_file: str = _setting("", "A TOML file of OpenID Connect providers to log in with: docs/accounts.md.")
    deadline_days: int = _setting(3, "How many days before a closing teams get a mail; 0: never.", most=365)
    log: str = _setting("text", "How events are logged, one a line: text or json.")
    metrics_token: str = _setting("", "What Prometheus sends to read /metrics; without one there is no such page.", 32)
    access_log: bool = _setting(False, "Log each request, too: its status, bytes and seconds.")

    def __post_init__(self) -> None:
        """Raises BadInput for an address, a host or a mail server that can't be right, whatever reads them."""
        _ = self.site_url, self.host_names, self.mail_server

    @property
    def host_names(self) -> frozenset[str]:
        """`hosts`, one by one and in lower case. Raises BadInput when one can't be the name of a host."""
        names = [name.strip().lower() for name in self.hosts.split(",") if name.strip()]
        for name in names:
            if not HOST_NAME.fullmatch(name):
                raise BadInput(f"LEADERBOARD_HOSTS: expected names such as leaderboard.example.org, found {name!r}")
        return frozenset(names)

    @property
    def site_url(self) -> str:
        """`public_url` without a slash at its end: what a path is put behind. Raises BadInput when it is no address."""
        parts = urlsplit(self.public_url)
        host = (parts.hostname or "").lower()
        named = f"[{host}]" if ":" in host else host
        if parts.scheme not in {"http", "https"} or not HOST_NAME.fullmatch(named) or parts.path.strip("/"):
            expected = "LEADERBOARD_PUBLIC_URL: expected an address without a path, such as https://board.example.org"
            raise BadInput(f"{expected}, found {self.public_url!r}")
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"

    @property
    def mail_server(self) -> MailServer | None:
        """What `smtp_url` and `mail_from` say; None without a mail server. Raises BadInput when they can't be read."""
        if not self.smtp_url:
            return None
        try:
            port = (parts := urlsplit(self.smtp_url)).port
        except ValueError:
            parts, port = urlsplit(""), None
        if parts.scheme not in {"smtp", "smtps"} or not parts.hostname:
            raise BadInput(
                "LEADERBOARD_SMTP_URL: expected smtp://user:password@host:587 or smtps://user:password@host"
                ", in the password %23 for #, %2F for /"
            )
        if not MAIL_ADDRESS.fullmatch(self.mail_from):
            raise BadInput(f"LEADERBOARD_MAIL_FROM: expected a mail address to send from, found {self.mail_from!r}")
        if self.public_url == Config().public_url:
            raise BadInput("LEADERBOARD_PUBLIC_URL: with a mail server set it, too: links in mails lead there")
        return MailServer(
            host=parts.hostname,
            port=port or 0,  # smtplib's own default
            encrypted=parts.scheme == "smtps",
            user=unquote(parts.username or ""),
            password=unquote(parts.password or ""),
            sender=self.mail_from,
        )

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> "Config":
        """Raises BadInput that names the variable where a value can't be read or is out of bounds, or a name is nearly
        a setting's."""
        names = [setting.name for setting in fields(cls)]
        for name in unknown_settings(environment):
            for meant in get_close_matches(name.removeprefix(PREFIX).lower(), names, 1):
                raise BadInput(f"{name} is no setting; did you mean {PREFIX}{meant.upper()}? See `leaderboard --help`")
        texts = {setting: environment.get(_variable(setting)) for setting in fields(cls)}
        return cls(**{setting.name: _read(setting, text) for setting, text in texts.items() if text is not None})

    def as_environment(self) -> dict[str, str]:
        """What `from_environment` reads as this installation."""
        return {_variable(setting): _written(getattr(self, setting.name)) for setting in fields(self)}

    @classmethod
    def described(cls) -> list[tuple[str, str]]:
        """(environment variable, what it sets with its default) of every setting."""
        return [
            (_variable(setting), f"{setting.metadata['help']} Default: {'; '.join(filter(None, numbers))}.")
            for setting in fields(cls)
            for numbers in [(_written(setting.default) or "none", _bounds(setting))]
        ]


def unknown_settings(environment: Mapping[str, str] = os.environ) -> list[str]:
    """The names that look like a setting's and are read by nothing here."""
    known = READ_ELSEWHERE.union(map(_variable, fields(Config)))
    return sorted(name for name in environment if name.startswith(PREFIX) and name not in known)


def _variable(setting: Field[Any]) -> str:
    return f"{PREFIX}{setting.name.upper()}"


def _bounds(setting: Field[Any]) -> str:
    """In words, where bounds are declared."""
    least, most = setting.metadata["least"], setting.metadata["most"]
    if most is not None:
        return f"from {least:,} to {most:,}"
    kind = " characters" if isinstance(setting.default, str) else ""
    return f"at least {least:,}{kind}" if least else ""


def _written(value: object) -> str:
    """As the environment has it."""
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


def _read(setting: Field[Any], text: str) -> Any:
    name, default = _variable(setting), setting.default
    if "\n" in text:
        raise BadInput(f"{name}: a line break in it; is a quote left open in the file of settings?")
    least, most = setting.metadata["least"], setting.metadata["most"]
    if isinstance(default, bool):
        if text.lower() not in YES | NO:
            raise BadInput(f"{name}: expected yes or no, found {text!r}")
        return text.lower() in YES
    if isinstance(default, int):
        if not WHOLE.fullmatch(text):
            raise BadInput(f"{name}: expected a whole number, found {text!r}")
        if int(text) < least or (most is not None and int(text) > most):
            raise BadInput(f"{name}: expected a whole number, {_bounds(setting)}, found {text}")
        return int(text)
    if 0 < len(text) < least:  # which is not printed: it may be a secret
        raise BadInput(f"{name}: expected {_bounds(setting)}, found {len(text)}")
    return text
