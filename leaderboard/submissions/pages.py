"""A run's file as a download.

The submission form of an evaluation.

The page that says what would become of a run and keeps nothing, and the same look at a file before it is queued.

A submission's page: its state until it is scored, its receipt and results, and what its team does with it.

What changes which run stands is asked for on a page that says what would change.
"""

import datetime as dt
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any, TypeVar

from flask import Blueprint, Response, flash, jsonify, redirect, render_template, request, send_file, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session
from werkzeug.datastructures import MultiDict
from wtforms import BooleanField, Field, FileField, HiddenField, RadioField, SelectField, StringField

from leaderboard import errors
from leaderboard.access import require
from leaderboard.accounts import rate_limits as attempts
from leaderboard.boards.reads.entries import NO_FIGURE
from leaderboard.declared.inputs import checked_partly
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import FieldKind, FormField, form_name
from leaderboard.evaluations.writes import agreement_name
from leaderboard.formats import RUN_FORMATS, Metadata
from leaderboard.numbers import size
from leaderboard.results.reads.run import receipt, results
from leaderboard.store import Received
from leaderboard.submissions.inputs import RunSettings, RunWords
from leaderboard.submissions.intake import Intake, SentRun, check_looked, receive_run, said_beside
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.form import (
    AskedAgreement,
    Checking,
    Submitting,
    checking,
    submitting,
)
from leaderboard.submissions.reads.status import SubmissionStatus, sent_under, status
from leaderboard.submissions.rules import CHECKED_BYTES, Checked, RunChoice, State, retry_seconds
from leaderboard.submissions.writes import submissions
from leaderboard.teams.models import System, Team
from leaderboard.web import charts, uploads
from leaderboard.web.context import actor, clock, config, database, now, page_number, read, reading, store, writing
from leaderboard.web.endpoints import plain
from leaderboard.web.exports import Cell, Table, column_facts, evaluation_facts, exported, file_name, terms_facts
from leaderboard.web.forms import Form, Required, answered, declared, done, fields_of, filled, form_page
from leaderboard.web.organise import require_confirmed
from leaderboard.web.security import csrf
from leaderboard.web.sessions import signed_in

LONGEST_STEM = 60  # characters of a received file's name that a fetched one keeps


def run_download(submission: int, sha256: str, filename: str) -> Response:
    """The bytes as received, only ever as a download: nothing that a team sends is shown by a browser from here."""
    try:
        with store().run_file(sha256) as path:
            file = path.open("rb")
    except errors.NotFound:
        raise errors.Missing(f"The stored file of submission {submission} is missing.") from None
    packed = file.peek(2)[:2] == b"\x1f\x8b"
    stem = file_name(filename).replace(".", "_").strip("-_")[:LONGEST_STEM]
    name = f"submission-{submission}-{stem}.txt{'.gz' if packed else ''}"
    answer: Response = send_file(file, mimetype="application/octet-stream", as_attachment=True, download_name=name)
    answer.headers["Cache-Control"] = "private, no-store"
    return answer


submitting_blueprint = Blueprint("submit", __name__)

Row = TypeVar("Row", Team, System)

NEW = "new-"  # a choice of the system field: a new system of the team with this id


RUN_FIELDS = fields_of(RunSettings)


class SubmitForm(Form):
    system = SelectField("System", [Required("choose a system, or a new one")], validate_choice=False)
    system_name = StringField(
        "Name of the new system",
        description="The system keeps this name over the years, so that its progress can be followed.",
        render_kw={"autocomplete": "off"},
    )
    designation, stand, threshold, label, notes = (
        RUN_FIELDS[name] for name in ("designation", "stand", "threshold", "label", "notes")
    )
    kept = HiddenField()

    @classmethod
    def on(cls, page: Submitting, given: MultiDict[str, str] | None = None) -> "SubmitForm":
        """The form with what this reader may choose, and what the organisers ask."""
        asked = {form_name(field.key): asked_field(field) for field in page.fields}
        ticks = {agreement_name(asked.key): agreement_field(asked) for asked in page.agreements}
        named = "; ".join(f"{field.header} ({field.label}, {field.shown_to.in_words})" for field in page.from_metadata)
        files = {  # as on the page: behind what is asked, also in the summary of what is wrong
            "run": FileField(
                "Run file",
                description=f"{RUN_FORMATS}, at most {size(config().upload_bytes)}.",
                render_kw={"aria-required": "true"},
            ),
            "beside": FileField(
                "Metadata of the run (optional)",
                description="A YAML file such as ir_metadata's. Comment lines at the start of the run are read too. "
                "Public with your run, except answers that the organisers keep private."
                + (f" Read from either: {named}." if named else ""),
            ),
        }
        form: SubmitForm = type("AskedForm", (cls,), {**asked, **ticks, **files})(formdata=given)
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
        if primary:
            form.designation.description = f"Primary so far: {primary}. Another takes its place once it is scored."
        return form

    def check(self, posted: uploads.Posted, upload: Received | None, beside: Metadata) -> dict[str, list[str]]:
        """What is wrong with the form as far as it knows, by field; the service finds the rest."""
        self.validate()
        self.refuse(self.settings()[1])
        wrong: dict[str, list[str]] = {name: [] for name, field in self._fields.items() if field.errors}
        if isinstance(posted.refusal, errors.InvalidFields) and not self.system.errors:
            wrong |= {name: [*messages] for name, messages in posted.refusal.fields.items()}
        if upload is None or posted.refused is not None:
            wrong["run"] = [posted.refused or "choose the file of the run"]
        if beside.problem:
            wrong["beside"] = [beside.problem]
        return wrong

    def settings(self) -> tuple[RunSettings, dict[str, list[str]]]:
        """What is said of the run, as far as it can be used, and what is wrong with it."""
        own = {name: field.data for name, field in self._fields.items() if name in RunSettings.model_fields}
        return checked_partly(RunSettings, own)

    def sent(self, session: Session, page: Submitting, upload: Received | None, said: Mapping[str, str]) -> SentRun:
        """What the form says of the run. said: what its metadata says.

        Raises InvalidFields.
        """
        choice = self.text("system")
        is_new = choice.startswith(NEW)
        settings = self.settings()[0]
        details = {
            **settings.given(),
            "answers": {field.key: self.text(form_name(field.key)) for field in page.fields},
            "accepted": [asked.id for asked in page.agreements if self._is_accepted(asked)],
            "said": said,
        }
        team = _team(session, choice).id
        system = self.text("system_name") if is_new else _row(session, System, choice).id
        return SentRun(team, system, upload, details)

    def _is_accepted(self, asked: AskedAgreement) -> bool:
        """Whether it was ticked, in the version that stood on the page that was sent."""
        return str(asked.id) in (self[agreement_name(asked.key)].raw_data or ())


def asked_field(asked: FormField) -> Field:
    """A field of the organisers'. Its answer is checked by the service."""
    hints = [f"{asked.shown_to.in_words.capitalize()}."]
    if asked.header:
        hints.insert(0, f"Read from {asked.header} of the run's metadata where you leave this empty.")
    if asked.hint:
        hints.insert(0, f"{asked.hint}{'' if asked.hint.endswith(('.', '!', '?')) else '.'}")
    must_be_filled = asked.required and not asked.header
    attributes = {"autocomplete": "off"} | ({"aria-required": "true"} if must_be_filled else {})
    label = asked.label if asked.required else f"{asked.label} (optional)"
    more: dict[str, Any] = {"description": " ".join(hints), "render_kw": attributes}
    match asked.kind:
        case FieldKind.CHOICE:
            none = "As its metadata says" if asked.header else "Choose one"
            choices = {"": none, **{choice: choice for choice in asked.choices}}
            return SelectField(label, choices=choices, validate_choice=False, **more)
        case FieldKind.YES_NO:
            # A radio button can't be unticked.
            choices = {"": "As its metadata says" if asked.header else "No answer", "yes": "Yes", "no": "No"}
            if must_be_filled:
                del choices[""]
            return RadioField(label, choices=choices, default="", validate_choice=False, **more)
        case FieldKind.NUMBER:
            attributes["inputmode"] = "decimal"
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
    # In the grace a file that came in time may still be confirmed; else nothing of the form is read.
    if refused is not None and not (page.evaluation.phase == "closing" and page.teams_with_quota):
        return _page(page, SubmitForm.on(page), refused)
    team = page.teams_with_quota[0].id

    def team_of(session: Session, fields: MultiDict[str, str]) -> Team:
        # Where the form names no system it is refused for that, and its file is kept until one is chosen.
        return _team(session, fields.get("system") or f"{NEW}{team}")

    def hold(fields: MultiDict[str, str]) -> None:
        user_id = actor().user_id  # a file is kept though the form may have mistakes: so many an hour at most
        if user_id is not None:
            attempts.count(database(), attempts.FORM_FILE, clock(), "", user=user_id)
        intake.hold(fields)

    intake = Intake(page.evaluation.id, team_of)
    with ExitStack() as without_file:
        without_file.callback(intake.give_up)
        posted = receive_run(hold)
        if posted.upload is not None:
            without_file.pop_all()  # what becomes of the file ends its place; should that fail, the place counts for it
    return _take_in(page, posted, intake)


csrf.exempt(send)  # uploads.receive checks the token itself, before it keeps a byte of the file


def _take_in(page: Submitting, posted: uploads.Posted, intake: Intake) -> ResponseReturnValue:
    form = SubmitForm.on(page, posted.fields)
    if posted.refusal is not None and not isinstance(posted.refusal, errors.InvalidFields):
        return _page(page, form, posted.refusal)
    upload, kept = uploads.kept_with(form.text("kept"))
    if posted.upload is not None or upload is None:
        upload, kept = posted.upload, {}
    intake.key = kept.get("key")  # pressed twice, the button of a form that came back sends one run
    # A proof that a page of organisers made holds none of these.
    kept = {"begun_at": now().isoformat(), "key": secrets.token_urlsafe(), "said": {}} | kept
    beside = said_beside(posted)
    kept["said"] = beside.entries or kept["said"]
    form.kept.data = uploads.keep(upload, **kept)
    wrong = form.check(posted, upload, beside)
    try:
        with reading() as session:
            sent = form.sent(session, page, upload, kept["said"])
        run = intake.submit(sent, wrong, posted, dt.datetime.fromisoformat(kept["begun_at"]))
    except errors.LeaderboardError as error:
        intake.give_up()
        earlier = read(sent_under, intake.key)
        if earlier is None:
            return _refused(page, form, error, wrong, upload, intake.checked)
        run = earlier  # the button was pressed twice
    return redirect(url_for("submissions.show", submission=run))


def _refused(
    page: Submitting,
    form: SubmitForm,
    error: errors.LeaderboardError,
    wrong: dict[str, list[str]],
    upload: Received | None,
    checked: Checked,
) -> ResponseReturnValue:
    """The form again, with what is wrong, or what is to be confirmed. The file need not be sent again."""
    if isinstance(error, errors.Unconfirmed):
        return _page(page, form, error, upload=upload, checked=checked)
    if not isinstance(error, errors.InvalidFields):
        return _page(page, form, error, upload=upload)
    if checked.problem_count:  # another file has to be chosen
        form.kept.data, upload = "", None
        wrong["run"] = ["this file would be rejected, so it was not submitted: choose another one"]
    for name, messages in {**error.fields, **wrong}.items():
        if name != "confirm":  # what is wrong with an answer that only the file gives is mended in the file
            form.refuse({name if name in form or not name.startswith(form_name("")) else "run": messages})
    return _page(page, form, upload=upload, checked=checked if checked.problem_count else None)


def _page(
    page: Submitting,
    form: SubmitForm,
    error: errors.LeaderboardError | None = None,
    *,
    upload: Received | None = None,
    checked: Checked | None = None,
) -> ResponseReturnValue:
    """The form. upload: the file that has arrived and need not be sent again; checked: what is said of it, or why it
    was refused.
    """
    return form_page("submit/new.html", form, error, page=page, upload=upload, found=checked)


def _refusal(page: Submitting) -> errors.LeaderboardError | None:
    """Why this reader can submit nothing here now, whatever the form holds."""
    if page.closed is not None:
        return errors.Conflict(page.closed)
    if not page.teams:
        return errors.NotAllowed("Runs are submitted by teams, and you are in none.")
    if not page.teams_with_quota:
        return errors.QuotaSpent(retry_seconds=retry_seconds(page.quotas, now()))  # the page says which, for each team
    return None


def _team(session: Session, choice: str) -> Team:
    """The team of a system, or of a new one, by the choice in the form. Raises InvalidFields for what is no choice."""
    if choice.startswith(NEW):
        return _row(session, Team, choice.removeprefix(NEW))
    return _row(session, System, choice).team


def _row(session: Session, model: type[Row], key: str) -> Row:
    if not (key.isascii() and key.isdecimal() and len(key) < 10):
        raise errors.InvalidFields({"system": ["choose one of the list"]})
    row = session.get(model, int(key))
    if row is None:
        # As for one of another team, so that nobody learns which there are.
        raise errors.NotAllowed(submissions.NOT_YOURS)
    return row


checking_blueprint = Blueprint("run_checks", __name__)


class CheckForm(Form):
    run = FileField("Run file", description=f"{RUN_FORMATS}.", render_kw={"aria-required": "true"})
    threshold = RUN_FIELDS["threshold"]


@checking_blueprint.get("/campaigns/<campaign>/<evaluation>/check")
@signed_in
def new_check(campaign: str, evaluation: str) -> ResponseReturnValue:
    page = read(checking, campaign, evaluation)
    return form_page("submit/check.html", _check_form(page), page=page)


@checking_blueprint.post("/campaigns/<campaign>/<evaluation>/check")
@signed_in
def check(campaign: str, evaluation: str) -> ResponseReturnValue:
    page = read(checking, campaign, evaluation)
    fields, looked = uploads.look("run", CHECKED_BYTES)
    form = _check_form(page, fields)
    settings, wrong = checked_partly(RunSettings, {"threshold": fields.get("threshold", "")})
    if looked is None:
        wrong["run"] = ["choose the file of the run"]
    if looked is None or wrong:
        return form_page("submit/check.html", form, errors.InvalidFields(wrong), page=page)
    found = check_looked(looked, page.expected, page.evaluation.id, settings.threshold, actor().teams)
    return render_template("submit/check.html", form=form, page=page, found=found)


csrf.exempt(check)  # uploads.look checks the token itself, before it reads a byte of the file


def _check_form(page: Checking, given: object = None) -> CheckForm:
    form = CheckForm(formdata=given)
    if not page.expected.returned_by:
        del form.threshold
    return form


blueprint = Blueprint("submissions", __name__)
DescribeForm = declared(RunWords)


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
        "threshold_costs": [
            {
                "figure": cost.name,
                "one_threshold": cost.figure is not None,
                **{name: getattr(cost.figure or NO_FIGURE, name) for name in ("mean", "low", "high")},
            }
            for cost in shown.threshold_costs
        ],
    }
    return Table(f"submission-{shown.id}", ["query", "missing", *names], rows, facts)


@blueprint.get("/submissions/<int:submission>/status")
def progress(submission: int) -> ResponseReturnValue:
    """What the page still waits for; its script asks for this."""
    run = read(status, submission)
    return render_template("submissions/progress.html", run=run)


@blueprint.get("/submissions/<int:submission>/describe")
@blueprint.post("/submissions/<int:submission>/describe", endpoint="save_description")
@signed_in
def describe(submission: int) -> ResponseReturnValue:
    run = own_run(submission)
    form = filled(DescribeForm, {"label": run.title, "notes": run.notes})

    def save() -> ResponseReturnValue:
        with writing() as session:
            submissions.describe(session, actor(), session.get_one(Submission, submission), **form.sent())
        flash("Label and notes are changed.")
        return redirect(url_for("submissions.show", submission=submission))

    return answered(form, "submissions/describe.html", save, checks=True, run=run)


def own_run(submission: int) -> SubmissionStatus:
    """A run that the reader may do something to. Raises NotFound, and NotAllowed for a run of others."""
    run = read(status, submission)
    require(run.may_act, "Only members of the team and organisers do this.")
    return run


# What a team decides about a run, by its address; and what is said of it then.
DECISIONS: dict[str, tuple[Callable[..., None], str]] = {
    "withdraw": (submissions.withdraw, "The run is withdrawn: it is on no board and stays on record."),
    "stand": (submissions.select_run, "You chose this run to stand for its system on the board."),
    "primary": (submissions.make_primary, "This is the team's primary run now."),
}


def _ask(submission: int, *, act: str) -> ResponseReturnValue:
    """The page that says what would change, and asks: it is done for that, and undone."""
    run, refusal = own_run(submission), ""
    listed: Sequence[str] = ()
    try:
        with writing() as session:
            row = session.get_one(Submission, submission)
            DECISIONS[act][0](session, actor(), row, now=clock())
            require_confirmed(session, "", False, Evaluation.id == row.evaluation_id)
            session.rollback()
    except errors.Unconfirmed as asked:
        listed = asked.effects
    except errors.Conflict as refused:
        refusal = refused.message
    return render_template("submissions/decide.html", run=run, act=act, listed=listed, refusal=refusal)


def _decide(submission: int, *, act: str) -> ResponseReturnValue:
    own_run(submission)
    (decide, said), address = DECISIONS[act], url_for("submissions.show", submission=submission)
    reason = {"because": request.form.get("because", "")} if act == "withdraw" else {}

    def change() -> None:
        with writing() as session:
            decide(session, actor(), session.get_one(Submission, submission), now=clock(), **reason)

    return done(change, said, address, address)


for _act in DECISIONS:
    _address = f"/submissions/<int:submission>/{_act}"
    blueprint.add_url_rule(_address, f"ask_{_act}", signed_in(partial(_ask, act=_act)))
    blueprint.add_url_rule(_address, _act, signed_in(partial(_decide, act=_act)), methods=["POST"])
