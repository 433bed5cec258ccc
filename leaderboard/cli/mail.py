"""`leaderboard mail`: the mails of the site, for whoever runs it."""

import click

from leaderboard.audit.writes import present
from leaderboard.cli.database import reading, up_to_date, writing
from leaderboard.cli.options import Whole
from leaderboard.cli.output import print_table
from leaderboard.config import Config
from leaderboard.errors import BadInput
from leaderboard.mail import writes as outbox
from leaderboard.mail.writes import list_mails, send_waiting, to_show
from leaderboard.numbers import counted


@click.group()
def mail() -> None:
    """The mails of the site: what waits, what was sent, and why not."""


@mail.command("list")
@click.option("--all", "every", is_flag=True, help="Those of the last weeks that are no longer sent, too.")
def list_them(every: bool) -> None:
    """List the mails that wait, the oldest first.

    \b
    leaderboard mail list
    """
    with reading() as session:
        mails = list_mails(session, present(), every=every)
    rows = [
        (str(row.id), row.kind.value, row.to or "–", f"{row.created_at:%Y-%m-%d %H:%M}", row.state, row.failure)
        for row in mails
        if every or row.waits
    ]
    print_table(("mail", "kind", "to", "since", "state", "last try"), rows, "no mail waits")
    if len(rows) < len(mails):
        pointless = counted(len(mails) - len(rows), "mail")
        click.echo(f"{pointless} will never be sent: too late, or to nobody; --all lists them", err=True)


@mail.command()
@click.argument("number", type=Whole(1))
def show(number: int) -> None:
    """Print a mail as it would be sent now, to hand on where there is no mail server. A link in it works.

    \b
    leaderboard mail show 12
    """
    config = Config.from_environment()
    with up_to_date(config) as database:
        letter = to_show(database, number, config.site_url)
    if letter is None:
        click.echo("This mail is pointless now: there is nobody to send it to, or no news in it any more.")
        return
    click.echo(f"To: {letter.to}\nSubject: {letter.subject}\n\n{letter.text}", nl=False)


@mail.command()
def send() -> None:
    """Send what waits, as a worker does between two runs.

    \b
    LEADERBOARD_SMTP_URL=smtp://mail.example.org leaderboard mail send
    """
    config = Config.from_environment()
    if config.mail_server is None:
        raise BadInput(
            "LEADERBOARD_SMTP_URL is not set: there is no mail server to send by. `leaderboard mail show` prints a mail"
        )
    with up_to_date(config) as database:
        sent = send_waiting(database, config.mail_server, config.site_url)
    click.echo(f"sent {counted(sent, 'mail')}")


@mail.command()
@click.argument("number", type=Whole(1))
def drop(number: int) -> None:
    """Give a mail up: nobody tries to send it any more.

    \b
    leaderboard mail drop 12
    """
    with writing() as session:
        outbox.give_up(session, number, "given up on the command line")
    click.echo(f"mail {number} is given up")
