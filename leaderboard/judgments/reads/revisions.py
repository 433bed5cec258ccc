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


def rows_of_table(session: Session, table: type[Any], revision_id: int, *where: sa.ColumnElement[bool]) -> Any:
    """What a table says of a revision: the query's id first, then its columns; in any order."""
    rows = sa.select(Query.external_id, *COLUMNS[table]).join(table, table.query_id == Query.id)
    return session.execute(rows.where(table.revision_id == revision_id, *where))


def stored_rows(session: Session, revision_id: int, *where: sa.ColumnElement[bool]) -> list[Any]:
    """(query, document, grade), (query, document) and (query, subtopic, document, grade), in any order."""
    return [rows_of_table(session, table, revision_id, *where) for table in COLUMNS]
