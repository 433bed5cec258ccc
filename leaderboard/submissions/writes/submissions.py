"""Quotas: a file that arrives holds a place, a run takes it, and gets it back when it is rejected or failed.

All is counted on locked rows, the team's before the person's, so that no two submissions wait for each other.

Submissions: a run goes in (with its quota, its queue entry and its audit event, or not at all), and what follows.

Its team withdraws it, describes it and chooses which run stands; organisers take it off the boards and put it back into
the queue.

Runs of the past: brought in by organisers, with their true dates, whenever the evaluation closed.
"""

from collections.abc import Collection, Mapping
from dataclasses import asdict, field, replace
from datetime import date, datetime
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import access, names, store
from leaderboard.access import Actor
from leaderboard.audit.writes import assign, present, record
from leaderboard.campaigns.models import Campaign
from leaderboard.db import add_or_refuse, insert_unless_there, locked
from leaderboard.declared.inputs import checked
from leaderboard.errors import Conflict, Gathered, InvalidFields, NotFound, QuotaSpent
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.evaluations import form_fields
from leaderboard.evaluations.rules import checked_answers, is_late
from leaderboard.evaluations.writes import accept_agreements
from leaderboard.frozen import frozen
from leaderboard.mail.rules import MailKind
from leaderboard.mail.writes import put_wanted
from leaderboard.submissions.inputs import PastRun, RunSettings
from leaderboard.submissions.models import Arrival, Participation, PersonalUse, Submission, Use
from leaderboard.submissions.reads import selection
from leaderboard.submissions.reads.form import quotas_of
from leaderboard.submissions.rules import Designation, Ruling, State, SystemKind, day_of, retry_seconds, start_of
from leaderboard.teams.models import Membership, System, Team
from leaderboard.teams.reads import merged
from leaderboard.teams.writes import NewSystem, create_system, ensure_pseudonym, free_team
from leaderboard.texts import LONGEST_REASON, checked_text
from leaderboard.worker.models import Scoring, ScoringSet
from leaderboard.worker.writes import enqueue, live_sets, next_turns


def release_quota(session: Session, arrival_id: int | None) -> None:
    """Ends it that a file holds a place, where it still does."""
    if arrival_id is not None:
        session.execute(sa.delete(Arrival).where(Arrival.id == arrival_id))


def renew_quota(session: Session, arrival_id: int | None, expires_at: datetime) -> None:
    """Lets a file hold its place until then, where it still does."""
    session.execute(sa.update(Arrival).where(Arrival.id == arrival_id).values(expires_at=expires_at))


def use_quota(
    session: Session, evaluation: Evaluation, team_id: int, user_id: int | None, now: datetime, place: int | None = None
) -> None:
    """Counts one submission; raises QuotaSpent, with when it resets, where the team or the person has none left.

    user_id  who submits; None for the command line, which is no person: nobody's own quota is bounded there, and files
             that arrive or are not checked yet are not held against the team, so that many can be loaded at once
    place    what the file held while it came, and holds no longer

    The rows stay locked until the transaction ends: others who submit for the team, or this person for another team,
    wait, and then count again.
    """
    rows = _locked_uses(session, evaluation.id, now, team_id, user_id)
    release_quota(session, place)
    # A request that began before midnight and comes after one from after it counts for the new day.
    now = max(now, *(start_of(row.day) for row in rows))
    _require_some_left(session, evaluation, team_id, user_id, now)
    for row in rows:
        _turn_to(row, day_of(now))
        row.used_today += 1
        row.used += 1


def return_quota(session: Session, submission: Submission, *, rejected: bool) -> None:
    """Returns what a run cost, once, because its file was rejected or its scoring failed for good."""
    if not submission.charged:
        return
    submission.charged = False
    moment, whose = submission.received_at, (submission.team_id, submission.submitter_id)
    for row in _locked_uses(session, submission.evaluation_id, moment, *whose):
        row.used -= 1
        if row.day == day_of(moment):
            row.used_today -= 1
            row.rejected_today += rejected


def count_unused_file(session: Session, evaluation_id: int, user_id: int, now: datetime) -> None:
    """Counts a file that was taken in with a form that can't be used among the person's rejected ones of the day.

    Else such forms would fill the store for nothing.
    """
    (row,) = _locked_uses(session, evaluation_id, now, None, user_id)
    _turn_to(row, max(row.day, day_of(now)))
    row.rejected_today += 1


def use_counted_file(session: Session, evaluation_id: int, actor: Actor) -> None:
    """Takes back what `count_unused_file` counted: the file is submitted after all."""
    row = locked(session, PersonalUse, (actor.user_id, evaluation_id))
    row.rejected_today = max(0, row.rejected_today - 1)


def _require_some_left(
    session: Session, evaluation: Evaluation, team_id: int, user_id: int | None, now: datetime
) -> None:
    teams, own = quotas_of(session, evaluation, [team_id], user_id, now)
    quotas = (teams[team_id], own)
    for quota in quotas:
        if quota.spent is not None:
            raise QuotaSpent(quota.spent, retry_seconds(quotas, now))


def _locked_uses(
    session: Session, evaluation_id: int, now: datetime, team_id: int | None, user_id: int | None = None
) -> list[Use]:
    """What a team and a person have used of an evaluation's quotas, with nothing where that is not noted yet."""
    rows: list[Use] = []
    for table, name, number in ((Participation, "team_id", team_id), (PersonalUse, "user_id", user_id)):
        if number is not None:
            key = number, evaluation_id
            try:
                rows.append(locked(session, table, key))
            except NotFound:
                insert_unless_there(session, table, **{name: number}, evaluation_id=evaluation_id, day=day_of(now))
                rows.append(locked(session, table, key))
    return rows


def _turn_to(row: Use, day: date) -> None:
    """The counts of a day begin at 0."""
    if row.day != day:
        row.day, row.used_today, row.rejected_today = day, 0, 0


# In the same words of a team that never was: who is not in a team is not told that it is there.
NOT_YOURS = "You may submit for no such team: only members and organisers submit for one."
THE_PAST = "Organisers bring runs of the past in with `leaderboard import-campaign`."
RULED = {Ruling.HIDDEN: "hide", Ruling.DISQUALIFIED: "disqualify"}  # as the trail says it


def reserve_quota(
    session: Session,
    actor: Actor,
    evaluation: Evaluation,
    team: Team,
    *,
    begun_at: datetime,
    now: datetime,
    expires_at: datetime,
) -> int:
    """Holds a place in the quotas for the file of a person's run while it comes: its id. `submit` or `release_quota`
    ends it.

    So files that come at the same moment are no more than there is room for.

    begun_at    the start of the request
    expires_at  when it ends by itself; `renew_quota` puts that off

    Raises NotAllowed, Conflict outside the dates, or QuotaSpent. `submit` looks again when the file has come.
    """
    _require_may_send(actor, evaluation, team, begun_at, begun_at)
    team = merged(session, locked(session, Team, team.id))  # it has no row of its counts before its first run
    _locked_uses(session, evaluation.id, now, None, actor.user_id)
    own = Arrival.evaluation_id == evaluation.id, Arrival.user_id == actor.user_id
    session.execute(sa.delete(Arrival).where(*own, Arrival.expires_at <= now))
    _require_some_left(session, evaluation, team.id, actor.user_id, now)
    arrival = Arrival(user_id=actor.user_id, team_id=team.id, evaluation_id=evaluation.id, expires_at=expires_at)
    session.add(arrival)
    session.flush()
    return arrival.id


@frozen
class Sending:
    """What comes with a run as it is submitted, beside what RunSettings say.

    answers      to the evaluation's form fields, by key; the command line, which is no person, may leave any out
    accepted     the ids of agreements that the sender accepts with this run
    said         what a YAML file beside the run says, see `formats.metadata`
    header       what the run's own comment lines say: it answers required fields as `said` does; scoring keeps it
    begun_at     the start of the request, `received_at` when not given
    received_at  its last byte, now when not given; dates count from both (`rules.phases`), quotas from this one
    place        what `reserve_quota` gave, which ends here
    key          what the sender calls this sending: no second run of theirs is taken under it
    """

    answers: Mapping[str, Any] = field(default_factory=dict)
    accepted: Collection[int] = ()
    said: Mapping[str, str] = field(default_factory=dict)
    header: Mapping[str, str] = field(default_factory=dict)
    begun_at: datetime | None = None
    received_at: datetime | None = None
    place: int | None = None
    key: str | None = None


def baseline_team(session: Session, actor: Actor, campaign_id: int) -> Team:
    """The team of the organisers' baselines, made with the first of them. Nobody is in it."""
    campaign = session.get_one(Campaign, campaign_id)
    access.require_organiser(actor, campaign_id)
    if campaign.baseline_team_id is None:
        campaign = access.locked_to_organise(session, actor, campaign)
    if campaign.baseline_team_id is None:  # nobody made it meanwhile
        campaign.baseline_team_id = free_team(session, actor, f"{campaign.title} organisers").id
        record(session, actor, "make baseline team", campaign, team=campaign.baseline_team_id)
    return merged(session, session.get_one(Team, campaign.baseline_team_id))


def submit(
    session: Session,
    actor: Actor,
    evaluation_id: int,
    team_id: int,
    *,
    system: int | NewSystem,
    upload: store.Received,
    **values: Any,
) -> Submission:
    """Takes a run whose file is in the store already, and queues it. By ids: the rows are read once they are locked.

    values  those of RunSettings and of Sending

    Raises NotFound for an id of nothing, Conflict outside the dates and for a key that was taken, QuotaSpent, and
    InvalidFields (new_system, stand, threshold, label, version, the names of `form_name` and `agreement_name` …).
    """
    words = {name: values.pop(name) for name in RunSettings.model_fields if name in values}
    sending = Sending(**values)
    received_at = sending.received_at or present()
    begun_at = sending.begun_at or received_at
    # Shared: who merges the team with another waits for this run, or this run goes to the other team with its system.
    team = merged(session, locked(session, Team, team_id, shared=True))
    if actor.is_in(team_id):  # and so in the team that it became part of since the request began
        actor = replace(actor, teams=actor.teams | {team.id})
    # Shared: a scoring set that is being made waits for this run, or this run sees the set.
    evaluation = locked(session, Evaluation, evaluation_id, shared=True)
    campaign = session.get_one(Campaign, evaluation.campaign_id, populate_existing=True)  # it may be private by now
    _require_may_send(actor, evaluation, team, begun_at, received_at)
    own_system, columns = _checked_details(session, actor, evaluation, team, system, words, sending)
    late, stand = is_late(evaluation, begun_at, received_at), columns.pop("stand")
    if stand and late and not actor.may_organise(campaign.id):
        raise InvalidFields({"stand": [f"the run is late: {selection.ONLY_ORGANISERS}"]})
    refused = selection.system_refusal(session, evaluation, own_system, late) if stand else None
    if refused and columns["designation"] is not Designation.PRIMARY:
        raise InvalidFields({"stand": [refused]})
    use_quota(session, evaluation, team.id, actor.user_id, received_at, sending.place)
    submission = Submission(
        evaluation_id=evaluation.id,
        team_id=team.id,
        system_id=own_system.id,
        submitter_id=actor.user_id,
        said=dict(sending.said),
        sending_key=sending.key,
        begun_at=begun_at,
        received_at=received_at,
        late=late,
        chosen_at=received_at if stand else None,
        **columns,
        **asdict(upload),
    )
    _queue(session, actor, "submit", submission)
    return submission


def _checked_details(
    session: Session,
    actor: Actor,
    evaluation: Evaluation,
    team: Team,
    system: int | NewSystem,
    words: Mapping[str, Any],
    sending: Sending,
) -> tuple[System, dict[str, Any]]:
    """The run's system, and its words and answers as they are kept. Raises InvalidFields with all that is wrong."""
    wrong = Gathered()
    columns: dict[str, Any] = {}
    with wrong:
        columns |= checked(RunSettings, words).model_dump()
        columns["version"] = columns["version"] or evaluation.period
    own_system: System | None = None
    with wrong:
        own_system = _own_system(session, actor, team, system)
    is_baseline = own_system is not None and own_system.kind is SystemKind.BASELINE
    # Of their own baselines organisers ask nothing.
    asked = actor.user_id is not None and not (is_baseline and actor.may_organise(evaluation.campaign_id))
    with wrong:
        of_file = {**sending.header, **sending.said}
        columns["answers"] = checked_answers(form_fields(evaluation), sending.answers, of_file, complete=asked)
    with wrong:
        if asked:
            accept_agreements(session, actor, evaluation, sending.accepted)
    wrong.raise_any()
    return cast(System, own_system), columns


def _queue(session: Session, actor: Actor, action: str, submission: Submission) -> None:
    """Adds a run, and has it scored."""
    if submission.sending_key is None:  # nothing of it can be taken already
        session.add(submission)
    else:
        add_or_refuse(session, submission, Conflict("This run was sent already, under the same key."))
    ensure_pseudonym(session, submission.evaluation_id, submission.system_id)
    for scoring_set in live_sets(session, submission.evaluation_id):
        enqueue(session, submission, scoring_set)
    record(session, actor, action, submission, sha256=submission.sha256, designation=submission.designation.value)


def select_run(session: Session, actor: Actor, submission: Submission) -> None:
    """Lets a run stand for its system on the boards, in the place of another of the system's contrastive runs.

    It takes effect once the run is scored. After closing only organisers do so; they may also fill the place of a run
    that its team withdrew then. Raises Conflict where there is nothing to choose: the evaluation has closed, the
    system's primary run stands, or the campaign shows each system's best or latest run.
    """
    submission = _locked_own(session, actor, submission, "choose the run that stands")
    _refuse(selection.select_refusal(session, actor, submission, present()))
    runs = [run for run in selection.contenders(session, submission) if not run.off_board]
    before = selection.selected_by_order(runs)
    _give_places_up(session, actor, submission)
    submission.chosen_at = present()
    record(session, actor, "let stand", submission, before=before.submission_id if before else None)


def withdraw(session: Session, actor: Actor, submission: Submission, because: str = "") -> None:
    """Takes a run off every board. It stays on record and keeps what it cost of the quota.

    Until closing another run of its system may take its place. When its team withdraws it later, the place stays empty;
    when an organiser does, the place is filled as before.
    """
    because = checked_text(because, LONGEST_REASON, "because")
    submission = _locked_own(session, actor, submission, "withdraw a run")
    _refuse("This run was withdrawn already." if submission.withdrawn_at is not None else None)
    evaluation = submission.evaluation
    submission.withdrawn_at = present()
    submission.withdrawn_by_id = actor.user_id
    submission.withdrawn_because = because
    if submission.ruling is None:  # else what its organisers decided about its place stays
        submission.holds_place = not access.may_change_standing(actor, evaluation, submission.withdrawn_at)
    settle_primary(session, actor, submission)
    record(session, actor, "withdraw", submission, because=submission.withdrawn_because)


def make_primary(session: Session, actor: Actor, submission: Submission) -> None:
    """Makes a scored run its team's primary one in the evaluation; others submitted as primary become contrastive.

    A run that stood for another system as the primary one goes on standing for it. After closing only organisers do
    this. Raises Conflict for a late run, one that is on no board, and one that is the primary run already.
    """
    submission = _locked_own(session, actor, submission, "choose its primary run")
    _refuse(selection.primary_refusal(session, actor, submission, present()))
    before = session.get_one(Participation, (submission.team_id, submission.evaluation_id)).primary_submission_id
    _give_places_up(session, actor, submission, primary=True)
    others = sa.select(Submission).where(
        *selection.of_team(submission.team_id, submission.evaluation_id),
        selection.on_boards(),
        Submission.id != submission.id,
        Submission.designation == Designation.PRIMARY,
    )
    for other in session.scalars(others).all():
        other.designation = Designation.CONTRASTIVE
        record(session, actor, "make contrastive", other, instead=submission.id)
    submission.designation = Designation.PRIMARY
    record(session, actor, "make primary", submission, before=before)
    settle_primary(session, actor, submission)


def describe(session: Session, actor: Actor, submission: Submission, **words: str) -> None:
    """Takes over another label or other notes of a run, or both. The trail keeps what they were.

    Raises InvalidFields (label, notes).
    """
    texts = checked(RunSettings, words).given()
    submission = _locked_own(session, actor, submission, "describe a run")
    if texts.get("label") == "" and submission.scored_at is not None:
        raise InvalidFields({"label": ["give the run a short name: boards and pages show it"]})
    before = {name: getattr(submission, name) for name in texts}
    if changed := assign(submission, **texts):
        record(session, actor, "describe", submission, **{name: [before[name], texts[name]] for name in changed})


def hide_run(
    session: Session, actor: Actor, submission: Submission, ruling: Ruling, because: str, *, holds_place: bool = True
) -> None:
    """Takes a run off every board, hidden or disqualified, until `restore`: organisers only. Its team reads the reason.

    holds_place  whether its place stays empty where it stands for its system; else another run of the system stands

    Raises InvalidFields (because), and Conflict for a run that is off the boards already.
    """
    access.require_organiser(actor, submission.evaluation.campaign_id)
    because = checked_text(because, LONGEST_REASON, "because")
    if not because:
        raise InvalidFields({"because": ["say why: the team reads it"]})
    submission = locked_run(session, submission.id)
    _refuse("This run was withdrawn: it is on no board." if submission.withdrawn_at is not None else None)
    _refuse(f"This run is {submission.ruling.value} already; put it back first." if submission.ruling else None)
    submission.ruling = ruling
    submission.ruled_at = present()
    submission.ruled_by_id = actor.user_id
    submission.ruled_because = because
    # A run without a score has had no place.
    submission.holds_place = holds_place and submission.scored_at is not None
    settle_primary(session, actor, submission)
    record(session, actor, RULED[ruling], submission, because=because, holds_place=submission.holds_place)


def restore(session: Session, actor: Actor, submission: Submission) -> None:
    """Puts a run back that organisers took off the boards. Raises Conflict where none did."""
    access.require_organiser(actor, submission.evaluation.campaign_id)
    submission = locked_run(session, submission.id)
    if submission.ruling is None:
        raise Conflict("This run was neither hidden nor disqualified.")
    if submission.withdrawn_at is None:
        submission.holds_place = False
    submission.ruling = submission.ruled_at = submission.ruled_by_id = None
    submission.ruled_because = ""
    settle_primary(session, actor, submission)
    record(session, actor, "restore", submission)


def locked_run(session: Session, submission_id: int) -> Submission:
    """The run as it stands now, locked until the transaction ends, and before it what its team did in the evaluation.

    In this order everywhere: whoever changes a run may change the team's primary one with it, and that may be any run.
    """
    of_run = sa.select(Submission.team_id, Submission.evaluation_id).where(Submission.id == submission_id)
    while True:
        team_id, evaluation_id = session.execute(of_run).one()
        session.get(
            Participation, (team_id, evaluation_id), with_for_update={"key_share": True}, populate_existing=True
        )
        submission = locked(session, Submission, submission_id)
        if submission.team_id == team_id:  # else its team was merged into another while this waited
            return submission


def settle_primary(session: Session, actor: Actor, run: Submission | Participation) -> None:
    """Notes which of the runs of its team in its evaluation is the primary one by `selection.primary_run`.

    The run that was it so far goes on standing for its system, where the new one is of another: else a contrastive run
    that was scored first would take its place, and nobody would have chosen that.
    """
    # Locked first: whoever else is recording a score of this team waits, and then sees this one.
    own = run.team_id, run.evaluation_id
    participation = locked(session, Participation, own)
    session.flush()
    new = selection.primary_run(session, *selection.of_team(*own))
    before, participation.primary_submission_id = participation.primary_submission_id, new.id if new else None
    if before is None or new is None or new.id == before:
        return
    old = session.get_one(Submission, before, populate_existing=True)
    if old.imported_at is not None and new.imported_at is not None:
        return  # of the past: which of them stood is said with them
    if new.system_id != old.system_id and old.withdrawn_at is None and old.ruling is None:
        old.chosen_at = present()
        record(session, actor, "keep standing", old, primary=new.id)


def retry(session: Session, actor: Actor, submission: Submission) -> None:
    """Puts a run whose scoring failed, or whose file was rejected, back into the queue.

    It has as many attempts as a new one then. Raises Conflict where there is no such scoring.
    """
    access.require_organiser(actor, submission.evaluation.campaign_id)
    parked = session.scalars(
        sa.select(Scoring)
        .join(ScoringSet)
        .where(
            Scoring.submission_id == submission.id,
            Scoring.state.in_((State.FAILED, State.REJECTED)),
            selection.IS_WANTED,
        )
        .with_for_update(of=Scoring)
    ).all()
    if not parked:
        raise Conflict("No scoring of this run has failed, and its file was not rejected.")
    for scoring in parked:
        # Its old turn was long ago: whoever comes now would begin there and pass those who have waited since.
        (scoring.turn,) = next_turns(session, submission.evaluation_id, [submission.team_id], scoring.priority).values()
        scoring.state = State.QUEUED
        scoring.errors = scoring.lost_leases = 0
        scoring.failure = ""
        scoring.damaged = False
        scoring.not_before = scoring.finished_at = None
    record(session, actor, "retry", submission, about=parked)


def retry_failed(session: Session, actor: Actor, evaluation: Evaluation) -> None:
    """Puts every run of an evaluation whose scoring failed back into the queue."""
    of_evaluation = ScoringSet.evaluation_id == evaluation.id, selection.IS_WANTED, Scoring.state == State.FAILED
    failed = sa.select(Scoring.submission_id).join(ScoringSet).where(*of_evaluation)
    for submission in session.scalars(sa.select(Submission).where(Submission.id.in_(failed)).order_by(Submission.id)):
        retry(session, actor, submission)


def _require_may_send(
    actor: Actor, evaluation: Evaluation, team: Team, begun_at: datetime, received_at: datetime
) -> None:
    access.require_known(actor, evaluation)
    access.require(actor.answers_for(team.id, evaluation.campaign_id), NOT_YOURS)
    if refused := access.submission_refusal(evaluation, begun_at, received_at):
        raise Conflict(f"{refused} {THE_PAST}" if actor.may_organise(evaluation.campaign_id) else refused)


def _locked_own(session: Session, actor: Actor, submission: Submission, what: str) -> Submission:
    """The run, by `locked_run`. Raises NotAllowed for whoever is neither of its team nor an organiser."""
    evaluation = submission.evaluation
    access.require_known(actor, evaluation)
    is_own = actor.answers_for(submission.team_id, evaluation.campaign_id)
    access.require(is_own, f"Only members of the team and organisers {what}.")
    return locked_run(session, submission.id)


def _refuse(reason: str | None) -> None:
    if reason is not None:
        raise Conflict(reason)


def _give_places_up(session: Session, actor: Actor, submission: Submission, *, primary: bool = False) -> None:
    """Ends it that runs off the boards hold their places against this run: of its system, or as primary one."""
    holders = selection.holders_against(session, submission, primary=primary)
    for holder in holders:
        holder.holds_place = False
        record(session, actor, "give place up", holder, to=submission.id)
    if holders:
        settle_primary(session, actor, submission)


def _own_system(session: Session, actor: Actor, team: Team, wanted: int | NewSystem) -> System:
    if isinstance(wanted, int):
        system = merged(session, session.get_one(System, wanted, populate_existing=True))
        if system.team_id != team.id:
            raise InvalidFields({"system": [f"{system.name!r} is not a system of {team.name}"]})
        return system
    try:
        return create_system(session, actor, team, wanted)
    except InvalidFields as error:
        # On the form of a run, "name" would be anything's.
        fields = {"new_system" if field == "name" else field: messages for field, messages in error.fields.items()}
        raise InvalidFields(fields) from None


def import_run(
    session: Session, actor: Actor, evaluation: Evaluation, system: System, upload: store.Received, **settings: Any
) -> Submission:
    """Takes a run of the past whose file is in the store already, and queues it. Dates refuse nothing, and no quota
    is counted.

    settings  any of PastRun. `received_at` is when the campaign received it: where that is not said the run's own
              date, else when the evaluation closed, else now, and marked as assumed. A run with `scored_at` was scored
              elsewhere: it keeps that date, and the rules of its time

    The team's members get a mail, one a day. Raises NotAllowed for whoever does not organise the campaign or may not
    bring runs of this team in, and InvalidFields with everything that is wrong.
    """
    access.require_organiser(actor, evaluation.campaign_id)
    may_bring_in = access.may_bring_in(session, actor, system.team_id)
    access.require(may_bring_in, "This team is neither yours nor of a campaign of yours.")
    # Shared: who merges the team with another waits for this run, or this run goes to the other team.
    locked(session, Team, system.team_id, shared=True)
    system = merged(session, session.get_one(System, system.id, populate_existing=True))
    # Shared: a scoring set that is being made waits for this run, or this run sees the set.
    evaluation = locked(session, Evaluation, evaluation.id, shared=True)
    values = checked(PastRun, settings).model_dump(exclude={"stand"})
    now = present()
    values["received_assumed"] = values["received_assumed"] or values["received_at"] is None
    received_at = values.pop("received_at") or values["run_at"] or evaluation.closes_at or now
    _locked_uses(session, evaluation.id, now, system.team_id)
    values["version"] = values["version"] or evaluation.period
    submission = Submission(
        evaluation_id=evaluation.id,
        team_id=system.team_id,
        system_id=system.id,
        begun_at=received_at,
        received_at=received_at,
        imported_at=now,
        imported_by_id=actor.user_id,
        charged=False,
        **values,
        **asdict(upload),
    )
    _queue(session, actor, "import run", submission)
    others = Membership.team_id == system.team_id, Membership.user_id.is_distinct_from(actor.user_id)
    once = f"of {system.team_id} in {evaluation.campaign_id} on {now:%Y-%m-%d}"
    users = session.scalars(sa.select(Membership.user_id).where(*others)).all()
    put_wanted(session, MailKind.IMPORTED, users, once=once, team=system.team_id, evaluation=evaluation.id)
    return submission


def go_by_source(session: Session, actor: Actor, evaluation: Evaluation, source: str) -> None:
    """Lets boards go by a source of judgments before there are any."""
    access.require_organiser(actor, evaluation.campaign_id)
    before, evaluation.official_source = evaluation.official_source, names.checked_slug(source, "official_source")
    record(session, actor, "make official", evaluation, source=source, before=before)
