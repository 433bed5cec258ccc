"""What changes about teams, their members and their systems."""

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE
from leaderboard.evaluations import writes as removing
from leaderboard.teams import writes as systems
from leaderboard.teams import writes as teams
from leaderboard.teams.models import Invitation, JoinRequest, System
from leaderboard.teams.rules import Role
from leaderboard.teams.writes import NewSystem
from tests.web.changes.listing import ALPHA, OF_ALL, Changes
from tests.web.play import Play

change = Changes()


@change("teams.change_team", raises=OF_ALL, at=ALPHA, who="eve")
def _(session: Session, play: Play) -> None:
    teams.change_team(session, CONSOLE, play.team(session), description="We search harbours.", is_listed=True)


@change("teams.rename_team", raises=OF_ALL, at="/teams/beta", who="eve")
def _(session: Session, play: Play) -> None:
    teams.rename_team(session, CONSOLE, play.team(session, "beta"), "Better", "beta")


@change("teams.create_team", raises=OF_ALL, at="/teams/gamma", who="ada")
def _(session: Session, play: Play) -> None:
    teams.create_team(session, play.actor(session, "ada"), "Gamma")


@change("teams.add_member", raises=OF_ALL, at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    teams.add_member(session, CONSOLE, play.team(session), play.user(session, "eve"))


@change("teams.change_role", raises=OF_ALL, at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    teams.change_role(session, CONSOLE, play.team(session), play.user(session, "eve"), Role.OWNER.value)


@change("teams.remove_member", raises=OF_ALL, at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    teams.remove_member(session, CONSOLE, play.team(session), play.user(session, "eve"))


@change("teams.invite", raises=OF_ALL, at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    teams.invite(session, play.actor(session, "ada"), play.team(session))


@change("teams.revoke_invitation", raises=OF_ALL, at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    teams.revoke_invitation(session, CONSOLE, session.scalars(sa.select(Invitation)).one())


@change("teams.accept_invitation", raises=OF_ALL, at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    token = teams.invite(session, CONSOLE, play.team(session))
    teams.accept_invitation(session, play.actor(session, "eve"), token)


@change("teams.leave_team", raises=OF_ALL, at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    teams.leave_team(session, play.actor(session, "eve"), play.team(session))


@change("teams.ask_to_join", raises=OF_ALL, at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    teams.ask_to_join(session, play.actor(session, "eve"), play.team(session), "please")


@change("teams.take_back", raises=OF_ALL, at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    teams.take_back(session, play.actor(session, "eve"), play.team(session))


@change("teams.answer_request", raises=OF_ALL, at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    teams.ask_to_join(session, play.actor(session, "orla"), play.team(session), "please")
    asked = session.scalars(sa.select(JoinRequest).order_by(JoinRequest.id.desc())).first()
    assert asked is not None
    ada = play.actor(session, "ada")
    teams.answer_request(session, ada, play.team(session), asked.id, accept=True)


@change("teams.create_system", raises=OF_ALL, at="/teams/alpha/second", who="ada")
def _(session: Session, play: Play) -> None:
    for name in ("Second", "Mistaken"):
        systems.create_system(session, CONSOLE, play.team(session), NewSystem(name))


@change("teams.change_system", raises=OF_ALL, at="/teams/alpha/second", who="ada")
def _(session: Session, play: Play) -> None:
    second = session.scalars(sa.select(System).where(System.name == "Second")).one()
    systems.change_system(session, CONSOLE, second, description="It counts words.")


@change("evaluations.remove_system", raises=OF_ALL, at="/teams/alpha/mistaken", who="ada")
def _(session: Session, play: Play) -> None:
    removing.remove_system(session, CONSOLE, session.scalars(sa.select(System).where(System.name == "Mistaken")).one())
