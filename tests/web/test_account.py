"""The account page: teams, runs, password, sessions."""

import re

from tests.web.conftest import BOTH, PASSWORD, Reader, World, errors


@BOTH
def test_guesses_in_one_browser_hold_up_no_other_that_is_logged_in_before_and_after_it_changes_the_password(
    participant: Reader, visitor: Reader
) -> None:
    visitor.post("/login", name="ada", password=PASSWORD)
    for _ in range(10):
        assert participant.post("/account/password", current="a guess", password="a third long one").status_code == 400
    waits = participant.post("/account/password", current=PASSWORD, password="a third long one")
    assert (waits.status_code, "too many wrong passwords in this browser" in waits.text) == (429, True)
    assert "browser in which you have logged in" not in waits.text
    for now, then in ((PASSWORD, "harbour lantern row"), ("harbour lantern row", "a third long one")):
        assert visitor.post("/account/password", current=now, password=then).status_code == 302
    assert participant.client.get("/account/").status_code == 302


def test_the_account_s_forms_tell_all_that_is_wrong_at_once(participant: Reader) -> None:
    both = participant.post("/account/password", current="wrong", password="short")
    assert (both.status_code, errors(both.text)) == (400, {"current", "password"})
    wrong = participant.post("/account/email", current="wrong", email="ada@example.org").text
    assert "this is not your current password" in wrong
    assert "Some fields need another value" not in wrong
    both = participant.post("/account/email", current="wrong", email="no address")
    assert (both.status_code, errors(both.text)) == (400, {"current", "email"})
    all_ = participant.post("/account/tokens/new", current="", name="x" * 100, days="9")
    assert (all_.status_code, errors(all_.text)) == (400, {"current", "name", "days"})
    refused = participant.post("/account/tokens/new", current="wrong", name="laptop", days="30")
    assert (refused.status_code, errors(refused.text)) == (400, {"current"})
    assert "laptop" not in participant.get("/account/")
    assert participant.post("/account/tokens/new", current=PASSWORD, name="laptop", days="30").status_code == 200
    assert "laptop" in participant.get("/account/")


def test_ending_the_other_sessions_keeps_this_one_and_gives_it_no_more_guesses(
    participant: Reader, visitor: Reader
) -> None:
    visitor.post("/login", name="ada", password=PASSWORD)
    copied = participant.client.get_cookie("leaderboard")
    assert copied is not None
    for _ in range(10):
        participant.post("/account/password", current="a guess", password="harbour lantern row")
    assert participant.post("/account/sessions/end").location == "/account/"
    participant.get("/account/")
    assert visitor.client.get("/account/").status_code == 302
    visitor.client.set_cookie("leaderboard", copied.value)
    assert visitor.client.get("/account/").status_code == 302
    assert participant.post("/account/password", current=PASSWORD, password="harbour lantern row").status_code == 429


def test_it_lists_where_one_is_logged_in_and_each_can_be_ended(
    participant: Reader, organiser: Reader, visitor: Reader
) -> None:
    assert "another browser" not in participant.get("/account/")
    visitor.post("/login", name="ada", password=PASSWORD)
    page = participant.get("/account/")
    assert page.count("this browser") == page.count("another browser") == 1
    [address] = re.findall(r'action="(/account/sessions/\d+/end)"', page)  # of the other one, not of this
    assert organiser.post(address).status_code == 404
    assert visitor.client.get("/account/").status_code == 200
    assert participant.post(address).location == "/account/"
    assert "another browser" not in participant.get("/account/")
    assert visitor.client.get("/account/").status_code == 302


@BOTH
def test_an_account_is_closed_with_its_password_once_somebody_else_owns_its_team(
    world: World, participant: Reader
) -> None:
    assert "Alpha" in participant.get("/account/close")
    blocked = participant.post("/account/close", current=PASSWORD)
    assert (blocked.status_code, "own or organise first" in blocked.text) == (409, True)
    role = f"/teams/alpha/members/{world.users['ben'].id}/role"
    assert role in participant.get("/teams/alpha")
    assert participant.post(role, role="owner").location == "/teams/alpha"
    assert participant.post("/account/close", current="not the password").status_code == 400
    participant.get("/account/")
    assert participant.post("/account/close", current=PASSWORD).location == "/"
    assert participant.client.get("/account/").status_code == 302
    assert participant.post("/login", name="ada", password=PASSWORD).status_code == 400
