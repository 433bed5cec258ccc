"""For campaigns of a hundred thousand runs: from how many runs the best one was chosen; and indexes of what of a set
waits and since when, of the newest runs of an evaluation and how many it has, of what a team entered, and of events"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

# From how many runs of its system the best one was chosen: those that are scored and on boards, or keep their places.
COUNT = """
UPDATE standing SET chosen_of = (
    SELECT count(*)
    FROM scoring stood
    JOIN submission chosen ON chosen.id = stood.submission_id
    JOIN submission run ON run.evaluation_id = chosen.evaluation_id AND run.system_id = chosen.system_id
        AND run.late = chosen.late
    JOIN scoring ON scoring.submission_id = run.id AND scoring.scoring_set_id = standing.scoring_set_id
    WHERE stood.id = standing.scoring_id AND scoring.state = 'scored'
        AND (run.withdrawn_at IS NULL AND run.ruling IS NULL OR run.holds_place)
) WHERE run_choice = 'best'
"""


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
    op.add_column("standing", sa.Column("chosen_of", sa.Integer(), nullable=False, server_default="1"))
    op.execute(COUNT)
