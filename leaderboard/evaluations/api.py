"""Evaluations: made, changed, cloned into next year's and removed, and what they lack.

What an evaluation asks of a submission: fields, agreements, and rules for the file.
"""

from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from msgspec import UNSET, UnsetType
from sqlalchemy.orm import Session

from leaderboard.access import Actor
from leaderboard.accounts.rules import Scope
from leaderboard.campaigns import reads as rooms
from leaderboard.campaigns import reads as settings
from leaderboard.declared.commands import Command, Table, moment
from leaderboard.errors import InvalidFields, NotFound, Unconfirmed
from leaderboard.evaluations import writes as cloning
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations import writes as removing
from leaderboard.evaluations import writes as submission_forms
from leaderboard.evaluations.inputs import EvaluationChanges, EvaluationClone, NewEvaluation
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads import readiness
from leaderboard.evaluations.reads.form_fields import OrganisedForm, form_fields, organised_form
from leaderboard.evaluations.rules import FieldKind, ShownTo, with_changes
from leaderboard.formats import document_list
from leaderboard.judgments.reads.files import listed_documents
from leaderboard.web.context import actor, read, reading, store, writing
from leaderboard.web.endpoints import get, post
from leaderboard.web.organise import (
    CAMPAIGN,
    EVALUATION,
    campaign_here,
    changing,
    evaluation_here,
    given,
    read_body,
    require_confirmed,
)

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


FORM = f"{EVALUATION}/form"


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChanges:
    """A field to add, or what of the field of this key is to change. What is left out stays as it is; a new field is an
    optional text for organisers unless it says otherwise.

    confirm: to what it does with answers that are there, which a refusal without it tells.
    """

    key: str
    label: str | UnsetType = UNSET
    kind: FieldKind | UnsetType = UNSET
    required: bool | UnsetType = UNSET
    shown_to: ShownTo | UnsetType = UNSET
    column: bool | UnsetType = UNSET
    filter: bool | UnsetType = UNSET
    choices: tuple[str, ...] | UnsetType = UNSET
    hint: str | UnsetType = UNSET
    header: str | UnsetType = UNSET
    asked: bool | UnsetType = UNSET
    confirm: bool = False


@dataclass(frozen=True, slots=True)
class StatedAgreement:
    """An agreement, or the next version of the one of this key."""

    key: str
    title: str
    wording: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleChanges:
    """What of the rules for run files is to change; what is left out stays, null or "" asks for nothing.

    most_documents, least_documents: of one query; every_query: must have a list; document_pattern, tag_pattern: what
    ids and run tags look like.
    """

    most_documents: int | UnsetType | None = UNSET
    least_documents: int | UnsetType | None = UNSET
    every_query: bool | UnsetType = UNSET
    document_pattern: str | UnsetType = UNSET
    tag_pattern: str | UnsetType = UNSET


@dataclass(frozen=True, slots=True)
class CopiedFrom:
    """The part of the address of another evaluation of the campaign; confirm: to what its fields do with answers,
    which a refusal without it tells.
    """

    source: str
    confirm: bool = False


@get(FORM, Scope.ORGANISE)
def submission_form(campaign: str, evaluation: str) -> OrganisedForm:
    """What is asked of a run: fields and how many runs answered them, agreements and who accepted them, file rules."""
    return read(organised_form, campaign, evaluation)


@post(f"{FORM}/fields", Scope.ORGANISE)
def set_form_field(campaign: str, evaluation: str, body: FieldChanges) -> OrganisedForm:
    """Adds a field to the form, or changes the one of its key."""
    changes = given(body)

    def change(session: Session, by: Actor, found: Evaluation) -> None:
        submission_forms.set_field(session, by, found, with_changes(form_fields(found), changes["key"], changes))

    return _do(campaign, evaluation, change, confirm=body.confirm)


@post(f"{FORM}/fields/<key>/remove", Scope.ORGANISE)
def remove_form_field(campaign: str, evaluation: str, key: str) -> OrganisedForm:
    """Asks a field no more. One that was answered, or keeps what runs say of themselves to organisers and the run's
    team (keeps), stays, with asked: false: its readers stay the same.
    """
    return _do(campaign, evaluation, submission_forms.remove_field, key)


@post(f"{FORM}/agreements", Scope.ORGANISE)
def state_agreement(campaign: str, evaluation: str, body: StatedAgreement) -> OrganisedForm:
    """States an agreement, or its next version: everybody is asked for it with their next run."""
    return _do(campaign, evaluation, submission_forms.state_agreement, body.key, body.title, body.wording)


@post(f"{FORM}/agreements/<key>/end", Scope.ORGANISE)
def end_agreement(campaign: str, evaluation: str, key: str) -> OrganisedForm:
    """Asks nobody for an agreement any more. Who accepted it stays on record."""
    return _do(campaign, evaluation, submission_forms.end_agreement, key)


@post(f"{FORM}/rules", Scope.ORGANISE)
def set_file_rules(campaign: str, evaluation: str, body: RuleChanges) -> OrganisedForm:
    """Changes the rules for run files; they hold for runs that come from now on."""
    return _do(campaign, evaluation, submission_forms.set_rules, **given(body))


@post(f"{FORM}/documents", Scope.ORGANISE, form=bytes)
def set_document_list(campaign: str, evaluation: str, *, confirm: bool = False) -> OrganisedForm:
    """Gives the list of the collection's documents, in place of the one before. The body is the file, an id a line.

    confirm: to a list that is not as long as the collection, or lacks documents that are judged or that scored runs
    name, which a refusal without it counts.
    """
    read(organised_form, campaign, evaluation)
    documents = read_body(document_list, "documents")
    with reading() as session:
        found = listed_documents(session, store(), evaluation_here(session, campaign, evaluation), documents)
    if found.doubts and not confirm:
        raise Unconfirmed(found.doubts)
    return _do(campaign, evaluation, submission_forms.set_documents, documents)


@post(f"{FORM}/documents/remove", Scope.ORGANISE)
def remove_document_list(campaign: str, evaluation: str) -> OrganisedForm:
    """Takes the list of the collection's documents away."""
    return _do(campaign, evaluation, submission_forms.set_documents, None)


@post(f"{FORM}/copy", Scope.ORGANISE)
def copy_form(campaign: str, evaluation: str, body: CopiedFrom) -> OrganisedForm:
    """Asks what another evaluation of the campaign asks, in place of what this one asked."""

    def copy(session: Session, by: Actor, target: Evaluation) -> None:
        try:
            source = evaluation_here(session, campaign, body.source)
        except NotFound as error:
            raise InvalidFields({"source": [error.message]}) from None
        submission_forms.copy_form(session, by, source, target)

    return _do(campaign, evaluation, copy, confirm=body.confirm)


def _do(
    campaign: str, evaluation: str, what: Callable[..., Any], *more: Any, confirm: bool = False, **changes: Any
) -> OrganisedForm:
    """Does something to the form: what(session, actor, evaluation, …). Then the form as it is."""
    with changing(campaign, confirm=confirm) as session:
        what(session, actor(), evaluation_here(session, campaign, evaluation), *more, **changes)
    return read(organised_form, campaign, evaluation)
