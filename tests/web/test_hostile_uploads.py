"""Hostile files to every form that takes one. `make trials` sends many more, on both engines."""

from tests.support.hostile_uploads import FORMS, upload_all
from tests.support.world import World, fill_world, world

__all__ = ["fill_world", "world"]  # an installation of its own, without the one that other tests of pages share


def test_no_hostile_file_makes_a_server_error_or_leaves_a_stray_file_whichever_form_it_goes_to(world: World) -> None:
    found = upload_all(world, 20261122, 4 * len(FORMS))
    assert found.faults == []
    assert sum(found.states.values()) == 4 * len(FORMS)
    assert found.states["400"] > len(FORMS)
