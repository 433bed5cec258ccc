"""What is said of a run before it is submitted."""

from leaderboard.formats import FileRules, RunRules
from leaderboard.rules.run_checks import Checked, Expected, Kind, check_run

RUN = b"q1 Q0 d1 1 3 tag\nq1 Q0 d2 2 2 tag\nq2 Q0 d1 1 3 tag\n"
RULES = RunRules(FileRules(least_documents=2, every_query=True, document_pattern="d[0-9]"), ("q1", "q2", "q3"))


def found(text: bytes, expected: Expected, **given: object) -> Checked:
    return check_run(text, expected, name="run", **given)[0]  # type: ignore[arg-type]  # what the test gives


def kinds(checked: Checked) -> list[Kind]:
    return [warned.kind for warned in checked.warnings]


def test_the_shape_of_a_run_is_told() -> None:
    checked = found(RUN, Expected("Text", ("q1", "q2", "q3")))
    assert (checked.lines, checked.queries, checked.tag, checked.depth) == (3, 2, "tag", (1, 1, 2))
    assert (checked.known, checked.lacking, checked.unknown) == (3, (1, ("q3",)), (0, ()))
    assert checked.warnings == ()


def test_what_was_returned_is_asked_about_only_where_a_measure_counts_it() -> None:
    expected = Expected("Text", returned_by=("AQWV",))
    assert kinds(found(RUN, expected)) == [Kind.RETURNED]
    assert kinds(found(RUN, expected, threshold=0.0)) == []
    assert kinds(found(b"q1 d1 Y 1\n", expected)) == []
    assert kinds(found(b"no run at all\n", expected)) == []


def test_excluded_queries_are_known_and_not_missed() -> None:
    checked = found(RUN, Expected("Text", ("q1",), ("q2",)))
    assert (checked.lacking, checked.unknown) == ((0, ()), (0, ()))


def test_a_run_whose_queries_are_mostly_strange_is_of_something_else() -> None:
    assert kinds(found(RUN, Expected("Text", ("q7", "q8")))) == [Kind.COLLECTION]
    assert kinds(found(RUN, Expected("Text", ("q1", "q8")))) == []


def test_the_beginning_of_a_file_is_not_said_to_lack_what_may_follow() -> None:
    expected = Expected("Text", ("q1", "q2", "q3"), rules=RULES)
    assert found(RUN, expected).problem_count == 2
    assert found(RUN, expected, whole=False).problem_count == 0
    strange = RUN.replace(b"d2", b"x2")
    assert [problem.line for problem in found(strange, expected, whole=False).problems] == [2]
    assert kinds(found(strange, expected)) == [Kind.COLLECTION]
