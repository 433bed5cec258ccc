"""Errors: what a person reads."""

from leaderboard.errors import FileRejected, InvalidFields, NotAllowed, Problem

REJECTED = FileRejected([Problem(17, "expected 6 columns, found 5"), Problem(None, "no lines")], 40, "run.txt")


def test_a_rejected_file_lists_its_first_problems_with_their_lines_and_counts_the_others() -> None:
    of_line, of_file, more = REJECTED.message.splitlines()
    assert of_line == "run.txt: line 17: expected 6 columns, found 5"
    assert (of_file, more) == ("run.txt: no lines", "run.txt: and 38 more problems")


def test_fields_are_named_with_their_messages() -> None:
    assert InvalidFields({"slug": ["too long", "taken"]}).message == "slug: too long; slug: taken"


def test_an_error_without_a_message_says_what_its_kind_means() -> None:
    assert NotAllowed().message == "You may not do this."
