"""The project's documents as pages: all that texts of the site name are there, and lead to each other."""

import re
from collections.abc import Iterator
from html import unescape
from urllib.parse import unquote, urljoin, urlsplit

from flask import Flask

from tests.support.shared import REPOSITORY

NAMED = re.compile(r"(?<![\w/.-])/?(?:docs/)?((?<=docs/)[\w/-]+|SECURITY)\.md")
ANCHOR = re.compile(r' id="([^"]+)"')
LINK = re.compile(r'<a [^>]*href="([^"]*)"')


def _named() -> Iterator[str]:
    """Documents that a template or a string of the program names, by their addresses."""
    for folder in ("templates", "leaderboard"):
        for path in sorted((REPOSITORY / folder).rglob("*")):
            if path.suffix in (".html", ".py", ".js"):
                yield from (f"/docs/{name}" for name in NAMED.findall(path.read_text(encoding="utf-8")))


def _links(address: str, page: str) -> set[str]:
    return {urljoin(address, unescape(link)) for link in LINK.findall(page)}


def test_every_document_is_a_page_whose_links_and_anchors_lead_somewhere(app: Flask) -> None:
    files = {path.relative_to(REPOSITORY / "docs").with_suffix("") for path in (REPOSITORY / "docs").rglob("*.md")}
    waiting = {"/docs/", *_named()}
    anchors: dict[str, set[str]] = {}
    asked: set[str] = set()
    while waiting:
        address = waiting.pop()
        page = app.test_client().get(address)
        assert (page.status_code, page.mimetype) == (200, "text/html"), address
        assert "style=" not in page.text, address  # which the policy of the pages forbids
        anchors[address] = {*ANCHOR.findall(page.text)}
        links = {link for link in _links(address, page.text) if link.startswith("/docs/")}
        asked |= links
        waiting |= {link.partition("#")[0] for link in links} - anchors.keys()
    assert {f"/docs/{name}" for name in files} == anchors.keys() - {"/docs/"}
    lost = [link for link in asked if (at := urlsplit(link)).fragment and unquote(at.fragment) not in anchors[at.path]]
    assert lost == []


def test_links_to_files_of_the_repository_are_their_words_alone(app: Flask) -> None:
    assert "../CONTRIBUTING.md" in (REPOSITORY / "docs" / "statistics.md").read_text(encoding="utf-8")
    page = app.test_client().get("/docs/statistics").text
    assert "CONTRIBUTING" in page
    assert not [link for link in _links("/docs/statistics", page) if "CONTRIBUTING" in link]


def test_headings_of_all_documents_are_searched_by_words_in_any_order(app: Flask) -> None:
    page = app.test_client().get("/docs/?q=EXAMPLES+api").text
    assert "1 heading with “EXAMPLES api”" in page
    assert 'href="/docs/api#three-examples"' in page
    assert (
        '<a class="alone" href="/docs/statistics">Statistics</a>' in app.test_client().get("/docs/?q=statistics").text
    )
    assert "No heading has these words" in app.test_client().get("/docs/?q=gibberish").text
    assert "heading with" not in app.test_client().get("/docs/?q=+").text


def test_examples_name_this_site(app: Flask) -> None:
    for address in ("/docs/api", "/api"):
        page = app.test_client().get(address).text
        assert "curl 'http://localhost/api/v1/campaigns/harbour" in page
        assert "leaderboard.example" not in page


def test_no_other_file_is_served_below_docs(app: Flask) -> None:
    browser = app.test_client()
    for address in ("/docs/nothing", "/docs/../pyproject.toml", "/docs/pictures", "/docs/decisions/", "/docs/api.md"):
        assert browser.get(address).status_code == 404, address


def test_a_slash_at_the_end_leads_to_the_document(app: Flask) -> None:
    answer = app.test_client().get("/docs/statistics/")
    assert (answer.status_code, answer.headers["Location"]) == (308, "/docs/statistics")
