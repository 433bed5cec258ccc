"""An evaluation's queries: a file with its preview, and what becomes of single ones: excluded, hidden, taken back."""

from collections.abc import Callable, Iterable
from typing import Any

from leaderboard.accounts.rules import Scope
from leaderboard.campaigns.reads import settings
from leaderboard.declared.commands import Command, Table
from leaderboard.declared.inputs import Confirm, Inputs, setting
from leaderboard.errors import Conflict, InvalidFields, NotFound
from leaderboard.evaluations.rules.scoring_settings import Split
from leaderboard.formats import QueryRow, read_queries
from leaderboard.judgments.reads import query_file
from leaderboard.judgments.writes import queries
from leaderboard.numbers import counted, first_of
from leaderboard.web.context import actor, read, reading, writing
from leaderboard.web.endpoints import get, post
from leaderboard.web.organise import EVALUATION, evaluation_here, read_body, require_confirmed

QUERIES = f"{EVALUATION}/queries"


class Named(Inputs):
    """Queries by their ids."""

    queries: list[str] = setting("Queries", min_length=1)
    confirm: Confirm = False


class Excluded(Named):
    """Queries by their ids, and why they are excluded."""

    because: str = setting("Reason", "Readers see it beside the query.")


def _in_words(changes: Any) -> list[str]:
    def listed(ids: list[str]) -> str:
        return f" ({first_of(ids, NAMED)})" if ids else ""

    new, changed = ([row["id"] for row in changes[name]] for name in ("new", "changed"))
    lines = [f"{'new':12}{len(new)}{listed(new)}", f"{'changed':12}{len(changed)}{listed(changed)}"]
    lines.append(f"{'unchanged':12}{changes['unchanged']}")
    lines.append(f"{'not in it':12}{len(changes['missing'])}{listed(changes['missing'])}")
    if described := changes["described"]:
        lines.append(f"{'described':12}{described}: TREC's descriptions and narratives are kept beside the text")
    if changes["scores_anew"]:
        lines.append("all runs are scored anew, because there are more queries")
    return lines


def _command(verb: str, done: str, example: str = "harbour/2026-text q17") -> Command:
    def words(_: Any, given: Any) -> str:
        return f"{done}: {first_of(given['queries'], NAMED)}"

    return Command(f"queries {verb} CAMPAIGN/EVALUATION QUERIES…", words, example)


NAMED = 10  # ids that a line lists
EXCLUDE = _command("exclude", "excluded", "harbour/2026-text q17 q18 --because 'two queries were the same'")
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
    lambda answer, given: f"{given['file'].name} is taken in: {given['campaign']}/{given['evaluation']} has "
    f"{counted(answer['total'], 'query', 'queries')}",
    "harbour/2026-text queries.tsv", preview=_in_words, without=("state",),
)  # fmt: skip


@get(QUERIES, Scope.ORGANISE, command=Command("queries list CAMPAIGN/EVALUATION", LIST, "harbour/2026-text"))
def organised_queries(campaign: str, evaluation: str) -> query_file.OrganisedQueries:
    """All queries, hidden and excluded ones too."""
    return read(query_file.organised_queries, campaign, evaluation, page=None)


@post(f"{QUERIES}/preview", Scope.ORGANISE, form=bytes)
def preview_queries(campaign: str, evaluation: str) -> query_file.QueryChanges:
    """What a file of queries would change; nothing is taken in. The body is the file, as for adding them."""
    rows = _rows(campaign, evaluation)
    with reading() as session:
        return query_file.query_changes(session, evaluation_here(session, campaign, evaluation), rows)


@post(QUERIES, Scope.ORGANISE, form=bytes, command=IMPORT)
def add_queries(
    campaign: str, evaluation: str, *, hidden: bool = False, state: str | None = None, confirm: bool = False
) -> query_file.OrganisedQueries:
    """Adds queries, and gives known ones their new texts and tags. The body is the file: id, text and tags, as tab
    separated values, JSON lines or TREC topics. hidden: hide the new ones; state: that of a preview, without which
    nothing is compared: where the queries are others by now, none of the file is taken in; confirm: to the runs that
    are scored again with more queries, which a refusal without it counts.
    """
    rows = _rows(campaign, evaluation)
    with writing() as session:
        found = evaluation_here(session, campaign, evaluation)
        if state is not None and query_file.query_changes(session, found, rows).state != state:
            raise Conflict("The queries have changed since that preview; look at another before you send them.")
        queries.import_queries(session, actor(), found, rows, Split.HIDDEN if hidden else Split.SHOWN)
        require_confirmed(session, campaign, confirm)
    return read(query_file.organised_queries, campaign, evaluation, page=None)


@post(
    f"{QUERIES}/exclude",
    Scope.ORGANISE,
    command=EXCLUDE,
)
def exclude_queries(campaign: str, evaluation: str, body: Excluded) -> query_file.OrganisedQueries:
    """Takes queries out of all figures, with a reason; runs are scored again, to be confirmed."""
    return _change(queries.exclude_queries, campaign, evaluation, body, body.because)


@post(f"{QUERIES}/include", Scope.ORGANISE, command=_command("include", "included"))
def include_queries(campaign: str, evaluation: str, body: Named) -> query_file.OrganisedQueries:
    """Takes excluded queries back into the figures."""
    return _change(queries.include_queries, campaign, evaluation, body)


@post(f"{QUERIES}/remove", Scope.ORGANISE, command=_command("remove", "removed"))
def remove_queries(campaign: str, evaluation: str, body: Named) -> query_file.OrganisedQueries:
    """Removes queries that were added by mistake, before there are judgments and submissions."""
    return _change(queries.remove_queries, campaign, evaluation, body)


@post(f"{QUERIES}/hide", Scope.ORGANISE, command=_command("hide", "hidden"))
def hide_queries(campaign: str, evaluation: str, body: Named) -> query_file.OrganisedQueries:
    """Hides queries from everybody but organisers."""
    return _change(queries.set_split, campaign, evaluation, body, Split.HIDDEN)


@post(f"{QUERIES}/show", Scope.ORGANISE, command=_command("show", "shown"))
def show_queries(campaign: str, evaluation: str, body: Named) -> query_file.OrganisedQueries:
    """Shows hidden queries to everybody."""
    return _change(queries.set_split, campaign, evaluation, body, Split.SHOWN)


def _rows(campaign: str, evaluation: str) -> Iterable[QueryRow]:
    """The body as queries. Raises NotFound before any of it is read, and InvalidFields (queries)."""
    read(settings.evaluation_settings, campaign, evaluation)
    return read_body(read_queries, "queries")


def _change(
    do: Callable[..., Any], campaign: str, evaluation: str, body: Named, *more: Any
) -> query_file.OrganisedQueries:
    with writing() as session:
        found = evaluation_here(session, campaign, evaluation)
        try:
            do(session, actor(), found, body.queries, *more)
        except NotFound as error:
            raise InvalidFields({"queries": [error.message]}) from None
        require_confirmed(session, campaign, body.confirm)
    return read(query_file.organised_queries, campaign, evaluation, page=None)
