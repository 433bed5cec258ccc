"""What a reader sees of a page."""

import re
from html import unescape

from flask import Flask


def seen(app: Flask, address: str) -> str:
    """The page's text without its tags, blanks collapsed."""
    answer = app.test_client().get(address)
    assert answer.status_code == 200
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.text)).split())
