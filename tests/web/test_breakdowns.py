"""Systems across conditions and by tag, as pages, as files and for programs."""

import re

import pytest
from flask import Flask
from flask.testing import FlaskClient

from leaderboard.db import Database
from leaderboard.submissions.rules import SystemKind
from tests.support.field import Field
from tests.support.pages import table_of, text_of

ACROSS = "/campaigns/news/across"
TAGS = "/campaigns/news/text/tags"


@pytest.fixture
def visitor(app: Flask, database: Database) -> FlaskClient:
    """Of a year of text and speech with three systems, one of them in text only, and a baseline."""
    field = Field(database).campaign()
    for slug in ("text", "speech"):
        tags = (["law"], ["law", "long"], ["long"], [])
        field.evaluation(slug, tags=tags, condition=slug.title(), period="2026", period_key=2026)
    for system, text, speech in (("Alder", 0.5, 0.25), ("Birch", 0.375, 0.5), ("Cedar", 0.75, None)):
        field.run(system, {"AP": [text, text, text / 2, text], "P@5": [0.2] * 4}, evaluation="text")
        if speech is not None:
            field.run(system, {"AP": [speech] * 4, "P@5": [0.4] * 4}, evaluation="speech")
    for slug in ("text", "speech"):
        field.run("Terms", {"AP": [0.125] * 4, "P@5": [0.0] * 4}, evaluation=slug, kind=SystemKind.BASELINE)
    return app.test_client()


def systems(answer: str) -> list[str]:
    """The systems of a page's table, in their order."""
    return re.findall(r'<th scope="row" title="([^"]+)"', answer)


def test_the_page_names_who_leads_the_mean_and_each_condition_and_what_a_system_lacks(visitor: FlaskClient) -> None:
    page = text_of(visitor.get(ACROSS).text)
    assert "Birch has the highest mean AP over 2 conditions, 0.414, and is first in 1 of 2 conditions." in page
    assert "First in Text: Cedar. 2 of 3 systems have all conditions." in page
    assert "Systems that lack a condition have no mean and no rank." in page
    assert "( 0.656 )" not in page
    gaps = text_of(visitor.get(f"{ACROSS}?gaps=yes").text)
    assert "( 0.656 )" in gaps
    assert "They have no rank and stand below" in gaps


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("", "Birch Alder Terms Cedar"),
        ("-mean", "Terms Alder Birch Cedar"),
        ("in:text", "Cedar Alder Birch Terms"),
        ("-in:speech", "Terms Alder Birch Cedar"),
        ("ranks", "Birch Alder Terms Cedar"),
        ("-lacking", "Cedar Birch Alder Terms"),
        ("system", "Alder Birch Cedar Terms"),
    ],
)
def test_the_table_sorts_by_any_column(visitor: FlaskClient, sort: str, order: str) -> None:
    assert systems(visitor.get(ACROSS, query_string={"sort": sort}).text) == order.split()


def test_a_column_or_a_period_that_there_is_not_is_refused(visitor: FlaskClient) -> None:
    for asked in ("sort=in:nothing", "period=1999", "measure=RR"):
        assert visitor.get(f"{ACROSS}?{asked}").status_code == 400
    assert visitor.get(f"{TAGS}?sort=lacking").status_code == 400


def test_files_have_every_figure_rank_and_run_and_papers_the_figures(visitor: FlaskClient) -> None:
    birch, alder, terms, cedar = table_of(visitor.get(f"{ACROSS}.csv"))
    assert (birch["system"], birch["rank"], birch["mean_rank"], birch["lacking"]) == ("Birch", "1", "2.0", "0")
    assert (birch["text mean"], birch["text rank"], birch["speech rank"]) == ("0.328125", "3", "1")
    assert (cedar["mean"], cedar["rank"], cedar["partial"], cedar["speech mean"]) == ("", "", "0.65625", "")
    assert (terms["rank"], terms["text rank"], alder["speech mean"]) == ("", "", "0.25")
    assert visitor.get(f"/submissions/{birch['speech submission']}").status_code == 200
    lines = visitor.get(f"{ACROSS}.md").text.splitlines()
    assert lines[0] == "| Rank | System | Mean ↑ | Speech ↑ | Text ↑ |"
    assert lines[2] == "| 1 | Birch | **0.414** | **0.500** | 0.328 |"
    assert "| – | Cedar | – | – | **0.656** |" in lines
    with_gaps = visitor.get(f"{ACROSS}.md?gaps=yes").text
    assert "| – | Cedar | (0.656) | – | **0.656** |" in with_gaps.splitlines()
    assert "Means in parentheses are over the conditions that a system has." in with_gaps
    by_tag = {row["system"]: row for row in table_of(visitor.get(f"{TAGS}.csv"))}
    assert (by_tag["Cedar"]["mean"], by_tag["Cedar"]["law mean"], by_tag["Cedar"]["long rank"]) == (
        "0.65625",
        "0.75",
        "1",
    )
    facts = visitor.get(f"{TAGS}.json").get_json()
    assert (facts["queries"], facts["measure"]["name"]) == ({"law": 2, "long": 2}, "AP")


def test_one_condition_has_no_means_in_files_either(app: Flask, field: Field) -> None:
    field.run("Alder", {"AP": [0.5] * 4})
    assert "One condition so far" in app.test_client().get(ACROSS).text
    assert table_of(app.test_client().get(f"{ACROSS}.csv")) == []


def test_programs_get_the_same(visitor: FlaskClient) -> None:
    across = visitor.get("/api/v1/campaigns/news/across").get_json()
    assert [condition["label"] for condition in across["conditions"]] == ["Speech", "Text"]
    assert [(row["system"]["name"], row["rank"], row["lacking"]) for row in across["rows"]] == [
        ("Birch", 1, 0),
        ("Alder", 2, 0),
        ("Terms", None, 0),
        ("Cedar", None, 1),
    ]
    tags = visitor.get("/api/v1/campaigns/news/evaluations/text/tags?measure=P@5").get_json()
    assert (tags["column"]["name"], tags["tags"]) == (
        "P@5",
        [{"name": "law", "queries": 2}, {"name": "long", "queries": 2}],
    )
    assert [cell["rank"] for cell in tags["rows"][0]["cells"]] == [1, 1]


def test_the_campaign_progress_and_the_board_lead_to_them(visitor: FlaskClient) -> None:
    for page in ("/campaigns/news", "/campaigns/news/progress"):
        assert f'href="{ACROSS}"' in visitor.get(page).text
    assert f'href="{TAGS}"' in visitor.get("/campaigns/news/text").text
    page = visitor.get(TAGS).text
    assert "Cedar has the highest AP over all queries, 0.656, and is first in 2 of 2 tags." in text_of(page)
    assert 'href="/campaigns/news/text?tag=law"' in page
    assert 'href="/campaigns/news/text?tag=law&amp;measure=P@5"' in visitor.get(f"{TAGS}?measure=P@5").text
