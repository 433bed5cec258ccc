"""The rooms themselves: the campaigns that one organises, a campaign, an evaluation.

Making a campaign, its settings, archiving and removing it.

Who organises a campaign, which teams know of a private one, and who may make campaigns.
"""

import base64
from collections.abc import Callable

from flask import Blueprint, g, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session
from wtforms import BooleanField, FileField

from leaderboard import access
from leaderboard.campaigns import api, inputs, reads, writes as campaigns
from leaderboard.campaigns.models import Campaign
from leaderboard.campaigns.reads import CampaignSettings as Page
from leaderboard.campaigns.rules import Visibility
from leaderboard.errors import LeaderboardError, NotFound, Unconfirmed
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.reads.readiness import actions, left_to_do, readiness
from leaderboard.metrics.names import GROUPS, search
from leaderboard.web.context import actor, read, site, writing
from leaderboard.web.forms import Declared, Form, answered, declared, done, filled, form_page, saved, sent_on
from leaderboard.web.organise import MENDS, change_here, evaluation_here, mended_at, organised, settings_change
from leaderboard.web.sessions import signed_in

rooms_blueprint = Blueprint("organise", __name__, url_prefix="/organise")


@rooms_blueprint.get("")
@signed_in
def index() -> ResponseReturnValue:
    return render_template("organise/index.html", campaigns=read(reads.organised_campaigns))


@rooms_blueprint.get("/<campaign>")
@organised
def campaign(campaign: str) -> ResponseReturnValue:
    page = read(reads.campaign_room, campaign)
    return render_template("organise/campaign.html", page=page, left=read(left_to_do, campaign))


@rooms_blueprint.route("/<campaign>/<evaluation>", methods=["GET", "POST"])
@organised
def evaluation(campaign: str, **_: str) -> ResponseReturnValue:
    """What is left to do; a button publishes the evaluation, with a campaign that is a draft, closes it or reveals the
    names now.
    """
    form, action = Form(), request.form.get("action", "")
    possible = read(actions, campaign, g.room.evaluation)

    def change(session: Session, by: access.Actor, row: Campaign) -> None:
        if action == "publish" and row.visibility is Visibility.DRAFT:
            campaigns.change_campaign(session, by, row, visibility=Visibility.PUBLIC)
        evaluations.change_evaluation(session, by, evaluation_here(session), **possible[action])

    def make() -> tuple[str, str]:
        change_here(campaign, "", change, confirm=bool(request.form.get("confirm")))
        became = {"publish": "is published", "close": "is closed", "reveal": "shows the names of teams"}[action]
        return f"{g.room.evaluation_title} {became}.", request.path

    def shown(error: LeaderboardError | None = None) -> ResponseReturnValue:
        points = read(readiness, campaign, g.room.evaluation)
        more = {"points": points, "actions": possible, "mended_at": mended_at, "mends": MENDS}
        return form_page("organise/evaluation.html", form, error, **more)

    return saved(make, shown) if action in possible else shown()


blueprint = Blueprint("organise_campaigns", __name__, url_prefix="/organise")

NewForm, SettingsForm = declared(inputs.NewCampaign), declared(inputs.CampaignChanges)


@blueprint.route("/campaigns/new", methods=["GET", "POST"])
@signed_in
def new() -> ResponseReturnValue:
    if not (actor().all_powerful or actor().may_found):
        raise NotFound
    form = NewForm()

    def make() -> tuple[str, str]:
        made = api.make_campaign(form.checked()).values
        address = url_for("organise_evaluations.new", campaign=made["slug"])
        return f"{made['title']} is made. Next: its first evaluation.", address

    return _answer(form, make)


@blueprint.route("/<campaign>/settings", methods=["GET", "POST"])
@organised
def settings(campaign: str) -> ResponseReturnValue:
    page = read(reads.campaign_settings, campaign)
    form = filled(SettingsForm, page.values)
    for name in campaigns.LOCKED if page.values["locked_at"] is not None else ():
        del form[name]
    return _answer(form, settings_change(form, page.values, campaigns.change_campaign), page)


@blueprint.post("/<campaign>/archive")
@organised
def archive(campaign: str) -> ResponseReturnValue:
    archived = request.form.get("archived") != "no"
    (api.archive_campaign if archived else api.unarchive_campaign)(campaign)
    said = f"The campaign is {'archived' if archived else 'out of the archive'}."
    return sent_on(said, ".settings", campaign=campaign)


@blueprint.post("/<campaign>/remove")
@organised
def remove(campaign: str) -> ResponseReturnValue:
    index, back = url_for("organise.index"), url_for(".settings", campaign=campaign)
    body = inputs.Confirmed(confirm="confirm" in request.form)
    return done(lambda: api.remove_campaign(campaign, body), "The campaign is removed.", index, back)


def _answer(form: Declared, change: Callable[[], tuple[str, str]], page: Page | None = None) -> ResponseReturnValue:
    """The page; or what saving it answers, unless a button was used that searches or adds a measure."""
    asked, words = request.form.get("do", "save"), request.form.get("find", "")
    if asked == "enter":  # in a field, no browser says which: it searches where words for a search are written
        asked = "find" if words.strip() else "save"
    if (added := asked.removeprefix("add ")) != asked:
        form["measures"].data = f"{form.text('measures').strip()} {added}".strip()

    def shown(error: LeaderboardError | None = None) -> ResponseReturnValue:
        more = {"page": page, "find": words, "found": search(words), "presets": PRESETS}
        more["detection"] = " ".join(family.name for family in GROUPS["Detection"])
        if asked != "save":
            return render_template("organise/campaign_form.html", form=form, **more)
        return form_page("organise/campaign_form.html", form, error, **more)

    return saved(change, shown) if form.is_submitted() and asked == "save" else shown()


PRESETS = {  # measures that are often listed together
    "ranked retrieval": "AP nDCG@10 P@10 RR",
    "detection": "AQWV MQWV OQWV Pmiss Pfa",
    "sets": "SetP SetR SetF",
}


people_blueprint = Blueprint("organise_people", __name__, url_prefix="/organise")

AccountForm, TeamForm = declared(inputs.AccountName), declared(inputs.TeamAddress)


@people_blueprint.get("/<campaign>/organisers")
@people_blueprint.post("/<campaign>/organisers", endpoint="add")
@organised
def show(campaign: str) -> ResponseReturnValue:
    form = AccountForm()

    def add() -> ResponseReturnValue:
        api.add_organiser(campaign, form.checked())
        return sent_on(f"{form.text('name')} organises the campaign, too.", ".show", campaign=campaign)

    forms = {"organiser_form": form, "team_form": TeamForm(formdata=None)}
    return answered(form, "organise/people.html", add, page=read(reads.people, campaign), **forms)


@people_blueprint.route("/<campaign>/organisers/<int:member>/remove", methods=["GET", "POST"])
@organised
def remove_organiser(campaign: str, member: int) -> ResponseReturnValue:
    organiser = api.organiser_of(campaign, member)
    if request.method == "GET":
        return render_template("organise/remove_organiser.html", organiser=organiser)
    back, said = url_for(".show", campaign=campaign), f"{organiser.name} no longer organises the campaign."
    address = url_for("organise.index") if organiser.is_self else back
    return done(lambda: api.remove_organiser(campaign, member), said, address, back)


@people_blueprint.post("/<campaign>/teams-let-in")
@organised
def let_in(campaign: str) -> ResponseReturnValue:
    form = TeamForm()

    def add() -> ResponseReturnValue:
        api.let_team_in(campaign, form.checked())
        return sent_on(f"{form.text('team')} is let in.", ".show", campaign=campaign)

    forms = {"organiser_form": AccountForm(formdata=None), "team_form": form}
    return answered(form, "organise/people.html", add, page=read(reads.people, campaign), **forms)


@people_blueprint.post("/<campaign>/teams-let-in/<team>/remove")
@organised
def let_out(campaign: str, team: str) -> ResponseReturnValue:
    try:
        api.let_team_out(campaign, team, inputs.Confirmed(confirm=bool(request.form.get("confirm"))))
    except Unconfirmed as asked:
        return render_template("organise/let_team_out.html", name=team, asked=asked.effects)
    return sent_on(f"{team} is no longer let in.", ".show", campaign=campaign)


class SiteForm(declared(inputs.SiteSettings, "logo")):  # type: ignore[misc]  # made of the settings
    image = FileField("Logo (optional)", description="A PNG of at most 64 KiB and 1024 × 1024 pixels.")
    no_logo = BooleanField("Show no logo")


@people_blueprint.route("/site", methods=["GET", "POST"], endpoint="site")
@signed_in
def change_site() -> ResponseReturnValue:
    if not actor().all_powerful:
        raise NotFound
    form = filled(SiteForm, site().model_dump())

    def change() -> ResponseReturnValue:
        image = form["image"].data.read() if form["image"].data else b""
        logo = {"logo": base64.b64encode(image).decode()} if image or form["no_logo"].data else {}
        with writing() as session:
            campaigns.change_site(session, actor(), **form.sent(), **logo)
        return sent_on("The site is changed.", ".site")

    return answered(form, "site/form.html", change)
