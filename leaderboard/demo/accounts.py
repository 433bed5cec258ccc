"""The demonstration's accounts, and what they belong to: `seeds/accounts.toml`."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE
from leaderboard.accounts.models import User
from leaderboard.accounts.writes import NewAccount, create_user, find_user, new_account, set_founder
from leaderboard.campaigns.models import Campaign
from leaderboard.campaigns.writes import add_organiser
from leaderboard.names import name_key
from leaderboard.teams.models import Membership
from leaderboard.teams.reads.find import find_team
from leaderboard.teams.rules import Role
from leaderboard.teams.writes import add_member


@dataclass(frozen=True, slots=True)
class Account:
    """`does` says in a few words what it is for; `founds`: it may make campaigns; `owns` are the slugs of its teams."""

    name: str
    password: str
    does: str
    is_admin: bool = False
    organises: bool = False
    founds: bool = False
    owns: tuple[str, ...] = ()


def read_accounts(path: Path) -> tuple[Account, ...]:
    """The demonstration's accounts, from a TOML file with a `[[user]]` for each."""
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    return tuple(Account(**{**user, "owns": tuple(user.get("owns", ()))}) for user in document["user"])


def new_accounts(session: Session, accounts: tuple[Account, ...]) -> dict[str, NewAccount]:
    """Those that the database lacks, by name, with their passwords hashed."""
    there = set(session.scalars(sa.select(User.name_key)))
    return {
        account.name: new_account(account.name, account.password)
        for account in accounts
        if name_key(account.name) not in there
    }


def load_accounts(session: Session, accounts: tuple[Account, ...], new: Mapping[str, NewAccount]) -> None:
    """Makes the `new` ones; existing ones keep their password. Their teams and campaigns must exist already."""
    for account in accounts:
        if account.name in new:
            user = create_user(session, CONSOLE, new[account.name], is_admin=account.is_admin)
        else:
            user = find_user(session, account.name)
        for slug in account.owns:
            team = find_team(session, slug)
            if session.get(Membership, (team.id, user.id)) is None:
                add_member(session, CONSOLE, team, user, Role.OWNER)
        if account.founds:
            set_founder(session, CONSOLE, user, may_found=True)
        if account.organises:
            for campaign in session.scalars(sa.select(Campaign)):
                add_organiser(session, CONSOLE, campaign, user)
