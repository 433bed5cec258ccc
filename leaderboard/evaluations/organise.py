"""Making an evaluation, its settings, next year's from this year's, and removing it.

What an evaluation asks of a submission: fields, agreements, and rules for the file.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from flask import Blueprint, g, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session
from wtforms import FileField, HiddenField

from leaderboard import access, errors, moments as time_zones, numbers
from leaderboard.campaigns.inputs import Confirmed
from leaderboard.campaigns.reads import EvaluationSettings as Page
from leaderboard.declared.inputs import checked_partly
from leaderboard.evaluations import api, inputs, writes as evaluations
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.evaluations import organised_form
from leaderboard.evaluations.reads.readiness import actions
from leaderboard.formats import document_list
from leaderboard.judgments.organise import read_stored
from leaderboard.web import uploads
from leaderboard.web.context import read, reading
from leaderboard.web.forms import Declared, Form, declared, done, filled, form_page, saved
from leaderboard.web.organise import change_here, changed_here, evaluation_here, organised, settings_change
from leaderboard.web.security import csrf

blueprint = Blueprint("organise_evaluations", __name__, url_prefix="/organise")

PAGE = "organise/evaluation_form.html"
MODELS = inputs.NewEvaluation, inputs.EvaluationSettings, inputs.EvaluationClone
NewForm, SettingsForm, CloneForm = map(declared, MODELS)


@blueprint.route("/<campaign>/evaluations/new", methods=["GET", "POST"])
@organised
def new(campaign: str) -> ResponseReturnValue:
    form = NewForm()
    return _answer(form, lambda: _made(campaign, "", evaluations.create_evaluation, **form.sent()))


@blueprint.route("/<campaign>/<evaluation>/settings", methods=["GET", "POST"])
@organised
def settings(campaign: str, evaluation: str) -> ResponseReturnValue:
    page = api.organised_evaluation(campaign, evaluation)
    form = _filled(SettingsForm, page.values)
    change = settings_change(form, page.values, evaluations.change_evaluation)
    return _answer(form, change, page, actions=read(actions, campaign, evaluation))


@blueprint.route("/<campaign>/<evaluation>/clone", methods=["GET", "POST"])
@organised
def clone(campaign: str, evaluation: str) -> ResponseReturnValue:
    """A clone: the form comes filled with this year's settings, its dates a year later."""
    page = api.organised_evaluation(campaign, evaluation)
    with reading() as session:
        proposed = evaluations.next_year(session, evaluation_here(session))
    form = _filled(CloneForm, {**page.values, **proposed, "draft": True, "with_queries": False})
    make = partial(_made, campaign, evaluation, evaluations.clone_evaluation, **form.sent())
    return _answer(form, make, page)


@blueprint.post("/<campaign>/<evaluation>/remove")
@organised
def remove(campaign: str, evaluation: str) -> ResponseReturnValue:
    address, back = url_for("organise.campaign", campaign=campaign), url_for(".settings", **request.view_args or {})
    removal = partial(api.remove_evaluation, campaign, evaluation, Confirmed(confirm="confirm" in request.form))
    return done(removal, "The evaluation is removed.", address, back)


def _made(campaign: str, evaluation: str, make: Callable[..., Evaluation], **settings: Any) -> tuple[str, str]:
    """Makes an evaluation of the campaign, or of another evaluation of it; what is said of it, and where it is."""
    made = change_here(campaign, evaluation, make, **settings)
    address = url_for("organise.evaluation", campaign=campaign, evaluation=made.slug)
    return f"{made.title} is made.", address


def _filled(form: type[Declared], values: Mapping[str, Any]) -> Declared:
    """The form with settings as they are stored: dates by clocks of their zone, and no key that the period says."""
    local = {
        name: values[name] and time_zones.to_local(values[name], values["time_zone"]) for name in evaluations.DATES
    }
    year = inputs.YEAR.search(values["period"])
    key = None if year and values["period_key"] == int(year[0]) else values["period_key"]
    return filled(form, {**values, **local, "period_key": key})


def _answer(
    form: Declared, change: Callable[[], tuple[str, str]], page: Page | None = None, **more: Any
) -> ResponseReturnValue:
    """The page; or what saving it answers, unless the button was used that only shows the dates in UTC."""
    values = {name: form.text(name) for name in ("time_zone", *evaluations.DATES)}
    dates, wrong = checked_partly(inputs.EvaluationChanges, values)
    in_utc = {
        name: time_zones.moment_in_words(moment) for name in evaluations.DATES if (moment := getattr(dates, name))
    }
    more |= {"page": page, "in_utc": in_utc, "zones": time_zones.zone_names()}
    shown: Callable[..., ResponseReturnValue] = partial(form_page, PAGE, form, **more)
    if form.is_submitted() and request.form.get("do") == "dates":
        return shown(errors.InvalidFields(wrong)) if wrong else render_template(PAGE, form=form, **more)
    return saved(change, shown) if form.is_submitted() else shown()


form_fields_blueprint = Blueprint("organise_forms", __name__, url_prefix="/organise/<campaign>/<evaluation>/form")

RETIRED = "The field is retired: new runs are not asked. Old answers keep their visibility."
FieldForm, AgreementForm = declared(inputs.FormFieldSettings, "asked"), declared(inputs.AgreementText)
RulesForm = declared(inputs.FileRuleChanges)


class DocumentsForm(Form):
    """kept: a list that waits for a yes, as a signed proof."""

    documents = FileField("List of the collection's documents", description="An id a line, plain or gzipped.")
    kept = HiddenField()


@form_fields_blueprint.get("")
@organised
def index(**_: str) -> ResponseReturnValue:
    return _page()


@form_fields_blueprint.post("/field")
@organised
def set_field(**_: str) -> ResponseReturnValue:
    form = FieldForm()
    said = f"The form asks “{form.text('label')}”."
    return changed_here(partial(_page, field=form), said, evaluations.set_field, {**form.sent(), "asked": True})


@form_fields_blueprint.post("/field/remove")
@organised
def remove_field(**_: str) -> ResponseReturnValue:
    said = {True: "The field is gone.", False: RETIRED}.__getitem__
    return changed_here(_page, said, evaluations.remove_field, request.form.get("key", ""))


@form_fields_blueprint.post("/agreement")
@organised
def state_agreement(**_: str) -> ResponseReturnValue:
    form = AgreementForm()
    said = "Version {0.version} is published: everybody is asked with their next run.".format
    return changed_here(partial(_page, agreement=form), said, evaluations.state_agreement, **form.sent())


@form_fields_blueprint.post("/agreement/end")
@organised
def end_agreement(**_: str) -> ResponseReturnValue:
    said = "The agreement is retired. Who accepted it stays on record."
    return changed_here(_page, said, evaluations.end_agreement, request.form.get("key", ""))


@form_fields_blueprint.post("/rules")
@organised
def set_rules(**_: str) -> ResponseReturnValue:
    form, said = RulesForm(), "The rules hold for runs that come from now on."
    return changed_here(partial(_page, rules=form), said, evaluations.set_rules, **form.sent())


@form_fields_blueprint.post("/documents")
@organised
def set_documents(**_: str) -> ResponseReturnValue:
    posted = uploads.receive("documents")
    form = DocumentsForm(formdata=posted.fields)
    page, listed, words = partial(_page, documents=form), None, "The list of documents is gone."
    is_meant = "confirm" in posted.fields
    try:
        if not posted.fields.get("drop"):
            if is_meant:
                upload = uploads.require_kept(form.text("kept"), "documents")
            else:
                upload = uploads.require_chosen(posted, "documents")
            form.kept.data = uploads.keep(upload)
            listed = read_stored(upload, document_list, "documents")
            words = f"The list has {numbers.counted(listed.count, 'document')}."
    except errors.LeaderboardError as error:
        return page(error)
    return changed_here(page, words, evaluations.set_documents, listed, confirmed=is_meant)


csrf.exempt(set_documents)  # uploads.receive checks the token itself, before it keeps a byte of the file


@form_fields_blueprint.post("/copy")
@organised
def copy(**_: str) -> ResponseReturnValue:
    """Takes over what another evaluation of the campaign asks."""

    def change(session: Session, by: access.Actor, record: Evaluation) -> Evaluation:
        source = evaluation_here(session, evaluation=request.form.get("source", ""))
        evaluations.copy_form(session, by, source, record)
        return source

    said = "This evaluation asks what {0.title} asks.".format
    return changed_here(partial(_page, copying=Form()), said, change)


def _page(error: errors.LeaderboardError | None = None, **sent: Form) -> ResponseReturnValue:
    """The page: its forms empty but for the one that was sent, and those of the field and the agreement to change."""
    page = read(organised_form, g.room.campaign, g.room.evaluation)
    field = {row.field.key: row.field for row in page.fields}.get(request.args.get("field", ""))
    agreement = {row.key: row for row in page.agreements}.get(request.args.get("agreement", ""))
    values = field.as_json() | {"choices": "\n".join(field.choices)} if field else {}
    forms: dict[str, Form] = {
        "field": FieldForm(formdata=None, data=values),
        "agreement": AgreementForm(formdata=None, obj=agreement, wording=agreement.text if agreement else ""),
        "rules": RulesForm(formdata=None, obj=page.rules),
        "documents": DocumentsForm(formdata=None),
        "copying": Form(formdata=None),
        **sent,
    }
    form = next(iter(sent.values()), forms["field"])
    return form_page("organise/form.html", form, error, page=page, **forms)
