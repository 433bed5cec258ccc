"""Making an evaluation, its settings, next year's from this year's, and removing it.

What an evaluation asks of a submission: fields, agreements, and rules for the file.
"""

from collections.abc import Callable, Mapping
from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session
from wtforms import BooleanField, FileField, HiddenField, SelectField, StringField, TextAreaField

from leaderboard import moments as time_zones
from leaderboard.campaigns.reads import EvaluationSettings as Page
from leaderboard.campaigns.reads import evaluation_settings, organised_campaign, organised_evaluation
from leaderboard.db import locked
from leaderboard.declared.inputs import checked
from leaderboard.errors import Conflict, FileRejected, InvalidFields, LeaderboardError
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.inputs import YEAR, EvaluationChanges, EvaluationClone, EvaluationSettings, NewEvaluation
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.form_fields import OrganisedForm, organised_form
from leaderboard.evaluations.rules import FieldKind, FormField, ShownTo
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
    Required,
    WholeField,
    declared,
    filled,
    form_page,
    options,
    refuse_stale,
    saved,
    state_of,
)
from leaderboard.web.organise import GONE, organised, require_confirmed, unconfirmed
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
        found = locked(session, Evaluation, organised_evaluation(session, actor(), campaign, evaluation).id)
        refuse_stale(form, {name: getattr(found, name) for name in page.values})
        evaluations.change_evaluation(session, actor(), found, **form.sent())
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
        found = organised_evaluation(session, actor(), campaign, evaluation)
        return _made(campaign, evaluations.clone_evaluation(session, actor(), found, **form.sent()))

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
            given = {"time_zone": form.text("time_zone"), name: form.text(name)}
            moment = getattr(checked(EvaluationChanges, given), name)
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
OFF = {"autocomplete": "off"}
RETIRED = (
    "The field is asked no more. It stays for runs that are here: their answers stay shown to the same readers, and so "
    "does what it reads of their own metadata."
)
KEY_HINT = "Names it in files and in the API: small letters, digits, - and _."


class FieldForm(Form):
    key = StringField("Key", [Required("give a key")], description=KEY_HINT, render_kw=OFF)
    label = StringField("Label", [Required("give a label")], description="What the form calls it.", render_kw=OFF)
    hint = StringField("Hint (optional)", description="A sentence below the label.", render_kw=OFF)
    kind = SelectField(
        "Kind of answer",
        default=FieldKind.TEXT.value,
        choices=options(
            (FieldKind.TEXT.value, "Text"),
            (FieldKind.CHOICE.value, "One of several choices"),
            (FieldKind.NUMBER.value, "Number"),
            (FieldKind.YES_NO.value, "Yes or no"),
        ),
    )
    choices = TextAreaField("Choices", description="For a choice: one a line.", render_kw={"rows": 3})
    required = BooleanField("Every run must answer")
    shown_to = SelectField(
        "Shown to",
        default=ShownTo.ORGANISERS.value,
        choices=options(
            (ShownTo.ORGANISERS.value, "Organisers, and the run's team"),
            (ShownTo.EVERYONE.value, "Everyone who sees the run"),
        ),
    )
    column = BooleanField("A column of the board")
    filter = BooleanField("Readers can filter the board by it")
    header = StringField(
        "Read from the file (optional)",
        description="What the run's own metadata calls it, such as platform.hardware.cpu.model. The form asks "
        "for it only where every run must answer, for files that lack it. What no field reads is shown to everyone who "
        "sees whose run it is.",
        render_kw=OFF,
    )


class AgreementForm(Form):
    key = StringField("Key", [Required("give a key")], description=KEY_HINT, render_kw=OFF, id="agreement-key")
    title = StringField("Title", [Required("give a title")], render_kw=OFF)
    wording = TextAreaField(
        "Text",
        [Required("write what is to be accepted")],
        description="Markdown, as in guidelines.",
        render_kw={"rows": 6},
    )


class RulesForm(Form):
    most_documents = WholeField("Documents of a query at most", render_kw={"inputmode": "numeric", **OFF})
    least_documents = WholeField("Documents of a query at least", render_kw={"inputmode": "numeric", **OFF})
    every_query = BooleanField("Every query must have a list")
    document_pattern = StringField(
        "What document ids look like",
        description="Such as doc-[0-9]{1,6}: letters and digits, classes, . for any sign, * + ? {2,5}, ( | ).",
        render_kw=OFF,
    )
    tag_pattern = StringField(
        "What run tags look like",
        description="A pattern, too, of every line. A run of a format without tags (CSV, decisions) passes.",
        render_kw=OFF,
    )


class DocumentsForm(Form):
    """kept: a list that waits for a yes, as a signed proof."""

    documents = FileField("List of the collection's documents", description="An id a line, plain or gzipped.")
    kept = HiddenField()


@form_fields_blueprint.get("")
@organised
def index(campaign: str, evaluation: str) -> ResponseReturnValue:
    page = read(organised_form, campaign, evaluation)
    return _page(page, editing=request.args.get("field", ""), stating=request.args.get("agreement", ""))


@form_fields_blueprint.post("/field")
@organised
def set_field(campaign: str, evaluation: str) -> ResponseReturnValue:
    form = FieldForm()
    try:
        with writing() as session, form.checked_with():
            evaluations.set_field(session, actor(), evaluation_here(session), _field_of(form))
            asked = unconfirmed(session, campaign)
    except LeaderboardError as error:
        return _refused(campaign, evaluation, error, field=form)
    if asked:
        return _ask(campaign, evaluation, form, asked_field=asked)
    flash(f"The form asks “{form.text('label')}”.")
    return redirect(url_for(".index", campaign=campaign, evaluation=evaluation))


@form_fields_blueprint.post("/field/remove")
@organised
def remove_field(campaign: str, evaluation: str) -> ResponseReturnValue:
    with writing() as session:
        gone = evaluations.remove_field(session, actor(), evaluation_here(session), request.form.get("key", ""))
    flash("The field is gone." if gone else RETIRED)
    return redirect(url_for(".index", campaign=campaign, evaluation=evaluation))


@form_fields_blueprint.post("/agreement")
@organised
def state_agreement(campaign: str, evaluation: str) -> ResponseReturnValue:
    form = AgreementForm()
    try:
        with writing() as session, form.checked_with():
            place = evaluation_here(session)
            stated = evaluations.state_agreement(
                session, actor(), place, form.text("key").strip(), form.text("title"), form.text("wording")
            )
            version = stated.version
    except LeaderboardError as error:
        return _refused(campaign, evaluation, error, agreement=form)
    flash(f"Version {version} is asked of everybody with their next run.")
    return redirect(url_for(".index", campaign=campaign, evaluation=evaluation))


@form_fields_blueprint.post("/agreement/end")
@organised
def end_agreement(campaign: str, evaluation: str) -> ResponseReturnValue:
    with writing() as session:
        evaluations.end_agreement(session, actor(), evaluation_here(session), request.form.get("key", ""))
    flash("Nobody is asked for it any more. Who accepted it stays on record.")
    return redirect(url_for(".index", campaign=campaign, evaluation=evaluation))


@form_fields_blueprint.post("/rules")
@organised
def set_rules(campaign: str, evaluation: str) -> ResponseReturnValue:
    form = RulesForm()
    try:
        with writing() as session, form.checked_with():
            changes: dict[str, Any] = {
                "most_documents": form.usable("most_documents"),
                "least_documents": form.usable("least_documents"),
                "every_query": form.every_query.data,
                "document_pattern": form.text("document_pattern").strip(),
                "tag_pattern": form.text("tag_pattern").strip(),
            }
            evaluations.set_rules(session, actor(), evaluation_here(session), **changes)
    except LeaderboardError as error:
        return _refused(campaign, evaluation, error, rules=form)
    flash("The rules hold for runs that come from now on.")
    return redirect(url_for(".index", campaign=campaign, evaluation=evaluation))


@form_fields_blueprint.post("/documents")
@organised
def set_documents(campaign: str, evaluation: str) -> ResponseReturnValue:
    posted = received("documents")
    form = DocumentsForm(formdata=posted.fields)
    listed = found = None
    try:
        if not posted.fields.get("drop"):
            upload = _chosen_list(posted, form)
            listed = read_stored(upload, document_list)
            with reading() as session:
                found = listed_documents(session, store(), evaluation_here(session), listed)
            if found.doubts and not posted.fields.get("confirm"):
                form.kept.data = uploads.keep(upload)
                page = read(organised_form, campaign, evaluation)
                forms = _forms(page) | {"documents": form}
                return render_template(FORM_FIELDS_PAGE, page=page, form=form, asked=found, **forms)
        with writing() as session:
            evaluations.set_documents(session, actor(), evaluation_here(session), listed)
    except FileRejected as rejected:
        form.refuse({"documents": [str(problem) for problem in rejected.problems[:5]]})
        return _refused(campaign, evaluation, documents=form)
    except LeaderboardError as error:
        return _refused(campaign, evaluation, error, documents=form)
    flash(found.in_words if found else "The list of documents is gone.")
    return redirect(url_for(".index", campaign=campaign, evaluation=evaluation))


csrf.exempt(set_documents)  # uploads.receive checks the token itself, before it keeps a byte of the file


@form_fields_blueprint.post("/copy")
@organised
def copy(campaign: str, evaluation: str) -> ResponseReturnValue:
    """Takes over what another evaluation of the campaign asks."""
    form = FieldForm(formdata=None)
    try:
        with writing() as session:
            source = organised_evaluation(session, actor(), campaign, request.form.get("source", ""))
            evaluations.copy_form(session, actor(), source, evaluation_here(session))
            title = source.title
            asked = unconfirmed(session, campaign)
    except LeaderboardError as error:
        return _refused(campaign, evaluation, error, field=form)
    if asked:
        return _ask(campaign, evaluation, form, asked_copy=asked)
    flash(f"This evaluation asks what {title} asks.")
    return redirect(url_for(".index", campaign=campaign, evaluation=evaluation))


def _chosen_list(posted: uploads.Posted, form: DocumentsForm) -> Received:
    """The list that was sent, or the one that a yes is said to. Raises InvalidFields without one."""
    if "confirm" not in posted.fields:
        return chosen(posted, "documents")
    upload = uploads.kept(form.text("kept"))
    if upload is None:
        raise InvalidFields({"documents": [GONE]})
    return upload


def _field_of(form: FieldForm) -> FormField:
    return FormField(
        key=form.text("key"),
        label=form.text("label"),
        hint=form.text("hint"),
        kind=FieldKind(form.usable("kind")),
        choices=tuple(line for line in form.text("choices").splitlines() if line.strip()),
        required=form.required.data,
        shown_to=ShownTo(form.usable("shown_to")),
        column=form.column.data,
        filter=form.filter.data,
        header=form.text("header"),
    )


def _refused(
    campaign: str, evaluation: str, error: LeaderboardError | None = None, **refused: Form
) -> ResponseReturnValue:
    """The page with the one form that was refused, as it was sent."""
    [form] = refused.values()
    page = read(organised_form, campaign, evaluation)
    return form_page(FORM_FIELDS_PAGE, form, error, page=page, **(_forms(page) | refused))


def _ask(campaign: str, evaluation: str, form: FieldForm, **asked: tuple[str, ...]) -> ResponseReturnValue:
    """The page that asks for a yes to what a change does at once."""
    page = read(organised_form, campaign, evaluation)
    return render_template(FORM_FIELDS_PAGE, page=page, form=form, **(_forms(page) | {"field": form}), **asked)


def _page(page: OrganisedForm, editing: str, stating: str) -> ResponseReturnValue:
    forms = _forms(page, editing, stating)
    return render_template(FORM_FIELDS_PAGE, page=page, form=forms["field"], **forms)


def _forms(page: OrganisedForm, editing: str = "", stating: str = "") -> dict[str, Form]:
    """The page's forms: that of a field and of an agreement filled with the one of this key, where there is one."""
    field = next((one.field for one in page.fields if one.field.key == editing), None)
    agreement = next((one for one in page.agreements if one.key == stating), None)
    given = field.as_json() | {"choices": "\n".join(field.choices)} if field is not None else {}
    return {
        "field": FieldForm(formdata=None, data=given),
        "agreement": AgreementForm(formdata=None, obj=agreement, wording=agreement.text if agreement else ""),
        "rules": RulesForm(formdata=None, obj=page.rules),
        "documents": DocumentsForm(formdata=None),
    }
