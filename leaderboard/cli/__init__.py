"""The command `leaderboard`: what an organiser or an operator does without the site.

A command calls one service or one read. Its module is imported when it is asked for, so that `leaderboard score`
does not wait for the site's packages.
"""

import os
import sys
from collections.abc import Sequence

import click

from leaderboard import __version__
from leaderboard.cli.lazy import LazyGroup
from leaderboard.cli.wording import fields_problem, usage_problem
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
    "queries": ("material:queries", "The queries of an evaluation."),
    "judgments": ("material:judgments", "The judgments of an evaluation."),
    "submit": ("submissions:submit", "Submits a run."),
    "rescore": ("submissions:rescore", "Scores an evaluation's runs anew."),
}


@click.group(cls=LazyGroup, package="leaderboard.cli", commands_at=COMMANDS)
@click.version_option(__version__, message="leaderboard %(version)s")
def leaderboard() -> None:
    """An evaluation leaderboard for retrieval campaigns.

    \b
    leaderboard demo                               a site to look at, in one step
    leaderboard score RUN --judgments QRELS        score a file offline

    The commands that need a database read LEADERBOARD_DATABASE_URL (default: leaderboard.sqlite in this folder),
    those that need run files LEADERBOARD_STORE_URL (default: the folder store).
    """


def run(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; gives its exit status. What went wrong is said on stderr, in one place for all commands."""
    try:
        status = leaderboard.main(args=arguments, prog_name="leaderboard", standalone_mode=False)
    except click.UsageError as error:
        return _fail(usage_problem(error))
    except click.ClickException as error:
        return _fail(error.format_message())
    except InvalidFields as error:
        return _fail(fields_problem(error))
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
    sys.exit(run())


def _fail(message: str) -> int:
    click.echo(message, err=True)
    return FAILED
