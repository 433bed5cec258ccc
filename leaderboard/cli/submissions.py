"""`leaderboard submit`, and how a command submits a baseline: through the endpoint, here or at another site.

And what of `leaderboard submission` no endpoint makes.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any

import click
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import access, errors, names
from leaderboard.cli import options
from leaderboard.cli.database import reading, writing
from leaderboard.cli.operations import client_of, settings_of
from leaderboard.cli.options import aligned, counting_bar, flag, named, option, refuse_if, server_on_line
from leaderboard.client import UNFINISHED, Client
from leaderboard.evaluations.reads.evaluations import find_evaluation
from leaderboard.evaluations.rules import WHERE_READ
from leaderboard.submissions.inputs import LONGEST_LABEL, RunSettings
from leaderboard.submissions.rules import RunChoice, SystemKind
from leaderboard.teams.models import System, Team
from leaderboard.teams.reads import find_team
from leaderboard.teams.writes import NewSystem, create_system

SUBMITTED, NOT_SCORED, NOT_TAKEN = 0, 1, 2  # exit status


@click.command(params=settings_of(RunSettings))
@options.PLACE
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=options.FILE)
@option("--team", "The team's slug.", required=True)
@option("--system", "The slug of one of the team's systems.")
@option("--new-system", "The name of a system to make.")
@option("--answer answers", "An answer to a field that the organisers ask.", options.PAIR, multiple=True)
@option("--agree", "Accept an agreement that you have read.", options.PAIR, multiple=True, metavar="KEY=VERSION")
@option("--side-file", "A YAML file with metadata of the run, such as ir_metadata's.", options.FILE)
@flag("--confirm", "The runs are meant so, whatever the warnings.")
@option("--as user", "Submit as this account, with its rights only.")
@options.AT_SERVER
@options.WAIT
def submit(
    evaluation: str,
    runs: tuple[Path, ...],
    user: str | None,
    server: str | None,
    token_file: Path | None,
    wait: float,
    **fields: Any,
) -> int:
    """Submit runs, as the form on the site does, and print their means or what is wrong with them.

    \b
    leaderboard submit harbour/2026-text run.gz --team team-alder --system heron --threshold 0.5
    leaderboard submit harbour/2026-text *.gz --team team-alder --system heron \\
        --server https://leaderboard.example --token-file token.txt

    With --server nothing but the token is needed here. A run that was sent before, with the same options, is not sent
    twice: the command may be repeated after a broken connection.

    What an evaluation asks beside the run goes with --answer and --agree; `leaderboard form show` lists it, and so does
    the answer to a run without it. Each run is checked first, as `leaderboard check` does: one that would be rejected
    is not submitted, and one that is most likely a slip (neither decisions nor θ where they count, a θ by which nothing
    or everything is returned, the same text again) only with --confirm.

    A worker scores it. The exit status is the highest of these over the runs:

    \b
    0  every run is scored, or still queued when the wait ends
    1  a run is or would be rejected, or its scoring fails
    2  a run is not taken: the evaluation or the account refuses it, something that is asked is missing, or it asks for
       --confirm
    """
    fields |= {name: dict(fields[name]) for name in ("answers", "agree")}
    whose = "--as is for this installation itself; with --server the token says whose account it is"
    refuse_if(server and user, whose)
    key = "" if server is None else None  # by which a second try after a broken connection finds the first
    return _send(client_of("submit", server, token_file, user), evaluation, runs, wait, {**fields, "key": key})


def campaign_of_baseline(evaluation: str, team: str, name: str) -> dict[str, Any]:
    """What campaign and evaluation state for a baseline, by the names of its options; `stand`: whether somebody chooses
    the run that stands for its system, and `collection`: how many documents that has, None where nobody says.

    Raises NotFound for what is not there, and Conflict where the team's system of this name is no baseline: before the
    documents are read, not after.
    """
    with reading() as session:
        record = find_evaluation(session, access.CONSOLE, *evaluation.split("/"))
        find_baseline(session, find_team(session, team), name)
        return {
            "beta": record.campaign.beta,
            "no_relevant": record.campaign.no_relevant.value,
            "level": record.relevance_level,
            "judging": record.judging.value,
            "stand": record.campaign.run_choice is RunChoice.PRIMARY,
            "collection": record.documents,
        }


def send_baseline(
    evaluation: str, file: Path, team: str, name: str, description: str, *, wait: float, **fields: Any
) -> int:
    """Submits a run as the team's baseline of this name, as `submit` does; it is made where there is none.

    Raises Conflict where the team's system of this name is no baseline.
    """
    new = NewSystem(name, SystemKind.BASELINE, description)
    with writing() as session:
        owner = find_team(session, team)
        system = (find_baseline(session, owner, name) or create_system(session, access.CONSOLE, owner, new)).slug
    fields |= {"team": team, "system": system, "new_system": None, "confirm": True, "key": ""}
    fields["label"] = fields["label"][:LONGEST_LABEL]
    return _send(client_of("submit", None, None), evaluation, [file], wait, fields)


def find_baseline(session: Session, team: Team, name: str) -> System | None:
    """The team's baseline of this name. Raises Conflict where its system of this name is none."""
    system = session.scalar(sa.select(System).where(System.team_id == team.id, System.name_key == names.name_key(name)))
    if system is not None and system.kind is not SystemKind.BASELINE:
        raise errors.Conflict(
            f"{team.name} has a system {system.name!r} that is no baseline; give another name: --system"
        )
    return system


def _send(client: Client, evaluation: str, files: Sequence[Path], wait: float, fields: Mapping[str, Any]) -> int:
    """Sends the runs one after the other, waits for all of them and prints their means or what is wrong with them.

    fields  those of `Client.submit`

    Returns the worst exit status. What is refused for another reason than the file ends it: those before it stay
    submitted, and are waited for.
    """
    sent: list[tuple[Path, int]] = []
    statuses = [SUBMITTED]
    for position, file in enumerate(files):
        try:
            with counting_bar(file.stat().st_size, "Sending") as bar:
                run = client.submit(evaluation, file, tell=bar, **fields)
        except errors.LeaderboardError as error:
            click.echo("\n".join(f"{file}: {line}" for line in _refusal(error)), err=True)
            statuses.append(NOT_SCORED if "run" in error.fields else NOT_TAKEN)
            too_large = getattr(error, "http_status", error.status) == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
            if not too_large and error.fields.keys() not in ({"run"}, {"confirm"}):  # it is true of the next run, too
                if unsent := files[position + 1 :]:
                    click.echo(f"not sent either: {named([*map(str, unsent)])}", err=True)
                break
        else:
            if fields["new_system"]:  # it is made; the next run is another one of it
                fields = {**fields, "system": run["system"]["slug"], "new_system": None}
            sent.append((file, run["id"]))
            click.echo(f"{file}: submission {run['id']}, SHA-256 {run['receipt']}")
    return max([*statuses, *_outcomes(client, sent, wait)])


def _refusal(error: errors.LeaderboardError) -> list[str]:
    """Why a run is not taken, line by line."""
    if error.fields.keys() == {"confirm"}:
        lines = [*error.fields["confirm"], "not submitted, most likely a slip; if it is meant so, give --confirm"]
    elif error.fields.keys() == {"run"}:
        lines = [*error.fields["run"], "not submitted"]
    else:
        lines = [f"not taken: {getattr(error, 'in_full', error.message)}"]
    if any(name.startswith(("answer-", "agreement-")) for name in error.fields):
        lines.append(
            "what is asked goes with --answer KEY=VALUE (answer-KEY) and --agree KEY=VERSION (agreement-KEY), once you "
            f"have read that version: {WHERE_READ}"
        )
    return lines


def _outcomes(client: Client, sent: Sequence[tuple[Path, int]], wait: float) -> Iterator[int]:
    """Waits for the runs, prints what became of them, and gives an exit status for each."""
    if not wait or not sent:
        return
    runs, left = [], wait
    with counting_bar(len(sent), "Scoring") as bar:
        for path, number in sent:
            run = client.wait(number, left)
            if run["state"] in UNFINISHED and not run["waiting"]:
                left = 0.0  # who waited for one in vain waits for no more
            runs.append((path, run))
            bar(1)
    rows: list[list[str]] = []
    for path, run in runs:
        if message := _unscored(run, path, wait):
            click.echo(message, err=True)
        else:
            results = client.results(run["id"])
            rows = rows or [["run", *(column["name"] for column in results["columns"])]]
            form = ".4f" if results["terms"]["rounding"] is None else "g"  # as the site gives it where it was rounded
            means = (figure["mean"] for figure in results["figures"])
            rows.append([str(path), *(options.UNDEFINED if mean is None else f"{mean:{form}}" for mean in means)])
            _say_missing(path, results)
        yield SUBMITTED if run["state"] in ("scored", *UNFINISHED) else NOT_SCORED
    if rows:
        click.echo(aligned(rows, range(len(rows[0]))), nl=False)


def _unscored(run: Mapping[str, Any], path: Path, wait: float) -> str:
    """Why a run has no figures to print; "" where it has."""
    match run["state"]:
        case "scored":
            return "" if run["results_open"] else f"{path}: scored; its team does not see the results yet"
        case "rejected":
            problems = [errors.Problem(line, message) for line, message in run["problems"]]
            return errors.FileRejected(problems, run["problem_count"], str(path)).message
        case "queued" | "scoring" if run["waiting"]:
            return f"{path}: it is scored once the evaluation has judgments"
        case "queued" | "scoring":
            return f"{path}: not scored after {wait:g} s; a worker scores it as soon as one is free"
        case state:
            return f"{path}: {state}: {run['failure'] or run['withdrawn_because']}"


def _say_missing(path: Path, results: Mapping[str, Any]) -> None:
    """Says on stderr which queries the run has no list for."""
    if results["missing"]:
        click.echo(f"{path}: queries without a list: {named(results['missing'])}", err=True)
    if results["nothing_relevant"]:
        click.echo(f"of these, no document is judged relevant for {named(results['nothing_relevant'])}", err=True)
    if results["not_judged"]:
        click.echo(f"of these, nobody judged {named(results['not_judged'])}: they don't count", err=True)


@click.command()
@click.argument("number", type=options.whole(1))
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@options.AT_SERVER
def fetch(number: int, file: Path, server: str | None, token_file: Path | None) -> None:
    """Copy the file of a submission, as it was received, into FILE, which must not be there yet.

    \b
    leaderboard submission fetch 17 run-17.gz
    """
    client = client_of("submission", server_on_line(server), token_file)
    client.fetch(f"/submissions/{number}/file", file)
    with file.open("rb") as content:
        sha256 = hashlib.file_digest(content, "sha256").hexdigest()
    if sha256 != client.get(f"/submissions/{number}")["receipt"]:
        file.unlink()
        raise errors.Damaged("The stored file of this run is damaged: it is not the one of its receipt.")
    click.echo(f"{file}: SHA-256 {sha256}")
