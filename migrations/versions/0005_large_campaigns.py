"""Indexes for campaigns of a hundred thousand runs: what of a set waits and since when, the newest runs of an
evaluation and how many it has, to which evaluations a team submitted, and who did something"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    waits = sa.text("state IN ('queued', 'scoring')")
    of_set = ["scoring_set_id", "queued_at"]
    op.create_index("ix_scoring_waiting", "scoring", of_set, sqlite_where=waits, postgresql_where=waits)
    op.create_index("ix_submission_newest", "submission", ["evaluation_id", "received_at", "id"])
    shown = sa.text("withdrawn_at IS NULL AND ruling IS NULL")
    op.create_index(
        "ix_submission_on_boards", "submission", ["evaluation_id"], sqlite_where=shown, postgresql_where=shown
    )
    op.drop_index("ix_submission_team_id", "submission")
    op.create_index("ix_submission_team_id_submission_evaluation_id", "submission", ["team_id", "evaluation_id"])
    op.create_index("ix_event_actor_id", "event", ["actor_id"])
