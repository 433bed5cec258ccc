"""Who waits is told: PostgreSQL notifies workers and sites of what is queued and of what happened"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

# On the channel `leaderboard`, when the transaction is committed: the name of the table in which something was queued;
# of an event what it is about, such as `submission 17`.
FUNCTIONS = {
    "tell_who_waits": """
BEGIN
    IF TG_TABLE_NAME = 'event' THEN
        PERFORM pg_notify('leaderboard', NEW.subject || ' ' || NEW.subject_id);
    ELSE
        PERFORM pg_notify('leaderboard', TG_TABLE_NAME);
    END IF;
    RETURN NULL;
END"""
}
TELL = "EXECUTE FUNCTION tell_who_waits()"
IS_QUEUED_AGAIN = "(((new.state)::text = 'queued'::text) AND ((old.state)::text <> 'queued'::text))"

# Name of a trigger -> the rest of its definition, in the words in which PostgreSQL gives it back.
POSTGRESQL = {
    "event_is_told": f"AFTER INSERT ON event FOR EACH ROW {TELL}",
    "mail_is_told": f"AFTER INSERT ON mail FOR EACH STATEMENT {TELL}",
    "scoring_is_told": f"AFTER INSERT ON scoring FOR EACH STATEMENT {TELL}",
    "scoring_again_is_told": f"AFTER UPDATE ON scoring FOR EACH ROW WHEN ({IS_QUEUED_AGAIN}) {TELL}",
}


def upgrade() -> None:
    # Whether the worker was asked to end after the run that it has in hand.
    op.add_column("worker_seen", sa.Column("drains", sa.Boolean(), nullable=False, server_default=sa.false()))
    connection = op.get_bind()
    if connection.dialect.name == "sqlite":
        return
    schema = connection.scalar(sa.text("SELECT quote_ident(current_schema())"))
    for name, body in FUNCTIONS.items():
        op.execute(
            sa.text(
                f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql"
                f" SET search_path = pg_catalog, {schema}, pg_temp AS $${body}$$"
            )
        )
    for name, rest in POSTGRESQL.items():
        op.execute(sa.text(f"CREATE TRIGGER {name} {rest}".replace(":", "\\:")))
