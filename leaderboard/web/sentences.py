"""What the figures of a page show, in sentences. None says more than the figures allow."""

from collections import Counter
from collections.abc import Sequence

from flask import Flask
from markupsafe import Markup

from leaderboard.numbers import counted
from leaderboard.reads.boards import BoardPage, BoardRow
from leaderboard.reads.columns import Column
from leaderboard.reads.progress import Line, Point, ProgressPage
from leaderboard.reads.standings import Show
from leaderboard.rules.disclosure import Rounded
from leaderboard.web.formatting import number, plain_figure, when

__all__ = ["best_over_periods", "board_finding", "extreme", "init_app", "means_over", "one_system_over_periods"]

NAMED = 3  # systems that share a place and are all named
NAMED_WITHOUT_DIFFERENCE = 4  # systems that don't differ significantly from the first and are all named


def init_app(app: Flask) -> None:
    """Gives templates the filters `extreme` and `means_over`."""
    app.jinja_env.filters |= {"extreme": extreme, "means_over": means_over}


def board_finding(page: BoardPage) -> tuple[str, ...]:
    """The sentences above a board: who has the best figure, which differences are significant, and what is left out."""
    found: list[str] = []
    if page.ranked_by is None:
        return ()
    if not page.results_open and page.rows:
        found.append(_own_runs_only(page))
    elif page.ranked:
        found += [_best(page, page.ranked_by), *_significance(page), *_baselines(page, page.ranked_by)]
    elif page.rows and page.ranked_by.direction == "none":
        found.append(f"Neither high nor low is better in {page.ranked_by.name}, so nothing is ranked by it.")
    if page.tag:
        found.append(_over_tag(page))
    return tuple(found)


def means_over(page: BoardPage) -> str:
    """Over how many queries the board's means are, where not over all of its queries; else empty.

    Why so few is said only to those who may see single queries: it tells something of the judgments.
    """
    counts = page.queries_in_means
    total = page.tag_queries if page.tag else page.terms.counted if page.terms else 0
    if all(fewest == total for fewest, _ in counts.values()):
        return ""
    ((fewest, most), of_them), *_ = Counter(counts.values()).most_common(1)
    text = "All means are" if of_them == len(counts) else "Means are"
    text += f" over {_from_to(fewest, most)} of {counted(total, 'query', 'queries')}"
    empty = page.terms.nothing_relevant if page.terms and page.details_open and not page.tag else 0
    if empty and fewest == most == total - empty:
        text += f"; {empty} {'has' if empty == 1 else 'have'} no relevant document"
    others = [f"{name} is over {_from_to(*own)}" for name, own in counts.items() if own != (fewest, most)]
    return f"{text}{', but ' if others else ''}{', '.join(others)}."


def extreme(column: Column) -> str:
    """What the best value of a column is called: the highest, the lowest."""
    return {"higher": "highest", "lower": "lowest"}.get(column.direction, "first")


def best_over_periods(page: ProgressPage, kind: str = "system") -> str:
    """What the best of each period did from the first period to the last."""
    lines = page.systems if kind == "system" else page.teams
    best = [
        [(point, line.name) for line in lines if (point := line.at(period)) and point.best] for period in page.periods
    ]
    known = [group for group in best if group]
    measure = page.column.name
    if not known:
        return f"No {kind} has a value of {measure} yet."
    (first, _), (last, _) = known[0][0], known[-1][0]
    early, late = (_together([name for _, name in group]) for group in (known[0], known[-1]))
    what = f"the {extreme(page.column)} {measure}"
    if page.condition:
        what = f"{page.condition}: {what}"
    what = what[0].upper() + what[1:]
    if first.period is last.period:
        return f"{what} of {last.period.label} is {_written(page, last)} ({late})."
    if (moved := _moved(page, first, last)) is None:
        return (
            f"{what} is {_written(page, last)} in {first.period.label} ({early}) and in {last.period.label} ({late})."
        )
    return (
        f"{what} {moved} from {_written(page, first)} in {first.period.label} ({early}) "
        f"to {_written(page, last)} in {last.period.label} ({late})."
    )


def one_system_over_periods(page: ProgressPage, lines: Sequence[Line], only: int) -> str:
    """What the figure of the system with the id `only` did from its first period to its last."""
    line = next(line for line in lines if line.system is not None and line.system.id == only)
    first, last = line.points[0], line.points[-1]
    what = f"{page.column.name} of {line.name}"
    if page.condition:
        what = f"{page.condition}: {what}"
    if first is last:
        return f"{what} is {_written(page, last)} in {last.period.label}, its only period; the other systems are grey."
    if (moved := _moved(page, first, last)) is None:
        text = f"{what} is {_written(page, last)} in {first.period.label} and in {last.period.label}"
    else:
        text = f"{what} {moved} from {_written(page, first)} in {first.period.label}"
        text += f" to {_written(page, last)} in {last.period.label}"
    return f"{text}; the other systems are grey."


def _own_runs_only(page: BoardPage) -> str:
    opens = (
        Markup("{}").format(when(page.evaluation.closed_from))
        if page.evaluation.results == "closed" and page.evaluation.closed_from
        else "when the organisers open the results"
    )
    return Markup("You see the runs of your own teams only, without ranks. The board opens {}.").format(opens)


def _best(page: BoardPage, column: Column) -> str:
    """Who has the best figure: an observation, which says nothing of other queries."""
    first = _first(page)
    value = plain_figure(first[0].ranked_by.mean, column.unit)
    over = f"over {counted(_queries(page), 'query', 'queries')}"
    if len(page.ranked) == 1:
        return f"{_name(page, first[0])} is the only ranked {_noun(page)}: {column.name} {value} {over}."
    names = [_name(page, row) for row in first]
    if len(first) > 1:
        return f"{_together(names)} share the {extreme(column)} {column.name}, {value} {over}."
    second = page.ranked[1]
    return (
        f"{names[0]} has the {extreme(column)} {column.name}, {value} {over}; "
        f"{_name(page, second)} is next with {plain_figure(second.ranked_by.mean, column.unit)}."
    )


def _significance(page: BoardPage) -> list[str]:
    """Which differences from the first the statistics of this very view call significant, or why nothing is said."""
    first = _first(page)
    if len(first) == len(page.ranked):
        return []
    if _queries(page) < 2:
        return ["One query says nothing of other queries: another one may turn this order round."]
    if page.tag:
        return ["Whether the differences are significant is worked out over all queries only."]
    statistics = page.statistics
    if statistics is None or not statistics.ranks:
        return [f"Whether the differences between these {_noun(page)}s are significant has not been worked out."]
    if not statistics.permutations:
        return [f"Which differences in {page.ranked_by.name if page.ranked_by else ''} are significant was not tested."]
    level = f"{number(statistics.confidence * 100)}\N{NO-BREAK SPACE}%"
    others = [_name(page, row) for row in page.ranked if row.leads and row.rank != 1]
    if not others:
        if len(first) > 1:
            return [f"They differ significantly from all others at {level} confidence."]
        return [f"It differs significantly from all others at {level} confidence."]
    them = "it" if len(first) == 1 else "them"
    if len(others) <= NAMED_WITHOUT_DIFFERENCE:
        return [f"Not significantly different from {them} at {level} confidence: {', '.join(others)}."]
    return [f"{len(others)} others, shaded too, are not significantly different from {them} at {level} confidence."]


def _baselines(page: BoardPage, column: Column) -> list[str]:
    if not page.baselines:
        return []
    ranked = len(page.ranked)
    better = "lower" if column.direction == "lower" else "higher"
    if page.beaten == ranked == 1:
        who = "It has"
    elif page.beaten == 0:
        who = f"No {_noun(page)} has"
    elif page.beaten == ranked:
        who = f"All {counted(ranked, _noun(page))} have"
    else:
        who = f"{page.beaten} of {counted(ranked, _noun(page))} {'has' if page.beaten == 1 else 'have'}"
    return [f"{who} a {better} {column.name} than the best baseline."]


def _over_tag(page: BoardPage) -> str:
    text = f"All figures are over the {counted(page.tag_queries, 'query', 'queries')} with the tag {page.tag} only"
    if page.not_over_tag:
        text += f"; {', '.join(page.not_over_tag)} can't be worked out for some of the queries"
    return f"{text}."


def _first(page: BoardPage) -> list[BoardRow]:
    return [row for row in page.ranked if row.rank == 1]


def _queries(page: BoardPage) -> int:
    """How many queries the first figure of the board is over."""
    return page.ranked[0].ranked_by.count


def _noun(page: BoardPage) -> str:
    return "run" if page.show == Show.ALL else "system"


def _name(page: BoardPage, row: BoardRow) -> str:
    """The system; its run too where a board lists several of one system."""
    entry = row.entry
    return f"{entry.system.name} ({entry.label})" if page.show == Show.ALL and entry.label else entry.system.name


def _from_to(fewest: int, most: int) -> str:
    return f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"


def _written(page: ProgressPage, point: Point) -> str:
    return plain_figure(point.figure.mean, page.column.unit)


def _together(names: Sequence[str]) -> str:
    """Those who share a place: `Alder`, `Alder and Birch`, `Alder, Birch and 3 others`."""
    if len(names) > NAMED:
        names = [*names[: NAMED - 1], f"{len(names) - NAMED + 1} others"]
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def _moved(page: ProgressPage, first: Point, last: Point) -> str | None:
    """None where both read alike, with as many decimals as the one has that was rounded further for its reader."""
    start, end = first.figure.mean or 0.0, last.figure.mean or 0.0
    decimals = min((mean.decimals for mean in (start, end) if isinstance(mean, Rounded)), default=None)
    if decimals is not None:
        start, end = Rounded(round(start, decimals), decimals), Rounded(round(end, decimals), decimals)
    if plain_figure(start, page.column.unit) == plain_figure(end, page.column.unit):
        return None
    return "rose" if end > start else "fell"
