"""`leaderboard submit --server` and `check --server`: to a site through its API, as an account's token allows."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from leaderboard.cli.output import UNDEFINED, aligned, counting_bar
from leaderboard.client import Client, Doubtful, NoServer, Refused
from leaderboard.errors import FileRejected, Problem
from leaderboard.evaluations.rules import WHERE_READ

TOKEN = "LEADERBOARD_TOKEN"  # noqa: S105  # the name of a variable
GOOD, NOT_SCORED, REFUSED = 0, 1, 2  # exit status
# What is true of the next run, too: who asks may not, or not now.
OF_ALL = (401, 403, 404, 429)
ANSWER, AGREEMENT = "answer-", "agreement-"  # what the API calls the fields of a form


def send_to_server(
    server: str,
    token_file: Path | None,
    evaluation: str,
    runs: Sequence[Path],
    *,
    wait: float,
    team: str,
    system: str | None,
    new_system: str | None,
    fields: Mapping[str, str],
    answers: Mapping[str, str],
    agree: Mapping[str, str],
    side_file: Path | None,
    yes: bool,
) -> int:
    """Sends the runs one after the other, waits for all of them and prints their means or what is wrong with them.

    Returns the exit status: 1 where a run is or would be rejected or its scoring failed, 2 where one was not taken.
    """
    client = Client(server, _token(token_file))
    sent: list[tuple[Path, int]] = []
    worst = GOOD
    with counting_bar(sum(path.stat().st_size for path in runs), "Sending") as bar:
        for place, path in enumerate(runs):
            which = {"system": system} if system else {"new_system": new_system or ""}
            try:
                taken = client.submit(
                    evaluation, path, team=team, answers=answers, agree=agree, side_file=side_file, confirm=yes,
                    tell=bar, **which, **fields,
                )  # fmt: skip
            except (Refused, NoServer) as error:
                with bar.aside():
                    status, ends = _say_refused(path, error, runs[place + 1 :])
                worst = max(worst, status)
                if ends:
                    break
                continue
            system = system or taken["system"]["slug"]  # it is made; the next run is another one of it
            sent.append((path, taken["id"]))
            with bar.aside():
                click.echo(f"{path}: submission {taken['id']}, SHA-256 {taken['receipt']}")
    return max([worst, *_outcomes(client, sent, wait)])


def _say_refused(path: Path, error: Refused | NoServer, left: Sequence[Path]) -> tuple[int, bool]:
    """Says on stderr why a run is not taken; the exit status that this makes, and whether those left are not sent."""
    if isinstance(error, Doubtful):
        say_doubtful(path, error.warnings)
        return REFUSED, False
    about = error.fields
    if about.keys() == {"run"}:
        click.echo("\n".join(f"{path}: {problem}" for problem in about["run"]), err=True)
        click.echo(f"{path}: not submitted", err=True)
        return NOT_SCORED, False
    click.echo(f"{path}: not taken: {error.message}", err=True)
    if not (isinstance(error, NoServer) or error.http_status in OF_ALL or _asked_of_all(about)):
        return REFUSED, False
    say_how_asked(about)
    if left:
        click.echo(f"not sent either: {', '.join(map(str, left))}", err=True)
    return REFUSED, True


def ask_server(server: str, token_file: Path | None, evaluation: str, run: Path, threshold: float | None) -> Any:
    """What the site says would become of a run; nothing is kept there."""
    client = Client(server, _token(token_file))
    with counting_bar(run.stat().st_size, "Sending") as bar:
        return client.check(evaluation, run, threshold=threshold, tell=bar)


def say_doubtful(path: Path, warnings: Sequence[str]) -> None:
    """Says on stderr why a run has to be confirmed."""
    click.echo(f"{path}: not submitted, because this is most likely a slip:", err=True)
    for warning in warnings:
        click.echo(f"  {warning}", err=True)
    click.echo("  If it is meant so, give --confirm.", err=True)


def _asked_of_all(fields: Mapping[str, Sequence[str]]) -> bool:
    """Whether answers or agreements are wrong, which all runs of a command have in common."""
    return any(name.startswith((ANSWER, AGREEMENT)) for name in fields)


def say_how_asked(fields: Mapping[str, Sequence[str]]) -> None:
    """Says on stderr how answers and agreements are given, where some of these fields are such."""
    if _asked_of_all(fields):
        click.echo(
            "what is asked goes with --answer KEY=VALUE (answer-KEY) and --agree KEY=VERSION (agreement-KEY), once you "
            f"have read that version: {WHERE_READ}",
            err=True,
        )


def _outcomes(client: Client, sent: Sequence[tuple[Path, int]], wait: float) -> list[int]:
    """Waits for the runs, prints what became of them, and gives an exit status for each."""
    if not wait or not sent:
        return []
    statuses, rows, head = [], [], None
    with counting_bar(len(sent), "Scoring") as tell:
        ended = []
        for path, submission in sent:
            ended.append((path, client.wait(submission, wait)))
            tell(1)
    for path, run in ended:
        statuses.append(_status(path, run))
        if run["state"] == "scored" and run["results_open"]:
            results = client.results(run["id"])
            head = ["run", *(column["name"] for column in results["columns"])]
            rounded = results["terms"]["rounding"] is not None
            rows.append([str(path), *(_figure(figure["mean"], rounded) for figure in results["figures"])])
    if head is not None:
        click.echo(aligned([head, *rows], range(len(head))), nl=False)
    return statuses


def _status(path: Path, run: Mapping[str, Any]) -> int:
    """Says on stderr why a run has no figures; the exit status that this makes."""
    state = run["state"]
    if state == "rejected":
        problems = [Problem(line, message) for line, message in run["problems"]]
        click.echo(FileRejected(problems, run["problem_count"], str(path)).message, err=True)
    elif state in ("queued", "scoring"):
        why = "it is scored once the evaluation has judgments" if run["waiting"] else "not scored yet; look again later"
        click.echo(f"{path}: {why}", err=True)
    elif state != "scored":
        click.echo(f"{path}: {state}: {run['failure'] or run['withdrawn_because']}", err=True)
    elif not run["results_open"]:
        click.echo(f"{path}: scored; its team does not see the results yet", err=True)
    return GOOD if state in ("scored", "queued", "scoring") else NOT_SCORED


def _figure(mean: float | None, rounded: bool) -> str:
    """Four decimals, or as the server gives it where it was rounded for whoever asks."""
    if mean is None:
        return UNDEFINED
    return f"{mean:g}" if rounded else f"{mean:.4f}"


def _token(file: Path | None) -> str:
    """The token in the file, else in the environment."""
    token = file.read_text(encoding="utf-8").strip() if file is not None else os.environ.get(TOKEN, "").strip()
    if not token:
        raise click.UsageError(f"no token: name its file with --token-file, or put it into {TOKEN}")
    return token
