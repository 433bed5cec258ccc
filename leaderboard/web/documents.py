"""The project's documents that pages and commands name, as the text that they are."""

from pathlib import Path

from flask import Blueprint, Response

from leaderboard.config import folder

blueprint = Blueprint("documents", __name__)

DOCS = folder("docs")
SECURITY = "SECURITY.md"  # whose links start from the folder above


def _names(of: Path) -> str:
    """The documents of a folder as alternatives of a rule: an address that a request made up leads to no file."""
    return ", ".join(f"'{path.name}'" for path in sorted(of.glob("*.md")) if path.name != SECURITY)


@blueprint.get(f"/docs/<any({_names(DOCS)}):name>")
def document(name: str) -> Response:
    """One of them: how accounts work, how a campaign is imported, what figures rest on, and so on."""
    return _text(name)


@blueprint.get(f"/docs/decisions/<any({_names(DOCS / 'decisions')}):name>")
def decision(name: str) -> Response:
    """Why something is done as it is."""
    return _text(f"decisions/{name}")


@blueprint.get("/SECURITY.md")
def security() -> Response:
    """What is promised against whom, and how to report a hole."""
    return _text(SECURITY)


def _text(name: str) -> Response:
    return Response((DOCS / name).read_text(encoding="utf-8"), mimetype="text/plain")  # with charset=utf-8
