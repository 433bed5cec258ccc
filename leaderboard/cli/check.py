"""`leaderboard check`: what would become of a run, before it counts."""

from pathlib import Path
from typing import Any

import click

from leaderboard.cli import options
from leaderboard.cli.options import FILE, counting_bar, option, refuse_if

EXIT = {True: 0, False: 1, None: 3}  # what is said of the file -> exit status
NOT_NOW = 4  # of one that is sound, at a moment at which no run is taken


@click.command()
@click.argument("run", type=FILE)
@option("--evaluation", "Hold it against one of this site.", options.EVALUATION)
@option("--queries query_file", "The queries that the run should answer.", FILE)
@option("--documents", "The collection's document ids, one a line.", FILE)
@option("--document-pattern", "What document ids look like, such as 'doc-[0-9]{1,6}'.", default="")
@option("--threshold", "θ, as you would give it with the run.", options.ANY_NUMBER)
@options.AT_SERVER
@click.pass_context
def check(
    context: click.Context,
    /,
    run: Path,
    evaluation: str | None,
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
    that may be hidden ones, or since the file is so long that the site looked at its beginning only (without
    --evaluation all of it is looked at); 4 when nothing in the file speaks against it, and it would not be taken now:
    the evaluation is not open yet, has closed or is archived, or the quota is spent.
    """
    own = "an evaluation has queries and documents of its own; give it alone"
    refuse_if(evaluation and any(collection.values()), own)
    which = "a site holds a run against an evaluation; name it: --evaluation CAMPAIGN/EVALUATION"
    refuse_if(not evaluation and "server" in options.given_on_line(context), which)
    if evaluation is None:
        checked = _alone(run, threshold, **collection)
        said = {name: getattr(checked, name) for name in ("in_words", "is_sound", "refused_now")}
    else:
        if server is not None:
            client = options.client_at(server, token_file)
        else:  # whose modules a site's client need not wait for
            from leaderboard.cli.operations import client_of

            client = client_of("submission", None, token_file)
        with counting_bar(run.stat().st_size, "Sending") as bar:
            said = client.check(evaluation, run, threshold=threshold, tell=bar)
    click.echo("\n".join(said["in_words"]))
    return NOT_NOW if said["is_sound"] and said["refused_now"] else EXIT[said["is_sound"]]


def _alone(
    run: Path, threshold: float | None, *, query_file: Path | None, documents: Path | None, document_pattern: str
) -> Any:
    """Holds a file against what is said of the collection."""
    from leaderboard.formats import FileRules, Limits, RunRules, document_list, read_queries
    from leaderboard.submissions.rules import Expected, check_file

    listed = document_list(documents) if documents is not None else None
    rules = FileRules(document_pattern=document_pattern, documents=listed.count if listed else 0)
    queries = tuple(row.id for row in read_queries(query_file)) if query_file is not None else None
    expected = Expected(queries=queries, rules=RunRules(rules, queries or (), listed.packed if listed else None))
    return check_file(run, run.name, expected, Limits().expanded_bytes, threshold=threshold, everything=True)[0]
