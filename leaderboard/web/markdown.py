"""Texts that organisers write in Markdown, as safe HTML: raw HTML stays text, and links lead to the web only."""

import re
from collections.abc import Sequence

from flask import Flask
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup

ADDRESS = re.compile(r"(?:https?://|mailto:)\S+", re.IGNORECASE)
NESTED = 20  # blocks within blocks; deeper ones are text


def init_app(app: Flask) -> None:
    """Gives templates the filter."""
    app.jinja_env.filters["markdown"] = markdown


def markdown(text: str) -> Markup:
    """CommonMark with tables, without raw HTML, of images only their words; its headings begin at the third level.

    Links to other addresses than http, https and mailto stay text, and no link tells a search engine anything.
    """
    return Markup(_reader.render(text))  # noqa: S704  # made by the renderer, which escapes all text


class _Renderer(RendererHTML):
    """The usual one, but that headings begin below those of the page, links tell what they are, and of images the words
    that describe them are left.
    """

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return escapeHtml(self.renderInlineAsText(tokens[idx].children, options, env))

    def renderToken(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:  # noqa: N802  # the library's name
        token = tokens[idx]
        if token.type == "link_open":
            token.attrSet("rel", "nofollow noopener")
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1:]) + 2)}"
        token.attrs.pop("style", None)  # of a column that is aligned: the policy of the pages allows none
        return super().renderToken(tokens, idx, options, env)


_reader = MarkdownIt("commonmark", {"html": False, "maxNesting": NESTED}, renderer_cls=_Renderer)
_reader.enable("table")
_reader.validateLink = lambda url: ADDRESS.fullmatch(url) is not None  # type: ignore[method-assign]  # as its guide has it
