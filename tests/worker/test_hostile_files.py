"""Files of every hostile family go to the form, and past it to a real worker. `make trials` sends many more, on both
engines.

A file is read and refused before a database has a part in it, and PostgreSQL, which takes no NUL and no half of a pair,
is the stricter one with what is kept of it. So it gets them; odd characters go to SQLite too in `test_hostile_runs`.
"""

import pytest

from tests.support.hostile_files import FAMILIES, hostile_files
from tests.support.hostile_runs import send_all
from tests.support.world import World

FILES = len(FAMILIES)
SEED = 20261121


@pytest.mark.parametrize("engine_name", ["postgresql"])
def test_no_hostile_file_ends_the_worker_or_costs_more_than_its_lines_or_leaves_a_stray_byte(
    world: World,
) -> None:
    outcome = send_all(world, hostile_files(SEED, FILES))
    assert outcome.faults == []
    assert outcome.states["400"] + outcome.states.get("200", 0) == FILES
    assert outcome.states["rejected"] + outcome.states.get("scored", 0) == FILES
