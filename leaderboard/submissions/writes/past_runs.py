"""Runs of the past: brought in by organisers, with their true dates, whenever the evaluation closed."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, may_bring_in, require, require_organiser
from leaderboard.audit.writes import present, record
from leaderboard.db import locked
from leaderboard.declared.inputs import FIRST_DAY, LAST_DAY, checked
from leaderboard.errors import Gathered
from leaderboard.evaluations.models import Evaluation
from leaderboard.mail.rules import MailKind
from leaderboard.mail.writes import put_wanted
from leaderboard.moments import moment_in_words
from leaderboard.names import checked_slug
from leaderboard.store import Received
from leaderboard.submissions.inputs import RunSettings
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import Designation
from leaderboard.submissions.writes.submissions import enter_evaluation, file_columns
from leaderboard.teams.models import Membership, System, Team
from leaderboard.teams.reads.find import merged_system
from leaderboard.teams.writes import ensure_pseudonym
from leaderboard.texts import LONGEST_REASON, checked_text
from leaderboard.worker.writes import enqueue, live_sets

NOT_OF_YOURS = "This team is neither yours nor of a campaign of yours."
# What is said of a run that is brought in, as columns of Submission, with what holds where nothing is said. What
# `leaderboard export` writes of a run and what a manifest may say of one are these.
RUN_SETTINGS: dict[str, Any] = {
    "label": "",
    "designation": Designation.CONTRASTIVE,
    "threshold": None,
    "notes": "",
    "version": "",
    "run_at": None,
    "received_at": None,
    "received_assumed": False,
    "scored_at": None,
    "chosen_at": None,
    "late": False,
    "withdrawn_at": None,
    "withdrawn_because": "",
    "holds_place": False,
    "ruling": None,
    "ruled_at": None,
    "ruled_because": "",
    "answers": {},
    "said": {},
}


def import_run(
    session: Session,
    actor: Actor,
    evaluation: Evaluation,
    system: System,
    upload: Received,
    **settings: Any,
) -> Submission:
    """Takes a run of the past whose file is in the store already, and queues it. Dates refuse nothing, and no quota
    is counted.

    settings  any of RUN_SETTINGS. `received_at` is when the campaign received it: where that is not said the run's own
              date, else when the evaluation closed, else now, and marked as assumed. A run with `scored_at` was scored
              elsewhere: it keeps that date, and the rules of its time

    The team's members get a mail, one a day. Raises NotAllowed for whoever does not organise the campaign or may not
    bring runs of this team in, and InvalidFields with everything that is wrong.
    """
    require_organiser(actor, evaluation.campaign_id)
    require(may_bring_in(session, actor, system.team_id), NOT_OF_YOURS)
    # Shared: who merges the team with another waits for this run, or this run goes to the other team.
    locked(session, Team, system.team_id, shared=True)
    system = merged_system(session, session.get_one(System, system.id, populate_existing=True))
    # Shared: a scoring set that is being made waits for this run, or this run sees the set.
    evaluation = locked(session, Evaluation, evaluation.id, shared=True)
    values = _checked(settings)
    now = present()
    values["received_assumed"] = values["received_assumed"] or values["received_at"] is None
    received_at = values.pop("received_at") or values["run_at"] or evaluation.closes_at or now
    enter_evaluation(session, evaluation, system.team_id, now)
    submission = Submission(
        evaluation_id=evaluation.id,
        team_id=system.team_id,
        system_id=system.id,
        **file_columns(upload),
        begun_at=received_at,
        received_at=received_at,
        imported_at=now,
        imported_by_id=actor.user_id,
        charged=False,
        **values | {"version": values["version"] or evaluation.period},
    )
    session.add(submission)
    session.flush()
    ensure_pseudonym(session, evaluation.id, system.id)
    for scoring_set in live_sets(session, evaluation.id):
        enqueue(session, submission, scoring_set)
    record(session, actor, "import run", submission, sha256=upload.sha256, designation=submission.designation.value)
    _tell_members(session, actor, evaluation, system.team_id, now)
    return submission


def go_by_source(session: Session, actor: Actor, evaluation: Evaluation, source: str) -> None:
    """Lets boards go by a source of judgments before there are any."""
    require_organiser(actor, evaluation.campaign_id)
    before, evaluation.official_source = evaluation.official_source, checked_slug(source, "official_source")
    record(session, actor, "make official", evaluation, source=source, before=before)


def _tell_members(session: Session, actor: Actor, evaluation: Evaluation, team_id: int, now: dt.datetime) -> None:
    own = sa.select(Membership.user_id).where(Membership.team_id == team_id)
    others = [user_id for user_id in session.scalars(own) if user_id != actor.user_id]
    if others:
        once = f"of {team_id} in {evaluation.campaign_id} on {now:%Y-%m-%d}"
        put_wanted(session, MailKind.IMPORTED, others, once=once, team=team_id, evaluation=evaluation.id)


def _checked(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings as they are stored, those that are not given too. Raises InvalidFields with all that is wrong."""
    values, wrong, now = RUN_SETTINGS | dict(settings), Gathered(), present()
    wrong.fields |= {name: ["there is no such setting"] for name in settings.keys() - RUN_SETTINGS.keys()}
    with wrong:
        words = {name: values[name] for name in ("threshold", "label", "notes", "version")}
        values |= checked(RunSettings, words).given()
    for name in ("withdrawn_because", "ruled_because"):
        with wrong:
            values[name] = checked_text(values[name], LONGEST_REASON, name)
    for name, value in values.items():
        if isinstance(value, dt.datetime) and not FIRST_DAY <= value < LAST_DAY:
            wrong.fields[name] = [f"give a date from {FIRST_DAY.year} to {LAST_DAY.year - 1}"]
        elif isinstance(value, dt.datetime) and value > now:
            wrong.fields[name] = [f"{moment_in_words(value)} is in the future"]
    wrong.raise_any()
    return values
