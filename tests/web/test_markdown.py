"""Guidelines in Markdown: what is written shows, and nothing that somebody writes runs or looks like the site's own."""

import re

import pytest

from leaderboard.web.formatting import markdown

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\nscript:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](vbscript:x)",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](//example.org)",
    "[x](/logout)",
    "<javascript:alert(1)>",
    "![x](https://example.org/tracker.png)",
    "![x](javascript:alert(1))",
    '[x](https://example.org "" onmouseover="alert(1)")',
    "[x]: javascript:alert(1)\n\n[x]",
    "`<b>`\n\n    <iframe>",
    "<!-- --><style>*{display:none}</style>",
    '<a href="https://example.org" class="btn btn-primary">Log in</a>',
    "&lt;script&gt;",
    "[a<b](https://example.org/?<script>)",
    "x" * 1000 + "[" * 5000,
    ">" * 3000 + "x",
    "* " * 2000,
    "\x00<script>",
]
TAGS = re.compile(r"<(/?)([a-z0-9]+)([^>]*)>", re.IGNORECASE)
PLAIN = {"p", "a", "em", "strong", "code", "pre", "ul", "ol", "li", "blockquote", "br", "hr", "h3", "h4", "h5", "h6"}
TABLE = {"table", "thead", "tbody", "tr", "th", "td"}


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_markdown_gives_plain_elements_and_links_of_the_web_only(text: str) -> None:
    shown = str(markdown(text))
    for closing, name, attributes in TAGS.findall(shown):
        assert name in PLAIN | TABLE
        if name == "a" and not closing:
            assert re.fullmatch(
                r' href="(https?://|mailto:)[^"]*" rel="nofollow noopener"', re.sub(r' title="[^"]*"', "", attributes)
            ), attributes
        else:
            assert not attributes.replace(" /", "") or re.fullmatch(
                r' (class="language-[^"]*"|start="\d+")', attributes
            )


def test_what_guidelines_are_made_of_shows() -> None:
    shown = str(
        markdown("# Runs\n\nSee [the *paper*](https://example.org/p).\n\n1. one\n\n| a | b |\n|:-:|--:|\n| 1 | 2 |")
    )
    assert "<h3>Runs</h3>" in shown
    assert '<a href="https://example.org/p" rel="nofollow noopener">the <em>paper</em></a>' in shown
    assert "<ol>" in shown
    assert "<td>1</td>" in shown


@pytest.mark.parametrize("marks", ["#", "##", "####"])
def test_no_level_of_headings_is_left_out_below_that_of_the_page(marks: str) -> None:
    shown = markdown(f"{marks} Task\n\n{marks}# Rules\n\n{marks} Dates\n")
    assert re.findall(r"<(h\d)>(\w+)", shown) == [("h3", "Task"), ("h4", "Rules"), ("h3", "Dates")]
