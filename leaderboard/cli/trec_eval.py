"""`leaderboard trec_eval`: trec_eval's own arguments, and its output byte for byte."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import click

from leaderboard import errors, numbers
from leaderboard.cli import options
from leaderboard.formats import read_judgments, read_run
from leaderboard.metrics import ALL_TREC, BUNDLES, NEW_IN_10, Measure, Printed, Ranking, Setting, parse_all, requested
from leaderboard.scoring import Scored, prepare, score

GRADES_SHOWN = 10
BEFORE_GRADES = frozenset(ALL_TREC[: ALL_TREC.index("P") + 1])  # printed above a query's grades; all others below
SUMMARY_ONLY = frozenset({"num_q", "gm_map", "gm_bpref"})  # printed over all queries, not for each
LARGEST_DIGIT = 9
REQUEST = re.compile(r"(\w+)(?:\.[0-9p.,=eE+-]+)?")  # of its -m: a name, and parameters such as those of P.5,10

Compat = Literal[9, 10]


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("judgments", metavar="QRELS", type=options.FILE)
@click.argument("run", metavar="RUN", type=options.FILE)
@options.option("-m --measure wanted", "A measure or a bundle.", multiple=True, metavar="MEASURE[.PARAMETERS]")
@options.flag("-n --nosummary", "Leave the figures over all queries out.")
@options.flag("-c --complete_rel_info_wanted complete", "Average over all judged queries.")
@options.PER_QUERY
@options.LEVEL_OPTION
@options.CUT
@options.JUDGED_ONLY
@options.DOCUMENTS
@options.COMPAT
def trec_eval(
    judgments: Path, run: Path, wanted: tuple[str, ...], nosummary: bool, documents: int | None, depth: int | None,
    judged_only: bool, **how: Any,
) -> None:  # fmt: skip
    """Scores RUN against QRELS as trec_eval does.

    \b
    leaderboard trec_eval -q -c -m map -m P.5,10 qrels.txt run.txt

    All measures of its all_trec, with its parameters, and its bundles official (the default), set and all_trec. Not
    there: preference judgments, judgment groups (-R, -T) and z-scores (-Z). Files may be gzipped; CSV and JSON lines
    are read too, and for a run an archive of one file of decisions a query.
    """
    request = read_request(wanted, how["compat"])
    qrels = read_judgments(judgments, name=str(judgments))
    with options.progress_bar([run]) as opened:
        lists = read_run(opened(run), name=str(run), format="trec_eval")
    both = set(qrels.queries) & set(lists.queries)
    if not both:
        raise errors.BadInput(f"{run}: no query of this run has judgments in {judgments}")
    judged = prepare(qrels, qrels.queries if how["complete"] else both)
    measures = [printed.at(how["level"]) for printed in request.measures]
    setting = Setting(documents=documents, compat=how["compat"])
    scored = score(lists, judged, measures, setting, depth=depth, judged_only=judged_only)
    click.echo("".join(trec_lines(scored, lists.tag, request, summary=not nosummary, **how)), nl=False)


class TrecRequest(NamedTuple):
    """What trec_eval was asked to print.

    measures   in trec_eval's order
    run_name   whether to print the run's own name (runid)
    grades     the name under which to print the grades of a query's first documents: relstring, for ten of them, or
               relstring_5; "": not at all
    """

    measures: tuple[Printed, ...]
    run_name: bool = False
    grades: str = ""


def read_request(wanted: Iterable[str], compat: Compat) -> TrecRequest:
    """What the arguments of trec_eval's -m ask for; nothing means its official set. Raises UnknownMeasure."""
    names, extras = _without_extras(wanted or ("official",), compat)
    return extras._replace(measures=requested(names))


def printed_under_own_names(text: str, compat: Compat, level: int) -> TrecRequest:
    """What a list of measures, in our notation or trec_eval's, asks for; each under trec_eval's name where it has one.

    Measures with a name in trec_eval come first, in its order. One of another relevance level than `level` (-l) keeps
    our name: trec_eval's does not show the level. Raises UnknownMeasure.
    """
    names, extras = _without_extras(text.split(), compat)
    trec = [name for name in names if (request := REQUEST.fullmatch(name)) and request[1] in ALL_TREC]
    # Looked up by trec_eval's names, not by our measures: some of its names are the same measure.
    named = {printed.name: printed for name in trec for printed in requested([name])}
    own: dict[str, Printed] = {}
    for measure in parse_all(" ".join(name for name in names if name not in trec)):
        if measure.trec_eval and dict(measure.given).get("rel", level) == level:
            named.setdefault(measure.trec_eval, Printed(measure.trec_eval, measure))
        else:
            own[str(measure)] = Printed(str(measure), measure)
    return extras._replace(measures=(*sorted(named.values(), key=_order), *own.values()))


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
    shown = [(each, each.at(level)) for each in request.measures if each.name not in SUMMARY_ONLY] if per_query else []
    columns = [(each.name, measure, scored.results[measure].values.tolist()) for each, measure in shown]
    above = sum(_base(name) in BEFORE_GRADES for name, _, _ in columns)  # trec_eval's order: these come first
    skipped = frozenset(scored.missing if compat == 9 else ())
    for position, query in enumerate(scored.queries if per_query else ()):
        if query not in skipped:
            lines = [_line(name, query, values[position], measure) for name, measure, values in columns]
            if request.grades:
                length = int(request.grades.partition("_")[2] or GRADES_SHOWN)
                grades = grade_string(scored.ranking, position, length)
                lines.insert(above, f"{request.grades:<22}\t{query}\t'{grades}'\n")
            yield "".join(lines)
    if summary and request.run_name:
        yield f"{'runid':<22}\tall\t{tag}\n"
    for printed in request.measures if summary else ():
        # Under -c num_rel counts grades from 1 on here, whatever -l.
        measure = printed.measure if complete and printed.name == "num_rel" else printed.at(level)
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
    return f"{name:<22}\t{query}\t{int(value) if measure.is_count else f'{value:6.4f}'}\n"


def _without_extras(wanted: Iterable[str], compat: Compat) -> tuple[list[str], TrecRequest]:
    """The requests for measures, bundles replaced by what they hold; and a request for what is no measure.

    In version 9 the bundles lack the measures that came with version 10.
    """
    names: list[str] = []
    run_name, grades = False, ""
    for each in wanted:
        name, _, parameter = each.strip(",").partition(".")
        if name == "relstring" and parameter:
            if not (parameter.isascii() and parameter.isdecimal()):
                raise errors.UnknownMeasure(f"relstring takes how many grades to print, not {parameter!r}")
            grades = f"relstring_{parameter}"
        elif name == "relstring" or each == "all_trec":
            grades = grades or "relstring"
        run_name = run_name or name == "runid" or each in BUNDLES
        measures = BUNDLES.get(each, (each,) if name not in ("runid", "relstring") else ())
        names += [measure for measure in measures if compat == 10 or measure == each or measure not in NEW_IN_10]
    return names, TrecRequest((), run_name, grades)


def _base(name: str) -> str:
    """A printed name without its cutoff or parameters: P of P_5."""
    return max((base for base in ALL_TREC if name == base or name.startswith(f"{base}_")), key=len, default=name)


def _order(printed: Printed) -> tuple[int, float]:
    """The sort key for trec_eval's order of printing: by measure, then by cutoff."""
    base = _base(printed.name)
    suffix = printed.name.removeprefix(base).removeprefix("_")
    position = ALL_TREC.index(base) if base in ALL_TREC else len(ALL_TREC)
    return position, float(suffix) if numbers.is_number(suffix) else 0.0
