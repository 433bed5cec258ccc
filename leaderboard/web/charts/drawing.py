"""How charts are drawn: SVG from Vega-Lite, in the colours of the page, light or dark; and the same with colours of its
own, for a file."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from markupsafe import Markup

from leaderboard.frozen import frozen

Spec = dict[str, Any]
Row = dict[str, Any]  # of data

WIDE, NARROW = 1280, 340  # px, whole drawings: a desktop's and a phone's
KEPT = 256  # drawings: a few MB
LEFT = 52  # px, left of the plot
FONT_SIZE = 12  # px

# Colours that stand for the page's own; no drawing holds any other colour.
INK, MUTED, RULE, PAGE, REST = "#000001", "#000002", "#000003", "#000004", "#000005"
SERIES = ("#000011", "#000012", "#000013", "#000014", "#000015", "#000016")
PROPERTIES = {
    INK: "--ink",
    MUTED: "--muted",
    RULE: "--rule",
    PAGE: "--page",
    REST: "--series-rest",
    **{colour: f"--series-{number}" for number, colour in enumerate(SERIES, start=1)},
}

OUR_COLOUR = re.compile(f'"({"|".join(PROPERTIES)})"')

STYLE: Spec = {
    "background": None,
    "mark": {"aria": False},  # else what has no description of its own says its data on hover: "colour: #000015"
    "view": {"stroke": None},
    "axis": {
        "labelColor": MUTED,
        "titleColor": MUTED,
        "labelFontSize": FONT_SIZE,
        "titleFontSize": FONT_SIZE,
        "titleFontWeight": "normal",
        "gridColor": RULE,
        "domainColor": RULE,
        "tickColor": RULE,
    },
    "axisX": {"grid": False, "labelAngle": 0, "labelPadding": 6},
    "axisY": {"domain": False, "ticks": False, "tickCount": 5, "labelPadding": 8},
    "text": {"fontSize": FONT_SIZE, "fill": INK},
    "legend": {"disable": True},
    "title": {  # above the axis, from its labels' left edge: what the figures are
        "anchor": "start",
        "frame": "group",
        "offset": 14,
        "dx": -48,
        "color": INK,
        "fontSize": FONT_SIZE,
        "fontWeight": "normal",
    },
}

# Labels of an axis of differences: a sign on all but zero, which has none.
SIGNED = "datum.value === 0 ? '0' : format(datum.value, '+.2~f')"

SVG = "http://www.w3.org/2000/svg"
ElementTree.register_namespace("", SVG)


@frozen
class Chart:
    """A chart of a page: one drawing for a desktop, one for a phone, and a sentence that says what it shows.

    name: of its files, among the charts of its page; narrow: empty where it is the same; rows: its data, all with the
    same columns
    """

    name: str
    wide: Markup
    narrow: Markup
    sentence: str
    rows: Sequence[Mapping[str, Any]]


def draw(name: str, spec: Callable[[int], Spec], alt: str, sentence: str, rows: Sequence[Mapping[str, Any]]) -> Chart:
    """`spec` makes the specification for a width in px. `alt`: what it shows, for readers who don't see it."""
    wide, narrow = (drawn(spec(width), alt) for width in (WIDE, NARROW))
    return Chart(name, wide, narrow, sentence, rows)


def drawn(spec: Spec, alt: str) -> Markup:
    """A single drawing, as `draw` makes two of them."""
    return Markup(_svg(json.dumps(spec), alt))  # noqa: S704  # our own drawing; names in it were escaped by its writer


def svg_file(drawing: str) -> str:
    """A drawing of a page as a file: in the colours of the light page, on its background."""
    coloured = re.sub(r"var\((--[a-z0-9-]+)\)", lambda match: _light_colours()[match[1]], drawing)
    # As the style sheet has it: an outline lies below its letters.
    lettered = coloured.replace("<text ", '<text paint-order="stroke" ').replace(
        "<svg ", '<svg font-family="sans-serif" ', 1
    )
    return lettered.replace(">", f'><rect width="100%" height="100%" fill="{_light_colours()["--page"]}"/>', 1)


def png_file(drawing: str) -> bytes:
    """The same as a picture of two pixels for each."""
    import vl_convert

    return bytes(vl_convert.svg_to_png(svg_file(drawing), scale=2))


@cache
def _light_colours() -> dict[str, str]:
    """Property of the style sheet -> its colour on a light page."""
    sheet = (Path(__file__).parents[1] / "static" / "leaderboard.css").read_text("utf-8")
    return dict(re.findall(r"(--[a-z0-9-]+): (?:light-dark\()?(#[0-9a-f]{6})", sheet))


@lru_cache(maxsize=KEPT)
def _svg(spec: str, alt: str) -> str:
    """One image with one description, in the page's colours; each mark says on hover what it is."""
    # Imported here: it starts threads, and hangs after a fork if it was used before.
    import vl_convert

    drawn = vl_convert.vegalite_to_svg(spec, config=STYLE)
    root = ElementTree.fromstring(drawn)  # noqa: S314  # written a line above by our own renderer
    for element in root.iter():
        label = element.attrib.pop("aria-label", None)
        for attribute in ("role", "aria-roledescription", "aria-hidden", "font-family"):
            element.attrib.pop(attribute, None)
        if label and not len(element):  # of a mark, not of a group of them
            title = ElementTree.Element(f"{{{SVG}}}title")
            title.text = label
            element.insert(0, title)
    root.attrib |= {"role": "img", "aria-label": alt}
    text = ElementTree.tostring(root, encoding="unicode")
    return OUR_COLOUR.sub(lambda match: f'"var({PROPERTIES[match[1]]})"', text)


ZERO: Spec = {"data": {"values": [{}]}, "mark": {"type": "rule", "color": INK}, "encoding": {"y": {"datum": 0}}}
SAYS: Spec = {"field": "says"}


def layer(rows: Sequence[Row], mark: Spec, **encoding: Spec) -> Spec:
    """Marks of one kind, one for each row of data."""
    return {"data": {"values": rows}, "mark": mark, "encoding": encoding}


def plot(width: int, height: int, title: str, layers: Sequence[Spec], right: float, bottom: float) -> Spec:
    """A drawing of this whole width, around a plot of this height."""
    padding = {"left": LEFT, "right": right, "top": 34, "bottom": bottom}
    return {
        "width": width - LEFT - right,
        "height": height,
        "padding": padding,
        "autosize": "none",
        "title": {"text": title, "limit": width},
        "layer": layers,
    }


def by(column: str, kind: str = "quantitative") -> Spec:
    """Has marks look as a column of their data says."""
    return {"field": column, "type": kind, "scale": None}


COLOUR = by("colour", "nominal")
