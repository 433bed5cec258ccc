"""`leaderboard trec_eval`: trec_eval's own arguments, and its output byte for byte."""

from pathlib import Path
from typing import Any, Literal

import click

from leaderboard.cli.offline import COMPAT, LEVEL
from leaderboard.cli.options import FILE, Whole


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("judgments", metavar="QRELS", type=FILE)
@click.argument("run", metavar="RUN", type=FILE)
@click.option("-m", "--measure", "wanted", multiple=True, metavar="MEASURE[.PARAMETERS]", help="A measure or a bundle.")
@click.option("-q", "--query_eval_wanted", "per_query", is_flag=True, help="Print every query too.")
@click.option("-n", "--nosummary", is_flag=True, help="Leave the figures over all queries out.")
@click.option("-c", "--complete_rel_info_wanted", "complete", is_flag=True, help="Average over all judged queries.")
@click.option("-l", "--level_for_rel", "level", type=LEVEL, default=1, metavar="N", help="Lowest relevant grade (1).")
@click.option("-M", "--Max_retrieved_per_topic", "depth", type=Whole(0), metavar="N", help="Cut lists here.")
@click.option("-J", "--Judged_docs_only", "judged_only", is_flag=True, help="Take unjudged documents out first.")
@click.option("-N", "--Number_docs_in_coll", "documents", type=Whole(1), metavar="N", help="Collection size.")
@COMPAT
def trec_eval(
    judgments: Path,
    run: Path,
    wanted: tuple[str, ...],
    documents: int | None,
    compat: Literal[9, 10],
    complete: bool,
    nosummary: bool,
    **options: Any,
) -> None:
    """Scores RUN against QRELS as trec_eval does.

    \b
    leaderboard trec_eval -q -c -m map -m P.5,10 qrels.txt run.txt

    All measures of its all_trec, with its parameters, and its bundles official (the default), set and all_trec. Not
    there: preference judgments, judgment groups (-R, -T) and z-scores (-Z). Files may be gzipped; CSV and JSON lines
    are read too, and for a run an archive of one file of decisions a query.
    """
    from leaderboard.cli.progress_bar import progress_bar
    from leaderboard.cli.trec_output import read_request, trec_lines
    from leaderboard.errors import BadInput
    from leaderboard.formats import read_judgments, read_run
    from leaderboard.metrics import Setting
    from leaderboard.scoring import prepare, score

    request = read_request(wanted, compat)
    qrels = read_judgments(judgments, name=str(judgments))
    with progress_bar([run]) as opened:
        lists = read_run(opened(run), name=str(run), format="trec_eval")
    both = set(qrels.queries) & set(lists.queries)
    if not both:
        raise BadInput(f"{run}: no query of this run has judgments in {judgments}")
    judged = prepare(qrels, qrels.queries if complete else both)
    level, per_query = options.pop("level"), options.pop("per_query")
    measures = [printed.at(level) for printed in request.measures]
    scored = score(lists, judged, measures, Setting(documents=documents, compat=compat), **options)
    how: Any = {"level": level, "compat": compat, "per_query": per_query, "complete": complete}
    click.echo("".join(trec_lines(scored, lists.tag, request, summary=not nosummary, **how)), nl=False)
