"""The pages of old boards, of what moved, of sources of judgments side by side and of published judgments."""

import json

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.support.field import DAY, NOW, Field
from tests.support.pages import text_of

QRELS = "q1 0 d1 1\nq2 0 d1 0\nq3 0 d2 1\nq4 0 d1 -1\n"
HERE = "/campaigns/news/2026"
OF_PROGRAMS = "/api/v1/campaigns/news/evaluations/2026"


@pytest.fixture
def browser(app: Flask) -> FlaskClient:
    """A visitor's."""
    return app.test_client()


@pytest.fixture
def judged_anew(field: Field) -> tuple[int, int, int]:
    """Two revisions and a second source: by the second revision Birch leads, by the model Alder does."""
    runs = [field.run(name, {"AP": [mean] * 4}) for name, mean in (("Alder", 0.8), ("Birch", 0.6))]
    first = field.current_set().id
    second = field.judge_again(QRELS, dict(zip(runs, ({"AP": [0.5] * 4}, {"AP": [0.7] * 4}), strict=True)))
    by_model = dict(zip(runs, ({"AP": [0.9] * 4}, {"AP": [0.2] * 4}), strict=True))
    model = field.judge_again(QRELS.replace("d2 1", "d2 0"), by_model, source="llm", at=NOW - 5 * DAY)
    field.change(judgments_published=True)
    return first, second, model


def test_old_boards_lead_to_each_other_and_to_what_moved(
    browser: FlaskClient, judged_anew: tuple[int, int, int]
) -> None:
    first, second, model = judged_anew
    board = browser.get(HERE).text
    assert f'href="{HERE}/boards"' in board
    history = browser.get(f"{HERE}/boards").text
    assert "judgments of revision 2 instead of 1" in history
    assert ">" not in text_of(history)  # no element stands in an attribute
    for address in (f"{HERE}/boards/{first}", f"{HERE}/boards/{first}/to/{second}", f"{HERE}/boards/{model}", HERE):
        assert f'href="{address}"' in history
    assert f'href="{HERE}/sources"' in history
    old = text_of(browser.get(f"{HERE}/boards/{first}").text)
    assert "This board is as it stood" in old
    assert "0.800" in old
    for page in ("queries", "compare", "heat-map", "leave-one-team-out", "judgments"):  # by the judgments of today
        assert f'href="{HERE}/{page}' in board
        assert f'href="{HERE}/{page}' not in browser.get(f"{HERE}/boards/{first}").text
    for page in (HERE, f"{HERE}/judgments"):
        assert f'href="{HERE}/sources"' in browser.get(page).text
    beside = text_of(browser.get(f"{HERE}/boards/{model}").text)
    assert "goes by the judgments of llm" in beside
    assert "0.900" in beside


def test_the_page_says_what_moved_and_so_do_its_files(browser: FlaskClient, judged_anew: tuple[int, int, int]) -> None:
    first, second, _ = judged_anew
    page = text_of(browser.get(f"{HERE}/boards/{first}/to/{second}").text)
    assert "Judgments of revision 2 instead of 1" in page
    assert "0 judgments added, 6 removed, 2 with another grade; 2 stayed the same." in page
    assert "The order changed by 1 of 2 measures: AP ." in page
    assert "By AP Alder led before, and Birch leads now." in page
    assert "1 of 1" in page  # pairs
    assert "▲ 1 up" in page
    assert "▼ 1 down" in page
    file = json.loads(browser.get(f"{HERE}/boards/{first}/to/{second}.json").text)
    assert file["judgments"] == {"added": 0, "removed": 6, "regraded": 2, "same": 2}
    assert file["orders"][0] == {
        "measure": "AP", "systems": 2, "pairs": 1, "swapped": 1, "parted": 0, "tau": -1.0, "tau_ap": -1.0,
    }  # fmt: skip
    assert [(row["system"], row["rank_before"], row["rank"]) for row in file["rows"]] == [
        ("Birch", 2, 1), ("Alder", 1, 2),
    ]  # fmt: skip


@pytest.mark.usefixtures("judged_anew")
def test_sources_stand_side_by_side_on_one_page(browser: FlaskClient) -> None:
    page = text_of(browser.get(f"{HERE}/sources").text)
    assert "2 sources, and how far their boards agree" in page
    assert "−1.000" in page
    assert "Of the 3 documents that both judged, llm and assessors gave 67 % the same grade." in page
    assert "All means and ranks are over the 4 queries on which both sources give a value." in page
    csv = browser.get(f"{HERE}/sources.csv").text.splitlines()
    assert csv[0] == "rank,system,team,kind,mean,llm mean,llm rank,llm submission"
    assert csv[1].startswith("1,Birch,")
    assert ",0.7,0.2,2," in csv[1]


@pytest.mark.usefixtures("judged_anew")
def test_published_judgments_are_pages_and_files_and_the_same_for_programs(browser: FlaskClient, field: Field) -> None:
    assert f'href="{HERE}/judgments"' in browser.get(HERE).text
    assert "4 judgments of 4 queries, revision 2" in text_of(browser.get(f"{HERE}/judgments").text)
    assert "d2 1 yes" in text_of(browser.get(f"{HERE}/judgments/q3").text)
    file, own = browser.get(f"{HERE}/judgments.txt"), browser.get(f"{OF_PROGRAMS}/judgments.txt")
    assert file.text == own.text == QRELS
    assert file.headers["Content-Disposition"] == 'attachment; filename="news-2026-judgments.txt"'
    assert own.content_type == "text/plain; charset=utf-8"
    assert browser.get(f"{HERE}/judgments.csv").text.splitlines()[1] == "q1,1,1,no,0,0,1"
    assert browser.get(f"{OF_PROGRAMS}/queries.tsv").text == browser.get(f"{HERE}/queries.tsv").text != ""
    told, one = (browser.get(f"{OF_PROGRAMS}/judgments{path}").json for path in ("", "/q3"))
    assert (told["revision"], told["judgments"], told["public"]) == (2, 4, True)
    assert one["documents"] == [{"document": "d2", "grade": 1}]
    field.change(judgments_published=False)
    for path in ("judgments", "judgments.txt", "judgments/q3", "judgments/none"):
        refused = browser.get(f"{OF_PROGRAMS}/{path}")
        assert (refused.status_code, refused.content_type) == (403, "application/problem+json"), path
