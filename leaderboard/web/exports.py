"""Exports: the table of a page as CSV, or as JSON with the settings that its figures depend on; and as a paper has it,
in LaTeX or Markdown, with the columns that its readers need, the digits of the page and the best of each in bold.

A file holds what the page shows its reader and nothing else: both are made from the same read.
"""

import csv
import io
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from operator import attrgetter, methodcaller
from typing import Any, ParamSpec, TypeVar
from urllib.parse import quote

from flask import Blueprint, Response, request, url_for

from leaderboard.boards.reads.entries import Column
from leaderboard.boards.rules import Rounded
from leaderboard.evaluations.reads.evaluations import CampaignHeading, EvaluationHeading, Terms
from leaderboard.evaluations.rules import OF_CAMPAIGN, OF_EVALUATION, download_name
from leaderboard.frozen import frozen
from leaderboard.web.context import config
from leaderboard.web.formatting import DASH, MINUS, plain_figure

P = ParamSpec("P")
Row = TypeVar("Row")
Cell = str | int | float | bool | datetime | None

# A spreadsheet takes a text that begins so for a formula, and names are what their teams choose.
FORMULA = frozenset("=+-@")
BEFORE_IT = ("\t", "\r")


@frozen
class PaperColumn:
    """A column of a table as a paper has it.

    measure  of its figures: their digits, and which end is bold
    level    the key of the rows' cells that say whether a row may be the best too, which gets a mark; "": none does
    """

    head: str
    cell: Callable[[Mapping[str, Cell]], Cell]
    measure: Column | None = None
    level: str = ""


@frozen
class Table:
    """A table to export. name: of the file, without its ending; facts: the settings behind the rows, in JSON only.

    paper    the columns in LaTeX and Markdown; none: all of them that hold something
    caption  what it shows, in sentences; address: where it can be read, for as long as the site is there
    """

    name: str
    columns: Sequence[str]
    rows: Sequence[Mapping[str, Cell]]
    facts: Mapping[str, Any]
    paper: Sequence[PaperColumn] = ()
    caption: str = ""
    address: str = ""


def columns(*names: str, **computed: Callable[[Any], Cell]) -> dict[str, Callable[[Any], Cell]]:
    """The columns of a table in their order: each a row's attribute of its name, `name=path.of.attributes` where that
    is another, or computed.
    """
    paths = {name: path or name for name, _, path in (each.partition("=") for each in names)}
    return {name: computed.get(name) or attrgetter(path) for name, path in paths.items()}


def table(
    name: str, columns: Mapping[str, Callable[[Row], Cell]], rows: Iterable[Row], facts: Mapping[str, Any], **more: Any
) -> Table:
    """`columns`: name -> the cell of a row. A column is added here and nowhere else in an export. more: of `Table`"""
    cells = [{key: cell(row) for key, cell in columns.items()} for row in rows]
    return Table(name, tuple(columns), cells, facts, **more)


def evaluation_table(
    evaluation: EvaluationHeading,
    ending: str,
    columns: Mapping[str, Callable[[Row], Cell]],
    rows: Iterable[Row],
    facts: Mapping[str, Any],
    **more: Any,
) -> Table:
    """The same of an evaluation, which names the file and stands first in facts and caption. ending: of the name"""
    facts = {"evaluation": evaluation_facts(evaluation), **facts}
    more["caption"] = f"{evaluation.campaign.title}, {evaluation.title}. {more.get('caption', '')}".strip()
    return table(f"{evaluation.campaign.slug}-{evaluation.slug}{ending}", columns, rows, facts, **more)


def public_address(endpoint: str, **parts: Any) -> str:
    """A page's address as everybody finds it, on whatever name of the site it was asked for."""
    return config().site_url + url_for(endpoint, **parts)


def paper_column(head: str, key: str = "", measure: Column | None = None, level: str = "") -> PaperColumn:
    """Of a paper's table. key: of the rows' cells, where that is not the head in small letters; more: of PaperColumn"""
    return PaperColumn(head, methodcaller("get", key or head.lower()), measure, level)


def figures_of(measure: Column, key: str = "") -> PaperColumn:
    """Of a paper's table: a column of figures of a measure of which none is the best, as of one run."""
    return paper_column(measure.name, key or measure.name, replace(measure, direction="none"))


def measure_columns(measures: Iterable[Column], ranked_by: Column | None = None) -> list[PaperColumn]:
    """Of a paper's table: a column a measure. ranked_by: the one that the mark of rows that may be the best is at"""
    return [paper_column(own.name, own.name, own, "may_be_best" if own == ranked_by else "") for own in measures]


def exported(blueprint: Blueprint, address: str) -> Callable[[Callable[P, Table]], Callable[P, Table]]:
    """Serves the table that a function gives as a download, at `address` with the ending of each of `FORMATS`."""

    def register(function: Callable[P, Table]) -> Callable[P, Table]:
        def view(*args: P.args, **kwargs: P.kwargs) -> Response:
            ending = str(kwargs.pop("ending"))
            content = function(*args, **kwargs)
            if not content.address:  # that of its page
                page = quote(request.path.removesuffix(f".{ending}"))
                arguments = request.query_string.decode("ascii", "replace")
                content = replace(content, address=config().site_url + "?".join(filter(None, (page, arguments))))
            media_type, write = FORMATS[ending]
            return download(write(content), f"{media_type}; charset=utf-8", f"{content.name}.{ending}")

        blueprint.add_url_rule(f"{address}.<any({', '.join(FORMATS)}):ending>", function.__name__, view)
        return function

    return register


def download(content: str | bytes, content_type: str, name: str) -> Response:
    """A file of this name."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, headers=headers, content_type=content_type)


def _csv(table: Table) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(map(_cell, table.columns))
    for row in table.rows:
        writer.writerow([_cell(row.get(column)) for column in table.columns])
    return out.getvalue()


def _cell(value: Cell) -> str | int | float:
    """Undefined is an empty cell; a float has all its digits."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, str) and _may_be_formula(value):
        return f"'{value}"
    return value


def _may_be_formula(text: str) -> bool:
    """Whether it begins as a formula does, in whatever width and behind whatever can't be seen."""
    visible = (sign for sign in unicodedata.normalize("NFKC", text) if unicodedata.category(sign)[0] not in "CZ")
    return text.startswith(BEFORE_IT) or next(visible, "") in FORMULA


def _json(table: Table) -> str:
    content = {**table.facts, "rows": table.rows}
    return json.dumps(content, default=datetime.isoformat, ensure_ascii=False, indent=1) + "\n"


BEST = "Bold: the best of its column, as printed."
ARROWS = {"higher": " ↑", "lower": " ↓", "none": ""}
# Left: which character; right: how it is written. A row that begins with [ or * would go into the command before it.
IN_LATEX = str.maketrans({
    **{sign: f"\\{sign}" for sign in "&%$#_"}, **{sign: f"{{{sign}}}" for sign in "[*"},
    "{": r"\textbraceleft{}", "}": r"\textbraceright{}",  # BibTeX counts braces, escaped ones too
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", "\N{NO-BREAK SPACE}": "~", MINUS: "$-$", DASH: "--",
    "↑": r"$\uparrow$", "↓": r"$\downarrow$", "†": r"$^{\dagger}$", "∞": r"$\infty$", "β": r"$\beta$",
})  # fmt: skip
IN_MARKDOWN = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[]<>|~#&$^"})


def _latex(table: Table) -> str:
    (head, *rows), is_figure = _for_paper(table, IN_LATEX, r"\textbf{%s}")
    return "\n".join((
        f"% {table.address}", r"% Needs \usepackage{booktabs}.", r"\begin{table}", r"\centering",
        rf"\caption{{{_caption(table).translate(IN_LATEX)}}}",
        rf"\begin{{tabular}}{{{''.join('r' if own else 'l' for own in is_figure)}}}", r"\toprule", _latex_row(head),
        r"\midrule", *map(_latex_row, rows), r"\bottomrule", r"\end{tabular}", r"\end{table}", "",
    ))  # fmt: skip


def _latex_row(cells: Sequence[str]) -> str:
    return rf"{' & '.join(cells)} \\"


def _markdown(table: Table) -> str:
    (head, *rows), is_figure = _for_paper(table, IN_MARKDOWN, "**%s**")
    ruler = ["---:" if own else ":---" for own in is_figure]
    lines = [f"| {' | '.join(row)} |" for row in (head, ruler, *rows)]
    return "\n".join((*lines, "", f"Table: {_caption(table).translate(IN_MARKDOWN)} <{table.address}>", ""))


def _caption(table: Table) -> str:
    has_best = any(column.measure and column.measure.direction != "none" for column in table.paper)
    made_up = "Simulated runs. " if _is_simulated(table.facts) else ""
    return _in_paper(f"{table.caption or f'{table.name}.'} {made_up}{BEST if has_best else ''}".strip())


def _is_simulated(facts: object) -> bool:
    """Whether a campaign among them says so."""
    return isinstance(facts, Mapping) and (facts.get("simulated") is True or any(map(_is_simulated, facts.values())))


def _for_paper(table: Table, escapes: Mapping[int, str], bold: str) -> tuple[list[tuple[str, ...]], list[bool]]:
    """Head and rows as they are written, and which columns are of numbers. bold: a best cell, with %s for its text"""
    columns = table.paper or [
        paper_column(name.replace("_", " ").capitalize() if name.islower() else name, name)
        for name in table.columns
        if not table.rows or any(_cell(row.get(name)) not in ("", "no") for row in table.rows)
    ]
    written, is_figure = [], []
    for column in columns:
        better, unit = (column.measure.direction, column.measure.unit) if column.measure else ("none", "")
        cells = [column.cell(row) for row in table.rows]
        texts = [_in_paper(cell, unit) for cell in cells]
        ranked = [cell for cell in cells if isinstance(cell, float)] if better != "none" else []
        best = _in_paper((min if better == "lower" else max)(ranked), unit) if len(ranked) > 1 else None
        own = [(column.head + ARROWS[better]).translate(escapes)]
        for row, text in zip(table.rows, texts, strict=True):
            mark = "†" if column.level and row[column.level] and text != best else ""
            cell = f"{text}{mark}".translate(escapes)
            own.append(bold % cell if text == best else cell)
        written.append(own)
        is_figure.append(
            column.measure is not None or all(cell is None or type(cell) in (int, float, Rounded) for cell in cells)
        )
    return list(zip(*written, strict=True)), is_figure


def _in_paper(cell: Cell, unit: str = "") -> str:
    """In one line, a figure with the digits of its page."""
    if cell is None or isinstance(cell, float):
        return plain_figure(cell, unit)
    if isinstance(cell, datetime):
        return f"{cell:%Y-%m-%d %H:%M}"
    return " ".join(cell.splitlines()) if isinstance(cell, str) else str(_cell(cell))


# Ending -> media type, and what writes the file. One more is offered on every page with a table, and answers there.
FORMATS = {
    "csv": ("text/csv", _csv),
    "json": ("application/json", _json),
    "tex": ("application/x-tex", _latex),
    "md": ("text/markdown", _markdown),
}


def evaluation_file(text: str, campaign: str, evaluation: str, content: str) -> Response:
    """Text as a download, named as a receipt's command names the file. content: as `download_name` takes it"""
    return download(text, "text/plain; charset=utf-8", download_name(campaign, evaluation, content))


def file_name(text: str) -> str:
    """An external id as a part of a file's name: letters, digits, dots and dashes as they are."""
    return re.sub(r"[^A-Za-z0-9.-]+", "_", text)


def _facts(row: object, *names: str) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}


def campaign_facts(campaign: CampaignHeading) -> dict[str, Any]:
    """A campaign as exports name it."""
    return _facts(campaign, "slug", "title", "simulated")


def evaluation_facts(evaluation: EvaluationHeading) -> dict[str, Any]:
    """An evaluation as exports name it, with its phase and dates."""
    names = ("slug", "title", "period", "condition", "collection", "phase", "opens_at", "closes_at", "grace_seconds")
    return {"campaign": campaign_facts(evaluation.campaign), **_facts(evaluation, *names)}


def terms_facts(terms: Terms) -> dict[str, Any]:
    """Every setting that the figures depend on."""
    return {
        **_facts(terms, "cost", "value", "prior"),
        **_facts(terms.settings, *OF_CAMPAIGN, *OF_EVALUATION),
        "metric_version": terms.metric_version,
        "judgment_revision": terms.revision,
        "queries": {"all": terms.queries, **_facts(terms, "counted", "excluded", "unjudged")},
        "rounded_to": terms.rounding and terms.rounding.decimals,
    }


def column_facts(column: Column) -> dict[str, Any]:
    """A measure as exports name it; "better" is higher, lower or none."""
    return {"name": column.name, "title": column.title, "unit": column.unit, "better": column.direction}
