"""The project's documents as pages: their Markdown is rendered once a process, headings can be linked to, and links
between documents lead to their pages.
"""

import posixpath
import re
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from leaderboard.config import folder
from leaderboard.frozen import frozen

DOCS = folder("docs")
NAMES = sorted(file.relative_to(DOCS).as_posix().removesuffix(".md") for file in DOCS.rglob("*.md"))
# As links name them: SECURITY.md stands beside docs, and is linked from there.
PATHS = {f"docs/{name}.md".replace("docs/SECURITY", "SECURITY"): name for name in NAMES}


@frozen
class Heading:
    """level: 1 is the document's title; anchor: its id on the page, as GitHub makes it"""

    level: int
    text: str
    anchor: str


@frozen
class Document:
    """name: its address below /docs/; headings: the title first; html: all but the title"""

    name: str
    title: str
    headings: tuple[Heading, ...]
    html: Markup


@cache
def documents() -> dict[str, Document]:
    """All of them, by name."""
    return {name: _document(path, name) for path, name in PATHS.items()}


def _document(path: str, name: str) -> Document:
    tokens = _reader.parse((DOCS / f"{name}.md").read_text(encoding="utf-8"))
    headings = list[Heading]()
    for token, inline, end in zip(tokens, tokens[1:], tokens[2:], strict=False):
        token.attrs.pop("style", None)  # of a column that is aligned: the policy of the pages allows none
        if token.type == "heading_open":
            text = "".join(child.content for child in inline.children or ())
            headings.append(Heading(int(token.tag[1:]), text, re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-")))
            token.attrSet("id", headings[-1].anchor)
        elif token.type == "th_open" and not inline.content:  # a head that says nothing is none
            token.tag = end.tag = "td"
    for link in (child for token in tokens for child in token.children or () if child.type == "link_open"):
        _follow(path, link)
    html = _reader.renderer.render(tokens[3:], _reader.options, {})
    table = '<div class="table-frame" role="group" aria-label="Table" tabindex="0"><table class="table">'
    html = html.replace("<table>", table).replace("</table>", "</table></div>").replace("<pre>", '<pre tabindex="0">')
    return Document(name, headings[0].text, tuple(headings), Markup(html))  # noqa: S704  # our own documents


def _follow(path: str, link: Token) -> None:
    """Has a link lead to a document's page; one to another file of the repository leads nowhere."""
    address = str(link.attrs["href"])
    file, mark, anchor = address.partition("#")
    name = PATHS.get(posixpath.normpath(posixpath.join(posixpath.dirname(path), file)))
    if name:
        link.attrs["href"] = f"/docs/{name}{mark}{anchor}"
    elif file and ":" not in address:
        del link.attrs["href"]


_reader = MarkdownIt("commonmark").enable("table")
