"""A participant's teams and systems through the API: the services of the pages, for tokens that may."""

from collections.abc import Callable

import pytest

from leaderboard.accounts.rules import Scope
from tests.web.conftest import API, Program, World

ALPHA = f"{API}/teams/alpha"


@pytest.fixture
def ada(program: Callable[..., Program]) -> Program:
    """Of the owner of Alpha."""
    return program("ada", Scope.MANAGE, Scope.SUBMIT)


@pytest.fixture
def eve(program: Callable[..., Program]) -> Program:
    """Of somebody who is in another team."""
    return program("eve", Scope.MANAGE, Scope.SUBMIT)


def test_a_team_is_made_found_asked_and_joined(ada: Program, eve: Program) -> None:
    made = eve.post(f"{API}/teams", 201, name="Delta", description="We try")
    assert (made["slug"], made["is_owner"], [one["name"] for one in made["members"]]) == ("delta", True, ["eve"])
    assert ada.ask(f"{API}/teams?words=try") == []  # it does not want to be found
    delta = f"{API}/teams/delta"
    assert eve.post(f"{delta}/settings", is_listed=True)["description"] == "We try"
    assert [one["slug"] for one in ada.ask(f"{API}/teams?words=try")] == ["delta"]
    assert ada.ask(f"{delta}/requests")["asked"] is False
    assert ada.post(f"{delta}/requests", text="me too") == {"asked": True, "waiting": []}
    waiting = eve.ask(f"{delta}/requests")["waiting"]
    assert [(one["name"], one["text"]) for one in waiting] == [("ada", "me too")]
    assert eve.ask(f"{delta}/requests/{waiting[0]['id']}/accept", "POST")["waiting"] == []
    members = ada.ask(delta)["members"]
    assert [(one["name"], one["role"]) for one in members] == [("eve", "owner"), ("ada", "member")]
    member = f"{delta}/members/{members[1]['user_id']}"
    assert eve.post(f"{member}/role", role="owner")["members"][1]["role"] == "owner"
    left = eve.ask(f"{delta}/leave", "POST")
    assert left == {"name": "Delta", "slug": "delta"}
    ada.post(f"{delta}/settings", is_listed=False)
    absent = [eve.ask(address, status=404)["detail"] for address in (delta, f"{delta}/requests", f"{delta}/settings")]
    never = eve.ask(f"{API}/teams/deltb", status=404)["detail"].replace("deltb", "delta")
    assert absent == [never] * 3  # not listed, and no run of it to be seen
    eve.post(f"{delta}/invitations", 404)


def test_an_invitation_lets_one_person_in(ada: Program, eve: Program) -> None:
    made = ada.post(f"{ALPHA}/invitations", 201, days=3)
    assert made["address"].endswith(f"/join/{made['token']}")
    [listed] = ada.ask(f"{ALPHA}/invitations")
    assert made["token"] not in str(listed)
    eve.ask(f"{ALPHA}/invitations", status=404)
    assert eve.post(f"{API}/teams/join", token=made["token"])["is_member"]
    eve.post(f"{API}/teams/join", 409, token=made["token"])
    other = ada.post(f"{ALPHA}/invitations", 201)
    [listed] = ada.ask(f"{ALPHA}/invitations")
    eve.ask(f"{ALPHA}/invitations/{listed['id']}/revoke", "POST", status=403)
    assert ada.ask(f"{ALPHA}/invitations/{listed['id']}/revoke", "POST") == []
    eve.post(f"{API}/teams/join", 409, token=other["token"])
    member = next(one["user_id"] for one in ada.ask(ALPHA)["members"] if one["name"] == "eve")
    assert "eve" not in [one["name"] for one in ada.ask(f"{ALPHA}/members/{member}/remove", "POST")["members"]]


def test_a_system_is_made_and_described_by_its_team(ada: Program, eve: Program) -> None:
    new = {"name": "Finder", "kind": "manual", "code_url": "https://example.org/finder"}
    made = ada.post(f"{ALPHA}/systems", 201, **new)
    assert (made["slug"], made["kind"], made["code_url"]) == ("finder", "manual", "https://example.org/finder")
    said = ada.post(f"{ALPHA}/systems/finder", description="It finds")
    assert (said["description"], said["code_url"]) == ("It finds", "https://example.org/finder")
    eve.post(f"{ALPHA}/systems", 404, name="Hers")
    eve.post(f"{ALPHA}/systems/finder", 404, description="Bad")  # it is on no board yet
    found = ada.ask(f"{ALPHA}/systems/finder")
    assert (found["description"], found["may_remove"]) == ("It finds", True)
    eve.ask(f"{ALPHA}/systems/finder/remove", "POST", status=404)
    assert ada.ask(f"{ALPHA}/systems/finder/remove", "POST")["slug"] == "alpha"
    ada.ask(f"{ALPHA}/systems/finder", status=404)


def test_a_token_that_only_submits_changes_no_team(program: Callable[..., Program], world: World) -> None:
    """Whoever is let in stays when the token is revoked."""
    script = program("ada", Scope.SUBMIT)
    for path in ("invitations", "leave", "settings"):
        assert "may not manage" in script.post(f"{ALPHA}/{path}", 403)["detail"]
    kind = script.post(f"{ALPHA}/systems/searcher", 403, kind="manual")
    assert "may not organise" in kind["detail"]
    assert script.ask(f"{ALPHA}/invitations") == []
