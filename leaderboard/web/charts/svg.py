"""Draws a Vega-Lite specification as SVG whose colours are those of the page, light or dark."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from xml.etree import ElementTree

from markupsafe import Markup

Spec = dict[str, Any]

WIDE, NARROW = 1280, 340  # px, whole drawings: a desktop's and a phone's
KEPT = 256  # drawings: a few MB
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
        "labelLimit": 160,
    },
    "axisX": {"grid": False, "labelAngle": 0, "labelPadding": 6},
    "axisY": {"domain": False, "ticks": False, "tickCount": 5, "labelPadding": 8},
    "text": {"fontSize": FONT_SIZE, "fill": INK},
    "legend": {"disable": True},
    "title": {"anchor": "start", "color": INK, "fontSize": FONT_SIZE, "fontWeight": 600},
}

# Above the axis, from its labels' left edge: what the figures are.
TITLE: Spec = {"frame": "group", "offset": 14, "dx": -48, "fontWeight": "normal"}

# Labels of an axis of differences: a sign on all but zero, which has none.
SIGNED = "datum.value === 0 ? '0' : format(datum.value, '+.2~f')"

SVG = "http://www.w3.org/2000/svg"
ElementTree.register_namespace("", SVG)


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart of a page: one drawing for a desktop, one for a phone, and a sentence that says what it shows."""

    wide: Markup
    narrow: Markup
    sentence: str


def draw(spec: Callable[[int], Spec], alt: str, sentence: str) -> Chart:
    """`spec` makes the specification for a width in px. `alt`: what it shows, for readers who don't see it."""
    wide, narrow = (Markup(_svg(json.dumps(spec(width), sort_keys=True), alt)) for width in (WIDE, NARROW))  # noqa: S704  # our own drawing; names in it were escaped by its writer
    return Chart(wide, narrow, sentence)


def shortened(name: str, characters: int) -> str:
    """The name in at most so many characters, with an ellipsis where its end is missing."""
    return name if len(name) <= characters else f"{name[: characters - 1].rstrip()}…"


@lru_cache(maxsize=KEPT)
def _svg(spec: str, alt: str) -> str:
    # Imported here: it starts threads, and hangs after a fork if it was used before.
    import vl_convert

    drawn = vl_convert.vegalite_to_svg({"config": STYLE, **json.loads(spec)})
    return _page_colours(_named(drawn, alt))


def _named(drawn: str, alt: str) -> str:
    """One image with one description; each mark says on hover what it is."""
    root = ElementTree.fromstring(drawn)  # noqa: S314  # written a line above by our own renderer
    for element in root.iter():
        label = element.attrib.pop("aria-label", None)
        for attribute in ("role", "aria-roledescription", "aria-hidden", "font-family"):
            element.attrib.pop(attribute, None)
        if label and element.tag in (f"{{{SVG}}}path", f"{{{SVG}}}text", f"{{{SVG}}}line", f"{{{SVG}}}rect"):
            title = ElementTree.Element(f"{{{SVG}}}title")
            title.text = label
            element.insert(0, title)
    root.attrib |= {"role": "img", "aria-label": alt}
    root.attrib.pop("class", None)
    return ElementTree.tostring(root, encoding="unicode")


def _page_colours(drawn: str) -> str:
    def property_of(match: re.Match[str]) -> str:
        return f'{match[1]}="var({PROPERTIES[match[2]]})"'

    return re.sub(rf'(fill|stroke)="({"|".join(PROPERTIES)})"', property_of, drawn)
