"""`leaderboard submission`: what was submitted, and what its team and the organisers do with it."""

import datetime as dt
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE, Actor
from leaderboard.cli.database import reading, writing
from leaderboard.cli.options import ANY_WHOLE, OneOf, require_yes
from leaderboard.cli.tables import print_table
from leaderboard.config import Config
from leaderboard.errors import BadInput, Conflict, Missing, NotFound
from leaderboard.store import RunStore
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.effects import Act, Effect, effect
from leaderboard.submissions.reads.organised import Filters, submissions
from leaderboard.submissions.reads.status import status
from leaderboard.submissions.rules import SHOWN_STATES, Ruling, SystemKind
from leaderboard.submissions.writes import submissions as services

NUMBER = click.argument("number", type=ANY_WHOLE)
YES = click.option("--confirm", "yes", is_flag=True, help="Do it without a question.")
BECAUSE = click.option("--because", required=True, help="Why; the team reads it.")
FILL = click.option(
    "--fill", is_flag=True, help="Let another run of the system take its place, which else stays empty."
)


@click.group()
def submission() -> None:
    """Submissions: list them, hide or disqualify one, choose which run stands."""


@submission.command("list")
@click.argument("place", metavar="CAMPAIGN[/EVALUATION]")
@click.option("--state", type=click.Choice(SHOWN_STATES), help="Only those in this state.")
@click.option("--team", default="", help="Only those of the team with this slug.")
@click.option("--kind", type=OneOf(SystemKind), default=None, help="Only those of systems of this kind.")
@click.option("--late/--in-time", default=None, help="Only late ones, or only those in time.")
@click.option("--text", default="", help="Only those whose label, file, system or hash holds this.")
def list_submissions(
    place: str, state: str | None, team: str, kind: SystemKind | None, late: bool | None, text: str
) -> None:
    """List the submissions of a campaign or an evaluation, the newest first.

    \b
    leaderboard submission list harbour/2026-text --state failed
    """
    campaign, _, evaluation = place.partition("/")
    lateness = "" if late is None else "yes" if late else "no"
    filters = Filters(state or "", team, kind.value if kind else "", lateness, text)
    with reading() as session:
        now = dt.datetime.now(dt.UTC)
        found = submissions(session, CONSOLE, campaign, evaluation or None, now, filters=filters, page=None)
    head = ("number", "evaluation", "team", "system", "kind", "label", "state", "received")
    rows = [
        (
            row.id,
            row.evaluation,
            row.team,
            row.system,
            row.kind.value,
            f"{row.title}{' (primary)' if row.is_primary else ''}{' (late)' if row.late else ''}",
            row.state,
            f"{row.received_at:%Y-%m-%d %H:%M}{' (assumed)' if row.received_assumed else ''}",
        )
        for row in found.rows
    ]
    print_table(head, rows, "no such submission")


@submission.command()
@NUMBER
@BECAUSE
@FILL
@YES
def hide(number: int, because: str, fill: bool, yes: bool) -> None:
    """Take a run off every board until it is put back.

    \b
    leaderboard submission hide 17 --because 'the team asked for it'
    """
    _take_off(number, Ruling.HIDDEN, because, fill, yes)


@submission.command()
@NUMBER
@BECAUSE
@FILL
@YES
def disqualify(number: int, because: str, fill: bool, yes: bool) -> None:
    """Take a run off every board and tell its team that it does not count.

    \b
    leaderboard submission disqualify 17 --because 'trained on the judgments'
    """
    _take_off(number, Ruling.DISQUALIFIED, because, fill, yes)


@submission.command()
@NUMBER
def restore(number: int) -> None:
    """Put a hidden or disqualified run back.

    \b
    leaderboard submission restore 17
    """
    _do(number, services.restore)
    click.echo(f"submission {number} is back where it was")


@submission.command()
@NUMBER
def retry(number: int) -> None:
    """Put a failed or rejected run into the queue again.

    \b
    leaderboard submission retry 17
    """
    _do(number, services.retry)
    click.echo(f"submission {number} is in the queue again")


@submission.command()
@NUMBER
@click.option("--because", default="", help="Why.")
@YES
def withdraw(number: int, because: str, yes: bool) -> None:
    """Take a run off every board for good.

    \b
    leaderboard submission withdraw 17 --because 'the wrong file'
    """
    _ask(number, Act.WITHDRAW, yes)
    _do(number, services.withdraw, because=because)
    click.echo(f"submission {number} is withdrawn")


@submission.command()
@NUMBER
@YES
def stand(number: int, yes: bool) -> None:
    """Let a run stand for its system on the board.

    \b
    leaderboard submission stand 17
    """
    _ask(number, Act.STAND, yes)
    _do(number, services.select_run)
    click.echo(f"submission {number} stands for its system once it is scored")


@submission.command()
@NUMBER
@YES
def primary(number: int, yes: bool) -> None:
    """Make a run its team's primary one.

    \b
    leaderboard submission primary 17
    """
    _ask(number, Act.PRIMARY, yes)
    _do(number, services.make_primary)
    click.echo(f"submission {number} is its team's primary run")


@submission.command()
@NUMBER
@click.option("--label", help="A short name for the run.")
@click.option("--notes", help="For the team and the organisers; nobody else sees them.")
def describe(number: int, label: str | None, notes: str | None) -> None:
    """Change label or notes of a run; the trail keeps what they were.

    \b
    leaderboard submission describe 17 --label 'second try'
    """
    if label is None and notes is None:
        raise BadInput("give --label, --notes or both: what is left out stays")
    with writing() as session:
        services.describe(session, CONSOLE, _found(session, number), label=label, notes=notes)
    click.echo(f"changed submission {number}")


@submission.command()
@NUMBER
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def fetch(number: int, file: Path) -> None:
    """Copy the file of a submission, as it was received, into FILE, which must not be there yet.

    \b
    leaderboard submission fetch 17 run-17.gz
    """
    with reading() as session:
        sha256 = _found(session, number).sha256
    if file.exists():
        raise BadInput(f"{file} is there already; give another name")
    try:
        with RunStore(Config.from_environment().store_url).run_file(sha256) as stored:
            shutil.copyfile(stored, file)
    except NotFound:
        raise Missing(f"The stored file of submission {number} is missing.") from None
    click.echo(f"{file}: SHA-256 {sha256}")


def _take_off(number: int, ruling: Ruling, because: str, fill: bool, yes: bool) -> None:
    _ask(number, Act.FILL if fill else Act.EMPTY, yes)
    with writing() as session:
        services.hide_run(session, CONSOLE, _found(session, number), ruling, because, holds_place=not fill)
    click.echo(f"submission {number} is {ruling.value}")


def _do(number: int, what: Callable[..., None], **more: Any) -> None:
    actor: Actor = CONSOLE
    with writing() as session:
        what(session, actor, _found(session, number), **more)


def _ask(number: int, act: Act, yes: bool) -> None:
    """Says what it would change on the board, and asks, unless the yes is given."""
    if yes:
        return
    with reading() as session:
        now = dt.datetime.now(dt.UTC)
        run = status(session, CONSOLE, number, now)
        changes = effect(session, CONSOLE, number, now, act=act)
    if changes.refusal:
        raise Conflict(changes.refusal)
    for line in _lines(changes):
        click.echo(line, err=True)
    require_yes(yes, f"{run.title} of {run.system.name}: go on?")


def _lines(changes: Effect) -> list[str]:
    lines = [
        f"{one.system}: {one.before or 'no run'}{_rank(one.rank_before)} stands now; "
        f"then {one.after or 'no run'}{_rank(one.rank_after)}"
        for one in changes.changes
    ]
    if changes.primary:
        lines.append(f"primary run: {changes.primary[0] or 'none'} now; then {changes.primary[1] or 'none'}")
    lines += [f"{name} becomes contrastive" for name in changes.contrastive]
    return lines or ["the same runs stand on the board"]


def _rank(rank: int | None) -> str:
    return f" (rank {rank})" if rank else ""


def _found(session: Session, number: int) -> Submission:
    found = session.get(Submission, number) if 0 <= number < 2**31 else None
    if found is None:
        raise NotFound(f"there is no submission {number}")
    return found
