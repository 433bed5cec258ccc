"""Evaluations: made, changed, cloned into next year's and removed, and what they lack.

What an evaluation asks of a submission: fields, agreements, and rules for the file.
"""

from http import HTTPStatus

from sqlalchemy.orm import Session

from leaderboard import access, errors
from leaderboard.accounts.rules import Scope
from leaderboard.campaigns import reads
from leaderboard.campaigns.inputs import Confirmed
from leaderboard.campaigns.reads import CampaignRoom, EvaluationSettings, campaign_room, evaluation_settings
from leaderboard.declared.commands import Command, Other, Table, moment
from leaderboard.evaluations import inputs, writes as evaluations
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.evaluations import OrganisedForm, organised_form
from leaderboard.evaluations.reads.readiness import Point, Urgency, readiness
from leaderboard.formats import document_list
from leaderboard.web.context import read
from leaderboard.web.endpoints import get, post
from leaderboard.web.organise import CAMPAIGN, EVALUATION, change_here, evaluation_here, read_after, read_body

LIST = Table(
    ("evaluation", "title", "period", "condition", "queries", "runs", "opens", "closes"),
    lambda row: (
        f"{row['campaign']}/{row['slug']}", row["title"], row["period"], row["condition"] or "–", row["queries"],
        row["counts"]["submissions"], moment(row["opens_at"]), moment(row["closes_at"]),
    ),
    "no evaluation yet; make one: leaderboard evaluation add",
)  # fmt: skip
POINTS = Table(("state", "about", "what"), lambda row: (row["urgency"], row["about"], row["words"]), "")
UNREADY = 1  # exit status


@get("/organise/evaluations", Scope.ORGANISE, command=Command("evaluation list [CAMPAIGN]", LIST, "harbour"))
def list_organised_evaluations(*, campaign: str = "") -> tuple[reads.EvaluationRow, ...]:
    """The evaluations of the campaigns that you organise, or of one of them, with how much is in each."""
    return read(reads.organised_evaluations, campaign)


@get(f"{CAMPAIGN}/evaluations", Scope.ORGANISE)
def organised_evaluations(campaign: str) -> CampaignRoom:
    """A campaign's evaluations, drafts too, with what waits in each; and who organises it."""
    return read(campaign_room, campaign)


@post(f"{CAMPAIGN}/evaluations", Scope.ORGANISE, status=HTTPStatus.CREATED, command=Command(
    "evaluation add CAMPAIGN/SLUG", "made the evaluation {campaign}/{slug}; next: leaderboard queries import "
    "{campaign}/{slug} FILE",
    "harbour/2026-text --title 'Text 2026' --period 2026 --documents 1800 --closes 2026-09-30T18:00",
))  # fmt: skip
def make_evaluation(campaign: str, body: inputs.NewEvaluation) -> EvaluationSettings:
    """Makes an evaluation of a campaign, as a draft unless told: only its organisers see it."""
    made = change_here(campaign, "", evaluations.create_evaluation, **body.model_dump())
    return read(evaluation_settings, campaign, made.slug)


@get(EVALUATION, Scope.ORGANISE)
def organised_evaluation(campaign: str, evaluation: str) -> EvaluationSettings:
    """Every setting of an evaluation, and why it can't be removed."""
    return read(evaluation_settings, campaign, evaluation)


@post(EVALUATION, Scope.ORGANISE, command=Command(
    "evaluation change CAMPAIGN/EVALUATION", "changed the evaluation {campaign}/{evaluation}",
    "harbour/2026-text --closes 2026-10-15 --daily-quota none",
))  # fmt: skip
def change_evaluation(campaign: str, evaluation: str, body: inputs.EvaluationChanges) -> EvaluationSettings:
    """Changes the settings that are given; the others stay. What it does beyond that is listed, and to be confirmed."""
    change, sent = evaluations.change_evaluation, body.given()
    return read_after(evaluation_settings, campaign, evaluation, change, confirm=body.confirm, **sent)


@post(f"{EVALUATION}/clone", Scope.ORGANISE, status=HTTPStatus.CREATED, command=Command(
    "evaluation clone CAMPAIGN/EVALUATION SLUG",
    "made {campaign}/{values[slug]} as a copy of {campaign}/{evaluation}",
    "harbour/2026-text 2027-text --closes 2027-10-01 --with-queries",
))  # fmt: skip
def clone_evaluation(campaign: str, evaluation: str, body: inputs.EvaluationClone) -> EvaluationSettings:
    """Makes next year's evaluation of this one, as a draft. Names and dates are those of a year later unless told, and
    what is asked of runs is the same; judgments and runs are never copied.
    """
    made = change_here(campaign, evaluation, evaluations.clone_evaluation, **body.given())
    return read(evaluation_settings, campaign, made.slug)


@post(f"{EVALUATION}/remove", Scope.ORGANISE, command=Command(
    "evaluation remove CAMPAIGN/EVALUATION", "removed the evaluation {campaign}/{evaluation}", "harbour/2026-txt",
    asks="Remove {values[title]} ({campaign}/{evaluation}) for good, with {goes}?",
))  # fmt: skip
def remove_evaluation(campaign: str, evaluation: str, body: Confirmed) -> CampaignRoom:
    """Removes an evaluation to which nothing was submitted, with its queries and judgments; a draft with its
    organisers' test runs, to be confirmed.
    """
    change_here(campaign, evaluation, evaluations.remove_evaluation, confirm=body.confirm)
    return read(campaign_room, campaign)


@get(f"{EVALUATION}/readiness", Scope.ORGANISE, command=Command(
    "evaluation ready CAMPAIGN/EVALUATION", POINTS, "harbour/2026-text",
    status=lambda points: UNREADY if any(point["urgency"] == Urgency.TO_DO for point in points) else 0,
))  # fmt: skip
def evaluation_readiness(campaign: str, evaluation: str) -> tuple[Point, ...]:
    """What is left to do before the evaluation can open, close and show its results."""
    return read(readiness, campaign, evaluation)


FORM = f"{EVALUATION}/form"


FIELDS = Table(
    ("field", "label", "kind", "asked in", "required", "shown to", "board"),
    lambda row: (
        row["key"], row["label"], row["kind"],
        "retired" if not row["asked"] else f"header {row['header']}" if row["header"] else "form",
        "yes" if row["required"] else "no", row["shown_to"],
        " ".join(name for name in ("column", "filter") if row[name]) or "–",
    ),
    "no field", lambda answer: [row["field"] for row in answer["fields"]],
)  # fmt: skip
AGREEMENTS = Table(
    ("agreement", "version", "title"), lambda row: (row["key"], row["version"], row["title"]), "no agreement",
    lambda answer: answer["agreements"],
)  # fmt: skip
RULES = Table(
    ("rule", "value"), lambda row: row, "no rule for files",
    lambda answer: [(name, value) for name, value in answer["rules"].items() if value],
)  # fmt: skip


@get(FORM, Scope.ORGANISE, command=Command(
    "form show CAMPAIGN/EVALUATION", (FIELDS, AGREEMENTS, RULES), "harbour/2026-text",
))  # fmt: skip
def submission_form(campaign: str, evaluation: str) -> OrganisedForm:
    """What is asked of a run: fields and how many runs answered them, agreements and who accepted them, file rules."""
    return read(organised_form, campaign, evaluation)


@post(f"{FORM}/fields", Scope.ORGANISE, command=Command(
    "form field CAMPAIGN/EVALUATION KEY", "{campaign}/{evaluation} asks {key}",
    "harbour/2026-text cpu --label Processor --header platform.hardware.cpu.model", sends={"asked": True},
))  # fmt: skip
def set_form_field(campaign: str, evaluation: str, body: inputs.FormFieldChanges) -> OrganisedForm:
    """Adds a field to the form, or changes the one of its key. That answers are shown to more readers is to be
    confirmed.
    """
    return read_after(organised_form, campaign, evaluation, evaluations.set_field, body.given(), confirm=body.confirm)


@post(f"{FORM}/fields/<key>/remove", Scope.ORGANISE, command=Command(
    "form remove CAMPAIGN/EVALUATION KEY", "{campaign}/{evaluation} asks {key} no more", "harbour/2026-text training",
))  # fmt: skip
def remove_form_field(campaign: str, evaluation: str, key: str) -> OrganisedForm:
    """Asks a field no more. One that was answered, or keeps what runs say of themselves to organisers and the run's
    team (keeps), stays, with asked: false: its readers stay the same.
    """
    return read_after(organised_form, campaign, evaluation, evaluations.remove_field, key)


@post(f"{FORM}/agreements", Scope.ORGANISE, command=Command(
    "form agreement CAMPAIGN/EVALUATION KEY", "changed the agreement {key} of {campaign}/{evaluation}",
    "harbour/2026-text terms --title 'Terms of use' --text terms.txt", instead={"end": Other(
        f"{FORM}/agreements/<key>/end", "{campaign}/{evaluation} asks for {key} no more", "Ask for it no more."
    )},
))  # fmt: skip
def state_agreement(campaign: str, evaluation: str, body: inputs.AgreementVersion) -> OrganisedForm:
    """States an agreement, or its next version: everybody is asked for it with their next run."""
    return read_after(organised_form, campaign, evaluation, evaluations.state_agreement, **body.given())


@post(f"{FORM}/agreements/<key>/end", Scope.ORGANISE)
def end_agreement(campaign: str, evaluation: str, key: str) -> OrganisedForm:
    """Asks nobody for an agreement any more. Who accepted it stays on record."""
    return read_after(organised_form, campaign, evaluation, evaluations.end_agreement, key)


@post(f"{FORM}/rules", Scope.ORGANISE, command=Command(
    "form rules CAMPAIGN/EVALUATION", "changed the file rules of {campaign}/{evaluation}",
    "harbour/2026-text --most 1000 --every-query --document-pattern 'doc-[0-9]{1,6}'",
))  # fmt: skip
def set_file_rules(campaign: str, evaluation: str, body: inputs.FileRuleChanges) -> OrganisedForm:
    """Changes the rules for run files; they hold for runs that come from now on."""
    return read_after(organised_form, campaign, evaluation, evaluations.set_rules, **body.given())


@post(f"{FORM}/documents", Scope.ORGANISE, form=bytes, command=Command(
    "form documents CAMPAIGN/EVALUATION FILE", "runs of {campaign}/{evaluation} name documents of {file} only",
    "harbour/2026-text ids.txt.gz",
))  # fmt: skip
def set_document_list(campaign: str, evaluation: str, *, confirm: bool = False) -> OrganisedForm:
    """Gives the list of the collection's documents, in place of the one before: an id a line, plain or gzipped.

    \fThe body is the file. confirm: to a list that is not as long as the collection, or lacks documents that are
    judged, which a refusal without it counts.
    """
    documents = read_body(document_list, "documents")
    return read_after(organised_form, campaign, evaluation, evaluations.set_documents, documents, confirmed=confirm)


@post(f"{FORM}/documents/remove", Scope.ORGANISE, command=Command(
    "form no-documents CAMPAIGN/EVALUATION", "{campaign}/{evaluation} has no list of documents", "harbour/2026-text",
))  # fmt: skip
def remove_document_list(campaign: str, evaluation: str) -> OrganisedForm:
    """Takes the list of the collection's documents away."""
    return read_after(organised_form, campaign, evaluation, evaluations.set_documents, None)


@post(f"{FORM}/copy", Scope.ORGANISE, command=Command(
    "form copy FROM_CAMPAIGN/SOURCE CAMPAIGN/EVALUATION",
    "{campaign}/{evaluation} asks what {from_campaign}/{source} asks", "harbour/2025-text harbour/2026-text",
))  # fmt: skip
def copy_form(campaign: str, evaluation: str, body: inputs.CopiedForm) -> OrganisedForm:
    """Asks what another evaluation asks (fields, agreements, file rules), in place of what this one asked."""

    def copy(session: Session, by: access.Actor, target: Evaluation) -> None:
        try:
            source = evaluation_here(session, body.from_campaign or campaign, body.source)
        except errors.NotFound as error:
            raise errors.InvalidFields({"source": [error.message]}) from None
        evaluations.copy_form(session, by, source, target)

    return read_after(organised_form, campaign, evaluation, copy, confirm=body.confirm)
