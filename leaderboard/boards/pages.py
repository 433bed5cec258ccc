"""The board of an evaluation, old boards as they stood, what moved between two of them, and boards by several sources
of judgments: as pages and as files."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from leaderboard.boards.reads import board as boards, breakdown, history
from leaderboard.boards.reads.entries import found_on_page
from leaderboard.boards.reads.ranking import Show
from leaderboard.evaluations.rules import FormField, as_written
from leaderboard.moments import day_in_words
from leaderboard.numbers import read_whole
from leaderboard.web import exports
from leaderboard.web.context import now, page_number, read
from leaderboard.web.endpoints import plain
from leaderboard.web.exports import Cell, Table, column_facts, columns, evaluation_table, exported, terms_facts
from leaderboard.web.formatting import number, scale_of
from leaderboard.web.sentences import board_finding, tags_finding

blueprint = Blueprint("boards", __name__)

ADDRESS = "/campaigns/<campaign>/<evaluation>"
ASKED = ("measure", "tag", "show", "sort", "answer", "text", "intervals")  # arguments of the address that a board takes

COLUMNS = columns(
    "rank", "rank_low", "rank_high", "may_be_best", "system=entry.system.name", "team=entry.system.team",
    "kind=entry.system.kind", "submission=entry.submission_id", "label=entry.label", "designation=entry.designation",
    "late=entry.late", "run_at=entry.run_at", "received_at=entry.received_at",
    "received_assumed=entry.received_assumed", "queries_missing=entry.missing",
    rank_low=lambda row: row.rank_set[0] if row.rank_set else None,
    rank_high=lambda row: row.rank_set[1] if row.rank_set else None,
)  # fmt: skip


@blueprint.get(ADDRESS)
@blueprint.get(f"{ADDRESS}/boards/<int:scoring_set>", endpoint="old_board")
def board(campaign: str, evaluation: str, scoring_set: int | None = None) -> ResponseReturnValue:
    """The board of today, or as it stood."""
    view = board_query(set_id=scoring_set, page=page_number(), run=request.args.get("run", type=read_whole))
    page = read(boards.board, campaign, evaluation, view=view)
    return render_template(
        "boards/board.html",
        page=page,
        finding=board_finding(page),
        permanent=permanent_address(page),
        scale=scale_of(page.whole.ends),
        intervals=view.intervals == "yes" and page.whole.has_intervals,
    )


@exported(blueprint, ADDRESS)
def board_file(campaign: str, evaluation: str) -> Table:
    return board_table(campaign, evaluation)


def board_query(**more: Any) -> boards.BoardQuery:
    """What the address says of a board or of a page behind it, which may not ask for all of it."""
    return boards.BoardQuery(**more, **{name: request.args.get(name, "") for name in ASKED})  # type: ignore[arg-type]  # texts


def board_table(campaign: str, evaluation: str, **more: int | None) -> Table:
    """Baselines first, then the rows as they stand; every measure with its interval where there is one."""
    page = read(boards.board, campaign, evaluation, view=board_query(**more))
    figures = {
        f"{column.name}{ending}": lambda row, at=at, part=part: getattr(row.figures[at], part)
        for at, column in enumerate(page.columns)
        for ending, part in (("", "mean"), (" low", "low"), (" high", "high"), (" queries", "count"))
    }
    shown = COLUMNS | figures
    for field in page.answers.columns:
        shown[f"answer {field.key}"] = partial(_answer, page, field)
    statistics = page.statistics
    names = ("confidence", "resamples", "rank_resamples", "rank_queries", "seed")
    facts = {
        "terms": terms_facts(page.terms) if page.terms else None,
        "ranked_by": page.ranked_by.name if page.ranked_by else None,
        "show": page.show.value,
        "tag": page.tag or None,
        "text": page.text or None,
        "answer": ":".join(page.answers.chosen) if page.answers.chosen else None,
        "waiting": page.waiting,
        "statistics": statistics and {name: getattr(statistics, name) for name in names},
        "queries_tell": statistics and plain(statistics.told),
        "measures": [column_facts(column) for column in page.columns],
    }
    if page.old:
        facts["as_it_stood"] = {name: getattr(page.old, name) for name in ("since", "until", "source")}
    ending = f"-board-{page.old.id}" if page.old else ""
    rows = *page.baselines, *page.listed
    paper = {"paper": _for_paper(page), "caption": _caption(page), "address": permanent_address(page)}
    return evaluation_table(page.evaluation, ending, shown, rows, facts, **paper)


def permanent_address(page: boards.BoardPage) -> str:
    """Of the board as it stands, by its set and with what the reader asks for; "" before the first judgments."""
    if page.scoring_set is None:
        return ""
    where = {"campaign": page.evaluation.campaign.slug, "evaluation": page.evaluation.slug}
    asked = {name: request.args[name] for name in ASKED if request.args.get(name)}
    return exports.public_address("boards.old_board", **where, scoring_set=page.scoring_set, **asked)


def _for_paper(page: boards.BoardPage) -> list[exports.PaperColumn]:
    """The columns that the reader chose, the measure that ranks first."""
    chosen, by = request.args.getlist("columns"), page.ranked_by
    measures = [own for own in page.columns if own == by or not chosen or own.name in chosen]
    columns = [exports.paper_column("Rank"), exports.paper_column("System"), exports.paper_column("Team")]
    if page.statistics and page.statistics.ranks:
        columns.insert(1, exports.PaperColumn("Rank set", _rank_set))
    if page.show is Show.ALL:
        columns.append(exports.paper_column("Run", "label"))
    return columns + exports.measure_columns(sorted(measures, key=lambda own: own != by), by)


def _rank_set(row: Mapping[str, Cell]) -> Cell:
    low, high = row["rank_low"], row["rank_high"]
    return low if low == high else f"{low}–{high}"


def _caption(page: boards.BoardPage) -> str:
    if not page.terms or not page.ranked_by:
        return ""
    stood = day_in_words(page.stood_from or now())
    words = f"Board of {stood} by {page.ranked_by.name}, judgments revision {page.terms.revision}."
    if page.statistics and page.statistics.may_be_best:
        words += f" †: may be the best system too, at {number(page.statistics.confidence * 100)} % confidence."
    return words


def _answer(page: boards.BoardPage, field: FormField, row: boards.BoardRow) -> Cell:
    answer = page.answers.of(row.entry.submission_id).get(field)
    return None if answer is None else as_written(answer)


DIFFERENCE = f"{ADDRESS}/boards/<int:before>/to/<int:after>"
OF_SYSTEM = "system=system.name", "team=system.team", "kind=system.kind", "submission=submission_id"
DIFFERENCE_COLUMNS = columns(
    *OF_SYSTEM, "another_run_before=another_run", "rank_before", "rank", "before=before.mean", "after=after.mean"
)


@blueprint.get(f"{ADDRESS}/boards")
def board_versions(campaign: str, evaluation: str) -> ResponseReturnValue:
    return render_template("boards/versions.html", page=read(history.board_versions, campaign, evaluation))


@exported(blueprint, f"{ADDRESS}/boards/<int:scoring_set>")
def old_board_file(campaign: str, evaluation: str, scoring_set: int) -> Table:
    return board_table(campaign, evaluation, set_id=scoring_set)


@blueprint.get(DIFFERENCE)
def what_moved(campaign: str, evaluation: str, before: int, after: int) -> ResponseReturnValue:
    page = read(history.board_difference, campaign, evaluation, before, after, asked=("measure",))
    text = request.args.get("text", "")
    rows, paging = found_on_page(page.rows, lambda row: (row.system.name, row.system.team), text, page_number())
    return render_template("boards/difference.html", page=page, rows=rows, paging=paging, text=text)


@exported(blueprint, DIFFERENCE)
def what_moved_file(campaign: str, evaluation: str, before: int, after: int) -> Table:
    page = read(history.board_difference, campaign, evaluation, before, after, asked=("measure",))
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


ORDER = "tau", "tau_ap", "swapped"


@blueprint.get(f"{ADDRESS}/sources")
def sources(campaign: str, evaluation: str) -> ResponseReturnValue:
    page = read(breakdown.sources, campaign, evaluation, asked=("measure",))
    return breakdown_page("boards/sources.html", page, [source.source for source in page.sources[1:]], "")


@exported(blueprint, f"{ADDRESS}/sources")
def sources_file(campaign: str, evaluation: str) -> Table:
    page = read(breakdown.sources, campaign, evaluation, asked=("measure",))
    official, *others = (source.source for source in page.sources)
    facts = {
        "measure": column_facts(page.column),
        "official": official,
        "queries": page.queries,
        "agreement": {
            agreement.source.source: {
                "queries": agreement.queries,
                **{name: getattr(agreement.order, name) for name in ORDER},
            }
            for agreement in page.agreements
        },
        "judgments": {agreement.source.source: plain(agreement.judging) for agreement in page.agreements},
    }
    shown = breakdown_columns(
        dict(zip(others, others, strict=True)), exports.paper_column(official, "mean", page.column)
    )
    return evaluation_table(page.evaluation, "-sources", rows=page.rows, facts=facts, **shown)


TAGS = f"{ADDRESS}/tags"


@blueprint.get(TAGS)
def tags(campaign: str, evaluation: str) -> ResponseReturnValue:
    page = read(breakdown.tags, campaign, evaluation, asked=("measure",))
    return breakdown_page("boards/tags.html", page, [tag.name for tag in page.tags], tags_finding(page))


def breakdown_page(template: str, page: Any, keys: Sequence[str], finding: str, **more: Any) -> str:
    """A table of systems by columns with these keys. more: as `breakdown.listed` takes it"""
    view = board_query(page=page_number())
    rows, paging = breakdown.listed(page, keys, view, more)
    scale = scale_of(row.mean for row in page.rows)
    return render_template(template, page=page, finding=finding, rows=rows, paging=paging, view=view, scale=scale)


@exported(blueprint, TAGS)
def tags_file(campaign: str, evaluation: str) -> Table:
    page = read(breakdown.tags, campaign, evaluation, asked=("measure",))
    terms, measure = terms_facts(page.terms), column_facts(page.column)
    facts = {"terms": terms, "measure": measure, "queries": {tag.name: tag.queries for tag in page.tags}}
    mean = exports.paper_column("All queries", "mean", page.column)
    shown = breakdown_columns({tag.name: tag.name for tag in page.tags}, mean)
    return evaluation_table(page.evaluation, "-tags", rows=page.rows, facts=facts, caption=tags_finding(page), **shown)


def breakdown_columns(heads: Mapping[str, str], mean: exports.PaperColumn, *more: str) -> dict[str, Any]:
    """The columns of a table of systems: of each row its mean, of each cell figure, rank and run; and those in a paper.

    heads: key of a column of cells -> its head; more: attributes of a row
    """
    cells = {
        f"{key} {part}": lambda row, at=at, name=name: getattr(row.cells[at], name)
        for at, key in enumerate(heads)
        for part, name in (("mean", "mean"), ("rank", "rank"), ("submission", "submission_id"))
    }
    figures = [exports.paper_column(head, f"{key} mean", mean.measure) for key, head in heads.items()]
    paper = [exports.paper_column("Rank"), exports.paper_column("System"), mean, *figures]
    return {"columns": columns("rank", *OF_SYSTEM[:3], "mean", *more) | cells, "paper": paper}
