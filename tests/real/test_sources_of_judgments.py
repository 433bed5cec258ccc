"""Two assessors' own judgments of Deep Learning 2019 beside the official ones: by each, figures are trec_eval's."""

import gzip
import re
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.audit.writes import present
from leaderboard.campaigns.models import Campaign
from leaderboard.db import Database
from leaderboard.evaluations import writes as evaluations
from leaderboard.formats import QueryRow, read_judgments, read_run
from leaderboard.history.reads import sources
from leaderboard.judgments import writes as judgments
from leaderboard.judgments import writes as queries
from leaderboard.worker.models import ScoringSet
from tests.support.world import build_world

RUNS = {"bm25base_p": "bm25base_p.judged.gz", "idst_bert_p1": "idst_bert_p1.judged.gz"}
ASSESSORS = {"froebe": "froebe", "sean-macavaney": "macavaney"}


def average_precision(report: Path) -> str:
    """As trec_eval prints it, over all queries."""
    found = re.search(r"^map\s+all\s+(\S+)", gzip.decompress(report.read_bytes()).decode(), re.MULTILINE)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("engine_name", ["sqlite"])
def test_by_each_source_of_judgments_figures_are_those_of_trec_eval(
    database: Database, shared_data: Path, tmp_path: Path, quick_hashes: None
) -> None:
    runs, others = shared_data / "trec-dl" / "2019", shared_data / "trec-dl" / "annotator-qrels"
    with closing(build_world(database, tmp_path, qrels=None)) as world:
        with database.write() as session:
            campaign = session.get_one(Campaign, world.campaign)
            made = evaluations.create_evaluation(
                session, CONSOLE, campaign, "dl", "Passages", "2019", documents=8_841_823, daily_quota=None
            )
            ids = sorted({query for name in RUNS.values() for query in read_run(runs / name).queries})
            queries.import_queries(session, CONSOLE, made, [QueryRow(query, "", ()) for query in ids])
            judgments.import_judgments(session, CONSOLE, made, read_judgments(runs / "qrels.txt"))
            for file, source in ASSESSORS.items():
                judged = read_judgments(others / f"{file}-qrels.txt")
                judgments.import_judgments(session, CONSOLE, made, judged, source=source)
            evaluation = made.id
        submitted = {
            run: world.submit((runs / name).read_bytes(), evaluation=evaluation, actor=CONSOLE)
            for run, name in RUNS.items()
        }
        world.drain()
        sets = {one.source: one.id for one in world.all(sa.select(ScoringSet))}
        for run, submission in submitted.items():
            official = average_precision(runs / RUNS[run].replace(".gz", ".trec_eval.txt.gz"))
            assert f"{world.mean(submission, sets['assessors'], 'AP'):.4f}" == official
            for file, source in ASSESSORS.items():
                report = others / f"{run}.on.{file}-qrels.trec_eval.txt.gz"
                assert f"{world.mean(submission, sets[source], 'AP'):.4f}" == average_precision(report)
        with database.read() as session:
            page = sources(session, CONSOLE, "small", "dl", present(), measure="AP")
        assert [one.source for one in page.sources] == ["assessors", "froebe", "macavaney"]
        by_ap = [order for one in page.agreements for order in one.orders if order.column.name == "AP"]
        assert [(order.systems, order.pairs) for order in by_ap] == [(2, 1), (2, 1)]
