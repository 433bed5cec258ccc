"""The audit trail of a campaign: a page, and the same as a file."""

from collections.abc import Mapping
from http import HTTPStatus

from flask import Blueprint, g, render_template, request
from flask.typing import ResponseReturnValue

from leaderboard.audit.reads import BY_NOBODY, CONDITIONS, SUBJECTS, TrailFilters, trail
from leaderboard.errors import InvalidFields
from leaderboard.web.context import page_number, read
from leaderboard.web.exports import Table, columns, exported, table
from leaderboard.web.organise import organised

blueprint = Blueprint("organise_trail", __name__, url_prefix="/organise")

ADDRESS = "/<campaign>/trail"

COLUMNS = columns(
    "number", "at", "who", "did", "to=thing", "subject", "id=subject_id", "changed", "facts",
    changed=lambda row: "; ".join(f"{change.what}: {change.before} → {change.after}" for change in row.changes),
    facts=lambda row: "; ".join(f"{name}: {value}" for name, value in row.facts),
)  # fmt: skip


@blueprint.get(ADDRESS)
@organised
def index(campaign: str) -> ResponseReturnValue:
    filters = _filters()
    wrong: Mapping[str, list[str]] = {}
    try:
        page = read(trail, campaign, filters=filters, page=page_number())
    except InvalidFields as error:
        g.refused, wrong = True, error.fields
        page = read(trail, campaign, filters=TrailFilters(), page=1)  # for its people: no event is listed
    content = render_template(
        "organise/trail.html", page=page, filters=filters, wrong=wrong, subjects=SUBJECTS, worker=BY_NOBODY
    )
    return content, HTTPStatus.BAD_REQUEST if wrong else HTTPStatus.OK


@exported(blueprint, ADDRESS)
def index_file(campaign: str) -> Table:
    page = read(trail, campaign, filters=_filters(), page=None)
    return table(f"{campaign}-trail", COLUMNS, page.rows, {"campaign": campaign})


def _filters() -> TrailFilters:
    return TrailFilters(**{name: request.args.get(name, "") for name in CONDITIONS})
