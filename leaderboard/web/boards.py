"""The board of an evaluation, as a page and as a file."""

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from leaderboard.reads import boards
from leaderboard.web import exports
from leaderboard.web.context import actor, now, reading
from leaderboard.web.exports import column_facts, evaluation_facts, terms_facts
from leaderboard.web.scales import scale_of
from leaderboard.web.sentences import board_finding

blueprint = Blueprint("boards", __name__)

ADDRESS = "/campaigns/<campaign>/<evaluation>"


@blueprint.get(ADDRESS)
def board(campaign: str, evaluation: str) -> ResponseReturnValue:
    page = _read(campaign, evaluation)
    scale = scale_of(end for row in (*page.rows, *page.baselines) for end in row.ranked_by.ends)
    return render_template("boards/board.html", page=page, finding=board_finding(page), scale=scale)


@blueprint.get(f"{ADDRESS}.<any(csv, json):kind>")
def board_file(campaign: str, evaluation: str, kind: str) -> ResponseReturnValue:
    return exports.answer(_table(_read(campaign, evaluation)), kind)


def _read(campaign: str, evaluation: str) -> boards.BoardPage:
    asked = {name: request.args.get(name) for name in ("measure", "tag", "show", "sort")}
    with reading() as session:
        return boards.board(session, actor(), campaign, evaluation, now(), **asked)


def _table(page: boards.BoardPage) -> exports.Table:
    """Baselines first, then the rows as they stand; every measure with its interval where there is one."""
    columns = [
        "rank",
        "rank_low",
        "rank_high",
        "leads",
        "system",
        "team",
        "kind",
        "submission",
        "label",
        "standing",
        "late",
        "received_at",
        "queries_missing",
    ]
    for column in page.columns:
        columns += [column.name, f"{column.name} low", f"{column.name} high", f"{column.name} queries"]
    rows: list[dict[str, exports.Cell]] = []
    for row in (*page.baselines, *page.rows):
        entry = row.entry
        cells: dict[str, exports.Cell] = {
            "rank": row.rank,
            "rank_low": row.rank_range[0] if row.rank_range else None,
            "rank_high": row.rank_range[1] if row.rank_range else None,
            "leads": row.leads if page.leaders else None,
            "system": entry.system.name,
            "team": entry.system.team,
            "kind": entry.system.kind.value,
            "submission": entry.submission_id,
            "label": entry.label,
            "standing": entry.standing.value,
            "late": entry.late,
            "received_at": entry.received_at,
            "queries_missing": entry.missing,
        }
        for column, figure in zip(page.columns, row.figures, strict=True):
            ends = (figure.mean, figure.low, figure.high, figure.count)
            names = (column.name, f"{column.name} low", f"{column.name} high", f"{column.name} queries")
            cells.update(zip(names, ends, strict=True))
        rows.append(cells)
    facts = {
        "evaluation": evaluation_facts(page.evaluation),
        "terms": terms_facts(page.terms) if page.terms else None,
        "ranked_by": page.ranked_by.name if page.ranked_by else None,
        "show": page.show.value,
        "tag": page.tag or None,
        "waiting": page.waiting,
        "statistics": page.derived
        and {"level": page.derived.level, "resamples": page.derived.resamples, "seed": page.derived.seed},
        "measures": [column_facts(column) for column in page.columns],
    }
    return exports.Table(f"{page.evaluation.campaign.slug}-{page.evaluation.slug}", rows, columns, facts)
