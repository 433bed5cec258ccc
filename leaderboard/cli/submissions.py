"""`leaderboard submit` and `leaderboard rescore`, and how a command submits a baseline."""

import datetime as dt
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE, Actor, actor_of
from leaderboard.accounts.writes import find_user
from leaderboard.boards.rules import Rounded
from leaderboard.cli.database import up_to_date
from leaderboard.cli.options import AGREEMENT, ANSWER, ANY_NUMBER, FILE, PLACE, WAIT, OneOf, Place
from leaderboard.cli.output import named, print_table
from leaderboard.cli.remote import say_doubtful, say_how_asked, send_to_server
from leaderboard.config import Config
from leaderboard.db import Database
from leaderboard.errors import BadInput, Conflict, Doubtful, FileRejected, InvalidFields, LeaderboardError, Problem
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.find import find_evaluation
from leaderboard.evaluations.writes import agreements_of
from leaderboard.formats import Metadata, side_metadata
from leaderboard.names import name_key
from leaderboard.results.reads.run import SubmissionResults, results
from leaderboard.store import Caps, RunStore
from leaderboard.submissions.reads.form import completed, expected_of
from leaderboard.submissions.reads.status import status
from leaderboard.submissions.rules import UNFINISHED, Designation, State, SystemKind
from leaderboard.submissions.rules.checks import CHECKED_BYTES, Checked, check_run, look_at, require_sound
from leaderboard.submissions.writes.submissions import admit
from leaderboard.submissions.writes.submissions import submit as submit_run
from leaderboard.teams.models import System, Team
from leaderboard.teams.reads.find import find_system, find_team
from leaderboard.teams.writes import NewSystem

SUBMITTED, NOT_SCORED, NOT_TAKEN = 0, 1, 2  # exit status
LOOK_SECONDS = 0.2


@click.command()
@PLACE
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=FILE)
@click.option("--team", required=True, help="The team's slug.")
@click.option("--system", help="The slug of one of the team's systems.")
@click.option("--new-system", help="The name of a system to make.")
@click.option(
    "--designation",
    type=OneOf(Designation),
    default=Designation.CONTRASTIVE.value,
    show_default=True,
    help="A team has one primary run in an evaluation.",
)
@click.option("--stand", is_flag=True, help="Let this contrastive run stand for its system on the board.")
@click.option("--threshold", type=ANY_NUMBER, help="θ: documents with at least this score count as returned.")
@click.option("--label", default="", help="A short name for the run (default: its run tag).")
@click.option("--version", default="", help="The system's version (default: the evaluation's period).")
@click.option("--notes", default="", help="For the team and the organisers; nobody else sees them.")
@click.option(
    "--answer",
    "answers",
    type=ANSWER,
    multiple=True,
    metavar="KEY=VALUE",
    help="An answer to a field that the organisers ask; give it again for each.",
)
@click.option(
    "--agree",
    type=AGREEMENT,
    multiple=True,
    metavar="KEY=VERSION",
    help="Accept this version of an agreement, which you have read; give it again for each.",
)
@click.option("--side-file", type=FILE, help="A YAML file with metadata of the run, such as ir_metadata's.")
@click.option("--confirm", "yes", is_flag=True, help="The runs are meant so, whatever the warnings.")
@click.option("--as", "user", help="Submit as this account, with its rights only.")
@click.option("--server", envvar="LEADERBOARD_SERVER", metavar="URL", help="Submit to this site, through its API.")
@click.option("--token-file", type=FILE, help="The file with your API token there (else LEADERBOARD_TOKEN).")
@WAIT
def submit(
    evaluation: Place,
    runs: tuple[Path, ...],
    team: str,
    system: str | None,
    new_system: str | None,
    designation: Designation,
    stand: bool,
    threshold: float | None,
    label: str,
    notes: str,
    version: str,
    answers: tuple[tuple[str, str], ...],
    agree: tuple[tuple[str, str], ...],
    side_file: Path | None,
    yes: bool,
    user: str | None,
    server: str | None,
    token_file: Path | None,
    wait: float,
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
    if (system is None) == (new_system is None):
        raise click.UsageError("give either --system, or --new-system to make one")
    _require_sense(answers, agree, user, server, token_file)
    if server is not None:
        given = {
            "designation": designation.value, "stand": "yes" if stand else "", "label": label, "notes": notes,
            "version": version, "threshold": "" if threshold is None else repr(threshold),
        }  # fmt: skip
        return send_to_server(
            server, token_file, str(evaluation), runs, wait=wait, team=team, system=system, new_system=new_system,
            fields=given, answers=dict(answers), agree=dict(agree), side_file=side_file, yes=yes,
        )  # fmt: skip
    beside = side_metadata(side_file.read_bytes()) if side_file is not None else Metadata()
    if beside.problem:
        raise BadInput(f"{side_file}: {beside.problem}")

    def chosen(session: Session, owner: Team, is_first: bool) -> System | NewSystem:
        if new_system is None:
            return find_system(session, team, system or "")
        own = System.team_id == owner.id, System.name_key == name_key(new_system)
        made = None if is_first else session.scalar(sa.select(System).where(*own))
        return made or NewSystem(new_system)

    return _send(
        evaluation,
        runs,
        team,
        chosen,
        user=user,
        wait=wait,
        designation=designation,
        stand=stand,
        yes=yes,
        agree=dict(agree),
        threshold=threshold,
        label=label,
        notes=notes,
        version=version,
        answers=dict(answers),
        said=beside.entries,
    )


def _require_sense(
    answers: Collection[tuple[str, str]],
    agree: Collection[tuple[str, str]],
    user: str | None,
    server: str | None,
    token_file: Path | None,
) -> None:
    """Raises UsageError for options that don't go together."""
    if len(dict(answers)) < len(answers):
        raise click.UsageError("--answer names a key twice")
    if len(dict(agree)) < len(agree):
        raise click.UsageError("--agree names a key twice")
    if server is not None and user is not None:
        raise click.UsageError("--as is for this installation itself; with --server the token says whose account it is")
    if server is None and token_file is not None:
        raise click.UsageError("--token-file is for --server; on this installation itself no token is needed")
    if server is None and agree and user is None:
        raise click.UsageError("--agree goes with --as: without an account nobody is there who could agree")


def send_baseline(
    evaluation: Place,
    file: Path,
    team: str,
    new: NewSystem,
    *,
    wait: float,
    **options: Any,
) -> int:
    """Submits a run as the team's baseline of this name, as `submit` does; it is made where there is none.

    Raises what `submit` does, and Conflict where the team's system of this name is no baseline.
    """
    return _send(
        evaluation,
        [file],
        team,
        lambda session, found, _: find_baseline(session, found, new.name) or new,
        wait=wait,
        yes=True,
        **options,
    )


def find_baseline(session: Session, team: Team, name: str) -> System | None:
    """The team's baseline of this name. Raises Conflict where its system of this name is none."""
    found = session.scalar(sa.select(System).where(System.team_id == team.id, System.name_key == name_key(name)))
    if found is not None and found.kind is not SystemKind.BASELINE:
        raise Conflict(f"{team.name} has a system {found.name!r} that is no baseline; give another name: --system")
    return found


# The system of the next run, given the session, its team and whether it is the first run.
SystemOf = Callable[[Session, Team, bool], System | NewSystem]


def _send(
    evaluation: Place,
    files: Sequence[Path],
    team: str,
    system_of: SystemOf,
    *,
    user: str | None = None,
    wait: float,
    **options: Any,
) -> int:
    """Submits files, waits for all of them and says what became of each; returns the worst exit status.

    `options` are those of `_submitted`. A file that would be rejected, or that asks for a yes, is told and left out.
    What else is refused ends it: the files before it stay submitted, and are waited for.
    """
    config = Config.from_environment()
    with up_to_date(config) as database:
        with database.read() as session:
            actor = actor_of(session, find_user(session, user).id) if user is not None else CONSOLE
        sent: list[tuple[Path, int]] = []
        refused: LeaderboardError | None = None
        statuses = [SUBMITTED]
        for place, file in enumerate(files):
            try:
                number = _submitted(database, config, actor, evaluation, file, team, system_of, not sent, **options)
            except (FileRejected, Doubtful) as error:
                statuses.append(_told(file, error))
            except LeaderboardError as error:
                refused, left_out = error, files[place:]
                break
            else:
                sent.append((file, number))
        left = wait
        for file, number in sent if wait else ():
            if len(files) > 1:
                click.echo(f"{file.name}, submission {number}:")
            began = time.monotonic()
            statuses.append(_outcome(database, actor, number, left))
            left = wait if time.monotonic() - began < left else 0.0  # who waited for one in vain waits for no more
    if refused is not None:
        _say_not_tried(left_out if len(files) > 1 else (), refused)
        raise refused
    return max(statuses)


def _told(file: Path, error: FileRejected | Doubtful) -> int:
    """Says why a file is not submitted; the exit status that this makes."""
    if isinstance(error, Doubtful):
        say_doubtful(file, error.warnings)
        return NOT_TAKEN
    click.echo(error.message, err=True)
    return NOT_SCORED


def _say_not_tried(files: Sequence[Path], refused: LeaderboardError) -> None:
    """Says which files one refusal keeps from being submitted, and how what is asked is given."""
    if isinstance(refused, InvalidFields):
        say_how_asked(refused.fields)
    if files:
        click.echo(f"not submitted: {named([file.name for file in files])}", err=True)


def _submitted(
    database: Database,
    config: Config,
    actor: Actor,
    evaluation: Place,
    file: Path,
    team: str,
    system_of: SystemOf,
    is_first: bool,
    *,
    yes: bool = False,
    agree: Mapping[str, str] | None = None,
    threshold: float | None = None,
    **options: Any,
) -> int:
    """Takes one file and queues it; the submission's number. `options` are those of the service.

    Raises FileRejected for a file that would be rejected, Doubtful where a yes is lacking, and what the service does.
    """
    begun_at = dt.datetime.now(dt.UTC)
    # Looked up before the file is stored, so that what is refused leaves no file behind.
    with database.read() as session:
        found = find_team(session, team)
        system_of(session, found, is_first)
        asking = find_evaluation(session, CONSOLE, *evaluation)
        admit(session, actor, asking, found, begun_at)
        accepted = agreements_of(session, asking, agree or {})
        checked = _checked(session, actor, asking, found, file, threshold, config.text_bytes)
    if checked.problem_count:
        raise FileRejected(checked.problems, checked.problem_count, file.name)
    require_sound(checked, yes=yes)
    store = RunStore(config.store_url, Caps(config.upload_bytes, config.text_bytes))
    with file.open("rb") as stream:
        upload = store.receive(stream, file.name)
    received_at = dt.datetime.now(dt.UTC)
    with database.write() as session:
        found = find_team(session, team)
        submission = submit_run(
            session,
            actor,
            find_evaluation(session, CONSOLE, *evaluation),
            found,
            system=system_of(session, found, is_first),
            upload=upload,
            begun_at=begun_at,
            received_at=received_at,
            threshold=threshold,
            accepted=accepted,
            **options,
        )
    click.echo(f"submission {submission.id}: {file.name}, {upload.size:,} bytes, SHA-256 {upload.sha256}")
    return submission.id


def _checked(
    session: Session,
    actor: Actor,
    evaluation: Evaluation,
    team: Team,
    file: Path,
    threshold: float | None,
    text_bytes: int,
) -> Checked:
    """What would become of the run, from as much of it as the site looks at."""
    now = dt.datetime.now(dt.UTC)
    looked = look_at(file, file.name, CHECKED_BYTES, text_bytes)
    expected = expected_of(session, actor, evaluation, now, to_submit=True)
    found, run = check_run(looked, expected, threshold=threshold)
    return completed(session, actor, evaluation.id, found, run, looked.text_sha256, [team.id], now)


def _outcome(database: Database, actor: Actor, submission_id: int, seconds: float) -> int:
    """Waits for the run to be scored and prints its means or why it has none; returns the exit status."""
    deadline = time.monotonic() + seconds
    while True:
        now = dt.datetime.now(dt.UTC)
        with database.read() as session:
            run = status(session, actor, submission_id, now)
            scored = run.state == State.SCORED and run.results_open
            means = results(session, actor, submission_id, now) if scored else None
        if run.waiting:
            click.echo("it is scored once the evaluation has judgments", err=True)
            return SUBMITTED
        if run.state not in UNFINISHED:
            break
        if time.monotonic() >= deadline:
            click.echo(
                f"not scored after {seconds:g} s; a `leaderboard worker` scores it as soon as one is free", err=True
            )
            return SUBMITTED
        time.sleep(LOOK_SECONDS)
    if means is not None:
        _print_means(means)
    elif run.state == State.SCORED:
        click.echo("scored; its team does not see the results yet")
    elif run.state == State.REJECTED:
        problems = [Problem(line, message) for line, message in run.problems]
        click.echo(FileRejected(problems, run.problem_count, run.filename).message, err=True)
    else:
        click.echo(f"{run.state}: {run.failure or run.withdrawn_because}", err=True)
    return SUBMITTED if run.state == State.SCORED else NOT_SCORED


def _print_means(found: SubmissionResults) -> None:
    """The means, and on stderr which queries the run has no list for."""
    pairs = zip(found.columns, found.figures, strict=True)
    print_table(("measure", "mean"), [(column.name, _written(figure.mean)) for column, figure in pairs], "")
    if found.missing:
        click.echo(f"queries without a list: {named(found.missing)}", err=True)
    if found.nothing_relevant:
        click.echo(f"of these, no document is judged relevant for {named(found.nothing_relevant)}", err=True)
    if found.not_judged:
        click.echo(f"of these, nobody judged {named(found.not_judged)}: they don't count", err=True)


def _written(mean: float | None) -> str:
    """Four decimals, or those that are left of a mean that was rounded for the account that submits."""
    if mean is None:
        return "–"
    return f"{mean:.{mean.decimals if isinstance(mean, Rounded) else 4}f}"
