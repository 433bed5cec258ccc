"""What other sites get of ours: citations, feeds, badges, and what the head of a page tells them."""

import datetime as dt
import json
import re
from html import unescape
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient

from leaderboard.access import CONSOLE
from leaderboard.accounts import writes as people
from leaderboard.campaigns.models import Campaign
from leaderboard.campaigns.rules import Visibility
from leaderboard.evaluations.rules import Opening
from tests.support.field import DAY, NOW, Field
from tests.support.pages import text_of
from tests.support.world import new_account, signed_in
from tests.web.conftest import browser_of

SITE = "http://localhost:8000"
BOARD = "/campaigns/news/2026"
ATOM = "{http://www.w3.org/2005/Atom}"
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = 'A & B <i>"{x}\\y}" 50 % #1_'
pytestmark = pytest.mark.parametrize("engine_name", ["sqlite"])  # what is read: tests/sharing/test_reads.py, on both


@pytest.fixture
def visitor(app: Flask, field: Field) -> FlaskClient:
    return app.test_client()


def change_campaign(field: Field, **columns: Any) -> None:
    with field.database.write() as session:
        campaign = session.scalars(sa.select(Campaign)).one()
        for name, value in columns.items():
            setattr(campaign, name, value)


def bibtex_fields(text: str) -> dict[str, str]:
    """The fields of the one entry. Asserts that each has its braces closed, as BibTeX counts them."""
    start = re.match(r"@misc\{[a-z0-9-]+,\n", text)
    assert start
    fields, rest = {}, text[start.end() :]
    while field := re.match(r"  (\w+) = \{", rest):
        depth, at = 1, field.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(rest[at], 0)
            at += 1
        fields[field[1]] = rest[field.end() : at - 1]
        assert rest[at : at + 2] == ",\n"
        rest = rest[at + 2 :]
    assert rest == "}\n"
    return fields


def test_the_address_of_a_board_as_it_stood_works_before_and_after_another_takes_its_place(
    visitor: FlaskClient, field: Field
) -> None:
    run = field.run("Alder", {"AP": [0.8125] * 4})
    (cited,) = re.findall(rf'href="({BOARD}/boards/\d+)/cite"', visitor.get(BOARD).text)
    address = bibtex_fields(visitor.get(f"{cited}/cite.bib").text)["url"]
    assert address == SITE + cited
    assert "0.812" in text_of(visitor.get(cited).text)
    field.judge_again("q1 0 d1 1\nq2 0 d1 1\nq3 0 d2 1\nq4 0 d1 1\n", {run: {"AP": [0.5] * 4}})
    assert "0.812" not in text_of(visitor.get(BOARD).text)
    assert "0.812" in text_of(visitor.get(cited).text)
    page = text_of(visitor.get(f"{cited}/cite").text)
    since = NOW - 11 * DAY
    assert f"The year 2026 by revision 1 of the judgments, board of {since:%-d %b %Y}." in page
    assert (
        bibtex_fields(visitor.get(f"{cited}/cite.bib").text)["title"]
        == f"{{The year 2026: board of {since:%-d %b %Y}}}"
    )


def test_names_in_bibtex_are_text(visitor: FlaskClient, field: Field) -> None:
    field.change(title=HOSTILE, judgments_published=True)
    fields = bibtex_fields(visitor.get(f"{BOARD}/boards/1/cite.bib").text)
    written = r'A \& B \textless{}i\textgreater{}"\textbraceleft{}x\textbraceright{}\textbackslash{}y\textbraceright{}"'
    assert fields["title"].startswith(rf"{{{written} 50 \% \#1\_: board of ")
    assert fields["author"] == "{News search}"
    assert re.fullmatch(r"Revision 1 of the judgments, SHA-256 [0-9a-f]{64}", fields["note"])
    assert unescape(
        re.findall(r'<pre class="code" id="entry">(.*?)</pre>', visitor.get(f"{BOARD}/boards/1/cite").text, re.S)[0]
    ) == (visitor.get(f"{BOARD}/boards/1/cite.bib").text.strip())


def test_a_feed_has_what_atom_requires(visitor: FlaskClient, field: Field) -> None:
    """RFC 4287, sections 4.1.1 and 4.1.2."""
    field.change(title=HOSTILE)
    run = field.run("Alder", {"AP": [0.8] * 4})
    field.judge_again("q1 0 d1 1\nq2 0 d1 1\nq3 0 d2 1\nq4 0 d1 1\n", {run: {"AP": [0.5] * 4}})
    (address,) = re.findall(
        r'<link rel="alternate" type="application/atom\+xml"[^>]* href="([^"]+)">', visitor.get("/campaigns/news").text
    )
    answer = visitor.get(address)
    assert answer.mimetype == "application/atom+xml"
    root = ElementTree.fromstring(answer.text)
    assert root.tag == f"{ATOM}feed"
    entries = root.findall(f"{ATOM}entry")
    for element in (root, *entries):
        for name in ("id", "title", "updated"):
            assert len(element.findall(f"{ATOM}{name}")) == 1
        assert urlsplit(element.findtext(f"{ATOM}id")).scheme
        assert dt.datetime.fromisoformat(element.findtext(f"{ATOM}updated") or "").tzinfo
        links = element.findall(f"{ATOM}link")
        assert len({(link.get("rel"), link.get("type")) for link in links}) == len(links)
        for link in links:
            assert visitor.get((link.get("href") or "").removeprefix(SITE)).status_code == 200
    assert root.find(f"{ATOM}author/{ATOM}name") is not None
    assert root.find(f"{ATOM}link[@rel='self']") is not None
    assert len({entry.findtext(f"{ATOM}id") for entry in entries}) == len(entries) == 4
    moments = [entry.findtext(f"{ATOM}updated") or "" for entry in entries]
    assert moments == sorted(moments, reverse=True)
    assert root.findtext(f"{ATOM}updated") == moments[0]
    assert [(entry.findtext(f"{ATOM}title") or "").removeprefix(f"{HOSTILE}: ") for entry in entries] == [
        "closed", "judgments revised", "first board", "open for runs",
    ]  # fmt: skip


def test_a_badge_says_what_the_board_says_and_is_a_picture_of_its_own(visitor: FlaskClient, field: Field) -> None:
    run = field.run('<Alder & "co">', {"AP": [0.5125] * 4})
    field.run("Birch", {"AP": [0.7] * 4})
    answer = visitor.get(f"/submissions/{run}/badge.svg")
    assert (answer.mimetype, answer.headers["Cache-Control"]) == ("image/svg+xml", "public, max-age=600")
    assert "Set-Cookie" not in answer.headers
    root = ElementTree.fromstring(answer.text)
    assert root.findtext(f"{SVG}title") == '<Alder & "co">, The year 2026: AP 0.512 · rank 2 of 2'
    assert [text.text for text in root.iter(f"{SVG}text")] == ["The year 2026", "AP 0.512 · rank 2 of 2"]
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|url\(|<style|<script", answer.text)
    page = visitor.get(f"/submissions/{run}").text
    assert f"]({SITE}/submissions/{run}/badge.svg)]({SITE}/submissions/{run})" in page


def test_made_up_runs_are_called_so_wherever_they_show(visitor: FlaskClient, field: Field) -> None:
    run = field.run("Alder", {"AP": [0.8] * 4})
    addresses = [
        f"{BOARD}/boards/1/cite", f"{BOARD}/boards/1/cite.bib", f"{BOARD}/card.svg", f"{BOARD}.tex", f"{BOARD}.md",
        f"/submissions/{run}/badge.svg", "/campaigns/news/feed.atom", f"/submissions/{run}.tex", "/campaigns/news.tex",
        "/campaigns/news/progress.md", f"{BOARD}/queries.tex",
    ]  # fmt: skip
    assert not any("imulated" in visitor.get(address).text for address in addresses)
    change_campaign(field, simulated=True)
    assert [address for address in addresses if "imulated" not in visitor.get(address).text] == []
    for address in ("/campaigns/news", BOARD):
        found = data_set(visitor.get(address).text)
        assert found
        assert found["description"].endswith("The runs are simulated.")


@pytest.mark.parametrize(
    ("described", "begins"), [("", "1 system"), ("Of <a> year", "Of <a> year. 1 s"), ("Why?", "Why? 1 s")]
)
def test_what_search_engines_read_is_made_of_sentences(
    visitor: FlaskClient, field: Field, described: str, begins: str
) -> None:
    field.run("Alder", {"AP": [0.8] * 4})
    field.change(description=described)
    change_campaign(field, description="")
    found = data_set(visitor.get(BOARD).text)
    assert found
    assert found["description"].startswith(begins)


def test_what_is_embedded_elsewhere_tells_organisers_no_more_than_visitors(
    app: Flask, field: Field, visitor: FlaskClient, quick_hashes: None
) -> None:
    run = field.run("Alder", {"AP": [0.8] * 4})
    with field.database.write() as session:
        admin = people.create_user(session, CONSOLE, new_account("root"), is_admin=True)
        browser = browser_of(app, signed_in(session, admin.id))
    shown = visitor.get(f"{BOARD}/card.png").data
    field.change(results=Opening.NEVER)
    assert browser.get(f"/submissions/{run}").status_code == 200
    assert "Badge" not in browser.get(f"/submissions/{run}").text
    assert browser.get(f"/submissions/{run}/badge.svg").status_code == 404
    closed = browser.get(f"{BOARD}/card.png").data
    assert closed == visitor.get(f"{BOARD}/card.png").data != shown
    change_campaign(field, visibility=Visibility.PRIVATE)
    assert browser.get("/campaigns/news").status_code == 200
    assert browser.get("/campaigns/news/feed.atom").status_code == 404


def data_set(page: str) -> dict[str, Any] | None:
    blocks = re.findall(r'<script type="application/ld\+json">(.*?)</script>', page, re.S)
    assert len(blocks) < 2
    return json.loads(blocks[0]) if blocks else None


def test_search_engines_find_a_public_board_as_a_data_set(visitor: FlaskClient, field: Field) -> None:
    field.change(title="</script> & co")
    field.run("Alder", {"AP": [0.8] * 4})
    found = data_set(visitor.get(BOARD).text)
    assert found
    assert (found["@context"], found["@type"]) == ("https://schema.org", "Dataset")
    assert (found["name"], found["url"]) == ("</script> & co, News search", SITE + BOARD)
    assert found["identifier"] == f"{SITE}{BOARD}/boards/1"
    assert {file["contentUrl"] for file in found["distribution"]} == {f"{SITE}{BOARD}.csv", f"{SITE}{BOARD}.json"}
    assert "license" not in found
    of_campaign = data_set(visitor.get("/campaigns/news").text)
    assert of_campaign
    for file in (*found["distribution"], *of_campaign["distribution"]):
        answer = visitor.get(file["contentUrl"].removeprefix(SITE))
        assert (answer.status_code, answer.mimetype) == (200, file["encodingFormat"])


def test_a_link_to_a_public_board_comes_with_a_picture(visitor: FlaskClient, field: Field) -> None:
    field.run("Alder", {"AP": [0.8] * 4})
    (address,) = re.findall(r'<meta property="og:image" content="([^"]+)">', visitor.get(BOARD).text)
    answer = visitor.get(address.removeprefix(SITE))
    assert answer.mimetype == "image/png"
    assert answer.data[:8] == b"\x89PNG\r\n\x1a\n"
    assert [int.from_bytes(answer.data[at : at + 4], "big") for at in (16, 20)] == [1200, 630]


@pytest.mark.parametrize("closed", ["results", "evaluation", "campaign"])
def test_the_head_of_a_page_that_not_everybody_sees_tells_nothing(
    app: Flask, field: Field, visitor: FlaskClient, quick_hashes: None, closed: str
) -> None:
    field.run("Alder", {"AP": [0.8] * 4})
    with field.database.write() as session:
        admin = people.create_user(session, CONSOLE, new_account("root"), is_admin=True)
        browser = browser_of(app, signed_in(session, admin.id))
    if closed == "campaign":
        change_campaign(field, visibility=Visibility.DRAFT)
    else:
        field.change(**{"results": {"results": Opening.NEVER}, "evaluation": {"draft": True}}[closed])
    page = browser.get(BOARD).text
    assert "Alder" in page
    assert data_set(page) is None
    assert "og:image" not in page
    if closed == "campaign":
        page = browser.get("/campaigns/news").text
        assert data_set(page) is None
        assert "feed.atom" not in page
