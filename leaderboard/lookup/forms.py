"""What an evaluation asks beside a run."""

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.formats import FileRules
from leaderboard.models import (
    Agreement,
    CollectionList,
    Evaluation,
)
from leaderboard.rules.form_fields import FormField, fields_from_json

__all__ = ["collection_list", "file_rules", "form_fields", "standing_agreements"]


def form_fields(evaluation: Evaluation) -> tuple[FormField, ...]:
    """The fields of its submission form, retired ones too, in their order."""
    return fields_from_json(evaluation.form_fields)


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
