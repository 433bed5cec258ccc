"""Which workers there are"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    moment = op.get_context().script.get_revision("0001").module.moment
    op.create_table(
        "worker_seen",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        moment("seen_at"),
        moment("looked_at", nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_worker_seen")),
    )
