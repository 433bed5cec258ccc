"""Old boards, what moved, sources and published judgments through the API: what their pages' files say."""

import pytest
from flask.testing import FlaskClient

from tests.support.field import Field
from tests.web.test_stood import HERE, browser, judged_anew

__all__ = ["browser", "judged_anew"]  # fixtures

pytestmark = pytest.mark.parametrize("engine_name", ["sqlite"])  # the reads are tried on both in the tests of reads
API = "/api/v1/campaigns/news/evaluations/2026"


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
