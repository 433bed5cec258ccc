"""Asking to join a team that lets itself be found, and the owners' answers."""

import datetime as dt
from collections.abc import Collection

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, require
from leaderboard.audit.writes import present, record
from leaderboard.errors import Conflict, NotAllowed, NotFound
from leaderboard.locking import locked
from leaderboard.mail.rules import MailKind
from leaderboard.mail.writes.outbox import put_wanted
from leaderboard.teams.models import JoinRequest, Membership, Team
from leaderboard.teams.reads.find import takes_requests
from leaderboard.teams.rules import Role
from leaderboard.texts import checked_text

LONGEST_TEXT = 500  # characters
MOST_OPEN = 5  # requests of one person that wait
AGAIN = dt.timedelta(days=30)  # after a refusal


def ask_to_join(session: Session, actor: Actor, team: Team, text: str) -> JoinRequest:
    """Asks the owners of a team; they are told by mail. `text`: what they read beside the account's name.

    Raises Conflict where the team takes no requests, the actor is in it, has asked already or was refused of late.
    """
    if actor.user_id is None:
        raise NotAllowed("Log in to ask a team.")
    text = checked_text(text, LONGEST_TEXT, "text")
    team = locked(session, Team, team.id)  # of two requests sent at the same moment the second finds the first
    if session.get(Membership, (team.id, actor.user_id)) is not None:
        raise Conflict(f"You are in {team.name} already.")
    if not team.is_listed:
        raise Conflict("This team takes no requests: ask one of its owners for an invitation.")
    if session.scalar(sa.select(Team.id).where(Team.id == team.id, takes_requests())) is None:
        raise Conflict(f"{team.name} has no owner who could answer: ask an admin of this site.")
    own = sa.select(JoinRequest).where(JoinRequest.user_id == actor.user_id)
    waiting = own.where(JoinRequest.answered_at.is_(None))
    if session.scalar(waiting.where(JoinRequest.team_id == team.id)) is not None:
        raise Conflict(f"You have asked {team.name} already; its owners have not answered yet.")
    answerable = waiting.join(Team, Team.id == JoinRequest.team_id).where(takes_requests())  # others hold no place
    if len(session.scalars(answerable).all()) >= MOST_OPEN:
        raise Conflict(f"{MOST_OPEN} requests of yours wait for an answer: take one back first.")
    refused = own.where(
        JoinRequest.team_id == team.id,
        JoinRequest.accepted.is_(False),
        JoinRequest.answered_at > present() - AGAIN,
    )
    if session.scalars(refused).first() is not None:
        raise Conflict(f"{team.name} has refused your request; you can ask again {AGAIN.days} days after that.")
    made = JoinRequest(team_id=team.id, user_id=actor.user_id, text=text, created_at=present())
    session.add(made)
    session.flush()
    put_wanted(session, MailKind.REQUEST, _owners(session, team), team=team.id, asker=actor.user_id)
    record(session, actor, "ask to join", team, request=made.id)
    return made


def answer_request(session: Session, actor: Actor, team: Team, request_id: int, *, accept: bool) -> JoinRequest:
    """An owner lets somebody in, or not; who asked is told by mail. Raises NotFound or Conflict."""
    owner = actor.all_powerful or (actor.user_id is not None and actor.user_id in _owners(session, team))
    require(owner, f"Only an owner of {team.name} may do this.")
    locked(session, Team, team.id)
    request = session.get(JoinRequest, request_id, populate_existing=True)
    if request is None or request.team_id != team.id:
        raise NotFound
    if request.answered_at is not None:
        raise Conflict("This request was answered already.")
    now = present()
    request.answered_at, request.answered_by_id, request.accepted = now, actor.user_id, accept
    if accept and session.get(Membership, (team.id, request.user_id)) is None:
        session.add(Membership(team_id=team.id, user_id=request.user_id, role=Role.MEMBER, joined_at=now))
    put_wanted(session, MailKind.ANSWER, [request.user_id], team=team.id, accepted=accept)
    record(session, actor, "accept request" if accept else "refuse request", team, request=request.id)
    return request


def take_back(session: Session, actor: Actor, team: Team) -> None:
    """Takes the actor's own open request back. Raises Conflict when there is none."""
    request = session.scalar(
        sa.select(JoinRequest).where(
            JoinRequest.team_id == team.id,
            JoinRequest.user_id == actor.user_id,
            JoinRequest.answered_at.is_(None),
        )
    )
    if request is None:
        raise Conflict(f"No request of yours waits at {team.name}.")
    session.delete(request)
    record(session, actor, "take request back", team, request=request.id)


def end_requests(session: Session, actor: Actor, team: Team) -> None:
    """Ends what waits at a team that nobody is in any more: nobody would answer. Who asked is told by mail.

    It is no refusal: they may ask again as soon as the team has an owner. Does nothing while somebody is in the team.
    """
    session.flush()
    if session.scalar(sa.select(Membership.user_id).where(Membership.team_id == team.id).limit(1)) is not None:
        return
    waiting = sa.select(JoinRequest).where(JoinRequest.team_id == team.id, JoinRequest.answered_at.is_(None))
    for request in session.scalars(waiting.order_by(JoinRequest.id)).all():
        session.delete(request)
        put_wanted(session, MailKind.ANSWER, [request.user_id], team=team.id, accepted=None)
        record(session, actor, "end request", team, request=request.id)


def end_requests_of(session: Session, actor: Actor, team: Team, user_ids: Collection[int]) -> None:
    """Ends the requests of people who have come into the team without an answer, such as by an invitation.

    Else an owner could answer one once its sender has left again, and let them in anew.
    """
    own = JoinRequest.user_id.in_(user_ids), JoinRequest.answered_at.is_(None)
    for request in session.scalars(sa.select(JoinRequest).where(JoinRequest.team_id == team.id, *own)).all():
        session.delete(request)
        record(session, actor, "end request", team, request=request.id)


def _owners(session: Session, team: Team) -> list[int]:
    owners = sa.select(Membership.user_id).where(Membership.team_id == team.id, Membership.role == Role.OWNER)
    return list(session.scalars(owners.order_by(Membership.user_id)))
