"""The organiser's rooms: who finds them, what they link to, what they count."""

from tests.web.conftest import Reader


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
