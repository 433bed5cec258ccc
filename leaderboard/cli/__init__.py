"""The command `leaderboard`: what an organiser or an operator does without the site.

A command calls one service or one read. Its module is imported when it is asked for, so that `leaderboard score`
does not wait for the site's packages.
"""

import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import click

from leaderboard import __version__
from leaderboard.config import Config
from leaderboard.errors import InvalidFields, LeaderboardError

__all__ = ["leaderboard", "main", "run"]

OK, FAILED, INTERRUPTED = 0, 2, 130

COMMANDS = {
    "demo": ("demo:demo", "The site, a worker and the demonstration campaigns on this machine."),
    "serve": ("serve:serve", "The site."),
    "worker": ("worker:worker", "Scores what is submitted."),
    "score": ("score:score", "Scores run files offline: no database, no site."),
    "trec_eval": ("trec_eval:trec_eval", "trec_eval's own arguments and output."),
    "curves": ("curves:curves", "A run's curves as columns: sweep, oracle, recall, rank."),
    "agreement": ("agreement:agreement", "How much two runs agree, query by query."),
    "db": ("database:db", "Brings the database's tables up to date."),
    "user": ("users:user", "Accounts."),
    "team": ("teams:team", "Teams and who is in them."),
    "campaign": ("campaigns:campaign", "Campaigns: measures, prior and β, organisers."),
    "evaluation": ("evaluations:evaluation", "Evaluations: dates, collection, what is visible."),
    "queries": ("imports:queries", "The queries of an evaluation."),
    "judgments": ("imports:judgments", "The judgments of an evaluation."),
    "submit": ("submissions:submit", "Submits a run."),
    "rescore": ("submissions:rescore", "Scores an evaluation's runs anew."),
}


class _LazyGroup(click.Group):
    """`commands_at` maps a command's name to ("module:attribute" below `package`, one line for the list)."""

    def __init__(self, *args: Any, package: str, commands_at: Mapping[str, tuple[str, str]], **options: Any) -> None:
        super().__init__(*args, **options)
        self._package = package
        self._commands_at = dict(commands_at)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        return list(self._commands_at)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  # click's signature
        place, _ = self._commands_at.get(cmd_name, (None, None))
        if place is None:
            return None
        module, attribute = place.split(":")
        command: click.Command = getattr(importlib.import_module(f"{self._package}.{module}"), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  # click's signature
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in self._commands_at.items()])
        with formatter.section("Settings, from the environment"):
            formatter.write_dl(Config.described())


@click.group(cls=_LazyGroup, package="leaderboard.cli", commands_at=COMMANDS)
@click.version_option(__version__, message="leaderboard %(version)s")
def leaderboard() -> None:
    """An evaluation leaderboard for retrieval campaigns.

    \b
    leaderboard demo                               a site to look at, in one step
    leaderboard score RUN --judgments QRELS        score a file offline
    """


def run(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; gives its exit status. What went wrong is said on stderr, in one place for all commands."""
    try:
        status = leaderboard.main(args=arguments, prog_name="leaderboard", standalone_mode=False)
    except click.UsageError as error:
        return _fail(_usage_problem(error))
    except click.ClickException as error:
        return _fail(error.format_message())
    except InvalidFields as error:
        return _fail(_fields_problem(error))
    except LeaderboardError as error:
        return _fail(error.message)
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has had enough (`| head`). Python would complain once more when it flushes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except OSError as error:
        if error.filename is None:
            raise
        return _fail(f"{error.filename}: {error.strerror}")
    return status if isinstance(status, int) else OK


def main() -> None:
    """The `leaderboard` command: runs it and leaves with its exit status."""
    sys.exit(run())


def _fail(message: str) -> int:
    click.echo(message, err=True)
    return FAILED


def _fields_problem(error: InvalidFields) -> str:
    """One line for everything that is wrong with a value: `closes at: give a moment after the opening`."""
    lines = [f"{name.replace('_', ' ')}: {text}" for name, messages in error.fields.items() for text in messages]
    return "\n".join(lines)


def _usage_problem(error: click.UsageError) -> str:
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
