"""What organisers do: campaigns and evaluations, their queries and judgments, and the runs of all teams.

Every endpoint needs a token that may organise; whoever does not organise the campaign finds nothing here.
"""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, fields
from http import HTTPStatus
from typing import Annotated, Any, TypeVar

from flask import request
from msgspec import UNSET, Meta, UnsetType
from sqlalchemy.orm import Session

from leaderboard.errors import NotFound
from leaderboard.formats import ByteSource, Limits, read_judgments, read_queries
from leaderboard.models import Evaluation, Submission
from leaderboard.reads.organising import judgment_file, query_file, readiness, rooms, settings
from leaderboard.reads.organising import submissions as listed
from leaderboard.rules.phases import Opening
from leaderboard.rules.scopes import Scope
from leaderboard.rules.settings import Judging, NoRelevant, Split
from leaderboard.rules.standings import RunChoice
from leaderboard.rules.states import Ruling
from leaderboard.rules.visibility import Visibility
from leaderboard.services import campaigns, evaluations, judgments, queries, submissions
from leaderboard.web.api.endpoints import get, post
from leaderboard.web.context import actor, config, read, writing

CAMPAIGN = "/organise/campaigns/<campaign>"
EVALUATION = f"{CAMPAIGN}/evaluations/<evaluation>"
MOST_TEXT = 2**28  # bytes of a file that the site reads itself, while somebody waits
MOST_LINES = 5_000_000
MOST_QUERIES = 100_000

Content = TypeVar("Content")
Whole = Annotated[int, Meta(ge=0, le=10**9)]
Moment = Annotated[dt.datetime, Meta(tz=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignChanges:
    """What of a campaign is to change; what is left out stays."""

    title: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    contact: str | UnsetType = UNSET
    guidelines: str | UnsetType = UNSET
    visibility: Visibility | UnsetType = UNSET
    measures: list[str] | UnsetType = UNSET
    primary_measure: str | UnsetType = UNSET
    run_choice: RunChoice | UnsetType = UNSET
    no_relevant: NoRelevant | UnsetType = UNSET
    cost: float | UnsetType | None = UNSET
    value: float | UnsetType | None = UNSET
    prior: float | UnsetType | None = UNSET
    beta: float | UnsetType | None = UNSET


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationChanges:
    """What of an evaluation is to change; what is left out stays. Moments have a time zone."""

    title: str | UnsetType = UNSET
    period: str | UnsetType = UNSET
    condition: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    collection: str | UnsetType = UNSET
    documents: Annotated[int, Meta(ge=1, le=10**15)] | UnsetType | None = UNSET
    relevance_level: Whole | UnsetType = UNSET
    judging: Judging | UnsetType = UNSET
    opens_at: Moment | UnsetType | None = UNSET
    closes_at: Moment | UnsetType | None = UNSET
    late_allowed: bool | UnsetType = UNSET
    results: Opening | UnsetType = UNSET
    details: Opening | UnsetType = UNSET
    texts: Opening | UnsetType = UNSET
    hidden_queries: Opening | UnsetType = UNSET
    own_results: bool | UnsetType = UNSET
    judgments_published: bool | UnsetType = UNSET
    anonymous_until: Moment | UnsetType | None = UNSET
    daily_quota: Whole | UnsetType | None = UNSET
    total_quota: Whole | UnsetType | None = UNSET
    draft: bool | UnsetType = UNSET


@dataclass(frozen=True, slots=True)
class NewEvaluation:
    """An evaluation to make, as a draft; its settings are changed afterwards. slug: its part of the address."""

    slug: str
    title: str
    period: str
    condition: str = ""


@dataclass(frozen=True, slots=True)
class Named:
    """Queries by their ids. because: why they are excluded, which everybody reads."""

    queries: list[str]
    because: str = ""


@dataclass(frozen=True, slots=True)
class TakenOff:
    """How and why a run is taken off. holds_place: whether no other run takes the place that it had."""

    ruling: Ruling
    because: str
    holds_place: bool = True


@get("/organise/campaigns", Scope.ORGANISE)
def list_organised() -> tuple[rooms.OrganisedCampaign, ...]:
    """The campaigns that you organise, with what waits in each."""
    return read(rooms.organised_campaigns)


@get(CAMPAIGN, Scope.ORGANISE)
def organised_campaign(campaign: str) -> settings.CampaignSettings:
    """Every setting of a campaign, and why it can't be removed."""
    return read(settings.campaign_settings, campaign)


@post(CAMPAIGN, Scope.ORGANISE)
def change_campaign(campaign: str, body: CampaignChanges) -> settings.CampaignSettings:
    """Changes a campaign. What figures depend on is scored anew, and the prior is fixed once there are results."""
    with writing() as session:
        found = rooms.organised_campaign(session, actor(), campaign)
        campaigns.change_campaign(session, actor(), found, **_given(body))
    return read(settings.campaign_settings, campaign)


@post(f"{CAMPAIGN}/evaluations", Scope.ORGANISE, status=HTTPStatus.CREATED)
def make_evaluation(campaign: str, body: NewEvaluation) -> settings.EvaluationSettings:
    """Makes an evaluation of the campaign, as a draft."""
    with writing() as session:
        found = rooms.organised_campaign(session, actor(), campaign)
        made = evaluations.create_evaluation(
            session, actor(), found, body.slug, body.title, body.period, condition=body.condition, draft=True
        )
    return read(settings.evaluation_settings, campaign, made.slug)


@get(EVALUATION, Scope.ORGANISE)
def organised_evaluation(campaign: str, evaluation: str) -> settings.EvaluationSettings:
    """Every setting of an evaluation, and why it can't be removed."""
    return read(settings.evaluation_settings, campaign, evaluation)


@post(EVALUATION, Scope.ORGANISE)
def change_evaluation(campaign: str, evaluation: str, body: EvaluationChanges) -> settings.EvaluationSettings:
    """Changes an evaluation. What figures depend on is scored anew."""
    with writing() as session:
        evaluations.change_evaluation(session, actor(), _found(session, campaign, evaluation), **_given(body))
    return read(settings.evaluation_settings, campaign, evaluation)


@get(f"{EVALUATION}/readiness", Scope.ORGANISE)
def evaluation_readiness(campaign: str, evaluation: str) -> tuple[readiness.Point, ...]:
    """What is left to do before the evaluation can open, close and show its results."""
    return read(readiness.readiness, campaign, evaluation)


@get(f"{EVALUATION}/queries", Scope.ORGANISE)
def organised_queries(campaign: str, evaluation: str) -> query_file.OrganisedQueries:
    """All queries, hidden and excluded ones too."""
    return read(query_file.organised_queries, campaign, evaluation, page=None)


@post(f"{EVALUATION}/queries", Scope.ORGANISE, form=bytes)
def add_queries(campaign: str, evaluation: str) -> query_file.OrganisedQueries:
    """Adds queries, and gives known ones their new texts and tags. The body is the file: id, text and tags."""
    rows = _file(campaign, evaluation, read_queries)
    with writing() as session:
        queries.import_queries(session, actor(), _found(session, campaign, evaluation), rows)
    return read(query_file.organised_queries, campaign, evaluation, page=None)


@post(f"{EVALUATION}/queries/exclude", Scope.ORGANISE)
def exclude_queries(campaign: str, evaluation: str, body: Named) -> query_file.OrganisedQueries:
    """Takes queries out of all figures, with a reason; runs are scored anew."""
    with writing() as session:
        found = _found(session, campaign, evaluation)
        queries.exclude_queries(session, actor(), found, body.queries, body.because)
    return read(query_file.organised_queries, campaign, evaluation, page=None)


@post(f"{EVALUATION}/queries/include", Scope.ORGANISE)
def include_queries(campaign: str, evaluation: str, body: Named) -> query_file.OrganisedQueries:
    """Takes excluded queries back into the figures."""
    with writing() as session:
        queries.include_queries(session, actor(), _found(session, campaign, evaluation), body.queries)
    return read(query_file.organised_queries, campaign, evaluation, page=None)


@post(f"{EVALUATION}/queries/hide", Scope.ORGANISE)
def hide_queries(campaign: str, evaluation: str, body: Named) -> query_file.OrganisedQueries:
    """Hides queries from everybody but organisers."""
    return _split(campaign, evaluation, body, Split.HIDDEN)


@post(f"{EVALUATION}/queries/show", Scope.ORGANISE)
def show_queries(campaign: str, evaluation: str, body: Named) -> query_file.OrganisedQueries:
    """Shows hidden queries to everybody."""
    return _split(campaign, evaluation, body, Split.SHOWN)


@get(f"{EVALUATION}/judgments", Scope.ORGANISE)
def organised_judgments(campaign: str, evaluation: str) -> judgment_file.OrganisedJudgments:
    """The revisions of the judgments, with their hashes and how far scoring by them is."""
    return read(judgment_file.organised_judgments, campaign, evaluation)


@post(f"{EVALUATION}/judgments", Scope.ORGANISE, form=bytes)
def add_judgments(
    campaign: str, evaluation: str, *, note: str = "", source: str | None = None
) -> judgment_file.OrganisedJudgments:
    """Adds a revision of the judgments. The body is the file; source: whose they are, the official source's unless
    told. The boards switch once all runs are scored by it.
    """
    rows = _file(campaign, evaluation, read_judgments)
    with writing() as session:
        found = _found(session, campaign, evaluation)
        judgments.import_judgments(session, actor(), found, rows, note, source=source)
    return read(judgment_file.organised_judgments, campaign, evaluation)


@get(f"{EVALUATION}/submissions", Scope.ORGANISE)
def list_submissions(campaign: str, evaluation: str, *, state: str = "", team: str = "") -> listed.SubmissionList:
    """Every submission, those that are on no board too. state: queued, scoring, scored, rejected, failed …"""
    filters = listed.Filters(state=state, team=team)
    return read(listed.submissions, campaign, evaluation, filters=filters, page=None)


@post(f"{EVALUATION}/submissions/<int:submission>/take-off", Scope.ORGANISE)
def take_run_off(campaign: str, evaluation: str, submission: int, body: TakenOff) -> listed.SubmissionRow:
    """Takes a run off every board, hidden or disqualified; its team reads the reason."""

    def take_off(session: Session, run: Submission) -> None:
        submissions.take_off(session, actor(), run, body.ruling, body.because, holds_place=body.holds_place)

    return _of_run(campaign, evaluation, submission, take_off)


@post(f"{EVALUATION}/submissions/<int:submission>/restore", Scope.ORGANISE)
def restore_run(campaign: str, evaluation: str, submission: int) -> listed.SubmissionRow:
    """Puts a run that was taken off back on the boards."""
    return _of_run(campaign, evaluation, submission, lambda session, run: submissions.restore(session, actor(), run))


@post(f"{EVALUATION}/submissions/<int:submission>/retry", Scope.ORGANISE)
def retry_run(campaign: str, evaluation: str, submission: int) -> listed.SubmissionRow:
    """Puts a run whose scoring failed back into the queue."""
    return _of_run(campaign, evaluation, submission, lambda session, run: submissions.retry(session, actor(), run))


def _given(changes: CampaignChanges | EvaluationChanges) -> dict[str, Any]:
    values = {field.name: getattr(changes, field.name) for field in fields(changes)}
    return {name: value for name, value in values.items() if value is not UNSET}


def _found(session: Session, campaign: str, evaluation: str) -> Evaluation:
    return rooms.organised_evaluation(session, actor(), campaign, evaluation)


def _file(campaign: str, evaluation: str, read_file: Callable[..., Content]) -> Content:
    """The body as a file of rows, under the site's caps. Raises NotFound before any of it is read, and FileRejected."""
    read(settings.evaluation_settings, campaign, evaluation)
    request.max_content_length = config().upload_bytes
    most = min(config().text_bytes, MOST_TEXT)
    limits = Limits(expanded_bytes=most, all_id_bytes=most, lines=MOST_LINES, queries=MOST_QUERIES)
    source: ByteSource = request.stream
    return read_file(source, name="the body", limits=limits)


def _split(campaign: str, evaluation: str, body: Named, split: Split) -> query_file.OrganisedQueries:
    with writing() as session:
        queries.set_split(session, actor(), _found(session, campaign, evaluation), body.queries, split)
    return read(query_file.organised_queries, campaign, evaluation, page=None)


def _of_run(
    campaign: str, evaluation: str, submission: int, do: Callable[[Session, Submission], None]
) -> listed.SubmissionRow:
    read(listed.submission_row, campaign, evaluation, submission)  # a run to another evaluation is not here
    with writing() as session:
        run = session.get(Submission, submission)
        if run is None:
            raise NotFound
        do(session, run)
    return read(listed.submission_row, campaign, evaluation, submission)
