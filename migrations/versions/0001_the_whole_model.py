"""The whole model"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")

DIGITS = {count: "[0-9]" * count for count in (2, 4, 6)}  # in a pattern of GLOB


def moment(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    """A column of moments that Python can read: years of four digits, and not PostgreSQL's infinity.

    SQLite keeps and compares them as text, so there it has to be that of a moment: as SQLAlchemy writes it, with or
    without the fraction of a second, and a day that there is. SQLite's own datetime() makes 2 March of 30 February.
    """
    bounds = f"\"{name}\" >= '1900-01-01 00:00:00+00' AND \"{name}\" < '9999-01-01 00:00:00+00'"
    if op.get_context().dialect.name == "sqlite":
        seconds, fraction = f'substr("{name}", 1, 19)', f'substr("{name}", 20)'
        bounds += (
            f""" AND "{name}" GLOB '{DIGITS[4]}-{DIGITS[2]}-{DIGITS[2]} {DIGITS[2]}:{DIGITS[2]}:{DIGITS[2]}*'"""
            f" AND ({fraction} = '' OR {fraction} GLOB '.{DIGITS[6]}')"
            f' AND length(CAST("{name}" AS BLOB)) = length("{name}")'  # of text it counts nothing behind a NUL
            f" AND datetime({seconds}, '+0 days') IS {seconds}"
        )
    return sa.Column(name, sa.DateTime(timezone=True), sa.CheckConstraint(bounds, name=name), nullable=nullable)


def upgrade() -> None:
    op.create_table(
        "team",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("slug", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("is_listed", sa.Boolean(), nullable=False),
        moment("created_at"),
        sa.Column("merged_into_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["merged_into_id"], ["team.id"], name=op.f("fk_team_merged_into_id_team")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_team")),
        sa.UniqueConstraint("slug", name=op.f("uq_team_slug")),
    )
    op.create_table(
        "campaign",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("slug", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("simulated", sa.Boolean(), nullable=False),
        sa.Column("cost", sa.Double(), nullable=True),
        sa.Column("value", sa.Double(), nullable=True),
        sa.Column("prior", sa.Double(), nullable=True),
        sa.Column("beta", sa.Double(), nullable=True),
        sa.Column(
            "no_relevant",
            sa.Enum(
                "exclude",
                "pfa_only",
                "pmiss_zero",
                name="no_relevant",
                native_enum=False,
                create_constraint=True,
                length=32,
            ),
            nullable=False,
        ),
        sa.Column("compat", sa.Integer(), nullable=False),
        sa.Column("measures", JSON, nullable=False),
        sa.Column("primary_measure", sa.Text(), nullable=False),
        sa.Column(
            "run_choice",
            sa.Enum(
                "primary",
                "best",
                "latest",
                name="run_choice",
                native_enum=False,
                create_constraint=True,
                length=32,
            ),
            nullable=False,
        ),
        sa.Column("contact", sa.Text(), nullable=False),
        sa.Column("links", JSON, nullable=False),
        sa.Column("guidelines", sa.Text(), nullable=False),
        sa.Column(
            "visibility",
            sa.Enum(
                "public",
                "private",
                "draft",
                name="visibility",
                native_enum=False,
                create_constraint=True,
                length=32,
            ),
            nullable=False,
        ),
        sa.Column("baseline_team_id", sa.Integer(), nullable=True),
        moment("archived_at", nullable=True),
        moment("created_at"),
        moment("locked_at", nullable=True),
        sa.CheckConstraint('"value" > 0.0 AND "value" <= 1.7976931348623157e+308', name=op.f("ck_campaign_value")),
        sa.CheckConstraint('"beta" >= 0.0 AND "beta" <= 1.7976931348623157e+308', name=op.f("ck_campaign_beta")),
        sa.CheckConstraint("compat IN (9, 10)", name=op.f("ck_campaign_compat")),
        sa.CheckConstraint('"cost" >= 0.0 AND "cost" <= 1.7976931348623157e+308', name=op.f("ck_campaign_cost")),
        sa.CheckConstraint('"prior" > 0.0 AND "prior" < 1.0', name=op.f("ck_campaign_prior")),
        sa.ForeignKeyConstraint(["baseline_team_id"], ["team.id"], name=op.f("fk_campaign_baseline_team_id_team")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_campaign")),
        sa.UniqueConstraint("slug", name=op.f("uq_campaign_slug")),
    )
    op.create_table(
        "chain",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("events", sa.Integer(), nullable=False),
        sa.Column("head", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_chain")),
    )
    op.create_table(
        "generation",
        sa.Column("campaign_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("campaign_id", name=op.f("pk_generation")),
    )
    op.create_table(
        "board_generation",
        sa.Column("evaluation_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("evaluation_id", name=op.f("pk_board_generation")),
    )
    op.create_table(
        "installation",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("store", sa.Text(), nullable=False),
        moment("swept_at", nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_installation")),
    )
    op.create_table(
        "site",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("about", sa.Text(), nullable=False),
        sa.Column("contact", sa.Text(), nullable=False),
        sa.Column("privacy", sa.Text(), nullable=False),
        sa.Column("logo", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_site")),
    )
    op.create_table(
        "attempt",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        moment("at"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_attempt")),
    )
    with op.batch_alter_table("attempt", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_attempt_at"), ["at"], unique=False)
        batch_op.create_index(batch_op.f("ix_attempt_subject_attempt_at"), ["subject", "at"], unique=False)

    op.create_table(
        "team_name",
        sa.Column("name_key", sa.Text(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_team_name_team_id_team")),
        sa.PrimaryKeyConstraint("name_key", name=op.f("pk_team_name")),
    )
    with op.batch_alter_table("team_name", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_team_name_team_id"), ["team_id"], unique=False)

    op.create_table(
        "user",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("name_key", sa.Text(), nullable=False),
        sa.Column("email", sa.Text(), nullable=True),
        sa.Column("email_key", sa.Text(), nullable=True),
        sa.Column("unconfirmed_email", sa.Text(), nullable=True),
        sa.Column("unwanted_mail", JSON, nullable=False),
        sa.Column("password_hash", sa.Text(), nullable=True),
        sa.Column("is_admin", sa.Boolean(), nullable=False),
        sa.Column("may_found", sa.Boolean(), nullable=False),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        moment("created_at"),
        moment("last_login_at", nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_user")),
        sa.UniqueConstraint("email_key", name=op.f("uq_user_email_key")),
        sa.UniqueConstraint("name_key", name=op.f("uq_user_name_key")),
    )
    op.create_table(
        "api_token",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("hint", sa.Text(), nullable=False),
        sa.Column("scopes", JSON, nullable=False),
        sa.Column("token_hash", sa.Text(), nullable=False),
        moment("created_at"),
        moment("expires_at", nullable=True),
        moment("revoked_at", nullable=True),
        moment("last_used_at", nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name=op.f("fk_api_token_user_id_user"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_token")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_api_token_token_hash")),
    )
    with op.batch_alter_table("api_token", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_api_token_user_id"), ["user_id"], unique=False)

    op.create_table(
        "join_request",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        moment("created_at"),
        moment("answered_at", nullable=True),
        sa.Column("answered_by_id", sa.Integer(), nullable=True),
        sa.Column("accepted", sa.Boolean(), nullable=True),
        sa.ForeignKeyConstraint(["answered_by_id"], ["user.id"], name=op.f("fk_join_request_answered_by_id_user")),
        sa.ForeignKeyConstraint(
            ["team_id"], ["team.id"], name=op.f("fk_join_request_team_id_team"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["user.id"], name=op.f("fk_join_request_user_id_user"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_join_request")),
    )
    with op.batch_alter_table("join_request", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_join_request_team_id"), ["team_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_join_request_user_id"), ["user_id"], unique=False)

    op.create_table(
        "identity",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("issuer", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        moment("created_at"),
        moment("last_used_at", nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name=op.f("fk_identity_user_id_user"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_identity")),
        sa.UniqueConstraint("issuer", "subject", name=op.f("uq_identity_issuer_subject")),
    )
    with op.batch_alter_table("identity", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_user_id"), ["user_id"], unique=False)

    op.create_table(
        "mail",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column(
            "kind",
            sa.Enum(
                "confirmation",
                "reset",
                "address",
                "password",
                "identity",
                "closed",
                "deadline",
                "scored",
                "rejected",
                "rejudged",
                "imported",
                "request",
                "answer",
                name="kind",
                native_enum=False,
                create_constraint=True,
                length=32,
            ),
            nullable=False,
        ),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("address", sa.Text(), nullable=True),
        sa.Column("about", JSON, nullable=False),
        sa.Column("once", sa.Text(), nullable=True),
        moment("created_at"),
        moment("expires_at"),
        moment("not_before", nullable=True),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("failure", sa.Text(), nullable=False),
        moment("sent_at", nullable=True),
        moment("given_up_at", nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name=op.f("fk_mail_user_id_user"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mail")),
        sa.UniqueConstraint("once", name=op.f("uq_mail_once")),
    )
    with op.batch_alter_table("mail", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_mail_user_id"), ["user_id"], unique=False)
        batch_op.create_index(
            "ix_mail_unsent",
            ["id"],
            unique=False,
            sqlite_where=sa.text("sent_at IS NULL AND given_up_at IS NULL"),
            postgresql_where=sa.text("sent_at IS NULL AND given_up_at IS NULL"),
        )

    op.create_table(
        "mail_link",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column(
            "kind",
            sa.Enum(
                "confirmation",
                "reset",
                "address",
                "password",
                "identity",
                "closed",
                "deadline",
                "scored",
                "rejected",
                "rejudged",
                "imported",
                "request",
                "answer",
                name="kind",
                native_enum=False,
                create_constraint=True,
                length=32,
            ),
            nullable=False,
        ),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("token_hash", sa.Text(), nullable=False),
        moment("created_at"),
        moment("expires_at"),
        moment("used_at", nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name=op.f("fk_mail_link_user_id_user"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mail_link")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_mail_link_token_hash")),
    )
    with op.batch_alter_table("mail_link", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_mail_link_user_id"), ["user_id"], unique=False)

    op.create_table(
        "session",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("token_hash", sa.Text(), nullable=False),
        sa.Column("browser", sa.Text(), nullable=False),
        moment("created_at"),
        moment("last_seen_at"),
        moment("expires_at"),
        moment("ended_at", nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name=op.f("fk_session_user_id_user"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_session")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_session_token_hash")),
    )
    with op.batch_alter_table("session", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_session_user_id"), ["user_id"], unique=False)

    op.create_table(
        "campaign_organiser",
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign_id"],
            ["campaign.id"],
            name=op.f("fk_campaign_organiser_campaign_id_campaign"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["user.id"], name=op.f("fk_campaign_organiser_user_id_user"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("campaign_id", "user_id", name=op.f("pk_campaign_organiser")),
    )
    with op.batch_alter_table("campaign_organiser", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_campaign_organiser_user_id"), ["user_id"], unique=False)

    op.create_table(
        "campaign_team",
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_campaign_team_campaign_id_campaign"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["team_id"], ["team.id"], name=op.f("fk_campaign_team_team_id_team"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("campaign_id", "team_id", name=op.f("pk_campaign_team")),
    )
    with op.batch_alter_table("campaign_team", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_campaign_team_team_id"), ["team_id"], unique=False)

    op.create_table(
        "evaluation",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("slug", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("period", sa.Text(), nullable=False),
        sa.Column("period_key", sa.Integer(), nullable=False),
        sa.Column("condition", sa.Text(), nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("documents", sa.BigInteger(), nullable=True),
        sa.Column("relevance_level", sa.Integer(), nullable=False),
        sa.Column(
            "judging",
            sa.Enum("pooled", "complete", name="judging", native_enum=False, create_constraint=True, length=32),
            nullable=False,
        ),
        moment("opens_at", nullable=True),
        moment("closes_at", nullable=True),
        sa.Column("grace_seconds", sa.Integer(), nullable=False),
        sa.Column("late_allowed", sa.Boolean(), nullable=False),
        sa.Column(
            "results",
            sa.Enum(
                "always",
                "opened",
                "closed",
                "never",
                name="results",
                native_enum=False,
                create_constraint=True,
                length=32,
            ),
            nullable=False,
        ),
        sa.Column(
            "details",
            sa.Enum(
                "always",
                "opened",
                "closed",
                "never",
                name="details",
                native_enum=False,
                create_constraint=True,
                length=32,
            ),
            nullable=False,
        ),
        sa.Column(
            "texts",
            sa.Enum(
                "always",
                "opened",
                "closed",
                "never",
                name="texts",
                native_enum=False,
                create_constraint=True,
                length=32,
            ),
            nullable=False,
        ),
        sa.Column(
            "hidden_queries",
            sa.Enum(
                "always",
                "opened",
                "closed",
                "never",
                name="hidden_queries",
                native_enum=False,
                create_constraint=True,
                length=32,
            ),
            nullable=False,
        ),
        sa.Column("own_results", sa.Boolean(), nullable=False),
        sa.Column("judgments_published", sa.Boolean(), nullable=False),
        sa.Column("official_source", sa.Text(), nullable=False),
        sa.Column("set_aside", JSON, nullable=False),
        moment("anonymous_until", nullable=True),
        sa.Column("daily_quota", sa.Integer(), nullable=True),
        sa.Column("total_quota", sa.Integer(), nullable=True),
        sa.Column("time_zone", sa.Text(), nullable=False),
        sa.Column("draft", sa.Boolean(), nullable=False),
        sa.Column("form_fields", JSON, nullable=False),
        sa.Column("file_rules", JSON, nullable=False),
        moment("created_at"),
        sa.CheckConstraint(
            "closes_at IS NULL OR opens_at IS NULL OR opens_at < closes_at", name=op.f("ck_evaluation_dates")
        ),
        sa.CheckConstraint("grace_seconds BETWEEN 0 AND 86400", name=op.f("ck_evaluation_grace_seconds")),
        sa.CheckConstraint("daily_quota >= 0", name=op.f("ck_evaluation_daily_quota")),
        sa.CheckConstraint("documents > 0", name=op.f("ck_evaluation_documents")),
        sa.CheckConstraint("relevance_level >= 1", name=op.f("ck_evaluation_relevance_level")),
        sa.CheckConstraint("total_quota >= 0", name=op.f("ck_evaluation_total_quota")),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_evaluation_campaign_id_campaign")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_evaluation")),
        sa.UniqueConstraint("campaign_id", "slug", name=op.f("uq_evaluation_campaign_id_slug")),
    )
    with op.batch_alter_table("evaluation", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_evaluation_campaign_id"), ["campaign_id"], unique=False)

    op.create_table(
        "event",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        moment("at"),
        sa.Column("actor_id", sa.Integer(), nullable=True),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("subject_id", sa.Integer(), nullable=False),
        sa.Column("facts", JSON, nullable=False),
        sa.Column("state", JSON, nullable=False),
        sa.Column("changed", JSON, nullable=False),
        sa.Column("previous_hash", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["actor_id"], ["user.id"], name=op.f("fk_event_actor_id_user")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_event")),
    )
    with op.batch_alter_table("event", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_event_at"), ["at"], unique=False)
        batch_op.create_index(batch_op.f("ix_event_subject_event_subject_id"), ["subject", "subject_id"], unique=False)

    op.create_table(
        "invitation",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("token_hash", sa.Text(), nullable=False),
        sa.Column("created_by_id", sa.Integer(), nullable=True),
        moment("created_at"),
        moment("expires_at"),
        moment("revoked_at", nullable=True),
        moment("used_at", nullable=True),
        sa.Column("used_by_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["created_by_id"], ["user.id"], name=op.f("fk_invitation_created_by_id_user")),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_invitation_team_id_team"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["used_by_id"], ["user.id"], name=op.f("fk_invitation_used_by_id_user")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invitation")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_invitation_token_hash")),
    )
    with op.batch_alter_table("invitation", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_invitation_team_id"), ["team_id"], unique=False)

    op.create_table(
        "membership",
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column(
            "role",
            sa.Enum("owner", "member", name="role", native_enum=False, create_constraint=True, length=32),
            nullable=False,
        ),
        moment("joined_at"),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_membership_team_id_team"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name=op.f("fk_membership_user_id_user"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("team_id", "user_id", name=op.f("pk_membership")),
    )
    with op.batch_alter_table("membership", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_membership_user_id"), ["user_id"], unique=False)

    op.create_table(
        "system",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("slug", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("name_key", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column(
            "kind",
            sa.Enum(
                "automatic",
                "manual",
                "baseline",
                name="kind",
                native_enum=False,
                create_constraint=True,
                length=32,
            ),
            nullable=False,
        ),
        sa.Column("code_url", sa.Text(), nullable=False),
        sa.Column("paper_url", sa.Text(), nullable=False),
        moment("created_at"),
        sa.Column("merged_into_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["merged_into_id"], ["system.id"], name=op.f("fk_system_merged_into_id_system")),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_system_team_id_team")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_system")),
        sa.UniqueConstraint("team_id", "name_key", name=op.f("uq_system_team_id_name_key")),
        sa.UniqueConstraint("team_id", "slug", name=op.f("uq_system_team_id_slug")),
    )
    op.create_table(
        "former_address",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team_slug", sa.Text(), nullable=False),
        sa.Column("system_slug", sa.Text(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("system_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["system_id"], ["system.id"], name=op.f("fk_former_address_system_id_system")),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_former_address_team_id_team")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_former_address")),
        sa.UniqueConstraint("team_slug", "system_slug", name=op.f("uq_former_address_team_slug_system_slug")),
    )
    with op.batch_alter_table("former_address", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_former_address_system_id"), ["system_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_former_address_team_id"), ["team_id"], unique=False)

    op.create_table(
        "judgment_revision",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("evaluation_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("judgments", sa.Integer(), nullable=False),
        sa.Column("highest_grade", sa.Integer(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        moment("imported_at"),
        sa.Column("imported_by_id", sa.Integer(), nullable=True),
        moment("released_at", nullable=True),
        moment("finished_at", nullable=True),
        sa.ForeignKeyConstraint(
            ["evaluation_id"], ["evaluation.id"], name=op.f("fk_judgment_revision_evaluation_id_evaluation")
        ),
        sa.ForeignKeyConstraint(["imported_by_id"], ["user.id"], name=op.f("fk_judgment_revision_imported_by_id_user")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judgment_revision")),
        sa.UniqueConstraint("evaluation_id", "number", name=op.f("uq_judgment_revision_evaluation_id_number")),
    )
    op.create_table(
        "query",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("evaluation_id", sa.Integer(), nullable=False),
        sa.Column("external_id", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("tags", JSON, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column(
            "split",
            sa.Enum("shown", "hidden", name="split", native_enum=False, create_constraint=True, length=32),
            nullable=False,
        ),
        moment("excluded_at", nullable=True),
        sa.Column("excluded_because", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["evaluation_id"], ["evaluation.id"], name=op.f("fk_query_evaluation_id_evaluation")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_query")),
        sa.UniqueConstraint("evaluation_id", "external_id", name=op.f("uq_query_evaluation_id_external_id")),
        sa.UniqueConstraint("evaluation_id", "position", name=op.f("uq_query_evaluation_id_position")),
    )
    op.create_table(
        "submission",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("evaluation_id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("system_id", sa.Integer(), nullable=False),
        sa.Column("submitter_id", sa.Integer(), nullable=True),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column(
            "designation",
            sa.Enum(
                "primary",
                "contrastive",
                name="designation",
                native_enum=False,
                create_constraint=True,
                length=32,
            ),
            nullable=False,
        ),
        sa.Column("threshold", sa.Double(), nullable=True),
        sa.Column("notes", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("answers", JSON, nullable=False),
        sa.Column("sending_key", sa.Text(), nullable=True),
        sa.Column("said", JSON, nullable=False),
        sa.Column("filename", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("md5", sa.Text(), nullable=False),
        sa.Column("text_sha256", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("text_size", sa.BigInteger(), nullable=False),
        moment("begun_at"),
        moment("received_at"),
        sa.Column("received_assumed", sa.Boolean(), nullable=False),
        moment("run_at", nullable=True),
        moment("imported_at", nullable=True),
        sa.Column("imported_by_id", sa.Integer(), nullable=True),
        sa.Column("late", sa.Boolean(), nullable=False),
        sa.Column("charged", sa.Boolean(), nullable=False),
        sa.Column("problems", JSON, nullable=False),
        sa.Column("problem_count", sa.Integer(), nullable=False),
        moment("scored_at", nullable=True),
        moment("chosen_at", nullable=True),
        moment("withdrawn_at", nullable=True),
        sa.Column("withdrawn_by_id", sa.Integer(), nullable=True),
        sa.Column("holds_place", sa.Boolean(), nullable=False),
        sa.Column("withdrawn_because", sa.Text(), nullable=False),
        sa.Column(
            "ruling",
            sa.Enum("hidden", "disqualified", name="ruling", native_enum=False, create_constraint=True, length=32),
            nullable=True,
        ),
        moment("ruled_at", nullable=True),
        sa.Column("ruled_by_id", sa.Integer(), nullable=True),
        sa.Column("ruled_because", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["evaluation_id"], ["evaluation.id"], name=op.f("fk_submission_evaluation_id_evaluation")
        ),
        sa.ForeignKeyConstraint(["imported_by_id"], ["user.id"], name=op.f("fk_submission_imported_by_id_user")),
        sa.ForeignKeyConstraint(["ruled_by_id"], ["user.id"], name=op.f("fk_submission_ruled_by_id_user")),
        sa.ForeignKeyConstraint(["submitter_id"], ["user.id"], name=op.f("fk_submission_submitter_id_user")),
        sa.ForeignKeyConstraint(["system_id"], ["system.id"], name=op.f("fk_submission_system_id_system")),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_submission_team_id_team")),
        sa.ForeignKeyConstraint(["withdrawn_by_id"], ["user.id"], name=op.f("fk_submission_withdrawn_by_id_user")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_submission")),
        sa.UniqueConstraint("submitter_id", "sending_key", name=op.f("uq_submission_submitter_id_sending_key")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("submission", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_submission_evaluation_id_submission_system_id"), ["evaluation_id", "system_id"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_submission_sha256"), ["sha256"], unique=False)
        batch_op.create_index(batch_op.f("ix_submission_submitter_id"), ["submitter_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_submission_system_id"), ["system_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_submission_team_id"), ["team_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_submission_text_sha256"), ["text_sha256"], unique=False)

    op.create_table(
        "judgment",
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.Column("query_id", sa.Integer(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("grade", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["query_id"], ["query.id"], name=op.f("fk_judgment_query_id_query")),
        sa.ForeignKeyConstraint(
            ["revision_id"],
            ["judgment_revision.id"],
            name=op.f("fk_judgment_revision_id_judgment_revision"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("revision_id", "query_id", "document", name=op.f("pk_judgment")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "known_document",
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.Column("query_id", sa.Integer(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["query_id"], ["query.id"], name=op.f("fk_known_document_query_id_query")),
        sa.ForeignKeyConstraint(
            ["revision_id"],
            ["judgment_revision.id"],
            name=op.f("fk_known_document_revision_id_judgment_revision"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("revision_id", "query_id", "document", name=op.f("pk_known_document")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "participation",
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("evaluation_id", sa.Integer(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("used_today", sa.Integer(), nullable=False),
        sa.Column("rejected_today", sa.Integer(), nullable=False),
        sa.Column("used", sa.Integer(), nullable=False),
        sa.Column("primary_submission_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["evaluation_id"], ["evaluation.id"], name=op.f("fk_participation_evaluation_id_evaluation")
        ),
        sa.ForeignKeyConstraint(
            ["primary_submission_id"],
            ["submission.id"],
            name=op.f("fk_participation_primary_submission_id_submission"),
        ),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_participation_team_id_team")),
        sa.PrimaryKeyConstraint("team_id", "evaluation_id", name=op.f("pk_participation")),
    )
    with op.batch_alter_table("participation", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_participation_evaluation_id"), ["evaluation_id"], unique=False)

    op.create_table(
        "pseudonym",
        sa.Column("evaluation_id", sa.Integer(), nullable=False),
        sa.Column("system_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["evaluation_id"], ["evaluation.id"], name=op.f("fk_pseudonym_evaluation_id_evaluation")
        ),
        sa.ForeignKeyConstraint(["system_id"], ["system.id"], name=op.f("fk_pseudonym_system_id_system")),
        sa.PrimaryKeyConstraint("evaluation_id", "system_id", name=op.f("pk_pseudonym")),
        sa.UniqueConstraint("number", name=op.f("uq_pseudonym_number")),
    )
    with op.batch_alter_table("pseudonym", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_pseudonym_system_id"), ["system_id"], unique=False)

    op.create_table(
        "personal_use",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("evaluation_id", sa.Integer(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("used_today", sa.Integer(), nullable=False),
        sa.Column("rejected_today", sa.Integer(), nullable=False),
        sa.Column("used", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["evaluation_id"],
            ["evaluation.id"],
            name=op.f("fk_personal_use_evaluation_id_evaluation"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name=op.f("fk_personal_use_user_id_user")),
        sa.PrimaryKeyConstraint("user_id", "evaluation_id", name=op.f("pk_personal_use")),
    )
    with op.batch_alter_table("personal_use", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_personal_use_evaluation_id"), ["evaluation_id"], unique=False)

    op.create_table(
        "arrival",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("evaluation_id", sa.Integer(), nullable=False),
        moment("expires_at"),
        sa.ForeignKeyConstraint(
            ["evaluation_id"], ["evaluation.id"], name=op.f("fk_arrival_evaluation_id_evaluation"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_arrival_team_id_team")),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name=op.f("fk_arrival_user_id_user")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_arrival")),
    )
    with op.batch_alter_table("arrival", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_arrival_evaluation_id"), ["evaluation_id"], unique=False)

    op.create_table(
        "agreement",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("evaluation_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        moment("created_at"),
        moment("ended_at", nullable=True),
        sa.ForeignKeyConstraint(
            ["evaluation_id"], ["evaluation.id"], name=op.f("fk_agreement_evaluation_id_evaluation")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_agreement")),
        sa.UniqueConstraint("evaluation_id", "key", "version", name=op.f("uq_agreement_evaluation_id_key_version")),
    )
    op.create_table(
        "acceptance",
        sa.Column("agreement_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        moment("accepted_at"),
        sa.ForeignKeyConstraint(["agreement_id"], ["agreement.id"], name=op.f("fk_acceptance_agreement_id_agreement")),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name=op.f("fk_acceptance_user_id_user")),
        sa.PrimaryKeyConstraint("agreement_id", "user_id", name=op.f("pk_acceptance")),
    )
    with op.batch_alter_table("acceptance", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_acceptance_user_id"), ["user_id"], unique=False)

    op.create_table(
        "collection_list",
        sa.Column("evaluation_id", sa.Integer(), nullable=False),
        sa.Column("packed", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["evaluation_id"],
            ["evaluation.id"],
            name=op.f("fk_collection_list_evaluation_id_evaluation"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("evaluation_id", name=op.f("pk_collection_list")),
    )
    op.create_table(
        "scoring_set",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("evaluation_id", sa.Integer(), nullable=False),
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("metric_version", sa.Text(), nullable=False),
        sa.Column("settings", JSON, nullable=False),
        sa.Column("settings_hash", sa.Text(), nullable=False),
        sa.Column("primary_measure", sa.Text(), nullable=False),
        sa.Column(
            "state",
            sa.Enum(
                "building",
                "current",
                "beside",
                "superseded",
                name="state",
                native_enum=False,
                create_constraint=True,
                length=32,
            ),
            nullable=False,
        ),
        moment("created_at"),
        moment("switched_at", nullable=True),
        moment("shown_until", nullable=True),
        sa.Column("shown_before", JSON, nullable=False),
        moment("refreshing_until", nullable=True),
        sa.ForeignKeyConstraint(
            ["evaluation_id"], ["evaluation.id"], name=op.f("fk_scoring_set_evaluation_id_evaluation")
        ),
        sa.ForeignKeyConstraint(
            ["revision_id"],
            ["judgment_revision.id"],
            name=op.f("fk_scoring_set_revision_id_judgment_revision"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scoring_set")),
        sa.UniqueConstraint(
            "evaluation_id", "revision_id", "metric_version", "settings_hash", name="uq_scoring_set_key"
        ),
    )
    with op.batch_alter_table("scoring_set", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_scoring_set_evaluation_id"), ["evaluation_id"], unique=False)
        batch_op.create_index(
            "uq_scoring_set_current",
            ["evaluation_id"],
            unique=True,
            sqlite_where=sa.text("state = 'current'"),
            postgresql_where=sa.text("state = 'current'"),
        )
        batch_op.create_index(
            "uq_scoring_set_standing",
            ["evaluation_id", "source"],
            unique=True,
            sqlite_where=sa.text("state IN ('current', 'beside')"),
            postgresql_where=sa.text("state IN ('current', 'beside')"),
        )

    op.create_table(
        "subtopic_judgment",
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.Column("query_id", sa.Integer(), nullable=False),
        sa.Column("subtopic", sa.Text(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("grade", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["query_id"], ["query.id"], name=op.f("fk_subtopic_judgment_query_id_query")),
        sa.ForeignKeyConstraint(
            ["revision_id"],
            ["judgment_revision.id"],
            name=op.f("fk_subtopic_judgment_revision_id_judgment_revision"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("revision_id", "query_id", "subtopic", "document", name=op.f("pk_subtopic_judgment")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "board",
        sa.Column("scoring_set_id", sa.Integer(), nullable=False),
        sa.Column("measure", sa.Text(), nullable=False),
        sa.Column(
            "subset",
            sa.Enum("shown", "all", name="subset", native_enum=False, create_constraint=True, length=32),
            nullable=False,
        ),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("generation", sa.BigInteger(), nullable=False),
        sa.Column("figures", JSON, nullable=False),
        moment("refreshed_at"),
        sa.Column("scorings", sa.LargeBinary(), nullable=False),
        sa.Column("means", sa.LargeBinary(), nullable=False),
        sa.Column("counts", sa.LargeBinary(), nullable=False),
        sa.Column("lows", sa.LargeBinary(), nullable=False),
        sa.Column("highs", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["scoring_set_id"], ["scoring_set.id"], name=op.f("fk_board_scoring_set_id_scoring_set")
        ),
        sa.PrimaryKeyConstraint("scoring_set_id", "measure", "subset", name=op.f("pk_board")),
    )
    op.create_table(
        "team_finds",
        sa.Column("scoring_set_id", sa.Integer(), nullable=False),
        sa.Column("generation", sa.BigInteger(), nullable=False),
        sa.Column("finds", JSON, nullable=False),
        sa.ForeignKeyConstraint(
            ["scoring_set_id"],
            ["scoring_set.id"],
            name=op.f("fk_team_finds_scoring_set_id_scoring_set"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("scoring_set_id", name=op.f("pk_team_finds")),
    )
    op.create_table(
        "scoring",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("scoring_set_id", sa.Integer(), nullable=False),
        sa.Column(
            "state",
            sa.Enum(
                "queued",
                "scoring",
                "scored",
                "rejected",
                "failed",
                name="state",
                native_enum=False,
                create_constraint=True,
                length=32,
            ),
            nullable=False,
        ),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("errors", sa.Integer(), nullable=False),
        sa.Column("lost_leases", sa.Integer(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=True),
        moment("lease_until", nullable=True),
        moment("not_before", nullable=True),
        moment("queued_at"),
        moment("started_at", nullable=True),
        moment("finished_at", nullable=True),
        sa.Column("seconds", sa.Double(), nullable=True),
        sa.Column("failure", sa.Text(), nullable=False),
        sa.Column("damaged", sa.Boolean(), nullable=False),
        sa.Column("of_the_past", sa.Boolean(), nullable=False),
        sa.Column("beta", sa.Double(), nullable=True),
        sa.Column("missing", JSON, nullable=False),
        sa.Column("unjudged", JSON, nullable=False),
        sa.Column("digest", sa.Text(), nullable=True),
        sa.Column("facts", JSON, nullable=False),
        sa.ForeignKeyConstraint(
            ["scoring_set_id"], ["scoring_set.id"], name=op.f("fk_scoring_scoring_set_id_scoring_set")
        ),
        sa.ForeignKeyConstraint(["submission_id"], ["submission.id"], name=op.f("fk_scoring_submission_id_submission")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scoring")),
        sa.UniqueConstraint("submission_id", "scoring_set_id", name=op.f("uq_scoring_submission_id_scoring_set_id")),
    )
    with op.batch_alter_table("scoring", schema=None) as batch_op:
        batch_op.create_index(
            "ix_scoring_queue",
            ["state", "priority", "turn", "id"],
            unique=False,
            sqlite_where=sa.text("state IN ('queued', 'scoring')"),
            postgresql_where=sa.text("state IN ('queued', 'scoring')"),
        )
        batch_op.create_index(
            "ix_scoring_of_the_past",
            ["scoring_set_id"],
            unique=False,
            sqlite_where=sa.text("of_the_past"),
            postgresql_where=sa.text("of_the_past"),
        )
        batch_op.create_index(batch_op.f("ix_scoring_scoring_set_id"), ["scoring_set_id"], unique=False)

    op.create_table(
        "curve",
        sa.Column("scoring_id", sa.Integer(), nullable=False),
        sa.Column(
            "subset",
            sa.Enum("shown", "all", name="subset", native_enum=False, create_constraint=True, length=32),
            nullable=False,
        ),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("values", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["scoring_id"], ["scoring.id"], name=op.f("fk_curve_scoring_id_scoring"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("scoring_id", "subset", "name", name=op.f("pk_curve")),
    )

    op.create_table(
        "score",
        sa.Column("scoring_id", sa.Integer(), nullable=False),
        sa.Column("measure", sa.Text(), nullable=False),
        sa.Column(
            "subset",
            sa.Enum("shown", "all", name="subset", native_enum=False, create_constraint=True, length=32),
            nullable=False,
        ),
        sa.Column("mean", sa.Double(), nullable=True),
        sa.Column("low", sa.Double(), nullable=True),
        sa.Column("high", sa.Double(), nullable=True),
        sa.Column("lost_low", sa.Double(), nullable=True),
        sa.Column("lost_high", sa.Double(), nullable=True),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("values", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["scoring_id"], ["scoring.id"], name=op.f("fk_score_scoring_id_scoring"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("scoring_id", "measure", "subset", name=op.f("pk_score")),
    )
    with op.batch_alter_table("score", schema=None) as batch_op:
        batch_op.create_index(
            "ix_score_of_boards", ["measure", "scoring_id", "subset", "mean", "low", "high", "count"], unique=False
        )

    op.create_table(
        "standing",
        sa.Column("scoring_set_id", sa.Integer(), nullable=False),
        sa.Column(
            "run_choice",
            sa.Enum(
                "primary",
                "best",
                "latest",
                name="run_choice",
                native_enum=False,
                create_constraint=True,
                length=32,
            ),
            nullable=False,
        ),
        sa.Column(
            "subset",
            sa.Enum("shown", "all", name="subset", native_enum=False, create_constraint=True, length=32),
            nullable=False,
        ),
        sa.Column("rounded", sa.Boolean(), nullable=False),
        sa.Column("system_id", sa.Integer(), nullable=False),
        sa.Column("late", sa.Boolean(), nullable=False),
        sa.Column("scoring_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["scoring_id"], ["scoring.id"], name=op.f("fk_standing_scoring_id_scoring"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["scoring_set_id"],
            ["scoring_set.id"],
            name=op.f("fk_standing_scoring_set_id_scoring_set"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["system_id"], ["system.id"], name=op.f("fk_standing_system_id_system"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint(
            "scoring_set_id", "run_choice", "subset", "rounded", "system_id", "late", name=op.f("pk_standing")
        ),
    )
    with op.batch_alter_table("standing", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_standing_scoring_id"), ["scoring_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_standing_system_id"), ["system_id"], unique=False)
