"""How figures, moments and sizes are written, the same on every page; and the scale of the thin bars in a table's
cells, which are drawn as SVG attributes, since the site's security policy allows no inline style.

Texts that organisers write in Markdown, as safe HTML: raw HTML stays text, and links lead to the web only.
"""

import datetime as dt
import math
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from flask import Flask
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup, escape

from leaderboard import moments, numbers
from leaderboard.boards.reads.entries import Figure
from leaderboard.boards.rules import Rounded
from leaderboard.frozen import frozen
from leaderboard.web import page_cache
from leaderboard.web.context import now

DIGITS = 3
DASH = "–"
MINUS = "−"
FIGURE_SPACE = "\N{FIGURE SPACE}"  # as wide as a digit
# (up to so many seconds, seconds in one, what one is called): 90 minutes are "2 h", 36 hours "36 h", 3 days "3 days"
YEAR = 365.25 * 86400  # seconds
STEPS = (
    (90, 1, "s"), (90 * 60, 60, "min"), (48 * 3600, 3600, "h"), (60 * 86400, 86400, "days"),
    (2 * YEAR, YEAR / 12, "months"),
)  # fmt: skip

# A word of ours that a message begins with: a plain one. A file name, an address or a part of a manifest has more in
# it, and what stands before a colon is what the message is about, as its reader wrote it.
OUR_WORD = re.compile(r"[a-z]+('[a-z]+)?(?=[ ,;]|$)")

# A subscript has one capital before it or is one small letter: P_miss, N_total, gain_i; not trec_eval or pfa_only.
MARKS = re.compile(
    r"`(?P<code>[^`]*)`"
    r"|\b(?P<name>[A-Z]|[a-zA-Z]+(?=_[a-z]\b))_(?P<sub>[a-z]+)\b"
    r"|(?P<base>\w)\^(?P<power>\{[^}]*\}|\w)"
)


def init_app(app: Flask) -> None:
    """Gives templates the filters of this module, under their own names."""
    for written in (
        ago, aligned, decimals, duration, figure, markdown, marked, number, numbers.counted, numbers.size, over,
        percent, plain_figure, prior, sentence, signed, when,
    ):  # fmt: skip
        app.jinja_env.filters[written.__name__] = written
    words = {"day": moments.day_in_words, "in_utc": moments.moment_in_words}  # without markup, for what is no page
    app.jinja_env.filters.update(date=date, moment=moment, exact=exact, **words)
    app.jinja_env.tests["rounded"] = lambda mean: isinstance(mean, Rounded)
    app.jinja_env.globals["now"] = now


def plain_figure(value: float | None, unit: str = "") -> str:
    """`0.413`, `−0.413` or, when undefined, a dash. A value that rounds to zero has no sign.

    unit: of the measure (`Column.unit`). Documents and queries have no decimals. The share of false alarms is small: it
    has four, and more where these would leave fewer than two digits: `0.0112`, `0.000075`. A figure that was rounded
    for its reader has the decimals that are left.
    """
    if value is None or math.isnan(value):
        return DASH
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    digits = value.decimals if isinstance(value, Rounded) else DIGITS
    if unit in ("documents", "queries"):
        digits = 0
    elif unit == "false alarms" and not isinstance(value, Rounded):
        digits = max(4, 1 - math.floor(math.log10(abs(value)))) if value else 4
    text = f"{abs(value):,.{digits}f}"
    return MINUS + text if value < 0 and float(text.replace(",", "")) else text


def signed(value: float | None, unit: str = "") -> str:
    """A difference of two figures with its sign: `+0.413`, `−0.413`; one that rounds to zero has none."""
    text = plain_figure(value, unit)
    return f"+{text}" if value is not None and value > 0 and text.strip("0.") else text


def decimals(values: Iterable[float | None], unit: str = "") -> int:
    """The most decimals that one of these has as `plain_figure` writes it."""
    return max((len(plain_figure(value, unit).partition(".")[2]) for value in values), default=0)


def figure(value: float | None, unit: str = "", decimals: int = 0) -> Markup:
    """A figure for a table cell: rounded as `plain_figure` does, with all its digits on hover.

    decimals: of its column, where figures of fewer are to stand with their points below each other.
    """
    if value is None or math.isnan(value):
        return Markup('<span class="undefined" title="undefined">{}</span>').format(DASH)
    digits, text = repr(value), plain_figure(value, unit)
    own = len(text.partition(".")[2])
    padding = FIGURE_SPACE * (decimals - own + (not own)) if own < decimals else ""  # a whole number has no point
    return Markup(f'<data value="{digits}" title="{digits}">{text}</data>{padding}')  # noqa: S704  # numbers only, thousands of them on a page


def percent(share: float) -> str:
    """A share as a whole number of hundredths: `62 %`."""
    return f"{100 * share:.0f}\N{NO-BREAK SPACE}%"


def over(figure: Figure) -> str:
    """How many queries the figure is a mean of: `4 queries`; `at most 4 queries` where its reader may not know more."""
    return f"{'at most ' if figure.at_most else ''}{numbers.counted(figure.count, 'query')}"


def _time(in_words: Callable[[dt.datetime], str], value: dt.datetime | None) -> Markup:
    """A dash where there is none."""
    if value is None:
        return escape(DASH)
    exactly = f"{value.astimezone(dt.UTC):%Y-%m-%dT%H:%M:%S}Z"
    return Markup('<time datetime="{0}" title="{0}">{1}</time>').format(exactly, in_words(value))


date = partial(_time, moments.day_in_words)  # `20 Nov 2026`, with the time of day on hover
moment = partial(_time, moments.moment_in_words)  # `20 Nov 2026, 14:05 UTC`
exact = partial(_time, moments.exact_moment_in_words)  # `20 Nov 2026, 14:05:09 UTC`


def when(value: dt.datetime | None) -> Markup:
    """A moment with the relative time beside it."""
    if value is None:
        return escape(DASH)
    return Markup('{} <span class="muted">({})</span>').format(moment(value), ago(value))


def ago(value: dt.datetime) -> str:
    """`3 h ago`, `in 4 h`, `just now`, counted from the start of the request."""
    page_cache.changes_soon()
    seconds = (value - now()).total_seconds()
    if abs(seconds) < 1:
        return "just now"
    length = _span(abs(seconds))
    return f"in {length}" if seconds > 0 else f"{length} ago"


def _span(seconds: float) -> str:
    """A length of time in its largest fitting unit, rounded; years are whole ones, as ages are."""
    for up_to, unit, name in STEPS:
        if seconds < up_to:
            return f"{max(1, round(seconds / unit))} {name}"
    return f"{int(seconds / YEAR)} years"


def duration(seconds: float) -> str:
    """How long something took: `340 ms`, `2.5 s`."""
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def sentence(message: str) -> str:
    """A message that stands by itself: with a capital where it begins with a word of ours, never in its reader's words.

    One that ends in a full stop is a sentence already.
    """
    return message if message.endswith(".") or not OUR_WORD.match(message) else message[0].upper() + message[1:]


def marked(text: str) -> Markup:
    """The registry's plain text for a page: `code` in backticks, P_miss and gain_i lowered, the power of 2^g raised."""

    def mark(match: re.Match[str]) -> str:
        if match["code"] is not None:
            return f"<code>{match['code']}</code>"
        if match["sub"] is not None:
            return f"{match['name']}<sub>{match['sub']}</sub>"
        return f"{match['base']}<sup>{match['power'].strip('{}')}</sup>"

    return Markup(MARKS.sub(mark, escape(text)))  # noqa: S704  # of text that was escaped before


def number(value: float) -> str:
    """A setting as one would write it: `20`, `0.0333`, `19.9467`; six digits at most."""
    return f"{value:.6g}".replace("-", "−")


def aligned(values: Iterable[float]) -> list[str]:
    """A column of settings or scores: each as `number` writes it, with the decimals of the one that has the most."""
    texts = [number(value) for value in values]
    if any("e" in text or not text[-1].isdigit() for text in texts):
        return texts
    parts = [text.partition(".") for text in texts]
    places = max((len(decimals) for _, _, decimals in parts), default=0)
    return [f"{whole}.{decimals.ljust(places, '0')}" for whole, _, decimals in parts] if places else texts


def prior(value: float) -> str:
    """`1/600` where it is one of a whole number, else its digits."""
    inverse = 1.0 / value
    whole = round(inverse)
    return f"1/{whole:,}" if whole > 1 and abs(inverse - whole) < 1e-6 * whole else number(value)


@frozen
class Scale:
    """The scale of one column, from `lowest` to `highest`; zero is always on it, since a bar starts there."""

    lowest: float
    highest: float

    def at(self, value: float) -> float:
        """Where a value lies on the scale, from 0 to 100."""
        span = self.highest - self.lowest
        inside = min(max(value, self.lowest), self.highest)
        return round(100 * (inside - self.lowest) / span, 2) if span > 0 else 0.0


def scale_of(values: Iterable[float | None]) -> Scale:
    """The scale that holds all of these, means and ends of intervals alike; None is left out.

    Below zero it reaches no further than above: one AQWV of −4 would leave no room for those between 0 and 1.
    """
    known = [value for value in values if value is not None]
    highest, lowest = max([0.0, *known]), min([0.0, *known])
    return Scale(max(lowest, -highest) if highest > 0 else lowest, highest)


ADDRESS = re.compile(r"(?:https?://|mailto:)\S+", re.IGNORECASE)
NESTED = 20  # blocks within blocks; deeper ones are text


def markdown(text: str, level: int = 3) -> Markup:
    """CommonMark with tables, without raw HTML, of images only their words; its highest headings are of that level.

    Links to other addresses than http, https and mailto stay text, and no link tells a search engine anything.
    """
    env = {"down": level - min(map(len, re.findall(r"^#{1,6}(?= )", text, re.MULTILINE)), default=1)}
    return Markup(_reader.render(text, env))  # noqa: S704  # made by the renderer, which escapes all text


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
            token.tag = f"h{max(2, min(6, int(token.tag[1:]) + env['down']))}"
        if "right" in str(token.attrs.pop("style", "")):  # of a column: the policy of the pages allows no style
            token.attrSet("class", "figure")
        return super().renderToken(tokens, idx, options, env)


_reader = MarkdownIt("commonmark", {"html": False, "maxNesting": NESTED}, renderer_cls=_Renderer)
_reader.enable("table")
_reader.validateLink = lambda url: ADDRESS.fullmatch(url) is not None  # type: ignore[method-assign]  # as its guide has it
