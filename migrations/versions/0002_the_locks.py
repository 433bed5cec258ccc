"""The locks: what no statement may change, raw SQL included"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

# What follows holds for every client of the database, not only for this program; docs/integrity.md says what for.
# `leaderboard verify` compares what stands in a database with these definitions.
#
# SQLite: alembic's batch mode rebuilds a table and drops its triggers, so a later migration that rebuilds one of these
# tables has to create them again (a test counts them after every upgrade). REPLACE takes away the row in its way
# without firing a DELETE trigger (unless the client asked for that): triggers before INSERT and UPDATE look for such a
# row. None of them says UPDATE OF a column, because `SET rowid = …` changes an id and names none.

LOCKED = "the campaign has scored submissions: its prior is locked"
STAYS = "the evaluation has scored submissions: it stays in its campaign"
FROZEN = "a scoring set never changes: another setting makes another set"
ONE_CURRENT = "an evaluation has one current scoring set, a source of judgments one that stands: it is superseded first"
REVISION = "a judgment revision never changes: import another one"
GAP = "an event follows the last one and holds its hash"
TRAIL = "the audit trail is only ever added to"

OF_CAMPAIGN = ("id", "slug", "cost", "value", "prior", "beta", "no_relevant", "locked_at")
OF_EVALUATION = ("id", "campaign_id", "slug")
# Of judgments and sets not the name of the source, which no figure depends on: one that was mistyped is renamed.
OF_SET = ("id", "evaluation_id", "revision_id", "metric_version", "settings", "settings_hash", "created_at")
OF_REVISION = (
    "id", "evaluation_id", "number", "sha256", "judgments", "highest_grade", "note", "imported_at",
    "imported_by_id", "released_at",
)  # fmt: skip
JUDGED = ("judgment", "known_document", "subtopic_judgment")


def changed(columns: tuple[str, ...]) -> str:
    """Whether an update changes one of the columns, in SQLite's words."""
    return "(" + " OR ".join(f'NEW."{column}" IS NOT OLD."{column}"' for column in columns) + ")"


def differs(columns: tuple[str, ...]) -> str:
    """The same in PostgreSQL's; JSON as text, because 20 and 20.0 are equal in it."""
    rows = (", ".join(f'{row}."{name}"{"::text" * (name == "settings")}' for name in columns) for row in ("NEW", "OLD"))
    return "({}) IS DISTINCT FROM ({})".format(*rows)


def refuse(message: str) -> str:
    return f"BEGIN SELECT RAISE(ABORT, '{message}'); END"


def is_locked(campaign_id: str) -> str:
    return f"EXISTS (SELECT 1 FROM campaign c WHERE c.id = {campaign_id} AND c.locked_at IS NOT NULL)"


# In a locked campaign only an evaluation without runs and judgments can be taken away: one that was made by mistake.
IS_USED = (
    "(EXISTS (SELECT 1 FROM submission s WHERE s.evaluation_id = OLD.id)"
    " OR EXISTS (SELECT 1 FROM judgment_revision r WHERE r.evaluation_id = OLD.id))"
)
TAKES_CAMPAIGN = "c.locked_at IS NOT NULL AND (c.id = NEW.id OR c.slug = NEW.slug)"
TAKES_EVALUATION = (
    "c.locked_at IS NOT NULL AND (e.id = NEW.id OR (e.campaign_id = NEW.campaign_id AND e.slug = NEW.slug))"
)
OTHER_CURRENT = (
    "SELECT 1 FROM scoring_set s WHERE s.evaluation_id = NEW.evaluation_id"
    " AND NEW.state IN ('current', 'beside') AND s.state IN ('current', 'beside')"
    " AND (s.source = NEW.source OR NEW.state = s.state AND s.state = 'current')"
)
FOLLOWS = "NEW.id = c.events + 1 AND NEW.previous_hash = c.head"
MOVE = "UPDATE chain SET events = NEW.id, head = NEW.hash"
LAST = "SELECT 1 FROM event e WHERE e.id = NEW.events AND e.hash = NEW.head"

# Judgments and their scoring sets stay once somebody submitted something that may be scored by them. What nobody used
# yet goes with an evaluation that was made by mistake; judgments go whole only, after their revision.
HAS_RUNS = "EXISTS (SELECT 1 FROM submission s WHERE s.evaluation_id = OLD.evaluation_id)"
HAS_REVISION = "EXISTS (SELECT 1 FROM judgment_revision r WHERE r.id = OLD.revision_id)"

# Name of a trigger -> the rest of its definition.
SQLITE = {
    "campaign_prior_lock_update": (
        f"BEFORE UPDATE ON campaign WHEN OLD.locked_at IS NOT NULL AND {changed(OF_CAMPAIGN)} {refuse(LOCKED)}"
    ),
    "campaign_prior_lock_delete": f"BEFORE DELETE ON campaign WHEN OLD.locked_at IS NOT NULL {refuse(LOCKED)}",
    "campaign_prior_lock_replace": (
        f"BEFORE INSERT ON campaign WHEN EXISTS (SELECT 1 FROM campaign c WHERE {TAKES_CAMPAIGN}) {refuse(LOCKED)}"
    ),
    "campaign_prior_lock_take_over": (
        "BEFORE UPDATE ON campaign"
        f" WHEN EXISTS (SELECT 1 FROM campaign c WHERE c.id <> OLD.id AND {TAKES_CAMPAIGN}) {refuse(LOCKED)}"
    ),
    "evaluation_stays_in_campaign": (
        f"BEFORE UPDATE ON evaluation WHEN {changed(OF_EVALUATION)} AND {is_locked('OLD.campaign_id')} {refuse(STAYS)}"
    ),
    "evaluation_is_not_deleted": (
        f"BEFORE DELETE ON evaluation WHEN {is_locked('OLD.campaign_id')} AND {IS_USED} {refuse(STAYS)}"
    ),
    "evaluation_is_not_replaced": (
        "BEFORE INSERT ON evaluation WHEN EXISTS"
        f" (SELECT 1 FROM evaluation e JOIN campaign c ON c.id = e.campaign_id WHERE {TAKES_EVALUATION})"
        f" {refuse(STAYS)}"
    ),
    "evaluation_is_not_taken_over": (
        "BEFORE UPDATE ON evaluation WHEN EXISTS"
        " (SELECT 1 FROM evaluation e JOIN campaign c ON c.id = e.campaign_id"
        f" WHERE e.id <> OLD.id AND {TAKES_EVALUATION}) {refuse(STAYS)}"
    ),
    "scoring_set_never_changes": f"BEFORE UPDATE ON scoring_set WHEN {changed(OF_SET)} {refuse(FROZEN)}",
    "scoring_set_never_goes": f"BEFORE DELETE ON scoring_set WHEN {HAS_RUNS} {refuse(FROZEN)}",
    "scoring_set_is_not_replaced": (
        "BEFORE INSERT ON scoring_set WHEN EXISTS (SELECT 1 FROM scoring_set s WHERE s.id = NEW.id"
        " OR (s.evaluation_id = NEW.evaluation_id AND s.revision_id = NEW.revision_id"
        " AND s.metric_version = NEW.metric_version AND s.settings_hash = NEW.settings_hash))"
        f" OR EXISTS ({OTHER_CURRENT}) {refuse(FROZEN)}"
    ),
    "scoring_set_is_current_alone": (
        f"BEFORE UPDATE ON scoring_set WHEN EXISTS ({OTHER_CURRENT} AND s.id <> OLD.id) {refuse(ONE_CURRENT)}"
    ),
    "judgment_revision_never_changes": (
        "BEFORE UPDATE ON judgment_revision WHEN (OLD.finished_at IS NOT NULL"
        f" AND NEW.finished_at IS NOT OLD.finished_at) OR {changed(OF_REVISION)} {refuse(REVISION)}"
    ),
    "judgment_revision_never_goes": f"BEFORE DELETE ON judgment_revision WHEN {HAS_RUNS} {refuse(REVISION)}",
    "judgment_revision_is_not_replaced": (
        "BEFORE INSERT ON judgment_revision WHEN NEW.finished_at IS NOT NULL OR EXISTS"
        " (SELECT 1 FROM judgment_revision r WHERE r.id = NEW.id"
        f" OR (r.evaluation_id = NEW.evaluation_id AND r.number = NEW.number)) {refuse(REVISION)}"
    ),
    **{f"{table}_never_changes": f"BEFORE UPDATE ON {table} {refuse(REVISION)}" for table in JUDGED},
    **{f"{table}_never_goes": f"BEFORE DELETE ON {table} WHEN {HAS_REVISION} {refuse(REVISION)}" for table in JUDGED},
    **{
        # These tables have no rowid: a row is replaced by its key only, and so within its revision.
        f"{table}_of_unfinished_revision": (
            f"BEFORE INSERT ON {table} WHEN NOT EXISTS"
            " (SELECT 1 FROM judgment_revision r WHERE r.id = NEW.revision_id AND r.finished_at IS NULL)"
            f" {refuse(REVISION)}"
        )
        for table in JUDGED
    },
    "event_never_changes": f"BEFORE UPDATE ON event {refuse(TRAIL)}",
    "event_never_goes": f"BEFORE DELETE ON event {refuse(TRAIL)}",
    "event_follows_the_last": (
        f"BEFORE INSERT ON event WHEN NOT EXISTS (SELECT 1 FROM chain c WHERE {FOLLOWS}) {refuse(GAP)}"
    ),
    "event_moves_the_chain": f"AFTER INSERT ON event BEGIN {MOVE}; END",
    "chain_only_moves_on": (
        "BEFORE UPDATE ON chain WHEN NEW.id IS NOT OLD.id OR NEW.events IS NOT OLD.events + 1"
        f" OR NOT EXISTS ({LAST}) {refuse(TRAIL)}"
    ),
    "chain_never_goes": f"BEFORE DELETE ON chain {refuse(TRAIL)}",
    "chain_is_one": f"BEFORE INSERT ON chain WHEN EXISTS (SELECT 1 FROM chain) {refuse(TRAIL)}",
}


def refusal(message: str) -> str:
    return f"RAISE EXCEPTION '{message}' USING ERRCODE = 'check_violation';"


# Name of a function -> its body.
FUNCTIONS = {
    "judgments_go_with_their_revision": f"""
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF NOT {HAS_REVISION} THEN
            RETURN OLD;
        END IF;
    END IF;
    {refusal(REVISION)}
END""",
    "trail_is_added_to": f"BEGIN {refusal(TRAIL)} END",
    "event_follows_the_last": f"""
BEGIN
    IF NOT EXISTS (SELECT 1 FROM chain c WHERE {FOLLOWS}) THEN
        {refusal(GAP)}
    END IF;
    RETURN NEW;
END""",
    "event_moves_the_chain": f"BEGIN {MOVE}; RETURN NULL; END",
    "chain_only_moves_on": f"""
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NOT EXISTS (SELECT 1 FROM chain) THEN
            RETURN NEW;
        END IF;
    ELSIF TG_OP = 'UPDATE' THEN
        IF NEW.id = OLD.id AND NEW.events = OLD.events + 1 AND EXISTS ({LAST}) THEN
            RETURN NEW;
        END IF;
    END IF;
    {refusal(TRAIL)}
END""",
    # The evaluation's row is locked before it is looked for runs: one may just be submitted.
    "scoring_set_never_changes": f"""
BEGIN
    IF TG_OP = 'DELETE' THEN
        PERFORM 1 FROM evaluation e WHERE e.id = OLD.evaluation_id FOR UPDATE;
        IF NOT {HAS_RUNS} THEN
            RETURN OLD;
        END IF;
    END IF;
    IF TG_OP = 'UPDATE' AND NOT {differs(OF_SET)} THEN
        RETURN NEW;
    END IF;
    {refusal(FROZEN)}
END""",
    "campaign_prior_lock": f"""
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        IF EXISTS (SELECT 1 FROM campaign WHERE locked_at IS NOT NULL) THEN
            {refusal(LOCKED)}
        END IF;
        RETURN NULL;
    END IF;
    IF OLD.locked_at IS NOT NULL AND (TG_OP = 'DELETE' OR {differs(OF_CAMPAIGN)}) THEN
        {refusal(LOCKED)}
    END IF;
    RETURN COALESCE(NEW, OLD);
END""",
    # The campaign's row is locked before it is looked at: its first result may just be recorded.
    "evaluation_stays_in_campaign": f"""
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        IF EXISTS (
            SELECT 1 FROM evaluation e JOIN campaign c ON c.id = e.campaign_id WHERE c.locked_at IS NOT NULL
        ) THEN
            {refusal(STAYS)}
        END IF;
        RETURN NULL;
    END IF;
    IF TG_OP = 'DELETE' OR {differs(OF_EVALUATION)} THEN
        PERFORM 1 FROM campaign c WHERE c.id = OLD.campaign_id FOR SHARE;
        IF {is_locked("OLD.campaign_id")} AND (TG_OP = 'UPDATE' OR {IS_USED}) THEN
            {refusal(STAYS)}
        END IF;
    END IF;
    RETURN COALESCE(NEW, OLD);
END""",
    "judgment_revision_never_changes": f"""
BEGIN
    IF TG_OP = 'INSERT' AND NEW.finished_at IS NULL THEN
        RETURN NEW;
    END IF;
    IF TG_OP = 'UPDATE' THEN
        IF (OLD.finished_at IS NULL OR NEW.finished_at IS NOT DISTINCT FROM OLD.finished_at)
            AND NOT {differs(OF_REVISION)} THEN
            RETURN NEW;
        END IF;
    END IF;
    IF TG_OP = 'DELETE' THEN
        PERFORM 1 FROM evaluation e WHERE e.id = OLD.evaluation_id FOR UPDATE;
        IF NOT {HAS_RUNS} THEN
            RETURN OLD;
        END IF;
    END IF;
    {refusal(REVISION)}
END""",
    "judged_in_unfinished_revision": f"""
BEGIN
    PERFORM 1 FROM judgment_revision r WHERE r.id = NEW.revision_id AND r.finished_at IS NULL FOR SHARE;
    IF NOT FOUND THEN
        {refusal(REVISION)}
    END IF;
    RETURN NEW;
END""",
}

# Name of a trigger -> the rest of its definition, in the words in which PostgreSQL gives it back.
POSTGRESQL = {
    "campaign_prior_lock": "BEFORE DELETE OR UPDATE ON campaign FOR EACH ROW EXECUTE FUNCTION campaign_prior_lock()",
    "campaign_prior_lock_truncate": (
        "BEFORE TRUNCATE ON campaign FOR EACH STATEMENT EXECUTE FUNCTION campaign_prior_lock()"
    ),
    "evaluation_stays_in_campaign": (
        "BEFORE DELETE OR UPDATE ON evaluation FOR EACH ROW EXECUTE FUNCTION evaluation_stays_in_campaign()"
    ),
    "evaluation_stays_in_campaign_truncate": (
        "BEFORE TRUNCATE ON evaluation FOR EACH STATEMENT EXECUTE FUNCTION evaluation_stays_in_campaign()"
    ),
    "scoring_set_never_changes": (
        "BEFORE DELETE OR UPDATE ON scoring_set FOR EACH ROW EXECUTE FUNCTION scoring_set_never_changes()"
    ),
    "scoring_set_never_goes": (
        "BEFORE TRUNCATE ON scoring_set FOR EACH STATEMENT EXECUTE FUNCTION scoring_set_never_changes()"
    ),
    "judgment_revision_never_changes": (
        "BEFORE INSERT OR DELETE OR UPDATE ON judgment_revision FOR EACH ROW"
        " EXECUTE FUNCTION judgment_revision_never_changes()"
    ),
    "judgment_revision_never_goes": (
        "BEFORE TRUNCATE ON judgment_revision FOR EACH STATEMENT EXECUTE FUNCTION judgment_revision_never_changes()"
    ),
    **{
        f"{table}_never_changes": (
            f"BEFORE DELETE OR UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION judgments_go_with_their_revision()"
        )
        for table in JUDGED
    },
    **{
        f"{table}_never_goes": (
            f"BEFORE TRUNCATE ON {table} FOR EACH STATEMENT EXECUTE FUNCTION judgments_go_with_their_revision()"
        )
        for table in JUDGED
    },
    **{
        f"{table}_of_unfinished_revision": (
            f"BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION judged_in_unfinished_revision()"
        )
        for table in JUDGED
    },
    "event_never_changes": "BEFORE DELETE OR UPDATE ON event FOR EACH ROW EXECUTE FUNCTION trail_is_added_to()",
    "event_never_goes": "BEFORE TRUNCATE ON event FOR EACH STATEMENT EXECUTE FUNCTION trail_is_added_to()",
    "event_follows_the_last": "BEFORE INSERT ON event FOR EACH ROW EXECUTE FUNCTION event_follows_the_last()",
    "event_moves_the_chain": "AFTER INSERT ON event FOR EACH ROW EXECUTE FUNCTION event_moves_the_chain()",
    "chain_only_moves_on": (
        "BEFORE INSERT OR DELETE OR UPDATE ON chain FOR EACH ROW EXECUTE FUNCTION chain_only_moves_on()"
    ),
    "chain_never_goes": "BEFORE TRUNCATE ON chain FOR EACH STATEMENT EXECUTE FUNCTION trail_is_added_to()",
}


def upgrade() -> None:
    connection = op.get_bind()
    op.execute(sa.text(f"INSERT INTO chain (id, events, head) VALUES (1, 0, '{'0' * 64}')"))
    if connection.dialect.name == "sqlite":
        for name, rest in SQLITE.items():
            op.execute(sa.text(f"CREATE TRIGGER {name} {rest}"))
        return
    schema = connection.scalar(sa.text("SELECT quote_ident(current_schema())"))
    for name, body in FUNCTIONS.items():
        # Without a path of its own a function would look where its caller says, temporary tables first; where the path
        # does not name pg_temp, that comes first all the same.
        op.execute(
            sa.text(
                f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql"
                f" SET search_path = pg_catalog, {schema}, pg_temp AS $${body}$$"
            )
        )
    for name, rest in POSTGRESQL.items():
        op.execute(sa.text(f"CREATE TRIGGER {name} {rest}"))
    # A page on one query reads a slice of each packed vector; only uncompressed ones are sliced in place.
    op.execute(sa.text('ALTER TABLE score ALTER COLUMN "values" SET STORAGE EXTERNAL'))
    for column in ("scorings", "means", "counts", "lows", "highs"):  # compressing them takes longer than it saves
        op.execute(sa.text(f"ALTER TABLE board ALTER COLUMN {column} SET STORAGE EXTERNAL"))
