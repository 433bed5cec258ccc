"""Exports: the table of a page as CSV, or as JSON with the settings that its figures depend on.

A file holds what the page shows its reader and nothing else: both are made from the same read.
"""

import csv
import io
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any, ParamSpec, TypeVar

from flask import Blueprint, Response

from leaderboard.boards.reads.entries import Column
from leaderboard.evaluations.reads.evaluations import CampaignHeading, EvaluationHeading, Terms
from leaderboard.evaluations.rules import OF_CAMPAIGN, OF_EVALUATION, download_name
from leaderboard.frozen import frozen

P = ParamSpec("P")
Row = TypeVar("Row")
Cell = str | int | float | bool | datetime | None

# A spreadsheet takes a text that begins so for a formula, and names are what their teams choose.
FORMULA = frozenset("=+-@")
BEFORE_IT = ("\t", "\r")


@frozen
class Table:
    """A table to export. name: of the file, without its ending; facts: the settings behind the rows, in JSON only."""

    name: str
    columns: Sequence[str]
    rows: Sequence[Mapping[str, Cell]]
    facts: Mapping[str, Any]


def columns(*names: str, **computed: Callable[[Any], Cell]) -> dict[str, Callable[[Any], Cell]]:
    """The columns of a table in their order: each a row's attribute of its name, `name=path.of.attributes` where that
    is another, or computed.
    """
    paths = {name: path or name for name, _, path in (each.partition("=") for each in names)}
    return {name: computed.get(name) or attrgetter(path) for name, path in paths.items()}


def table(
    name: str, columns: Mapping[str, Callable[[Row], Cell]], rows: Iterable[Row], facts: Mapping[str, Any]
) -> Table:
    """`columns`: name -> the cell of a row. A column is added here and nowhere else in an export."""
    return Table(name, tuple(columns), [{key: cell(row) for key, cell in columns.items()} for row in rows], facts)


def evaluation_table(
    evaluation: EvaluationHeading,
    ending: str,
    columns: Mapping[str, Callable[[Row], Cell]],
    rows: Iterable[Row],
    facts: Mapping[str, Any],
) -> Table:
    """The same of an evaluation, which names the file and stands first in the facts. ending: of the name"""
    facts = {"evaluation": evaluation_facts(evaluation), **facts}
    return table(f"{evaluation.campaign.slug}-{evaluation.slug}{ending}", columns, rows, facts)


def exported(blueprint: Blueprint, address: str) -> Callable[[Callable[P, Table]], Callable[P, Table]]:
    """Serves the table that a function gives as a download, at `address` with the ending of each of `FORMATS`."""

    def register(function: Callable[P, Table]) -> Callable[P, Table]:
        def view(*args: P.args, **kwargs: P.kwargs) -> Response:
            ending = str(kwargs.pop("ending"))
            content = function(*args, **kwargs)
            media_type, write = FORMATS[ending]
            response = Response(write(content), content_type=f"{media_type}; charset=utf-8")
            response.headers["Content-Disposition"] = f'attachment; filename="{content.name}.{ending}"'
            return response

        blueprint.add_url_rule(f"{address}.<any({', '.join(FORMATS)}):ending>", function.__name__, view)
        return function

    return register


def _csv(table: Table) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(table.columns)
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


# Ending -> media type, and what writes the file. One more is offered on every page with a table, and answers there.
FORMATS = {"csv": ("text/csv", _csv), "json": ("application/json", _json)}


def evaluation_file(text: str, campaign: str, evaluation: str, content: str) -> Response:
    """Text as a download, named as a receipt's command names the file. content: as `download_name` takes it"""
    headers = {"Content-Disposition": f'attachment; filename="{download_name(campaign, evaluation, content)}"'}
    return Response(text, headers=headers, mimetype="text/plain")


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
