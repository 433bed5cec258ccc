"""Evaluations of a campaign: their queries and what was judged."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from leaderboard.db import Base, Key, choice
from leaderboard.evaluations.rules import Split


class Query(Base):
    """One information need. Positions are handed out once, in order, and never given to another query.

    description  what else is said of it, for who reads and judges, paragraphs apart by an empty line; it opens with the
                 text, and no baseline searches by it
    """

    __tablename__ = "query"

    id: Mapped[Key]
    evaluation_id: Mapped[int] = mapped_column(sa.ForeignKey("evaluation.id"))
    external_id: Mapped[str]
    text: Mapped[str]
    description: Mapped[str]
    tags: Mapped[list[str]]
    position: Mapped[int]
    split: Mapped[Split] = mapped_column(choice(Split, "split"))
    excluded_at: Mapped[datetime | None]
    excluded_because: Mapped[str] = mapped_column(default="")

    __table_args__ = (
        sa.UniqueConstraint("evaluation_id", "external_id"),
        sa.UniqueConstraint("evaluation_id", "position"),
    )


class JudgmentRevision(Base):
    """A numbered, hashed set of judgments. It never changes: another import makes another revision.

    `source` says who judged, where several do side by side: assessors, a language model, a second lab. The name alone
    may change, for one that was mistyped (`judgments.writes.rename_source`).

    Its judgments go in while `finished_at` is NULL; setting it is the import's last step, and from then on triggers
    refuse every judgment more. Import is one transaction, so no other one sees an unfinished revision, and nothing uses
    one that somebody's SQL has left behind. It goes only with an evaluation to which nothing was submitted, and its
    judgments with it.

    imported_at  when it came into this installation
    released_at  when it was given out, here or before it was brought in from the past; NULL where nothing says
    """

    __tablename__ = "judgment_revision"

    id: Mapped[Key]
    evaluation_id: Mapped[int] = mapped_column(sa.ForeignKey("evaluation.id"))
    number: Mapped[int]
    source: Mapped[str]
    sha256: Mapped[str]
    judgments: Mapped[int]  # how many there are
    highest_grade: Mapped[int]
    note: Mapped[str]
    imported_at: Mapped[datetime]
    imported_by_id: Mapped[int | None] = mapped_column(sa.ForeignKey("user.id"))
    released_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]

    __table_args__ = (sa.UniqueConstraint("evaluation_id", "number"),)


class OfRevision(Base):
    """What a revision says of a query.

    On SQLite these tables have no hidden row number: REPLACE could take a row out of another revision by it.
    """

    __abstract__ = True
    __table_args__ = ({"sqlite_with_rowid": False},)

    revision_id: Mapped[int] = mapped_column(
        sa.ForeignKey("judgment_revision.id", ondelete="CASCADE"), primary_key=True, sort_order=-2
    )
    query_id: Mapped[int] = mapped_column(sa.ForeignKey("query.id"), primary_key=True, sort_order=-1)


class Judgment(OfRevision):
    __tablename__ = "judgment"

    document: Mapped[str] = mapped_column(primary_key=True)
    grade: Mapped[int]


class KnownDocument(OfRevision):
    """A document that the user already knew, for Coverage and Novelty."""

    __tablename__ = "known_document"

    document: Mapped[str] = mapped_column(primary_key=True)


class SubtopicJudgment(OfRevision):
    """A judgment of one aspect of a query."""

    __tablename__ = "subtopic_judgment"

    subtopic: Mapped[str] = mapped_column(primary_key=True)
    document: Mapped[str] = mapped_column(primary_key=True)
    grade: Mapped[int]
