"""The rooms themselves: the campaigns that one organises, a campaign, an evaluation."""

from flask import Blueprint, render_template, url_for
from flask.typing import ResponseReturnValue

from leaderboard.campaigns.reads import organised as rooms
from leaderboard.evaluations.reads.readiness import Mend, left_to_do, readiness
from leaderboard.web.context import actor, read
from leaderboard.web.organise import organised
from leaderboard.web.sessions import signed_in

blueprint = Blueprint("organise", __name__, url_prefix="/organise")

OF_EVALUATION = {Mend.QUERIES, Mend.JUDGMENTS, Mend.SETTINGS, Mend.FORM}
# Where each point of the readiness list is mended.
MENDS = {
    Mend.QUERIES: "organise_queries.index",
    Mend.JUDGMENTS: "organise_judgments.index",
    Mend.SETTINGS: "organise_evaluations.settings",
    Mend.CAMPAIGN: "organise_campaigns.settings",
    Mend.ORGANISERS: "organise_people.show",
    Mend.SYSTEMS: "organise_systems.index",
    Mend.FORM: "organise_forms.index",
}


@blueprint.get("")
@signed_in
def index() -> ResponseReturnValue:
    found = read(rooms.organised_campaigns)
    is_admin = actor().all_powerful
    may_found = is_admin or actor().may_found
    return render_template("organise/index.html", campaigns=found, may_found=may_found, is_admin=is_admin)


@blueprint.get("/<campaign>")
@organised
def campaign(campaign: str) -> ResponseReturnValue:
    page = read(rooms.campaign_room, campaign)
    return render_template("organise/campaign.html", page=page, left=read(left_to_do, campaign))


@blueprint.get("/<campaign>/<evaluation>")
@organised
def evaluation(campaign: str, evaluation: str) -> ResponseReturnValue:
    points = read(readiness, campaign, evaluation)
    mends = {
        mend: url_for(endpoint, campaign=campaign, evaluation=evaluation if mend in OF_EVALUATION else None)
        for mend, endpoint in MENDS.items()
    }
    return render_template("organise/evaluation.html", points=points, mends=mends)
