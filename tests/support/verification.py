"""What tests of the record's verification share: SQL without triggers, and what is named after it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.audit.verify import Report, one_moment, verify
from tests.support.world import World

Changes = list[tuple[str, str]]  # where and what


def stands(system: int, *sets: int, run: str = "run") -> Changes:
    """How it is named that another run of the system stands in these sets of the small campaign than by the rule."""
    return [("evaluation 1 (small/2026)", f"which {run} of System number {system} stands in set {one}") for one in sets]


def verified(world: World, noted: tuple[int, str] | None = None) -> Report:
    with world.database.read() as session:
        one_moment(session)
        return verify(session, noted=noted)


def named(report: Report) -> Changes:
    return [(one.where, one.what) for one in report.differences]


@contextmanager
def without_triggers(session: Session) -> Iterator[None]:
    """As an owner of the tables may: no trigger of ours runs, and each is there again afterwards."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(sa.text("SET LOCAL session_replication_role = replica"))
        yield
        session.execute(sa.text("SET LOCAL session_replication_role = origin"))
        return
    session.execute(sa.text("PRAGMA defer_foreign_keys = ON"))
    triggers = session.execute(sa.text("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")).all()
    for name, _ in triggers:
        session.connection().exec_driver_sql(f"DROP TRIGGER {name}")
    yield
    for _, text in triggers:
        session.connection().exec_driver_sql(text)


def found_after(world: World, *statements: str | Callable[[Session], object]) -> Changes:
    """What is named once the statements have run without a trigger; then all is taken back."""
    with world.database.write() as session:
        with without_triggers(session):
            for statement in statements:
                if callable(statement):
                    statement(session)
                else:
                    assert session.connection().exec_driver_sql(statement).rowcount, f"nothing was changed: {statement}"
        found = named(verify(session))
        session.rollback()
    return found
