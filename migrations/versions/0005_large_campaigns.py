"""Indexes for campaigns of a hundred thousand runs: what of a set waits, the newest runs of an evaluation, and how many
it has, and to which evaluations a team submitted"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    waits = sa.text("state IN ('queued', 'scoring')")
    op.create_index("ix_scoring_waiting", "scoring", ["scoring_set_id"], sqlite_where=waits, postgresql_where=waits)
    op.create_index("ix_submission_newest", "submission", ["evaluation_id", "received_at", "id"])
    shown = sa.text("withdrawn_at IS NULL AND ruling IS NULL")
    op.create_index(
        "ix_submission_on_boards", "submission", ["evaluation_id"], sqlite_where=shown, postgresql_where=shown
    )
    op.drop_index("ix_submission_team_id", "submission")
    op.create_index("ix_submission_team_id_submission_evaluation_id", "submission", ["team_id", "evaluation_id"])
