"""`leaderboard submit` and `leaderboard rescore`."""

import datetime as dt
from pathlib import Path

import click
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE, actor_of
from leaderboard.cli.database import up_to_date
from leaderboard.cli.finding import find_evaluation, find_user
from leaderboard.cli.options import FILE, OneOf
from leaderboard.config import Config
from leaderboard.lookup import find_system, find_team
from leaderboard.models import Scoring, ScoringSet, Standing, System
from leaderboard.rules.states import State
from leaderboard.services.scoring_sets import make_set
from leaderboard.services.submissions import NewSystem, retry
from leaderboard.services.submissions import submit as submit_run
from leaderboard.store import Caps, RunStore

__all__ = ["rescore", "submit"]


@click.command()
@click.argument("evaluation", metavar="CAMPAIGN/EVALUATION")
@click.argument("file", type=FILE)
@click.option("--team", required=True, help="The team's slug.")
@click.option("--system", help="The slug of one of the team's systems.")
@click.option("--new-system", help="The name of a system to make.")
@click.option(
    "--standing",
    type=OneOf(Standing),
    default=Standing.CONTRASTIVE.value,
    show_default=True,
    help="A team has one primary run.",
)
@click.option("--threshold", type=float, help="θ: documents with at least this score count as returned.")
@click.option("--label", default="", help="What tells the run from the team's others.")
@click.option("--notes", default="", help="For readers of the board.")
@click.option("--as", "user", help="Submit as this account, with its rights only.")
def submit(
    evaluation: str,
    file: Path,
    team: str,
    system: str | None,
    new_system: str | None,
    standing: Standing,
    threshold: float | None,
    label: str,
    notes: str,
    user: str | None,
) -> None:
    """Submit a run, as the form on the site does. A worker scores it.

    \b
    leaderboard submit harbour/2026-text run.gz --team team-alder --system heron --threshold 0.5
    """
    if (system is None) == (new_system is None):
        raise click.UsageError("give --system, or --new-system to make one")
    received_at = dt.datetime.now(dt.UTC)
    config = Config.from_environment()
    with up_to_date(config) as database:
        # Asked before the file is taken in, so that a slip in a name leaves no file behind.
        with database.read() as session:
            find_evaluation(session, evaluation)
            _find_system(session, team, system, new_system)
        store = RunStore.open(config.store_url, Caps(config.upload_bytes, config.text_bytes))
        with file.open("rb") as stream:
            upload = store.receive(stream, file.name)
        with database.write() as session:
            actor = actor_of(session, find_user(session, user).id) if user is not None else CONSOLE
            submission = submit_run(
                session,
                actor,
                find_evaluation(session, evaluation),
                find_team(session, team),
                system=_find_system(session, team, system, new_system),
                upload=upload,
                standing=standing,
                threshold=threshold,
                label=label,
                notes=notes,
                received_at=received_at,
            )
    click.echo(f"submission {submission.id}: {file.name}, {upload.size:,} bytes, SHA-256 {upload.sha256}")


@click.command()
@click.argument("evaluation", metavar="CAMPAIGN/EVALUATION")
@click.option("--failed", is_flag=True, help="Only put the runs that failed back into the queue.")
def rescore(evaluation: str, failed: bool) -> None:
    """Score an evaluation's runs anew where something changed since, such as the version of the measures.

    Boards go on showing the results that stand until all new ones are there.

    \b
    leaderboard rescore harbour/2026-text
    """
    with up_to_date(Config.from_environment()) as database, database.write() as session:
        found = find_evaluation(session, evaluation)
        if failed:
            parked = _failed(session, found.id)
            for scoring in parked:
                retry(session, CONSOLE, scoring.submission)
            queued = len(parked)
        else:
            make_set(session, CONSOLE, found)
            queued = _queued(session, found.id)
    click.echo(f"{evaluation}: runs that wait to be scored: {queued}")


def _find_system(session: Session, team: str, slug: str | None, new: str | None) -> System | NewSystem:
    found = find_team(session, team)
    return NewSystem(new) if new is not None else find_system(session, found, slug or "")


def _failed(session: Session, evaluation_id: int) -> list[Scoring]:
    return list(
        session.scalars(
            sa.select(Scoring)
            .join(ScoringSet)
            .where(ScoringSet.evaluation_id == evaluation_id, Scoring.state == State.FAILED)
        )
    )


def _queued(session: Session, evaluation_id: int) -> int:
    waiting = (
        sa.select(sa.func.count(Scoring.id))
        .join(ScoringSet)
        .where(ScoringSet.evaluation_id == evaluation_id, Scoring.state == State.QUEUED)
    )
    return session.scalar(waiting) or 0
