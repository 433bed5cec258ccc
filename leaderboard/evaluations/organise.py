"""Making an evaluation, its settings, next year's from this year's, and removing it.

What an evaluation asks of a submission: fields, agreements, and rules for the file.
"""

from collections.abc import Callable, Mapping
from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session
from wtforms import FileField, HiddenField

from leaderboard import moments as time_zones
from leaderboard.campaigns.reads import EvaluationSettings as Page
from leaderboard.campaigns.reads import evaluation_settings, organised_campaign, organised_evaluation
from leaderboard.db import locked
from leaderboard.declared.inputs import as_text, checked
from leaderboard.errors import Conflict, FileRejected, InvalidFields, LeaderboardError, Unconfirmed
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.inputs import (
    YEAR,
    AgreementText,
    EvaluationChanges,
    EvaluationClone,
    EvaluationSettings,
    FileRuleChanges,
    FormFieldSettings,
    NewEvaluation,
)
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.form_fields import organised_form
from leaderboard.formats import document_list
from leaderboard.judgments.organise import chosen, evaluation_here, read_stored, received
from leaderboard.judgments.reads.files import listed_documents
from leaderboard.moments import moment_in_words
from leaderboard.store import Received
from leaderboard.web import uploads
from leaderboard.web.context import actor, read, reading, store, writing
from leaderboard.web.forms import (
    Declared,
    Form,
    declared,
    filled,
    form_page,
    refuse_stale,
    saved,
    state_of,
)
from leaderboard.web.organise import GONE, organised, require_confirmed
from leaderboard.web.security import csrf

blueprint = Blueprint("organise_evaluations", __name__, url_prefix="/organise")

PAGE = "organise/evaluation_form.html"
DATES = ("opens_at", "closes_at", "anonymous_until")
NewForm, SettingsForm, CloneForm = declared(NewEvaluation), declared(EvaluationSettings), declared(EvaluationClone)


@blueprint.route("/<campaign>/evaluations/new", methods=["GET", "POST"])
@organised
def new(campaign: str) -> ResponseReturnValue:
    form = NewForm()

    def make(session: Session) -> tuple[str, str]:
        own = organised_campaign(session, actor(), campaign)
        return _made(campaign, evaluations.create_evaluation(session, actor(), own, **form.sent()))

    return _answer(form, make)


@blueprint.route("/<campaign>/<evaluation>/settings", methods=["GET", "POST"])
@organised
def settings(campaign: str, evaluation: str) -> ResponseReturnValue:
    page = read(evaluation_settings, campaign, evaluation)
    form = _filled(SettingsForm, page.values)
    if not form.is_submitted():
        form.state.data = state_of(page.values)

    def change(session: Session) -> tuple[str, str]:
        record = locked(session, Evaluation, organised_evaluation(session, actor(), campaign, evaluation).id)
        refuse_stale(form, {name: getattr(record, name) for name in page.values})
        evaluations.change_evaluation(session, actor(), record, **form.sent())
        require_confirmed(session, campaign, form.confirmed)
        return "The settings are changed.", request.path

    return _answer(form, change, page)


@blueprint.route("/<campaign>/<evaluation>/clone", methods=["GET", "POST"])
@organised
def clone(campaign: str, evaluation: str) -> ResponseReturnValue:
    """A clone: the form comes filled with this year's settings, its dates a year later."""
    page = read(evaluation_settings, campaign, evaluation)
    with reading() as session:
        proposed = evaluations.next_year(session, organised_evaluation(session, actor(), campaign, evaluation))
    form = _filled(CloneForm, {**page.values, **proposed, "draft": True, "with_queries": False})

    def make(session: Session) -> tuple[str, str]:
        record = organised_evaluation(session, actor(), campaign, evaluation)
        return _made(campaign, evaluations.clone_evaluation(session, actor(), record, **form.sent()))

    return _answer(form, make, page, cloned=True)


@blueprint.post("/<campaign>/<evaluation>/remove")
@organised
def remove(campaign: str, evaluation: str) -> ResponseReturnValue:
    try:
        with writing() as session:
            evaluations.remove_evaluation(
                session, actor(), organised_evaluation(session, actor(), campaign, evaluation)
            )
    except Conflict as refused:
        flash(refused.message, "warning")
        return redirect(url_for("organise_evaluations.settings", campaign=campaign, evaluation=evaluation))
    flash("The evaluation is removed.")
    return redirect(url_for("organise.campaign", campaign=campaign))


def _made(campaign: str, made: Evaluation) -> tuple[str, str]:
    address = url_for("organise.evaluation", campaign=campaign, evaluation=made.slug)
    return f"{made.title} is made. What it still lacks stands below.", address


def _filled(form: type[Declared], values: Mapping[str, Any]) -> Declared:
    """The form with settings as they are stored: dates by clocks of their zone, and no key that the period says."""
    zone, year = values["time_zone"], YEAR.search(values["period"])
    local = {name: time_zones.to_local(values[name], zone) for name in DATES if values[name] is not None}
    said = year is not None and values["period_key"] == int(year[0])
    return filled(form, {**values, **local, "period_key": None if said else values["period_key"]})


def _dates(form: Declared) -> tuple[dict[str, str], dict[str, list[str]]]:
    """The dates that are filled in, in words, in UTC; and what is wrong with them."""
    words: dict[str, str] = {}
    wrong: dict[str, list[str]] = {}
    for name in DATES:
        try:
            values = {"time_zone": form.text("time_zone"), name: form.text(name)}
            moment = getattr(checked(EvaluationChanges, values), name)
        except InvalidFields as error:
            wrong |= error.fields
        else:
            words |= {} if moment is None else {name: moment_in_words(moment)}
    return words, wrong


def _answer(
    form: Declared, change: Callable[[Session], tuple[str, str]], page: Page | None = None, *, cloned: bool = False
) -> ResponseReturnValue:
    """The page; or what saving it answers, unless the button was used that only shows the dates in UTC."""
    in_utc, wrong = _dates(form)
    more = {"page": page, "cloned": cloned, "in_utc": in_utc, "zones": time_zones.zone_names()}

    def shown(error: LeaderboardError | None = None) -> ResponseReturnValue:
        return form_page(PAGE, form, error, **more)

    if form.is_submitted() and request.form.get("do") == "dates":
        return shown(InvalidFields(wrong)) if wrong else render_template(PAGE, form=form, **more)
    return saved(change, shown) if form.is_submitted() else shown()


form_fields_blueprint = Blueprint("organise_forms", __name__, url_prefix="/organise/<campaign>/<evaluation>/form")

FORM_FIELDS_PAGE = "organise/form.html"
RETIRED = (
    "The field is asked no more. It stays for runs that are here: their answers stay shown to the same readers, and so "
    "does what it reads of their own metadata."
)
FieldForm, AgreementForm = declared(FormFieldSettings, "asked"), declared(AgreementText)
RulesForm = declared(FileRuleChanges)


class DocumentsForm(Form):
    """kept: a list that waits for a yes, as a signed proof."""

    documents = FileField("List of the collection's documents", description="An id a line, plain or gzipped.")
    kept = HiddenField()


@form_fields_blueprint.get("")
@organised
def index(campaign: str, evaluation: str) -> ResponseReturnValue:
    return _page(campaign, evaluation)


@form_fields_blueprint.post("/field")
@organised
def set_field(campaign: str, evaluation: str) -> ResponseReturnValue:
    form = FieldForm()

    def change(session: Session, record: Evaluation) -> str:
        evaluations.set_field(session, actor(), record, {**form.sent(), "asked": True})
        require_confirmed(session, campaign, form.confirmed)
        return f"The form asks “{form.text('label')}”."

    return _changed(campaign, evaluation, change, field=form)


@form_fields_blueprint.post("/field/remove")
@organised
def remove_field(campaign: str, evaluation: str) -> ResponseReturnValue:
    def change(session: Session, record: Evaluation) -> str:
        gone = evaluations.remove_field(session, actor(), record, request.form.get("key", ""))
        return "The field is gone." if gone else RETIRED

    return _changed(campaign, evaluation, change)


@form_fields_blueprint.post("/agreement")
@organised
def state_agreement(campaign: str, evaluation: str) -> ResponseReturnValue:
    form = AgreementForm()

    def change(session: Session, record: Evaluation) -> str:
        texts = (form.text(name) for name in ("key", "title", "wording"))
        version = evaluations.state_agreement(session, actor(), record, *texts).version
        return f"Version {version} is asked of everybody with their next run."

    return _changed(campaign, evaluation, change, agreement=form)


@form_fields_blueprint.post("/agreement/end")
@organised
def end_agreement(campaign: str, evaluation: str) -> ResponseReturnValue:
    def change(session: Session, record: Evaluation) -> str:
        evaluations.end_agreement(session, actor(), record, request.form.get("key", ""))
        return "Nobody is asked for it any more. Who accepted it stays on record."

    return _changed(campaign, evaluation, change)


@form_fields_blueprint.post("/rules")
@organised
def set_rules(campaign: str, evaluation: str) -> ResponseReturnValue:
    form = RulesForm()

    def change(session: Session, record: Evaluation) -> str:
        evaluations.set_rules(session, actor(), record, **form.sent())
        return "The rules hold for runs that come from now on."

    return _changed(campaign, evaluation, change, rules=form)


@form_fields_blueprint.post("/documents")
@organised
def set_documents(campaign: str, evaluation: str) -> ResponseReturnValue:
    posted = received("documents")
    form = DocumentsForm(formdata=posted.fields)
    listed, words = None, "The list of documents is gone."
    try:
        if not posted.fields.get("drop"):
            upload = _chosen_list(posted, form)
            listed = read_stored(upload, document_list)
            with reading() as session:
                comparison = listed_documents(session, store(), evaluation_here(session), listed)
            words = comparison.in_words
            if comparison.doubts and not posted.fields.get("confirm"):
                form.kept.data = uploads.keep(upload)
                raise Unconfirmed(comparison.doubts)
    except FileRejected as rejected:
        form.refuse({"documents": [str(problem) for problem in rejected.problems[:5]]})
        return _page(campaign, evaluation, documents=form)
    except LeaderboardError as error:
        return _page(campaign, evaluation, error, documents=form)

    def change(session: Session, record: Evaluation) -> str:
        evaluations.set_documents(session, actor(), record, listed)
        return words

    return _changed(campaign, evaluation, change, documents=form)


csrf.exempt(set_documents)  # uploads.receive checks the token itself, before it keeps a byte of the file


@form_fields_blueprint.post("/copy")
@organised
def copy(campaign: str, evaluation: str) -> ResponseReturnValue:
    """Takes over what another evaluation of the campaign asks."""
    form = Form()

    def change(session: Session, record: Evaluation) -> str:
        source = organised_evaluation(session, actor(), campaign, request.form.get("source", ""))
        evaluations.copy_form(session, actor(), source, record)
        require_confirmed(session, campaign, bool(request.form.get("confirm")))
        return f"This evaluation asks what {source.title} asks."

    return _changed(campaign, evaluation, change, copying=form)


def _chosen_list(posted: uploads.Posted, form: DocumentsForm) -> Received:
    """The list that was sent, or the one that a yes is said to. Raises InvalidFields without one."""
    if "confirm" not in posted.fields:
        return chosen(posted, "documents")
    upload = uploads.kept(form.text("kept"))
    if upload is None:
        raise InvalidFields({"documents": [GONE]})
    return upload


def _changed(
    campaign: str, evaluation: str, change: Callable[[Session, Evaluation], str], **sent: Form
) -> ResponseReturnValue:
    """Where a change of the evaluation leads, with what it says; or the page with the form that was refused."""

    def make(session: Session) -> tuple[str, str]:
        address = url_for(".index", campaign=campaign, evaluation=evaluation)
        return change(session, evaluation_here(session)), address

    return saved(make, lambda error: _page(campaign, evaluation, error, **sent))


def _page(campaign: str, evaluation: str, error: LeaderboardError | None = None, **sent: Form) -> ResponseReturnValue:
    """The page: its forms empty but for the one that was sent, and those of the field and the agreement to change."""
    page = read(organised_form, campaign, evaluation)
    keys = request.args.get("field"), request.args.get("agreement")
    field = next((row.field for row in page.fields if row.field.key == keys[0]), None)
    agreement = next((row for row in page.agreements if row.key == keys[1]), None)
    values = field.as_json() | {"choices": "\n".join(field.choices)} if field is not None else {}
    rules = {name: as_text(getattr(page.rules, name)) for name in FileRuleChanges.model_fields}
    forms: dict[str, Form] = {
        "field": FieldForm(formdata=None, data=values),
        "agreement": AgreementForm(formdata=None, obj=agreement, wording=agreement.text if agreement else ""),
        "rules": RulesForm(formdata=None, data=rules),
        "documents": DocumentsForm(formdata=None),
        "copying": Form(formdata=None),
        **sent,
    }
    form = next(iter(sent.values()), forms["field"])
    return form_page(FORM_FIELDS_PAGE, form, error, page=page, **forms)
