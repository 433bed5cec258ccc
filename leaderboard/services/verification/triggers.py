"""Whether the database's triggers are those of the migrations, and no others."""

from collections.abc import Iterator

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import migrate
from leaderboard.services.verification.report import NOTHING, Report

__all__ = ["check_triggers"]


def check_triggers(session: Session, report: Report) -> None:
    """Compares triggers and their functions with what the migrations make; names whatever else comes between a
    statement and our tables: rewriting rules, row security, tables that inherit.
    """
    dialect = session.get_bind().dialect.name
    expected = {f"trigger {name}": _plain(text) for name, text in migrate.guards(dialect).items()}
    if dialect == "postgresql":
        expected |= {f"function {name}()": _plain(body) for name, body in migrate.guarding_functions().items()}
    report.triggers = len(expected)
    # Not by name: on PostgreSQL another table may have a trigger of the same one.
    found = list(_triggers_of_sqlite(session) if dialect == "sqlite" else _triggers_of_postgresql(session))
    missing = dict(expected.items() - set(found))
    for what, there in sorted(set(found) - expected.items()):
        report.add("the database", what, there, missing.pop(what, NOTHING))
    for what, wanted in sorted(missing.items()):
        report.add("the database", what, NOTHING, wanted)


def _triggers_of_sqlite(session: Session) -> Iterator[tuple[str, str]]:
    for name, text in session.execute(sa.text("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")):
        yield f"trigger {name}", _plain(text).removeprefix(f"CREATE TRIGGER {name} ")


def _triggers_of_postgresql(session: Session) -> Iterator[tuple[str, str]]:
    """Of triggers, of the functions that they call, of rewriting rules, which can turn a statement into nothing, and of
    what lets rows in, or hides rows, past all of them.
    """
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
                yield f"trigger of a foreign key of {table}", "disabled"
            continue
        rest = _plain(text).removeprefix(f"CREATE TRIGGER {name} ").replace(f"{schema}.", "")
        yield f"trigger {name}", rest if enabled == "O" else f"disabled: {rest}"
    path = f"search_path=pg_catalog, {schema}, pg_temp"
    functions = session.execute(
        sa.text(
            "SELECT p.proname, p.prosrc, array_to_string(p.proconfig, '; ') FROM pg_proc p"
            " WHERE p.pronamespace = current_schema()::regnamespace AND p.prorettype = 'trigger'::regtype"
        )
    )
    for name, body, settings in functions:
        yield (
            f"function {name}()",
            _plain(body) if settings == path else f"with {settings or 'no settings'}: {_plain(body)}",
        )
    inherits = session.execute(
        sa.text(
            "SELECT inhrelid::regclass::text, inhparent::regclass::text FROM pg_inherits"
            " JOIN pg_class c ON c.oid = inhrelid JOIN pg_class p ON p.oid = inhparent"
            " WHERE current_schema()::regnamespace IN (c.relnamespace, p.relnamespace) AND c.relkind <> 'i'"
        )
    )
    for child, parent in inherits:  # a parent's rows are its children's too, and no trigger of the parent runs for them
        yield f"table {child}", f"inherits from {parent}"
    for (table,) in session.execute(
        sa.text("SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relrowsecurity")
    ):
        yield f"row security of {table}", "on"
    for rule, definition in session.execute(
        sa.text("SELECT rulename, definition FROM pg_rules WHERE schemaname = current_schema()")
    ):
        yield f"rule {rule}", _plain(definition)


def _plain(text: str) -> str:
    return " ".join(text.split())
