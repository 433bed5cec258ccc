"""Evaluations of a campaign: their queries and what was judged."""

import datetime as dt
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from leaderboard.db import Base, Key, choice
from leaderboard.models.campaigns import Campaign
from leaderboard.rules.phases import LONGEST_GRACE, Opening
from leaderboard.rules.settings import ASSESSORS, Judging, Split

__all__ = ["Evaluation", "Judgment", "JudgmentRevision", "KnownDocument", "Query", "SubtopicJudgment"]


class Evaluation(Base):
    """One period (a year, or a round of it) and condition (a language, a task) of a campaign.

    `results` says when the board opens to the public; `details` when whatever shows single queries or documents does,
    because that reveals the judgments; `own_results` whether a team sees its own means before that; `texts` when what
    the queries ask for is public, and `hidden_queries` when hidden ones are shown as all others. A `draft` is absent
    for everybody but organisers. `time_zone` is the one in which the organisers think of its dates. For `grace_seconds`
    after `closes_at` uploads that began before it may still end. `official_source` names the source of judgments that
    boards go by, `set_aside` those by which no run is scored any more.
    """

    __tablename__ = "evaluation"

    id: Mapped[Key]
    campaign_id: Mapped[int] = mapped_column(sa.ForeignKey("campaign.id"), index=True)
    slug: Mapped[str]
    title: Mapped[str]
    description: Mapped[str] = mapped_column(default="")
    period: Mapped[str]
    period_key: Mapped[int]
    condition: Mapped[str] = mapped_column(default="")
    collection: Mapped[str] = mapped_column(default="")
    documents: Mapped[int | None] = mapped_column(sa.BigInteger)
    relevance_level: Mapped[int] = mapped_column(default=1)
    judging: Mapped[Judging] = mapped_column(choice(Judging, "judging"), default=Judging.POOLED)
    opens_at: Mapped[dt.datetime | None]
    closes_at: Mapped[dt.datetime | None]
    grace_seconds: Mapped[int] = mapped_column(default=60)
    late_allowed: Mapped[bool] = mapped_column(default=False)
    results: Mapped[Opening] = mapped_column(choice(Opening, "results"), default=Opening.ALWAYS)
    details: Mapped[Opening] = mapped_column(choice(Opening, "details"), default=Opening.CLOSED)
    texts: Mapped[Opening] = mapped_column(choice(Opening, "texts"), default=Opening.OPENED)
    hidden_queries: Mapped[Opening] = mapped_column(choice(Opening, "hidden_queries"), default=Opening.CLOSED)
    own_results: Mapped[bool] = mapped_column(default=True)
    judgments_published: Mapped[bool] = mapped_column(default=False)
    official_source: Mapped[str] = mapped_column(default=ASSESSORS)
    set_aside: Mapped[list[Any]] = mapped_column(default=list)
    anonymous_until: Mapped[dt.datetime | None]
    daily_quota: Mapped[int | None]
    total_quota: Mapped[int | None]
    time_zone: Mapped[str] = mapped_column(default="UTC")
    draft: Mapped[bool] = mapped_column(default=False)
    form_fields: Mapped[list[Any]] = mapped_column(default=list)
    file_rules: Mapped[dict[str, Any]] = mapped_column(default=dict)
    created_at: Mapped[dt.datetime]

    __table_args__ = (
        sa.UniqueConstraint("campaign_id", "slug"),
        sa.CheckConstraint("documents > 0", "documents"),
        sa.CheckConstraint("relevance_level >= 1", "relevance_level"),
        sa.CheckConstraint("closes_at IS NULL OR opens_at IS NULL OR opens_at < closes_at", "dates"),
        sa.CheckConstraint(f"grace_seconds BETWEEN 0 AND {LONGEST_GRACE}", "grace_seconds"),
        sa.CheckConstraint("daily_quota >= 0", "daily_quota"),
        sa.CheckConstraint("total_quota >= 0", "total_quota"),
    )

    campaign: Mapped[Campaign] = relationship()


class Query(Base):
    """One information need. Positions are handed out once, in order, and never given to another query.

    description  what else is said of it, for who reads and judges, paragraphs apart by an empty line; it opens with the
                 text, and no baseline searches by it
    """

    __tablename__ = "query"

    id: Mapped[Key]
    evaluation_id: Mapped[int] = mapped_column(sa.ForeignKey("evaluation.id"))
    external_id: Mapped[str]
    text: Mapped[str] = mapped_column(default="")
    description: Mapped[str] = mapped_column(default="")
    tags: Mapped[list[str]] = mapped_column(default=list)
    position: Mapped[int]
    split: Mapped[Split] = mapped_column(choice(Split, "split"), default=Split.SHOWN)
    excluded_at: Mapped[dt.datetime | None]
    excluded_because: Mapped[str] = mapped_column(default="")

    __table_args__ = (
        sa.UniqueConstraint("evaluation_id", "external_id"),
        sa.UniqueConstraint("evaluation_id", "position"),
    )


class JudgmentRevision(Base):
    """A numbered, hashed set of judgments. It never changes: another import makes another revision.

    `source` says who judged, where several do side by side: assessors, a language model, a second lab. The name alone
    may change, for one that was mistyped (`services.sources`).

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
    source: Mapped[str] = mapped_column(default=ASSESSORS)
    sha256: Mapped[str]
    judgments: Mapped[int]  # how many there are
    highest_grade: Mapped[int]
    note: Mapped[str] = mapped_column(default="")
    imported_at: Mapped[dt.datetime]
    imported_by_id: Mapped[int | None] = mapped_column(sa.ForeignKey("user.id"))
    released_at: Mapped[dt.datetime | None]
    finished_at: Mapped[dt.datetime | None]

    __table_args__ = (sa.UniqueConstraint("evaluation_id", "number"),)


# On SQLite the tables of judgments have no hidden row number: REPLACE could take a row out of another revision by it.
class Judgment(Base):
    __tablename__ = "judgment"
    __table_args__ = ({"sqlite_with_rowid": False},)

    revision_id: Mapped[int] = mapped_column(
        sa.ForeignKey("judgment_revision.id", ondelete="CASCADE"), primary_key=True
    )
    query_id: Mapped[int] = mapped_column(sa.ForeignKey("query.id"), primary_key=True)
    document: Mapped[str] = mapped_column(primary_key=True)
    grade: Mapped[int]


class KnownDocument(Base):
    """A document that the user already knew, for Coverage and Novelty."""

    __tablename__ = "known_document"
    __table_args__ = ({"sqlite_with_rowid": False},)

    revision_id: Mapped[int] = mapped_column(
        sa.ForeignKey("judgment_revision.id", ondelete="CASCADE"), primary_key=True
    )
    query_id: Mapped[int] = mapped_column(sa.ForeignKey("query.id"), primary_key=True)
    document: Mapped[str] = mapped_column(primary_key=True)


class SubtopicJudgment(Base):
    """A judgment of one aspect of a query."""

    __tablename__ = "subtopic_judgment"
    __table_args__ = ({"sqlite_with_rowid": False},)

    revision_id: Mapped[int] = mapped_column(
        sa.ForeignKey("judgment_revision.id", ondelete="CASCADE"), primary_key=True
    )
    query_id: Mapped[int] = mapped_column(sa.ForeignKey("query.id"), primary_key=True)
    subtopic: Mapped[str] = mapped_column(primary_key=True)
    document: Mapped[str] = mapped_column(primary_key=True)
    grade: Mapped[int]
