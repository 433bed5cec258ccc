"""What is wrong with a command's arguments, in the product's words."""

from collections.abc import Sequence
from difflib import get_close_matches

import click

from leaderboard.errors import InvalidFields

__all__ = ["fields_problem", "usage_problem"]


def fields_problem(error: InvalidFields) -> str:
    """One line for everything that is wrong with a value: `closes at: give a moment after the opening`."""
    lines = [f"{name.replace('_', ' ')}: {text}" for name, messages in error.fields.items() for text in messages]
    return "\n".join(lines)


def usage_problem(error: click.UsageError) -> str:
    """`leaderboard user add: NAME is missing` and, under it, where to read on."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        return error.format_message()
    path = error.ctx.command_path if error.ctx is not None else "leaderboard"
    return f"{path}: {_problem(error)}\nSee {path} --help"


def _problem(error: click.UsageError) -> str:
    match error:
        case click.NoSuchOption():
            return f"there is no option {error.option_name}{_nearest(error.possibilities or [])}"
        case click.exceptions.NoSuchCommand():
            names = get_close_matches(error.command_name, _commands(error.ctx))
            return f"there is no command {error.command_name}{_nearest(names)}"
        case click.MissingParameter():
            return f"{_name(error)} is missing"
        case click.BadParameter():
            return f"{_name(error)}: {_lower(error.message)}"
        case _:
            return _lower(error.format_message())


def _commands(context: click.Context | None) -> Sequence[str]:
    """The commands of the group that was called."""
    if context is None or not isinstance(context.command, click.Group):
        return []
    return context.command.list_commands(context)


def _name(error: click.BadParameter) -> str:
    """An argument's capitals, or an option's long name."""
    if error.param is None:
        return str(error.param_hint or "a value")
    if isinstance(error.param, click.Option):
        return max(error.param.opts, key=len)
    return error.param.make_metavar(error.ctx) if error.ctx is not None else str(error.param.name).upper()


def _nearest(names: Sequence[str]) -> str:
    return f"; did you mean {' or '.join(names)}?" if names else ""


def _lower(text: str) -> str:
    """As part of a sentence: without capital, unless it is a name's (AQWV, RUN), and without full stop."""
    first = text[:1] if text[1:2].isupper() else text[:1].lower()
    return first + text[1:].removesuffix(".")
