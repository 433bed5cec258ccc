"""Making an evaluation, its settings, next year's from this year's, and removing it."""

from collections.abc import Callable, Mapping
from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session

from leaderboard import moments as time_zones
from leaderboard.campaigns.reads.organised import organised_campaign, organised_evaluation
from leaderboard.campaigns.reads.settings import EvaluationSettings as Page
from leaderboard.campaigns.reads.settings import evaluation_settings
from leaderboard.declared.inputs import checked
from leaderboard.errors import Conflict, InvalidFields, LeaderboardError
from leaderboard.evaluations.inputs import YEAR, EvaluationChanges, EvaluationClone, EvaluationSettings, NewEvaluation
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.writes import clone as cloning
from leaderboard.evaluations.writes import delete as removing
from leaderboard.evaluations.writes import evaluations
from leaderboard.locking import locked
from leaderboard.moments import moment_in_words
from leaderboard.web.context import actor, read, reading, writing
from leaderboard.web.forms import Declared, declared, filled, form_page, refuse_stale, saved, state_of
from leaderboard.web.organise import organised, require_confirmed

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
        proposed = cloning.next_year(session, organised_evaluation(session, actor(), campaign, evaluation))
    form = _filled(CloneForm, {**page.values, **proposed, "draft": True, "with_queries": False})

    def make(session: Session) -> tuple[str, str]:
        found = organised_evaluation(session, actor(), campaign, evaluation)
        return _made(campaign, cloning.clone_evaluation(session, actor(), found, **form.sent()))

    return _answer(form, make, page, cloned=True)


@blueprint.post("/<campaign>/<evaluation>/remove")
@organised
def remove(campaign: str, evaluation: str) -> ResponseReturnValue:
    try:
        with writing() as session:
            removing.remove_evaluation(session, actor(), organised_evaluation(session, actor(), campaign, evaluation))
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
