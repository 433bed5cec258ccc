"""Whether the database's triggers are those of the migrations, and no others."""

from collections.abc import Iterator

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import migrate
from leaderboard.services.verification.report import NOTHING, Report

__all__ = ["check_triggers"]


def check_triggers(session: Session, report: Report) -> None:
    """Compares triggers, their functions and rewriting rules with what the migrations make."""
    dialect = session.get_bind().dialect.name
    expected = migrate.guards(dialect)
    found = dict(_triggers_of_sqlite(session) if dialect == "sqlite" else _triggers_of_postgresql(session))
    if dialect == "postgresql":
        expected = expected | {f"{name}()": _plain(body) for name, body in migrate.guarding_functions().items()}
    report.triggers = len(expected)
    for name in sorted(expected.keys() | found.keys()):
        wanted, there = _plain(expected.get(name, NOTHING)), found.get(name, NOTHING)
        if wanted != there:
            report.add("the database", f"trigger {name}", there, wanted)


def _triggers_of_sqlite(session: Session) -> Iterator[tuple[str, str]]:
    for name, text in session.execute(sa.text("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")):
        yield name, _plain(text).removeprefix(f"CREATE TRIGGER {name} ")


def _triggers_of_postgresql(session: Session) -> Iterator[tuple[str, str]]:
    """Of triggers, of the functions that they call, and of rewriting rules: these can turn a statement into nothing."""
    schema = session.scalar(sa.text("SELECT quote_ident(current_schema())"))
    triggers = session.execute(
        sa.text(
            "SELECT t.tgname, pg_get_triggerdef(t.oid), t.tgenabled, t.tgisinternal, c.relname FROM pg_trigger t"
            " JOIN pg_class c ON c.oid = t.tgrelid WHERE c.relnamespace = current_schema()::regnamespace"
        )
    )
    for name, text, enabled, internal, table in triggers:
        if internal:
            if enabled != "O":
                yield f"of a foreign key of {table}", "disabled"
            continue
        rest = _plain(text).removeprefix(f"CREATE TRIGGER {name} ").replace(f"{schema}.", "")
        yield name, rest if enabled == "O" else f"disabled: {rest}"
    path = f"search_path=pg_catalog, {schema}, pg_temp"
    functions = session.execute(
        sa.text(
            "SELECT p.proname, p.prosrc, array_to_string(p.proconfig, '; ') FROM pg_proc p"
            " WHERE p.pronamespace = current_schema()::regnamespace AND p.prorettype = 'trigger'::regtype"
        )
    )
    for name, body, settings in functions:
        yield f"{name}()", _plain(body) if settings == path else f"with {settings or 'no settings'}: {_plain(body)}"
    for rule, definition in session.execute(
        sa.text("SELECT rulename, definition FROM pg_rules WHERE schemaname = current_schema()")
    ):
        yield f"rule {rule}", _plain(definition)


def _plain(text: str) -> str:
    return " ".join(text.split())
