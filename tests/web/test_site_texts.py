"""What admins set for the site: its name, its logo, and what it says about itself."""

import struct

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.accounts.models import User
from leaderboard.audit.models import Event
from leaderboard.audit.verify import verify
from leaderboard.campaigns.models import Campaign
from leaderboard.evaluations import writes as evaluations
from tests.web.conftest import BOTH, Reader, World

PAGE = "/organise/site"


def _png(width: int, height: int) -> bytes:
    """The beginning of a PNG of these sides: its signature and its first chunk, as RFC 2083 has them."""
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBB", 13, b"IHDR", width, height, 8, 6, 0, 0, 0)


@pytest.fixture
def admin(world: World, organiser: Reader) -> Reader:
    with world.database.write() as session:
        session.get_one(User, world.users["orla"].id).is_admin = True
    return organiser


def _sent(**changes: str) -> dict[str, str]:
    return {"name": "Retrieval hub", "about": "", "contact": "", "privacy": "", **changes}


@BOTH
def test_an_admin_names_the_site_and_every_page_and_the_trail_say_so(
    world: World, admin: Reader, visitor: Reader
) -> None:
    assert "· Leaderboard</title>" in visitor.get("/")
    for name in ("about", "contact", "privacy"):
        visitor.get(f"/{name}", status=404)
        assert f'href="/{name}"' not in visitor.get("/")
    visitor.get("/logo.png", status=404)
    sent = admin.send(PAGE, _png(64, 32), "logo.png", field="image", **_sent(privacy="We keep **names**."))
    assert sent.location == PAGE
    page = visitor.get("/")  # it was kept, and is rendered anew
    assert "· Retrieval hub</title>" in page
    assert "<span>Retrieval hub</span>" in page
    assert 'href="/privacy"' in page
    assert 'href="/about"' not in page
    assert "We keep <strong>names</strong>." in visitor.get("/privacy")
    logo = visitor.client.get("/logo.png")
    assert (logo.data, logo.mimetype) == (_png(64, 32), "image/png")
    assert admin.send(PAGE, None, field="image", **_sent(name="Hub", privacy="x")).location == PAGE
    assert visitor.client.get("/logo.png").status_code == 200  # it stays
    assert admin.send(PAGE, None, field="image", **_sent(no_logo="y")).location == PAGE
    visitor.get("/logo.png", status=404)
    with world.database.read() as session:
        events = session.scalars(sa.select(Event).where(Event.subject == "site").order_by(Event.id)).all()
        assert [set(event.facts["fields"]) for event in events] == [
            {"name", "privacy", "logo"}, {"name", "privacy"}, {"name", "privacy", "logo"},
        ]  # fmt: skip
        assert [each for each in verify(session).differences if each.where.startswith("site")] == []


@BOTH
def test_a_name_that_is_none_and_a_logo_that_is_no_small_png_are_refused(admin: Reader, visitor: Reader) -> None:
    svg = b'<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>'
    for logo in (svg, _png(2000, 2), _png(0, 5), _png(64, 64) + bytes(70_000)):
        answer = admin.send(PAGE, logo, "logo.png", field="image", **_sent())
        assert (answer.status_code, "choose a PNG" in answer.text.replace("Choose", "choose")) == (400, True)
    assert admin.send(PAGE, None, field="image", **_sent(name=" ")).status_code == 400
    assert admin.send(PAGE, None, field="image", **_sent(name="x" * 61)).status_code == 400
    assert "· Leaderboard</title>" in visitor.get("/")


@pytest.mark.parametrize("engine_name", ["sqlite"])  # words and a link
def test_an_empty_front_leads_an_admin_to_a_new_campaign_and_nobody_to_a_command(
    world: World, admin: Reader, participant: Reader, visitor: Reader
) -> None:
    link = 'href="/organise/campaigns/new">New campaign'
    assert link not in admin.get("/")
    with world.database.write() as session:
        evaluations.remove_campaign(session, CONSOLE, session.get_one(Campaign, world.campaign.id))
    for reader, leads in ((admin, True), (participant, False), (visitor, False)):
        assert (link in reader.get("/")) is leads
        assert "leaderboard campaign add" not in reader.get("/")
