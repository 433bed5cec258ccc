"""The rooms themselves: the campaigns that one organises, a campaign, an evaluation."""

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue

from leaderboard.reads.organising import rooms
from leaderboard.web.context import actor, read
from leaderboard.web.organise import organised
from leaderboard.web.sessions import signed_in

blueprint = Blueprint("organise", __name__, url_prefix="/organise")


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
    return render_template("organise/campaign.html", page=page)


@blueprint.get("/<campaign>/<evaluation>")
@organised
def evaluation(campaign: str, evaluation: str) -> ResponseReturnValue:  # noqa: ARG001  # the decorator finds them
    return render_template("organise/evaluation.html")
