"""What everybody may see of an evaluation, of what there is to see; and what a change of its dates took back."""

import datetime as dt
from collections.abc import Collection
from contextlib import closing
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import open_to_all
from leaderboard.audit.events import stored_events
from leaderboard.audit.models import Event
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules.scoring_settings import Split
from leaderboard.judgments.models import JudgmentRevision, Query
from leaderboard.submissions.models import Submission

REVEALING = frozenset({"details", "judgments", "hidden_queries"})  # who has read these makes better runs
CLOSED_AGAIN = "closed_again"  # the fact of an event: what of these everybody could read until a change took it back


def of_what_there_is(session: Session, evaluation: Evaluation, opened: Collection[str]) -> frozenset[str]:
    """Those of what `access.open_to_all` names that the evaluation has something of: nothing opens with no runs."""
    own = {
        "texts": sa.exists().where(Query.evaluation_id == evaluation.id),
        "hidden_queries": sa.exists().where(Query.evaluation_id == evaluation.id, Query.split == Split.HIDDEN),
        "judgments": sa.exists().where(JudgmentRevision.evaluation_id == evaluation.id),
        **dict.fromkeys(("results", "details", "names"), sa.exists().where(Submission.evaluation_id == evaluation.id)),
    }
    wanted = sorted(opened)
    if not wanted:
        return frozenset()
    there = session.execute(sa.select(*(own[name].label(name) for name in wanted))).one()
    return frozenset(name for name, found in zip(wanted, there, strict=True) if found)


def closed_again(session: Session, evaluation: Evaluation, before: Collection[str], now: dt.datetime) -> dict[str, Any]:
    """What a change just took back of `REVEALING` that everybody could read, as facts of its event; none for nothing.

    before  what `access.open_to_all` gave before the change
    """
    closed = of_what_there_is(session, evaluation, REVEALING.intersection(before) - open_to_all(evaluation, now))
    return {CLOSED_AGAIN: sorted(closed)} if closed else {}


def once_revealed(session: Session, evaluation: Evaluation) -> frozenset[str]:
    """What of `REVEALING` everybody could read until a change of the evaluation took it back, by the audit trail."""
    of_it = (Event.subject == "evaluation", Event.subject_id == evaluation.id, Event.action == "change")
    found: set[str] = set()
    with closing(stored_events(session, *of_it)) as events:
        for stored in events:
            if stored.event is not None:
                found.update(stored.event.facts.get(CLOSED_AGAIN, ()))
    return REVEALING & found
