"""Boards of the past, which an import brings in: what they went by where they stood, and from when to when."""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import metrics
from leaderboard.access import Actor, require_organiser
from leaderboard.declared.inputs import FIRST_DAY, LAST_DAY
from leaderboard.errors import BadInput, Conflict, InvalidFields
from leaderboard.formats.harmless import shown
from leaderboard.lookup.set_settings import settings_by, terms_of
from leaderboard.models import Evaluation, JudgmentRevision, Query, ScoringSet
from leaderboard.numbers import first_of
from leaderboard.rules.moments import moment_in_words
from leaderboard.rules.settings import compat_problem
from leaderboard.rules.states import STANDING, SetState
from leaderboard.services.events import present, record
from leaderboard.services.scoring_sets import add_set, find_by_settings, record_making

__all__ = ["bring_set_in", "find_stood_set"]

NAMED = 5  # queries that a message names
MOST_QUERIES = 10**9  # more than any evaluation has


def bring_set_in(
    session: Session,
    actor: Actor,
    evaluation: Evaluation,
    revision: JudgmentRevision,
    otherwise: Mapping[str, Any],
    since: dt.datetime,
    until: dt.datetime | None,
    before: Sequence[tuple[dt.datetime, dt.datetime]] = (),
) -> ScoringSet:
    """The set by which boards went then: this revision, and what was otherwise of `set_settings.terms_of`.

    Where it is the one that stands here it gets its dates. Any other one is made, as superseded, without runs: which
    runs were scored by it, and which of them stood, `imports.import_run` takes.

    since, until  when boards began and ceased to show it; until None: they never ceased, or, by a source that was not
                  the official one, never showed it
    before        earlier times when they showed it, the earliest first

    Raises InvalidFields with everything that is wrong, and Conflict where there is such an old set already.
    """
    require_organiser(actor, evaluation.campaign_id)
    fields = _wrong_dates(since, until) | _wrong_times(before, since)
    try:
        settings = settings_by(session, evaluation, revision, _checked(session, evaluation, otherwise))
    except InvalidFields as error:
        raise InvalidFields({**fields, **error.fields}) from None
    if fields:
        raise InvalidFields(fields)
    official = revision.source == evaluation.official_source
    made = find_by_settings(session, revision, settings)
    if made is not None and made.state not in STANDING:
        raise Conflict("There is a board by these judgments and settings already.")
    if made is None:
        made = add_set(session, evaluation, revision, settings)
        made.state = SetState.SUPERSEDED
        record_making(session, actor, made, revision)
    elif official:
        until = None
    made.switched_at, made.shown_until = since, until
    made.shown_before = [[one.isoformat() for one in times] for times in before]
    facts = {"before": made.shown_before} if before else {}
    record(session, actor, "date set", made, since=since.isoformat(), until=until and until.isoformat(), **facts)
    return made


def find_stood_set(
    session: Session, evaluation: Evaluation, revision: JudgmentRevision, otherwise: Mapping[str, Any]
) -> ScoringSet | None:
    """The set that `bring_set_in` has made of the same; None where there is none. Raises InvalidFields."""
    settings = settings_by(session, evaluation, revision, _checked(session, evaluation, otherwise))
    return find_by_settings(session, revision, settings)


def _wrong_dates(since: dt.datetime, until: dt.datetime | None) -> dict[str, list[str]]:
    fields: dict[str, list[str]] = {}
    now = present()
    for name, moment in (("since", since), ("until", until)):
        if moment is not None and not FIRST_DAY <= moment < LAST_DAY:
            fields[name] = [f"give a date from {FIRST_DAY.year} to {LAST_DAY.year - 1}"]
        elif moment is not None and moment > now:
            fields[name] = [f"{moment_in_words(moment)} is in the future"]
    if not fields and until is not None and until < since:
        fields["until"] = ["give a moment after `since`"]
    return fields


def _wrong_times(before: Sequence[tuple[dt.datetime, dt.datetime]], since: dt.datetime) -> dict[str, list[str]]:
    last = FIRST_DAY
    for began, ended in before:
        if not last <= began <= ended <= since:
            return {"before": [f"give times from {FIRST_DAY.year} on, one after the other, all before `since`"]}
        last = ended
    return {}


def _checked(session: Session, evaluation: Evaluation, otherwise: Mapping[str, Any]) -> dict[str, Any]:
    """What was otherwise, as settings have it. Raises InvalidFields with everything that is wrong."""
    values = dict(otherwise)
    if fields := _wrong_numbers(values):
        raise InvalidFields(fields)
    now = terms_of(session, evaluation, values.get("relevance_level"))
    if values.get("queries", 0) > now["queries"]:
        fields["queries"] = [f"there are {now['queries']:,} only"]
    fields |= _unknown_queries(session, evaluation, now | values)
    if "measures" in values:
        try:
            level = now["relevance_level"]
            named = [str(metrics.parse(name).at_relevance(level)) for name in values["measures"]]
        except BadInput as error:
            fields["measures"] = [error.message]
        else:
            values["measures"] = tuple(dict.fromkeys(named))
            if not named:
                fields["measures"] = ["name at least one"]
    if fields:
        raise InvalidFields(fields)
    return values | {name: tuple(sorted(set(values[name]))) for name in ("excluded", "hidden") if name in values}


MOST = {"documents": 10**15, "relevance_level": 10**9}


def _wrong_numbers(values: Mapping[str, Any]) -> dict[str, list[str]]:
    fields: dict[str, list[str]] = {}
    for name in ("documents", "relevance_level", "queries"):
        most = MOST.get(name, MOST_QUERIES)
        if values.get(name) is not None and not 1 <= values[name] <= most:
            fields[name] = [f"give a number from 1 to {most:,}"]
    if "compat" in values and (problem := compat_problem(values["compat"])):
        fields["compat"] = [problem]
    return fields


def _unknown_queries(session: Session, evaluation: Evaluation, terms: Mapping[str, Any]) -> dict[str, list[str]]:
    """Of the excluded and hidden ones, those that were none of the set's queries."""
    own = Query.evaluation_id == evaluation.id, Query.position < terms["queries"]
    there = set(session.scalars(sa.select(Query.external_id).where(*own)))
    lost = {name: [shown(one) for one in terms[name] if one not in there] for name in ("excluded", "hidden")}
    return {
        name: [f"of the first {terms['queries']:,} queries none is {first_of(some, NAMED)}"]
        for name, some in lost.items()
        if some
    }
