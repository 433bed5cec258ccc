"""What an installation sets, read from the environment once, and where the product's own folders are."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from leaderboard.errors import BadInput

__all__ = ["Config", "folder"]


def folder(name: str) -> Path:
    """Where `templates`, `migrations` or `seeds` is: inside the installed package, else beside it (a checkout)."""
    package = Path(__file__).parent
    inside = package / name
    return inside if inside.is_dir() else package.parent / name


@dataclass(frozen=True, slots=True)
class Config:
    """One installation. Every field comes from the environment variable LEADERBOARD_<FIELD> when that is set.

    database_url      SQLAlchemy URL of SQLite or PostgreSQL
    store_url         folder that keeps the run files
    secret_key        signs sessions and forms; must be set to serve outside the demonstration
    upload_bytes      largest upload as received
    text_bytes        largest upload after decompression
    lease_seconds     how long a worker may be silent before its job goes to another
    job_seconds       longest time that one scoring may take
    job_bytes         address space that one scoring may use
    secure_cookies    cookies only over HTTPS (off for a plain local trial)
    trusted_proxies   number of reverse proxies in front whose X-Forwarded headers are believed
    """

    database_url: str = "sqlite:///leaderboard.sqlite"
    store_url: str = "store"
    secret_key: str = ""
    upload_bytes: int = 512 * 2**20
    text_bytes: int = 4 * 2**30
    lease_seconds: int = 30
    job_seconds: int = 15 * 60
    job_bytes: int = 8 * 2**30
    secure_cookies: bool = True
    trusted_proxies: int = 0

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> "Config":
        """Raises BadInput that names the variable when a value can't be read."""
        given: dict[str, str | int | bool] = {}
        for field in fields(cls):
            name = f"LEADERBOARD_{field.name.upper()}"
            text = environment.get(name)
            if text is not None:
                given[field.name] = _read(name, text, field.default)
        return cls(**given)  # type: ignore[arg-type]  # each value has its default's type, by _read


def _read(name: str, text: str, default: object) -> str | int | bool:
    if isinstance(default, bool):
        if text.lower() in {"1", "yes", "true", "on"}:
            return True
        if text.lower() in {"0", "no", "false", "off"}:
            return False
        raise BadInput(f"{name}: expected yes or no, found {text!r}")
    if isinstance(default, int):
        try:
            number = int(text)
        except ValueError:
            raise BadInput(f"{name}: expected a whole number, found {text!r}") from None
        if number < 0:
            raise BadInput(f"{name}: expected a number that is not negative, found {text!r}")
        return number
    return text
