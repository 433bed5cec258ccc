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
from tests.support.pages import table_of, text_of

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


THREE = "q1 0 d1 1\nq1 0 d2 1\nq1 0 d3 1\nq2 0 a 1\n"


def _listed(
    app: Flask, database: Database, decisions: list[bool] | None = None, qrels: str = THREE, **given: float
) -> str:
    """The page of a list of a, d1, b, d2 with scores 4 to 1, where d1, d2 and d3 are relevant."""
    field = Field(database).campaign().evaluation(qrels=qrels)
    run = field.run("Alder", {"AP": [0.5] * 4, "P@5": [0.2] * 4}, **given)
    bind(database, app.extensions["store"])
    kept = RankedList(("a", "d1", "b", "d2"), np.arange(4.0, 0, -1), None if decisions is None else np.array(decisions))
    app.extensions["store"].keep_ranked_lists(run, 10, 4, [(0, kept)])
    return app.test_client().get(f"/submissions/{run}/queries/q1").text


LINE = r'class="boundary".*?</tr>\s*<tr id="line-(\d+)"'  # and the first row below it


def test_a_line_stands_where_the_returned_documents_end_and_the_missed_ones_say_why(
    app: Flask, database: Database
) -> None:
    page = _listed(app, database, threshold=2.5)
    assert re.findall(LINE, page, re.DOTALL) == ["3"]
    words = text_of(page.partition("<main")[2].partition("</main>")[0])  # the footer's commit may hold "d3"
    assert "Threshold 2.5: documents below are not returned" in words
    assert (
        "Lists 4 documents, 2 of the 3 relevant documents among them, at ranks 2 and 4; 2 without a judgment. "
        "It returns 2 (score 2.5 or more), 1 of them relevant; 1 relevant document is below the threshold."
    ) in words
    assert "d2 relevant, grade 1 below the threshold, at rank 4" in words.partition("Missed because")[2]
    assert "d3" not in words  # the judgments are not public
    assert "Documents that the run does not list are named once the judgments are public." in words


@pytest.mark.parametrize(
    ("decisions", "line"),
    [([True, False, False, False], ["2"]), ([False, True, False, True], []), ([False] * 4, ["1"])],
)
def test_decisions_have_a_line_only_where_one_parts_them(
    app: Flask, database: Database, decisions: list[bool], line: list[str]
) -> None:
    page = _listed(app, database, decisions)
    assert re.findall(LINE, page, re.DOTALL) == line
    assert ("Decision N from here on: not returned" in page) == bool(line)
    assert ("not returned (decision N), at rank 2" in text_of(page)) == (not decisions[1])


def test_a_run_that_returns_all_that_it_lists_has_no_line(app: Flask, database: Database) -> None:
    page = _listed(app, database)
    assert 'class="boundary"' not in page
    assert "Lists 4 documents, 2 of the 3 relevant documents among them, at ranks 2 and 4" in text_of(page)
    assert "It returns" not in text_of(page)
    assert "Missed relevant documents" not in text_of(page)  # the judgments are not public


BOTH = "q1 0 d1 1\nq1 0 d2 1\nq2 0 a 1\n"
LISTS = "Lists 4 documents, "


@pytest.mark.parametrize(
    ("qrels", "decisions", "says"),
    [
        (BOTH, [True, True, False, False], "both relevant documents among them, at ranks 2 and 4;"),
        (BOTH, [True, True, False, False], "It returns 2 (decision Y), 1 of them relevant; the other is not returned"),
        (BOTH, [False] * 4, "It returns 0 (decision Y), none of them relevant; 2 relevant documents are not returned"),
        (BOTH, [True] * 4, "It returns 4 (decision Y), 2 of them relevant."),
        ("q1 0 d2 1\nq2 0 a 1\n", [True] * 4, "the relevant document among them, at rank 4;"),
        ("q1 0 d9 1\nq2 0 a 1\n", [True] * 4, "but not the relevant document; 4 without a judgment. It returns 4"),
        ("q1 0 d9 0\nq2 0 a 1\n", [True] * 4, "nothing is relevant on this query; 4 without"),
        ("q1 0 d9 1\nq1 0 d8 1\nq2 0 a 1\n", [True] * 4, "but none of the 2 relevant documents;"),
    ],
)  # fmt: skip
def test_one_sentence_says_what_is_listed_returned_and_missed(
    app: Flask, database: Database, qrels: str, decisions: list[bool], says: str
) -> None:
    page = text_of(_listed(app, database, decisions, qrels))
    assert says in page
    assert "Missed because" not in page  # the sentence has said it
