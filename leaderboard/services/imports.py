"""Runs of the past: brought in by organisers, with their true dates, whenever the evaluation closed."""

import datetime as dt
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, may_bring_in, require, require_organiser
from leaderboard.declared.inputs import FIRST_DAY, LAST_DAY
from leaderboard.errors import Conflict, InvalidFields
from leaderboard.lookup import merged_system
from leaderboard.models import Evaluation, Membership, ScoringSet, Submission, System, Team
from leaderboard.rules.mail import MailKind
from leaderboard.rules.moments import moment_in_words
from leaderboard.rules.standings import Designation, KeptChoice
from leaderboard.services import quotas
from leaderboard.services.events import assign, present, record
from leaderboard.services.locking import locked
from leaderboard.services.mail.outbox import put_wanted
from leaderboard.services.pseudonyms import ensure_pseudonym
from leaderboard.services.scoring_sets import enqueue, live_sets
from leaderboard.services.standing import keep_as_it_stood
from leaderboard.services.submissions import checked_words, locked_run
from leaderboard.services.texts import LONGEST_REASON, checked_text
from leaderboard.store import Received

__all__ = ["RUN_SETTINGS", "checked_settings", "correct_dates", "corrected_dates", "import_run"]

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
    *,
    stood: Mapping[int, Iterable[KeptChoice]] = MappingProxyType({}),
    **settings: Any,
) -> Submission:
    """Takes a run of the past whose file is in the store already, and queues it. Dates refuse nothing, and no quota
    is counted.

    stood     ids of the old sets by which it was scored (`stood.bring_set_in`), with the ways of choosing by which it
              stood there for its system
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
    values = checked_settings(settings)
    now = present()
    values["received_assumed"] = values["received_assumed"] or values["received_at"] is None
    received_at = values.pop("received_at") or values["run_at"] or evaluation.closes_at or now
    quotas.enter(session, evaluation, system.team_id, now)
    submission = Submission(
        evaluation_id=evaluation.id,
        team_id=system.team_id,
        system_id=system.id,
        filename=upload.filename,
        sha256=upload.sha256,
        md5=upload.md5,
        text_sha256=upload.text_sha256,
        size=upload.size,
        text_size=upload.text_size,
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
        if scoring_set.id not in stood:
            enqueue(session, submission, scoring_set)
    for set_id, ways in stood.items():
        old = session.get_one(ScoringSet, set_id)
        keep_as_it_stood(session, enqueue(session, submission, old, of_the_past=True), submission, old, ways)
    record(session, actor, "import run", submission, sha256=upload.sha256, designation=submission.designation.value)
    _tell_members(session, actor, evaluation, system.team_id, now)
    return submission


def correct_dates(session: Session, actor: Actor, submission: Submission, given: Mapping[str, Any]) -> bool:
    """Gives a run that was brought in other dates than it came with: whether any is another.

    given  of RUN_SETTINGS those that are said; `run_at` and `received_at` count, and one that is not said stays

    A date of receipt that was assumed goes with the run's own, and so does the date of its scoring where that was the
    one of its receipt. Old boards keep the runs that stood on them. Raises NotAllowed for whoever may not bring the run
    in, Conflict for a run that was sent here, since that was received when it was, and InvalidFields.
    """
    submission = locked_run(session, submission.id)
    require_organiser(actor, submission.evaluation.campaign_id)
    require(may_bring_in(session, actor, submission.team_id), NOT_OF_YOURS)
    if submission.imported_at is None:
        raise Conflict("this run was sent here, so its dates are true and stay")
    checked_settings({**given, "label": submission.label})
    changed = assign(submission, **corrected_dates(submission, given))
    if changed:
        record(session, actor, "correct dates", submission)
    return bool(changed)


def corrected_dates(submission: Submission, given: Mapping[str, Any]) -> dict[str, Any]:
    """The dates of a run of the past by what is said of it now, as columns."""
    dates: dict[str, Any] = {"run_at": given["run_at"]} if "run_at" in given else {}
    received = given.get("received_at")
    if received is not None:
        dates["received_assumed"] = given.get("received_assumed", False)
    elif submission.received_assumed:
        received = dates.get("run_at")
    if received is not None:
        dates |= {"received_at": received, "begun_at": received}
        if submission.scored_at == submission.received_at:
            dates["scored_at"] = received
    return dates


def _tell_members(session: Session, actor: Actor, evaluation: Evaluation, team_id: int, now: dt.datetime) -> None:
    own = sa.select(Membership.user_id).where(Membership.team_id == team_id)
    others = [one for one in session.scalars(own) if one != actor.user_id]
    if others:
        once = f"of {team_id} in {evaluation.campaign_id} on {now:%Y-%m-%d}"
        put_wanted(session, MailKind.IMPORTED, others, once=once, team=team_id, evaluation=evaluation.id)


def checked_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings as they are stored, those that are not given too. Raises InvalidFields with all that is wrong."""
    given = RUN_SETTINGS | dict(given)
    fields: dict[str, list[str]] = {name: ["there is no such setting"] for name in given.keys() - RUN_SETTINGS.keys()}
    values, now = dict(given), present()
    try:
        values |= checked_words(given["threshold"], given["label"], given["notes"], given["version"])
    except InvalidFields as error:
        fields.update(error.fields)
    for name in ("withdrawn_because", "ruled_because"):
        try:
            values[name] = checked_text(given[name], LONGEST_REASON, name)
        except InvalidFields as error:
            fields.update(error.fields)
    for name, value in given.items():
        if isinstance(value, dt.datetime) and not FIRST_DAY <= value < LAST_DAY:
            fields[name] = [f"give a date from {FIRST_DAY.year} to {LAST_DAY.year - 1}"]
        elif isinstance(value, dt.datetime) and value > now:
            fields[name] = [f"{moment_in_words(value)} is in the future"]
    if fields:
        raise InvalidFields(fields)
    return values
