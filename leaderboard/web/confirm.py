"""Asked before a change does what nobody may do unawares; one field, `confirm`, says that it is meant so."""

import sqlalchemy as sa
from flask import request
from sqlalchemy.orm import Session

from leaderboard.campaigns.models import Campaign
from leaderboard.errors import Unconfirmed
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.effects import effects
from leaderboard.web.context import actor, now, reading


def require_confirmed(
    session: Session, campaign: str, confirmed: bool, changed: sa.ColumnElement[bool] | None = None
) -> None:
    """Raises Unconfirmed, which undoes what the session has changed, with what that does at once; nothing if confirmed.

    changed  which evaluations it may be about, where those are not the campaign's
    """
    if confirmed:
        return
    own = Evaluation.campaign_id == sa.select(Campaign.id).where(Campaign.slug == campaign).scalar_subquery()
    with reading() as committed:
        found = effects(session, committed, actor(), own if changed is None else changed, now())
    if found:
        raise Unconfirmed(found)


def unconfirmed(session: Session, campaign: str, changed: sa.ColumnElement[bool] | None = None) -> tuple[str, ...]:
    """The same for a page that asks in its own way: what is to be confirmed, undone then; empty where it is kept."""
    try:
        require_confirmed(session, campaign, bool(request.form.get("confirm")), changed)
    except Unconfirmed as asked:
        session.rollback()
        return asked.effects
    return ()
