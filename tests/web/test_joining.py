"""Finding a team and asking to join it."""

import re
from collections.abc import Callable

import pytest
import sqlalchemy as sa

from leaderboard.accounts.models import User
from leaderboard.mail.models import Mail
from leaderboard.mail.rules import MailKind
from leaderboard.teams.models import JoinRequest
from tests.web.conftest import Reader, World


@pytest.fixture
def listed(world: World, participant: Reader) -> str:
    """Team Alpha lets itself be found; owners have an address."""
    with world.database.write() as session:
        session.execute(sa.update(User).values(email=User.name + "@example.org", email_key=User.name + "@example.org"))
    sent = participant.post("/account/teams/alpha", description="We search harbours", is_listed="y")
    assert sent.location == "/teams/alpha"
    return "/teams/alpha/requests"


def mails(world: World, kind: MailKind) -> list[int | None]:
    return world.all(sa.select(Mail.user_id).where(Mail.kind == kind).order_by(Mail.id))


def answer_link(page: str, answer: str) -> str:
    found = re.search(rf'action="(/teams/alpha/requests/\d+/{answer})"', page)
    assert found is not None
    return found[1]


def test_teams_that_allow_it_are_found_by_whoever_is_logged_in(listed: str, other: Reader, visitor: Reader) -> None:
    page = other.get("/teams")
    assert "Alpha" in page
    assert "We search harbours" in page
    assert "Beta" not in page  # eve's own team, which does not want to be found
    assert "Alpha" in other.get("/teams?words=HARBOUR")
    for words in ("nothing", "%", "_", "ben"):
        assert "Alpha" not in other.get(f"/teams?words={words}")
    assert visitor.client.get("/teams").location == "/login?next=/teams"


def test_somebody_asks_is_let_in_and_both_sides_are_told(
    world: World, listed: str, participant: Reader, other: Reader
) -> None:
    assert "Ask to join" in other.get("/teams/alpha")
    assert other.post(listed, text="<b>I know harbours</b>").location == "/teams/alpha"
    assert "have not answered yet" in other.get("/teams/alpha")
    assert other.post(listed).status_code == 409
    assert mails(world, MailKind.REQUEST) == [world.users["ada"].id]  # the owner, and no other member
    page = participant.get("/teams/alpha")
    assert "&lt;b&gt;I know harbours" in page
    assert participant.post(answer_link(page, "accept")).location == "/teams/alpha"
    assert "Leave this team" in other.get("/teams/alpha")
    assert mails(world, MailKind.ANSWER) == [world.users["eve"].id]
    assert participant.post(answer_link(page, "refuse")).status_code == 409  # it was answered


def test_only_owners_see_requests_and_answer_them(
    world: World, listed: str, participant: Reader, reader: Callable[[str], Reader]
) -> None:
    eve, ben, orla = (reader(name) for name in ("eve", "ben", "orla"))
    eve.post(listed, text="a secret between us")
    accept = answer_link(participant.get("/teams/alpha"), "accept")
    for who in (ben, orla, eve):
        assert "a secret between us" not in who.get("/teams/alpha")
        assert who.post(accept).status_code == 403
    assert participant.post(accept.replace("alpha", "beta")).status_code == 404  # not hers, and not listed
    assert eve.post(accept.replace("alpha", "beta")).status_code == 404  # eve owns Beta, and this one is Alpha's
    assert world.all(sa.select(JoinRequest.accepted)) == [None]


def test_a_request_is_taken_back_and_a_team_that_takes_none_is_not_asked(
    listed: str, participant: Reader, other: Reader
) -> None:
    other.post(listed)
    assert other.post(f"{listed}/back").location == "/teams"
    assert other.post(f"{listed}/back").status_code == 409
    participant.post("/account/teams/alpha", description="")
    other.get("/teams/alpha", status=404)
    assert other.post(listed).status_code == 404
    assert participant.post(listed).status_code == 409  # a member


def test_a_taken_name_tells_nothing_of_an_absent_team_and_is_counted(participant: Reader, other: Reader) -> None:
    new = "/account/teams/new"
    for name in ("BETA", "be ta"):
        told = participant.post(new, name=name)
        assert (told.status_code, "Beta" in told.text) == (400, False)
    assert "this name is taken" in participant.post(new, name="BETA").text
    assert "this name is taken" in participant.post(new, name="ALPHA").text  # ada's own
    assert participant.post(new, name="Gamma").status_code == 302
    tries = [participant.post(new, name="bet a") for _ in range(7)]
    assert [told.status_code for told in tries] == [400] * 6 + [429]
    refused = participant.post(new, name="Delta")
    assert refused.status_code == 429
    assert "Too many of the teams&#39; names" in refused.text
    assert other.post(new, name="Epsilon").status_code == 429  # by the same address
