"""What of `leaderboard submission` no endpoint makes."""

import shutil
from pathlib import Path

import click

from leaderboard.access import CONSOLE
from leaderboard.audit.writes import present
from leaderboard.cli.database import reading
from leaderboard.cli.operations import SERVER, client_of
from leaderboard.cli.options import option, print_table, whole
from leaderboard.config import Config
from leaderboard.declared.commands import moment
from leaderboard.errors import BadInput, Missing, NotFound
from leaderboard.store import RunStore
from leaderboard.submissions.reads.status import status
from leaderboard.submissions.rules import SHOWN_STATES, SystemKind

HEAD = ("number", "evaluation", "team", "system", "kind", "label", "state", "received")


@click.command("list", params=[*SERVER])
@click.argument("place", metavar="CAMPAIGN[/EVALUATION]")
@option("--state", "Only those in this state.", click.Choice(SHOWN_STATES))
@option("--team", "Only those of the team with this slug.")
@option("--kind", "Only those of systems of this kind.", SystemKind)
@click.option("--late/--in-time", default=None, help="Only late ones, or only those in time.")
@option("--text", "Only those whose label, file, system or hash holds this.")
def list_submissions(
    place: str, server: str | None, token_file: Path | None, late: bool | None, **filters: str | None
) -> None:
    """List the submissions of a campaign or an evaluation, the newest first.

    \b
    leaderboard submission list harbour/2026-text --state failed
    """
    campaign, _, evaluation = place.partition("/")
    within = f"/evaluations/{evaluation}" if evaluation else ""
    filters["late"] = {True: "yes", False: "no", None: None}[late]
    asked = {name: str(value) for name, value in filters.items() if value}
    client = client_of("submission", server, token_file)
    rows = client.get(f"/organise/campaigns/{campaign}{within}/submissions", **asked)["rows"]
    print_table(HEAD, map(_cells, rows), "no such submission")


def _cells(row: dict[str, str]) -> tuple[str, ...]:
    label = f"{row['title']}{' (primary)' if row['is_primary'] else ''}{' (late)' if row['late'] else ''}"
    received = f"{moment(row['received_at'])}{' (assumed)' if row['received_assumed'] else ''}"
    return (row["id"], *(row[name] for name in HEAD[1:5]), label, row["state"], received)


@click.command()
@click.argument("number", type=whole(1))
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def fetch(number: int, file: Path) -> None:
    """Copy the file of a submission, as it was received, into FILE, which must not be there yet.

    \b
    leaderboard submission fetch 17 run-17.gz
    """
    with reading() as session:
        sha256 = status(session, CONSOLE, number, present()).receipt
    if file.exists():
        raise BadInput(f"{file} is there already; give another name")
    try:
        with RunStore(Config.from_environment().store_url).run_file(sha256) as stored:
            shutil.copyfile(stored, file)
    except NotFound:
        raise Missing(f"The stored file of submission {number} is missing.") from None
    click.echo(f"{file}: SHA-256 {sha256}")
