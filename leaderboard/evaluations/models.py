"""Evaluations of a campaign: their queries and what was judged.

What an evaluation's submission form asks beside the run: agreements, and the list that file rules go by."""

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from leaderboard.campaigns.models import Campaign
from leaderboard.db import Base, Key, choice
from leaderboard.evaluations.rules import ASSESSORS, LONGEST_GRACE, Judging, Opening


class Evaluation(Base):
    """One period (a year, or a round of it) and condition (a language, a task) of a campaign.

    `results` says when the board opens to the public; `details` when whatever shows single queries or documents does,
    because that reveals the judgments; `own_results` whether a team sees its own means in any case; `texts` when what
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
    description: Mapped[str]
    period: Mapped[str]
    period_key: Mapped[int]
    condition: Mapped[str]
    collection: Mapped[str]
    documents: Mapped[int | None] = mapped_column(sa.BigInteger)
    relevance_level: Mapped[int]
    judging: Mapped[Judging] = mapped_column(choice(Judging, "judging"))
    opens_at: Mapped[datetime | None]
    closes_at: Mapped[datetime | None]
    grace_seconds: Mapped[int]
    late_allowed: Mapped[bool]
    results: Mapped[Opening] = mapped_column(choice(Opening, "results"))
    details: Mapped[Opening] = mapped_column(choice(Opening, "details"))
    texts: Mapped[Opening] = mapped_column(choice(Opening, "texts"))
    hidden_queries: Mapped[Opening] = mapped_column(choice(Opening, "hidden_queries"))
    own_results: Mapped[bool]
    judgments_published: Mapped[bool]
    official_source: Mapped[str] = mapped_column(default=ASSESSORS)
    set_aside: Mapped[list[Any]] = mapped_column(default=list)
    anonymous_until: Mapped[datetime | None]
    daily_quota: Mapped[int | None]
    total_quota: Mapped[int | None]
    time_zone: Mapped[str]
    draft: Mapped[bool]
    form_fields: Mapped[list[Any]] = mapped_column(default=list)
    file_rules: Mapped[dict[str, Any]] = mapped_column(default=dict)
    created_at: Mapped[datetime]

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


class Agreement(Base):
    """A version of something that submitters have to accept. The last version of a key stands until it is ended."""

    __tablename__ = "agreement"

    id: Mapped[Key]
    evaluation_id: Mapped[int] = mapped_column(sa.ForeignKey("evaluation.id"))
    key: Mapped[str]
    version: Mapped[int]
    title: Mapped[str]
    text: Mapped[str]
    created_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]

    __table_args__ = (sa.UniqueConstraint("evaluation_id", "key", "version"),)


class Acceptance(Base):
    """Who accepted which version when."""

    __tablename__ = "acceptance"

    agreement_id: Mapped[int] = mapped_column(sa.ForeignKey("agreement.id"), primary_key=True)
    user_id: Mapped[int] = mapped_column(sa.ForeignKey("user.id"), primary_key=True, index=True)
    accepted_at: Mapped[datetime]


class CollectionList(Base):
    """The document ids of an evaluation's collection, as `formats.DocumentList` packs them.

    Which list it is stands in the evaluation's file rules, which the audit trail guards.
    """

    __tablename__ = "collection_list"

    evaluation_id: Mapped[int] = mapped_column(sa.ForeignKey("evaluation.id", ondelete="CASCADE"), primary_key=True)
    packed: Mapped[bytes] = mapped_column(sa.LargeBinary, deferred=True)
