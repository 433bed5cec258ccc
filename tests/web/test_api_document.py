"""The API against its own document: whatever is asked that the document allows, or nearly, is answered and no server
error; and answers have the types that the document promises. `make trials` draws many more requests.
"""

import pytest
from flask import Flask

from leaderboard.web.endpoints import ENDPOINTS, document
from tests.support.asking import Mode, ask_everything, set_up

EXAMPLES = 1  # of each operation, the plainest, at drawn places and at ones that there are


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # schemathesis closes no file it is sent
@pytest.mark.parametrize(("engine_name", "mode"), [("sqlite", "negative"), ("postgresql", "positive")])
def test_no_request_that_the_document_allows_or_nearly_makes_a_server_error(app: Flask, mode: Mode) -> None:
    token, places = set_up(app)
    tried = ask_everything(app, token, places, mode, EXAMPLES)
    with_types = {one.name for one in ENDPOINTS if one.body or one.arguments or one.form}
    assert tried >= ({one.name for one in ENDPOINTS} if mode == "positive" else with_types)


def test_the_document_tells_of_answers_and_agreements_that_an_evaluation_asks_for() -> None:
    patterns = document()["components"]["schemas"]["Run"]["patternProperties"]
    assert patterns == {
        "^answer-[a-z]": {"type": "string"},
        "^agreement-[a-z]": {"type": "string", "pattern": "^[0-9]+$"},
    }
