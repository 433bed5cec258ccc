"""What the figures of a page show, in sentences. None says more than the figures allow."""

import math
from collections import defaultdict
from collections.abc import Sequence

from flask import Flask
from markupsafe import Markup

from leaderboard.boards.reads.board import BoardPage
from leaderboard.boards.reads.breakdown import SystemRow, TagsPage
from leaderboard.boards.reads.entries import Column, disambiguate
from leaderboard.boards.reads.ranking import Show
from leaderboard.metrics import parse
from leaderboard.numbers import counted, first_of, together
from leaderboard.progress.reads.across import AcrossPage
from leaderboard.progress.reads.linked import YearsPage
from leaderboard.progress.reads.progress import Line, PeriodPoint, ProgressPage
from leaderboard.results.reads.curves import ValueCurves
from leaderboard.results.reads.queries import Compared
from leaderboard.results.reads.run import ThresholdCost
from leaderboard.statistics import LEAST_QUERIES, POWER, least_queries
from leaderboard.statistics.linked_years import Part, SplitChange
from leaderboard.web.formatting import MINUS, number, over, plain_figure, sentence, signed, when

LEAST_P = 0.001
NAMED = 4  # systems that share something and are all named
SAME = 1e-9  # figures of one run that differ by less differ by rounding


def init_app(app: Flask) -> None:
    """Gives templates the filters named here."""
    for sentences in (
        extreme, lead_rests_on, losses_in_words, means_over, smallest_difference, times, why_no_intervals,
    ):  # fmt: skip
        app.jinja_env.filters[sentences.__name__] = sentences


def comparison_finding(compared: Compared) -> tuple[str, ...]:
    """The sentences above two compared runs: how far they are apart, and what may be said of it."""
    (first, second), column = compared.names, compared.column
    interval, test = compared.interval, compared.test
    if interval is None or test is None or interval.estimate is None:
        return (f"Nothing can be said of a difference in {column.name}: no query has a value for both runs.",)
    queries, estimate = counted(interval.queries, "query"), signed(interval.estimate, column.unit)
    words = [f"{column.name} of {first} minus that of {second} is {estimate} over {queries}."]
    if interval.low is None or interval.high is None:
        words.append(f"There is no interval: {interval.reason}.")
    else:
        ends = f"{_end(interval.low, column.unit)} to {_end(interval.high, column.unit)}"
        says = "does not include 0"
        if interval.low <= 0 <= interval.high:
            says = "includes 0"
            if test.p is None or test.p >= 1 - interval.confidence:
                says += ": these queries can't tell the two apart"
        words.append(f"The {100 * interval.confidence:.0f} % interval, {ends}, {says}.")
    if test.p is not None:
        p = f"p = {test.p:.4g}" if test.p >= LEAST_P else f"p < {LEAST_P}"
        words.append(f"The randomisation test gives {p}.")
        words.append("This is about one pair: among many pairs, some seem different by chance.")
    return tuple(words)


def _end(value: float, unit: str) -> str:
    """An end of an interval, which is not 0 unless it is exactly that."""
    text = signed(value, unit)
    if value == 0 or not text[0].isdigit():  # what rounds to 0 has no sign
        return text
    return f"just {'above' if value > 0 else 'below'} 0"


def losses_in_words(value: ValueCurves, costs: Sequence[ThresholdCost]) -> str:
    """By what AQWV falls short of 1, and what of it is lost by which choice. Each figure is rounded by itself, so that
    they may not add up to the last digit. costs: of the run, with intervals."""
    levels = [*((name, mark.qwv) for name, mark in zip(value.names, value.marks, strict=True)), ("1", 1.0)]
    by = ["the choice of threshold cost", "having one threshold for all queries", "the ranking"]
    if not value.one_threshold:  # MQWV says nothing of the run
        levels, by = [levels[0], *levels[2:]], ["its decisions cost", by[2]]
    ends, words = {cost.name: cost.figure for cost in costs if cost.figure and cost.figure.low is not None}, list[str]()
    for what, (lower, low), (upper, high) in zip(by, levels, levels[1:], strict=False):
        end = ends.get(f"{upper} − {lower}")
        interval = f"; 95 % interval {plain_figure(end.low)} to {plain_figure(end.high)}" if end else ""
        words.append(f"{what} {plain_figure(high - low)} ({upper} − {lower}{interval})")
    (name, own), (_, above), *_ = levels
    start = f"{name} is {plain_figure(own)}. Of the {plain_figure(1 - own)} that it falls short of 1, "
    story = f"{start}{', '.join(words[:-1])} and {words[-1]}."
    if not value.one_threshold:
        better = ", and they are better than any" if above < own - SAME else ""
        return f"{story} No single threshold gives these decisions{better}, so what a threshold cost is not given."
    is_best = math.isclose(own, above, abs_tol=SAME) and not ends
    return f"{story} No other threshold is better on these queries, which says nothing of others." if is_best else story


def board_finding(page: BoardPage) -> tuple[str, ...]:
    """The sentences above a board: who has the best figure, which differences are significant, and what is left out."""
    column = page.ranked_by
    if column is None:
        return ()
    sentences: list[str] = []
    if page.ranked:
        sentences += filter(None, (_best(page, column), _significance(page), _baselines(page, column)))
    elif page.rows and not page.results_open:
        closed_from = page.evaluation.closed_from if page.evaluation.results == "closed" else None
        opens: str = when(closed_from) if closed_from else "when the organisers open the results"
        words = Markup("You see the runs of your own teams only, without ranks. The board opens {}.")
        sentences.append(words.format(opens))
    elif page.rows and column.direction == "none":
        sentences.append(f"Neither high nor low is better in {column.name}, so it ranks nothing.")
    if page.tag:
        lacking = f"; not worked out over some of them: {', '.join(page.not_over_tag)}" if page.not_over_tag else ""
        queries = counted(page.tag_queries, "query")
        sentences.append(f"All figures are over the {queries} with the tag {page.tag} only{lacking}.")
    return tuple(sentences)


def means_over(page: BoardPage) -> str:
    """Over how many queries the means that rank are, where not over all of the board's queries; else empty.

    Why so few is said only to those who may see single queries: it tells something of the judgments.
    """
    column, counts = page.ranked_by, page.whole.counts
    total = page.tag_queries if page.tag else page.terms.counted if page.terms else 0
    if column is None or not counts or counts[0] == total:
        return ""
    over = " to ".join(f"{count:,}" for count in sorted(set(counts)))
    text = f"Means of {column.name} are over {over} of {counted(total, 'query')}"
    if page.terms and page.terms.nothing_relevant and page.details_open and not page.tag:
        text += f"; without a relevant document: {page.terms.nothing_relevant:,}"
    return f"{text}."


BEST_OF_SEVERAL = (
    "Systems stand here with the best of their runs. The best of several is high by chance too, the more the more runs "
    "there are: so there is no interval of such a mean, and nothing is said of which system may be the best."
)


def why_no_intervals(page: BoardPage) -> str:
    """Why a board has no interval; empty where it has one, and until they are worked out."""
    column, terms = page.ranked_by, page.terms
    if any(row.entry.chosen_of > 1 for row in (*page.rows, *page.baselines)):
        return BEST_OF_SEVERAL
    if column is None or terms is None or page.whole.has_intervals or not (page.tag or page.statistics):
        return ""
    if page.tag:
        return "No confidence intervals: they are worked out over all queries only."
    least = least_queries(parse(column.name), terms.settings.metric).for_interval
    why = " A single one can cost more than all others together." if least > LEAST_QUERIES else ""
    return f"No confidence intervals of {column.name}: they take at least {least} values, not all alike.{why}"


def smallest_difference(page: BoardPage) -> str:
    """Which difference of two means the board finds with these queries, and what a smaller one takes; empty where
    nothing is known."""
    power = page.statistics.told if page.statistics else None
    if power is None or page.ranked_by is None:
        return ""
    known = power.detectable
    if known.difference is None or known.smaller is None:
        return f"Which differences these queries can find can't be said: {known.reason}."
    takes = f"about {_significant(known.queries_for_smaller, 2)}" if known.queries_for_smaller else "over a million"
    size, smaller = f"a difference of {_significant(known.difference, 2)}", _significant(known.smaller, 1)
    if power.of_logarithms:
        size, smaller = f"a ratio of {times(known.difference)}", times(known.smaller)
    between = f"{size} in {page.ranked_by.name} between two {_noun(page)}s"
    finds = (
        f"With these {known.queries:,} queries this board finds {between} with a probability of about {number(POWER)}"
    )
    return f"{finds}; to find one of {smaller} takes {takes}."


def lead_rests_on(page: BoardPage) -> str:
    """Without how few queries the leader would not be first alone; empty where that is not known or none leads."""
    lead = page.statistics.told.lead if page.statistics and page.statistics.told else None
    if lead is None or lead.leader is None or not lead.removed:
        return ""
    names = _names(page)
    leader = names[lead.leader]
    noun = "queries" if lead.removed > 1 else "query"
    without = f": without {noun} {together(lead.named)}," if lead.named else ", without which"
    others = together([names[scoring] for scoring in lead.then if scoring != lead.leader])
    then = f"it would share the first place with {others}" if lead.leader in lead.then else f"{others} would be first"
    return f"The lead of {leader} rests on {lead.removed:,} of {counted(lead.queries, 'query')}{without} {then}."


def extreme(column: Column) -> str:
    """What the best value of a column is called: the highest, the lowest."""
    return {"higher": "highest", "lower": "lowest"}.get(column.direction, "first")


def best_over_periods(page: ProgressPage, kind: str = "system") -> str:
    """The best figures of the first period and of the last one, without a word on change: each period has its own
    queries, and how much of a difference is theirs takes systems that ran unchanged in both (docs/statistics.md)."""
    lines = page.systems if kind == "system" else page.teams
    best = []
    for period in page.periods:
        points = [(point, line.called) for line in lines if (point := line.at(period)) and point.best]
        if points:
            best.append(f"{_in_period(page, points[0][0])} ({together([name for _, name in points])})")
    if not best:
        return f"No {kind} has a value of {page.column.name} yet."
    what = f"the {extreme(page.column)} {page.column.name}"
    what = f"{page.condition}: {what}" if page.condition else sentence(what)
    return f"{what} is {' and '.join(dict.fromkeys((best[0], best[-1])))}."


def one_system_over_periods(page: ProgressPage, lines: Sequence[Line], only: int) -> str:
    """The figures of the system with the id `only` in its first period and in its last one."""
    line = next(line for line in lines if line.system is not None and line.system.id == only)
    what = f"{page.condition}: " if page.condition else ""
    ends = " and ".join(dict.fromkeys(_in_period(page, point) for point in (line.points[0], line.points[-1])))
    return f"{what}{page.column.name} of {line.called} is {ends}; the other systems are grey."


def across_finding(page: AcrossPage) -> str:
    """Who has the best mean over the conditions, who is first in which of them, and how many systems have all; empty of
    one condition."""
    number, systems = len(page.conditions), [row for row in page.rows if not row.system.is_baseline]
    complete, of_all = sum(not row.lacking for row in systems), counted(len(systems), "system")
    if number < 2:
        return ""
    if not complete:
        return f"None of the {of_all} has all {number} conditions, so there is no mean to rank by."
    what, labels = f"mean {page.column.name} over {number} conditions", [each.label for each in page.conditions]
    firsts = _firsts(systems, page.column, what, labels, "condition")
    return f"{firsts} {complete:,} of {of_all} {'has' if complete == 1 else 'have'} all conditions.".lstrip()


def tags_finding(page: TagsPage) -> str:
    """Who has the best mean over all queries, and who is first over those with which tag."""
    # Not over how many: AQWV leaves out those without a relevant document, under one policy.
    words = _firsts(
        page.rows, page.column, f"{page.column.name} over all queries", [tag.name for tag in page.tags], "tag"
    )
    few = [tag.name for tag in page.tags if tag.queries < LEAST_QUERIES] if words else []
    over = f" Figures of {first_of(few, NAMED)} are over fewer than {LEAST_QUERIES} queries"
    return f"{words}{over}, which can't tell what others would." if few else words


def _firsts(rows: Sequence[SystemRow], column: Column, what: str, labels: Sequence[str], noun: str) -> str:
    """Who is first by the mean, and in how many columns; who is in the others, where these are few enough to name them.
    Observations, which say nothing of other queries. Empty where nothing is ranked."""
    names, first = disambiguate(row.system for row in rows), [row for row in rows if row.rank == 1]
    if not first:
        return ""
    leaders = [names[row.system.id] for row in first]
    words = f"{together(leaders)} {'has' if len(leaders) == 1 else 'share'} the {extreme(column)} {what}"
    words += f", {plain_figure(first[0].mean, column.unit)}"
    led, others = 0, defaultdict[tuple[str, ...], list[str]](list)
    for at, label in enumerate(labels):
        firsts = tuple(names[row.system.id] for row in rows if row.cells[at].rank == 1)
        led += leaders[0] in firsts
        if firsts and leaders[0] not in firsts:
            others[firsts].append(label)
    if len(leaders) == 1 and labels:
        words += f", and is first in {led or 'none'} of {counted(len(labels), noun)}"
    if not 0 < len(others) <= NAMED:
        return f"{words}."
    return (
        f"{words}. First in {'; in '.join(f'{first_of(own, NAMED)}: {together(who)}' for who, own in others.items())}."
    )


def change_over_years(page: YearsPage, split: SplitChange) -> str:
    """How much of a change between two periods, of the two runs of the page or of the means of all systems, is better
    systems and how much the year."""
    column, ends = page.column, page.compared
    means = [plain_figure(mean, column.unit) for mean in (split.first, split.last)]
    moves = "rises" if split.last > split.first else "falls"
    by = f"{moves} by {plain_figure(abs(split.last - split.first), column.unit)}"
    system, year = parts_in_words(page, split)
    if split is page.pair:
        start, end = (f"{page.name(run)} in {run.period.label} ({mean})" for run, mean in zip(ends, means, strict=True))
        words = f"{column.name} {by} from {start} to {end}."
    else:
        numbers = (counted(runs, "system") for runs in split.runs)
        over = zip(means, numbers, ends, strict=True)
        start, end = (f"{mean} over {number} in {run.period.label}" for mean, number, run in over)
        words = f"The mean {column.name} of all systems {by}, from {start} to {end}."
    about, no_interval = ("about ", f", without an interval ({split.reason})") if split.reason else ("", "")
    if split is page.pair and len({(run.entry.system.id, run.entry.version) for run in ends}) == 1:
        part = _part(split.of_periods, column, "95 % interval ")
        words += f" Both are the same version: {about}{part} is {year}{no_interval}."
    else:
        parts = _part(split.of_versions, column, "95 % interval "), _part(split.of_periods, column)
        words += f" Of this, {about}{parts[0]} is {system} and {about}{parts[1]} {year}{no_interval}."
    if (rest := rest_of(split, column)) is not None:
        is_told = split is not page.pair and page.pair and rest_of(page.pair, column) is not None
        level = "" if is_told else "; a version's level is its average over all years that it ran in"
        words += f" The remaining {signed(rest, column.unit)} is how far the two means are from their levels{level}."
    return words


def rest_of(split: SplitChange, column: Column) -> float | None:
    """What is neither the systems' part of a change nor the year's, where it is not 0 as it is written."""
    rest = split.rest or 0.0
    return rest if abs(rest) > SAME and plain_figure(rest, column.unit).strip(f"{MINUS}0.") else None


def parts_in_words(page: YearsPage, split: SplitChange) -> tuple[str, str]:
    """What the two parts are called: a better system or a worse one, an easier year or a harder one."""
    sign = {"higher": 1, "lower": -1}.get(page.column.direction, 0)
    versions, periods = sign * split.of_versions.estimate, sign * split.of_periods.estimate
    system = "a better system" if versions > 0 else "a worse system" if versions < 0 else "the system"
    year = "an easier year" if periods > 0 else "a harder year" if periods < 0 else "the year"
    return system if split is page.pair else system.partition(" ")[2] + "s", year


def _part(part: Part, column: Column, called: str = "") -> str:
    text = signed(part.estimate, column.unit)
    if part.low is None or part.high is None:
        return text
    perhaps = ": perhaps nothing" if part.low <= 0 <= part.high else ""
    return f"{text} ({called}{_end(part.low, column.unit)} to {_end(part.high, column.unit)}{perhaps})"


def _best(page: BoardPage, column: Column) -> str:
    """Who has the best figure: an observation, which says nothing of other queries."""
    names, first = _names(page), page.ranked[0]
    sharing = [names[row.entry.scoring_id] for row in page.ranked if row.rank == 1]
    value = f"{plain_figure(first.ranked_by.mean, column.unit)} over {over(first.ranked_by)}"
    if len(sharing) > 1:
        return f"{together(sharing)} share the {extreme(column)} {column.name}, {value}."
    text = f"{sharing[0]} has the {extreme(column)} {column.name}, {value}"
    if page.whole.ranked == 1:
        return f"{text}; no other {_noun(page)} is ranked."
    second = page.ranked[1]
    next_value = plain_figure(second.ranked_by.mean, column.unit)
    return f"{text}; {names[second.entry.scoring_id]} is next with {next_value}."


def _significance(page: BoardPage) -> str:
    """Which systems may be the best for other queries like these, by the statistics of this very view, or why nothing
    is said."""
    queries, statistics = page.ranked[0].ranked_by.count, page.statistics
    if page.whole.ranked < 2:
        return ""
    if queries < LEAST_QUERIES:
        return f"{counted(queries, 'query')} can't tell what others would: they may turn this order round."
    if statistics is not None and statistics.ranks and not page.tag:
        return f"At {number(statistics.confidence * 100)}\N{NO-BREAK SPACE}% confidence {_may_be_best(page)}."
    if any(row.entry.chosen_of > 1 for row in page.ranked):
        return ""  # said below the board
    if page.show == Show.ALL and not page.tag:
        return "Which runs may be the best is said only where each system has one run."
    needed = f", {statistics.needed_queries} at least" if statistics and statistics.needed_queries else ""
    return (
        f"Which {_noun(page)}s may be the best is not said here: that is worked out over all queries{needed}, by "
        "measures that have a value for each."
    )


def _may_be_best(page: BoardPage) -> str:
    names = _names(page)
    best = [names[row.entry.scoring_id] for row in page.ranked if row.may_be_best]
    if len(best) == 1:
        return f"the best {_noun(page)} is {best[0]}"
    here = sum(row.may_be_best is True for row in page.shown)
    shaded = "shaded" if here == len(best) else f"{here or 'none'} of them in this table"
    return f"the best {_noun(page)} is one of {len(best)}, {shaded}: {together(best)}"


def _baselines(page: BoardPage, column: Column) -> str:
    if not page.whole.baselines:
        return ""
    systems = counted(page.whole.ranked, _noun(page))
    text = f"Better than the best baseline in {column.name}: {page.whole.beaten:,} of {systems}"
    if page.whole.beaten and page.statistics and page.statistics.ranks and page.details_open and not page.tag:
        text += f"; significantly better than every baseline: {len(page.statistics.above_baselines):,}"
    return f"{text}."


def _noun(page: BoardPage) -> str:
    return "run" if page.show == Show.ALL else "system"


def _names(page: BoardPage) -> dict[int, str]:
    """Scoring -> its system; its run too where a board lists several of one system."""
    systems = disambiguate(row.entry.system for row in page.rows)
    names = {}
    for entry in (row.entry for row in page.rows):
        label = f" ({entry.label})" if page.show == Show.ALL and entry.label else ""
        names[entry.scoring_id] = f"{systems[entry.system.id]}{label}"
    return names


def _in_period(page: ProgressPage, point: PeriodPoint) -> str:
    return f"{plain_figure(point.figure.mean, page.column.unit)} in {point.period.label}"


def _significant(value: float, digits: int) -> str:
    """`0.041`, `1,200`: that many significant digits, without an exponent."""
    rounded = float(f"{value:.{digits - 1}e}")
    places = max(0, digits - 1 - math.floor(math.log10(rounded)))
    return f"{rounded:,.{places}f}"


def times(difference: float) -> str:
    """How many times as large a geometric mean is whose mean logarithm is larger by that; 1.04, 2.5, 31."""
    ratio = math.exp(difference)
    return _significant(ratio, 3 if ratio < 1.5 else 2)
