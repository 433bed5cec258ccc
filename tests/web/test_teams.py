"""Teams: making one, inviting, joining, leaving."""

import re

from tests.web.conftest import BOTH, PASSWORD, Reader, World


def invitation_of(owner: Reader) -> str:
    """The path of a new link into team Alpha."""
    assert owner.post("/teams/alpha/invitations").location == "/teams/alpha"
    found = re.search(r"http://[^/]+(/join/[^<]+)<", owner.get("/teams/alpha"))
    assert found is not None
    return found[1]


def test_a_team_is_absent_for_others_until_it_is_listed_and_only_members_see_who_is_in_it(
    visitor: Reader, participant: Reader, other: Reader, organiser: Reader
) -> None:
    for outsider in (visitor, other, organiser):
        absent = outsider.get("/teams/alpha", status=404)
        assert absent.replace("alpha", "alphb") == outsider.get("/teams/alphb", status=404)
    participant.post("/account/teams/alpha", description="", is_listed="y")
    visitor.get("/teams/alpha", status=404)
    for outsider in (other, organiser):
        page = outsider.get("/teams/alpha")
        assert "2 members" in page
        assert "ben" not in page
        assert "Leave" not in page
    assert "ben" in participant.get("/teams/alpha")


@BOTH
def test_a_link_lets_one_person_in_once(participant: Reader, other: Reader, organiser: Reader) -> None:
    link = invitation_of(participant)
    assert "Join Alpha" in other.get(link)
    assert other.post(link).location == "/teams/alpha"
    assert "Leave this team" in other.get("/teams/alpha")
    assert other.client.get(link).location == "/teams/alpha"  # the same link once more
    assert "You are in Alpha." in other.get("/teams/alpha")
    assert "was used" in organiser.get(link, status=409)
    assert organiser.post(link).status_code == 409


def test_a_visitor_with_a_link_registers_and_comes_back(participant: Reader, visitor: Reader) -> None:
    link = invitation_of(participant)
    assert f"/register?next={link}" in visitor.get(link)
    assert visitor.post("/register", name="Grace", password=PASSWORD, next=link).location == link
    assert visitor.post(link).location == "/teams/alpha"


def test_the_links_in_the_head_lead_back_to_the_invitation_too(participant: Reader, visitor: Reader) -> None:
    link = invitation_of(participant)
    for page in (visitor.get(link), visitor.get(f"/login?next={link}"), visitor.get(f"/register?next={link}")):
        head = page.partition("<main")[0]
        assert f'href="/login?next={link}"' in head
        assert f'href="/register?next={link}"' in head
    refused = visitor.post("/login", name="ada", password="wrong", next=link)
    assert f'href="/register?next={link}"' in refused.text.partition("<main")[0]
    assert 'href="/login"' in visitor.get("/")  # whoever comes by the front sees their account


def test_the_last_member_is_asked_before_leaving(other: Reader) -> None:
    address = "/teams/beta/leave"
    assert "nobody but an admin of this site can let somebody in" in other.get(address)
    assert other.post(address).status_code == 400  # from a page that was opened while somebody else was in the team
    assert other.post(address, confirm="yes").location == "/account/"
    other.get(address, status=404)


def test_an_owner_takes_a_member_out(world: World, participant: Reader, other: Reader) -> None:
    path = f"/teams/alpha/members/{world.users['ben'].id}/remove"
    assert other.post(path).status_code == 404
    other.get(path, status=404)
    assert f'action="{path}"' not in participant.get("/teams/alpha")
    assert "ben leaves at once" in participant.get(path)
    participant.get("/teams/alpha/members/999999/remove", status=404)
    assert participant.post(path).location == "/teams/alpha"
    assert "1 member" not in participant.get("/teams/alpha")
    assert path not in participant.get("/teams/alpha")


def test_a_team_removes_a_system_that_no_run_was_sent_for(participant: Reader, world: World) -> None:
    address = f"/teams/alpha/{world.system.slug}"
    assert f"{world.system.name} has no run." in participant.get(address)
    assert participant.post(f"{address}/remove").location == "/teams/alpha"
    assert f"{world.system.name} is removed." in participant.get("/teams/alpha")
    participant.get(address, status=404)
