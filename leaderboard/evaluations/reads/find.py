"""What is said where something is not there.

Campaigns, evaluations and queries by the names of their addresses, and whether one can be removed.

What everybody may see of an evaluation, of what there is to see; and what a change of its dates took back.
"""

import datetime as dt
from collections.abc import Collection
from contextlib import closing
from difflib import get_close_matches
from itertools import compress
from typing import Any, NoReturn, TypeVarTuple

import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute, Session

from leaderboard.access import Actor, known_campaigns, known_evaluations, open_to_all
from leaderboard.audit.events import stored_events
from leaderboard.audit.models import Event
from leaderboard.campaigns.models import Campaign
from leaderboard.errors import NotFound
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import Split, Subset
from leaderboard.judgments.models import JudgmentRevision, Query
from leaderboard.numbers import first_of
from leaderboard.submissions.models import Submission
from leaderboard.teams.models import System
from leaderboard.worker.models import ScoringSet
from leaderboard.worker.reads import IS_CURRENT, note_current_set

SHOWN = 10  # names that a message lists


def missing(
    session: Session,
    what: str,
    name: str,
    column: InstrumentedAttribute[str],
    *among: sa.ColumnElement[bool],
    within: str = "",
    there: str = "there are",
) -> NoReturn:
    """Raises NotFound that suggests the nearest names, or lists the first few when none is near.

    there  what these are
    """
    names = list(session.scalars(sa.select(column).where(*among).order_by(column)))
    near = " or ".join(get_close_matches(name, names))
    hint = f"; did you mean {near}?" if near else f"; {there} {first_of(names, SHOWN)}" if names else ""
    raise NotFound(f"there is no {what} {name!r}{within}{hint}")


Columns = TypeVarTuple("Columns")


def find_campaign(session: Session, actor: Actor, slug: str) -> Campaign:
    """Raises NotFound, also where `actor` may not know of it."""
    known = known_campaigns(actor)
    campaign = session.scalar(sa.select(Campaign).where(Campaign.slug == slug, known))
    return campaign or missing(session, "campaign", slug, Campaign.slug, known)


def find_evaluation(session: Session, actor: Actor, campaign_slug: str, slug: str) -> Evaluation:
    """The evaluation with its campaign, in one statement. Raises NotFound, also where `actor` may not know of it."""
    evaluation: Evaluation | None = session.scalar(_of_address(sa.select(Evaluation), actor, campaign_slug, slug))
    return evaluation or _no_evaluation(session, actor, campaign_slug, slug)


def find_evaluation_and_set(
    session: Session, actor: Actor, campaign_slug: str, slug: str
) -> tuple[Evaluation, ScoringSet | None]:
    """What `find_evaluation` and `current_set` give, in one statement."""
    row = session.execute(
        _of_address(sa.select(Evaluation, ScoringSet), actor, campaign_slug, slug)
        .outerjoin(ScoringSet, sa.and_(ScoringSet.evaluation_id == Evaluation.id, IS_CURRENT))
        .outerjoin(ScoringSet.revision)
        .options(sa.orm.contains_eager(ScoringSet.revision))
    ).one_or_none()
    if row is None:
        _no_evaluation(session, actor, campaign_slug, slug)
    evaluation, current = row
    note_current_set(session, evaluation.id, current)
    return evaluation, current


def _of_address(statement: sa.Select[*Columns], actor: Actor, campaign_slug: str, slug: str) -> sa.Select[*Columns]:
    """A statement on evaluations, of the one with this address, where `actor` may know of it, with its campaign."""
    return (
        statement.join(Evaluation.campaign)
        .options(sa.orm.contains_eager(Evaluation.campaign))
        .where(Campaign.slug == campaign_slug, Evaluation.slug == slug, known_evaluations(actor))
    )


def _no_evaluation(session: Session, actor: Actor, campaign_slug: str, slug: str) -> NoReturn:
    campaign = find_campaign(session, actor, campaign_slug)
    own = Evaluation.campaign_id == campaign.id
    shown = sa.true() if actor.may_organise(campaign.id) else Evaluation.draft.is_(False)
    missing(session, "evaluation", slug, Evaluation.slug, own, shown, within=f" in {campaign.slug}")


def removal_refusal(session: Session, which: Campaign | Evaluation | System) -> str | None:
    """Why a campaign, an evaluation or a system can't be removed, in words; None when it can."""
    name = which.name if isinstance(which, System) else which.title
    own = {Campaign: Evaluation.campaign_id, Evaluation: Evaluation.id, System: Submission.system_id}[type(which)]
    runs = sa.select(sa.func.count()).select_from(Submission).join(Submission.evaluation).where(own == which.id)
    if count := session.scalar(runs):
        return f"{name} has submissions ({count:,}), which stay on record; it can't be removed."
    return None


def queries_stay(session: Session, evaluation: Evaluation) -> str | None:
    """Why queries of an evaluation can't be removed any more, in words; None while they can."""
    for table, what in ((JudgmentRevision, "judgments"), (Submission, "submissions")):
        if session.scalar(sa.select(sa.exists().where(table.evaluation_id == evaluation.id))):
            return f"{evaluation.title} has {what}, so its queries stay on record; exclude what shall not count."
    return None


def find_query(session: Session, evaluation: Evaluation, external_id: str, subset: Subset = Subset.ALL) -> Query:
    """The query, if it is in the subset. Raises NotFound, which names queries of the subset only."""
    own = of_subset(evaluation.id, subset)
    query = session.scalar(sa.select(Query).where(*own, Query.external_id == external_id))
    return query or missing(session, "query", external_id, Query.external_id, *own, within=f" in {evaluation.title}")


def of_subset(evaluation_id: int, subset: Subset) -> tuple[sa.ColumnElement[bool], ...]:
    """Conditions on Query: of the evaluation, and in the subset."""
    left_out = [split for split in Split if subset.leaves_out(split)]
    return Query.evaluation_id == evaluation_id, Query.split.not_in(left_out)


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
    there = session.execute(sa.select(*(own[name].label(name) for name in opened))).one() if opened else ()
    return frozenset(compress(opened, there))


def closed_again(session: Session, evaluation: Evaluation, before: Collection[str], now: dt.datetime) -> dict[str, Any]:
    """What a change just took back of `REVEALING` that everybody could read, as facts of its event; none for nothing.

    before  what `access.open_to_all` gave before the change
    """
    closed = of_what_there_is(session, evaluation, REVEALING.intersection(before) - open_to_all(evaluation, now))
    return {CLOSED_AGAIN: sorted(closed)} if closed else {}


def once_revealed(session: Session, evaluation: Evaluation) -> frozenset[str]:
    """What of `REVEALING` everybody could read until a change of the evaluation took it back, by the audit trail."""
    of_it = (Event.subject == "evaluation", Event.subject_id == evaluation.id, Event.action == "change")
    with closing(stored_events(session, *of_it)) as events:
        facts = [stored.event.facts for stored in events if stored.event is not None]
    return REVEALING.intersection(name for own in facts for name in own.get(CLOSED_AGAIN, ()))
