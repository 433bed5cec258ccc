"""Queries and judgments in the browser: a file, what it would change, and the yes."""

import re

import pytest
import sqlalchemy as sa

from leaderboard.judgments.models import JudgmentRevision, Query
from tests.support.pages import filled
from tests.web.conftest import BOTH, Reader, World, errors

QUERIES = "/organise/harbour/2025/queries"
JUDGMENTS = "/organise/harbour/2025/judgments"
FILE = "q1\tother words\nq9\tnew words\tlaw\n"


def fields_of(page: str) -> dict[str, str]:
    """The hidden fields of the form that says yes."""
    return filled(page.partition(">Import ")[0].rpartition("<form")[2], "method")


def texts(world: World) -> dict[str, str]:
    return {query.external_id: query.text for query in world.all(sa.select(Query))}


def revisions(world: World) -> list[tuple[int, str, int]]:
    rows = world.all(sa.select(JudgmentRevision).order_by(JudgmentRevision.number))
    return [(one.number, one.source, one.judgments) for one in rows]


@BOTH
def test_queries_are_written_only_after_the_yes_and_as_the_preview_said(organiser: Reader, world: World) -> None:
    before = texts(world)
    shown = organiser.send(f"{QUERIES}/preview", FILE, "more.tsv", field="file")
    assert shown.status_code == 200
    assert "other words" in shown.text
    assert texts(world) == before
    answer = organiser.post(f"{QUERIES}/import", **fields_of(shown.text))
    assert answer.location == QUERIES
    assert texts(world) == {**before, "q1": "other words", "q9": "new words"}
    assert "2 queries imported" in organiser.get(QUERIES)


def test_a_file_of_queries_with_problems_comes_back_with_each_line_and_writes_nothing(
    organiser: Reader, world: World
) -> None:
    before = texts(world)
    answer = organiser.send(f"{QUERIES}/preview", "q1\ta\nmy id\tb\nq1\tc\n", "bad.tsv", field="file")
    assert answer.status_code == 400
    assert "line 2: " in answer.text
    assert "is there twice (first on line 1)" in answer.text
    assert organiser.send(f"{QUERIES}/preview", None, field="file").status_code == 400
    assert texts(world) == before


def test_a_yes_to_what_is_no_longer_so_is_refused(organiser: Reader, world: World) -> None:
    agreed = fields_of(organiser.send(f"{QUERIES}/preview", FILE, field="file").text)
    other = fields_of(organiser.send(f"{QUERIES}/preview", "q1\tstill others\n", field="file").text)
    organiser.post(f"{QUERIES}/import", **other)
    answer = organiser.post(f"{QUERIES}/import", **agreed)
    assert answer.status_code == 409
    assert "have changed since" in answer.text
    assert texts(world)["q1"] == "still others"


@pytest.mark.parametrize("kept", ["", "eyJ1c2VyIjoxfQ.x.y"])
def test_a_yes_that_names_no_file_of_ours_writes_nothing(organiser: Reader, world: World, kept: str) -> None:
    before = texts(world)
    agreed = fields_of(organiser.send(f"{QUERIES}/preview", FILE, field="file").text)
    answer = organiser.post(f"{QUERIES}/import", **{**agreed, "kept": kept})
    assert answer.status_code == 400
    assert "choose it again" in answer.text
    assert texts(world) == before


def test_queries_are_excluded_with_a_reason_hidden_and_taken_back(organiser: Reader, world: World) -> None:
    refused = organiser.post(f"{QUERIES}/change", query="q1", action="exclude", because=" ")
    assert (refused.status_code, errors(refused.text)) == (400, {"because"})
    assert re.search(r'value="q1"[^>]* checked', refused.text)
    assert organiser.post(f"{QUERIES}/change", action="exclude", because="x").status_code == 400
    assert organiser.post(f"{QUERIES}/change", query="q1", action="burn").status_code == 400
    assert organiser.post(f"{QUERIES}/change", query="elsewhere", action="hide").status_code == 400
    assert organiser.post(f"{QUERIES}/change", query="q1", action="exclude", because="garbled").location == QUERIES
    assert organiser.post(f"{QUERIES}/change", query="q2", action="hide").location == QUERIES
    page = organiser.get(QUERIES)
    assert "1 hidden, 1 excluded" in page
    assert "garbled" in page
    organiser.post(f"{QUERIES}/change", query="q1", action="include")
    organiser.post(f"{QUERIES}/change", query="q2", action="show")
    assert "excluded" not in organiser.get(QUERIES).split("<tbody>")[1].split("</tbody>")[0]


@BOTH
def test_judgments_are_written_only_after_the_yes_and_as_the_preview_said(organiser: Reader, world: World) -> None:
    file = "q1 0 d1 0\nq1 0 d2 0\nq1 0 d9 -1\nq2 0 d4 1\n"
    shown = organiser.send(
        f"{JUDGMENTS}/preview", file, "qrels.txt", field="file", holds="judgments", note="adjudicated"
    )
    assert shown.status_code == 200
    # q1 d1 was 1; q1 d9 is new; q1 d3, q2 d1 and q3 d5 go.
    assert "1 added, 3 removed, 1 from grade 1 to 0" in shown.text
    assert "1 query has no judgment in the file: " in shown.text
    assert "1 query has nothing relevant: " in shown.text
    assert "1 judgment has a grade below 0: never relevant" in shown.text
    assert revisions(world) == [(1, "assessors", 6)]
    assert organiser.post(f"{JUDGMENTS}/import", **fields_of(shown.text)).location == JUDGMENTS
    assert revisions(world) == [(1, "assessors", 6), (2, "assessors", 4)]
    assert "adjudicated" in organiser.get(JUDGMENTS)


def test_a_missing_number_of_documents_is_said_before_the_upload(organiser: Reader, world: World) -> None:
    assert "number of documents" not in organiser.get(JUDGMENTS)
    with world.database.write() as session:  # as before its judgments came
        campaign, evaluation = (session.get_one(type(row), row.id) for row in (world.campaign, world.evaluation))
        campaign.beta, campaign.measures, evaluation.documents, evaluation.draft = 20, ["AP", "AQWV"], None, True
    page = organiser.get(JUDGMENTS)
    assert "AQWV needs the number of documents in the collection." in page
    assert '<a href="/organise/harbour/2025/settings#documents">Give the number of documents</a>' in page
    assert 'type="file"' not in page


def test_several_files_make_one_revision_of_a_source_of_its_own(organiser: Reader, world: World) -> None:
    first = organiser.send(f"{JUDGMENTS}/preview", "q1 0 d1 1\n", field="file", holds="judgments", source="second-lab")
    assert "beside the official one" in first.text
    agreed = {name: value for name, value in fields_of(first.text).items() if name != "state"}
    both = organiser.send(f"{JUDGMENTS}/preview", "q1 1 d1 1\nq1 2 d2 1\n", field="file", holds="subtopics", **agreed)
    assert re.search(r"Of subtopics</dt><dd>2<", both.text)
    organiser.post(f"{JUDGMENTS}/import", **fields_of(both.text))
    assert revisions(world)[1:] == [(2, "second-lab", 1)]
    assert organiser.post(f"{JUDGMENTS}/official", source="nobody").status_code == 409
    assert organiser.post(f"{JUDGMENTS}/official", source="second-lab").location == JUDGMENTS
    assert "Boards use the judgments of <strong>second-lab</strong>" in organiser.get(JUDGMENTS)
    taken = organiser.post(f"{JUDGMENTS}/rename", source="second-lab", name="assessors")
    assert taken.status_code == 400
    assert organiser.post(f"{JUDGMENTS}/rename", source="second-lab", name="third-lab").location == JUDGMENTS
    assert organiser.post(f"{JUDGMENTS}/remove", source="third-lab").status_code == 409
    assert organiser.post(f"{JUDGMENTS}/remove", source="assessors").location == JUDGMENTS
    assert revisions(world) == [(2, "third-lab", 1)]
