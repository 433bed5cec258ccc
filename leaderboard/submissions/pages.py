"""How a run comes in, through the form as through the API: a place in the quotas is held for its file, the file is
looked at, and the run is submitted, or nothing of it is.

A run's file as a download.

The submission form of an evaluation.

The page that says what would become of a run and keeps nothing, and the same look at a file before it is queued.

A submission's page: its state until it is scored, its receipt and results, and what its team does with it.

What changes which run stands is asked for on a page that says what would change.
"""

import logging
import secrets
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from flask import Blueprint, Response, jsonify, redirect, render_template, request, send_file, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session
from wtforms import BooleanField, Field, FileField, HiddenField, RadioField, SelectField, StringField

from leaderboard import access, bounded, errors, numbers
from leaderboard.accounts import rate_limits as attempts
from leaderboard.boards.reads.entries import NO_FIGURE
from leaderboard.declared.inputs import checked_partly
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.evaluations import find_evaluation
from leaderboard.evaluations.rules import FieldKind, FormField, form_name
from leaderboard.evaluations.writes import agreement_name
from leaderboard.formats import RUN_FORMATS, Metadata, side_metadata
from leaderboard.frozen import frozen
from leaderboard.operating import logs
from leaderboard.results.reads.run import receipt, results
from leaderboard.store import Received
from leaderboard.submissions import rules
from leaderboard.submissions.inputs import RunSettings, RunWords
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads import selection
from leaderboard.submissions.reads.form import Submitting, checking, completed, expected_of, submitting
from leaderboard.submissions.reads.status import SubmissionStatus, sent_under, status
from leaderboard.submissions.writes import submissions
from leaderboard.teams.models import Team
from leaderboard.teams.writes import NewSystem
from leaderboard.web import exports, uploads
from leaderboard.web.charts.curves import curve_charts
from leaderboard.web.charts.differences import differences_chart
from leaderboard.web.charts.drawing import Chart
from leaderboard.web.charts.files import charted
from leaderboard.web.context import actor, clock, config, database, now, page_number, read, reading, store, writing
from leaderboard.web.endpoints import plain
from leaderboard.web.exports import Cell, Table, column_facts, evaluation_facts, exported, terms_facts
from leaderboard.web.forms import Form, Required, answered, declared, done, fields_of, filled, form_page, sent_on
from leaderboard.web.organise import require_confirmed
from leaderboard.web.security import csrf
from leaderboard.web.sessions import signed_in
from leaderboard.web.uploads import Fields, Posted

SILENCE = timedelta(minutes=2)  # after which a file holds no place any more, though nobody took it away
RUNS_AT_ONCE = threading.BoundedSemaphore(2)  # beside those of `uploads.turn`: checks hold up no run that is sent
NO_FILE = Received("", "", "", 0, 0, "")
YES = ("yes", "true", "1")
log = logging.getLogger(__name__)


@frozen
class SentRun:
    """A run as it was sent.

    team_id  0: that of the campaign's baselines
    system   the id of one of the team's, or the name of a new one
    upload   None where no file came, so that only what else is wrong can be told
    details  what is said of it: those of `submissions.submit` that a sender gives
    """

    team_id: int
    system: int | str
    upload: Received | None
    details: Mapping[str, Any]


@dataclass
class Intake:
    """A run that this request sends.

    evaluation  as it was when the request began, with its campaign; `submissions.submit` looks again
    team_of  the team that the fields before the file name
    key      what the sender calls this sending: no second run of theirs is taken under it
    place    what its file holds in the quotas, from before it is read until it is counted; None before
    renewed_at  when the place was last held for longer
    checked  what would become of the file, once it was looked at
    keeps    whether the file that came stays in the store though its form is refused: it counts among the rejected
             ones then, and no longer once it is submitted from there
    """

    evaluation: Evaluation
    team_of: Callable[[Session, Fields], Team]
    key: str | None = None
    place: int | None = None
    renewed_at: datetime | None = None
    keeps: bool = False
    checked: rules.Checked = field(default_factory=partial(rules.Checked, "", whole=True))

    def hold(self, fields: Fields) -> Callable[[], None]:
        """Holds a place for the file, and gives `renew`. Raises unless the team that the fields name may send one. The
        command line is no person, holds none and is asked once its file has come.
        """
        if actor().user_id is not None:
            self.renewed_at = clock()
            with writing() as session:
                team = self.team_of(session, fields)
                self.place = submissions.reserve_quota(
                    session, actor(), self.evaluation, team, begun_at=now(), now=clock(), expires_at=clock() + SILENCE
                )
        return self.renew

    def renew(self) -> None:
        """Holds the place for longer, since bytes go on coming. An absent database ends no upload."""
        if self.renewed_at is not None and clock() - self.renewed_at > SILENCE / 4:
            self.renewed_at = clock()
            with suppress(errors.NoDatabase), writing() as session:
                submissions.renew_quota(session, self.place, clock() + SILENCE)

    def give_up(self) -> None:
        """Ends the place, where one is held. A file that is kept, or tells of queries that the person may not know of,
        counts among their rejected ones.
        """
        user_id = actor().user_id
        with writing() as session:
            submissions.release_quota(session, self.place)
            if user_id is not None and (self.keeps or self.checked.tells_of_hidden):
                submissions.count_unused_file(session, self.evaluation.id, user_id, clock())

    def submit(
        self,
        sent: SentRun,
        wrong: Mapping[str, list[str]],
        posted: Posted,
        begun_at: datetime,
        arrived: Path | None = None,
    ) -> int:
        """The id of the submission that is made of it.

        wrong    what is wrong with the form already, by field: of these nothing else is said
        posted   the form; its field `confirm`: its sender means it, whatever the warnings
        begun_at  as `submissions.submit` takes it
        arrived  where the file lies that is to be kept now; None where the store has it

        Raises InvalidFields with all that is wrong with the form and the file, Unconfirmed for what is to be confirmed,
        and what `submissions.submit` raises; nothing is submitted then, and `give_up` is due.
        """
        if sent.upload is not None:
            self.renew()
            self._check(sent, sent.upload, arrived)
        problems, number = errors.Gathered(), 0
        with writing() as session:
            team_id = team_of_choice(session, self.evaluation, sent.team_id).id
            kind = rules.SystemKind.AUTOMATIC if sent.team_id else rules.SystemKind.BASELINE
            system = NewSystem(sent.system, kind) if isinstance(sent.system, str) else sent.system
            with problems:
                number = submissions.submit(
                    session, actor(), self.evaluation.id, team_id, system=system,
                    upload=sent.upload or NO_FILE, begun_at=begun_at, received_at=posted.received_at,
                    place=self.place, key=self.key, header=self.checked.said, **sent.details,
                ).id  # fmt: skip
            problems.fields |= wrong
            if sent.upload:  # while the team's quota is locked: of two at the same moment one comes first
                self.checked = completed(session, self.checked, None, [team_id], number)
            checked = self.checked
            if checked.problem_count:
                rejected = errors.FileRejected(checked.problems, checked.problem_count, checked.name)
                problems.fields["run"] = rejected.lines
            elif checked.warnings and posted.fields.get("confirm") not in YES:
                if not problems.fields:
                    raise errors.Unconfirmed(checked.warnings)
                problems.fields["confirm"] = [*checked.warnings]
            problems.raise_any()
            if arrived is not None and sent.upload is not None:
                store().keep(arrived, sent.upload)
            elif not self.keeps:
                submissions.use_counted_file(session, self.evaluation.id, actor())
        logs.note(submission=number)
        log.info("received a run")
        return number

    def _check(self, sent: SentRun, upload: Received, arrived: Path | None) -> None:
        with reading() as session:
            expected = expected_of(session, actor(), self.evaluation, now(), to_submit=True)
        theta = sent.details.get("threshold")
        kept = nullcontext(arrived) if arrived else store().reading(upload.sha256)
        with uploads.aside(), RUNS_AT_ONCE, kept as path:
            self.checked = _check_file(path, upload.filename, expected, theta, (), upload.text_sha256)
        if arrived and not self.checked.problem_count:
            store().prepare(arrived, upload)


def team_of_choice(session: Session, evaluation: Evaluation, team_id: int) -> Team:
    """The team of a choice in the form; of 0 the baselines' of the campaign, made where there is none yet."""
    if not team_id:
        return submissions.baseline_team(session, actor(), evaluation.campaign_id)
    return session.get_one(Team, team_id)


def receive_run(hold: uploads.Admit, *more: Any) -> Posted:
    """This request's form with a run. more: as `uploads.receive` takes it"""
    return uploads.receive("run", hold, "beside", *more)


def said_beside(posted: Posted) -> Metadata:
    """What the file of metadata beside the run says."""
    return Metadata() if posted.beside is None else side_metadata(posted.beside)


def _check_file(
    path: Path,
    filename: str,
    expected: rules.Expected,
    threshold: float | None,
    teams: Collection[int],
    text_sha256: str = "",
) -> rules.Checked:
    """What would become of a file. teams: whose submissions are looked through for the same text"""
    asked = path, filename, expected, store().config.text_bytes, text_sha256, threshold
    try:
        checked, run = bounded.call(rules.check_file, *asked)
    except bounded.Exceeded:
        problem = errors.Problem(None, "takes more memory or time to read than any run that can be scored here")
        checked, run = rules.Checked(filename, True, (problem,), 1, threshold=threshold, expected=expected), None
    with reading() as session:
        return completed(session, checked, run, teams)


def check_sent(
    expected: rules.Expected, check: Callable[[Fields], None] | None = None
) -> tuple[Fields, rules.Checked | None, dict[str, list[str]]]:
    """This request's form, what would become of its run, and where that is None what is wrong with the form.

    check: as `uploads.receive` takes it. Raises TooManyAttempts before the file is read, and while many wait.
    """
    teams, wrong = actor().teams, dict[str, list[str]]()

    def admit(_: Fields) -> None:
        if actor().user_id is not None:
            attempts.count(database(), attempts.CHECK, clock(), "", user=actor().user_id)

    def look(fields: Fields, path: Path, filename: str) -> rules.Checked | None:
        settings, problems = checked_partly(RunSettings, {"threshold": fields.get("threshold", "")})
        wrong.update(problems)
        if wrong:
            return None
        with uploads.turn():
            return _check_file(path, filename, expected, settings.threshold, teams)

    return *uploads.look(look, check, admit), wrong or {"run": ["choose the file of the run"]}


def run_download(submission: int, sha256: str, filename: str) -> Response:
    """The bytes as received, only ever as a download: nothing that a team sends is shown by a browser from here."""
    with store().reading(sha256) as path:
        file = path.open("rb", buffering=0)  # the server sends from the descriptor's own position on
    name = rules.run_file_name(submission, filename)
    answer: Response = send_file(file, mimetype="application/octet-stream", as_attachment=True, download_name=name)
    answer.headers["Cache-Control"] = "private, no-store"
    return answer


submitting_blueprint = Blueprint("submit", __name__)

NEW = "new-"  # a choice of the system field: a new system of the team with this id


RUN_FIELDS = fields_of(RunSettings)


class SubmitForm(Form):
    system = SelectField("System", [Required("choose a system, or a new one")], validate_choice=False)
    new_system = StringField(
        "Name of the new system",
        description="The system keeps this name over the years, so that its progress can be followed.",
        render_kw={"autocomplete": "off"},
    )
    designation, stand, threshold, label, notes = (
        RUN_FIELDS[name] for name in ("designation", "stand", "threshold", "label", "notes")
    )
    kept = HiddenField()

    @classmethod
    def on(cls, page: Submitting, given: Fields | None = None) -> "SubmitForm":
        """The form with what this reader may choose, and what the organisers ask."""
        asked = {form_name(field.key): asked_field(field) for field in page.fields}
        ticks = {  # whose value says which version was read
            agreement_name(asked.key): BooleanField(
                asked.title, render_kw={"value": str(asked.id), "aria-required": "true"}
            )
            for asked in page.agreements
        }
        named = "; ".join(f"{field.header} ({field.label}, {field.shown_to.in_words})" for field in page.from_metadata)
        files = {  # as on the page: behind what is asked, also in the summary of what is wrong
            "run": FileField(
                "Run file",
                description=f"{RUN_FORMATS}, at most {numbers.size(config().upload_bytes)}.",
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
            choices.append((f"{NEW}{team.id}", f"A new system of {team.name}" if team.id else "A new baseline"))
        # Nothing is preselected that a hurried reader could take for their own choice.
        form.system.choices = [("", "Choose a system"), *choices] if len(choices) > 1 else choices
        if page.run_choice is not rules.RunChoice.PRIMARY:
            del form.stand
        primary = ", ".join(f"{team.primary} of {team.name}" for team in page.teams if team.primary)
        if primary:
            form.designation.description = f"Primary so far: {primary}. Another takes its place once it is scored."
        return form

    def check(self, posted: Posted, upload: Received | None, beside: Metadata) -> dict[str, list[str]]:
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

    def sent(self, page: Submitting, upload: Received | None, said: Mapping[str, str]) -> SentRun:
        """What the form says of the run. said: what its metadata says.

        Raises InvalidFields.
        """
        team, system = _chosen(page, self.text("system"))
        ticked = {asked.id: self[agreement_name(asked.key)].raw_data or () for asked in page.agreements}
        details = {
            **self.settings()[0].given(),
            "answers": {field.key: self.text(form_name(field.key)) for field in page.fields},
            "accepted": [id_ for id_, sent in ticked.items() if str(id_) in sent],  # the version that was read
            "said": said,
        }
        return SentRun(team, system or self.text("new_system"), upload, details)


def asked_field(asked: FormField) -> Field:
    """A field of the organisers'. Its answer is checked by the service."""
    hints = [f"{asked.hint}{'' if asked.hint.endswith(('.', '!', '?')) else '.'}"] if asked.hint else []
    if asked.header:
        hints.append(f"Read from {asked.header} of the run's metadata where you leave this empty.")
    hints.append(f"{asked.shown_to.in_words.capitalize()}.")
    must_be_filled = asked.required and not asked.header
    attributes = {"autocomplete": "off"} | ({"aria-required": "true"} if must_be_filled else {})
    label = asked.label if asked.required else f"{asked.label} (optional)"
    more: dict[str, Any] = {"description": " ".join(hints), "render_kw": attributes}
    of_file = "As its metadata says" if asked.header else ""
    match asked.kind:
        case FieldKind.CHOICE:
            choices = {"": of_file or "Choose one", **{choice: choice for choice in asked.choices}}
            return SelectField(label, choices=choices, validate_choice=False, **more)
        case FieldKind.YES_NO:  # a radio button can't be unticked
            none = {} if must_be_filled else {"": of_file or "No answer"}
            choices = {**none, "yes": "Yes", "no": "No"}
            return RadioField(label, choices=choices, default="", validate_choice=False, **more)
        case FieldKind.NUMBER:
            attributes["inputmode"] = "decimal"
    return StringField(label, **more)


@submitting_blueprint.get("/campaigns/<campaign>/<evaluation>/submit")
@signed_in
def new(campaign: str, evaluation: str, *, baseline: bool = False) -> ResponseReturnValue:
    page = read(submitting, campaign, evaluation, baseline=baseline, preview="preview" in request.args)
    return _page(SubmitForm.on(page), page=page)


@submitting_blueprint.post("/campaigns/<campaign>/<evaluation>/submit")
@signed_in
def send(campaign: str, evaluation: str, *, baseline: bool = False) -> ResponseReturnValue:
    page = read(submitting, campaign, evaluation, baseline=baseline)
    refused = _refusal(page)
    # In the grace a file that came in time may still be confirmed; else nothing of the form is read.
    if refused is not None and not (page.evaluation.phase == "closing" and page.teams_with_quota):
        return _page(SubmitForm.on(page), refused, page=page)
    any_team = f"{NEW}{page.teams_with_quota[0].id}"

    def team_of(session: Session, fields: Fields) -> Team:
        # Where the form names no system it is refused for that, and its file is kept until one is chosen.
        return team_of_choice(session, intake.evaluation, _chosen(page, fields.get("system") or any_team)[0])

    def hold(fields: Fields) -> Callable[[], None]:
        # A file is kept though the form may have mistakes: so many an hour at most, of all evaluations.
        attempts.count(database(), attempts.FORM_FILE, clock(), "", user=actor().user_id)
        return intake.hold(fields)

    with reading() as session:
        intake = Intake(find_evaluation(session, actor(), campaign, evaluation), team_of)
    try:
        posted = receive_run(hold)
    except BaseException:  # a sender who goes away in the middle, too
        intake.give_up()
        raise
    return _take_in(page, posted, intake)


csrf.exempt(send)  # uploads.receive checks the token itself, before it keeps a byte of the file


def _take_in(page: Submitting, posted: Posted, intake: Intake) -> ResponseReturnValue:
    form = SubmitForm.on(page, posted.fields)
    if posted.refusal is not None and not isinstance(posted.refusal, errors.InvalidFields):
        return _page(form, posted.refusal, page=page)
    upload, kept = (posted.upload, dict[str, Any]()) if posted.upload else uploads.kept_with(form.text("kept"))
    intake.keeps = posted.upload is not None
    # A proof that a page of organisers made holds none of these.
    kept = {"begun_at": now().isoformat(), "key": secrets.token_urlsafe(), "said": {}} | kept
    intake.key = kept["key"]  # pressed twice, or again after an answer that was lost, the button sends one run
    beside = said_beside(posted)
    kept["said"] = beside.entries or kept["said"]
    form.kept.data = uploads.keep(upload, **kept)
    wrong = form.check(posted, upload, beside)
    try:
        sent = form.sent(page, upload, kept["said"])
        run = intake.submit(sent, wrong, posted, datetime.fromisoformat(kept["begun_at"]))
    except errors.LeaderboardError as error:
        earlier = read(sent_under, intake.key)
        if earlier is None:
            intake.give_up()
            return _refused(page, form, error, wrong, upload, intake.checked)
        run = earlier
    if page.is_baseline:
        where = {"campaign": page.evaluation.campaign.slug, "evaluation": page.evaluation.slug}
        return sent_on("The baseline run is submitted.", "organise.evaluation", **where)
    return redirect(url_for("submissions.show", submission=run))


def _refused(
    page: Submitting,
    form: SubmitForm,
    error: errors.LeaderboardError,
    wrong: dict[str, list[str]],
    upload: Received | None,
    checked: rules.Checked,
) -> ResponseReturnValue:
    """The form again, with what is wrong, or what is to be confirmed. The file need not be sent again."""
    is_asked = isinstance(error, errors.Unconfirmed)
    if is_asked or not isinstance(error, errors.InvalidFields):
        return _page(form, error, page=page, upload=upload, found=checked if is_asked else None)
    if checked.problem_count:  # another file has to be chosen
        form.kept.data, upload = "", None
        wrong["run"] = ["this file would be rejected, so it was not submitted: choose another one"]
    for name, messages in {**error.fields, **wrong}.items():
        if name != "confirm":  # what is wrong with an answer that only the file gives is mended in the file
            form.refuse({name if name in form or not name.startswith(form_name("")) else "run": messages})
    return _page(form, page=page, upload=upload, found=checked if checked.problem_count else None)


def _page(
    form: SubmitForm,
    error: errors.LeaderboardError | None = None,
    *,
    page: Submitting,
    upload: Received | None = None,
    found: rules.Checked | None = None,
) -> ResponseReturnValue:
    """The form. upload: the file that has arrived and need not be sent again; found: what is said of it, or why it was
    refused."""
    template = "organise/submissions/baseline.html" if page.is_baseline else "submit/new.html"
    return form_page(template, form, error, page=page, upload=upload, found=found)


def _refusal(page: Submitting) -> errors.LeaderboardError | None:
    """Why this reader can submit nothing here now, whatever the form holds."""
    if page.closed is not None:
        return errors.Conflict(page.closed)
    if not page.teams:
        return errors.NotAllowed("Runs are submitted by teams, and you are in none.")
    if not page.teams_with_quota:
        # The page says which, for each team.
        quotas = [page.personal, *(team.quota for team in page.teams)]
        return errors.QuotaSpent(retry_seconds=rules.retry_seconds(quotas, now()))
    return None


def _chosen(page: Submitting, choice: str) -> tuple[int, int | None]:
    """The team of a choice in the form, and its system; None for a new one. Raises InvalidFields for what is none."""
    for team in page.teams:
        systems = {f"{NEW}{team.id}": None, **{str(own.id): own.id for own in team.systems}}
        if choice in systems:
            return team.id, systems[choice]
    raise errors.InvalidFields({"system": ["choose one of the list"]})


checking_blueprint = Blueprint("run_checks", __name__)


class CheckForm(Form):
    run = FileField("Run file", description=f"{RUN_FORMATS}.", render_kw={"aria-required": "true"})
    threshold = RUN_FIELDS["threshold"]


@checking_blueprint.get("/campaigns/<campaign>/<evaluation>/check", endpoint="new_check")
@checking_blueprint.post("/campaigns/<campaign>/<evaluation>/check")
@signed_in
def check(campaign: str, evaluation: str) -> ResponseReturnValue:
    page, fields, found, wrong = read(checking, campaign, evaluation), None, None, dict[str, list[str]]()
    if request.method == "POST":
        fields, found, wrong = check_sent(page.expected)
    form = CheckForm(formdata=fields)
    if not page.expected.returned_by:
        del form.threshold
    if found is None:
        return form_page("submit/check.html", form, errors.InvalidFields(wrong) if wrong else None, page=page)
    return render_template("submit/check.html", form=form, page=page, found=found)


csrf.exempt(check)  # uploads.look checks the token itself, before it reads a byte of the file


blueprint = Blueprint("submissions", __name__)
DescribeForm = declared(RunWords)


@blueprint.get("/submissions/<int:submission>")
def show(submission: int) -> ResponseReturnValue:
    with reading() as session:
        run = read(status, submission, within=session)
        shown = own = None
        if run.state == rules.State.SCORED and run.results_open:
            shown = read(results, submission, asked=("measure", "sort"), page=page_number(), within=session)
            own = read(receipt, submission, within=session)
    chart, drawn = (differences_chart(shown), curve_charts(shown.curves)) if shown else (None, ())
    return render_template("submissions/show.html", run=run, results=shown, chart=chart, curves=[*drawn], receipt=own)


@charted(blueprint, "/submissions/<int:submission>")
def show_charts(submission: int) -> Iterator[Chart | None]:
    shown = read(results, submission, asked=("measure",))
    yield from (differences_chart(shown), *curve_charts(shown.curves))


@blueprint.get("/submissions/<int:submission>/receipt.json")
def score_receipt(submission: int) -> ResponseReturnValue:
    return jsonify(plain(read(receipt, submission)))


def own_file(submission: int) -> Response:
    """The run's file as it was received, for its team and the organisers."""
    run = own_run(submission)
    return run_download(run.id, run.receipt, run.filename)


blueprint.add_url_rule("/submissions/<int:submission>/file", "fetch", signed_in(own_file))


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
    paper = [exports.paper_column("Query"), *map(exports.figures_of, shown.columns)]
    called = " of ".join(filter(None, (shown.system.name, shown.system.team)))  # no team in an anonymous period
    caption = f"{shown.evaluation.campaign.title}, {shown.evaluation.title}. {called}."
    return Table(f"submission-{shown.id}", ["query", "missing", *names], rows, facts, paper, caption)


@blueprint.get("/submissions/<int:submission>/status")
def progress(submission: int) -> ResponseReturnValue:
    """What the page still waits for; its script asks for this. With `wait` in its address the answer comes when the run
    has its scores, or some seconds later.
    """
    notices = request.environ.get("leaderboard.notices") if "wait" in request.args else None
    told = notices and notices.of(f"submission {submission}")  # from before the run is looked at
    run = read(status, submission)
    if told and run.awaits == "scores":
        with uploads.aside():
            told.wait(10.0)  # in case nobody listens any more
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
        return sent_on("Label and notes are changed.", "submissions.show", submission=submission)

    return answered(form, "submissions/describe.html", save, checks=True, run=run)


def own_run(submission: int) -> SubmissionStatus:
    """A run that the reader may do something to. Raises NotFound, and NotAllowed for a run of others."""
    run = read(status, submission)
    access.require(run.may_act, "Only members of the team and organisers do this.")
    return run


# What a team decides about a run, by its address; and what is said of it then.
DECISIONS: dict[str, tuple[Callable[..., None], str]] = {
    "withdraw": (submissions.withdraw, "The run is withdrawn: it is on no board and stays on record."),
    "stand": (submissions.select_run, "You chose this run to stand for its system on the board."),
    "primary": (submissions.make_primary, "This is the team's primary run now."),
}


def change_confirmed(
    session: Session, run: Submission, change: Callable[..., object], confirmed: bool, also: Sequence[str] = ()
) -> None:
    """Makes a change to a run. Raises Unconfirmed, which undoes it, with what it does at once where that is not
    confirmed. also: what else has to be."""
    before = {} if confirmed else selection.standing_names(session, run)
    change(session, actor(), run)
    session.flush()
    after = before and selection.standing_names(session, run)
    named = [f"{what}: {name} now, then {after[what]}." for what, name in before.items() if name != after[what]]
    require_confirmed(session, confirmed, Evaluation.id == run.evaluation_id, [*also, *named])


def _ask(submission: int, *, act: str) -> ResponseReturnValue:
    """The page that says what would change, and asks: it is done for that, and undone."""
    run, refusal = own_run(submission), ""
    listed: Sequence[str] = ()
    try:
        with writing() as session:
            change_confirmed(session, session.get_one(Submission, submission), DECISIONS[act][0], confirmed=False)
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
            decide(session, actor(), session.get_one(Submission, submission), **reason)

    return done(change, said, address, address)


for _act in DECISIONS:
    _address = f"/submissions/<int:submission>/{_act}"
    blueprint.add_url_rule(_address, f"ask_{_act}", signed_in(partial(_ask, act=_act)))
    blueprint.add_url_rule(_address, _act, signed_in(partial(_decide, act=_act)), methods=["POST"])
