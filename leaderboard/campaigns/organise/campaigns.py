"""Making a campaign, its settings, archiving and removing it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session

from leaderboard.campaigns import writes as campaigns
from leaderboard.campaigns.inputs import CampaignChanges, CampaignSettings, NewCampaign
from leaderboard.campaigns.models import Campaign
from leaderboard.campaigns.reads.organised import organised_campaign
from leaderboard.campaigns.reads.settings import CampaignSettings as Page
from leaderboard.campaigns.reads.settings import campaign_settings
from leaderboard.campaigns.rules import PRIOR_FIELDS, Visibility
from leaderboard.declared.inputs import checked
from leaderboard.errors import Conflict, InvalidFields, LeaderboardError, NotFound, UnknownMeasure
from leaderboard.evaluations import writes as removing
from leaderboard.locking import locked
from leaderboard.metrics import Family, families, parse
from leaderboard.web.context import actor, read, writing
from leaderboard.web.forms import Declared, declared, filled, form_page, refuse_stale, saved, state_of
from leaderboard.web.organise import organised, require_confirmed
from leaderboard.web.sessions import signed_in

blueprint = Blueprint("organise_campaigns", __name__, url_prefix="/organise")

NAMED = 12  # measures that a search lists
LETTERS = {"cost": "C", "value": "V", "prior": "P", "beta": "β"}  # what the form calls them
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
        found = locked(session, Campaign, organised_campaign(session, actor(), campaign).id)
        refuse_stale(form, {name: getattr(found, name) for name in page.values})
        campaigns.change_campaign(session, actor(), found, **form.sent())
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
        found = organised_campaign(session, actor(), campaign)
        campaigns.archive_campaign(session, actor(), found, archived=archived)
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
    hits = [one for one in families() if all(word in f"{one.name} {one.title}".casefold() for word in wanted)]
    hits.sort(key=lambda one: not one.name.casefold().startswith(wanted[0]))
    return tuple(Found(_example(one), one.name, one.title) for one in hits[:NAMED])


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
        return f"No β: {_in_letters(refused.fields)}."
    if prior.beta is None:
        return "No β: give C, V and P, or β itself. Only detection measures such as AQWV need it."
    if prior.prior is None:
        return f"β = {prior.beta:.6g}"
    return (
        f"β = (C / V) · (1 / P − 1) = ({prior.cost:g} / {prior.value:g}) · (1 / {prior.prior:g} − 1) = {prior.beta:.6g}"
    )


def _in_letters(wrong: Mapping[str, Sequence[str]]) -> str:
    """What is wrong with the numbers of β, each message once, by the letters that the form gives them."""
    said: dict[str, list[str]] = {}
    for name, messages in wrong.items():
        for message in messages:
            said.setdefault(message, []).append(LETTERS[name])
    return "; ".join(f"{' and '.join(letters)}: {message}" for message, letters in said.items())
