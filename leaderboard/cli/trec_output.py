"""trec_eval's requests and its output, byte for byte."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from leaderboard.errors import UnknownMeasure
from leaderboard.metrics import ALL_TREC, BUNDLES, NEW_IN_10, Measure, Printed, Ranking, parse_all, requested
from leaderboard.scoring import Scored

__all__ = ["TrecRequest", "printed_under_own_names", "read_request", "trec_lines"]

WITH_RUN_NAME = frozenset(BUNDLES)  # these bundles print the run's own name too
WITH_GRADES = frozenset({"all_trec"})  # and these the grades of the first documents, query by query
GRADES_SHOWN = 10
AFTER_GRADES = ALL_TREC[ALL_TREC.index("P") + 1 :]
NOT_OF_QUERIES = frozenset({"num_q", "gm_map", "gm_bpref"})
LARGEST_DIGIT = 9
NAMES = frozenset({*ALL_TREC, *BUNDLES})

Compat = Literal[9, 10]


@dataclass(frozen=True)
class TrecRequest:
    """What trec_eval was asked to print.

    measures   in its order
    run_name   print the run's own name (runid)
    grades     print the grades of so many documents (relstring); None: don't
    grades_as  the name that goes with them
    """

    measures: tuple[Printed, ...]
    run_name: bool = False
    grades: int | None = None
    grades_as: str = "relstring"

    @property
    def of_queries(self) -> tuple[tuple[Printed, ...], tuple[Printed, ...]]:
        """The measures that each query gets: those printed before its grades, and those after."""
        measures = [printed for printed in self.measures if printed.name not in NOT_OF_QUERIES]
        before = [printed for printed in measures if _base(printed.name) not in AFTER_GRADES]
        return tuple(before), tuple(measures[len(before) :])


def read_request(wanted: Iterable[str], compat: Compat) -> TrecRequest:
    """What the arguments of trec_eval's -m ask for; nothing means its official set. Raises UnknownMeasure."""
    rest, request = _without_extras(tuple(wanted) or ("official",), compat)
    return replace(request, measures=requested(rest))


def printed_under_own_names(text: str, compat: Compat, level: int) -> TrecRequest:
    """What a list of measures in either notation asks for, under trec_eval's names where it has one.

    Those come first, in trec_eval's order. A measure of a relevance level other than `level` (-l) keeps our name, as
    trec_eval's would not tell it from the usual one. Raises UnknownMeasure.
    """
    rest, request = _without_extras(text.split(), compat)
    trec = [each for each in rest if each in NAMES or _has_parameters(each)]
    # Not by way of the measures: some are one under two names.
    named = {printed.name: printed for each in trec for printed in requested([each])}
    own: dict[str, Printed] = {}
    for measure in parse_all(" ".join(each for each in rest if each not in trec)):
        name = measure.trec_eval if dict(measure.given).get("rel", level) == level else None
        if name:
            named.setdefault(name, Printed(name, measure))
        else:
            own[str(measure)] = Printed(str(measure), measure)
    return replace(request, measures=(*sorted(named.values(), key=_place), *own.values()))


def trec_lines(
    scored: Scored,
    tag: str,
    request: TrecRequest,
    *,
    level: int,
    compat: Compat,
    per_query: bool = False,
    summary: bool = True,
    complete: bool = True,
) -> Iterator[str]:
    """trec_eval's output, with newlines: each query's lines (its -q), then those over all queries (left out by -n).

    level     the lowest relevant grade (-l)
    complete  the queries are all that have judgments (-c). Version 9 then prints no lines for those the run lacks, and
              num_rel over all queries is counted from grade 1 on, whatever the level.
    """
    if per_query:
        skipped = frozenset(scored.missing if compat == 9 else ())
        before, after = (
            [(each.name, each.at(level), scored.results[each.at(level)].values.tolist()) for each in part]
            for part in request.of_queries
        )
        for place, query in enumerate(scored.queries):
            if query not in skipped:
                yield "".join(_line(name, query, values[place], measure) for name, measure, values in before)
                if request.grades is not None:
                    grades = grade_string(scored.ranking, place, request.grades)
                    yield f"{request.grades_as:<22}\t{query}\t'{grades}'\n"
                yield "".join(_line(name, query, values[place], measure) for name, measure, values in after)
    if summary:
        if request.run_name:
            yield f"{'runid':<22}\tall\t{tag}\n"
        for printed in request.measures:
            measure = printed.over_all(level, complete)
            evaluated = scored.results.get(measure) or measure.evaluate(scored.ranking)
            yield _line(printed.name, "all", evaluated.mean, measure)


def grade_string(ranking: Ranking, query: int, length: int) -> str:
    """The grades of a query's first documents, a character each: - not judged, . judged below 0, > above 9."""
    start, end = ranking.hit_start[query : query + 2].tolist()
    end = min(end, start + length)  # hits come by rank: no more of them are among the first
    signs = ["-"] * min(length, int(ranking.retrieved[query]))
    for rank, grade in zip(ranking.rank[start:end].tolist(), ranking.grade[start:end].tolist(), strict=True):
        if rank <= len(signs):
            signs[rank - 1] = "." if grade < 0 else ">" if grade > LARGEST_DIGIT else str(grade)
    return "".join(signs)


def _line(name: str, query: str, value: float, measure: Measure) -> str:
    return f"{name:<22}\t{query}\t{int(value)}\n" if measure.is_count else f"{name:<22}\t{query}\t{value:6.4f}\n"


def _without_extras(wanted: Iterable[str], compat: Compat) -> tuple[list[str], TrecRequest]:
    """The requests but for runid and relstring, which are no measures; and these two in a request of their own."""
    rest: list[str] = []
    request = TrecRequest(())
    for each in wanted:
        name, _, parameters = each.strip(",").partition(".")
        if name == "runid" or each in WITH_RUN_NAME:
            request = replace(request, run_name=True)
        if each in WITH_GRADES and request.grades is None:
            request = replace(request, grades=GRADES_SHOWN)
        if name == "relstring":
            request = _with_grades(request, parameters)
        if name not in {"relstring", "runid"}:
            rest.extend(_of_version(each, compat))
    return rest, request


def _with_grades(request: TrecRequest, length: str) -> TrecRequest:
    if not length:
        return replace(request, grades=request.grades or GRADES_SHOWN)
    if not length.isdecimal():
        raise UnknownMeasure(f"relstring takes how many grades to print, not {length!r}")
    return replace(request, grades=int(length), grades_as=f"relstring_{length}")


def _of_version(request: str, compat: Compat) -> tuple[str, ...]:
    """A bundle without the measures that version 9 lacks; anything else as it is."""
    if compat == 9 and request in BUNDLES:
        return tuple(name for name in BUNDLES[request] if name not in NEW_IN_10)
    return (request,)


def _has_parameters(request: str) -> bool:
    """Whether it is one of trec_eval's names with the parameters that its -m takes: P.5,10."""
    name, _, parameters = request.partition(".")
    return name in NAMES and re.fullmatch(r"[\dp.,=eE+-]+", parameters) is not None


def _base(name: str) -> str:
    """trec_eval's name without the cutoff or parameters that it prints after it."""
    return max((base for base in ALL_TREC if name == base or name.startswith(f"{base}_")), key=len, default=name)


def _place(printed: Printed) -> tuple[int, float]:
    """Where trec_eval prints it: by measure, then by cutoff."""
    base = _base(printed.name)
    suffix = printed.name[len(base) + 1 :]
    try:
        cutoff = float(suffix or 0)
    except ValueError:
        cutoff = 0.0
    return (ALL_TREC.index(base) if base in ALL_TREC else len(ALL_TREC)), cutoff
