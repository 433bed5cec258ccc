"""An evaluation's queries: a file with its preview, and what becomes of single ones: excluded, hidden, taken back."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta

from leaderboard.accounts.rules import Scope
from leaderboard.campaigns.reads import settings
from leaderboard.errors import Conflict, InvalidFields, NotFound
from leaderboard.evaluations.rules.scoring_settings import Split
from leaderboard.formats import QueryRow, read_queries
from leaderboard.judgments.reads import query_file
from leaderboard.judgments.writes import queries
from leaderboard.web.api.endpoints import get, post
from leaderboard.web.api.organising import EVALUATION, changing, evaluation_here
from leaderboard.web.context import actor, read, reading
from leaderboard.web.organised_files import read_body

QUERIES = f"{EVALUATION}/queries"


@dataclass(frozen=True, slots=True)
class Named:
    """Queries by their ids. confirm: to the runs that are scored again, which a refusal without it counts."""

    queries: Annotated[list[str], Meta(min_length=1)]
    confirm: bool = False


@dataclass(frozen=True, slots=True)
class Excluded:
    """Queries by their ids. because: why they are excluded, which everybody reads; confirm: to the runs that are scored
    again, which a refusal without it counts.
    """

    queries: Annotated[list[str], Meta(min_length=1)]
    because: str
    confirm: bool = False


@get(QUERIES, Scope.ORGANISE)
def organised_queries(campaign: str, evaluation: str) -> query_file.OrganisedQueries:
    """All queries, hidden and excluded ones too."""
    return read(query_file.organised_queries, campaign, evaluation, page=None)


@post(f"{QUERIES}/preview", Scope.ORGANISE, form=bytes)
def preview_queries(campaign: str, evaluation: str) -> query_file.QueryChanges:
    """What a file of queries would change; nothing is taken in. The body is the file, as for adding them."""
    rows = _rows(campaign, evaluation)
    with reading() as session:
        return query_file.query_changes(session, evaluation_here(session, campaign, evaluation), rows)


@post(QUERIES, Scope.ORGANISE, form=bytes)
def add_queries(
    campaign: str, evaluation: str, *, hidden: bool = False, state: str | None = None, confirm: bool = False
) -> query_file.OrganisedQueries:
    """Adds queries, and gives known ones their new texts and tags. The body is the file: id, text and tags, as tab
    separated values, JSON lines or TREC topics. hidden: hide the new ones; state: that of a preview, without which
    nothing is compared: where the queries are others by now, none of the file is taken in; confirm: to the runs that
    are scored again with more queries, which a refusal without it counts.
    """
    rows = _rows(campaign, evaluation)
    with changing(campaign, confirm=confirm) as session:
        found = evaluation_here(session, campaign, evaluation)
        if state is not None and query_file.query_changes(session, found, rows).state != state:
            raise Conflict("The queries have changed since that preview; look at another before you send them.")
        queries.import_queries(session, actor(), found, rows, Split.HIDDEN if hidden else Split.SHOWN)
    return read(query_file.organised_queries, campaign, evaluation, page=None)


@post(f"{QUERIES}/exclude", Scope.ORGANISE)
def exclude_queries(campaign: str, evaluation: str, body: Excluded) -> query_file.OrganisedQueries:
    """Takes queries out of all figures, with a reason; runs are scored again, to be confirmed."""
    return _change(queries.exclude_queries, campaign, evaluation, body, body.because)


@post(f"{QUERIES}/include", Scope.ORGANISE)
def include_queries(campaign: str, evaluation: str, body: Named) -> query_file.OrganisedQueries:
    """Takes excluded queries back into the figures."""
    return _change(queries.include_queries, campaign, evaluation, body)


@post(f"{QUERIES}/remove", Scope.ORGANISE)
def remove_queries(campaign: str, evaluation: str, body: Named) -> query_file.OrganisedQueries:
    """Removes queries that were added by mistake, before there are judgments and submissions."""
    return _change(queries.remove_queries, campaign, evaluation, body)


@post(f"{QUERIES}/hide", Scope.ORGANISE)
def hide_queries(campaign: str, evaluation: str, body: Named) -> query_file.OrganisedQueries:
    """Hides queries from everybody but organisers."""
    return _change(queries.set_split, campaign, evaluation, body, Split.HIDDEN)


@post(f"{QUERIES}/show", Scope.ORGANISE)
def show_queries(campaign: str, evaluation: str, body: Named) -> query_file.OrganisedQueries:
    """Shows hidden queries to everybody."""
    return _change(queries.set_split, campaign, evaluation, body, Split.SHOWN)


def _rows(campaign: str, evaluation: str) -> Iterable[QueryRow]:
    """The body as queries. Raises NotFound before any of it is read, and InvalidFields (queries)."""
    read(settings.evaluation_settings, campaign, evaluation)
    return read_body(read_queries, "queries")


def _change(
    do: Callable[..., Any], campaign: str, evaluation: str, body: Named | Excluded, *more: Any
) -> query_file.OrganisedQueries:
    with changing(campaign, confirm=body.confirm) as session:
        found = evaluation_here(session, campaign, evaluation)
        try:
            do(session, actor(), found, body.queries, *more)
        except NotFound as error:
            raise InvalidFields({"queries": [error.message]}) from None
    return read(query_file.organised_queries, campaign, evaluation, page=None)
