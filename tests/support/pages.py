"""What a reader sees of a page, and what a browser or a spreadsheet makes of it."""

import csv
import io
import re
from html import unescape
from html.parser import HTMLParser

from flask import Flask
from werkzeug.test import TestResponse


def text_of(html: str) -> str:
    """What a reader sees, blanks collapsed."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def seen(app: Flask, address: str) -> str:
    """The text of the page at an address, as a visitor sees it."""
    answer = app.test_client().get(address)
    assert answer.status_code == 200, answer.text
    return text_of(answer.text)


def table_of(answer: TestResponse) -> list[dict[str, str]]:
    """The rows of a file of CSV."""
    assert answer.status_code == 200, answer.text
    return list(csv.DictReader(io.StringIO(answer.text)))


def hidden(page: str, name: str = "csrf_token") -> str:
    """The value of a hidden field."""
    found = re.search(rf'name="{name}"[^>]* value="([^"]+)"', page)
    assert found is not None
    return unescape(found[1])


class _Form(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.fields: dict[str, str] = {}
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = {name: value or "" for name, value in attrs}
        if tag == "input" and (own.get("type") not in ("radio", "checkbox", "file") or "checked" in own):
            self.fields[own["name"]] = own.get("value", "")
        elif tag in ("select", "textarea"):
            self._inside = own["name"]
            self.fields.setdefault(self._inside, "")
        elif tag == "option" and "selected" in own:
            self.fields[self._inside] = own["value"]

    def handle_data(self, data: str) -> None:
        if self._inside and self.get_starttag_text().startswith("<textarea"):  # type: ignore[union-attr]  # it is open
            self.fields[self._inside] = data.strip()

    def handle_endtag(self, tag: str) -> None:
        if tag in ("select", "textarea"):
            self._inside = ""


def filled(page: str, mark: str = '<form class="form wide"') -> dict[str, str]:
    """What a browser would send of the form that is marked so, but for its token."""
    form = _Form()
    form.feed(mark + page.partition(mark)[2].partition("</form>")[0])
    return {name: value for name, value in form.fields.items() if name != "csrf_token"}
