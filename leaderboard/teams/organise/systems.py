"""The systems of a campaign: what kind each is, its description and links."""

from flask import Blueprint, flash, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from wtforms import RadioField, StringField, TextAreaField

from leaderboard.errors import InvalidFields
from leaderboard.evaluations.reads.effects import entered_by
from leaderboard.submissions.rules.selection import SystemKind
from leaderboard.teams.models import System
from leaderboard.teams.reads.organised import organised_system, organised_systems
from leaderboard.teams.writes import systems
from leaderboard.teams.writes.systems import NewSystem
from leaderboard.web.confirm import unconfirmed
from leaderboard.web.context import actor, read, writing
from leaderboard.web.forms import Form, Given, form_page
from leaderboard.web.organise import organised

blueprint = Blueprint("organise_systems", __name__, url_prefix="/organise")

ADDRESS = "/<campaign>/systems"
KINDS = {
    SystemKind.AUTOMATIC: "Automatic: no person had a hand in its runs",
    SystemKind.MANUAL: "Manual: a person chose queries or documents",
    SystemKind.BASELINE: "Baseline: shown on boards beside the others, pinned and never ranked",
}


class SystemForm(Form):
    kind = RadioField("Kind", [Given("choose one")])
    description = TextAreaField("Description (optional)", render_kw={"rows": 4})
    code_url = StringField("Address of its code (optional)", description="Starting with https://")
    paper_url = StringField("Address of its paper (optional)", description="Starting with https://")

    @classmethod
    def on(cls, **given: str) -> "SystemForm":
        """The form with what there is to choose, and what is known."""
        form = cls(**given)
        form.kind.choices = [(kind.value, words) for kind, words in KINDS.items()]
        return form


@blueprint.get(ADDRESS)
@organised
def index(campaign: str) -> ResponseReturnValue:
    return render_template("organise/systems/list.html", systems=read(organised_systems, campaign))


@blueprint.get(f"{ADDRESS}/<int:system_id>")
@organised
def show(campaign: str, system_id: int) -> ResponseReturnValue:
    found = read(organised_system, campaign, system_id)
    known = {name: getattr(found, name) for name in ("description", "code_url", "paper_url")}
    return form_page("organise/systems/form.html", SystemForm.on(kind=found.kind.value, **known), system=found)


@blueprint.post(f"{ADDRESS}/<int:system_id>")
@organised
def change(campaign: str, system_id: int) -> ResponseReturnValue:
    found, form = read(organised_system, campaign, system_id), SystemForm.on()
    if not form.validate():
        return form_page("organise/systems/form.html", form, system=found)
    texts = {name: form.text(name) for name in ("description", "code_url", "paper_url")}
    try:
        with writing() as session:
            new = NewSystem(found.name, SystemKind(form.kind.data), **texts)
            systems.change_system(session, actor(), session.get_one(System, found.id), new)
            asked = unconfirmed(session, campaign, entered_by(found.id))
    except InvalidFields as error:
        return form_page("organise/systems/form.html", form, error, system=found)
    if asked:
        return render_template("organise/systems/form.html", form=form, system=found, asked=asked)
    flash(f"{found.name} is changed.")
    return redirect(url_for(".index", campaign=campaign))
