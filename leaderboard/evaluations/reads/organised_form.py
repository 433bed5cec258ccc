"""What an evaluation asks of a submission, as its organisers see it."""

import datetime as dt
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor
from leaderboard.campaigns.reads.organised import organised_evaluation
from leaderboard.evaluations.models import Acceptance, Agreement, Evaluation
from leaderboard.evaluations.reads.form_fields import answered, file_rules, form_fields, keeping, standing_agreements
from leaderboard.evaluations.rules.form_fields import FormField
from leaderboard.formats import FileRules


@dataclass(frozen=True, slots=True)
class OrganisedField:
    """A field, and what keeps it from being removed.

    answered  how many runs answer it: in the form, or in their own metadata
    keeps     whether it keeps something that runs say of themselves to organisers and the run's team
    """

    field: FormField
    answered: int
    keeps: bool

    @property
    def is_retired_only(self) -> bool:
        """Whether no more can be done than to ask it of no new run."""
        return self.keeps or bool(self.answered)


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
    answers, kept = answered(session, record), keeping(session, record)
    of_versions = session.execute(
        sa.select(Acceptance.agreement_id.label("agreement"), sa.func.count().label("accounts"))
        .join(Agreement)
        .where(Agreement.evaluation_id == record.id)
        .group_by(Acceptance.agreement_id)
    )
    counts: dict[int, int] = {row.agreement: row.accounts for row in of_versions}
    others = session.execute(
        sa.select(Evaluation.slug, Evaluation.title)
        .where(Evaluation.campaign_id == record.campaign_id, Evaluation.id != record.id)
        .order_by(Evaluation.period_key.desc(), Evaluation.id)
    )
    return OrganisedForm(
        fields=tuple(OrganisedField(field, answers[field.key], field.key in kept) for field in form_fields(record)),
        agreements=tuple(
            OrganisedAgreement(
                agreement.key,
                agreement.version,
                agreement.title,
                agreement.text,
                agreement.created_at,
                counts.get(agreement.id, 0),
            )
            for agreement in standing_agreements(session, record.id)
        ),
        rules=file_rules(record),
        others=tuple((slug, title) for slug, title in others),
    )
