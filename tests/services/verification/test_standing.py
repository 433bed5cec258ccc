"""Verification compares the rows that say which runs stand with the rule; of an old set, what each row may say."""

from tests.support.verification import Changes, found_after, stands
from tests.support.world import World

# Set 1 was superseded by set 2: whether its boards had no row of a system nobody can tell.
BROKEN: dict[str, Changes] = {
    "DELETE FROM standing": stands(0, 2),
    "UPDATE standing SET scoring_id = 2 WHERE scoring_set_id = 1": stands(0, 1),
    "UPDATE standing SET system_id = 2 WHERE scoring_set_id = 1": stands(1, 1),
    "INSERT INTO standing VALUES (1, 'primary', 'all', false, 1, true, 1)": stands(0, 1, run="late run"),
    "INSERT INTO standing VALUES (2, 'best', 'all', true, 2, false, 4)": stands(1, 2),
}


def test_rows_that_say_otherwise_than_the_rule_are_named_by_system_and_set(played: World) -> None:
    wrong = {statement: found for statement in BROKEN if (found := found_after(played, statement)) != BROKEN[statement]}
    assert wrong == {}
