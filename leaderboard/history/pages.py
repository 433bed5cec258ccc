"""Old boards as they stood, what moved between two of them, and boards by several sources of judgments."""

from collections.abc import Callable, Sequence

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from leaderboard.boards.pages import board_page, board_table
from leaderboard.boards.reads.entries import found_on_page
from leaderboard.history import reads
from leaderboard.history.reads import BoardDifference, SourceRow, SourcesPage, SystemDifference
from leaderboard.web.context import page_number, read
from leaderboard.web.endpoints import plain
from leaderboard.web.exports import Cell, Table, column_facts, columns, evaluation_table, exported

blueprint = Blueprint("history", __name__, url_prefix="/campaigns/<campaign>/<evaluation>")

DIFFERENCE = "/boards/<int:before>/to/<int:after>"
OF_SYSTEM = "system=system.name", "team=system.team", "kind=system.kind", "submission=submission_id"
DIFFERENCE_COLUMNS = columns(
    *OF_SYSTEM, "another_run_before=another_run", "rank_before", "rank", "before=before.mean", "after=after.mean"
)
SOURCE_COLUMNS = columns(*OF_SYSTEM)


@blueprint.get("/boards")
def index(campaign: str, evaluation: str) -> ResponseReturnValue:
    return render_template("history/index.html", page=read(reads.board_versions, campaign, evaluation))


@blueprint.get("/boards/<int:scoring_set>")
def board(campaign: str, evaluation: str, scoring_set: int) -> ResponseReturnValue:
    return board_page(campaign, evaluation, set_id=scoring_set, page=page_number())


@exported(blueprint, "/boards/<int:scoring_set>")
def board_file(campaign: str, evaluation: str, scoring_set: int) -> Table:
    return board_table(campaign, evaluation, set_id=scoring_set)


@blueprint.get(DIFFERENCE)
def what_moved(campaign: str, evaluation: str, before: int, after: int) -> ResponseReturnValue:
    page = read(reads.board_difference, campaign, evaluation, before, after, asked=("measure",))
    return _systems_in_pages("history/difference.html", page)


def _systems_in_pages(template: str, page: BoardDifference | SourcesPage) -> str:
    text = request.args.get("text", "")
    systems: Sequence[SystemDifference | SourceRow] = page.rows
    rows, paging = found_on_page(systems, lambda row: (row.system.name, row.system.team), text, page_number())
    return render_template(template, page=page, rows=rows, paging=paging, text=text)


@exported(blueprint, DIFFERENCE)
def what_moved_file(campaign: str, evaluation: str, before: int, after: int) -> Table:
    page = read(reads.board_difference, campaign, evaluation, before, after, asked=("measure",))
    names = ("systems", "pairs", "swapped", "parted", "tau", "tau_ap")
    facts = {
        "before": page.before.words,
        "after": page.after.words,
        "changes": page.changes,
        "apart": page.apart,
        "judgments": plain(page.judgments),
        "measure": column_facts(page.column),
        "orders": [
            {"measure": order.column.name} | {name: getattr(order, name) for name in names} for order in page.orders
        ],
    }
    return evaluation_table(page.evaluation, "-moved", DIFFERENCE_COLUMNS, page.rows, facts)


@blueprint.get("/sources")
def sources(campaign: str, evaluation: str) -> ResponseReturnValue:
    return _systems_in_pages("history/sources.html", read(reads.sources, campaign, evaluation, asked=("measure",)))


@exported(blueprint, "/sources")
def sources_file(campaign: str, evaluation: str) -> Table:
    page = read(reads.sources, campaign, evaluation, asked=("measure",))
    columns = dict(SOURCE_COLUMNS)
    for index, source in enumerate(page.sources):
        columns |= _of_source(source.source, index)
    facts = {
        "measure": column_facts(page.column) if page.column else None,
        "agreement": {
            agreement.source.source: {
                order.column.name: {"tau": order.tau, "tau_ap": order.tau_ap, "swapped": order.swapped}
                for order in agreement.orders
            }
            for agreement in page.agreements
        },
    }
    return evaluation_table(page.evaluation, "-sources", columns, page.rows, facts)


def _of_source(source: str, index: int) -> dict[str, Callable[[SourceRow], Cell]]:
    return {
        f"rank by {source}": lambda row: row.ranks[index],
        f"mean by {source}": lambda row: row.figures[index].mean,
    }
