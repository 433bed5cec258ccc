"""The page of a ranked list: what is folded, and how relevant documents are reached."""

import re

import numpy as np
import pytest
from flask import Flask

from leaderboard.db import Database
from leaderboard.results.pages import FOLDED
from leaderboard.store import RankedList
from leaderboard.submissions.writes.run_store import bind
from tests.support.field import Field
from tests.support.pages import table_of

LISTED = 150
RELEVANT = (5, 20, 100)  # ranks of d1, d2 and d3; all others but "d-judged" are not judged


@pytest.fixture
def address(app: Flask, database: Database) -> str:
    """Of the list of a run on q3, where d1, d2 and d3 are relevant."""
    qrels = "q1 0 d1 1\nq2 0 d1 1\nq3 0 d1 1\nq3 0 d2 1\nq3 0 d3 1\nq3 0 d-judged 0\nq4 0 d1 1\n"
    field = Field(database).campaign().evaluation(qrels=qrels)
    run = field.run("Alder", {"AP": [0.5] * 4, "P@5": [0.2] * 4})
    names = {**{rank: f"d{n}" for n, rank in enumerate(RELEVANT, 1)}, 50: "d-judged"}
    documents = tuple(names.get(rank, f"other-{rank}") for rank in range(1, LISTED + 1))
    bind(database, app.extensions["store"])
    lists = [(2, RankedList(documents, np.linspace(1, 0.1, LISTED)))]
    app.extensions["store"].keep_ranked_lists(run, 10, 4, lists)
    return f"/submissions/{run}/queries/q3"


def _ranks(page: str) -> list[str]:
    return re.findall(r'<td class="figure">([\d–]+)</td>', page)


def test_long_runs_of_lines_that_are_not_relevant_are_a_row_each_until_it_is_opened(app: Flask, address: str) -> None:
    browser = app.test_client()
    page = browser.get(address).text
    assert _ranks(page) == ["1", "2", "3", "4", "5", "6–19", "20", "21–99", "100", "101–150"]
    assert FOLDED == 10
    assert "14 not judged" in page
    assert "78 not judged, 1 not relevant" in page
    opened = browser.get(f"{address}?open=6").text
    assert _ranks(opened) == [*map(str, range(1, 21)), "21–99", "100", "101–150"]
    first, second = browser.get(f"{address}?open=all").text, browser.get(f"{address}?open=all&page=2").text
    assert _ranks(first) + _ranks(second) == [*map(str, range(1, LISTED + 1))]
    assert len(table_of(browser.get(f"{address}.csv"))) == LISTED


def test_each_relevant_document_leads_to_the_next_one_and_the_last_to_the_first(app: Flask, address: str) -> None:
    page = app.test_client().get(address).text
    assert '<a href="#relevant-5">First relevant document: rank 5</a>' in page
    steps = re.findall(r'<a id="relevant-(\d+)" href="#relevant-(\d+)"', page)
    assert steps == [("5", "20"), ("20", "100"), ("100", "5")]
