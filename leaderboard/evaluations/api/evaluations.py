"""Evaluations: made, changed, cloned into next year's and removed, and what they lack."""

from http import HTTPStatus

from leaderboard.accounts.rules import Scope
from leaderboard.campaigns.reads import organised as rooms
from leaderboard.campaigns.reads import settings
from leaderboard.declared.commands import Command, Table, moment
from leaderboard.evaluations.inputs import EvaluationChanges, EvaluationClone, NewEvaluation
from leaderboard.evaluations.reads import readiness
from leaderboard.evaluations.writes import clone as cloning
from leaderboard.evaluations.writes import delete as removing
from leaderboard.evaluations.writes import evaluations
from leaderboard.web.context import actor, read, writing
from leaderboard.web.endpoints import get, post
from leaderboard.web.organise import CAMPAIGN, EVALUATION, campaign_here, evaluation_here, require_confirmed

LIST = Table(
    ("evaluation", "title", "period", "condition", "queries", "runs", "opens", "closes"),
    lambda row: (
        f"{row['campaign']}/{row['slug']}", row["title"], row["period"], row["condition"] or "–", row["queries"],
        row["runs"], moment(row["opens_at"]), moment(row["closes_at"]),
    ),
    "no evaluation yet; make one: leaderboard evaluation add",
)  # fmt: skip
POINTS = Table(("state", "about", "what"), lambda row: (row["urgency"], row["about"], row["words"]), "")
UNREADY = 1  # exit status


@get("/organise/evaluations", Scope.ORGANISE, command=Command("evaluation list [CAMPAIGN]", LIST, "harbour"))
def list_organised_evaluations(*, campaign: str = "") -> tuple[rooms.ListedEvaluation, ...]:
    """The evaluations of the campaigns that you organise, or of one of them, with how much is in each."""
    return read(rooms.organised_evaluations, campaign)


@get(f"{CAMPAIGN}/evaluations", Scope.ORGANISE)
def organised_evaluations(campaign: str) -> rooms.CampaignRoom:
    """A campaign's evaluations, drafts too, with what waits in each; and who organises it."""
    return read(rooms.campaign_room, campaign)


@post(f"{CAMPAIGN}/evaluations", Scope.ORGANISE, status=HTTPStatus.CREATED, command=Command(
    "evaluation add CAMPAIGN/SLUG", "made the evaluation {campaign}/{slug}; next: leaderboard queries import "
    "{campaign}/{slug} FILE", sends={"draft": False},
    example="harbour/2026-text --title 'Text 2026' --period 2026 --documents 1800 --closes 2026-09-30T18:00",
))  # fmt: skip
def make_evaluation(campaign: str, body: NewEvaluation) -> settings.EvaluationSettings:
    """Makes an evaluation of a campaign."""
    with writing() as session:
        own = campaign_here(session, campaign)
        made = evaluations.create_evaluation(session, actor(), own, **body.model_dump())
    return read(settings.evaluation_settings, campaign, made.slug)


@get(EVALUATION, Scope.ORGANISE)
def organised_evaluation(campaign: str, evaluation: str) -> settings.EvaluationSettings:
    """Every setting of an evaluation, and why it can't be removed."""
    return read(settings.evaluation_settings, campaign, evaluation)


@post(EVALUATION, Scope.ORGANISE, command=Command(
    "evaluation change CAMPAIGN/EVALUATION", "changed the evaluation {campaign}/{evaluation}",
    "harbour/2026-text --closes 2026-10-15 --daily-quota none",
))  # fmt: skip
def change_evaluation(campaign: str, evaluation: str, body: EvaluationChanges) -> settings.EvaluationSettings:
    """Changes the settings that are given; the others stay. What it does beyond that is listed, and to be confirmed."""
    with writing() as session:
        found = evaluation_here(session, campaign, evaluation)
        evaluations.change_evaluation(session, actor(), found, **body.given())
        require_confirmed(session, campaign, body.confirm)
    return read(settings.evaluation_settings, campaign, evaluation)


@post(f"{EVALUATION}/clone", Scope.ORGANISE, status=HTTPStatus.CREATED, command=Command(
    "evaluation clone CAMPAIGN/EVALUATION SLUG",
    lambda answer, given: f"made {given['campaign']}/{answer['values']['slug']} as a "
    f"{'draft' if answer['values']['draft'] else 'public'} copy of {given['campaign']}/{given['evaluation']}",
    "harbour/2026-text 2027-text --closes 2027-10-01 --with-queries",
))  # fmt: skip
def clone_evaluation(campaign: str, evaluation: str, body: EvaluationClone) -> settings.EvaluationSettings:
    """Makes next year's evaluation of this one, as a draft. Names and dates are those of a year later unless told, and
    what is asked of runs is the same; judgments and runs are never copied.
    """
    values = body.given()
    with writing() as session:
        found = evaluation_here(session, campaign, evaluation)
        proposed = cloning.next_year(session, found)
        names = [values.pop(name, proposed[name]) for name in ("slug", "title", "period")]
        made = cloning.clone_evaluation(session, actor(), found, *names, **values)
    return read(settings.evaluation_settings, campaign, made.slug)


@post(f"{EVALUATION}/remove", Scope.ORGANISE, command=Command(
    "evaluation remove CAMPAIGN/EVALUATION", "removed the evaluation {campaign}/{evaluation}", "harbour/2026-txt",
    asks="Remove {values[title]} ({campaign}/{evaluation}) for good, with {goes}?",
))  # fmt: skip
def remove_evaluation(campaign: str, evaluation: str) -> rooms.CampaignRoom:
    """Removes an evaluation to which nothing was submitted, with its queries and judgments."""
    with writing() as session:
        removing.remove_evaluation(session, actor(), evaluation_here(session, campaign, evaluation))
    return read(rooms.campaign_room, campaign)


@get(f"{EVALUATION}/readiness", Scope.ORGANISE, command=Command(
    "evaluation ready CAMPAIGN/EVALUATION", POINTS, "harbour/2026-text",
    status=lambda points: UNREADY if any(point["urgency"] == readiness.Urgency.TO_DO for point in points) else 0,
))  # fmt: skip
def evaluation_readiness(campaign: str, evaluation: str) -> tuple[readiness.Point, ...]:
    """What is left to do before the evaluation can open, close and show its results."""
    return read(readiness.readiness, campaign, evaluation)
