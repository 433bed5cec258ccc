"""Campaigns: what is held fixed over their years."""

from datetime import datetime
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from leaderboard.campaigns.rules import Visibility
from leaderboard.db import Base, Key, choice
from leaderboard.evaluations.rules import NoRelevant
from leaderboard.submissions.rules import RunChoice


class Campaign(Base):
    """Several evaluations under one prior.

    `beta` is stated, or derived from `cost`, `value` and `prior`; NULL when the campaign shows no detection measure.
    From the first recorded scoring on, `locked_at` is set and triggers refuse any change of the prior (see the second
    migration).

    links        [title, address] each, as its page shows them
    guidelines   in Markdown
    baseline_team_id  the team of the organisers' baselines, from the first on
    archived_at  from when on it takes nothing any more: it can be read and stands apart
    """

    __tablename__ = "campaign"

    id: Mapped[Key]
    slug: Mapped[str] = mapped_column(unique=True)
    title: Mapped[str]
    description: Mapped[str] = mapped_column(default="")
    simulated: Mapped[bool] = mapped_column(default=False)  # made-up runs, and labelled so wherever they show
    cost: Mapped[float | None]
    value: Mapped[float | None]
    prior: Mapped[float | None]
    beta: Mapped[float | None]
    no_relevant: Mapped[NoRelevant] = mapped_column(choice(NoRelevant, "no_relevant"), default=NoRelevant.EXCLUDE)
    compat: Mapped[Literal[9, 10]] = mapped_column(sa.Integer, default=10)
    measures: Mapped[list[str]]
    primary_measure: Mapped[str]
    run_choice: Mapped[RunChoice] = mapped_column(choice(RunChoice, "run_choice"), default=RunChoice.PRIMARY)
    contact: Mapped[str] = mapped_column(default="")
    links: Mapped[list[Any]] = mapped_column(default=list)
    guidelines: Mapped[str] = mapped_column(default="")
    visibility: Mapped[Visibility] = mapped_column(choice(Visibility, "visibility"), default=Visibility.PUBLIC)
    baseline_team_id: Mapped[int | None] = mapped_column(sa.ForeignKey("team.id"))
    archived_at: Mapped[datetime | None]
    created_at: Mapped[datetime]
    locked_at: Mapped[datetime | None]

    __table_args__ = (
        sa.CheckConstraint('"cost" >= 0.0 AND "cost" <= 1.7976931348623157e+308', "cost"),
        sa.CheckConstraint('"value" > 0.0 AND "value" <= 1.7976931348623157e+308', "value"),
        sa.CheckConstraint('"prior" > 0.0 AND "prior" < 1.0', "prior"),
        sa.CheckConstraint('"beta" >= 0.0 AND "beta" <= 1.7976931348623157e+308', "beta"),
        sa.CheckConstraint("compat IN (9, 10)", "compat"),
    )


class CampaignOrganiser(Base):
    __tablename__ = "campaign_organiser"

    campaign_id: Mapped[int] = mapped_column(sa.ForeignKey("campaign.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[int] = mapped_column(sa.ForeignKey("user.id", ondelete="CASCADE"), primary_key=True, index=True)


class CampaignTeam(Base):
    """A team that was let into a private campaign: its members know of it."""

    __tablename__ = "campaign_team"

    campaign_id: Mapped[int] = mapped_column(sa.ForeignKey("campaign.id", ondelete="CASCADE"), primary_key=True)
    team_id: Mapped[int] = mapped_column(sa.ForeignKey("team.id", ondelete="CASCADE"), primary_key=True, index=True)


class Site(Base):
    """What the site is called and says about itself: one row, once an admin has changed it (`SiteSettings`)."""

    __tablename__ = "site"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    name: Mapped[str]
    about: Mapped[str]
    contact: Mapped[str]
    privacy: Mapped[str]
    logo: Mapped[str]  # a PNG in base64
