"""Every query by every system as a grid of colours, drawn by hand: one path for each colour keeps it small."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence

from markupsafe import Markup, escape

from leaderboard.boards.reads.entries import Column
from leaderboard.numbers import counted
from leaderboard.results.reads.heat_map import HeatMapPage
from leaderboard.web.charts.drawing import SVG, WIDE, Chart
from leaderboard.web.formatting import MINUS, plain_figure

TOP, RIGHT = 200, 60  # px, around the grid: the scale and names of systems; the ends of these
HEIGHT, NARROWEST, WIDEST = 14, 20, 48  # px, of a cell
SMALL, CHARACTER = 11, 7  # px, of letters: their height, and their width at most
LONGEST_NAME = 18  # characters
STEPS, BELOW = 8, 3  # colours from 0 to the highest value, 0 itself apart; and below 0
SWATCH, KEY = 38, 34  # px, of the scale: a colour's width, and a row's height; nine are no wider than a phone


def heat_map_chart(page: HeatMapPage) -> Chart | None:
    """None where there is no system or no query to draw."""
    if not page.systems or not page.queries:
        return None
    column = page.column
    alt = f"Heat map of {column.name}: {counted(len(page.queries), 'query')} by {counted(len(page.systems), 'system')}."
    median = f" by the median of {counted(page.field, 'system')}" if page.field > 1 else ""
    sentence = (
        f"A row is a query, the easiest{median} on top; a column is a system, "
        "the first of the board on the left. Where there is no colour, the value is undefined."
    )
    heads = "query", "median", *page.names
    rows = [dict(zip(heads, (row.external_id, row.median, *row.values), strict=True)) for row in page.queries]
    return Chart("heat-map", Markup(_svg(page, column, alt)), Markup(""), sentence, rows)  # noqa: S704  # names are escaped


def _svg(page: HeatMapPage, column: Column, alt: str) -> str:
    """The scale, the grid with the medians as its first column, its names, and over each row what it is on hover."""
    known = [value for row in page.queries for value in (row.median, *row.values) if value is not None]
    top = column.highest if math.isfinite(column.highest) else max([*known, 0.0]) or 1.0
    left = 10 + CHARACTER * min(LONGEST_NAME, max(len(row.external_id) for row in page.queries))
    cell = max(NARROWEST, min(WIDEST, (WIDE - left - RIGHT) // (len(page.systems) + 2)))
    starts = [left, *(left + cell + cell // 2 + at * cell for at in range(len(page.systems)))]
    paths, texts, hover = defaultdict[str, list[str]](list), list[str](), list[str]()
    for number, row in enumerate(page.queries):
        y = TOP + number * HEIGHT
        for x, value in zip(starts, (row.median, *row.values), strict=True):
            if value is not None:
                paths[_step(value, top, column)].append(f"M{x} {y}h{cell - 1}v{HEIGHT - 1}h{1 - cell}z")
        texts.append(f'<text x="{left - 6}" y="{y + HEIGHT - 4}" text-anchor="end">{_cut(row.external_id)}</text>')
        median, best = (plain_figure(value, column.unit) for value in (row.median, row.best))
        words = escape(f"{row.external_id}: median {median}, best {best}. {row.text}".strip())
        hover.append(f'<rect y="{y}" width="100%" height="{HEIGHT}"><title>{words}</title></rect>')
    for x, name in zip(starts, ("median", *page.names), strict=True):
        at = f"translate({x + cell // 2} {TOP - 8}) rotate(-60)"
        texts.append(f'<text transform="{at}">{_cut(name)}</text>')
    width, height = max(starts[-1] + cell + RIGHT, (STEPS + 1) * SWATCH), TOP + len(page.queries) * HEIGHT
    grid = "".join(f'<path fill="var(--{step})" d="{"".join(own)}"/>' for step, own in sorted(paths.items()))
    return (
        f'<svg xmlns="{SVG}" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(alt)}"><g font-size="{SMALL}" fill="var(--ink)">{"".join(_scale(paths, top, column))}'
        f'{"".join(texts)}</g>{grid}<g fill="transparent">{"".join(hover)}</g></svg>'
    )


def _scale(used: dict[str, list[str]], top: float, column: Column) -> Iterator[str]:
    """What the colours are: below each the value that it ends with."""
    lower = column.direction == "lower"
    yield f'<text y="{SMALL}">{escape(column.name)}, each colour {"down" if lower else "up"} to</text>'
    ends = [top * (1 - at / STEPS if lower else at / STEPS) for at in range(STEPS + 1)]
    below: Sequence[str] = ()
    if any("below" in step for step in used):
        below = f"< {-top:.3g}", f"< {-top / 2:.3g}", "< 0"
    swatches = [(1.5 * at, 0, f"heat-below-{BELOW - at}", words) for at, words in enumerate(below)]
    swatches += [(at, KEY if below else 0, f"heat-{at}", f"{end:.3g}") for at, end in enumerate(ends)]
    for at, y, name, words in swatches:
        x = at * SWATCH
        yield f'<rect x="{x}" y="{y + SMALL + 7}" width="{SWATCH - 1}" height="{SMALL}" fill="var(--{name})"/>'
        yield f'<text x="{x}" y="{y + 3 * SMALL + 8}">{escape(words.replace("-", MINUS))}</text>'


def _step(value: float, top: float, column: Column) -> str:
    """Which colour a value has. Where lower is better the lowest has the colour of the best."""
    share = 1.0 - value / top if column.direction == "lower" else value / top
    if share < 0:
        return f"heat-below-{1 if share >= -0.5 else 2 if share >= -1 else BELOW}"
    return f"heat-{min(STEPS, math.ceil(STEPS * share - 1e-9))}"


def _cut(name: str) -> Markup:
    """Names differ at their ends as often as at their beginnings: what is left out is the middle."""
    half = LONGEST_NAME // 2
    return escape(name if len(name) <= LONGEST_NAME else f"{name[:half]}…{name[-half + 1 :]}")
