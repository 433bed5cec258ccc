"""What an evaluation asks beside a run.

What an evaluation asks of a submission, as its organisers see it.
"""

import datetime as dt
from collections import Counter
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor
from leaderboard.campaigns.reads import organised_evaluation
from leaderboard.db import snapshot
from leaderboard.evaluations.models import Acceptance, Agreement, CollectionList, Evaluation
from leaderboard.evaluations.rules import FormField, ShownTo, answers_of, said_by
from leaderboard.formats import FileRules
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.selection import with_current_scoring
from leaderboard.submissions.rules import State
from leaderboard.worker.models import Scoring

WAS_READ = State.SCORED, State.REJECTED


def form_fields(evaluation: Evaluation) -> tuple[FormField, ...]:
    """The fields of its submission form, retired ones too, in their order."""
    return tuple(map(FormField.from_json, evaluation.form_fields))


def fields_used(session: Session, evaluation: Evaluation) -> tuple[Counter[str], set[str]]:
    """How many runs answer each field of its form, by the field's key: in the form, or in their own metadata.

    And the keys of the fields that keep something that a run says of itself to fewer than who sees whose run it is:
    what they read, and its parts. Of a run whose file was not read yet everything is taken to be said.
    """
    fields, answered, keeping = form_fields(evaluation), Counter[str](), set[str]()
    closed = [field for field in fields if field.header and field.shown_to is not ShownTo.EVERYONE]
    header = Scoring.facts if any(field.header for field in fields) else sa.null()
    runs = with_current_scoring(sa.select(Submission.answers, Submission.said, header, Scoring.state))
    for answers, of_file, facts, state in session.execute(runs.where(Submission.evaluation_id == evaluation.id)):
        said = said_by(facts or {}, of_file)
        answered.update(field.key for field in answers_of(fields, answers, said))
        keeping |= {field.key for field in closed if state not in WAS_READ or any(map(field.covers, said))}
    return answered, keeping


def file_rules(evaluation: Evaluation) -> FileRules:
    """What it asks of run files."""
    return FileRules.from_json(evaluation.file_rules)


def collection_list(session: Session, evaluation_id: int) -> bytes | None:
    """The document ids of its collection, packed; None where no list was given."""
    return session.scalar(sa.select(CollectionList.packed).where(CollectionList.evaluation_id == evaluation_id))


def standing_agreements(session: Session, evaluation_id: int) -> list[Agreement]:
    """The last version of each agreement that was not ended, in the order of their keys."""
    later = sa.orm.aliased(Agreement)
    is_last = ~sa.exists().where(
        later.evaluation_id == Agreement.evaluation_id, later.key == Agreement.key, later.version > Agreement.version
    )
    own = Agreement.evaluation_id == evaluation_id, Agreement.ended_at.is_(None), is_last
    return list(session.scalars(sa.select(Agreement).where(*own).order_by(Agreement.key)))


@dataclass(frozen=True, slots=True)
class OrganisedField:
    """A field, and what keeps it from being removed.

    answered  how many runs answer it: in the form, or in their own metadata
    keeps     whether it keeps something that runs say of themselves to organisers and the run's team
    """

    field: FormField
    answered: int
    keeps: bool


@dataclass(frozen=True, slots=True)
class OrganisedAgreement:
    """The standing version of an agreement, and how many accounts accepted it."""

    key: str
    version: int
    title: str
    text: str
    since: dt.datetime
    accepted: int


@dataclass(frozen=True, slots=True)
class OrganisedForm:
    """others: slug and title of the campaign's other evaluations, whose form could be copied, the newest first."""

    fields: tuple[OrganisedField, ...]
    agreements: tuple[OrganisedAgreement, ...]
    rules: FileRules
    others: tuple[tuple[str, str], ...]


def organised_form(session: Session, actor: Actor, campaign: str, evaluation: str, _: dt.datetime) -> OrganisedForm:
    """Raises NotFound also for whoever does not organise the campaign."""
    record = organised_evaluation(session, actor, campaign, evaluation)
    answers, closing = fields_used(session, record)
    accounts = sa.select(sa.func.count()).where(Acceptance.agreement_id == Agreement.id)
    counts = sa.select(Agreement.id, accounts.scalar_subquery()).where(Agreement.evaluation_id == record.id)
    accepted: dict[int, int] = dict(session.execute(counts).all())
    others = sa.select(Evaluation.slug, Evaluation.title).where(
        Evaluation.campaign_id == record.campaign_id, Evaluation.id != record.id
    )
    return OrganisedForm(
        fields=tuple(OrganisedField(field, answers[field.key], field.key in closing) for field in form_fields(record)),
        agreements=tuple(
            snapshot(OrganisedAgreement, agreement, since=agreement.created_at, accepted=accepted[agreement.id])
            for agreement in standing_agreements(session, record.id)
        ),
        rules=file_rules(record),
        others=tuple(
            (slug, title)
            for slug, title in session.execute(others.order_by(Evaluation.period_key.desc(), Evaluation.id))
        ),
    )
