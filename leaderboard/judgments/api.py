"""An evaluation's queries: a file with its preview, and what becomes of single ones: excluded, hidden, taken back.

An evaluation's judgments: files with their preview, revisions, and which source of judgments is the official one.

Published judgments: by query, of one query, and as the file that trec_eval and `leaderboard score` read.
"""

from collections.abc import Callable
from typing import Any

import msgspec
from flask import Response

from leaderboard.accounts.rules import Scope
from leaderboard.boards.api import EVALUATION as PUBLISHED_EVALUATION
from leaderboard.declared.commands import Command, Table, moment
from leaderboard.declared.inputs import checked
from leaderboard.evaluations.rules import Split
from leaderboard.formats import read_queries
from leaderboard.judgments import inputs, reads, writes
from leaderboard.judgments.reads import JudgmentFile, OrganisedJudgments, OrganisedQueries
from leaderboard.judgments.rules import READERS, JudgmentFiles
from leaderboard.numbers import first_of
from leaderboard.web.context import read, reading
from leaderboard.web.endpoints import get, post
from leaderboard.web.exports import evaluation_file
from leaderboard.web.organise import EVALUATION, evaluation_here, here, read_after, read_body
from leaderboard.web.uploads import read_files
from leaderboard.worker.writes import make_official

QUERIES, JUDGMENTS = f"{EVALUATION}/queries", f"{EVALUATION}/judgments"
NAMED = 10  # ids that a line lists


def _listed(value: Any) -> str:
    """A part of a preview: of a list how many there are, and the first."""
    if not isinstance(value, list):
        return str(value)
    return f"{len(value)} ({first_of([*map(_word, value)], NAMED)})" if value else "0"


def _word(row: Any) -> str:
    if isinstance(row, list):  # a grade and how many have it
        return ": ".join(map(str, row))
    if isinstance(row, dict):
        return str(row.get("id") or ", ".join(f"{name} {value}" for name, value in row.items()))
    return str(row)


def _preview(changes: Any) -> list[str]:
    said = {name: changes.pop(name, ()) for name in ("problems", "doubts", "state")}
    lines = [(name, _listed(value)) for name, value in changes.items()]
    lines += [(name, line) for name in ("problems", "doubts") for words in said[name] for line in words.splitlines()]
    return [f"{name.replace('_', ' '):18}{words}" for name, words in lines]


def _command(verb: str, done: str, example: str = "harbour/2026-text q17") -> Command:
    usage = f"queries {verb} CAMPAIGN/EVALUATION QUERIES…"
    return Command(usage, lambda _, values: f"{done}: {first_of(values['queries'], NAMED)}", example)


LIST = Table(
    ("query", "text", "tags", "split", "excluded", "judged"),
    lambda row: (
        row["id"], row["text"], " ".join(row["tags"]) or "–", "hidden" if row["hidden"] else "shown",
        f"excluded: {row['because']}" if row["excluded"] else "–", row["judged"],
    ),
    "no query yet; import some: leaderboard queries import CAMPAIGN/EVALUATION FILE", lambda answer: answer["rows"],
)  # fmt: skip
IMPORT = Command(
    "queries import CAMPAIGN/EVALUATION FILE",
    "{campaign}/{evaluation} has {total} queries now",
    "harbour/2026-text queries.tsv", preview=_preview, without=("state",),
)  # fmt: skip


@get(QUERIES, Scope.ORGANISE, command=Command("queries list CAMPAIGN/EVALUATION", LIST, "harbour/2026-text"))
def organised_queries(campaign: str, evaluation: str) -> OrganisedQueries:
    """All queries, hidden and excluded ones too."""
    return read(reads.organised_queries, campaign, evaluation)


@post(f"{QUERIES}/preview", Scope.ORGANISE, form=bytes)
def preview_queries(campaign: str, evaluation: str) -> reads.QueryChanges:
    """What a file of queries would change; nothing is taken in. The body is the file, as for adding them."""
    rows = read_body(read_queries, "queries")
    with reading() as session:
        return reads.query_changes(session, evaluation_here(session, campaign, evaluation), rows)


@post(QUERIES, Scope.ORGANISE, form=bytes, command=IMPORT)
def add_queries(
    campaign: str, evaluation: str, *, hidden: bool = False, state: str | None = None, confirm: bool = False
) -> OrganisedQueries:
    """Adds queries, and gives known ones their new texts and tags. The file has id, text and tags, as tab separated
    values, JSON lines or TREC topics.

    \fThe body is the file. hidden: hide the new ones; state: that of a preview, without which nothing is compared:
    where the queries are others by now, none of the file is taken in; confirm: to the runs that are scored again with
    more queries, which a refusal without it counts.
    """
    more = read_body(read_queries, "queries"), Split.HIDDEN if hidden else Split.SHOWN, state or ""
    import_them = writes.import_previewed_queries
    return read_after(reads.organised_queries, campaign, evaluation, import_them, *more, confirm=confirm)


@post(f"{QUERIES}/exclude", Scope.ORGANISE, command=_command(
    "exclude", "excluded", "harbour/2026-text q17 q18 --because 'two queries were the same'"
))  # fmt: skip
def exclude_queries(campaign: str, evaluation: str, body: inputs.ExcludedQueries) -> OrganisedQueries:
    """Takes queries out of all figures, with a reason; runs are scored again, to be confirmed."""
    return _change(writes.exclude_queries, campaign, evaluation, body, body.because)


@post(f"{QUERIES}/include", Scope.ORGANISE, command=_command("include", "included"))
def include_queries(campaign: str, evaluation: str, body: inputs.NamedQueries) -> OrganisedQueries:
    """Takes excluded queries back into the figures."""
    return _change(writes.include_queries, campaign, evaluation, body)


@post(f"{QUERIES}/remove", Scope.ORGANISE, command=_command("remove", "removed"))
def remove_queries(campaign: str, evaluation: str, body: inputs.NamedQueries) -> OrganisedQueries:
    """Removes queries that were added by mistake, before there are judgments and submissions."""
    return _change(writes.remove_queries, campaign, evaluation, body)


@post(f"{QUERIES}/hide", Scope.ORGANISE, command=_command("hide", "hidden"))
def hide_queries(campaign: str, evaluation: str, body: inputs.NamedQueries) -> OrganisedQueries:
    """Hides queries from everybody but organisers."""
    return _change(writes.set_split, campaign, evaluation, body, Split.HIDDEN)


@post(f"{QUERIES}/show", Scope.ORGANISE, command=_command("show", "shown"))
def show_queries(campaign: str, evaluation: str, body: inputs.NamedQueries) -> OrganisedQueries:
    """Shows hidden queries to everybody."""
    return _change(writes.set_split, campaign, evaluation, body, Split.SHOWN)


def _change(
    do: Callable[..., Any], campaign: str, evaluation: str, body: inputs.NamedQueries, *more: Any
) -> OrganisedQueries:
    named = body.queries
    return read_after(reads.organised_queries, campaign, evaluation, do, named, *more, confirm=body.confirm)


class JudgmentForm(msgspec.Struct):
    """Judgments as they are sent: `judgments`, in TREC's four columns, CSV with a header or JSON lines; `subtopics` and
    `known`, where measures need them.

    source: whose they are, in one short word, the official source's unless told; note: what is new; state: that of a
    preview: where there is a newer revision by now, nothing is taken in.
    """

    judgments: bytes = b""
    subtopics: bytes = b""
    known: bytes = b""
    source: str = ""
    note: str = ""
    state: str = ""


def _state(row: Any, answer: Any) -> str:
    if row["source"] in answer["set_aside"]:
        return "set aside"
    if row["building"] or not row["stands"]:
        return "building" if row["building"] else "–"
    return "official" if row["source"] == answer["official"] else "beside"


def _removal(answer: Any, values: Any) -> str:
    """What removing the source does, to be confirmed; "" for one that can't be removed."""
    source = values["source"]
    words = next((row["removal"] for row in answer["others"] if row["name"] == source), "")
    return words and f"Remove {source} of {values['campaign']}/{values['evaluation']}: {words}. Go on?"


REVISIONS = Table(
    ("revision", "source", "state", "judgments", "imported", "waiting", "note"),
    lambda row: (
        row["number"], row["source"], row["state"], row["judgments"], moment(row["imported_at"]), row["waiting"],
        row["note"] or "–",
    ),
    "no judgments yet; import some: leaderboard judgments import CAMPAIGN/EVALUATION FILE",
    lambda answer: [row | {"state": _state(row, answer)} for row in answer["revisions"]],
)  # fmt: skip


@get(JUDGMENTS, Scope.ORGANISE, command=Command(
    "judgments list CAMPAIGN/EVALUATION", REVISIONS, "harbour/2026-text"
))  # fmt: skip
def organised_judgments(campaign: str, evaluation: str) -> OrganisedJudgments:
    """The revisions of the judgments, with their sources, their hashes and how far scoring by them is."""
    return read(reads.organised_judgments, campaign, evaluation)


@post(f"{JUDGMENTS}/preview", Scope.ORGANISE, form=JudgmentForm)
def preview_judgments(campaign: str, evaluation: str) -> reads.JudgmentChanges:
    """What judgments would change; nothing is taken in. `problems` says why the same would be refused (that a measure
    needs more than the evaluation has is told when they are sent).
    """
    files, words = _sent()
    with reading() as session:
        return reads.judgment_changes(session, evaluation_here(session, campaign, evaluation), files, words.source)


@post(JUDGMENTS, Scope.ORGANISE, form=JudgmentForm, command=Command(
    "judgments import CAMPAIGN/EVALUATION [JUDGMENTS]",
    "revision {revisions[0][number]} of {campaign}/{evaluation}, by {revisions[0][source]}: {revisions[0][judgments]} "
    "judgments",
    "harbour/2026-text qrels.txt --note 'after adjudication'", preview=_preview, without=("state",),
))  # fmt: skip
def add_judgments(campaign: str, evaluation: str) -> OrganisedJudgments:
    """Adds a revision of the judgments. The boards switch once all runs are scored by it. Judgments of subtopics alone
    say of each document what holds for its query as a whole too: the highest grade of any subtopic.
    """
    return read_after(reads.organised_judgments, campaign, evaluation, writes.import_previewed, *_sent())


@post(f"{JUDGMENTS}/official", Scope.ORGANISE, command=Command(
    "judgments official CAMPAIGN/EVALUATION SOURCE",
    "boards of {campaign}/{evaluation} go by the judgments of {source}",
    "harbour/2026-text second-lab",
))  # fmt: skip
def make_source_official(campaign: str, evaluation: str, body: inputs.OfficialSource) -> OrganisedJudgments:
    """Lets the boards go by the judgments of another source, whose runs are all scored; the old ones stay beside.
    To be confirmed.
    """
    page = reads.organised_judgments
    return read_after(page, campaign, evaluation, make_official, body.source, confirm=body.confirm)


@post(f"{JUDGMENTS}/rename", Scope.ORGANISE, command=Command(
    "judgments rename CAMPAIGN/EVALUATION SOURCE NAME", "{source} of {campaign}/{evaluation} is called {name} now",
    "harbour/2026-text secnd-lab second-lab",
))  # fmt: skip
def rename_source(campaign: str, evaluation: str, body: inputs.RenamedSource) -> OrganisedJudgments:
    """Gives a source of judgments another name, on old boards too; the trail keeps the one before."""
    return read_after(reads.organised_judgments, campaign, evaluation, writes.rename_source, body.source, body.name)


@post(f"{JUDGMENTS}/remove", Scope.ORGANISE, command=Command(
    "judgments remove CAMPAIGN/EVALUATION SOURCE", "{source} of {campaign}/{evaluation} is removed",
    "harbour/2026-text llm", asks=_removal,
))  # fmt: skip
def remove_source(campaign: str, evaluation: str, body: inputs.RemovedSource) -> OrganisedJudgments:
    """Takes a source of judgments away; the official one stays.

    \fWhat becomes of it `others` says before, as its `removal`.
    """
    return read_after(reads.organised_judgments, campaign, evaluation, writes.remove_source, body.source)


def _sent() -> tuple[JudgmentFiles, inputs.RevisionWords]:
    """This request's form. Raises NotFound before any of it is read, and InvalidFields."""
    here()
    fields, files = read_files(READERS, inputs.RevisionWords.model_fields)
    return JudgmentFiles.of(files, "judgments"), checked(inputs.RevisionWords, fields.to_dict())


@get(f"{PUBLISHED_EVALUATION}/judgments")
def published_judgments(campaign: str, evaluation: str) -> reads.PublishedPage:
    """The published judgments, counted by query and grade, with their revision and its hash."""
    return read(reads.published, campaign, evaluation)


@get(f"{PUBLISHED_EVALUATION}/judgments.txt", file="text/plain", command=Command(
    "judgments export CAMPAIGN/EVALUATION", lambda text, _: text.removesuffix("\n"), "harbour/2026-text > qrels.txt",
))  # fmt: skip
def qrels(campaign: str, evaluation: str) -> Response:
    """The published judgments as TREC's four columns: query, 0, document, grade."""
    return _lines(campaign, evaluation, JudgmentFile.JUDGMENTS)


@get(f"{PUBLISHED_EVALUATION}/known.txt", file="text/plain")
def known_documents(campaign: str, evaluation: str) -> Response:
    """What the user knew already, in the same columns, where the judgments come with it (Coverage, Novelty)."""
    return _lines(campaign, evaluation, JudgmentFile.KNOWN)


@get(f"{PUBLISHED_EVALUATION}/subtopics.txt", file="text/plain")
def subtopic_judgments(campaign: str, evaluation: str) -> Response:
    """The published judgments of subtopics, where there are some: query, subtopic, document, grade."""
    return _lines(campaign, evaluation, JudgmentFile.SUBTOPICS)


@get(f"{PUBLISHED_EVALUATION}/judgments/<path:query>")
def judged_documents(campaign: str, evaluation: str, query: str) -> reads.JudgedDocuments:
    """The published judgments of one query, the highest grade first."""
    return read(reads.documents_of, campaign, evaluation, query)


def _lines(campaign: str, evaluation: str, file: JudgmentFile) -> Response:
    """A file of the published judgments."""
    return evaluation_file(read(reads.qrels, campaign, evaluation, file=file), campaign, evaluation, file)
