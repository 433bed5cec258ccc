"""Style sheets and scripts: fetched once, kept for a year, and fetched anew as soon as their content changes."""

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from flask import Flask, current_app

__all__ = ["STATIC", "init_app"]

STATIC = frozenset({"static", "bootstrap.static"})  # the endpoints that serve files
A_YEAR = 365 * 24 * 3600  # seconds


def init_app(app: Flask) -> None:
    """Static files are kept by browsers for a year, under addresses that change with their content."""
    app.config["SEND_FILE_MAX_AGE_DEFAULT"] = A_YEAR
    app.url_defaults(_add_version)


def _add_version(endpoint: str, values: dict[str, Any]) -> None:
    """Puts a digest of the file's content into its address."""
    if endpoint in STATIC and "filename" in values:
        blueprint = current_app.blueprints.get(endpoint.rpartition(".")[0])
        folder = (blueprint or current_app).static_folder
        values["v"] = _digest(Path(folder or "") / values["filename"])


@cache
def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:12] if file.is_file() else ""
