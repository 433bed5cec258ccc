"""What is recorded of a run that was scored."""

import pytest

from leaderboard.models import Submission
from tests.support.world import RUN, World


@pytest.mark.parametrize(
    ("given", "text", "label"),
    [
        ("", RUN, "a-run"),
        ("our first", RUN, "our first"),
        ("", "q1\td1\tY\t0.9\n", "run.txt"),
    ],
    ids=["run tag", "the submitter's own", "file's name"],
)
def test_a_run_without_a_label_gets_its_tag_or_the_name_of_its_file(
    world: World, given: str, text: str, label: str
) -> None:
    run = world.submit(text, label=given)
    world.drain()
    with world.database.read() as session:
        assert session.get_one(Submission, run).label == label
