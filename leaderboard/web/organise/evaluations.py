"""Making an evaluation, its settings, next year's from this year's, and removing it."""

import datetime as dt
from collections.abc import Mapping
from typing import Any, ClassVar

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, Field, HiddenField, RadioField, StringField, TextAreaField
from wtforms.validators import ValidationError

from leaderboard.errors import Conflict, LeaderboardError
from leaderboard.reads.organising.effects import noted
from leaderboard.reads.organising.rooms import organised_campaign, organised_evaluation
from leaderboard.reads.organising.settings import EvaluationSettings, evaluation_settings
from leaderboard.rules import time_zones
from leaderboard.rules.moments import moment_in_words
from leaderboard.rules.phases import Opening
from leaderboard.rules.quotas import DAILY_QUOTA
from leaderboard.rules.settings import Judging
from leaderboard.services import cloning, evaluations, removing
from leaderboard.services.names import slug_of
from leaderboard.web.context import actor, read, reading, writing
from leaderboard.web.forms import Form, Given, MomentField, WholeField, form_page, options
from leaderboard.web.organise import organised
from leaderboard.web.organise.rescoring import awaits_yes, say_changed
from leaderboard.web.organise.stale import refuse_stale, state_of

blueprint = Blueprint("organise_evaluations", __name__, url_prefix="/organise")

DATES = ("opens_at", "closes_at", "anonymous_until")
WHOLE = {"inputmode": "numeric", "autocomplete": "off"}
# What an empty field means; of all others the empty text.
EMPTY = {
    "relevance_level": 1,
    "grace_seconds": 60,
    **dict.fromkeys((*DATES, "period_key", "documents", "daily_quota", "total_quota")),
}


def _openings(**words: str) -> Any:
    return options(*((Opening[name.upper()].value, text) for name, text in words.items()))


class EvaluationForm(Form):
    """Its fields in the order of the page, in which what is wrong is summed up.

    `slug` is not there for an evaluation that exists, `with_queries` only where one is cloned. `state` notes the
    settings that the form shows (`stale.state_of`).
    """

    made_from: ClassVar[Mapping[str, str]] = {"slug": "period", "period_key": "period"}

    state = HiddenField()
    title = StringField("Title", [Given("give the evaluation a title")], description="Its name on every page.")
    period = StringField("Period", [Given("give its year or round")], description="Its year or round, like 2026.")
    condition = StringField(
        "Condition (optional)", description="Its language or task, where a period has several evaluations."
    )
    description = TextAreaField("Description (optional)", render_kw={"rows": 3})
    draft = BooleanField("Draft: for everybody but organisers it is as if it were not there", default=True)
    with_queries = BooleanField("Copy the queries too: texts, tags, which are hidden and which are excluded")
    slug = StringField(
        "Address (optional)",
        description="The last part of its address, like 2026-text. It can't be changed later. Left empty, it is made "
        "from period and condition.",
        render_kw={"autocomplete": "off", "autocapitalize": "none"},
    )
    period_key = WholeField(
        "Number to sort periods by (optional)", description="Left empty, it is the year in the period.", render_kw=WHOLE
    )
    time_zone = StringField(
        "Time zone of the dates",
        default=time_zones.UTC,
        description="UTC, AoE (anywhere on Earth), or one such as Europe/Berlin. Pages show UTC.",
        render_kw={"list": "zones", "autocomplete": "off", "autocapitalize": "none"},
    )
    opens_at = MomentField("Opens (optional)", description="Left empty, it is open from the start.")
    closes_at = MomentField("Closes (optional)", description="Left empty, it never closes.")
    grace_seconds = WholeField(
        "Seconds of grace after closing",
        default=60,
        description="In which uploads that began before may end. What closing makes public opens only then.",
        render_kw=WHOLE,
    )
    late_allowed = BooleanField("Take late runs too; they are shown and not ranked")
    daily_quota = WholeField(
        "Submissions of a team in a day (optional)",
        default=DAILY_QUOTA,
        description="Left empty, there is no limit. Each one's figures tell something of the judgments.",
        render_kw=WHOLE,
    )
    total_quota = WholeField(
        "Submissions of a team in all (optional)", description="Left empty, there is no limit.", render_kw=WHOLE
    )
    collection = StringField("Collection (optional)", description="What is searched.")
    documents = WholeField(
        "Documents in the collection (optional)",
        description="N_total. Detection measures such as AQWV need it.",
        render_kw=WHOLE,
    )
    judging = RadioField(
        "Judging",
        default=Judging.POOLED.value,
        choices=options(
            (Judging.POOLED.value, "Pooled: a query without judgments is left out and reported"),
            (Judging.COMPLETE.value, "Complete: a query without judgments has no relevant document"),
        ),
    )
    relevance_level = WholeField("Lowest grade that is relevant", default=1, render_kw=WHOLE)
    results = RadioField(
        "The board is public",
        default=Opening.ALWAYS.value,
        choices=_openings(always="always", closed="once the evaluation has closed", never="never: to organisers only"),
    )
    own_results = BooleanField("Show a team its own means before that", default=True)
    details = RadioField(
        "Results by query, which reveal judgments, are public",
        default=Opening.CLOSED.value,
        choices=_openings(always="always", closed="once the evaluation has closed", never="never: to organisers only"),
    )
    texts = RadioField(
        "Texts and tags of queries are public",
        default=Opening.OPENED.value,
        choices=_openings(
            always="always",
            opened="once the evaluation has opened",
            closed="once it has closed",
            never="never: to organisers only",
        ),
    )
    hidden_queries = RadioField(
        "Hidden queries are shown and counted as all others",
        default=Opening.CLOSED.value,
        choices=_openings(always="now", closed="once the evaluation has closed", never="never"),
        description="Until then only organisers know of them, and public means are over the others.",
    )
    anonymous_until = MomentField(
        "Names of teams and systems are hidden until (optional)",
        description="Each team sees its own. On that moment the board shows them by itself.",
    )
    judgments_published = BooleanField(
        "Publish the judgments",
        description="Once it has closed and never before: as pages, and as a file that trec_eval reads.",
    )

    def validate_relevance_level(self, field: Field) -> None:
        """Said here too, so that it stands beside what else is no number in the form."""
        if field.data is not None and field.data < 1:
            raise ValidationError(evaluations.NO_LEVEL)

    def validate(self, extra_validators: Any = None) -> bool:
        """Whether all can be used: dates in the time zone, too."""
        sound = super().validate(extra_validators)
        _, problems = self._moments()
        self.refuse(problems)
        return bool(sound and not problems)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "EvaluationForm":
        """The form with settings as they are stored: dates by clocks of their zone."""
        zone = values["time_zone"]
        local = {name: time_zones.to_local(values[name], zone) for name in DATES if values[name] is not None}
        year = evaluations.YEAR.search(values["period"])
        said_by_period = year is not None and values["period_key"] == int(year[0])
        sorted_by = None if said_by_period else values["period_key"]  # so that it follows a changed period
        return cls(data={**values, "period_key": sorted_by, **dict.fromkeys(DATES), **local})

    def settings(self) -> dict[str, Any]:
        """What the service is given: with stand-ins where the form refuses a field."""
        given = {name: self.usable(name) for name in self._fields if name not in ("slug", "state", "with_queries")}
        given = {name: EMPTY.get(name, "") if value is None else value for name, value in given.items()}
        given["time_zone"] = given["time_zone"].strip()
        moments, _ = self._moments()
        for name, kind in (("judging", Judging), *((name, Opening) for name in OPENINGS)):
            given[name] = kind(given[name])
        return {**given, **dict.fromkeys(DATES), **moments}

    def dates_are_sound(self) -> bool:
        """Whether the dates can be told in UTC; what is wrong with them then stands beside them, and with no others."""
        _, problems = self._moments()
        self.refuse({name: self._fields[name].process_errors for name in DATES} | problems)
        return not any(self._fields[name].errors for name in (*DATES, "time_zone"))

    def in_utc(self) -> dict[str, str]:
        """The dates that are filled in, in words, in UTC; none where the zone is none."""
        moments, _ = self._moments()
        return {name: moment_in_words(moment) for name, moment in moments.items() if moment is not None}

    def _moments(self) -> tuple[dict[str, dt.datetime | None], dict[str, list[str]]]:
        """The dates as moments in UTC, and what is wrong with them in the time zone."""
        zone = self.text("time_zone").strip()
        return time_zones.moments_of({name: self._fields[name].data for name in DATES}, zone)


OPENINGS = ("results", "details", "texts", "hidden_queries")


@blueprint.route("/<campaign>/evaluations/new", methods=["GET", "POST"])
@organised
def new(campaign: str) -> ResponseReturnValue:
    form = EvaluationForm()
    del form.with_queries
    if _is_asking() or not form.is_submitted():
        return _page(form)
    try:
        with writing() as session, form.checked_with():
            given = form.settings()
            found = organised_campaign(session, actor(), campaign)
            names = given.pop("title"), given.pop("period")
            made = evaluations.create_evaluation(session, actor(), found, _slug(form), *names, **given)
    except LeaderboardError as error:
        return _page(form, error)
    flash(f"{made.title} is made. What it still lacks stands below.")
    return redirect(url_for("organise.evaluation", campaign=campaign, evaluation=made.slug))


@blueprint.route("/<campaign>/<evaluation>/settings", methods=["GET", "POST"])
@organised
def settings(campaign: str, evaluation: str) -> ResponseReturnValue:
    page = read(evaluation_settings, campaign, evaluation)
    form = EvaluationForm.of(page.values)
    del form.with_queries
    del form.slug
    if not form.is_submitted():
        form.state.data = state_of(form, page.values)
    if _is_asking() or not form.is_submitted():
        return _page(form, page=page)
    before = read(noted, campaign)
    try:
        with writing() as session:
            found = organised_evaluation(session, actor(), campaign, evaluation)
            with form.checked_with():
                given = form.settings()
                refuse_stale(session, form, found, given)
                evaluations.change_evaluation(session, actor(), found, **given)
            asked = awaits_yes(session, campaign, before)
    except LeaderboardError as error:
        return _page(form, error, page)
    if asked:
        return _page(form, page=page, asked=asked)
    say_changed(campaign, before)
    return redirect(url_for("organise_evaluations.settings", campaign=campaign, evaluation=evaluation))


@blueprint.route("/<campaign>/<evaluation>/clone", methods=["GET", "POST"])
@organised
def clone(campaign: str, evaluation: str) -> ResponseReturnValue:
    """A clone: the form comes filled with this year's settings, its dates a year later."""
    page = read(evaluation_settings, campaign, evaluation)
    with reading() as session:
        proposed = cloning.next_year(session, organised_evaluation(session, actor(), campaign, evaluation))
    form = EvaluationForm.of({**page.values, **proposed, "draft": True, "with_queries": False})
    if _is_asking() or not form.is_submitted():
        return _page(form, page=page, cloned=True)
    try:
        with writing() as session, form.checked_with():
            given = form.settings()
            found = organised_evaluation(session, actor(), campaign, evaluation)
            names = _slug(form), given.pop("title"), given.pop("period")
            queries = bool(form.with_queries.data)
            made = cloning.clone_evaluation(session, actor(), found, *names, with_queries=queries, **given)
    except LeaderboardError as error:
        return _page(form, error, page, cloned=True)
    flash(f"{made.title} is made. What it still lacks stands below.")
    return redirect(url_for("organise.evaluation", campaign=campaign, evaluation=made.slug))


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


def _is_asking() -> bool:
    """Whether the button was used that only shows the dates in UTC, and saves nothing."""
    return request.form.get("do") == "dates"


def _slug(form: EvaluationForm) -> str:
    return form.text("slug").strip() or slug_of(f"{form.text('period')} {form.text('condition')}")


def _page(
    form: EvaluationForm,
    error: LeaderboardError | None = None,
    page: EvaluationSettings | None = None,
    *,
    cloned: bool = False,
    asked: tuple[str, ...] = (),
) -> ResponseReturnValue:
    """asked: what saving does at once, for a yes."""
    more = {"page": page, "asked": asked, "cloned": cloned, "in_utc": form.in_utc(), "zones": time_zones.names()}
    if asked or (_is_asking() and form.dates_are_sound()):
        return render_template("organise/evaluation_form.html", form=form, **more)
    return form_page("organise/evaluation_form.html", form, error, **more)
