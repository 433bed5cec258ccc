"""The rooms themselves: the campaigns that one organises, a campaign, an evaluation.

Making a campaign, its settings, archiving and removing it.

Who organises a campaign, which teams know of a private one, and who may make campaigns.
"""

from dataclasses import dataclass

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session

from leaderboard.accounts import writes as accounts
from leaderboard.accounts.models import User
from leaderboard.campaigns import reads
from leaderboard.campaigns import writes as campaigns
from leaderboard.campaigns.inputs import AccountName, CampaignChanges, CampaignSettings, NewCampaign, TeamAddress
from leaderboard.campaigns.models import Campaign
from leaderboard.campaigns.reads import CampaignSettings as Page
from leaderboard.campaigns.reads import campaign_settings, organised_campaign
from leaderboard.campaigns.rules import PRIOR_FIELDS, Visibility
from leaderboard.db import locked
from leaderboard.declared.inputs import checked
from leaderboard.errors import Conflict, InvalidFields, LeaderboardError, NotFound, TooManyAttempts, UnknownMeasure
from leaderboard.evaluations import writes as removing
from leaderboard.evaluations.reads.readiness import Mend, left_to_do, readiness
from leaderboard.metrics import Family, families, parse
from leaderboard.teams.models import Team
from leaderboard.teams.pages import counting
from leaderboard.teams.reads.find import find_team, find_team_let_in
from leaderboard.web.context import actor, read, writing
from leaderboard.web.forms import Declared, declared, filled, form_page, refuse_stale, saved, state_of
from leaderboard.web.organise import organised, require_confirmed, unconfirmed
from leaderboard.web.sessions import signed_in

rooms_blueprint = Blueprint("organise", __name__, url_prefix="/organise")

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


@rooms_blueprint.get("")
@signed_in
def index() -> ResponseReturnValue:
    rows = read(reads.organised_campaigns)
    is_admin = actor().all_powerful
    may_found = is_admin or actor().may_found
    return render_template("organise/index.html", campaigns=rows, may_found=may_found, is_admin=is_admin)


@rooms_blueprint.get("/<campaign>")
@organised
def campaign(campaign: str) -> ResponseReturnValue:
    page = read(reads.campaign_room, campaign)
    return render_template("organise/campaign.html", page=page, left=read(left_to_do, campaign))


@rooms_blueprint.get("/<campaign>/<evaluation>")
@organised
def evaluation(campaign: str, evaluation: str) -> ResponseReturnValue:
    points = read(readiness, campaign, evaluation)
    mends = {
        mend: url_for(endpoint, campaign=campaign, evaluation=evaluation if mend in OF_EVALUATION else None)
        for mend, endpoint in MENDS.items()
    }
    return render_template("organise/evaluation.html", points=points, mends=mends)


blueprint = Blueprint("organise_campaigns", __name__, url_prefix="/organise")

NAMED = 12  # measures that a search lists
NewForm, SettingsForm = declared(NewCampaign), declared(CampaignChanges)


@dataclass(frozen=True, slots=True)
class Found:
    """A measure that a search found; name: as it can be added to the list."""

    name: str
    family: str
    title: str


@blueprint.route("/campaigns/new", methods=["GET", "POST"])
@signed_in
def new() -> ResponseReturnValue:
    if not (actor().all_powerful or actor().may_found):
        raise NotFound
    form = NewForm()

    def make(session: Session) -> tuple[str, str]:
        values = form.sent()
        made = campaigns.create_campaign(session, actor(), values.pop("slug").strip() or None, **values)
        return f"{made.title} is made. Next: its first evaluation.", url_for("organise.campaign", campaign=made.slug)

    if form.is_submitted() and _asked() == "save":
        return saved(make, lambda error: _page(form, error))
    return _page(form)


@blueprint.route("/<campaign>/settings", methods=["GET", "POST"])
@organised
def settings(campaign: str) -> ResponseReturnValue:
    page = read(campaign_settings, campaign)
    form = filled(SettingsForm, page.values)
    locks = (*PRIOR_FIELDS, "no_relevant") if page.locked_at is not None else ()
    for name in (*locks, *(["shut_out"] if page.values["visibility"] != Visibility.PUBLIC else [])):
        del form[name]
    if not form.is_submitted():
        form.state.data = state_of(page.values)

    def change(session: Session) -> tuple[str, str]:
        record = locked(session, Campaign, organised_campaign(session, actor(), campaign).id)
        refuse_stale(form, {name: getattr(record, name) for name in page.values})
        campaigns.change_campaign(session, actor(), record, **form.sent())
        require_confirmed(session, campaign, form.confirmed)
        return "The settings are changed.", request.path

    if form.is_submitted() and _asked() == "save":
        return saved(change, lambda error: _page(form, error, page))
    return _page(form, page=page)


@blueprint.post("/<campaign>/archive")
@organised
def archive(campaign: str) -> ResponseReturnValue:
    archived = request.form.get("archived") != "no"
    with writing() as session:
        record = organised_campaign(session, actor(), campaign)
        campaigns.archive_campaign(session, actor(), record, archived=archived)
    flash("The campaign is archived." if archived else "The campaign is out of the archive.")
    return redirect(url_for("organise_campaigns.settings", campaign=campaign))


@blueprint.post("/<campaign>/remove")
@organised
def remove(campaign: str) -> ResponseReturnValue:
    try:
        with writing() as session:
            removing.remove_campaign(session, actor(), organised_campaign(session, actor(), campaign))
    except Conflict as refused:
        flash(refused.message, "warning")
        return redirect(url_for("organise_campaigns.settings", campaign=campaign))
    flash("The campaign is removed.")
    return redirect(url_for("organise.index"))


def _asked() -> str:
    """What the button used asks for. Enter in a field, which no browser tells from another, searches where words for a
    search are written, and saves where none are.
    """
    asked = request.form.get("do", "save")
    if asked == "enter":
        return "find" if request.form.get("find", "").strip() else "save"
    return asked


def _page(form: Declared, error: LeaderboardError | None = None, page: Page | None = None) -> ResponseReturnValue:
    asked, words = _asked(), request.form.get("find", "")
    if (added := asked.removeprefix("add ")) != asked:
        form["measures"].data = f"{form.text('measures').strip()} {added}".strip()
    more = {"page": page, "find": words, "found": _found(words), "worked": _worked(form, page, error)}
    if asked != "save":
        return render_template("organise/campaign_form.html", form=form, **more)
    return form_page("organise/campaign_form.html", form, error, **more)


def _found(words: str) -> tuple[Found, ...]:
    """The measures whose name or title has all of the words."""
    wanted = words.casefold().split()
    if not wanted:
        return ()
    hits = [
        family for family in families() if all(word in f"{family.name} {family.title}".casefold() for word in wanted)
    ]
    hits.sort(key=lambda family: not family.name.casefold().startswith(wanted[0]))
    return tuple(Found(_example(family), family.name, family.title) for family in hits[:NAMED])


def _example(family: Family) -> str:
    """Its name, with a cutoff where it can't go without one."""
    try:
        return str(parse(family.name))
    except UnknownMeasure:
        return f"{family.name}@10"


def _worked(form: Declared, page: Page | None, error: LeaderboardError | None) -> str:
    """The formula of β with the form's numbers in it, or why there is no β; where what was sent is refused for that,
    each field says it itself."""
    sent = page.values if page is not None and page.locked_at is not None else form.sent()
    numbers = {name: sent[name] for name in PRIOR_FIELDS}
    try:
        prior = checked(CampaignSettings, {"title": "β", "measures": ["AP"], **numbers})
    except InvalidFields as refused:
        if error is not None:
            return "No β: see what is said beside its numbers."
        return f"No β: {next(iter(refused.fields.values()))[0]}."
    if prior.beta is None:
        return "No β: give C, V and P, or β itself. Only detection measures such as AQWV need it."
    if prior.prior is None:
        return f"β = {prior.beta:.6g}"
    return (
        f"β = (C / V) · (1 / P − 1) = ({prior.cost:g} / {prior.value:g}) · (1 / {prior.prior:g} − 1) = {prior.beta:.6g}"
    )


people_blueprint = Blueprint("organise_people", __name__, url_prefix="/organise")

NOBODY = "there is no account of this name"
NO_TEAM = "there is no team of this address; its members can tell it, or look the team up on a board or under /teams"


AccountForm, TeamForm = declared(AccountName), declared(TeamAddress)


def account_named(session: Session, name: str) -> User:
    """Raises InvalidFields (name), without the nearest names: accounts are nobody's to search."""
    try:
        return accounts.find_user(session, name)
    except NotFound:
        raise InvalidFields({"name": [NOBODY]}) from None


def team_named(session: Session, slug: str) -> Team:
    """Raises InvalidFields (team), without those that the reader is in: it is another one that is meant."""
    try:
        return find_team(session, slug.strip(), actor())
    except NotFound:
        raise InvalidFields({"team": [NO_TEAM]}) from None


@people_blueprint.get("/<campaign>/organisers")
@organised
def show(campaign: str) -> ResponseReturnValue:
    return _people_page(campaign)


@people_blueprint.post("/<campaign>/organisers")
@organised
def add(campaign: str) -> ResponseReturnValue:
    form = AccountForm()

    def change(session: Session) -> tuple[str, str]:
        user = account_named(session, checked(AccountName, form.sent()).name)
        campaigns.add_organiser(session, actor(), organised_campaign(session, actor(), campaign), user)
        return f"{user.name} organises the campaign, too.", url_for("organise_people.show", campaign=campaign)

    return saved(change, lambda error: _people_page(campaign, error, organiser=form))


@people_blueprint.route("/<campaign>/organisers/<int:member>/remove", methods=["GET", "POST"])
@organised
def remove_organiser(campaign: str, member: int) -> ResponseReturnValue:
    if request.method == "GET":
        organiser = next((row for row in read(reads.people, campaign).organisers if row.user_id == member), None)
        if organiser is None:
            raise NotFound
        return render_template("organise/remove_organiser.html", organiser=organiser)
    try:
        with writing() as session:
            record = organised_campaign(session, actor(), campaign)
            user = session.get(User, member)
            if user is None or member not in {row.user_id for row in record.organisers}:
                raise NotFound
            campaigns.remove_organiser(session, actor(), record, user)
    except Conflict as refused:
        flash(refused.message, "warning")
        return redirect(url_for("organise_people.show", campaign=campaign))
    flash(f"{user.name} no longer organises the campaign.")
    still = member != actor().user_id or actor().all_powerful
    return redirect(url_for("organise_people.show", campaign=campaign) if still else url_for("organise.index"))


@people_blueprint.post("/<campaign>/teams-let-in")
@organised
def let_in(campaign: str) -> ResponseReturnValue:
    form = TeamForm()
    try:
        slug = checked(TeamAddress, form.sent()).team
        with counting() as session:
            team = team_named(session, slug)
            campaigns.let_team_in(session, actor(), organised_campaign(session, actor(), campaign), team)
    except (InvalidFields, TooManyAttempts) as error:
        return _people_page(campaign, error, team=form)
    flash(f"{team.name} is let in.")
    return redirect(url_for("organise_people.show", campaign=campaign))


@people_blueprint.post("/<campaign>/teams-let-in/<team>/remove")
@organised
def let_out(campaign: str, team: str) -> ResponseReturnValue:
    with writing() as session:
        own = organised_campaign(session, actor(), campaign)
        record: Team = find_team_let_in(session, actor(), own, team)
        name = record.name
        campaigns.let_team_out(session, actor(), own, record)
        asked = unconfirmed(session, campaign)
    if asked:
        return render_template("organise/let_team_out.html", name=name, asked=asked)
    flash(f"{name} is no longer let in.")
    return redirect(url_for("organise_people.show", campaign=campaign))


@people_blueprint.route("/founders", methods=["GET", "POST"])
@signed_in
def founders() -> ResponseReturnValue:
    page = read(reads.founders)
    form = AccountForm()

    def change(session: Session) -> tuple[str, str]:
        user = account_named(session, checked(AccountName, form.sent()).name)
        may_found = request.form.get("revoke") != "yes"
        accounts.set_founder(session, actor(), user, may_found=may_found)
        return f"{user.name} may {'make' if may_found else 'no longer make'} campaigns.", request.path

    def shown(error: LeaderboardError | None = None) -> ResponseReturnValue:
        return form_page("organise/founders.html", form, error, founders=page)

    return saved(change, shown) if form.is_submitted() else shown()


def _people_page(
    campaign: str,
    error: LeaderboardError | None = None,
    *,
    organiser: Declared | None = None,
    team: Declared | None = None,
) -> ResponseReturnValue:
    forms = {
        "organiser_form": organiser or AccountForm(formdata=None),
        "team_form": team or TeamForm(formdata=None),
    }
    form = team or forms["organiser_form"]
    return form_page("organise/people.html", form, error, page=read(reads.people, campaign), **forms)
