"""Making a campaign, its settings, archiving and removing it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, HiddenField, RadioField, StringField, TextAreaField

from leaderboard.errors import Conflict, InvalidFields, LeaderboardError, NotFound, UnknownMeasure
from leaderboard.metrics import Family, families, parse
from leaderboard.reads.organising.effects import noted
from leaderboard.reads.organising.rooms import organised_campaign
from leaderboard.reads.organising.settings import CampaignSettings, campaign_settings
from leaderboard.rules.prior import PRIOR_FIELDS, checked_beta
from leaderboard.rules.settings import NoRelevant
from leaderboard.rules.standings import RunChoice
from leaderboard.rules.visibility import Visibility
from leaderboard.services import campaigns, removing
from leaderboard.web.context import actor, read, writing
from leaderboard.web.forms import Form, Given, RatioField, form_page, options
from leaderboard.web.organise import organised
from leaderboard.web.organise.rescoring import awaits_yes, say_changed
from leaderboard.web.organise.stale import refuse_stale, state_of
from leaderboard.web.sessions import signed_in

blueprint = Blueprint("organise_campaigns", __name__, url_prefix="/organise")

NAMED = 12  # measures that a search lists
LETTERS = {"cost": "C", "value": "V", "prior": "P", "beta": "β"}  # what the form calls them
NOT_READ = math.nan  # stands in for a number that is none: no bound holds it
LINKS = "One a line: a title, then its address, like: Track guidelines https://example.org/guidelines"


class CampaignForm(Form):
    """Its fields in the order of the page, in which what is wrong is summed up.

    `slug` is not there for a campaign that exists, and `shut_out` only for one that is public; the prior's fields and
    the policy not once they are locked.
    """

    made_from: ClassVar[Mapping[str, str]] = {"slug": "title", "primary_measure": "measures"}

    state = HiddenField()
    title = StringField("Title", [Given("give the campaign a title")], description="Its name on every page.")
    description = TextAreaField(
        "Description (optional)", description="A sentence or two under the title.", render_kw={"rows": 3}
    )
    visibility = RadioField(
        "Who may know of it",
        default=Visibility.DRAFT.value,
        choices=options(
            (Visibility.DRAFT.value, "Draft: its organisers only"),
            (Visibility.PRIVATE.value, "Private: its organisers, and members of the teams that they let in"),
            (Visibility.PUBLIC.value, "Public: everybody"),
        ),
        description="For all others it is as if there were no such campaign: nothing here tells of it.",
    )
    shut_out = BooleanField(
        "Made private, shut out teams that have runs in it",
        description="Else they are let in with that. Who is let in is shown, and changed, under Organisers.",
    )
    slug = StringField(
        "Address (optional)",
        description="The last part of its address, like harbour-track. It can't be changed later. Left empty, it is "
        "made from the title.",
        render_kw={"autocomplete": "off", "autocapitalize": "none"},
    )
    measures = TextAreaField(
        "Measures",
        [Given("name at least one measure")],
        description="What boards show, with cutoffs and parameters, like: AP nDCG@10 P@10 RBP(p=.8)",
        render_kw={"rows": 3, "class": "code", "autocapitalize": "none", "spellcheck": "false"},
    )
    find = StringField(
        "Find a measure", description="By a word of its name or title.", render_kw={"autocomplete": "off"}
    )
    primary_measure = StringField(
        "Primary measure (optional)",
        description="The one that ranks boards. Left empty, it is the first of the list.",
        render_kw={"class": "code", "autocapitalize": "none", "autocomplete": "off"},
    )
    run_choice = RadioField(
        "Which run stands for a system on a board",
        default=RunChoice.PRIMARY.value,
        choices=options(
            (RunChoice.PRIMARY.value, "its team's primary run, or the one that the team chose"),
            (RunChoice.BEST.value, "its best run by the measure that ranks"),
            (RunChoice.LATEST.value, "its latest run"),
        ),
    )
    compat = RadioField(
        "Ties and recall levels follow",
        default="10",
        choices=options(("10", "trec_eval 10"), ("9", "trec_eval 9")),
        description="The version of trec_eval whose figures yours are to equal.",
    )
    cost = RatioField("C, the cost of a false alarm", render_kw={"inputmode": "decimal", "autocomplete": "off"})
    value = RatioField("V, the value of a detection", render_kw={"inputmode": "decimal", "autocomplete": "off"})
    prior = RatioField("P, the share of documents that are relevant", render_kw={"autocomplete": "off"})
    beta = RatioField("β itself, instead of the three", render_kw={"inputmode": "decimal", "autocomplete": "off"})
    no_relevant = RadioField(
        "Queries without a relevant document, in detection measures",
        default=NoRelevant.EXCLUDE.value,
        choices=options(
            (NoRelevant.EXCLUDE.value, "are left out"),
            (NoRelevant.PFA_ONLY.value, "count by their false alarms alone"),
            (NoRelevant.PMISS_ZERO.value, "count with a miss rate of 0"),
        ),
    )
    contact = StringField(
        "Contact (optional)", description="Whom to ask: an e-mail address or a name. Everybody sees it."
    )
    links = TextAreaField("Links (optional)", description=LINKS, render_kw={"rows": 3})
    guidelines = TextAreaField(
        "Guidelines (optional)",
        description="In Markdown: headings, lists, tables, links. HTML stays text. They stand on the campaign's page.",
        render_kw={"rows": 12, "class": "code"},
    )

    @classmethod
    def of(cls, page: CampaignSettings) -> "CampaignForm":
        """The form for a campaign that exists."""
        values = dict(page.values)
        values["measures"] = " ".join(values["measures"])
        values["links"] = "\n".join(f"{title} {address}" for title, address in values["links"])
        values["compat"] = str(values["compat"])
        form = cls(data=values)
        del form.slug
        if page.values["visibility"] != Visibility.PUBLIC:
            del form.shut_out
        if page.locked_at is not None:
            for name in (*PRIOR_FIELDS, "no_relevant"):
                del form[name]
        return form

    def settings(self) -> dict[str, Any]:
        """What the service is given: with stand-ins where the form refuses a field."""
        given = {name: self.usable(name) for name in self._fields if name not in ("slug", "find", "state")}
        given = {name: "" if value is None and name not in PRIOR_FIELDS else value for name, value in given.items()}
        given |= {name: NOT_READ for name in PRIOR_FIELDS if name in given and self._fields[name].errors}
        given["measures"] = self.text("measures").replace(",", " ").split()
        given["primary_measure"] = self.text("primary_measure").strip() or next(iter(given["measures"]), "")
        given["links"] = [_link(line) for line in self.text("links").splitlines() if line.strip()]
        given["compat"] = int(given["compat"])
        for name, kind in (("visibility", Visibility), ("no_relevant", NoRelevant), ("run_choice", RunChoice)):
            if name in given:
                given[name] = kind(given[name])
        return given


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
    form = CampaignForm()
    del form.shut_out
    if _is_asking(form) or not form.is_submitted():
        return _page(form)
    try:
        with writing() as session, form.checked_with():
            settings = form.settings()
            slug = form.text("slug").strip() or None
            made = campaigns.create_campaign(session, actor(), slug, settings.pop("title"), **settings)
    except LeaderboardError as error:
        return _page(form, error)
    flash(f"{made.title} is made. Next: its first evaluation.")
    return redirect(url_for("organise.campaign", campaign=made.slug))


@blueprint.route("/<campaign>/settings", methods=["GET", "POST"])
@organised
def settings(campaign: str) -> ResponseReturnValue:
    page = read(campaign_settings, campaign)
    form = CampaignForm.of(page)
    if not form.is_submitted():
        form.state.data = state_of(form, page.values)
    if _is_asking(form) or not form.is_submitted():
        return _page(form, page=page)
    before = read(noted, campaign)
    try:
        with writing() as session:
            found = organised_campaign(session, actor(), campaign)
            with form.checked_with():
                given = form.settings()
                refuse_stale(session, form, found, given)
                campaigns.change_campaign(session, actor(), found, **given)
            asked = awaits_yes(session, campaign, before)
    except LeaderboardError as error:
        return _page(form, error, page)
    if asked:
        return _page(form, page=page, asked=asked)
    say_changed(campaign, before)
    return redirect(url_for("organise_campaigns.settings", campaign=campaign))


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


def _is_asking(form: CampaignForm) -> bool:
    """Whether a button was used that only works something out, and saves nothing."""
    asked = _asked(form)
    added = asked.removeprefix("add ")
    if added != asked:
        form.measures.data = f"{form.text('measures').strip()} {added}".strip()
    return asked != "save"


def _asked(form: CampaignForm) -> str:
    """What the button used asks for. Enter in a field, which no browser tells from another, searches where words for a
    search are written, and saves where none are.
    """
    asked = request.form.get("do", "save")
    if asked == "enter":
        return "find" if form.text("find").strip() else "save"
    return asked


def _page(
    form: CampaignForm,
    error: LeaderboardError | None = None,
    page: CampaignSettings | None = None,
    asked: tuple[str, ...] = (),
) -> ResponseReturnValue:
    """asked: what saving does at once, for a yes."""
    more = {"page": page, "asked": asked, "found": _found(form.text("find")), "worked": _worked(form, page, error)}
    if asked or _asked(form) != "save":
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


def _worked(form: CampaignForm, page: CampaignSettings | None, error: LeaderboardError | None) -> str:
    """The formula of β with the form's numbers in it, or why there is no β; where what was sent is refused for that,
    each field says it itself."""
    unread: dict[str, list[str]] = {}
    if page is not None and page.locked_at is not None:
        given = {name: page.values[name] for name in PRIOR_FIELDS}
    else:
        unread = {name: list(form[name].process_errors) for name in PRIOR_FIELDS if form[name].process_errors}
        given = {name: NOT_READ if name in unread else form[name].data for name in PRIOR_FIELDS}
    try:
        beta = checked_beta(**given)
    except InvalidFields as refused:
        if error is not None:
            return "No β: see what is said beside its numbers."
        return f"No β: {_in_letters({**refused.fields, **unread})}."
    if beta is None:
        return "No β: give C, V and P, or β itself. Only detection measures such as AQWV need it."
    if given["prior"] is None:
        return f"β = {beta:.6g}"
    worked = f"({given['cost']:g} / {given['value']:g}) · (1 / {given['prior']:g} − 1)"
    return f"β = (C / V) · (1 / P − 1) = {worked} = {beta:.6g}"


def _in_letters(wrong: Mapping[str, Sequence[str]]) -> str:
    """What is wrong with the numbers of β, each message once, by the letters that the form gives them."""
    said: dict[str, list[str]] = {}
    for name, messages in wrong.items():
        for message in messages:
            said.setdefault(message, []).append(LETTERS[name])
    return "; ".join(f"{' and '.join(letters)}: {message}" for message, letters in said.items())


def _link(line: str) -> tuple[str, str]:
    """Title and address of a line; a line of one word is taken for an address without a title."""
    title, _, address = line.strip().rpartition(" ")
    return title, address
