"""TREC-COVID's first round on a board: what NIST published is what the site shows.

Every run goes in through the form, is scored by the real worker, and is read back from the board's own file. The second
round is held against NIST's figures by `test_import_campaign.py`, and by `test_published_figures.py` without a board.
"""

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from werkzeug.datastructures import FileStorage
from werkzeug.test import encode_multipart

from leaderboard.access import CONSOLE, actor_of
from leaderboard.accounts import writes as people
from leaderboard.campaigns import writes as campaigns
from leaderboard.config import Config
from leaderboard.db import Database
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.rules import Opening
from leaderboard.formats import QueryRow, read_judgments
from leaderboard.judgments import writes as judgments
from leaderboard.judgments import writes as queries
from leaderboard.store import RunStore
from leaderboard.teams import writes as systems
from leaderboard.teams import writes as teams
from leaderboard.web.app import create_app
from leaderboard.worker.loop import drain
from tests.support.world import new_account, signed_in

DIGITS = 4  # as published
ROUNDS = (1,)
# Our name -> the column of NIST's leaderboard.csv in lower case.
PUBLISHED = {
    "AP": "map",
    "P@5": "p@5",
    "nDCG@10": "ndcg@10",
    "RBP(p=0.5, gain=scaled)": "rbp(p=.5)",
    "Bpref": "bpref",
}


def runs_of(folder: Path) -> list[Path]:
    return sorted(file for file in folder.glob("*.gz") if ".trec_eval" not in file.name)


def published(folder: Path) -> dict[str, dict[str, float]]:
    """Run -> measure -> NIST's figure."""
    lines = (folder / "leaderboard.csv").read_text(encoding="utf-8-sig").splitlines()
    figures = {}
    for row in csv.DictReader(line for line in lines if line.strip()):
        values = {name.lower().strip(): value for name, value in row.items()}
        run = values.get("run") or values["tag"]
        figures[run.strip()] = {ours: float(values[theirs]) for ours, theirs in PUBLISHED.items()}
    return figures


@pytest.fixture
def site(database_url: str, shared_data: Path, tmp_path: Path) -> Iterator[FlaskClient]:
    """The campaign with its rounds, signed in as a member of the one team that submits everything."""
    config = Config(
        database_url=database_url,
        store_url=str(tmp_path / "store"),
        secret_key="a secret of the tests only",
        secure_cookies=False,
    )
    app = create_app(config)
    database: Database = app.extensions["database"]
    with database.write() as session:
        user = people.create_user(session, CONSOLE, new_account("Participant"))
        actor = actor_of(session, user.id)
        team = teams.create_team(session, actor, "Everybody")
        campaign = campaigns.create_campaign(
            session, CONSOLE, "trec-covid", "TREC-COVID", measures=list(PUBLISHED), primary_measure="AP", compat=9
        )
        for number in ROUNDS:
            folder = shared_data / "trec-covid" / f"round{number}"
            judged = read_judgments(folder / "qrels.txt")
            made = evaluations.create_evaluation(
                session, CONSOLE, campaign, f"round{number}", f"Round {number}", f"Round {number}",
                period_key=number, details=Opening.ALWAYS, daily_quota=None,
            )  # fmt: skip
            by_number = sorted(judged.queries, key=int)  # trec_eval's order, in which sums run, is that of text
            queries.import_queries(session, CONSOLE, made, [QueryRow(query, "", ()) for query in by_number])
            judgments.import_judgments(session, CONSOLE, made, judged)
        actor = actor_of(session, user.id)
        for run in {run.name for number in ROUNDS for run in runs_of(shared_data / "trec-covid" / f"round{number}")}:
            systems.create_system(session, actor, team, systems.NewSystem(run.removesuffix(".gz")))
        token = signed_in(session, user.id)
    client = app.test_client()
    with client.session_transaction() as cookie:
        cookie["_user_id"] = token
    yield client
    database.close()


def submit(client: FlaskClient, address: str, run: Path) -> None:
    """As a browser does it: the form's own token and choices, then the file."""
    name = run.name.removesuffix(".gz")
    form = client.get(address).text
    token = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', form)
    system = re.search(rf'<option value="(\d+)">{re.escape(name)}</option>', form)
    assert token is not None
    assert system is not None
    fields = {"csrf_token": token[1], "system": system[1], "designation": "contrastive", "label": name}
    # Encoded here: the client itself would spool it to a file that it leaves open.
    boundary, body = encode_multipart({**fields, "run": FileStorage(io.BytesIO(run.read_bytes()), run.name)})
    answer = client.post(address, data=body, content_type=f'multipart/form-data; boundary="{boundary}"')
    assert answer.status_code == 302, answer.text


@pytest.mark.parametrize("engine_name", ["postgresql"])  # on SQLite `test_import_campaign` compares the same rounds
def test_the_boards_figures_are_those_that_nist_published(
    site: FlaskClient, shared_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in ROUNDS:
        for run in runs_of(shared_data / "trec-covid" / f"round{number}"):
            submit(site, f"/campaigns/trec-covid/round{number}/submit", run)
    extensions = site.application.extensions
    store: RunStore = extensions["store"]
    drain(extensions["database"], store, extensions["config"])

    compared = 0
    for number in ROUNDS:
        folder = shared_data / "trec-covid" / f"round{number}"
        official = published(folder)
        answer = site.get(f"/campaigns/trec-covid/round{number}.csv?show=all")
        board = {row["label"]: row for row in csv.DictReader(io.StringIO(answer.text))}
        assert set(board) == {run.name.removesuffix(".gz") for run in runs_of(folder)}
        for run, row in board.items():
            for measure in PUBLISHED:
                assert round(float(row[measure]), DIGITS) == official[run][measure], (number, run, measure)
                compared += 1
    with capsys.disabled():
        print(f"\n{compared} figures of TREC-COVID's rounds equal NIST's")
