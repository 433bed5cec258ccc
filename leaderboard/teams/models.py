"""Who takes part: accounts, teams and how one gets into them."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from leaderboard.accounts.models import User
from leaderboard.db import Base, Key, choice
from leaderboard.submissions.rules import SystemKind
from leaderboard.teams.rules import Role


class Team(Base):
    """People who submit together.

    merged_into_id  the team that it became one with: it has no members, systems and runs any more, and its names stay
                    taken
    """

    __tablename__ = "team"

    id: Mapped[Key]
    slug: Mapped[str] = mapped_column(unique=True)
    name: Mapped[str]
    description: Mapped[str] = mapped_column(default="")
    is_listed: Mapped[bool] = mapped_column(default=False)  # everybody with an account finds it and may ask to join
    created_at: Mapped[datetime]
    merged_into_id: Mapped[int | None] = mapped_column(sa.ForeignKey("team.id"))

    names: Mapped[list["TeamName"]] = relationship()


class TeamName(Base):
    """A name that a team has or ever had: no other team gets it, whatever becomes of this one.

    name_key  what makes two names the same; it is compared, never shown
    """

    __tablename__ = "team_name"

    name_key: Mapped[str] = mapped_column(primary_key=True)
    team_id: Mapped[int] = mapped_column(sa.ForeignKey("team.id"), index=True)


class Membership(Base):
    __tablename__ = "membership"

    team_id: Mapped[int] = mapped_column(sa.ForeignKey("team.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[int] = mapped_column(sa.ForeignKey("user.id", ondelete="CASCADE"), primary_key=True, index=True)
    role: Mapped[Role] = mapped_column(choice(Role, "role"), default=Role.MEMBER)
    joined_at: Mapped[datetime]

    team: Mapped[Team] = relationship()
    user: Mapped[User] = relationship()


class Invitation(Base):
    """A link that lets one person into a team, once. Only the hash of its token is kept."""

    __tablename__ = "invitation"

    id: Mapped[Key]
    team_id: Mapped[int] = mapped_column(sa.ForeignKey("team.id", ondelete="CASCADE"), index=True)
    token_hash: Mapped[str] = mapped_column(unique=True)
    created_by_id: Mapped[int | None] = mapped_column(sa.ForeignKey("user.id"))  # NULL: the command line
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
    used_at: Mapped[datetime | None]
    used_by_id: Mapped[int | None] = mapped_column(sa.ForeignKey("user.id"))

    team: Mapped[Team] = relationship()


class JoinRequest(Base):
    """Somebody asks to join a team; an owner says yes or no."""

    __tablename__ = "join_request"

    id: Mapped[Key]
    team_id: Mapped[int] = mapped_column(sa.ForeignKey("team.id", ondelete="CASCADE"), index=True)
    user_id: Mapped[int] = mapped_column(sa.ForeignKey("user.id", ondelete="CASCADE"), index=True)
    text: Mapped[str]
    created_at: Mapped[datetime]
    answered_at: Mapped[datetime | None]
    answered_by_id: Mapped[int | None] = mapped_column(sa.ForeignKey("user.id"))
    accepted: Mapped[bool | None]

    team: Mapped[Team] = relationship()
    user: Mapped[User] = relationship(foreign_keys=[user_id])

    @classmethod
    def waits(cls) -> sa.ColumnElement[bool]:
        """No owner has answered yet."""
        return cls.answered_at.is_(None)


class System(Base):
    """What a team works on over the years: this, with the team, is what progress follows.

    merged_into_id  the system that it became one with, when its team was merged into another: it has no runs any more
    """

    __tablename__ = "system"

    id: Mapped[Key]
    team_id: Mapped[int] = mapped_column(sa.ForeignKey("team.id"))
    slug: Mapped[str]
    name: Mapped[str]
    name_key: Mapped[str]
    description: Mapped[str] = mapped_column(default="")
    kind: Mapped[SystemKind] = mapped_column(choice(SystemKind, "kind"), default=SystemKind.AUTOMATIC)
    code_url: Mapped[str] = mapped_column(default="")
    paper_url: Mapped[str] = mapped_column(default="")
    created_at: Mapped[datetime]
    merged_into_id: Mapped[int | None] = mapped_column(sa.ForeignKey("system.id"))

    __table_args__ = (sa.UniqueConstraint("team_id", "slug"), sa.UniqueConstraint("team_id", "name_key"))

    team: Mapped[Team] = relationship()

    @property
    def is_baseline(self) -> bool:
        """Whether boards show it without a rank."""
        return self.kind is SystemKind.BASELINE


class FormerAddress(Base):
    """Under which parts of an address a team, or a system of it, was found before: the page is found there still.

    team_slug    the team's part of the address
    system_slug  the system's part below it; empty for the team's own page
    system_id    the system that is meant now; NULL for the team's own page
    """

    __tablename__ = "former_address"

    id: Mapped[Key]
    team_slug: Mapped[str]
    system_slug: Mapped[str] = mapped_column(default="")
    team_id: Mapped[int] = mapped_column(sa.ForeignKey("team.id"), index=True)
    system_id: Mapped[int | None] = mapped_column(sa.ForeignKey("system.id"), index=True)

    __table_args__ = (sa.UniqueConstraint("team_slug", "system_slug"),)


class Pseudonym(Base):
    """What a system is called in an evaluation while names are hidden: a random number, made with its first run there.

    It is no other system's, and its own in no other evaluation.
    """

    __tablename__ = "pseudonym"

    evaluation_id: Mapped[int] = mapped_column(sa.ForeignKey("evaluation.id"), primary_key=True)
    system_id: Mapped[int] = mapped_column(sa.ForeignKey("system.id"), primary_key=True, index=True)
    number: Mapped[int] = mapped_column(unique=True)
