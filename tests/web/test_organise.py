"""The organiser's rooms: who finds them, what they link to, what they count."""

import re
from collections.abc import Callable

from tests.web.conftest import RUN, Reader, World


def test_an_organiser_finds_the_way_from_every_page_and_a_stranger_finds_none(
    organiser: Reader, participant: Reader, visitor: Reader
) -> None:
    for path in ("/", "/campaigns/harbour", "/campaigns/harbour/2025"):
        assert 'href="/organise"' in organiser.get(path)
        assert "/organise" not in participant.get(path)
        assert "/organise" not in visitor.get(path)
    assert 'href="/organise/harbour"' in organiser.get("/campaigns/harbour")
    assert 'href="/organise/harbour/2025"' in organiser.get("/campaigns/harbour/2025")
    assert 'href="/organise/harbour"' in organiser.get("/organise")
    assert 'href="/organise/harbour/2025"' in organiser.get("/organise/harbour")
    assert "Harbour 2025" in organiser.get("/organise/harbour/2025")


def test_rooms_are_not_there_for_whoever_does_not_organise_the_campaign(
    participant: Reader, visitor: Reader, organiser: Reader
) -> None:
    for path in ("/organise/harbour", "/organise/harbour/2025", "/organise/none", "/organise/none/2025"):
        participant.get(path, status=404)
        visitor.get(path, status=302)
    organiser.get("/organise/none", status=404)
    organiser.get("/organise/harbour/none", status=404)
    assert "You organise no campaign" in participant.get("/organise")


def test_the_list_counts_submissions_and_says_how_long_the_oldest_waits(
    organiser: Reader, participant: Reader, world: World
) -> None:
    assert "ago" not in organiser.get("/organise")
    sent = participant.send(
        "/campaigns/harbour/2025/submit", RUN, system=str(world.system.id), designation="primary", label="first"
    )
    assert sent.status_code == 303 or sent.status_code == 302, sent.text
    for path in ("/organise", "/organise/harbour"):
        page = organiser.get(path)
        assert len(re.findall(r'<td class="figure"[^>]*>1</td>', page)) >= 2
        assert "now" in page or "ago" in page


def test_a_refused_form_has_a_title_that_begins_with_error(reader: Callable[[str], Reader]) -> None:
    visitor = reader("")
    refused = visitor.post("/login", name="", password="")
    assert refused.status_code == 400
    assert "<title>Error: Log in" in refused.text
    assert "<title>Log in" in visitor.get("/login")
