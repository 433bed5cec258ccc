"""A run's file as a download.

The submission form of an evaluation.

The page that says what would become of a run and keeps nothing, and the same look at a file before it is queued.

A submission's page: its state until it is scored, its receipt and results, and what its team does with it.

What changes which run stands is asked for on a page that says what would change.
"""

import datetime as dt
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from flask import Blueprint, Response, abort, flash, jsonify, redirect, render_template, request, send_file, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session
from werkzeug.datastructures import MultiDict
from wtforms import BooleanField, Field, FileField, HiddenField, RadioField, SelectField, StringField, TextAreaField

from leaderboard.access import require
from leaderboard.accounts import rate_limits as attempts
from leaderboard.boards.reads.entries import NO_FIGURE
from leaderboard.errors import (
    Conflict,
    FileRejected,
    Gathered,
    InvalidFields,
    LeaderboardError,
    Missing,
    NotAllowed,
    NotFound,
    QuotaSpent,
)
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import FieldKind, FormField, checked_answers, form_name
from leaderboard.evaluations.writes import agreement_name, lacking_agreement
from leaderboard.formats import HEADER_BYTES, RUN_FORMATS, Metadata, beginning, run_metadata, side_metadata
from leaderboard.numbers import size
from leaderboard.results.reads.run import ThresholdCost, receipt, results
from leaderboard.store import Received
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.form import (
    AskedAgreement,
    Checking,
    Submitting,
    checking,
    completed,
    expected_of,
    submitting,
    waiting_run,
)
from leaderboard.submissions.reads.status import SubmissionStatus, status
from leaderboard.submissions.rules import Designation, RunChoice, State, retry_seconds
from leaderboard.submissions.rules.checks import CHECKED_BYTES, Checked, Expected, Looked, check_run
from leaderboard.submissions.writes import pending as staging
from leaderboard.submissions.writes import submissions
from leaderboard.submissions.writes import submissions as quotas
from leaderboard.submissions.writes.effects import ACTS, Act, Effect, effect
from leaderboard.teams.models import System, Team
from leaderboard.teams.writes import NewSystem
from leaderboard.web import charts, uploads
from leaderboard.web.context import actor, clock, config, database, now, page_number, read, reading, store, writing
from leaderboard.web.endpoints import plain
from leaderboard.web.exports import Cell, Table, column_facts, evaluation_facts, exported, file_name, terms_facts
from leaderboard.web.forms import Form, NumberField, Required, form_page
from leaderboard.web.security import csrf
from leaderboard.web.sessions import signed_in

LONGEST_STEM = 60  # characters of a received file's name that a fetched one keeps


def run_download(submission: int, sha256: str, filename: str) -> Response:
    """The bytes as received, only ever as a download: nothing that a team sends is shown by a browser from here."""
    try:
        with store().run_file(sha256) as path:
            file = path.open("rb")
    except NotFound:
        raise Missing(f"The stored file of submission {submission} is missing.") from None
    packed = file.peek(2)[:2] == b"\x1f\x8b"
    stem = file_name(filename).replace(".", "_").strip("-_")[:LONGEST_STEM]
    name = f"submission-{submission}-{stem}.txt{'.gz' if packed else ''}"
    answer: Response = send_file(file, mimetype="application/octet-stream", as_attachment=True, download_name=name)
    answer.headers["Cache-Control"] = "private, no-store"
    return answer


submitting_blueprint = Blueprint("submit", __name__)

Row = TypeVar("Row", Team, System)

ANY_UPLOAD_SECONDS = 24 * 3600  # where the installation sets no longest time of an upload
COUNTING_SECONDS = 300  # from the last byte of a file to its row, at most
NEW = "new-"  # a choice of the system field: a new system of the team with this id


class SubmitForm(Form):
    system = SelectField("System", [Required("choose a system, or a new one")], validate_choice=False)
    system_name = StringField(
        "Name of the new system",
        description="The system keeps this name over the years, so that its progress can be followed.",
        render_kw={"autocomplete": "off"},
    )
    run = FileField("Run file", render_kw={"aria-required": "true"})
    designation = RadioField("Primary or contrastive", [Required("choose one")], default=Designation.CONTRASTIVE.value)
    stand = BooleanField("Let this run stand for its system?")
    threshold = NumberField(
        "Threshold θ (optional)",
        description="Documents with a score of at least θ count as returned in AQWV and the set measures. Leave it "
        "empty when the file holds decisions, or when every listed document counts as returned.",
        render_kw={"inputmode": "decimal", "autocomplete": "off"},
    )
    label = StringField(
        "Label (optional)",
        description="Tells your own runs apart. Left empty, it is the file's run tag, or its name where it has none.",
        render_kw={"autocomplete": "off"},
    )
    notes = TextAreaField(
        "Notes (optional)", description="Only your team and the organisers see them.", render_kw={"rows": 3}
    )
    beside = FileField(
        "Metadata of the run (optional)",
        description="A YAML file such as ir_metadata's. Comment lines at the start of the run are read too. Everyone "
        "who sees whose run it is sees what either says, but for what a field reads that is shown to fewer.",
    )
    kept = HiddenField()

    @classmethod
    def on(cls, page: Submitting, given: MultiDict[str, str] | None = None) -> "SubmitForm":
        """The form with what this reader may choose, and what the organisers ask."""
        asked = {form_name(field.key): asked_field(field) for field in page.fields}
        ticks = {agreement_name(asked.key): agreement_field(asked) for asked in page.agreements}
        form: SubmitForm = type("AskedForm", (cls,), {**asked, **ticks})(formdata=given)
        for field in page.fields:
            if field.kind is FieldKind.CHOICE:
                form[form_name(field.key)].choices = [
                    ("", "As its metadata says" if field.header else "Choose one"),
                    *((choice, choice) for choice in field.choices),
                ]
            elif field.kind is FieldKind.YES_NO:
                # A radio button can't be unticked.
                none = [("", "As its metadata says" if field.header else "No answer")]
                is_needed = field.required and not field.header
                form[form_name(field.key)].choices = [*none[is_needed:], ("yes", "Yes"), ("no", "No")]
        if not page.returned_by:
            del form.threshold
        several = len(page.teams_with_quota) > 1
        choices = []
        for team in page.teams_with_quota:
            choices += [(str(own.id), f"{own.name} ({team.name})" if several else own.name) for own in team.systems]
            choices.append((f"{NEW}{team.id}", f"A new system of {team.name}"))
        # Nothing is preselected that a hurried reader could take for their own choice.
        form.system.choices = [("", "Choose a system"), *choices] if len(choices) > 1 else choices
        if page.run_choice is not RunChoice.PRIMARY:
            del form.stand
        primary = ", ".join(f"{team.primary} of {team.name}" for team in page.teams if team.primary)
        form.designation.choices = [
            (Designation.PRIMARY.value, "Primary: your team's one main run in this evaluation"),
            (Designation.CONTRASTIVE.value, "Contrastive: a variant, for comparison"),
        ]
        if primary:
            form.designation.description = f"Primary so far: {primary}. Another takes its place once it is scored."
        if page.from_metadata:
            named = "; ".join(
                f"{field.header} ({field.label}, {field.shown_to.in_words})" for field in page.from_metadata
            )
            form.beside.description = f"{form.beside.description} Read from either: {named}."
        for last in ("run", "beside"):  # as on the page: behind what is asked, also in the summary of what is wrong
            form._fields[last] = form._fields.pop(last)
        form.run.description = f"{RUN_FORMATS}, at most {size(config().upload_bytes)}."
        return form

    @classmethod
    def of_sent(cls, page: Submitting, sent: staging.SentRun) -> "SubmitForm":
        """The form as it was filled in for a run that was sent, with its file."""
        given = sent.given
        texts = {
            "system": f"{NEW}{sent.team_id}" if given.system is None else str(given.system),
            "system_name": given.new_system,
            "designation": given.designation,
            "threshold": "" if given.threshold is None else repr(given.threshold),
            "label": given.label,
            "notes": given.notes,
            "kept": uploads.keep(sent.upload),
        }
        texts |= {form_name(field.key): given.answers.get(field.key, "") for field in page.fields}
        texts |= {agreement_name(asked.key): str(asked.id) for asked in page.agreements if asked.id in given.accepted}
        return cls.on(page, MultiDict(texts | ({"stand": "y"} if given.stand else {})))

    def check(
        self,
        page: Submitting,
        posted: uploads.Posted,
        upload: Received | None,
        beside: Metadata,
        header: Mapping[str, str],
    ) -> bool:
        """Whether the form can be sent to the service; if not, each field says what it lacks, all of them at once.

        header  what the run's own comment lines say
        """
        good = bool(self.validate())
        wrong = Gathered()
        if isinstance(posted.refusal, InvalidFields) and not self.system.errors:
            wrong.fields |= posted.refusal.fields
        if posted.refused is not None:
            wrong.fields["run"] = [posted.refused]
        elif upload is None:
            wrong.fields["run"] = ["choose the file of the run"]
        if self.text("system").startswith(NEW) and not self.text("system_name").strip():
            wrong.fields["system_name"] = ["give the new system a name"]
        if beside.problem:
            wrong.fields["beside"] = [beside.problem]
        with wrong:
            submissions.checked_words(None, self.text("label"), self.text("notes"), "")
        unasked = [field for field in page.from_metadata if not field.in_form]
        with wrong:
            of_file = {**header, **beside.entries}
            checked_answers([*page.fields, *unasked], self.answers(page), of_file, named=False)
        for field in unasked:  # what is wrong there is mended in the file
            if said := wrong.fields.pop(form_name(field.key), None):
                wrong.fields.setdefault("run", []).extend(said)
        accepted = self.accepted(page)
        for asked in page.agreements:
            if asked.id not in accepted:
                wrong.fields[agreement_name(asked.key)] = [lacking_agreement(asked.title, asked.version)]
        self.refuse(wrong.fields)
        return good and not wrong.fields

    def ask_again(self, posted: uploads.Posted) -> None:
        """Says that the file beside the run has to come again with a form that comes back: only the run is kept."""
        if "beside" in posted.beside and not self.beside.errors:
            self.refuse({"beside": ["choose this file again: it is not kept while something else is wrong"]})

    def answers(self, page: Submitting) -> dict[str, str]:
        """What was answered to the organisers' fields, by key."""
        return {field.key: self.text(form_name(field.key)) for field in page.fields}

    def accepted(self, page: Submitting) -> list[int]:
        """The agreements that were ticked, in the versions that stood on the page that was sent."""
        ticked = ((asked.id, self[agreement_name(asked.key)].raw_data) for asked in page.agreements)
        return [id_ for id_, raw in ticked if raw and raw[0] == str(id_)]


def asked_field(asked: FormField) -> Field:
    """A field of the organisers'. Its answer is checked by the service."""
    hints = [f"{asked.shown_to.in_words.capitalize()}."]
    if asked.header:
        hints.insert(0, f"Read from {asked.header} of the run's metadata where you leave this empty.")
    if asked.hint:
        hints.insert(0, f"{asked.hint}{'' if asked.hint.endswith(('.', '!', '?')) else '.'}")
    label = asked.label if asked.required else f"{asked.label} (optional)"
    more: dict[str, Any] = {"description": " ".join(hints), "render_kw": {"autocomplete": "off"}}
    if asked.required and not asked.header:
        more["render_kw"]["aria-required"] = "true"
    match asked.kind:
        case FieldKind.CHOICE:
            return SelectField(label, choices=[], validate_choice=False, **more)
        case FieldKind.YES_NO:
            return RadioField(label, choices=[], default="", validate_choice=False, **more)
        case FieldKind.NUMBER:
            more["render_kw"]["inputmode"] = "decimal"
    return StringField(label, **more)


def agreement_field(asked: AskedAgreement) -> Field:
    """The tick of an agreement. Its value says which version was read."""
    return BooleanField(asked.title, render_kw={"value": str(asked.id), "aria-required": "true"})


@submitting_blueprint.get("/campaigns/<campaign>/<evaluation>/submit")
@signed_in
def new(campaign: str, evaluation: str) -> ResponseReturnValue:
    page = read(submitting, campaign, evaluation)
    return _page(page, SubmitForm.on(page))


@submitting_blueprint.post("/campaigns/<campaign>/<evaluation>/submit")
@signed_in
def send(campaign: str, evaluation: str) -> ResponseReturnValue:
    page = read(submitting, campaign, evaluation)
    refused = _refusal(page)
    if refused is not None:  # nothing of the form is read
        return _page(page, SubmitForm.on(page), refused)
    place = Place(page.evaluation.id, page.teams_with_quota[0].id)
    with ExitStack() as without_file:
        without_file.callback(place.give_up)
        posted = uploads.receive("run", place.hold_counted, {"beside": HEADER_BYTES})
        if posted.upload is not None:
            without_file.pop_all()  # what becomes of the file ends its place; should that fail, the place counts for it
    return _take_in(page, posted, place)


csrf.exempt(send)  # uploads.receive checks the token itself, before it keeps a byte of the file


class Place:
    """The place in the quotas that the file of this request holds, from before it is read until it is counted.

    any_team  whose place it holds where the form names no system: the form is refused for that, and its file is kept
              until one is chosen
    """

    def __init__(self, evaluation_id: int, any_team: int | None = None) -> None:
        self._evaluation_id = evaluation_id
        self._any_team = any_team
        self.id: int | None = None

    def hold(self, fields: MultiDict[str, str]) -> None:
        """Raises unless the team that the fields before the file name may send one."""
        longest = config().upload_seconds or ANY_UPLOAD_SECONDS
        with writing() as session:
            team = self.team(session, fields)
            self.id = submissions.reserve_quota(
                session,
                actor(),
                session.get_one(Evaluation, self._evaluation_id),
                team,
                begun_at=now(),
                now=clock(),
                expires_at=clock() + dt.timedelta(seconds=longest + COUNTING_SECONDS),
            )

    def hold_counted(self, fields: MultiDict[str, str]) -> None:
        """As `hold`, of a file that is kept though the form may have mistakes: they are so many an hour at most."""
        user_id = actor().user_id
        if user_id is not None:
            attempts.count(database(), attempts.FORM_FILE, clock(), "", user=user_id)
        self.hold(fields)

    def team(self, session: Session, fields: MultiDict[str, str]) -> Team:
        """The team that the fields name."""
        choice = fields.get("system", "")
        if not choice and self._any_team is not None:
            choice = f"{NEW}{self._any_team}"
        return _team(session, choice)

    def give_up(self) -> None:
        """Ends it, where one is held."""
        if self.id is not None:
            with writing() as session:
                quotas.release_quota(session, self.id)


def _take_in(page: Submitting, posted: uploads.Posted, place: Place) -> ResponseReturnValue:
    form = SubmitForm.on(page, posted.fields)
    if posted.refusal is not None and not isinstance(posted.refusal, InvalidFields):
        return _page(page, form, posted.refusal)
    upload = posted.upload or uploads.kept(form.text("kept"))
    form.kept.data = uploads.keep(upload)
    beside = side_metadata(posted.beside["beside"]) if "beside" in posted.beside else Metadata()
    header = header_of(upload) if upload is not None else {}
    if not form.check(page, posted, upload, beside, header) or upload is None:
        form.ask_again(posted)
        place.give_up()
        return _page(page, form, upload=upload)
    found: Checked | None = None
    try:
        with reading() as session:
            team, given = _given(session, page, form, beside, header)
            evaluation = session.get_one(Evaluation, page.evaluation.id)
            expected = expected_of(session, actor(), evaluation, now(), to_submit=True)
        found = check_stored(expected, page.evaluation.id, upload, given.threshold, [team])
        if found.problem_count:
            count_rejected(page.evaluation.id, posted.received_at, place)
            form.ask_again(posted)
            return _rejected(page, form, found)
        moments: dict[str, Any] = {"begun_at": now(), "received_at": posted.received_at, "place": place.id}
        with suppress(_Doubtful), writing() as session:
            evaluation, own = session.get_one(Evaluation, page.evaluation.id), session.get_one(Team, team)
            run = given.submit(session, actor(), evaluation, own, upload, **moments)
            if found.warnings:  # it could be submitted: now it waits for a yes instead
                raise _Doubtful
            return redirect(url_for("submissions.show", submission=run.id))
        with writing() as session:
            evaluation, own = session.get_one(Evaluation, page.evaluation.id), session.get_one(Team, team)
            staged = staging.stage(
                session, actor(), evaluation, staging.SentRun(own.id, upload, given), now=clock(), **moments
            )
    except LeaderboardError as error:
        if found is not None and found.tells_of_hidden:
            count_rejected(page.evaluation.id, posted.received_at, place)
        form.ask_again(posted)
        place.give_up()
        return _page(page, form, error, upload=upload)
    return redirect(_waiting_address(page, staged.id))


def header_of(upload: Received) -> dict[str, str]:
    """What the comment lines of a run that the store has say of it."""
    with store().run_file(upload.sha256) as path:
        return run_metadata(path, upload.filename)


def _page(
    page: Submitting,
    form: SubmitForm,
    error: LeaderboardError | None = None,
    *,
    upload: Received | None = None,
    found: Checked | None = None,
) -> ResponseReturnValue:
    """The form. upload: the file that has arrived and need not be sent again; found: what is wrong with another."""
    return form_page("submit/new.html", form, error, page=page, upload=upload, found=found)


def _rejected(page: Submitting, form: SubmitForm, found: Checked) -> ResponseReturnValue:
    """The form once more, with what is wrong with a file that nobody could score: another one has to be chosen."""
    form.kept.data = ""
    form.refuse({"run": ["this file would be rejected, so it was not submitted: choose another one"]})
    return _page(page, form, found=found)


class _Doubtful(Exception):
    """A run could be submitted, and something about it is most likely a slip: what was written is rolled back."""


@submitting_blueprint.get("/campaigns/<campaign>/<evaluation>/submit/<int:waiting>")
@signed_in
def waiting(campaign: str, evaluation: str, waiting: int) -> ResponseReturnValue:
    """A run that waits for its sender's yes, and why."""
    page = read(submitting, campaign, evaluation)
    with reading() as session:
        staged = waiting_run(session, actor(), page.evaluation.id, waiting, clock())
        if staged.submission is not None:
            return redirect(url_for("submissions.show", submission=staged.submission))
        if staged.taken_back:
            return redirect(url_for("submit.new", campaign=campaign, evaluation=evaluation))
        evaluated = session.get_one(Evaluation, page.evaluation.id)
        expected = expected_of(session, actor(), evaluated, now(), to_submit=True)
    found = check_stored(expected, page.evaluation.id, staged.upload, staged.threshold, [staged.team_id])
    return render_template("submit/waiting.html", page=page, staged=staged, found=found)


@submitting_blueprint.post("/campaigns/<campaign>/<evaluation>/submit/<int:waiting>")
@signed_in
def confirm(campaign: str, evaluation: str, waiting: int) -> ResponseReturnValue:
    """The yes. A second one, of a hand that was quicker than the page, leads to the same submission."""
    page = read(submitting, campaign, evaluation)
    with _deciding(page, waiting) as (session, where):
        run = staging.confirm(session, actor(), where, waiting, clock())
    return redirect(url_for("submissions.show", submission=run.id))


@submitting_blueprint.post("/campaigns/<campaign>/<evaluation>/submit/<int:waiting>/discard")
@signed_in
def discard(campaign: str, evaluation: str, waiting: int) -> ResponseReturnValue:
    """The no."""
    page = read(submitting, campaign, evaluation)
    with _deciding(page, waiting) as (session, where):
        staging.discard(session, actor(), where, waiting, clock())
    flash("The file is given up. Nothing was submitted.")
    return redirect(url_for("submit.new", campaign=campaign, evaluation=evaluation))


@submitting_blueprint.post("/campaigns/<campaign>/<evaluation>/submit/<int:waiting>/change")
@signed_in
def change(campaign: str, evaluation: str, waiting: int) -> ResponseReturnValue:
    """Neither yes nor no: back to the form as it was filled in, with its file. The run waits no longer, and the page
    that is loaded again shows the same form.
    """
    page = read(submitting, campaign, evaluation)
    with _deciding(page, waiting) as (session, where):
        sent = staging.take_back(session, actor(), where, waiting, clock())
        page = submitting(session, actor(), campaign, evaluation, now())  # with the place that the run held
        refused = _refusal(page)
        if refused is not None:  # it could only be given up, while a yes may still do
            raise refused
    if sent.given.said:
        flash("Choose the file with the run's metadata again: only the run itself is kept.", "warning")
    form = SubmitForm.of_sent(page, sent)
    return render_template("submit/new.html", form=form, page=page, upload=sent.upload, found=None)


@contextmanager
def _deciding(page: Submitting, waiting: int) -> Iterator[tuple[Session, Evaluation]]:
    """A transaction in which something becomes of a run that waits; why nothing does is told on its page, which leads
    on where it waits no longer. Raises NotFound where there is none.
    """
    try:
        with writing() as session:
            yield session, session.get_one(Evaluation, page.evaluation.id)
    except NotFound:
        raise
    except LeaderboardError as error:
        flash(error.message, "warning")
        abort(redirect(_waiting_address(page, waiting)))


def _waiting_address(page: Submitting, waiting: int) -> str:
    where = page.evaluation
    return url_for("submit.waiting", campaign=where.campaign.slug, evaluation=where.slug, waiting=waiting)


def _refusal(page: Submitting) -> LeaderboardError | None:
    """Why this reader can submit nothing here now, whatever the form holds."""
    if page.closed is not None:
        return Conflict(page.closed)
    if not page.teams:
        return NotAllowed("Runs are submitted by teams, and you are in none.")
    if not page.teams_with_quota:
        return QuotaSpent(retry_seconds=retry_seconds(page.quotas, now()))  # the page says which, for each team
    return None


def count_rejected(evaluation_id: int, received_at: dt.datetime, place: Place) -> None:
    """Counts a file that was judged wrong before the queue among the person's rejected ones, and ends its place."""
    user_id = actor().user_id
    if user_id is None:
        return
    with writing() as session:
        evaluation = session.get_one(Evaluation, evaluation_id)
        quotas.count_unused_file(session, evaluation, user_id, received_at, place.id)


def _given(
    session: Session, page: Submitting, form: SubmitForm, beside: Metadata, header: Mapping[str, str]
) -> tuple[int, staging.FormValues]:
    """The team, and what the form says of the run."""
    team, system = _chosen(session, form)
    return team.id, staging.FormValues(
        system=None if isinstance(system, NewSystem) else system.id,
        new_system=system.name if isinstance(system, NewSystem) else "",
        designation=form.designation.data,
        stand=form.stand is not None and form.stand.data,
        threshold=form.threshold.data if form.threshold is not None else None,
        label=form.text("label"),
        notes=form.text("notes"),
        answers=form.answers(page),
        accepted=tuple(form.accepted(page)),
        said=beside.entries,
        header=header,
    )


def _chosen(session: Session, form: SubmitForm) -> tuple[Team, System | NewSystem]:
    """The system that the form names, one that exists or a new one, and its team."""
    choice = form.text("system")
    team = _team(session, choice)
    return team, NewSystem(form.text("system_name")) if choice.startswith(NEW) else _row(session, System, choice)


def _team(session: Session, choice: str) -> Team:
    """The team of a system, or of a new one, by the choice in the form. Raises InvalidFields for what is no choice."""
    if choice.startswith(NEW):
        return _row(session, Team, choice.removeprefix(NEW))
    return _row(session, System, choice).team


def _row(session: Session, model: type[Row], key: str) -> Row:
    if not (key.isascii() and key.isdecimal() and len(key) < 10):
        raise InvalidFields({"system": ["choose one of the list"]})
    row = session.get(model, int(key))
    if row is None:
        raise NotAllowed(submissions.NOT_YOURS)  # as for one of another team, so that nobody learns which there are
    return row


checking_blueprint = Blueprint("run_checks", __name__)

# Each takes up to some hundred megabytes for a second: more at once would bound nobody's memory.
AT_ONCE = threading.BoundedSemaphore(2)


class CheckForm(Form):
    run = FileField("Run file", description=f"{RUN_FORMATS}.", render_kw={"aria-required": "true"})
    threshold = NumberField(
        "Threshold θ (optional)",
        description="As you would give it when you submit the run.",
        render_kw={"inputmode": "decimal", "autocomplete": "off"},
    )


@checking_blueprint.get("/campaigns/<campaign>/<evaluation>/check")
@signed_in
def new_check(campaign: str, evaluation: str) -> ResponseReturnValue:
    page = read(checking, campaign, evaluation)
    return form_page("submit/check.html", _check_form(page), page=page, found=None)


@checking_blueprint.post("/campaigns/<campaign>/<evaluation>/check")
@signed_in
def check(campaign: str, evaluation: str) -> ResponseReturnValue:
    page = read(checking, campaign, evaluation)
    fields, looked = uploads.look("run", CHECKED_BYTES)
    form = _check_form(page, fields)
    good = bool(form.validate())
    if looked is None:
        form.refuse({"run": ["choose the file of the run"]})
    if looked is None or not good:
        return form_page("submit/check.html", form, page=page, found=None)
    threshold = form.threshold.data if form.threshold is not None else None
    found = check_looked(looked, page.expected, page.evaluation.id, threshold, actor().teams)
    return render_template("submit/check.html", form=form, page=page, found=found)


csrf.exempt(check)  # uploads.look checks the token itself, before it reads a byte of the file


def check_stored(
    expected: Expected, evaluation_id: int, upload: Received, threshold: float | None, teams: Collection[int]
) -> Checked:
    """What would become of a run that the store has."""
    with store().run_file(upload.sha256) as path:
        return check_received(expected, evaluation_id, upload, path, threshold, teams)


def check_received(
    expected: Expected,
    evaluation_id: int,
    upload: Received,
    path: Path,
    threshold: float | None,
    teams: Collection[int],
) -> Checked:
    """What would become of a run that has come and lies at `path`."""
    try:
        text, whole = beginning(path, CHECKED_BYTES, upload.filename)
        looked = Looked(upload.filename, text, whole, upload.text_sha256)
    except FileRejected as refused:
        looked = Looked(upload.filename, b"", True, upload.text_sha256, refused)
    return check_looked(looked, expected, evaluation_id, threshold, teams)


def check_looked(
    looked: Looked, expected: Expected, evaluation_id: int, threshold: float | None, teams: Collection[int]
) -> Checked:
    """What would become of a run that was looked at."""
    with AT_ONCE:
        found, run = check_run(looked, expected, threshold=threshold)
        with reading() as session:
            return completed(session, actor(), evaluation_id, found, run, looked.text_sha256, teams, now())


def _check_form(page: Checking, given: object = None) -> CheckForm:
    form = CheckForm(formdata=given)
    if not page.expected.returned_by:
        del form.threshold
    return form


blueprint = Blueprint("submissions", __name__)


class DescribeForm(Form):
    label = StringField("Label", description="A short name that tells your runs apart; boards show it.")
    notes = TextAreaField(
        "Notes (optional)", description="Only your team and the organisers see them.", render_kw={"rows": 5}
    )


@blueprint.get("/submissions/<int:submission>")
def show(submission: int) -> ResponseReturnValue:
    with reading() as session:
        run = read(status, submission, within=session)
        shown = own = None
        if run.state == State.SCORED and run.results_open:
            shown = read(results, submission, asked=("measure", "sort"), page=page_number(), within=session)
            own = read(receipt, submission, within=session)
    chart = charts.differences_chart(shown) if shown else None
    return render_template("submissions/show.html", run=run, results=shown, chart=chart, receipt=own)


@blueprint.get("/submissions/<int:submission>/receipt.json")
def score_receipt(submission: int) -> ResponseReturnValue:
    return jsonify(plain(read(receipt, submission)))


@blueprint.get("/submissions/<int:submission>/file")
@signed_in
def fetch(submission: int) -> ResponseReturnValue:
    """The run's file as it was received, for its team and the organisers."""
    run = own_run(submission)
    return run_download(run.id, run.receipt, run.filename)


@exported(blueprint, "/submissions/<int:submission>")
def show_file(submission: int) -> Table:
    """Its means, and its per-query values where they may be seen."""
    shown = read(results, submission, asked=("sort",))
    names = [column.name for column in shown.columns]
    means: dict[str, Cell] = dict(zip(names, (figure.mean for figure in shown.figures), strict=True))
    rows: list[dict[str, Cell]] = [{"query": "all", "missing": None, **means}]
    for row in shown.queries:
        values = dict(zip((column.name for column in shown.value_columns), row.values, strict=True))
        rows.append({"query": row.external_id, "missing": row.missing, **values})
    facts = {
        "submission": shown.id,
        "system": shown.system.name,
        "team": shown.system.team,
        "evaluation": evaluation_facts(shown.evaluation),
        "terms": terms_facts(shown.terms),
        "measures": [column_facts(column) for column in shown.columns],
        "threshold_costs": [_cost(cost) for cost in shown.threshold_costs],
    }
    return Table(f"submission-{shown.id}", ["query", "missing", *names], rows, facts)


def _cost(cost: ThresholdCost) -> dict[str, Cell]:
    figure = cost.figure or NO_FIGURE
    return {
        "figure": cost.name,
        "one_threshold": cost.figure is not None,
        "mean": figure.mean,
        "low": figure.low,
        "high": figure.high,
    }


@blueprint.get("/submissions/<int:submission>/status")
def progress(submission: int) -> ResponseReturnValue:
    """What the page still waits for; its script asks for this."""
    run = read(status, submission)
    return render_template("submissions/progress.html", run=run)


@blueprint.get("/submissions/<int:submission>/describe")
@signed_in
def describe(submission: int) -> ResponseReturnValue:
    run = own_run(submission)
    return form_page("submissions/describe.html", DescribeForm(label=run.title, notes=run.notes), run=run)


@blueprint.post("/submissions/<int:submission>/describe")
@signed_in
def save_description(submission: int) -> ResponseReturnValue:
    run, form = own_run(submission), DescribeForm()
    try:
        with writing() as session:
            row = session.get_one(Submission, submission)
            submissions.describe(session, actor(), row, label=form.text("label"), notes=form.text("notes"))
    except InvalidFields as error:
        return form_page("submissions/describe.html", form, error, run=run)
    flash("Label and notes are changed.")
    return redirect(url_for("submissions.show", submission=submission))


def own_run(submission: int) -> SubmissionStatus:
    """A run that the reader may do something to. Raises NotFound, and NotAllowed for a run of others."""
    run = read(status, submission)
    require(run.may_act, "Only members of the team and organisers do this.")
    return run


DECIDED = {
    Act.WITHDRAW: "The run is withdrawn: it is on no board and stays on record.",
    Act.STAND: "You chose this run to stand for its system on the board.",
    Act.PRIMARY: "This is the team's primary run now.",
}


def effect_of(submission: int, act: Act) -> Effect:
    """What the act would change; it is done for that, and undone."""
    with writing() as session:
        return effect(session, actor(), submission, now(), act=act)


def _ask(submission: int, *, act: Act) -> ResponseReturnValue:
    """The page that says what would change, and asks."""
    run = own_run(submission)
    return render_template("submissions/decide.html", run=run, act=act.value, effect=effect_of(submission, act))


def _decide(submission: int, *, act: Act) -> ResponseReturnValue:
    own_run(submission)
    reason = {"because": request.form.get("because", "")} if act is Act.WITHDRAW else {}
    try:
        with writing() as session:
            ACTS[act](session, actor(), session.get_one(Submission, submission), now=clock(), **reason)
    except Conflict as refused:
        flash(refused.message, "warning")
    else:
        flash(DECIDED[act])
    return redirect(url_for("submissions.show", submission=submission))


for _act in DECIDED:
    _address = f"/submissions/<int:submission>/{_act.value}"
    blueprint.add_url_rule(_address, f"ask_{_act.value}", signed_in(partial(_ask, act=_act)))
    blueprint.add_url_rule(_address, _act.value, signed_in(partial(_decide, act=_act)), methods=["POST"])
