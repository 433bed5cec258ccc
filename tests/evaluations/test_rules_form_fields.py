"""What a field of the form takes, and how it is told."""

from leaderboard.evaluations.rules import FieldKind, FormField


def test_choices_that_hold_commas_or_quotes_are_told_apart() -> None:
    plain = FormField(key="size", label="Size", kind=FieldKind.CHOICE, choices=("small", "very big"))
    assert plain.choices_in_words == "small, very big"
    odd = FormField(key="size", label="Size", kind=FieldKind.CHOICE, choices=("small, big", '"x"', "=1+1"))
    assert odd.choices_in_words == '“small, big”, “"x"”, “=1+1”'
