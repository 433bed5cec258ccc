"""The scale of the bars inside a column."""

from leaderboard.web.formatting import Scale, scale_of


def test_zero_is_on_every_scale() -> None:
    assert scale_of([0.25, 0.5]) == Scale(0.0, 0.5)
    assert scale_of([-0.5, -0.25]) == Scale(-0.5, 0.0)
    assert scale_of([]) == Scale(0.0, 0.0)


def test_a_figure_lies_where_it_is_between_the_ends() -> None:
    scale = scale_of([-0.5, 0.5, None])
    assert [scale.at(value) for value in (-0.5, 0.0, 0.25, 0.5)] == [0.0, 50.0, 75.0, 100.0]
    assert scale.zero == 50.0
    assert scale.crosses_zero


def test_intervals_are_on_the_scale_too() -> None:
    assert scale_of([0.5, 0.25, 0.75, None]) == Scale(0.0, 0.75)


def test_one_very_low_value_does_not_take_the_room_of_all_others() -> None:
    scale = scale_of([-4.0, 0.25, 1.0])
    assert scale == Scale(-1.0, 1.0)
    assert (scale.at(-4.0), scale.ends_below(-4.0), scale.ends_below(-1.0)) == (0.0, True, False)


def test_a_scale_without_length_puts_everything_at_its_start() -> None:
    assert scale_of([0.0]).at(0.0) == 0.0
