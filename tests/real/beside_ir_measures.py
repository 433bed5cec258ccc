"""ir_measures beside ours: every measure that it provides, value by value, each side reading the files by itself.

The programs behind ir_measures order equal scores in different ways. So a run is compared as it is, where a value may
differ only in a query whose list has equal scores; and these queries once more with each document's place in our order
as its score, where none may.
"""

import gzip
import io
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np

from leaderboard.formats import Run, of_any_subtopic, read_run, read_subtopic_judgments
from leaderboard.metrics import Setting, parse
from leaderboard.scoring import JudgedQueries, prepare, ranked_lines, score

CLOSE = 1e-9
PRINTED = 5.1e-6  # gdeval prints five digits after the point
LARGEST_OF_GDEVAL = 4  # grades it reads
CUTOFFS = (1, 5, 10, 20, 100, 1000)

# What each program behind ir_measures is asked for: all that it supports, with parameters worth trying.
ASKED: dict[str, tuple[str, ...]] = {
    "pytrec_eval": (
        *(
            f"{name}({rel}judged_only={only})"
            for name in ("AP", "RR", "Rprec", "SetP", "SetF", "SetAP")
            for rel in ("", "rel=2, ")
            for only in (False, True)
        ),
        *(
            f"{name}({rel}judged_only={only})@{k}"
            for name in ("P", "R", "Success", "AP")
            for rel in ("", "rel=2, ")
            for only in (False, True)
            for k in CUTOFFS
        ),
        *(f"nDCG(judged_only={only})@{k}" for only in (False, True) for k in CUTOFFS),
        *("nDCG", "nDCG(judged_only=True)", "nDCG(gains={0:0, 1:1, 2:5, 3:9})", "nDCG(gains={1:3, 2:4})@10"),
        *(f"IPrec(judged_only={only})@{at}" for only in (False, True) for at in (0.0, 0.1, 0.5, 0.9, 1.0)),
        *("Bpref", "Bpref(rel=2)", "infAP", "infAP(rel=2)", "NumQ", "NumRet", "NumRet(rel=1)", "NumRet(rel=2)"),
        *("NumRel", "SetP(relative=True)", "SetP(rel=2, relative=True)", "SetR", "SetR(rel=2)"),
        *("SetF(beta=0.5)", "SetF(beta=4.0)"),
    ),
    "cwl_eval": (
        *("P(rel=1)@10", "P(rel=2)@100", "RR", "RR(rel=2)", "AP", "AP(rel=2)", "RBP(rel=1, p=0.5)", "RBP(rel=2)"),
        *("SDCG(max_rel=3)@10", "SDCG(min_rel=1, max_rel=2)@100", "BPM(max_rel=3)@10", "BPM(T=3.0, max_rel=2)@100"),
        *("NERR8(max_rel=3)@10", "NERR9(min_rel=1, max_rel=2)@100", "NERR10(max_rel=3)", "NERR10(p=0.5, max_rel=2)"),
        *("NERR11(T=2.0, max_rel=3)", "INST(max_rel=3)", "INST(T=3.0, max_rel=2)", "INSQ(T=0.5, max_rel=3)"),
    ),
    "compat": ("Compat", "Compat(p=0.5)", "Compat(p=0.8, normalize=False)"),
    "pyndeval": (
        *(
            f"{name}{rel}@{k}"
            for name in ("ERR_IA", "nERR_IA", "alpha_DCG", "alpha_nDCG", "P_IA", "StRecall")
            for rel in ("", "(rel=2)")
            for k in (5, 10, 20)
        ),
        *(f"{name}{given}" for name in ("NRBP", "nNRBP") for given in ("", "(rel=2)", "(alpha=0.25, beta=0.75)")),
        *("alpha_DCG(alpha=0.25)@10", "alpha_nDCG(alpha=0.25)@10", "AP_IA", "AP_IA(rel=2)"),
    ),
    "judged": tuple(f"Judged@{k}" for k in CUTOFFS),
    "msmarco": ("RR", "RR@10", "RR@100", "RR(rel=2)@10"),
    "gdeval": tuple(f"{name}@{k}" for name in ("ERR", "nDCG(dcg='exp-log2')") for k in (10, 20)),
    "accuracy": ("Accuracy", "Accuracy(rel=2)"),
}

# Where a name of one of the programs means something that has another name here.
OURS = {
    ("cwl_eval", "AP"): "AP(norm=hits)",
    ("cwl_eval", "AP(rel=2)"): "AP(norm=hits, rel=2)",
    ("pytrec_eval", "SetF(beta=0.5)"): f"SetF(beta={math.sqrt(0.5)!r})",
    ("pytrec_eval", "SetF(beta=4.0)"): "SetF(beta=2)",
}


@dataclass(slots=True)
class Compared:
    """One of the programs beside ours.

    values   how many were compared: one for each measure, run and query
    largest  difference among those that are called equal
    tied     values that differ in queries whose list has equal scores
    undefined  values that the program can't tell (0/0), which are 0 or undefined here
    negative  values of Compat that differ in queries with scores below 0: there ir_measures takes 0 for the score of a
        document that the list lacks, and so puts it before listed ones of the same grade
    refused  (run, measure) that our measure refuses: ERR takes grades up to 4, where gdeval's passes 1
    unlike   other differing values, by measure: (run, query, theirs, ours)
    """

    values: int = 0
    largest: float = 0.0
    tied: int = 0
    undefined: int = 0
    negative: int = 0
    refused: set[tuple[str, str]] = field(default_factory=set)
    unlike: dict[str, list[tuple[str, str, float, float]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, other: "Compared") -> None:
        self.values += other.values
        self.largest = max(self.largest, other.largest)
        self.tied += other.tied
        self.undefined += other.undefined
        self.negative += other.negative
        self.refused |= other.refused
        for name, found in other.unlike.items():
            self.unlike[name] += found


@dataclass(frozen=True)
class Files:
    """A run with its judgments, as the lines of TREC's files."""

    name: str
    run: list[str]
    judgments: list[str]

    def of_queries(self, queries: Iterable[str]) -> "Files":
        wanted = set(queries)
        run = [line for line in self.run if line.split(maxsplit=1)[0] in wanted]
        return Files(self.name, run, [line for line in self.judgments if line.split(maxsplit=1)[0] in wanted])

    def read(self) -> Run:
        return read_run(io.BytesIO("\n".join(self.run).encode()))

    def prepared(self) -> JudgedQueries:
        subtopics = read_subtopic_judgments(io.BytesIO("\n".join(self.judgments).encode()))
        return prepare(of_any_subtopic(subtopics), subtopics=subtopics)


def load(run: Path, judgments: Path) -> Files:
    """The queries of a run that have judgments. The second column of the judgments is taken as the subtopic."""
    packed = run.read_bytes()
    lines = (gzip.decompress(packed) if run.suffix == ".gz" else packed).decode().splitlines()
    judged = [" ".join(line.split()) for line in judgments.read_text().splitlines() if line.strip()]
    files = Files(f"{run.parent.name}/{run.name}", lines, judged)
    return files.of_queries(line.split(maxsplit=1)[0] for line in judged)


def compare(files: Files, program: str, names: Sequence[str] | None = None) -> Compared:
    """What ASKED has of a program, or `names`, beside ours: on the run as it is, then on its lists with equal scores,
    with our order as scores.
    """
    run, judged = files.read(), files.prepared()
    tied = _with_equal_scores(run)
    found = _compare(files, program, names or ASKED[program], run, judged, tied)
    if tied:
        without = _by_place(files.of_queries(tied))
        found.add(_compare(without, program, names or ASKED[program], without.read(), without.prepared(), set()))
    return found


def provided() -> dict[str, set[str]]:
    """Of each program that ir_measures can call here, the measures that it says it supports."""
    return {
        name: {measure.NAME for measure in each.SUPPORTED_MEASURES}
        for name, each in ir_measures.providers.registry.items()
        if each.is_available() and each.SUPPORTED_MEASURES
    }


def _compare(
    files: Files, program: str, names: Sequence[str], run: Run, judged: JudgedQueries, tied: set[str]
) -> Compared:
    if program == "gdeval" and judged.judged_grade.max() > LARGEST_OF_GDEVAL:
        return Compared(refused={(files.name, "gdeval")})
    highest = Setting(highest_grade=int(judged.judged_grade.max()))
    refused = [name for name in names if parse(OURS.get((program, name), name)).problem(highest)]
    asked = {name: ir_measures.parse_measure(name) for name in names if name not in refused}
    same = {measure: parse(OURS.get((program, name), name)) for name, measure in asked.items()}
    # pytrec_eval is trec_eval 9, whose scores have 32 bits.
    setting = Setting(compat=9 if program == "pytrec_eval" else 10)
    ours = score(run, judged, tuple(dict.fromkeys(same.values())), setting).results
    found, close = Compared(refused={(files.name, name) for name in refused}), PRINTED if program == "gdeval" else CLOSE
    below_zero = {run.queries[place] for place in np.unique(run.query[run.score < 0]).tolist()}
    for measure, query, theirs in _theirs(files, program, list(asked.values())):
        value = float(ours[same[measure]].values[judged.number[query]])
        found.values += 1
        if math.isnan(theirs) and (math.isnan(value) or value == 0.0):
            found.undefined += 1
        elif abs(value - theirs) <= close:
            found.largest = max(found.largest, abs(value - theirs))
        elif query in tied:
            found.tied += 1
        elif program == "compat" and query in below_zero:
            found.negative += 1
        else:
            found.unlike[str(measure)].append((files.name, query, theirs, value))
    return found


def _theirs(files: Files, program: str, measures: list[Any]) -> Iterator[tuple[Any, str, float]]:
    """(measure, query, value) of all. gdeval takes numbers only as query ids, so all get some."""
    queries = list(dict.fromkeys(line.split(maxsplit=1)[0] for line in files.judgments))
    number = {query: str(place) for place, query in enumerate(queries, 1)}
    judgments = [line.split() for line in files.judgments]
    lines = [line.split() for line in files.run]
    qrels = [ir_measures.Qrel(number[query], document, int(g), aspect) for query, aspect, document, g in judgments]
    documents = [ir_measures.ScoredDoc(number[q], document, float(score)) for q, _, document, _, score, _ in lines]
    provider = ir_measures.providers.registry[program]
    measures = sorted(measures, key=lambda each: _together(program, each))
    for _, group in groupby(measures, key=lambda each: _together(program, each)):
        together = list(group)
        if program == "accuracy":
            yield from _accuracy(provider, together, qrels, documents, queries)
            continue
        for value in provider.iter_calc(together, qrels, documents):
            yield value.measure, queries[int(value.query_id) - 1], float(value.value)


def _accuracy(
    provider: Any, measures: list[Any], qrels: list[Any], documents: list[Any], queries: list[str]
) -> Iterator[tuple[Any, str, float]]:
    """Query by query, because it divides by zero where a list holds relevant documents only: NaN."""
    for number, found in groupby(documents, key=lambda each: each.query_id):
        own = list(found)
        for measure in measures:
            try:
                values = [each.value for each in provider.iter_calc([measure], qrels, own)]
            except ZeroDivisionError:
                values = [math.nan]
            yield from ((measure, queries[int(number) - 1], value) for value in values)


def _together(program: str, measure: Any) -> str:
    """What is equal for measures that are asked for at once: pyndeval reads the run for the first setting only."""
    return str([measure.params.get(each) for each in ("rel", "alpha", "beta")]) if program == "pyndeval" else ""


def _by_place(files: Files) -> Files:
    """The same lists, with each document's place in our order as its score."""
    run = files.read()
    lines = ranked_lines(run, 10)
    ends = zip(run.queries, lines.start[:-1].tolist(), lines.start[1:].tolist(), strict=True)
    text = [
        f"{query} Q0 {document.decode()} 0 {last - place} t"
        for query, first, last in ends
        for place, document in enumerate(lines.document[first:last].tolist(), first)
    ]
    return Files(files.name, text, files.judgments)


def _with_equal_scores(run: Run) -> set[str]:
    """Queries in whose list two scores are equal as 32-bit numbers."""
    lines = ranked_lines(run, 9)
    scores = lines.score.astype(np.float32)
    ends = zip(run.queries, lines.start[:-1].tolist(), lines.start[1:].tolist(), strict=True)
    return {query for query, first, last in ends if (np.diff(np.sort(scores[first:last])) == 0).any()}
