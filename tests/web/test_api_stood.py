"""Old boards, what moved, sources and published judgments through the API: what their pages' files say."""

import pytest
from flask.testing import FlaskClient

from tests.support.field import Field
from tests.web.test_stood import HERE, browser, judged_anew

__all__ = ["browser", "judged_anew"]  # fixtures

pytestmark = pytest.mark.parametrize("engine_name", ["sqlite"])  # the reads are tried on both in tests/reads
API = "/api/v1/campaigns/news/evaluations/2026"


def test_old_boards_and_what_moved_are_told_as_their_pages_do(
    browser: FlaskClient, judged_anew: tuple[int, int, int]
) -> None:
    first, second, model = judged_anew
    told = browser.get(f"{API}/boards").json
    assert told is not None
    assert {one["id"] for one in told["sets"]} == {first, second, model}
    assert [one["changes"] for one in told["sets"] if one["id"] == second] == [["judgments of revision 2 instead of 1"]]
    old = browser.get(f"{API}/boards/{first}").json
    assert old is not None
    assert [(row["entry"]["system"]["name"], row["ranked_by"]["mean"]) for row in old["rows"]] == [
        ("Alder", 0.8), ("Birch", 0.6),
    ]  # fmt: skip
    assert old["old"]["words"] == "revision 1"
    moved = browser.get(f"{API}/boards/{first}/to/{second}?measure=AP").json
    file = browser.get(f"{HERE}/boards/{first}/to/{second}.json").json
    assert moved is not None
    assert file is not None
    assert [(row["system"]["name"], row["rank_before"], row["rank"], row["places"]) for row in moved["rows"]] == [
        ("Birch", 2, 1, 1), ("Alder", 1, 2, -1),
    ]  # fmt: skip
    for own, of_page in zip(moved["orders"], file["orders"], strict=True):
        assert {**own, "measure": own["column"]["name"]}.items() >= of_page.items()
    assert browser.get(f"{API}/boards/9999").status_code == 404
    assert browser.get(f"{API}/boards/{first}/to/{second}?measure=none").status_code == 400
    assert browser.get(f"{API}/boards/{first}?answer=none:none").status_code == 400


@pytest.mark.usefixtures("judged_anew")
def test_sources_agree_as_far_as_their_page_says(browser: FlaskClient) -> None:
    told = browser.get(f"{API}/sources").json
    assert told is not None
    assert [one["words"] for one in told["sources"]] == ["revision 2", "revision 3 by llm"]
    assert told["agreements"][0]["orders"][0]["tau"] == -1.0
    assert [(row["system"]["name"], row["ranks"], row["spread"]) for row in told["rows"]] == [
        ("Birch", [1, 2], 1), ("Alder", [2, 1], 1),
    ]  # fmt: skip


@pytest.mark.usefixtures("judged_anew")
def test_published_judgments_are_the_file_of_their_page(browser: FlaskClient, field: Field) -> None:
    told = browser.get(f"{API}/judgments").json
    assert told is not None
    assert (told["revision"], told["judgments"], told["public"]) == (2, 4, True)
    file = browser.get(f"{API}/judgments.txt")
    assert file.content_type == "text/plain; charset=utf-8"
    assert file.text == browser.get(f"{HERE}/judgments.txt").text == "q1 0 d1 1\nq2 0 d1 0\nq3 0 d2 1\nq4 0 d1 -1\n"
    one = browser.get(f"{API}/judgments/q3").json
    assert one is not None
    assert one["documents"] == [{"document": "d2", "grade": 1}]
    assert browser.get(f"{API}/queries.tsv").text == browser.get(f"{HERE}/queries.tsv").text != ""
    field.change(judgments_published=False)
    for path in ("judgments", "judgments.txt", "judgments/q3", "judgments/none"):
        refused = browser.get(f"{API}/{path}")
        assert refused.status_code == 403, path
        assert refused.content_type == "application/problem+json"
