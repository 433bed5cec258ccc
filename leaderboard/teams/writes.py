"""Systems: what a team works on over the years, and the random numbers that name them while names are hidden.

Teams: made, renamed, joined by a link that works once or by asking, and left.
"""

import datetime as dt
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, may_change_kind, may_rename, require
from leaderboard.accounts.models import User
from leaderboard.accounts.rules import token_hash
from leaderboard.audit.writes import assign, present, record
from leaderboard.db import add_or_refuse, insert_unless_there, locked, or_refuse
from leaderboard.declared.inputs import checked
from leaderboard.errors import Conflict, Gathered, InvalidFields, NotAllowed, NotFound
from leaderboard.mail.rules import MailKind
from leaderboard.mail.writes import put_wanted
from leaderboard.names import NAME_TAKEN, checked_name, checked_slug, free_slug, name_key, slug_of
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import SystemKind
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
from leaderboard.teams.reads.find import is_known_team, merged_team, open_invitation, takes_requests, team_called
from leaderboard.teams.rules import Role
from leaderboard.texts import checked_text


@dataclass(frozen=True, slots=True)
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
    shown, key = new.name, ""
    with wrong:
        settings = checked(SystemSettings, {name: getattr(new, name) for name in SystemSettings.model_fields})
    with wrong:
        shown, key = checked_name(new.name)
        other = session.scalar(sa.select(System.name).where(System.team_id == team.id, System.name_key == key))
        if other is not None:
            raise InvalidFields({"name": [f"{team.name} has a system {other!r}; choose it, or give another name"]})
    wrong.raise_any()
    system = System(
        team_id=team.id,
        slug=free_system_slug(session, team.id, slug or shown),
        name=shown,
        name_key=key,
        created_at=present(),
        **settings.model_dump(),
    )
    add_or_refuse(session, system, InvalidFields({"name": ["somebody of your team just made this system"]}))
    record(session, actor, "create", system, name=system.name, team=team.id, kind=new.kind.value)
    return system


def change_system(session: Session, actor: Actor, system: System, **changes: Any) -> None:
    """Changes what is said about a system; what is left out stays, and so does its name: boards of past years show it.

    Its team changes the description and the links. Its kind is changed by whoever organises all campaigns that it has
    runs in: as a baseline it is ranked on none of their boards.
    """
    organiser = may_change_kind(session, actor, system.id)
    require(actor.is_in(system.team_id) or organiser, "Only members of the team and organisers describe a system.")
    current = {name: getattr(system, name) for name in SystemSettings.model_fields}
    settings = checked(SystemSettings, current | changes).model_dump()
    require(
        settings["kind"] is system.kind or organiser,
        "Only whoever organises every campaign that a system has runs in changes its kind.",
    )
    if assign(locked(session, System, system.id), **settings):
        record(session, actor, "change", system)


def unused_system(session: Session, team: Team, name: str, kind: SystemKind) -> System | None:
    """The team's system of this name and kind, as long as every file sent for it was rejected."""
    good = sa.exists().where(Submission.system_id == System.id, Submission.problem_count == 0)
    same = System.team_id == team.id, System.name_key == name_key(name), System.kind == kind
    return session.scalar(sa.select(System).where(*same, ~good))


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


def hand_over_pseudonyms(session: Session, source_id: int, target_id: int) -> None:
    """Two systems become one: where the target has a number it keeps it, elsewhere it gets the source's."""
    has = sa.select(Pseudonym.evaluation_id).where(Pseudonym.system_id == target_id)
    lacking = Pseudonym.system_id == source_id, Pseudonym.evaluation_id.not_in(has)
    session.execute(
        sa.update(Pseudonym).where(*lacking).values(system_id=target_id),
        execution_options={"synchronize_session": False},
    )


JUST_TAKEN = "somebody just took this name"


def create_team(
    session: Session, actor: Actor, name: str, slug: str | None = None, description: str = "", *, own: bool = True
) -> Team:
    """A team with the actor as its owner (none when made on the command line: add members there).

    own  False for a team of the past that is brought in with its runs, which organisers do: nobody owns it then
    """
    require(actor.user_id is not None or actor.all_powerful, "Sign in to make a team.")
    require(own or actor.all_powerful or bool(actor.organises), "Only organisers bring in teams of others.")
    wrong = Gathered()
    shown = key = ""
    with wrong:
        shown, key, slug = _checked_names(session, actor, name, slug)
    with wrong:
        description = checked_text(description, LONGEST_DESCRIPTION, "description")
    wrong.raise_any()
    team = Team(
        slug=slug or _free_slug(session, shown),
        name=shown,
        names=[TeamName(name_key=key)],
        description=description,
        created_at=present(),
    )
    add_or_refuse(session, team, InvalidFields({"name": [JUST_TAKEN]}))
    if own and actor.user_id is not None:
        session.add(Membership(team_id=team.id, user_id=actor.user_id, role=Role.OWNER, joined_at=present()))
    record(session, actor, "create", team, name=team.name)
    return team


def change_team(session: Session, actor: Actor, team: Team, **changes: Any) -> None:
    """What the team says about itself, and whether others find it and may ask to join; what is left out stays.

    Its name is for organisers to change (`rename_team`): boards show it.
    """
    _require_owner(session, actor, team)
    current = {name: getattr(team, name) for name in TeamSettings.model_fields}
    if assign(team, **checked(TeamSettings, current | changes).model_dump()):
        record(session, actor, "change", team)


def rename_team(session: Session, actor: Actor, team: Team, name: str, slug: str | None = None) -> None:
    """Gives a team another name; what it was called stays its own, and its old address leads to the new one.

    Admins do so, and whoever organises every campaign that the team took part in: boards of all years show the name.

    slug  its part of an address, made from the name when not given
    """
    require(
        may_rename(session, actor, team.id),
        f"{team.name} is renamed by admins and by whoever organises every campaign that it took part in.",
    )
    team = locked(session, Team, team.id)
    if team.merged_into_id is not None:
        raise Conflict(f"{team.name} was merged into another team.")
    shown, key, slug = _checked_names(session, actor, name, slug, team)
    before = {"name": team.name, "slug": team.slug}
    slug = slug or (team.slug if shown == team.name else _free_slug(session, shown, team.id))
    if before == {"name": shown, "slug": slug}:
        return
    if slug != team.slug:
        former = FormerAddress.team_slug == slug, FormerAddress.system_slug == ""
        session.execute(sa.delete(FormerAddress).where(*former))
        insert_unless_there(session, FormerAddress, team_slug=team.slug, system_slug="", team_id=team.id)
    with or_refuse(session, InvalidFields({"name": [JUST_TAKEN]})):
        # In this order, as for a new team: two that ask for one name wait for each other in no circle.
        team.name, team.slug = shown, slug
        session.flush()
        bearer = team_called(session, key)
        if bearer is None:
            session.add(TeamName(name_key=key, team_id=team.id))
        elif merged_team(session, bearer).id != team.id:  # since it was looked up
            raise InvalidFields({"name": [JUST_TAKEN]})
    record(session, actor, "rename", team, name=[before["name"], shown], slug=[before["slug"], slug])


def _checked_names(
    session: Session, actor: Actor, name: str, slug: str | None, team: Team | None = None
) -> tuple[str, str, str | None]:
    """The name that a team is given with its key, and its part of an address where one is given.

    Raises InvalidFields (name, slug) for what can't be one, and for what another team has or ever had.
    """
    of_team = None if team is None else team.id
    wrong = Gathered()
    shown = key = ""
    with wrong:
        shown, key = checked_name(name)
        _require_free(session, actor, key, of_team)
    with wrong:
        slug = checked_slug(slug) if slug else None
        if slug and (team is None or slug != team.slug) and _is_taken(session, slug, of_team):
            raise InvalidFields({"slug": [f"{slug!r} is taken"]})
    wrong.raise_any()
    return shown, key, slug


def add_member(session: Session, actor: Actor, team: Team, user: User, role: Role = Role.MEMBER) -> Membership:
    """Puts somebody into a team, or gives a member another role, without asking: admins only."""
    require(actor.all_powerful, "Only an admin adds people to a team; invite them instead.")
    membership = session.get(Membership, (team.id, user.id))
    if membership is not None and membership.role is role:
        return membership
    if membership is None:
        membership = Membership(team_id=team.id, user_id=user.id, role=role, joined_at=present())
        session.add(membership)
    membership.role = role
    record(session, actor, "add member", team, user=user.id, role=role.value)
    end_requests(session, actor, team, [user.id])
    return membership


def change_role(session: Session, actor: Actor, team: Team, user_id: int | None, role: str) -> None:
    """Makes a member an owner, or an owner a member. Raises Conflict when no owner would be left."""
    _require_owner(session, actor, team)
    if role not in set(Role):
        raise InvalidFields({"role": [f"expected {' or '.join(Role)}"]})
    locked(session, Team, team.id)
    membership = session.get(Membership, (team.id, user_id), populate_existing=True)
    if membership is None:
        raise NotFound(f"This account is not in {team.name}.")
    if role != Role.OWNER and _owners(session, team) == [user_id]:
        raise Conflict(NO_OWNER.format(team.name))
    if assign(membership, role=Role(role)):
        record(session, actor, "change role", team, user=user_id, role=role)


def invite(session: Session, actor: Actor, team: Team, days: int = 7) -> str:
    """The token of a link that lets one person into the team within `days` days. It is shown once, never kept."""
    _require_owner(session, actor, team)
    token = secrets.token_urlsafe(24)
    now = present()
    invitation = Invitation(
        team_id=team.id, token_hash=token_hash(token), created_by_id=actor.user_id, created_at=now,
        expires_at=now + dt.timedelta(days=days),
    )  # fmt: skip
    session.add(invitation)
    session.flush()
    record(session, actor, "invite", team, invitation=invitation.id, days=days)
    return token


def find_invitation(session: Session, token: str, now: dt.datetime | None = None) -> Invitation:
    """The invitation behind a link that works. Raises NotFound for none, Conflict for one that works no longer."""
    works = open_invitation(now or present())
    row = session.execute(sa.select(Invitation, works).where(Invitation.token_hash == token_hash(token))).one_or_none()
    if row is None:
        raise NotFound
    if not row[1]:
        raise Conflict(
            "This invitation works no longer: it was used, taken back or has expired, or whoever made it may invite no "
            "more. Ask the team for a new link."
        )
    return row[0]


def joined_by(session: Session, actor: Actor, token: str) -> Team | None:
    """The team that the actor is in and this link, used or not, invites to."""
    team = session.scalar(sa.select(Team).join(Invitation).where(Invitation.token_hash == token_hash(token)))
    return team if team is not None and actor.is_in(team.id) else None


def accept_invitation(session: Session, actor: Actor, token: str, now: dt.datetime | None = None) -> Team:
    """Joins the team that a link invites to, and uses the link up."""
    if actor.user_id is None:
        raise NotAllowed("Sign in or register first; then open the link again.")
    now = now or present()
    known = find_invitation(session, token, now)
    # Looked at again under locks: two people may follow one link at the same moment, or its maker be taken out.
    locked(session, Team, known.team_id, shared=True)
    invitation = locked(session, Invitation, known.id)
    find_invitation(session, token, now)
    team = session.get_one(Team, invitation.team_id)
    if session.get(Membership, (team.id, actor.user_id)) is not None:
        raise Conflict(f"You are in {team.name} already; the link still works for somebody else.")
    session.add(Membership(team_id=team.id, user_id=actor.user_id, role=Role.MEMBER, joined_at=now))
    invitation.used_at, invitation.used_by_id = now, actor.user_id
    record(session, actor, "join", team, invitation=invitation.id)
    end_requests(session, actor, team, [actor.user_id])
    return team


def revoke_invitation(session: Session, actor: Actor, invitation: Invitation) -> None:
    """Takes a link back that nobody has used."""
    _require_owner(session, actor, session.get_one(Team, invitation.team_id))
    invitation = locked(session, Invitation, invitation.id)
    if invitation.used_at is not None:
        raise Conflict("This invitation was used already; take the person out of the team instead.")
    if invitation.revoked_at is None:
        invitation.revoked_at = present()
        record(session, actor, "revoke", invitation)


def remove_member(session: Session, actor: Actor, team: Team, user_id: int | None) -> bool:
    """Takes somebody out of the team, as an owner does, or leaves it; its runs and systems stay.

    The last owner hands over first. Whether it was the last member: nobody is in the team then, and the requests that
    wait there end.
    """
    leaves = user_id is not None and user_id == actor.user_id
    if not leaves:
        _require_owner(session, actor, team)
    locked(session, Team, team.id)  # two owners who leave at the same moment would leave the team without one
    members = {row.user_id: row for row in session.scalars(sa.select(Membership).where(Membership.team_id == team.id))}
    if user_id not in members:
        raise NotFound(f"This account is not in {team.name}.")
    if len(members) > 1 and _owners(session, team) == [user_id]:
        raise Conflict(NO_OWNER.format(team.name))
    session.delete(members[user_id])
    if leaves:
        record(session, actor, "leave", team)
    else:
        record(session, actor, "remove member", team, user=user_id)
    end_requests(session, actor, team)
    return len(members) == 1


def _require_owner(session: Session, actor: Actor, team: Team) -> None:
    owner = actor.all_powerful or (actor.user_id is not None and actor.user_id in _owners(session, team))
    require(owner, f"Only an owner of {team.name} may do this.")


def _owners(session: Session, team: Team) -> list[int]:
    owners = sa.select(Membership.user_id).where(Membership.team_id == team.id, Membership.role == Role.OWNER)
    return list(session.scalars(owners.order_by(Membership.user_id)))


def _require_free(session: Session, actor: Actor, key: str, of_team: int | None) -> None:
    """Raises InvalidFields (name) where another team has the name, or ever had it; which, for those who may know."""
    bearer = team_called(session, key)
    if bearer is None:
        return
    other = merged_team(session, bearer)
    if other.id == of_team:
        return
    if not is_known_team(session, actor, other, present()):
        raise InvalidFields({"name": [NAME_TAKEN]})
    was = f"the team {other.name!r} is called so, or was, and a name stays its team's"
    raise InvalidFields({"name": [f"{was}: choose one that is not so close, or merge the two if they are one"]})


def _is_taken(session: Session, slug: str, of_team: int | None = None) -> bool:
    """Whether another team has this part of an address, or had it."""
    has = sa.select(Team.id).where(Team.slug == slug)
    had = sa.select(FormerAddress.team_id).where(FormerAddress.team_slug == slug, FormerAddress.system_slug == "")
    return any(team != of_team for team in session.scalars(has.union_all(had)))


def _free_slug(session: Session, name: str, of_team: int | None = None) -> str:
    """A slug that no other team has or had, made from the name."""
    return free_slug(slug_of(name) or "team", lambda slug: _is_taken(session, slug, of_team))


NO_OWNER = "{} would be left without an owner: make another member its owner first."
MOST_OPEN = 5  # requests of one person that wait
AGAIN = dt.timedelta(days=30)  # after a refusal


def ask_to_join(session: Session, actor: Actor, team: Team, text: str) -> JoinRequest:
    """Asks the owners of a team; they are told by mail. `text`: what they read beside the account's name.

    Raises Conflict where the team takes no requests, the actor is in it, has asked already or was refused of late.
    """
    if actor.user_id is None:
        raise NotAllowed("Log in to ask a team.")
    team = locked(session, Team, team.id)  # of two requests sent at the same moment the second finds the first
    if session.get(Membership, (team.id, actor.user_id)) is not None:
        raise Conflict(f"You are in {team.name} already.")
    if session.scalar(sa.select(Team.id).where(Team.id == team.id, takes_requests())) is None:
        raise Conflict("This team takes no requests: ask one of its owners for an invitation.")
    own = sa.select(JoinRequest).where(JoinRequest.user_id == actor.user_id)
    waiting = own.where(JoinRequest.answered_at.is_(None))
    if session.scalar(waiting.where(JoinRequest.team_id == team.id)) is not None:
        raise Conflict(f"You have asked {team.name} already; its owners have not answered yet.")
    answerable = waiting.join(Team, Team.id == JoinRequest.team_id).where(takes_requests())  # others hold no place
    if len(session.scalars(answerable).all()) >= MOST_OPEN:
        raise Conflict(f"{MOST_OPEN} requests of yours wait for an answer: take one back first.")
    refused = JoinRequest.accepted.is_(False), JoinRequest.answered_at > present() - AGAIN
    if session.scalars(own.where(JoinRequest.team_id == team.id, *refused)).first() is not None:
        raise Conflict(f"{team.name} has refused your request; you can ask again {AGAIN.days} days after that.")
    made = JoinRequest(team_id=team.id, user_id=actor.user_id, text=text, created_at=present())
    session.add(made)
    session.flush()
    put_wanted(session, MailKind.REQUEST, _owners(session, team), team=team.id, asker=actor.user_id)
    record(session, actor, "ask to join", team, request=made.id)
    return made


def answer_request(session: Session, actor: Actor, team: Team, request_id: int, *, accept: bool) -> JoinRequest:
    """An owner lets somebody in, or not; who asked is told by mail. Raises NotFound or Conflict."""
    _require_owner(session, actor, team)
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
    own = JoinRequest.team_id == team.id, JoinRequest.user_id == actor.user_id, JoinRequest.answered_at.is_(None)
    request = session.scalar(sa.select(JoinRequest).where(*own))
    if request is None:
        raise Conflict(f"No request of yours waits at {team.name}.")
    session.delete(request)
    record(session, actor, "take request back", team, request=request.id)


def end_requests(session: Session, actor: Actor, team: Team, joined: Collection[int] = ()) -> None:
    """Ends requests to join that nobody should answer any more.

    joined  people who have come into the team without an answer, such as by an invitation: else an owner could answer a
            request once its sender has left again, and let them in anew. Without any, all that wait at a team that
            nobody is in any more. That is no refusal: who asked is told by mail, and may ask again as soon as the team
            has an owner
    """
    session.flush()
    waiting = sa.select(JoinRequest).where(JoinRequest.team_id == team.id, JoinRequest.answered_at.is_(None))
    if joined:
        waiting = waiting.where(JoinRequest.user_id.in_(joined))
    elif session.scalar(sa.select(Membership.user_id).where(Membership.team_id == team.id).limit(1)) is not None:
        return
    for request in session.scalars(waiting.order_by(JoinRequest.id)).all():
        session.delete(request)
        if not joined:
            put_wanted(session, MailKind.ANSWER, [request.user_id], team=team.id, accepted=None)
        record(session, actor, "end request", team, request=request.id)
