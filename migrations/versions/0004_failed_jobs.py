"""An index of the jobs that failed, which status pages count"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    failed = sa.text("state = 'failed'")
    op.create_index("ix_scoring_failed", "scoring", ["scoring_set_id"], sqlite_where=failed, postgresql_where=failed)
