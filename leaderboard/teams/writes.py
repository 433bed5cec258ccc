"""Systems: what a team works on over the years, and the random numbers that name them while names are hidden.

Teams: made, renamed, joined by a link that works once or by asking, and left.
"""

import secrets
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, organises_all_entered, require
from leaderboard.accounts.models import User
from leaderboard.accounts.rules import token_hash
from leaderboard.audit.writes import assign, present, record
from leaderboard.db import add_or_refuse, exists, insert_unless_there, locked, or_refuse
from leaderboard.declared.inputs import Inputs, checked
from leaderboard.errors import Conflict, Gathered, InvalidFields, NotAllowed, NotFound, Unconfirmed
from leaderboard.frozen import frozen
from leaderboard.mail.rules import MailKind
from leaderboard.mail.writes import put_wanted
from leaderboard.names import checked_name, checked_slug, free_slug, slug_of
from leaderboard.submissions.rules import SystemKind
from leaderboard.teams import reads
from leaderboard.teams.inputs import LONGEST_DESCRIPTION, SystemSettings, TeamSettings
from leaderboard.teams.models import (
    FormerAddress,
    Invitation,
    JoinRequest,
    Membership,
    Pseudonym,
    System,
    Team,
    TeamName,
)
from leaderboard.teams.rules import Role
from leaderboard.texts import checked_text


@frozen
class NewSystem:
    """What a team says about a system that it makes."""

    name: str
    kind: SystemKind = SystemKind.AUTOMATIC
    description: str = ""
    code_url: str = ""
    paper_url: str = ""


def create_system(session: Session, actor: Actor, team: Team, new: NewSystem, slug: str = "") -> System:
    """A system of the team. Its name is its own within the team; a baseline is made by organisers only.

    slug  where it comes from another installation, unless it is taken here; made from the name otherwise
    """
    organiser = actor.all_powerful or bool(actor.organises)
    require(actor.is_in(team.id) or organiser, "Only members of the team may do this.")
    require(new.kind is not SystemKind.BASELINE or organiser, "Only organisers make baselines.")
    wrong = Gathered()
    with wrong:
        settings = _settings(SystemSettings, new)
    with wrong:
        shown, key = checked_name(new.name)
        same = System.team_id == team.id, System.name_key == key
        if (other := session.scalar(sa.select(System.name).where(*same))) is not None:
            raise InvalidFields({"name": [f"{team.name} has a system {other!r}; choose it, or give another name"]})
    wrong.raise_any()
    slug = free_system_slug(session, team.id, slug or shown)
    system = System(team_id=team.id, slug=slug, name=shown, name_key=key, created_at=present(), **settings)
    add_or_refuse(session, system, InvalidFields({"name": ["somebody of your team just made this system"]}))
    record(session, actor, "create", system, name=system.name, team=team.id, kind=new.kind.value)
    return system


def _settings(model: type[Inputs], row: object, **changes: Any) -> dict[str, Any]:
    """What a row says of the model's settings, with these changes, checked."""
    return checked(model, {name: getattr(row, name) for name in model.model_fields} | changes).model_dump()


def change_system(session: Session, actor: Actor, system: System, **changes: Any) -> None:
    """Changes what is said about a system; what is left out stays, and so does its name: boards of past years show it.

    Its team changes the description and the links. Its kind is changed by whoever organises all campaigns that it has
    runs in: as a baseline it is ranked on none of their boards.
    """
    organiser = organises_all_entered(session, actor, system_id=system.id)
    require(actor.is_in(system.team_id) or organiser, "Only members of the team and organisers describe a system.")
    settings = _settings(SystemSettings, system, **changes)
    require(
        settings["kind"] is system.kind or organiser,
        "Only whoever organises every campaign that a system has runs in changes its kind.",
    )
    if assign(locked(session, System, system.id), **settings):
        record(session, actor, "change", system)


def free_system_slug(session: Session, team_id: int, name: str) -> str:
    """A slug that no system of the team has, made from the name."""
    taken = set(session.scalars(sa.select(System.slug).where(System.team_id == team_id)))
    return free_slug(slug_of(name) or "system", taken.__contains__)


NUMBERS = 16**6  # of one installation, over all evaluations


def ensure_pseudonym(session: Session, evaluation_id: int, system_id: int) -> None:
    """Draws the system's number in the evaluation, where it has none yet."""
    key = (evaluation_id, system_id)
    while session.get(Pseudonym, key) is None:  # the number may be another's: drawn again
        number = secrets.randbelow(NUMBERS)
        insert_unless_there(session, Pseudonym, evaluation_id=evaluation_id, system_id=system_id, number=number)


JUST_TAKEN = "somebody just took this name"
TAKEN = "this name is taken: another team is called so, or was, or too much like it; choose another"


def create_team(
    session: Session, actor: Actor, name: str, slug: str | None = None, description: str = "", *, own: bool = True
) -> Team:
    """A team with the actor as its owner (none when made on the command line: add members there).

    own  False for a team of the past that is brought in with its runs, which organisers do: nobody owns it then
    """
    require(actor.user_id is not None or actor.all_powerful, "Sign in to make a team.")
    require(own or actor.all_powerful or bool(actor.organises), "Only organisers bring in teams of others.")
    shown, key, slug = _checked_names(session, name, slug)
    description = checked_text(description, LONGEST_DESCRIPTION, "description")
    names = [TeamName(name_key=key)]
    team = Team(slug=slug, name=shown, names=names, description=description, created_at=present())
    add_or_refuse(session, team, InvalidFields({"name": [JUST_TAKEN]}))
    if own and actor.user_id is not None:
        _join(session, team, actor.user_id, Role.OWNER)
    record(session, actor, "create", team, name=team.name)
    return team


def free_team(session: Session, actor: Actor, name: str) -> Team:
    """A team of nobody's, called so, or as nearly as names of teams may be."""
    for nearly in (name, *(f"{slug_of(name)[:40]} {number}" for number in range(2, 100))):
        with suppress(InvalidFields):
            return create_team(session, actor, nearly, own=False)
    raise InvalidFields({"name": [TAKEN]})


def _join(session: Session, team: Team, user_id: int, role: Role = Role.MEMBER) -> None:
    session.add(Membership(team_id=team.id, user_id=user_id, role=role, joined_at=present()))


def change_team(session: Session, actor: Actor, team: Team, **changes: Any) -> None:
    """What the team says about itself, and whether others find it and may ask to join; what is left out stays.

    Its name is for organisers to change (`rename_team`): boards show it.
    """
    _require_owner(session, actor, team)
    if assign(team, **_settings(TeamSettings, team, **changes)):
        record(session, actor, "change", team)


def rename_team(session: Session, actor: Actor, team: Team, name: str, slug: str | None = None) -> None:
    """Gives a team another name; what it was called stays its own, and its old address leads to the new one.

    Admins do so, and whoever organises every campaign that the team took part in: boards of all years show the name.

    slug  its part of an address, made from the name when not given
    """
    require(
        organises_all_entered(session, actor, team_id=team.id),
        f"{team.name} is renamed by admins and by whoever organises every campaign that it took part in.",
    )
    team = locked(session, Team, team.id)
    if team.merged_into_id is not None:
        raise Conflict(f"{team.name} was merged into another team.")
    old_name, old_slug = team.name, team.slug
    shown, key, slug = _checked_names(session, name, slug, team)
    if (old_name, old_slug) == (shown, slug):
        return
    if slug != old_slug:
        insert_unless_there(session, FormerAddress, team_slug=old_slug, system_slug="", team_id=team.id)
    with or_refuse(session, InvalidFields({"name": [JUST_TAKEN]})):
        # In this order, as for a new team: two that ask for one name wait for each other in no circle.
        team.name, team.slug = shown, slug
        session.flush()
        bearer = reads.team_called(session, key)
        if bearer is None or reads.merged(session, bearer).id != team.id:  # another's since it was looked up: refused
            session.add(TeamName(name_key=key, team_id=team.id))
    record(session, actor, "rename", team, name=[old_name, shown], slug=[old_slug, slug])


def _checked_names(session: Session, name: str, slug: str | None, team: Team | None = None) -> tuple[str, str, str]:
    """The name that a team is given with its key, and its part of an address, made from the name where none is given.

    Raises InvalidFields (name, slug) for what can't be one, and for what another team has or ever had, without saying
    which.
    """

    def is_taken(slug: str) -> bool:
        bearer = reads.known_team(session, slug)
        return bearer is not None and bearer is not team

    shown, key = checked_name(name)
    bearer = reads.team_called(session, key)
    if bearer and reads.merged(session, bearer) is not team:
        raise InvalidFields({"name": [TAKEN]})
    if not slug:
        slug = team.slug if team and shown == team.name else free_slug(slug_of(shown) or "team", is_taken)
    elif is_taken(slug := checked_slug(slug)):
        raise InvalidFields({"slug": [f"{slug!r} is taken"]})
    return shown, key, slug


def add_member(session: Session, actor: Actor, team: Team, user: User, role: Role | None = None) -> None:
    """Puts somebody into a team, or gives a member another role, without asking: admins only. role: None for a new
    member, and for one whose role stays.
    """
    require(actor.all_powerful, "Only an admin adds people to a team; invite them instead.")
    membership = session.get(Membership, (team.id, user.id))
    if membership is None:
        _join(session, team, user.id, role := role or Role.MEMBER)
    elif role is None or not assign(membership, role=role):
        return
    record(session, actor, "add member", team, user=user.id, role=role.value)
    end_requests(session, actor, team)


def change_role(session: Session, actor: Actor, team: Team, user_id: int | None, role: Role) -> None:
    """Makes a member an owner, or an owner a member. Raises Conflict when no owner would be left."""
    _require_owner(session, actor, team)
    membership = _locked_member(session, team, user_id)
    if role is not Role.OWNER and _owners(session, team) == [user_id]:
        raise Conflict(NO_OWNER.format(team.name))
    if assign(membership, role=role):
        record(session, actor, "change role", team, user=user_id, role=role.value)


def invite(session: Session, actor: Actor, team: Team, days: int) -> str:
    """The token of a link that lets one person into the team within `days` days. It is shown once, never kept."""
    _require_owner(session, actor, team)
    token = secrets.token_urlsafe(24)
    now = present()
    invitation = Invitation(
        team_id=team.id, token_hash=token_hash(token), created_by_id=actor.user_id, created_at=now,
        expires_at=now + timedelta(days=days),
    )  # fmt: skip
    session.add(invitation)
    session.flush()
    record(session, actor, "invite", team, invitation=invitation.id, days=days)
    return token


def find_invitation(session: Session, token: str, now: datetime) -> Invitation:
    """The invitation behind a link that works. Raises Conflict otherwise, whatever the reason."""
    of_token = Invitation.token_hash == token_hash(token)
    invitation = session.scalar(sa.select(Invitation).where(of_token, reads.open_invitation(now)))
    if invitation is None:
        raise Conflict(
            "This invitation does not work, or no longer: it was used, taken back or has expired, or whoever made it "
            "may invite no more. Ask the team for a new link."
        )
    return invitation


def joined_by(session: Session, actor: Actor, token: str) -> Team | None:
    """The team that the actor is in and this link, used or not, invites to."""
    team = session.scalar(sa.select(Team).join(Invitation).where(Invitation.token_hash == token_hash(token)))
    return team if team is not None and actor.is_in(team.id) else None


def accept_invitation(session: Session, actor: Actor, token: str, now: datetime) -> Team:
    """Joins the team that a link invites to, and uses the link up."""
    if actor.user_id is None:
        raise NotAllowed("Sign in or register first; then open the link again.")
    invitation = find_invitation(session, token, now)
    # Looked at again under locks: two people may follow one link at the same moment, or its maker be taken out.
    team = locked(session, Team, invitation.team_id, shared=True)
    locked(session, Invitation, invitation.id)
    find_invitation(session, token, now)
    if session.get(Membership, (team.id, actor.user_id)) is not None:
        raise Conflict(f"You are in {team.name} already; the link still works for somebody else.")
    _join(session, team, actor.user_id)
    invitation.used_at, invitation.used_by_id = now, actor.user_id
    record(session, actor, "join", team, invitation=invitation.id)
    end_requests(session, actor, team)
    return team


def revoke_invitation(session: Session, actor: Actor, team: Team, invitation_id: int) -> None:
    """Takes a link back that nobody has used. Raises NotFound, and Conflict for one that was used or taken back."""
    _require_owner(session, actor, team)
    invitation = locked(session, Invitation, invitation_id)
    if invitation.team_id != team.id:
        raise NotFound
    if invitation.used_at is not None or invitation.revoked_at is not None:
        raise Conflict("This invitation works no longer: it was used, or taken back already.")
    invitation.revoked_at = present()
    record(session, actor, "revoke", invitation)


def remove_member(session: Session, actor: Actor, team: Team, user_id: int | None, *, confirm: bool = True) -> None:
    """Takes somebody out of the team, as an owner does, or leaves it; its runs and systems stay.

    The last owner hands over first. The last member has to confirm: nobody is in the team then.
    """
    leaves = user_id is not None and user_id == actor.user_id
    if not leaves:
        _require_owner(session, actor, team)
    membership = _locked_member(session, team, user_id)
    is_last = not exists(session, Membership.team_id == team.id, Membership.user_id != user_id)
    if not is_last and _owners(session, team) == [user_id]:
        raise Conflict(NO_OWNER.format(team.name))
    if is_last and not confirm:
        raise Unconfirmed([reads.EMPTIED])
    session.delete(membership)
    record(session, actor, "leave" if leaves else "remove member", team, user=user_id)


def _locked_member(session: Session, team: Team, user_id: int | None) -> Membership:
    """Of the locked team: two owners who leave at the same moment would leave it without one. Raises NotFound."""
    locked(session, Team, team.id)
    membership = session.get(Membership, (team.id, user_id), populate_existing=True)
    if membership is None:
        raise NotFound(f"This account is not in {team.name}.")
    return membership


def _require_owner(session: Session, actor: Actor, team: Team) -> None:
    owner = actor.all_powerful or (actor.user_id is not None and actor.user_id in _owners(session, team))
    require(owner, f"Only an owner of {team.name} may do this.")


def _owners(session: Session, team: Team) -> list[int]:
    owners = sa.select(Membership.user_id).where(Membership.team_id == team.id, Membership.role == Role.OWNER)
    return list(session.scalars(owners))


NO_OWNER = "{} would be left without an owner: make another member its owner first."
MOST_OPEN = 5  # requests of one person that wait
AGAIN = timedelta(days=30)  # after a refusal


def ask_to_join(session: Session, actor: Actor, team: Team, text: str) -> JoinRequest:
    """Asks the owners of a team; they are told by mail. `text`: what they read beside the account's name.

    Raises Conflict where the team takes no requests, the actor is in it, has asked already or was refused of late.
    """
    if actor.user_id is None:
        raise NotAllowed("Log in to ask a team.")
    team = locked(session, Team, team.id)  # of two requests sent at the same moment the second finds the first
    own = JoinRequest.user_id == actor.user_id
    here = own, JoinRequest.team_id == team.id
    if session.get(Membership, (team.id, actor.user_id)) is not None:
        raise Conflict(f"You are in {team.name} already.")
    if not exists(session, Team.id == team.id, reads.takes_requests()):
        raise Conflict("This team takes no requests: ask one of its owners for an invitation.")
    if exists(session, *here, JoinRequest.waits()):
        raise Conflict(f"You have asked {team.name} already; its owners have not answered yet.")
    if len(session.scalars(sa.select(JoinRequest.id).where(own, JoinRequest.waits())).all()) >= MOST_OPEN:
        raise Conflict(f"{MOST_OPEN} requests of yours wait for an answer: take one back first.")
    if exists(session, *here, JoinRequest.accepted.is_(False), JoinRequest.answered_at > present() - AGAIN):
        raise Conflict(f"{team.name} has refused your request; you can ask again {AGAIN.days} days after that.")
    request = JoinRequest(team_id=team.id, user_id=actor.user_id, text=text, created_at=present())
    session.add(request)
    session.flush()
    put_wanted(session, MailKind.REQUEST, _owners(session, team), team=team.id, asker=actor.user_id)
    record(session, actor, "ask to join", team, request=request.id)
    return request


def answer_request(session: Session, actor: Actor, team: Team, request_id: int, *, accept: bool) -> None:
    """An owner lets somebody in, or not; who asked is told by mail. Raises NotFound or Conflict."""
    _require_owner(session, actor, team)
    locked(session, Team, team.id)
    request = locked(session, JoinRequest, request_id)
    if request.team_id != team.id:
        raise NotFound
    if request.answered_at is not None:
        raise Conflict("This request was answered already.")
    request.answered_at, request.answered_by_id, request.accepted = present(), actor.user_id, accept
    if accept and session.get(Membership, (team.id, request.user_id)) is None:
        _join(session, team, request.user_id)
    put_wanted(session, MailKind.ANSWER, [request.user_id], team=team.id, accepted=accept)
    record(session, actor, "accept request" if accept else "refuse request", team, request=request.id)


def take_back(session: Session, actor: Actor, team: Team) -> None:
    """Takes the actor's own open request back. Raises Conflict when there is none."""
    own = JoinRequest.team_id == team.id, JoinRequest.user_id == actor.user_id, JoinRequest.waits()
    request = session.scalar(sa.select(JoinRequest).where(*own))
    if request is None:
        raise Conflict(f"No request of yours waits at {team.name}.")
    session.delete(request)
    record(session, actor, "take request back", team, request=request.id)


def end_requests(session: Session, actor: Actor, team: Team) -> None:
    """Ends the requests to join of people who have come into the team without an answer, such as by an invitation.

    Else an owner could answer one once its sender has left again, and let them in anew.
    """
    session.flush()
    members = sa.select(Membership.user_id).where(Membership.team_id == team.id)
    overtaken = JoinRequest.team_id == team.id, JoinRequest.waits(), JoinRequest.user_id.in_(members)
    for request in session.scalars(sa.select(JoinRequest).where(*overtaken)).all():
        session.delete(request)
        record(session, actor, "end request", team, request=request.id)
