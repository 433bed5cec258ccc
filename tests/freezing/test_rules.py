"""Names of a frozen evaluation's files, and the links between its pages."""

import pytest

from leaderboard.freezing.rules import address_of, file_of, linked_to_files

START = "/campaigns/small/2026"


@pytest.mark.parametrize(
    ("link", "address"),
    [
        ("/submissions/1", "/submissions/1"),
        ("queries/q%3F1", "/campaigns/small/queries/q%3F1"),
        ("?page=2&amp;measure=nDCG@10#row", f"{START}?measure=nDCG%4010&page=2"),
        ("?measure=nDCG%4010&page=2", f"{START}?measure=nDCG%4010&page=2"),
        ("../../measures/", "/measures/"),
        (f"{START}/queries/it%27s&amp;amp;", f"{START}/queries/it%27s%26amp%3B"),
        ("https://example.org/x", None),
        ("//example.org/x", None),
        ("mailto:ada@example.org", None),
        ("data:image/png;base64,AA", None),
    ],
)
def test_a_link_has_one_address_however_it_is_written(link: str, address: str | None) -> None:
    assert address_of(link, START) == address


@pytest.mark.parametrize(
    ("address", "is_page", "name"),
    [
        (START, True, "index.html"),
        (f"{START}?measure=P%405", True, "index.measure-P_5.html"),
        (f"{START}/queries", True, "queries.html"),
        (f"{START}/queries/../../etc", True, "queries/__/__/etc.html"),
        (f"{START}/queries/a.b/c", True, "queries/a_b/c.html"),
        (f"{START}/queries//b", True, "queries/_/b.html"),
        (f"{START}/queries/.hidden", True, "queries/hidden.html"),
        (f"{START}/queries/%D0%B6", True, "queries/_.html"),
        (f"{START}/queries/{'q' * 300}", True, f"queries/{'q' * 80}.html"),
        (f"{START}/data/small-2026.csv", False, "data/small-2026.csv"),
        (f"{START}/data/small-2026.csv?measure=AP", False, "data/small-2026.measure-AP.csv"),
        ("/static/theme.js?v=abc", False, "static/theme.js"),
        ("/submissions/7/receipt.json", False, "submissions/7/receipt.json"),
        ("/measures/", True, "measures.html"),
    ],
)
def test_a_name_stays_within_the_folder_and_is_safe_on_every_system(address: str, is_page: bool, name: str) -> None:
    assert file_of(address, START, is_page, ()) == name


def test_names_that_differ_in_capitals_only_are_told_apart() -> None:
    taken = {"queries/q1.html", "queries/q1-2.html"}
    assert file_of(f"{START}/queries/Q1", START, True, taken) == "queries/Q1-3.html"


def test_links_lead_to_files_from_the_page_or_become_text() -> None:
    page = f"{START}/queries/q1"
    files = {
        page: "queries/q1.html",
        START: "index.html",
        "/static/x.css?v=1": "static/x.css",
        "/submissions/1": "submissions/1 a.html",
    }
    text = (
        '<link href="/static/x.css?v=1"><a class="b" href="/campaigns/small/2026#run-1">board</a><a href="#top">top</a>'
        '<a href="/submissions/1">run</a><a href="/account/" title="t">you</a><a href="https://example.org/">out</a>'
        '<form method="post" action="/x"><input name="a">\n</form>'
    )
    assert linked_to_files(text, page, files) == (
        '<link href="../static/x.css"><a class="b" href="../index.html#run-1">board</a><a href="#top">top</a>'
        '<a href="../submissions/1%20a.html">run</a><a title="t">you</a><a href="https://example.org/">out</a>'
    )
