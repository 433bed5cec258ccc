"""The documents that texts of the site name are there, as plain text."""

import posixpath
import re
from collections.abc import Iterator

from flask import Flask

from tests.support.shared import REPOSITORY

NAMED = re.compile(r"(?<![\w/.-])/?((?:docs/[\w/-]+|SECURITY)\.md)")
LINKED = re.compile(r"\]\(([^)#:]+\.md)")


def _named() -> Iterator[str]:
    """Documents that a template or a string of the program names, as paths of the repository."""
    for folder in ("templates", "leaderboard"):
        for path in sorted((REPOSITORY / folder).rglob("*")):
            if path.suffix in (".html", ".py", ".js"):
                yield from NAMED.findall(path.read_text(encoding="utf-8"))


def _linked(name: str, text: str) -> Iterator[str]:
    """Documents that a document links to, as paths of the repository."""
    for link in LINKED.findall(text):
        yield posixpath.normpath(posixpath.join(posixpath.dirname(name), link))


def test_every_document_that_a_text_of_the_site_names_is_served_with_those_that_it_links_to(app: Flask) -> None:
    browser = app.test_client()
    waiting = {"SECURITY.md", "docs/accounts.md", "docs/api.md", "docs/import.md", *_named()}
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        answer = browser.get(f"/{name}")
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/plain; charset=utf-8"), name
        assert answer.text.startswith("# "), name
        seen.add(name)
        waiting |= {one for one in _linked(name, answer.text) if one.startswith("docs/") or one == "SECURITY.md"} - seen
    assert len(seen) > 10


def test_no_other_file_is_served_below_docs(app: Flask) -> None:
    browser = app.test_client()
    for address in ("/docs/", "/docs/nothing.md", "/docs/../pyproject.toml", "/docs/pictures", "/docs/decisions/"):
        assert browser.get(address).status_code == 404, address
