"""Tables as files: the rows of a page as CSV, or as JSON together with what they rest on.

A file holds what the page shows its reader and nothing else: both are made from the same read.
"""

import csv
import dataclasses
import datetime as dt
import enum
import io
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from flask import Response

from leaderboard.reads.columns import Column
from leaderboard.reads.headings import CampaignHeading, EvaluationHeading, Terms

__all__ = [
    "Cell",
    "Table",
    "answer",
    "campaign_facts",
    "column_facts",
    "evaluation_facts",
    "file_name",
    "terms_facts",
]

Cell = str | int | float | bool | dt.datetime | None

# A spreadsheet takes a text that begins so for a formula, and names are what their teams choose.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclasses.dataclass(frozen=True, slots=True)
class Table:
    """name: of the file, without its ending. facts: what the rows rest on, in the JSON form only."""

    name: str
    rows: Sequence[Mapping[str, Cell]]
    columns: Sequence[str]
    facts: Mapping[str, Any] = dataclasses.field(default_factory=dict)


def answer(table: Table, kind: str) -> Response:
    """The table as a download of its kind: "csv" or "json"."""
    text, media = (_csv(table), "text/csv") if kind == "csv" else (_json(table), "application/json")
    response = Response(text, content_type=f"{media}; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{table.name}.{kind}"'
    return response


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
    if isinstance(value, dt.datetime):
        return value.isoformat()
    if isinstance(value, str) and value.startswith(FORMULA):
        return f"'{value}"
    return value


def _json(table: Table) -> str:
    return json.dumps({**table.facts, "rows": table.rows}, default=_plain, ensure_ascii=False, indent=1) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, dt.datetime):
        return value.isoformat()
    if isinstance(value, enum.Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def file_name(text: str) -> str:
    """An external id as a part of a file's name: letters, digits, dots and dashes as they are."""
    return re.sub(r"[^A-Za-z0-9.-]+", "_", text)


def campaign_facts(campaign: CampaignHeading) -> dict[str, Any]:
    return {"slug": campaign.slug, "title": campaign.title, "simulated": campaign.simulated}


def evaluation_facts(evaluation: EvaluationHeading) -> dict[str, Any]:
    return {
        "campaign": campaign_facts(evaluation.campaign),
        "slug": evaluation.slug,
        "title": evaluation.title,
        "period": evaluation.period,
        "condition": evaluation.condition,
        "collection": evaluation.collection,
        "phase": evaluation.phase.value,
        "opens_at": evaluation.opens_at,
        "closes_at": evaluation.closes_at,
    }


def terms_facts(terms: Terms) -> dict[str, Any]:
    return {
        "beta": terms.beta,
        "cost": terms.cost,
        "value": terms.value,
        "prior": terms.prior,
        "no_relevant": terms.no_relevant.value,
        "documents": terms.documents,
        "relevance_level": terms.relevance_level,
        "judging": terms.judging.value,
        "compat": terms.compat,
        "metric_version": terms.metric_version,
        "judgment_revision": terms.revision,
        "queries": {
            "all": terms.queries,
            "counted": terms.counted,
            "excluded": terms.excluded,
            "unjudged": terms.unjudged,
            "hidden": terms.hidden,
        },
    }


def column_facts(column: Column) -> dict[str, Any]:
    return {"name": column.name, "title": column.title, "unit": column.unit, "better": column.direction}
