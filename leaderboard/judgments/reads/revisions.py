"""The judgments of a revision as they are stored."""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.judgments.models import Judgment, KnownDocument, Query, SubtopicJudgment

# What a revision is made of: its tables, and what each says beside the query.
COLUMNS: Mapping[type[Any], tuple[Any, ...]] = {
    Judgment: (Judgment.document, Judgment.grade),
    KnownDocument: (KnownDocument.document,),
    SubtopicJudgment: (SubtopicJudgment.subtopic, SubtopicJudgment.document, SubtopicJudgment.grade),
}


def stored_rows(session: Session, revision_id: int, *where: sa.ColumnElement[bool]) -> list[Any]:
    """(query, document, grade), (query, document) and (query, subtopic, document, grade), in any order."""
    return [
        session.execute(
            sa.select(Query.external_id, *columns)
            .join(table, table.query_id == Query.id)
            .where(table.revision_id == revision_id, *where)
        )
        for table, columns in COLUMNS.items()
    ]
