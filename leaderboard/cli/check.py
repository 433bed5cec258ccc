"""`leaderboard check`: what would become of a run, before it counts."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from leaderboard.cli.options import ANY_NUMBER, FILE, Place, PlaceType, client_at

if TYPE_CHECKING:
    from leaderboard.submissions.rules.checks import Checked, Looked

EXIT = {True: 0, False: 1, None: 3}  # what is said of the file -> exit status
NOT_NOW = 4  # of one that is sound, at a moment at which no run is taken


@click.command()
@click.argument("run", type=FILE)
@click.option(
    "--evaluation", metavar="CAMPAIGN/EVALUATION", type=PlaceType(), help="Hold it against an evaluation of this site."
)
@click.option("--queries", "query_file", type=FILE, help="The queries that the run should answer.")
@click.option("--documents", type=FILE, help="The collection's document ids, one a line.")
@click.option("--document-pattern", default="", help="What document ids look like, such as 'doc-[0-9]{1,6}'.")
@click.option("--threshold", type=ANY_NUMBER, help="θ, as you would give it with the run.")
@click.option("--server", envvar="LEADERBOARD_SERVER", metavar="URL", help="Ask this site, through its API.")
@click.option("--token-file", type=FILE, help="The file with your API token there (else LEADERBOARD_TOKEN).")
@click.pass_context
def check(
    context: click.Context,
    /,
    run: Path,
    evaluation: Place | None,
    threshold: float | None,
    server: str | None,
    token_file: Path | None,
    **collection: Any,
) -> int:
    """Say what would become of a run: problems, grouped; queries, depth and documents; what is most likely a slip.

    \b
    leaderboard check run.gz
    leaderboard check run.gz --queries queries.tsv --documents ids.txt.gz
    leaderboard check run.gz --evaluation harbour/2026-text
    leaderboard check run.gz --evaluation harbour/2026-text --server https://leaderboard.example --token-file token.txt

    Nothing is kept. With --server nothing but the token is needed here, and the site says what its page would. The
    exit status is 0 when nothing speaks against submitting it; 1 when it would be rejected, when a field of the form
    would not take what it says of itself, when the site would ask whether it is meant so, or when it has queries that
    are not asked; 2 when it can't be checked; 3 when the site can't say, since all that speaks against it are queries
    that may be hidden ones, or since the file is so long that the site looked at its beginning only (without --server
    all of it is looked at); 4 when nothing in the file speaks against it, and it would not be taken now: the evaluation
    is not open yet, has closed or is archived, or the quota is spent.
    """
    if evaluation is not None and any(collection.values()):
        raise click.UsageError("an evaluation has queries and documents of its own; give it alone")
    if evaluation is None and context.get_parameter_source("server") is ParameterSource.COMMANDLINE:
        raise click.UsageError("a site holds a run against an evaluation; name it: --evaluation CAMPAIGN/EVALUATION")
    if token_file is not None and server is None:
        raise click.UsageError("--token-file is for --server; on this installation itself no token is needed")
    if evaluation is not None and server is not None:
        from leaderboard.cli.output import counting_bar

        with counting_bar(run.stat().st_size, "Sending") as bar:
            answer = client_at(server, token_file).check(str(evaluation), run, threshold=threshold, tell=bar)
        click.echo("\n".join(answer["in_words"]))
        return _exit_status(answer["is_sound"], answer["refused_now"])
    checked = _alone(run, threshold, **collection) if evaluation is None else _against(run, evaluation, threshold)
    click.echo("\n".join(checked.in_words))
    return _exit_status(checked.is_sound, checked.refused_now)


def _exit_status(is_sound: bool | None, refused_now: str) -> int:
    return NOT_NOW if is_sound and refused_now else EXIT[is_sound]


def _all_of(run: Path) -> "Looked":
    """The file with all of its text."""
    from leaderboard.formats import Limits
    from leaderboard.submissions.rules.checks import look_at

    most = Limits().expanded_bytes
    return look_at(run, run.name, most, most)


def _alone(
    run: Path, threshold: float | None, *, query_file: Path | None, documents: Path | None, document_pattern: str
) -> "Checked":
    """Holds a file against what is said of the collection."""
    from leaderboard.formats import FileRules, RunRules, document_list, read_queries
    from leaderboard.submissions.rules.checks import Expected, check_run

    listed = document_list(documents) if documents is not None else None
    rules = FileRules(document_pattern=document_pattern, documents=listed.count if listed else 0)
    asked = tuple(row.id for row in read_queries(query_file)) if query_file is not None else None
    expected = Expected(queries=asked, rules=RunRules(rules, asked or (), listed.packed if listed else None))
    return check_run(_all_of(run), expected, threshold=threshold, everything=True)[0]


def _against(run: Path, place: Place, threshold: float | None) -> "Checked":
    """Holds a file against an evaluation, as the command line knows it."""
    import datetime as dt

    from leaderboard.access import CONSOLE
    from leaderboard.cli.database import reading
    from leaderboard.evaluations.reads.find import find_evaluation
    from leaderboard.submissions.reads.form import completed, expected_of
    from leaderboard.submissions.rules.checks import check_run

    now = dt.datetime.now(dt.UTC)
    with reading() as session:
        evaluation = find_evaluation(session, CONSOLE, *place)
        expected = expected_of(session, CONSOLE, evaluation, now)
        looked = _all_of(run)
        found, read = check_run(looked, expected, threshold=threshold, everything=True)
        return completed(session, CONSOLE, evaluation.id, found, read, looked.text_sha256, (), now)
