import numpy as np

from leaderboard.statistics import leaders, letters

NAN = np.nan


def held_against(means, critical):
    """p of 1 for pairs within the critical difference and .01 for the others."""
    means = np.array(means)
    return np.where(np.abs(means[:, np.newaxis] - means) <= critical, 1.0, 0.01)


def test_the_leaders_group_holds_all_that_can_not_be_told_apart_from_the_first():
    means = np.array([0.5, 0.9, 0.8, 0.7, 0.3])
    ranks = np.array([4, 1, 2, 3, 5])
    assert leaders(ranks, held_against(means, 0.25), 0.95) == (1, 2, 3)


def test_a_lone_leader_is_a_group_of_one():
    assert leaders(np.array([2, 1]), held_against([0.1, 0.9], 0.25), 0.95) == (1,)


def test_systems_that_share_the_lead_keep_their_order():
    assert leaders(np.array([1, 3, 1]), held_against([0.9, 0.1, 0.9], 0.25), 0.95) == (0, 2)


def test_a_system_that_was_not_compared_is_in_no_group():
    p = np.array([[1.0, NAN], [NAN, NAN]])
    assert leaders(np.array([1, 2]), p, 0.95) == (0,)
    assert letters(np.array([0.5, NAN]), p, 0.95) == ("a", "")
    assert leaders(np.array([1, 1]), np.full((2, 2), NAN), 0.95) == ()
    assert letters(np.array([NAN, NAN]), np.full((2, 2), NAN), 0.95) == ("", "")


def test_two_systems_share_a_letter_exactly_when_they_can_not_be_told_apart():
    draw = np.random.default_rng(6)
    for _ in range(30):
        means = draw.random(9)
        p = held_against(means, draw.random() / 2)
        given = [set(names.split()) for names in letters(means, p, 0.95)]
        shared = np.array([[bool(mine & theirs) for theirs in given] for mine in given])
        np.testing.assert_array_equal(shared, p > 0.05)
        assert "a" in given[int(means.argmax())]


def test_letters_by_hand():
    means = np.array([0.9, 0.8, 0.7, 0.3])
    assert letters(means, held_against(means, 0.125), 0.95) == ("a", "a b", "b", "c")
    assert letters(means, held_against(means, 0.125), 0.95, lower_is_better=True) == ("c", "b c", "b", "a")


def test_after_z_comes_aa():
    means = np.arange(28.0)[::-1]
    assert letters(means, held_against(means, 0.5), 0.95)[25:] == ("z", "aa", "ab")
