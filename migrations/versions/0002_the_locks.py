"""The locks: what no path may change, raw SQL included"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

# What follows holds for every client of the database, not only for this program. Alembic's batch mode on SQLite
# rebuilds a table and drops its triggers: a later migration that rebuilds one of these tables has to create them again
# (a test counts them after every upgrade).

LOCKED = "the campaign has scored submissions: its prior is locked"
COLUMNS = ("id", "cost", "value", "prior", "beta", "no_relevant", "locked_at")
CHANGED = " OR ".join(f'NEW."{column}" IS NOT OLD."{column}"' for column in COLUMNS)
NEW, OLD = (", ".join(f'{row}."{column}"' for column in COLUMNS) for row in ("NEW", "OLD"))

SQLITE = (
    f"""
    CREATE TRIGGER campaign_prior_lock_update BEFORE UPDATE ON campaign
    WHEN OLD.locked_at IS NOT NULL AND ({CHANGED})
    BEGIN SELECT RAISE(ABORT, '{LOCKED}'); END
    """,
    f"""
    CREATE TRIGGER campaign_prior_lock_delete BEFORE DELETE ON campaign
    WHEN OLD.locked_at IS NOT NULL
    BEGIN SELECT RAISE(ABORT, '{LOCKED}'); END
    """,
    # REPLACE takes away the row in its way without firing DELETE triggers (unless the client asked for them),
    # be it by INSERT OR REPLACE of its id or slug ...
    f"""
    CREATE TRIGGER campaign_prior_lock_replace BEFORE INSERT ON campaign
    WHEN EXISTS (SELECT 1 FROM campaign c WHERE c.locked_at IS NOT NULL AND (c.id = NEW.id OR c.slug = NEW.slug))
    BEGIN SELECT RAISE(ABORT, '{LOCKED}'); END
    """,
    # ... or by UPDATE OR REPLACE of another row.
    f"""
    CREATE TRIGGER campaign_prior_lock_take_over BEFORE UPDATE OF id, slug ON campaign
    WHEN EXISTS (
        SELECT 1 FROM campaign c
        WHERE c.locked_at IS NOT NULL AND c.id <> OLD.id AND (c.id = NEW.id OR c.slug = NEW.slug)
    )
    BEGIN SELECT RAISE(ABORT, '{LOCKED}'); END
    """,
    """
    CREATE TRIGGER evaluation_stays_in_campaign BEFORE UPDATE OF campaign_id ON evaluation
    WHEN NEW.campaign_id <> OLD.campaign_id
        AND EXISTS (SELECT 1 FROM campaign c WHERE c.id = OLD.campaign_id AND c.locked_at IS NOT NULL)
    BEGIN SELECT RAISE(ABORT, 'the evaluation has scored submissions: it stays in its campaign'); END
    """,
    """
    CREATE TRIGGER judgment_never_changes BEFORE UPDATE ON judgment
    BEGIN SELECT RAISE(ABORT, 'a judgment revision never changes: import another one'); END
    """,
    """
    CREATE TRIGGER judgment_revision_never_changes BEFORE UPDATE ON judgment_revision
    BEGIN SELECT RAISE(ABORT, 'a judgment revision never changes: import another one'); END
    """,
    """
    CREATE TRIGGER event_never_changes BEFORE UPDATE ON event
    BEGIN SELECT RAISE(ABORT, 'the audit trail is only ever added to'); END
    """,
    """
    CREATE TRIGGER event_never_goes BEFORE DELETE ON event
    BEGIN SELECT RAISE(ABORT, 'the audit trail is only ever added to'); END
    """,
)

POSTGRESQL = (
    f"""
    CREATE FUNCTION campaign_prior_lock() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP = 'TRUNCATE' THEN
            IF EXISTS (SELECT 1 FROM campaign WHERE locked_at IS NOT NULL) THEN
                RAISE EXCEPTION '{LOCKED}' USING ERRCODE = 'check_violation';
            END IF;
            RETURN NULL;
        END IF;
        IF OLD.locked_at IS NOT NULL AND (
            TG_OP = 'DELETE'
            OR ({NEW}) IS DISTINCT FROM ({OLD})
        ) THEN
            RAISE EXCEPTION '{LOCKED}' USING ERRCODE = 'check_violation';
        END IF;
        IF TG_OP = 'DELETE' THEN
            RETURN OLD;
        END IF;
        RETURN NEW;
    END $$
    """,
    """
    CREATE TRIGGER campaign_prior_lock BEFORE UPDATE OR DELETE ON campaign
    FOR EACH ROW EXECUTE FUNCTION campaign_prior_lock()
    """,
    """
    CREATE TRIGGER campaign_prior_lock_truncate BEFORE TRUNCATE ON campaign
    FOR EACH STATEMENT EXECUTE FUNCTION campaign_prior_lock()
    """,
    """
    CREATE FUNCTION evaluation_stays_in_campaign() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF NEW.campaign_id <> OLD.campaign_id
            AND EXISTS (SELECT 1 FROM campaign c WHERE c.id = OLD.campaign_id AND c.locked_at IS NOT NULL)
        THEN
            RAISE EXCEPTION 'the evaluation has scored submissions: it stays in its campaign'
                USING ERRCODE = 'check_violation';
        END IF;
        RETURN NEW;
    END $$
    """,
    """
    CREATE TRIGGER evaluation_stays_in_campaign BEFORE UPDATE OF campaign_id ON evaluation
    FOR EACH ROW EXECUTE FUNCTION evaluation_stays_in_campaign()
    """,
    """
    CREATE FUNCTION never_changes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION '% of % is refused: its rows never change', TG_OP, TG_TABLE_NAME
            USING ERRCODE = 'check_violation';
    END $$
    """,
    """
    CREATE TRIGGER judgment_never_changes BEFORE UPDATE ON judgment
    FOR EACH ROW EXECUTE FUNCTION never_changes()
    """,
    """
    CREATE TRIGGER judgment_revision_never_changes BEFORE UPDATE ON judgment_revision
    FOR EACH ROW EXECUTE FUNCTION never_changes()
    """,
    """
    CREATE TRIGGER event_never_changes BEFORE UPDATE OR DELETE ON event
    FOR EACH ROW EXECUTE FUNCTION never_changes()
    """,
    # A page on one query reads a slice of each packed vector; only uncompressed ones are sliced in place.
    'ALTER TABLE score ALTER COLUMN "values" SET STORAGE EXTERNAL',
)


def upgrade() -> None:
    statements = SQLITE if op.get_bind().dialect.name == "sqlite" else POSTGRESQL
    for statement in statements:
        op.execute(sa.text(statement))
