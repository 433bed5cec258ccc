"""What an evaluation asks beside a run."""

from collections import Counter

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.formats import FileRules
from leaderboard.lookup.runs import with_current_scoring
from leaderboard.models import (
    Agreement,
    CollectionList,
    Evaluation,
    Scoring,
    Submission,
)
from leaderboard.rules.form_fields import FormField, answers_of, fields_from_json, said_by

__all__ = ["answered", "collection_list", "file_rules", "form_fields", "standing_agreements"]


def form_fields(evaluation: Evaluation) -> tuple[FormField, ...]:
    """The fields of its submission form, retired ones too, in their order."""
    return fields_from_json(evaluation.form_fields)


def answered(session: Session, evaluation: Evaluation) -> Counter[str]:
    """How many runs answer each field of its form, by the field's key: in the form, or in their own metadata."""
    fields = form_fields(evaluation)
    facts = Scoring.facts if any(field.header for field in fields) else sa.null()
    runs = with_current_scoring(sa.select(Submission.answers, Submission.said, facts))
    counts = Counter[str]()
    for given, beside, found in session.execute(runs.where(Submission.evaluation_id == evaluation.id)):
        counts.update(field.key for field in answers_of(fields, given, said_by(found or {}, beside)))
    return counts


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
