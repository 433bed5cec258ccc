"""What changes about accounts; two teams become one at the end."""

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE
from leaderboard.accounts import writes as credentials
from leaderboard.accounts import writes as people
from leaderboard.accounts.models import BrowserSession
from leaderboard.accounts.rules import Scope
from leaderboard.audit.writes import present
from leaderboard.teams import merging
from tests.support.world import new_account
from tests.web.changes.listing import ALPHA, BOARD, NONE, OF_ALL, Changes
from tests.web.conftest import PASSWORD_HASH
from tests.web.play import Play

change = Changes()


@change(
    "accounts.create_user",
    "accounts.register",
    "accounts.set_password",
    "accounts.end_sessions",
    "accounts.end_session",
    raises=NONE,
)
def _(session: Session, play: Play) -> None:
    made = people.create_user(session, CONSOLE, new_account("nora"))
    people.register(session, new_account("otto"))
    people.set_password(session, CONSOLE, made, PASSWORD_HASH)  # type: ignore[arg-type]  # a hash as it is stored
    credentials.start_session(session, made.id, present())
    own = session.scalars(sa.select(BrowserSession.id).where(BrowserSession.user_id == made.id)).one()
    people.log_out(session, CONSOLE, made, own)
    people.end_sessions(session, CONSOLE, made)


@change(
    "accounts.start_session",
    "accounts.note_seen",
    "accounts.end_session",
    "accounts.end_all_sessions",
    raises=NONE,
)
def _(session: Session, play: Play) -> None:
    nora = people.find_user(session, "nora")
    credentials.start_session(session, nora.id, present())
    own = session.scalars(sa.select(BrowserSession.id).where(BrowserSession.user_id == nora.id)).one()
    credentials.make_token(session, CONSOLE, nora, "a program", Scope, days=None, now=present())
    credentials.note_seen(session, own, present())
    credentials.end_session(session, own, present())
    credentials.end_all_sessions(session, nora.id, present())


@change("accounts.set_admin", raises=OF_ALL, at="/campaigns/harbour", who="eve")
def _(session: Session, play: Play) -> None:
    people.set_admin(session, CONSOLE, play.user(session, "eve"), is_admin=True)


@change("accounts.set_founder", raises=OF_ALL, at="/", who="ben")
def _(session: Session, play: Play) -> None:
    people.set_founder(session, CONSOLE, play.user(session, "ben"), may_found=True)


@change("accounts.close_account", raises=OF_ALL, at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    people.close_account(session, play.actor(session, "ben"), play.user(session, "ben"))


@change("merging.merge_teams", raises=OF_ALL, at=BOARD)
def _(session: Session, play: Play) -> None:
    merging.merge_teams(session, CONSOLE, play.team(session, "alpha"), play.team(session, "beta"))
