"""`leaderboard baseline`: a run of BM25 or tf-idf over a collection of documents."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from io import FileIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click

from leaderboard import errors
from leaderboard.baselines.documents import DocumentFile, document_files, read_documents
from leaderboard.baselines.index import BM25, IndexBuilder, TfIdf, Weighting, Weights
from leaderboard.baselines.languages import Analyser, language_of
from leaderboard.baselines.runs import RankedList, Tuned, require_other_queries, tune
from leaderboard.cli import label_of, options
from leaderboard.cli.options import aligned, flag, named, option, progress_bar, refuse_if
from leaderboard.cli.runs import OUT_HELP, TAG, in_words, require_place, watched, write_run
from leaderboard.cli.score import BETA_OF, setting_of
from leaderboard.formats import QueryRow, read_judgments, read_queries
from leaderboard.metrics import Setting
from leaderboard.numbers import counted
from leaderboard.scoring import JudgedQueries, prepare

USUAL = BM25()  # as it is without options
FACTOR = options.number(0, 1e9)  # k1 and k3: far above any in use, and no sum of theirs is too large for a number

DOCUMENTS = "JSON lines, TSV, TREC's SGML, or a folder of texts; may be given several times."
SHARED = options.together(
    option("--documents", DOCUMENTS, click.Path(exists=True, path_type=Path), multiple=True, required=True),
    option("--queries query_file", "TSV (id, text), JSON lines or TREC topics.", options.FILE, required=True),
    option("--out", OUT_HELP, options.OUT),
    options.DEPTH,
    TAG,
    option("--language", "Of the texts, for stop words and stems; `none` for neither.", default="english"),
    flag("--no-stop-words", "Keep stop words."),
    flag("--no-stems", "Take words as they are."),
    option("--explain", "Print what each term adds to a score, and end.", nargs=2, metavar="QUERY DOCUMENT"),
    option("--tune-threshold tuning_judgments", "Find the best θ on these; write decisions by it.", options.FILE),
    option("--tune-queries tuning_queries", "Those, read likewise.", options.FILE),
    options.JUDGING,
    options.LEVEL_OPTION,
    options.COSTS,
    options.NO_RELEVANT,
    option("--submit place", "Submit the run there as a baseline: on the board, not ranked.", options.EVALUATION),
    option("--team", "The team that submits it, by its slug."),
    option("--system", "What the baseline is called on the board (default: what it is)."),
    options.WAIT,
)
OF_CAMPAIGN = (*BETA_OF, "no_relevant", "level", "judging")  # with --submit it states them


@click.group()
def baseline() -> None:
    """A run of a reference system, BM25 or tf-idf, over a collection of documents."""


@baseline.command()
@SHARED
@option("--k1", "How slowly counts lose weight.", FACTOR, default=USUAL.k1)
@option("--b", "How much a document's length is.", options.number(0, 1), default=USUAL.b)
@option("--k3", "Weigh a term of the query by (k3 + 1) qf / (k3 + qf), not qf.", FACTOR)
@option("--idf", "robertson is negative for a term of most documents.", ("lucene", "robertson"), default=USUAL.inverse)
@click.pass_context
def bm25(context: click.Context, /, k1: float, b: float, k3: float | None, idf: Any, **asked: Any) -> int:
    """BM25, with either idf.

    \b
    leaderboard baseline bm25 --documents docs.jsonl.gz --queries queries.tsv --out bm25.txt
    leaderboard baseline bm25 --documents texts/ --queries queries.tsv --language german --explain q7 d42
    leaderboard baseline bm25 --documents docs.jsonl --queries queries.tsv --out bm25.tsv \\
        --tune-threshold 2025.qrels --tune-queries 2025.tsv --beta 20
    leaderboard baseline bm25 --documents docs.jsonl --queries queries.tsv --out bm25.txt \\
        --submit harbour/2026-text --team organisers

    A document's score is the sum over the query's terms of idf · f (k1 + 1) / (f + k1 (1 − b + b · |D| / avgdl)).
    Listed is every document with a term of the query, by score and then by id, both falling.
    """
    return _baseline(context, BM25(k1, b, k3, idf), "bm25", SimpleNamespace(**asked))


@baseline.command()
@SHARED
@click.pass_context
def tfidf(context: click.Context, /, **asked: Any) -> int:
    """tf-idf, by the share of a document's terms.

    \b
    leaderboard baseline tfidf --documents docs.tsv --queries queries.tsv --out tfidf.txt

    A document's score is the sum over the query's terms of n / |D| · log2(N / df).
    Listed is every document with a term of the query, by score and then by id, both falling.
    """
    return _baseline(context, TfIdf(), "tfidf", SimpleNamespace(**asked))


def _baseline(context: click.Context, weighting: Weighting, short: str, asked: SimpleNamespace) -> int:
    """asked: the options of SHARED"""
    _require_sense(context, asked)
    rows = _read_queries(asked.query_file)
    files = document_files(asked.documents)
    if asked.explain is not None:
        query, document = asked.explain
        by_id = {row.id: row for row in rows}
        if query not in by_id:
            raise errors.NotFound(f"{asked.query_file}: there is no query {query!r}; it has {named([*by_id])}")
        row = by_id[query]
        click.echo(_explained(_weights(asked, files, weighting, [row]), row, document), nl=False)
        return 0
    own = filter(None, (asked.query_file, asked.tuning_judgments, asked.tuning_queries))
    require_place(asked.out, [*own, *(file.path for file in files)])
    if asked.place is not None:
        from leaderboard.cli.submissions import campaign_of_baseline

        vars(asked).update(campaign_of_baseline(asked.place, asked.team, asked.system or weighting.name))
    tuning = _tuning(asked, rows) if asked.tuning_judgments else None
    weights = _weights(asked, files, weighting, [*rows, *(tuning[0] if tuning else ())])
    tuned = None
    if tuning:
        queries, judged, setting = tuning
        lists = list(_answers(weights, queries, asked.depth, "Tuning"))
        tuned = tune(lists, judged, replace(setting, documents=weights.index.documents), asked.level)
    theta = tuned and tuned.theta
    answers = _answers(weights, rows, asked.depth, "Answering")
    _report(asked.out, weights, write_run(asked.out, answers, asked.tag or short, theta), tuned)
    return 0 if asked.place is None else _submit(asked, weights, short, theta)


def _submit(asked: SimpleNamespace, weights: Weights, short: str, theta: float | None) -> int:
    from leaderboard.cli.submissions import send_baseline

    if asked.collection not in (None, weights.index.documents):
        documents = counted(asked.collection, "document")
        click.echo(f"the collection of {asked.place} has {documents}, and these are others", err=True)
    weighting = weights.weighting
    described = f"{weighting.name}, made with `leaderboard baseline {short}`: a run's label says with which parameters."
    finite = theta if theta is not None and math.isfinite(theta) else None
    label = asked.tag or ", ".join(filter(None, (weighting.parameters, weights.index.analyser.short)))
    fields = {"label": label, "stand": asked.stand, "threshold": finite, "wait": asked.wait}
    return send_baseline(asked.place, asked.out, asked.team, asked.system or weighting.name, described, **fields)


def _require_sense(context: click.Context, asked: SimpleNamespace) -> None:
    """Raises UsageError for options that don't go together, before any file is read."""
    chosen = options.given_on_line(context)
    states = ", ".join(label_of(each) for each in context.command.params if each.name in chosen.keys() & OF_CAMPAIGN)
    explains, tunes, submits = asked.explain is not None, asked.tuning_judgments, asked.place
    refuse_if(not asked.out and not explains, "--out is missing; name the run to write (or --explain …)")
    only_prints = "--explain only prints; leave out --out, --submit and --tune-threshold"
    refuse_if(explains and (asked.out or submits or tunes), only_prints)
    both = "--tune-threshold QRELS goes with --tune-queries FILE: judgments of other queries, and their texts"
    refuse_if(bool(tunes) != bool(asked.tuning_queries), both)
    of_submit = not submits and chosen.keys() & {"team", "system", "wait"}
    refuse_if(of_submit, "--team, --system and --wait go with --submit")
    refuse_if(submits and not asked.team, "--submit needs --team: the slug of the baseline's team")
    refuse_if(states and submits, f"leave out {states}: with --submit the campaign states it")
    refuse_if(states and not tunes, f"{states}: only --tune-threshold needs it")


def _read_queries(file: Path) -> tuple[QueryRow, ...]:
    rows = read_queries(file, name=str(file))
    if not any(row.text for row in rows):
        raise errors.BadInput(f"{file}: none of the queries has a text (id TAB text)")
    return rows


def _weights(
    asked: SimpleNamespace, files: Sequence[DocumentFile], weighting: Weighting, rows: Iterable[QueryRow]
) -> Weights:
    """The weights in all documents, with a bar while they are read."""
    language = language_of(asked.language)
    analyser = Analyser(language, stop_words=not asked.no_stop_words, stemming=not asked.no_stems)
    builder = IndexBuilder(analyser, [row.text for row in rows])
    with progress_bar([file.path for file in files]) as opened:
        for file in files:
            source = opened(file.path)
            builder.add_all(read_documents(file, source))
            if isinstance(source, FileIO):  # a folder may hold more files than can be open at once
                source.close()
    return Weights(builder.index(), weighting)


def _answers(weights: Weights, rows: Sequence[QueryRow], depth: int, label: str) -> Iterator[RankedList]:
    return watched((weights.answer(row.id, row.text, depth) for row in rows), len(rows), label)


def _tuning(asked: SimpleNamespace, run: Sequence[QueryRow]) -> tuple[Sequence[QueryRow], JudgedQueries, Setting]:
    """The queries that θ is tuned on, with their judgments, and what their value depends on."""
    setting = setting_of({name: getattr(asked, name) for name in (*BETA_OF, "no_relevant")})
    needs = "--tune-threshold needs β: --beta B, or --cost, --value and --prior, or a campaign's"
    refuse_if(setting.beta is None, needs)
    queries = _read_queries(asked.tuning_queries)
    require_other_queries(run, queries)
    file = asked.tuning_judgments
    judged = prepare(read_judgments(file, name=str(file)), [row.id for row in queries], judging=asked.judging)
    if not judged.queries:
        raise errors.BadInput(f"{file}: none of the queries to tune the threshold on has judgments")
    if judged.left_out:
        click.echo(f"not judged, left out of the tuning: {named(judged.left_out)}", err=True)
    return queries, judged, setting


def _what(weights: Weights) -> str:
    """The system and what it does with words, on one line."""
    parameters = weights.weighting.parameters
    return f"{weights.weighting.name}{f' ({parameters})' if parameters else ''}; {weights.index.analyser.described}"


def _report(out: Path, weights: Weights, lengths: Mapping[str, int], tuned: Tuned | None) -> None:
    index = weights.index
    click.echo(
        f"{_what(weights)}\n"
        f"{counted(index.documents, 'document')}, {index.mean_length:.1f} terms each on average\n"
        f"{out}: {in_words(lengths)}"
    )
    if tuned is not None:
        theta = "none: returning nothing is best" if math.isinf(tuned.theta) else repr(tuned.theta)
        click.echo(f"θ = {theta} (value {tuned.qwv:.4f} on what it was tuned on, queries: {tuned.queries:,})")
    if empty := [query for query, lines in lengths.items() if not lines]:
        click.echo(f"{counted(len(empty), 'query')} without a document: {named(empty)}", err=True)


HEAD = ("term", "in query", "weight", "tf", "df", "idf", "tf part", "share")


def _explained(weights: Weights, row: QueryRow, document: str) -> str:
    """A table of shares, with every digit of them and of the score."""
    index, explained = weights.index, weights.explain(row.text, document)
    rows = [
        (each.term, str(each.qf), f"{each.weight:g}", str(each.tf), f"{each.df:,}", f"{each.idf:.6f}",
         f"{each.tf_part:.6f}", repr(each.share))
        for each in explained.shares
    ]  # fmt: skip
    if explained.score is None:
        score = f"{document} has no term of the query {row.id} and is in no list of it"
    else:
        score = f"score of {document} for {row.id}: {explained.score!r}, the sum of the shares (weight · idf · tf part)"
    return (
        f"{_what(weights)}\n"
        f"{document} has {explained.length:,} terms, a document {index.mean_length:.1f} on average "
        f"({counted(index.documents, 'document')}): length part {explained.length_part:.6f}\n\n"
        f"{aligned([HEAD, *rows], {0})}\n{score}\n"
    )
