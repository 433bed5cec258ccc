"""What the figures of a page show, in sentences. None says more than the figures allow."""

import math
from collections import Counter
from collections.abc import Sequence

from flask import Flask
from markupsafe import Markup

from leaderboard.numbers import counted
from leaderboard.reads.boards import BoardPage, BoardRow
from leaderboard.reads.columns import Column
from leaderboard.reads.entries import told_apart
from leaderboard.reads.progress import Line, Point, ProgressPage
from leaderboard.reads.standings import Show
from leaderboard.reads.two_runs import Compared
from leaderboard.rules.disclosure import Rounded
from leaderboard.statistics import LEAST_QUERIES, POWER
from leaderboard.statistics.fragility import NEVER
from leaderboard.web.formatting import number, over, plain_figure, sentence, signed, when

__all__ = [
    "best_over_periods",
    "board_finding",
    "comparison_finding",
    "extreme",
    "init_app",
    "lead_rests_on",
    "means_over",
    "one_system_over_periods",
    "smallest_difference",
    "times",
]

LEAST_P = 0.001
NAMED = 3  # systems that share a place and are all named
NAMED_AS_BEST = 4  # systems that may be the best and are all named
WORDS = {2: "two", 3: "three", 4: "four"}


def init_app(app: Flask) -> None:
    """Gives templates the filters `extreme`, `lead_rests_on`, `means_over`, `smallest_difference` and `times`."""
    app.jinja_env.filters |= {
        "extreme": extreme,
        "lead_rests_on": lead_rests_on,
        "means_over": means_over,
        "smallest_difference": smallest_difference,
        "times": times,
    }


def comparison_finding(compared: Compared) -> tuple[str, ...]:
    """The sentences above two compared runs: how far they are apart, and what may be said of it."""
    (first, second), unit = compared.names, compared.column.unit
    interval, test = compared.interval, compared.test
    if interval is None or test is None or interval.estimate is None:
        return (f"Nothing can be said of a difference in {compared.column.name}: no query has a value for both runs.",)
    found = [
        f"{compared.column.name} of {first} less that of {second} is {signed(interval.estimate, unit)} over "
        + counted(interval.queries, "query", "queries")
        + "."
    ]
    level, both, disagree = 1 - interval.confidence, "It is", False
    allowed = ", which the rank sets on the board allow for"
    if interval.low is None or interval.high is None:
        found.append(f"There is no interval: {interval.reason}.")
        allowed = ""  # the board has no rank sets of so few queries either
    else:
        unsure, both = interval.low <= 0 <= interval.high, "Interval and test are"
        disagree = test.p is not None and unsure == (test.p < level)
        apart = "" if disagree else ": by these queries the two can't be told apart"
        says = f"includes 0{apart}" if unsure else "does not include 0"
        ends = f"{_end(interval.low, unit)} to {_end(interval.high, unit)}"
        found.append(f"Its {100 * interval.confidence:.0f} % interval, {ends}, {says}.")
    if test.p is not None:
        found.append(f"The randomisation test gives {_p(test.p, level)}.")
        if disagree:
            found.append("The two disagree: the difference is at the edge of what these queries can tell.")
        alone = f"{both} of this pair alone: of many pairs that are looked at, some seem apart by chance"
        found.append(f"{alone}{allowed}.")
    return tuple(found)


def _end(value: float, unit: str) -> str:
    """An end of an interval, which is not 0 unless it is exactly that."""
    text = signed(value, unit)
    if value == 0 or not text[0].isdigit():  # what rounds to 0 has no sign
        return text
    return f"just {'above' if value > 0 else 'below'} 0"


def _p(p: float, level: float) -> str:
    """A p-value, on its side of the level."""
    if p < LEAST_P:
        return f"p < {LEAST_P}"
    if abs(p - level) < LEAST_P / 2:
        return f"a p just {'below' if p < level else 'above'} {level:.2f}"
    return f"p = {p:.3f}"


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


def smallest_difference(page: BoardPage) -> str:
    """Which difference of two means these queries find, and what a smaller one takes; empty where nothing is known."""
    told = page.statistics.told if page.statistics else None
    if told is None or page.ranked_by is None:
        return ""
    found = told.detectable
    if found.difference is None or found.smaller is None:
        return f"Which differences these queries can find can't be said: {found.reason}."
    needed = found.queries_for_smaller
    takes = f"about {_significant(needed, 2)}." if needed is not None else "more than a million."
    if told.of_logarithms:
        return (
            f"With these {found.queries:,} queries a {page.ranked_by.name} {times(found.difference)} times that of "
            f"another {_noun(page)} is found with probability {number(POWER)}; "
            f"to find one {times(found.smaller)} times that of another takes {takes}"
        )
    return (
        f"With these {found.queries:,} queries a difference of {_significant(found.difference, 2)} in "
        f"{page.ranked_by.name} between two {_noun(page)}s is found with probability {number(POWER)}; to find one of "
        f"{_significant(found.smaller, 1)} takes {takes}"
    )


def lead_rests_on(page: BoardPage) -> str:
    """Without how few queries the leader would not be first alone; empty where nothing is known or none leads."""
    told = page.statistics.told if page.statistics else None
    lead = told.lead if told else None
    if lead is None or lead.leader is None:
        return ""
    names = _names(page)
    leader = names[lead.leader]
    if not lead.removed:
        if lead.reason == NEVER:
            return f"{leader} would be first whichever queries were left out."
        return f"On how few queries the lead of {leader} rests was not worked out: {lead.reason}."
    rest = f"The lead of {leader} rests on {lead.removed:,} of {counted(lead.queries, 'query', 'queries')}"
    rest += f": without {_listed(lead.named)}" if lead.named else ", without which"
    others = _together([names[one] for one in lead.then if one != lead.leader])
    if lead.leader in lead.then:
        return f"{rest} it would share the first place with {others}."
    return f"{rest} {others} would {'lead' if len(lead.then) == 1 else 'share the first place'}."


def extreme(column: Column) -> str:
    """What the best value of a column is called: the highest, the lowest."""
    return {"higher": "highest", "lower": "lowest"}.get(column.direction, "first")


def best_over_periods(page: ProgressPage, kind: str = "system") -> str:
    """The best figures of the first period and of the last one, without a word on change: each period has its own
    queries, and how much of a difference is theirs takes systems that ran unchanged in both (`statistics.linked`)."""
    lines = page.systems if kind == "system" else page.teams
    best = [
        [(point, line.called) for line in lines if (point := line.at(period)) and point.best] for period in page.periods
    ]
    known = [group for group in best if group]
    measure = page.column.name
    if not known:
        return f"No {kind} has a value of {measure} yet."
    (first, _), (last, _) = known[0][0], known[-1][0]
    early, late = (_together([name for _, name in group]) for group in (known[0], known[-1]))
    what = f"the {extreme(page.column)} {measure}"
    what = f"{page.condition}: {what}" if page.condition else sentence(what)
    if first.period is last.period:
        return f"{what} of {last.period.label} is {_written(page, last)} ({late})."
    if _read_alike(page, first, last):
        return (
            f"{what} is {_written(page, last)} in {first.period.label} ({early}) and in {last.period.label} ({late})."
        )
    return (
        f"{what} is {_written(page, first)} in {first.period.label} ({early}) "
        f"and {_written(page, last)} in {last.period.label} ({late})."
    )


def one_system_over_periods(page: ProgressPage, lines: Sequence[Line], only: int) -> str:
    """The figures of the system with the id `only` in its first period and in its last one."""
    line = next(line for line in lines if line.system is not None and line.system.id == only)
    first, last = line.points[0], line.points[-1]
    what = f"{page.column.name} of {line.called}"
    if page.condition:
        what = f"{page.condition}: {what}"
    if first is last:
        return f"{what} is {_written(page, last)} in {last.period.label}, its only period; the other systems are grey."
    if _read_alike(page, first, last):
        text = f"{what} is {_written(page, last)} in {first.period.label} and in {last.period.label}"
    else:
        text = f"{what} is {_written(page, first)} in {first.period.label}"
        text += f" and {_written(page, last)} in {last.period.label}"
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
    first, names = _first(page), _names(page)
    value = plain_figure(first[0].ranked_by.mean, column.unit)
    those = f"over {over(first[0].ranked_by)}"
    if page.whole.ranked == 1:
        return f"{names[first[0].entry.scoring_id]} is the only ranked {_noun(page)}: {column.name} {value} {those}."
    if len(first) > 1:
        sharing = [names[row.entry.scoring_id] for row in first]
        return f"{_together(sharing)} share the {extreme(column)} {column.name}, {value} {those}."
    second = page.ranked[1]
    return (
        f"{names[first[0].entry.scoring_id]} has the {extreme(column)} {column.name}, {value} {those}; "
        f"{names[second.entry.scoring_id]} is next with {plain_figure(second.ranked_by.mean, column.unit)}."
    )


def _significance(page: BoardPage) -> list[str]:
    """Which systems may be the best for other queries like these, by the statistics of this very view, or why nothing
    is said."""
    if page.whole.ranked < 2:
        return []
    if _queries(page) < LEAST_QUERIES:
        return [_too_few(_queries(page))]
    if page.tag:
        return [f"Which {_noun(page)}s may be the best is worked out over all queries only."]
    if page.ranked_by is not None and not page.ranked_by.per_query:
        return [_of_the_whole_run(page, page.ranked_by)]
    statistics = page.statistics
    if statistics is None or not statistics.ranks:
        if statistics is not None and statistics.needed_queries is not None:
            return [_costly(page, statistics.needed_queries)]
        return [f"Which of these {_noun(page)}s may be the best has not been worked out."]
    return [f"At {number(statistics.confidence * 100)}\N{NO-BREAK SPACE}% confidence {_may_be_best(page)}."]


def _may_be_best(page: BoardPage) -> str:
    names = _names(page)
    best = [names[row.entry.scoring_id] for row in page.ranked if row.may_be_best]
    count = len(best)
    if count == 1:
        return f"the best {_noun(page)} is {best[0]}"
    if count == page.whole.ranked:
        return f"each of these {count} {_noun(page)}s may be the best"
    shaded = any(row.may_be_best for row in page.shown)  # on this page of the board
    if count <= NAMED_AS_BEST:
        these = f"these {WORDS[count]}{', shaded' if shaded else ''}"
        return f"the best {_noun(page)} is among {these}: {_all_of(best)}"
    if not shaded:
        return f"the best {_noun(page)} is among {count}, none of which stands on this page"
    return f"the best {_noun(page)} is among the {count} that are shaded"


def _of_the_whole_run(page: BoardPage, column: Column) -> str:
    text = f"Which {_noun(page)}s may be the best can't be said by {column.name}"
    return f"{text}: rank sets compare query by query, and this measure is of the whole run."


def _too_few(queries: int) -> str:
    them = "One query says" if queries == 1 else f"{queries} queries say"
    return f"{them} nothing of other queries: others may turn this order round."


def _costly(page: BoardPage, needed: int) -> str:
    """Why rank sets need more queries under this measure than under others."""
    return (
        f"Which {_noun(page)}s may be the best is said from {needed} queries on where one query can cost more than all "
        f"others together, as by this measure; there are {_queries(page)} here."
    )


def _baselines(page: BoardPage, column: Column) -> list[str]:
    if not page.whole.baselines:
        return []
    ranked, ahead = page.whole.ranked, page.whole.beaten
    better = "lower" if column.direction == "lower" else "higher"
    if ahead == ranked == 1:
        who = "It has"
    elif ahead == 0:
        who = f"No {_noun(page)} has"
    elif ahead == ranked:
        who = f"All {counted(ranked, _noun(page))} have"
    else:
        who = f"{ahead} of {counted(ranked, _noun(page))} {'has' if ahead == 1 else 'have'}"
    text = f"{who} a {better} {column.name} than the best baseline"
    if ahead and page.statistics is not None and page.statistics.ranks and page.details_open and not page.tag:
        text += f"; {_significantly(len(page.statistics.above_baselines), ahead)}"
    return [f"{text}."]


def _significantly(found: int, beaten: int) -> str:
    """How many of those are significantly better than every baseline."""
    if beaten == 1:
        return f"the difference is {'' if found else 'not '}significant"
    if found == 0:
        return "none of them is significantly better than every baseline"
    who = "all of them are" if found == beaten else f"{found} of them {'is' if found == 1 else 'are'}"
    return f"{who} significantly better than every baseline"


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


def _names(page: BoardPage) -> dict[int, str]:
    """Scoring -> its system; its run too where a board lists several of one system."""
    systems = told_apart(row.entry.system for row in page.rows)
    return {
        entry.scoring_id: f"{systems[entry.system.id]} ({entry.label})"
        if page.show == Show.ALL and entry.label
        else systems[entry.system.id]
        for entry in (row.entry for row in page.rows)
    }


def _from_to(fewest: int, most: int) -> str:
    return f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"


def _written(page: ProgressPage, point: Point) -> str:
    return plain_figure(point.figure.mean, page.column.unit)


def _significant(value: float, digits: int) -> str:
    """`0.041`, `1,200`: that many significant digits, without an exponent."""
    rounded = float(f"{value:.{digits - 1}e}")
    places = max(0, digits - 1 - math.floor(math.log10(rounded)))
    return f"{rounded:,.{places}f}"


def times(difference: float) -> str:
    """How many times as large a geometric mean is whose mean logarithm is larger by that; 1.04, 2.5, 31."""
    ratio = math.exp(difference)
    return _significant(ratio, 3 if ratio < 1.5 else 2)


def _listed(names: Sequence[str]) -> str:
    """`q1`, `q1 and q7`, `q1, q7 and q9`."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def _together(names: Sequence[str]) -> str:
    """Those who share a place: `Alder`, `Alder and Birch`, `Alder, Birch and 3 others`."""
    if len(names) > NAMED:
        names = [*names[: NAMED - 1], f"{len(names) - NAMED + 1} others"]
    return _listed(names)


def _read_alike(page: ProgressPage, first: Point, last: Point) -> bool:
    """Whether both are written alike, with as many decimals as the one has that was rounded further for its reader."""
    start, end = first.figure.mean or 0.0, last.figure.mean or 0.0
    decimals = min((mean.decimals for mean in (start, end) if isinstance(mean, Rounded)), default=None)
    if decimals is not None:
        start, end = Rounded(round(start, decimals), decimals), Rounded(round(end, decimals), decimals)
    return plain_figure(start, page.column.unit) == plain_figure(end, page.column.unit)


def _all_of(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]])
