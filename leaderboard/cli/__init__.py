"""The command `leaderboard`: what an organiser or an operator does without the site.

A command calls one service or one read. Its module is imported when it is asked for, so that `leaderboard score`
does not wait for the site's packages.
"""

import errno
import gc
import importlib
import os
import sys
from collections.abc import Sequence

import click
from click.shell_completion import CompletionItem

from leaderboard import version
from leaderboard.errors import LeaderboardError, NoDatabase, NoStore

OK, FAILED, INTERRUPTED = 0, 2, 130

COMMANDS = {  # name: (the module that has the command, its line in the list)
    "demo": ("demo", "The site, a worker and the demonstration campaigns on this machine."),
    "init": ("operating", "A new installation: settings, database, store, an admin."),
    "serve": ("serve", "The site."),
    "worker": ("worker", "Scores what is submitted."),
    "score": ("score", "Scores run files offline: no database, no site."),
    "trec_eval": ("trec_eval", "trec_eval's own arguments and output."),
    "check": ("check", "Says what would become of a run, before it counts."),
    "curves": ("runs", "A run's curves as columns: sweep, oracle, recall, rank."),
    "agreement": ("runs", "How much two runs agree, query by query."),
    "opinion": ("opinion", "What the values of any board can tell of its systems."),
    "baseline": ("baseline", "A run of BM25 or tf-idf over a collection of documents."),
    "fuse": ("runs", "One run made of several: reciprocal ranks, CombSUM."),
    "db": ("database", "Brings the database's tables up to date."),
    "store": ("store", "Copies the run files into another folder or bucket."),
    "user": ("users", "Accounts."),
    "mail": ("users", "The mails of the site: what waits, what could not be sent."),
    "team": ("operations", "Teams and who is in them."),
    "campaign": ("operations", "Campaigns: measures, prior and β, organisers."),
    "evaluation": ("operations", "Evaluations: dates, collection, what is visible."),
    "form": ("operations", "What a submission form asks: fields, agreements, file rules."),
    "queries": ("operations", "The queries of an evaluation."),
    "judgments": ("operations", "The judgments of an evaluation."),
    "import-campaign": ("transfer", "A campaign of past years, from files."),
    "export": ("transfer", "A campaign as files."),
    "freeze": ("freeze", "A closed evaluation as pages and files that need no server."),
    "submit": ("submissions", "Submits a run."),
    "submission": ("operations", "Lists runs; hides, disqualifies, withdraws one; which stands."),
    "system": ("operations", "Systems: baselines, descriptions, links."),
    "trail": ("operations", "Who did what in a campaign."),
    "status": ("operating", "What is going on: queue, workers, mails, last backup."),
    "doctor": ("operating", "What is wrong with the installation, and what to do."),
    "verify": ("verify", "Whether what is on record is what this program wrote."),
    "backup": ("backup", "The whole installation in one file, while the site runs."),
    "restore": ("backup", "A new installation from a backup."),
    "rescore": ("operations", "Scores an evaluation's runs anew."),
}


class _Commands(click.Group):
    """The group of COMMANDS: each is an attribute of its module, which is imported when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  # click's signature
        if cmd_name not in COMMANDS:
            return None
        module, about = COMMANDS[cmd_name]
        gc.disable()  # nothing that is imported is garbage: looking for it takes a sixth of the time, for the site
        imported = importlib.import_module(f"leaderboard.cli.{module}")
        gc.freeze()  # else every third page with many rows waits for a look at all that is imported
        gc.enable()
        command: click.Command = (
            imported.group(cmd_name, about) if module == "operations" else getattr(imported, cmd_name.replace("-", "_"))
        )
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Names from the list: click's own would import every command, also those that a plain install has not."""
        items = (CompletionItem(name, help=about) for name, (_, about) in COMMANDS.items())
        names = [item for item in items if item.value.startswith(incomplete)]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  # click's signature
        from leaderboard.config import Config

        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])
        with formatter.section("Settings, from the environment"):
            formatter.write_dl(Config.described())


def _say_version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:  # click's signature
    if asked:
        click.echo(f"leaderboard {version.build()}")
        ctx.exit()


@click.group(cls=_Commands)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_say_version, help="Show the version."
)
def leaderboard() -> None:
    """An evaluation leaderboard for retrieval campaigns.

    \b
    leaderboard demo                               a site to look at, in one step
    leaderboard score RUN --judgments QRELS        score a file offline
    """


def run(arguments: Sequence[str]) -> int:
    """Runs one command and returns its exit status. Errors of all commands are printed here, on stderr."""
    try:
        status = leaderboard.main(args=arguments, prog_name="leaderboard", standalone_mode=False)
    except (click.ClickException, LeaderboardError) as error:
        return _fail(_message(error, arguments), arguments)
    except (click.Abort, KeyboardInterrupt) as error:
        if isinstance(error.__context__, EOFError):
            click.echo("\nnobody answers here: give what is asked for as an option", err=True)
        return INTERRUPTED
    except ModuleNotFoundError as error:  # in a plain install, which has what scoring files needs
        if not error.name or error.name.partition(".")[0] == __package__.partition(".")[0]:
            raise
        lacks = f"this needs the site's packages ({error.name}): pip install 'retrieval-leaderboard[site]'"
        return _fail(lacks, arguments)
    except OSError as error:
        if error.filename is None and error.errno != errno.ENOSPC:
            raise
        return _fail(f"{error.filename or 'the output'}: {error.strerror}", arguments)
    return status if isinstance(status, int) else OK


def main() -> None:
    """The `leaderboard` command: runs it and leaves with its exit status."""
    try:
        status = run(sys.argv[1:])
    finally:  # a process of the site ends within its command
        gc.freeze()  # Python would search all that is left for garbage before it ends: a third of a second for the site
    sys.exit(status)


def _message(error: click.ClickException | LeaderboardError, arguments: Sequence[str]) -> str:
    match error:
        case click.UsageError() if not isinstance(error, click.exceptions.NoArgsIsHelpError):
            path = error.ctx.command_path if error.ctx else "leaderboard"
            return f"{path}: {error.format_message()}\nSee {path} --help"
        case click.ClickException():
            return error.format_message()
        case NoDatabase() | NoStore():
            return error.in_full
        case _:
            return _fields_problem(error, arguments) if error.fields else error.message


def _fail(message: str, arguments: Sequence[str]) -> int:
    if os.environ.get("LEADERBOARD_LOG") == "json" and arguments and arguments[0] in {"serve", "worker"}:
        import logging  # here, since the commands that score files start without

        from leaderboard.config import Config
        from leaderboard.operating import logs

        logs.set_up(Config(log="json"))  # whatever keeps them from starting, such as a setting
        logging.getLogger("leaderboard").error(message)
    else:
        click.echo(message, err=True)
    return FAILED


def _fields_problem(error: LeaderboardError, arguments: Sequence[str]) -> str:
    """A line for each problem, under the option that gives the field: `--closes: give a moment after the opening`."""
    command: click.Command | None = leaderboard
    context, words = click.Context(leaderboard), iter(arguments)
    while isinstance(command, click.Group):
        command = command.get_command(context, next(words, ""))
    labels = {
        name: label_of(parameter)
        for parameter in (command.params if command else ())
        for name in (parameter.name, *parameter.human_readable_name.lower().split("/"))
    }
    lines = [f"{labels.get(name, name)}: {text}" for name, messages in error.fields.items() for text in messages]
    return "\n".join(lines)


def label_of(parameter: click.Parameter) -> str:
    """What a person calls it: an option's long name, an argument's capitals."""
    return next((name for name in parameter.opts if name.startswith("--")), parameter.human_readable_name)
