"""Organisers through the API: who organises and who knows of a campaign, its systems, teams and audit trail."""

import re
from collections.abc import Callable

import pytest

from leaderboard.accounts.rules import Scope
from leaderboard.submissions.rules import State
from tests.web.conftest import API, RUN, Program, World

CAMPAIGN = f"{API}/organise/campaigns/harbour"


@pytest.fixture
def runs(program: Callable[..., Program]) -> dict[str, int]:
    """Both teams have submitted, with systems of one name."""
    sent = {}
    for person, team in (("ada", "alpha"), ("eve", "beta")):
        answer = program(person, Scope.SUBMIT).submit(RUN, team=team, new_system="Finder")
        assert answer.status_code == 201, answer.text
        assert answer.json is not None
        sent[team] = answer.json["id"]
    return sent


def test_teams_are_let_into_a_private_campaign(orla: Program, program: Callable[..., Program]) -> None:
    orla.post(CAMPAIGN, visibility="private")
    program("ada").ask(f"{API}/campaigns/harbour", status=404)
    assert orla.post(f"{CAMPAIGN}/teams-let-in", team="alpha")["teams"][0]["slug"] == "alpha"
    program("ada").ask(f"{API}/campaigns/harbour")
    assert "team" in orla.post(f"{CAMPAIGN}/teams-let-in", 400, team="none")["fields"]
    assert orla.ask(f"{CAMPAIGN}/teams-let-in/alpha/remove", "POST")["teams"] == []
    program("ada").ask(f"{API}/campaigns/harbour", status=404)
    told = [orla.ask(f"{CAMPAIGN}/teams-let-in/{one}/remove", "POST", status=404)["detail"] for one in ("beta", "none")]
    assert told[0].replace("beta", "none") == told[1]
    for _ in range(9):  # after the one above; tries of addresses are bounded, whatever they find from then on
        orla.post(f"{CAMPAIGN}/teams-let-in", 400, team="none")
    orla.post(f"{CAMPAIGN}/teams-let-in", 429, team="alpha")


@pytest.mark.usefixtures("runs")
def test_the_trail_is_read_page_by_page_and_filtered(orla: Program) -> None:
    orla.post(CAMPAIGN, title="Harbours")
    whole = orla.ask(f"{CAMPAIGN}/trail")
    assert whole["rows"][0]["did"] == "change"
    assert whole["rows"][0]["who"] == "orla"
    assert whole["paging"] == {"page": 1, "pages": 1, "rows": len(whole["rows"]), "more": False}
    submitted = orla.ask(f"{CAMPAIGN}/trail?subject=submission")["rows"]
    assert {row["did"] for row in submitted} == {"submit"}
    assert len(submitted) == 2
    assert orla.ask(f"{CAMPAIGN}/trail?until=2020-01-01")["rows"] == []
    for wrong in ("subject=weather", "since=yesterday", "person=ada", "number=x", "page=x", "who=ada"):
        orla.ask(f"{CAMPAIGN}/trail?{wrong}", status=400)


@pytest.mark.parametrize("act", ["stand", "primary", "withdraw"])
def test_a_decision_that_changes_the_board_is_confirmed(
    runs: dict[str, int], world: World, program: Callable[..., Program], act: str
) -> None:
    own, ada = f"{API}/submissions/{runs['alpha']}", program("ada", Scope.SUBMIT)
    world.turn(State.SCORED)
    before = ada.ask(own)
    if act == "stand":  # it does by now, as its system's only run
        assert ada.post(f"{own}/{act}", 409)["detail"] == "This run counts for its system already."
        return
    refused = ada.post(f"{own}/{act}", 400)["fields"]["confirm"]
    run = re.compile(rf"run {runs['alpha']}, \d+ \w+ \d+")
    assert [run.sub("it", line) for line in refused] == {
        "primary": ["The team's primary run: none now, then it."],
        "withdraw": [
            "The run leaves every board for good.",
            "The run that counts for Finder: it now, then none.",
            "Harbour 2025: 0 of 2 systems change rank; another run is shown for 1.",
        ],
    }[act]
    assert ada.ask(own) == before
    assert ada.post(f"{own}/{act}", confirm=True) != before
