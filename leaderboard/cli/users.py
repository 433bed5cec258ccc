"""`leaderboard user`: accounts.

`leaderboard mail`: the mails of the site, for whoever runs it.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime

import click
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import errors
from leaderboard.access import CONSOLE
from leaderboard.accounts import reads as accounts, writes as people
from leaderboard.accounts.models import User
from leaderboard.accounts.rules import Scope
from leaderboard.audit.writes import present
from leaderboard.cli.database import reading, up_to_date, writing
from leaderboard.cli.options import flag, option, print_table, together, whole
from leaderboard.config import Config
from leaderboard.mail import writes as outbox

# Eager: read before anything asks, which would read this line.
password_stdin = flag(
    "--password-stdin stdin", "Read the password from the first line of standard input, without asking.",
    is_eager=True, callback=lambda _, __, given: sys.stdin.readline().rstrip("\r\n") if given else None,
)  # fmt: skip
revoke = flag("--revoke", "Take this right away instead.")


@click.group()
def user() -> None:
    """Accounts."""


def _command(name: str | None = None) -> Callable[[Callable[..., None]], click.Command]:
    """A command about the account of a name; it is called as its function is, or as the name says."""
    return together(user.command(name), click.argument("name"))


@contextmanager
def _changing(name: str) -> Iterator[tuple[Session, User]]:
    """The account of this name, in one transaction."""
    with writing() as session:
        yield session, people.find_user(session, name)


@_command()
@option("--email", "An address, which also serves to sign in.")
@flag("--admin", "Make it an admin, who may do everything.")
@password_stdin
def add(name: str, email: str | None, admin: bool, stdin: str | None) -> None:
    """Make an account; asks for its password.

    \b
    leaderboard user add ada --email ada@example.org
    """
    new = people.new_account(name, ask_password(stdin), email)
    with writing() as session:
        made = people.create_user(session, CONSOLE, new, is_admin=admin)
    click.echo(f"made the account {made.name}{' (admin)' if made.is_admin else ''}")


@_command()
@password_stdin
def password(name: str, stdin: str | None) -> None:
    """Give an account a new password; whoever is signed in with it is signed out.

    \b
    leaderboard user password ada
    """
    chosen = ask_password(stdin)
    with reading() as session:
        about = people.find_user(session, name)
    new = people.hashed(chosen, about.name, about.email or "")
    with _changing(name) as (session, account):
        people.set_password(session, CONSOLE, account, new)
    click.echo(f"{account.name} has a new password")


@_command()
@click.confirmation_option("--confirm", prompt="Its name and address are removed for good. Close it?")
def close(name: str) -> None:
    """Close an account: its name and address are removed, its runs stay under the names of its teams.

    \b
    leaderboard user close ada
    """
    with _changing(name) as (session, account):
        people.close_account(session, CONSOLE, account)
    click.echo(f"{name} is closed; it is called {account.name} now")


@_command()
@click.argument("address")
def email(name: str, address: str) -> None:
    """Give an account an e-mail address that you know to be its owner's: it needs no confirmation.

    \b
    leaderboard user email ada ada@example.org
    """
    with _changing(name) as (session, account):
        people.set_address(session, CONSOLE, account, address)
    click.echo(f"{account.name} has the address {account.email}")


@_command()
@revoke
def admin(name: str, revoke: bool) -> None:
    """Make an account an admin, who may do everything, or no longer one.

    \b
    leaderboard user admin ada
    """
    with _changing(name) as (session, account):
        people.set_admin(session, CONSOLE, account, is_admin=not revoke)
    click.echo(f"{account.name} is {'no longer an' if revoke else 'an'} admin")


@_command()
@revoke
def founder(name: str, revoke: bool) -> None:
    """Let an account make campaigns of its own, which it then organises; or no longer.

    \b
    leaderboard user founder ada
    """
    with _changing(name) as (session, account):
        people.set_founder(session, CONSOLE, account, may_found=not revoke)
    click.echo(f"{account.name} may {'no longer make' if revoke else 'make'} campaigns")


@_command("identities")
@option("--remove removed", "Take this one away: it logs in no more.", whole(1), metavar="NUMBER")
def show_identities(name: str, removed: int | None) -> None:
    """List the accounts elsewhere (OpenID Connect) that log in to an account, or take one away.

    \b
    leaderboard user identities ada
    leaderboard user identities ada --remove 3
    """
    if removed is not None:
        with _changing(name) as (session, account):
            people.unlink_identity(session, CONSOLE, account, removed)
    with reading() as session:
        linked = accounts.identities_of(session, people.find_user(session, name).id)
    rows = [(row.id, row.issuer, row.subject, _day(row.created_at), _day(row.last_used_at)) for row in linked]
    print_table(("number", "provider", "known there as", "since", "last used"), rows, f"nothing else logs in to {name}")


@user.command("list")
def list_users() -> None:
    """List the accounts.

    \b
    leaderboard user list
    """
    with reading() as session:
        rows = [
            (row.name, row.email or (row.unconfirmed_email and f"{row.unconfirmed_email} (unconfirmed)") or "–",
             "admin" if row.is_admin else "makes campaigns" if row.may_found else "",
             "" if row.is_active else "closed", _day(row.created_at))
            for row in session.scalars(sa.select(User).order_by(User.name))
        ]  # fmt: skip
    print_table(("name", "email", "right", "state", "since"), rows, "no account yet; make one: leaderboard user add")


@_command()
@option("--for purpose", "What the token is for; its owner tells it by this.", required=True)
@option("--scope scopes", "submit, manage or organise; every token reads.", Scope, multiple=True)
@option("--days", "When it ends (default: when it is revoked).", whole(1, people.LONGEST_DAYS))
def token(name: str, purpose: str, scopes: tuple[str, ...], days: int | None) -> None:
    """Make an API token of an account and print it, this once.

    \b
    leaderboard user token ada --for "the lab's machine" --scope submit --days 90
    """
    with _changing(name) as (session, account):
        made = people.make_token(session, CONSOLE, account, purpose, map(Scope, scopes), days=days, now=present())
    click.echo(made)


def _day(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d}" if moment else "never"


def ask_password(stdin: str | None) -> str:
    """Never from the arguments: everybody on the machine can read those."""
    if stdin is not None:
        return stdin
    if not sys.stdin.isatty():
        raise errors.BadInput("nobody to ask for a password here; give it on standard input, with --password-stdin")
    return str(click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))


@click.group()
def mail() -> None:
    """The mails of the site: what waits, what was sent, and why not."""


@mail.command("list")
@flag("--all every", "Those of the last weeks that were sent or dropped, too.")
def list_them(every: bool) -> None:
    """List the mails that were not sent, the oldest first: those that wait, were refused, are too late or to nobody.

    \b
    leaderboard mail list
    """
    with reading() as session:
        mails = outbox.list_mails(session, present(), every=every)
    rows = [
        (row.id, row.kind, row.to or "–", f"{row.created_at:%Y-%m-%d %H:%M}", row.state, row.failure) for row in mails
    ]
    print_table(("mail", "kind", "to", "since", "state", "last try"), rows, "no mail waits")


@mail.command()
@click.argument("number", type=whole(1))
def show(number: int) -> None:
    """Print a mail as it would be sent now, to hand on where there is no mail server. A link in it works.

    \b
    leaderboard mail show 12
    """
    config = Config.from_environment()
    with up_to_date(config) as database:
        letter = outbox.to_show(database, number, config.site_url)
    if letter is None:
        click.echo("This mail is pointless now: there is nobody to send it to, or no news in it any more.")
        return
    click.echo(f"To: {letter.to}\nSubject: {letter.subject}\n\n{letter.text}", nl=False)


@mail.command()
@click.argument("number", type=whole(1))
def drop(number: int) -> None:
    """Give a mail up: nobody tries to send it any more, and it is not counted as failed.

    \b
    leaderboard mail drop 12
    """
    with writing() as session:
        outbox.give_up(session, number, outbox.DROPPED)
    click.echo(f"mail {number} is given up")
