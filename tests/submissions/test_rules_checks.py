"""What is said of a run before it is submitted."""

import gzip
import io
import tarfile
from dataclasses import replace

import pytest

from leaderboard.evaluations.rules import FieldKind, FormField
from leaderboard.formats import FileRules, RunRules
from leaderboard.submissions import rules
from leaderboard.submissions.rules import (
    CHECKED_BYTES,
    CHECKED_FILES,
    Checked,
    Expected,
    check_file,
)

RUN = b"q1 Q0 d1 1 3 tag\nq1 Q0 d2 2 2 tag\nq2 Q0 d1 1 3 tag\n"
RULES = RunRules(FileRules(least_documents=2, every_query=True, document_pattern="d[0-9]"), ("q1", "q2", "q3"))


def found(text: bytes, expected: Expected, *, whole: bool = True, threshold: float | None = None) -> Checked:
    with pytest.MonkeyPatch.context() as patched:
        if not whole:  # a line more than what is read
            patched.setattr(rules, "CHECKED_BYTES", len(text))
            text += b"q9"
        return check_file(io.BytesIO(text), "run", expected, 2**32, threshold=threshold)[0]


def test_the_shape_of_a_run_is_told() -> None:
    checked = found(RUN, Expected(1, ("q1", "q2", "q3")))
    assert checked.tags == ("tag",)
    several = found(RUN + b"q3 Q0 d1 1 3 other\n", Expected())
    assert several.remarks == ("Its lines have different run tags, such as tag, other: is it one run?",)
    assert (checked.lines, checked.queries, checked.tag, checked.depth) == (3, 2, "tag", (1, 1, 2))
    assert (checked.known, checked.lacking, checked.unknown) == (3, (1, ("q3",)), (0, ()))
    assert checked.warnings == ()


def test_what_was_returned_is_asked_about_only_where_a_measure_counts_it() -> None:
    expected = Expected(1, returned_by=("AQWV",))
    [warning] = found(RUN, expected).warnings
    assert warning.startswith("AQWV is shown here, and this run has neither decisions nor a threshold")
    assert found(RUN, expected, threshold=2.5).warnings == ()
    assert found(b"q1 d1 Y 1\n", expected).warnings == ()
    assert found(b"no run at all\n", expected).warnings == ()


def test_a_file_is_not_said_to_be_sound_of_which_only_the_beginning_was_looked_at() -> None:
    expected = Expected(1, ("q1", "q2"), allowed=frozenset({"q1", "q2"}))
    assert found(RUN, expected).is_sound
    begun = found(RUN, expected, whole=False)
    assert begun.is_sound is None
    said = "\n".join(begun.in_words)
    assert "only its beginning was looked at" in said
    assert "lists for 2 of 2 queries" in said
    assert "speaks against" not in said
    assert found(b"q1 Q0 d1\n", expected, whole=False).is_sound is False


def test_what_a_run_answers_to_fields_of_the_form_is_held_against_them() -> None:
    params = FormField(key="params", label="Parameters", kind=FieldKind.NUMBER, header="params")
    gpus = FormField(key="gpus", label="Processors", kind=FieldKind.NUMBER, header="gpus", required=True)
    old = FormField(key="old", label="Old", kind=FieldKind.NUMBER, header="old", required=True, asked=False)
    typed = FormField(key="typed", label="Typed", required=True)
    expected = Expected(1, fields=(params, gpus, old, typed))
    wrong = found(b"# params: 5\n# params: 6\n# gpus: 8\n" + RUN, expected)
    assert wrong.wrong_answers == ("the run's own metadata has '5, 6' as params: give a number such as 0.5",)
    assert wrong.is_sound is False
    assert f"It would not be accepted: {wrong.wrong_answers[0]}." in wrong.in_words
    lacking = found(b"# params: 5\n" + RUN, expected)  # which the form may still be given
    assert (lacking.wrong_answers, lacking.is_sound) == ((), True)
    [remark] = lacking.remarks
    assert remark == (
        "Processors is lacking, which every run here needs: give a number such as 0.5; or say gpus in the run's own "
        "metadata."
    )
    assert found(b"# params: 5\n# gpus: 8\n" + RUN, expected).remarks == ()


def test_a_run_whose_queries_are_mostly_strange_is_of_something_else() -> None:
    assert found(RUN, Expected(1, ("q1", "q8"))).warnings == ()
    for run, words in (
        (RUN, "Your query ids look like q1, q2; ours look like q7, q8, q10."),
        (RUN.replace(b"q", b"CV19-"), "Your query ids begin CV19-; ours look like q7, q8, q10."),
        (RUN.replace(b"q", b"30"), "Your query ids look like 301, 302; ours look like q7, q8, q10."),
        (RUN + b"q7 Q0 d1 1 3 t\n", "2 of its 3 queries are unknown here: q1, q2."),
    ):
        checked = found(run, Expected(1, ("q7", "q10", "q8")))
        fate = "The run is rejected for these, unless they are hidden queries, which only the organisers know."
        assert checked.warnings == (f"Is it for this evaluation? {words} {fate}",)
        assert checked.unsettled == ""  # the warning says it
        assert ("No list for" in " ".join(checked.in_words)) == ("2 of its 3" in words)  # of all, where all are strange
        assert " ".join(checked.in_words).count("hidden queries") == 1


def test_the_verdict_is_what_would_become_of_the_run_now() -> None:
    known = Expected(1, ("q1", "q2"), allowed=frozenset({"q1", "q2"}))
    for text, expected, verdict in (
        (RUN, known, "This run would be accepted"),
        (RUN, replace(known, late_now=True), "This run would be accepted"),
        (RUN, replace(known, returned_by=("AQWV",)), "This run would be accepted once you confirm it"),
        (RUN, replace(known, refused_now="It is closed."), "This run would not be accepted now"),
        (RUN, Expected(1, ("q1", "q8")), "This run may be rejected"),
        (RUN, Expected(1, ("q7", "q8")), "This run may be rejected"),
        (b"q1 Q0 d1\n", known, "This run would be rejected"),
    ):
        assert found(text, expected).verdict == verdict
    assert found(RUN, known, whole=False).verdict == "The part of this run that was read would be accepted"


def test_the_depth_of_a_run_is_one_number_where_it_is() -> None:
    assert (
        "run: 2 lines, 2 queries, 1 document a query, tag t"
        in found(b"q1 Q0 a 1 1 t\nq2 Q0 a 1 1 t\n", Expected()).in_words
    )
    assert "run: 3 lines, 2 queries, 1 to 2 documents a query, median 1, tag tag" in found(RUN, Expected()).in_words


def test_the_beginning_of_a_file_is_not_said_to_lack_what_may_follow() -> None:
    expected = Expected(1, ("q1", "q2", "q3"), rules=RULES)
    assert found(RUN, expected).problem_count == 2
    assert found(RUN, expected, whole=False).problem_count == 0
    strange = RUN.replace(b"d2", b"x2")
    assert [problem.line for problem in found(strange, expected, whole=False).problems] == [2]
    assert found(strange, expected).warnings == ()  # its problems say it


def looked_at(content: bytes, *, everything: bool = False) -> Checked:
    return check_file(io.BytesIO(content), "run", Expected(1), 2**32, everything=everything)[0]


def archive(files: int, lines: int) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1) as out:
        for number in range(files):
            content = b"".join(b"document-%d\tY\t%d\n" % (line, line) for line in range(lines))
            entry = tarfile.TarInfo(f"q{number}.tsv")
            entry.size = len(content)
            out.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def test_of_an_archive_as_much_is_read_as_is_whole_within_the_bounds() -> None:
    assert (looked_at(archive(3, 2)).whole, looked_at(archive(3, 2)).lines) == (True, 6)
    many = archive(CHECKED_FILES + 1, 1)
    assert (looked_at(many).whole, looked_at(many).queries, looked_at(many).problem_count) == (False, CHECKED_FILES, 0)
    assert looked_at(many, everything=True).queries == CHECKED_FILES + 1
    long = looked_at(archive(3, 300_000))  # the third one is cut off
    assert (long.whole, long.queries, long.problem_count) == (False, 2, 0)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"x", "expected 6 columns, found 1"),
        (b"", "is empty"),
        (b"%PDF-1.7\n", "is a PDF document"),
        (b"x" * (CHECKED_BYTES + 9), "longer than 1,048,576 bytes"),
        (gzip.compress(bytes(2 * CHECKED_BYTES)), "expands to more than 200 times its size"),
        (gzip.compress(bytes(CHECKED_BYTES // 2)), "is an archive without files"),
    ],
    ids=["one byte", "nothing", "PDF", "one long line", "a gzip bomb", "a small one"],
)
def test_a_file_that_is_no_run_would_be_rejected(content: bytes, says: str) -> None:
    found = looked_at(content)
    assert says in str(found.problems[0])


def test_a_query_that_is_not_asked_is_a_problem_for_who_knows_all_queries_only() -> None:
    some = found(RUN, Expected(1, ("q1",)))
    assert (some.problem_count, some.is_sound) == (0, None)
    assert found(RUN, Expected(queries=("q1",))).is_sound is False  # offline all queries are given
    assert "speaks against" not in " ".join(some.in_words)
    all_of_them = found(RUN, Expected(1, ("q1",), allowed=frozenset({"q1"})))
    assert [str(problem) for problem in all_of_them.problems] == ["line 3: query q2 is not in this evaluation"]
    assert found(RUN, Expected(1, ("q1",), ("q2",), allowed=frozenset({"q1", "q2"}))).is_sound


def test_a_hidden_query_is_no_problem_and_one_that_there_is_not_is_one_wherever_a_run_is_submitted() -> None:
    to_submit = Expected(1, ("q1", "q3"), allowed=frozenset({"q1", "q2", "q3"}), verdict_only=True)
    hidden = found(RUN, to_submit)
    assert (hidden.problem_count, hidden.unknown, hidden.is_sound) == (0, (1, ("q2",)), True)
    assert hidden.tells_of_hidden
    assert "organisers" not in " ".join(hidden.in_words)
    invented = found(RUN.replace(b"q2", b"x2"), to_submit)
    assert [str(problem) for problem in invented.problems] == ["line 3: query x2 is not in this evaluation"]
    assert found(RUN[:34], to_submit).tells_of_hidden is False
    checked = [found(RUN.replace(b"q2", name), Expected(1, ("q1", "q3"))) for name in (b"q2", b"x2")]
    said = [" ".join(one.in_words).replace("x2", "q2") for one in checked]
    assert said[0] == said[1]
    assert "1 query is not among those listed here: q2. The run is rejected for these, unless" in said[0]


@pytest.mark.parametrize(
    ("threshold", "said"),
    [
        (12.5, ["With θ = 12.5 the run returns 0 of the 3 documents read, whose scores lie between 2 and 3."]),
        (2.0, ["With θ = 2 the run returns 3 of the 3 documents read, whose scores lie between 2 and 3."]),
        (2.5, []),
    ],
)
def test_a_threshold_that_parts_nothing_is_warned_of(threshold: float, said: list[str]) -> None:
    for expected in (Expected(1, returned_by=("AQWV",)), Expected()):
        assert [*found(RUN, expected, threshold=threshold).warnings] == said
    assert found(RUN, Expected(1), threshold=threshold).warnings == ()  # nothing counts what is returned there
    decided = b"q1 d1 Y 3\nq1 d2 N 2\n"
    assert found(decided, Expected(1, returned_by=("AQWV",)), threshold=threshold).warnings == ()
