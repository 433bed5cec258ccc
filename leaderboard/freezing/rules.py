"""What the files of a frozen evaluation are called, and how its pages link to each other."""

import html
import posixpath
import re
from collections.abc import Container, Mapping
from itertools import count
from urllib.parse import parse_qsl, quote, unquote, urlencode, urljoin, urlsplit

LINK = re.compile(r'\s(?:href|src)="([^"]*)"')
FORM = re.compile(r"<form\b.*?</form>", re.DOTALL)
UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
LONGEST_NAME = 80  # characters of a part of a file's name

README, SUMS = "README.txt", "SHA256SUMS"
DATA = "data"  # the folder of what pages offer as downloads, under their names


def address_of(link: str, page: str) -> str | None:
    """The address on its own site that a link of a page leads to, always written the same way; None for another site's.

    >>> address_of("queries/q%201?page=2&amp;measure=AP#row", "/campaigns/harbour/2025")
    '/campaigns/harbour/queries/q%201?measure=AP&page=2'
    """
    parts = urlsplit(html.unescape(link))
    if parts.scheme or parts.netloc:
        return None
    if not parts.path.startswith("/"):  # else `urljoin` would take a semicolon at the end away
        parts = urlsplit(urljoin(page, parts._replace(fragment="").geturl()))
    arguments = urlencode(sorted(parse_qsl(parts.query)))
    return quote(unquote(parts.path)) + (f"?{arguments}" if arguments else "")


def file_of(address: str, start: str, is_page: bool, taken: Container[str]) -> str:
    """The name of an address's file in the folder: safe on every system, and in small letters none of `taken`.

    start  the address of the evaluation, whose page is index.html

    >>> file_of("/campaigns/c/e/queries/q%3F1?page=2", "/campaigns/c/e", True, ())
    'queries/q_1.page-2.html'
    """
    parts = urlsplit(address)
    *folders, last = (unquote(parts.path).removeprefix(start).strip("/") or "index").split("/")
    stem, ending = (last, ".html") if is_page else posixpath.splitext(last)
    stem += "".join(f".{key}-{value}" for key, value in parse_qsl(parts.query) if key != "v")  # v: of static files
    folders = [UNSAFE.sub("_", folder).replace(".", "_")[:LONGEST_NAME] or "_" for folder in folders]
    stem = UNSAFE.sub("_", stem).lstrip(".")[:LONGEST_NAME] or "_"
    names = ("/".join((*folders, f"{stem}{f'-{number}' if number > 1 else ''}{ending}")) for number in count(1))
    return next(name for name in names if name.lower() not in taken)


def linked_to_files(text: str, page: str, files: Mapping[str, str]) -> str:
    """A page whose links lead to files, from its own; other links within the site become text, and forms go.

    page   its address
    files  address -> file, of all that are in the folder
    """

    def link(match: re.Match[str]) -> str:
        address, (_, hash_sign, anchor) = address_of(match[1], page), match[1].partition("#")
        if address is None or match[1].startswith("#"):
            return match[0]
        if address not in files:
            return ""
        relative = quote(posixpath.relpath(files[address], posixpath.dirname(files[page])))
        return match[0].replace(f'"{match[1]}"', f'"{relative}{hash_sign}{anchor}"')

    return LINK.sub(link, FORM.sub("", text))
