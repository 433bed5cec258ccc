"""Organising through the API: the same services as the organiser's pages, for tokens that may organise."""

from collections.abc import Callable

import pytest

from leaderboard.rules.scopes import Scope
from tests.web.conftest import RUN, World
from tests.web.test_api import API, Program, program
from tests.web.test_api_submitting import send

__all__ = ["program"]  # the fixture

CAMPAIGN = f"{API}/organise/campaigns/harbour"
EVALUATION = f"{CAMPAIGN}/evaluations/2025"


@pytest.fixture
def orla(program: Callable[..., Program]) -> Program:
    return program("orla", Scope.ORGANISE)


def post(program: Program, path: str, text: str, status: int = 200) -> dict[str, object]:
    """Sends a file as the body."""
    given: dict[str, object] = program.ask(
        path, "POST", status=status, data=text, content_type="application/octet-stream"
    )
    return given


def test_an_evaluation_is_made_filled_and_judged(orla: Program) -> None:
    made = orla.ask(
        f"{CAMPAIGN}/evaluations", "POST", status=201, json={"slug": "2026", "title": "Harbour 2026", "period": "2026"}
    )
    assert (made["values"]["slug"], made["values"]["draft"]) == ("2026", True)
    new = f"{CAMPAIGN}/evaluations/2026"
    assert [row["id"] for row in post(orla, f"{new}/queries", "q1\tone\tlaw\nq2\ttwo\n")["rows"]] == ["q1", "q2"]
    judged = post(orla, f"{new}/judgments?note=first", "q1 0 d1 1\nq2 0 d2 1\n")
    assert [(one["number"], one["judgments"], one["note"]) for one in judged["revisions"]] == [(1, 2, "first")]
    changed = orla.ask(new, "POST", json={"draft": False, "daily_quota": 3, "closes_at": "2031-01-02T00:00:00Z"})
    assert (changed["values"]["draft"], changed["values"]["daily_quota"]) == (False, 3)
    assert changed["values"]["closes_at"].startswith("2031-01-02")
    assert changed["values"]["title"] == "Harbour 2026"  # what was left out stays
    assert orla.ask(f"{new}/readiness")


def test_queries_are_excluded_hidden_and_shown_again(orla: Program, program: Callable[..., Program]) -> None:
    seen = f"{API}/campaigns/harbour/evaluations/2025/queries"
    orla.ask(f"{EVALUATION}/queries/exclude", "POST", json={"queries": ["q3"], "because": "unclear"})
    orla.ask(f"{EVALUATION}/queries/hide", "POST", json={"queries": ["q2"]})
    rows = {row["query"]["external_id"]: row["query"]["excluded"] for row in program().ask(seen)["queries"]}
    assert rows == {"q1": False, "q3": True}
    orla.ask(f"{EVALUATION}/queries/include", "POST", json={"queries": ["q3"]})
    orla.ask(f"{EVALUATION}/queries/show", "POST", json={"queries": ["q2"]})
    rows = {row["query"]["external_id"]: row["query"]["excluded"] for row in program().ask(seen)["queries"]}
    assert rows == {"q1": False, "q2": False, "q3": False}


def test_a_run_is_taken_off_and_put_back(orla: Program, program: Callable[..., Program]) -> None:
    sent = send(program("ada", Scope.SUBMIT), RUN).json
    assert sent is not None
    run = f"{EVALUATION}/submissions/{sent['id']}"
    off = orla.ask(f"{run}/take-off", "POST", json={"ruling": "disqualified", "because": "not a run"})
    assert (off["state"], off["ruled_because"]) == ("disqualified", "not a run")
    assert [row["id"] for row in orla.ask(f"{EVALUATION}/submissions?state=disqualified")["rows"]] == [sent["id"]]
    assert orla.ask(f"{run}/restore", "POST")["state"] == "queued"
    assert orla.ask(f"{CAMPAIGN}/evaluations/none/submissions/{sent['id']}/restore", "POST", status=404)


def test_a_token_that_may_not_organise_or_is_of_no_organiser_finds_nothing(
    program: Callable[..., Program], world: World
) -> None:
    program("orla", Scope.SUBMIT).ask(EVALUATION, status=403)
    program("ada", Scope.ORGANISE).ask(EVALUATION, status=404)
    program("ada", Scope.ORGANISE).ask(EVALUATION, "POST", status=404, json={"title": "Mine"})
    program().ask(EVALUATION, status=401)
    assert program("orla", Scope.ORGANISE).ask(EVALUATION)["values"]["title"] == "Harbour 2025"


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        (EVALUATION, {"documents": "many"}, "documents"),
        (EVALUATION, {"documents": 10**30}, "documents"),
        (EVALUATION, {"closes_at": "2031-01-02T00:00:00"}, "closes_at"),
        (EVALUATION, {"id": 7}, "id"),
        (CAMPAIGN, {"beta": -1.0}, "beta"),
        (CAMPAIGN, {"measures": ["AP", "nothing"]}, "measures"),
        (f"{EVALUATION}/queries/exclude", {"queries": "q1"}, "queries"),
    ],
)
def test_what_is_wrong_is_said_by_its_field_and_nothing_changes(
    orla: Program, path: str, body: dict[str, object], field: str
) -> None:
    before = orla.ask(EVALUATION), orla.ask(CAMPAIGN)
    said = orla.ask(path, "POST", status=400, json=body)
    assert field in said["fields"], said
    assert (orla.ask(EVALUATION), orla.ask(CAMPAIGN)) == before


def test_a_file_that_is_none_of_queries_or_judgments_is_refused_by_its_lines(orla: Program) -> None:
    said = post(orla, f"{EVALUATION}/judgments", "q1 0 d1\n", 400)
    assert "line 1" in str(said["detail"])
    assert "%PDF" not in str(post(orla, f"{EVALUATION}/queries", "%PDF-1.7\n\x00\x01", 400)["detail"])
