"""What a person reads whose file is wrong on many lines: first how many lines, then examples."""

import io
import tarfile
from collections.abc import Callable
from typing import Any

import pytest

from leaderboard.errors import FileRejected
from leaderboard.formats import read_judgments, read_run
from tests.formats.files import problems_of, text

SIX = "query Q0 document rank score tag"
Reader = Callable[..., Any]


def summed_up(read: Reader, *lines: str) -> str:
    """The first line of what is said of a file with these lines, and that ten examples or fewer follow it."""
    (first, message), *examples = problems_of(read, text(*lines))
    assert first is None
    assert [line for line, _ in examples] == list(range(1, len(lines) + 1))[:10]
    return message


def test_a_mistake_on_every_line_is_said_once_before_its_first_lines() -> None:
    with pytest.raises(FileRejected) as caught:
        read_run(text(*[f"q{number} d 0.5 me" for number in range(6000)][:6000]), name="mine.txt", format="trec")
    assert caught.value.count == 6000
    assert caught.value.message.splitlines() == [
        f"mine.txt: 6,000 of 6,000 lines: expected 6 columns ({SIX})",
        *[f"mine.txt: line {line}: expected 6 columns, found 4 ({SIX})" for line in range(1, 11)],
    ]


def test_lines_of_different_lengths_are_one_kind_of_mistake() -> None:
    lines = ["word " * (number % 4 + 1) for number in range(40)]
    assert summed_up(read_run, *lines) == f"40 of 40 lines: expected 6 columns ({SIX})"


@pytest.mark.parametrize(("head", "row"), [(["query,document,score"], "q,{},1"), ([], "q Q0 {} 1 1 t")])
def test_documents_that_are_listed_twice_are_one_problem_in_every_format(head: list[str], row: str) -> None:
    rows = [row.format(f"d{number}") for number in range(20)]
    (line, message), *examples = problems_of(read_run, text(*head, *rows, *rows[:11]))
    assert (line, message) == (None, "11 of 31 lines: a document is listed twice for one query")
    assert [line for line, _ in examples] == [len(head) + 20 + place for place in range(1, 11)]


def test_one_line_of_another_kind_of_file_is_told_as_that() -> None:
    (line, message), _ = problems_of(read_run, text("<html><body>no run</body></html>"))
    assert line is None
    assert message.startswith("1 of 1 lines: expected 6 columns (")
    assert message.endswith("it looks like HTML, XML or one JSON array; give plain text, or one JSON object a line")


def test_a_mistake_on_some_of_many_lines_is_summed_up_where_they_are_not_few() -> None:
    good = [f"q Q0 d{number} 1 1 me" for number in range(400)]
    bad = [f"q Q0 e{number} 1 {'nan' if number else 'inf'} me" for number in range(60)]
    assert [line for line, _ in problems_of(read_run, text(*good, *bad[:10]))] == [*range(401, 411)]
    more = problems_of(read_run, text(*good, *bad))
    assert more[0] == (None, "60 of 460 lines: the score is no finite number")
    assert [line for line, _ in more[1:]] == [*range(401, 411)]


def test_each_kind_of_mistake_is_summed_up_by_itself_the_commonest_first() -> None:
    with pytest.raises(FileRejected) as caught:
        read_run(text("q Q0 d 1 1 t", *["q Q0 d 1 1 t", "short", "z Q0 d 1 1 t"] * 60), queries=["q"], name="mine.txt")
    assert caught.value.count == 60 + 60 + 60 + 59  # z's document is listed 60 times, so 59 times again
    assert [problem.message for problem in caught.value.problems if problem.line is None] == [
        "119 of 181 lines: a document is listed twice for one query",
        f"60 of 181 lines: expected 6 columns ({SIX})",
        "60 of 181 lines: the query is not in this evaluation",
    ]
    listed = [problem.line for problem in caught.value.problems[3:]]
    assert (listed[:6], len(listed)) == ([2, 3, 4, 5, 6, 7], 30)  # ten of each kind
    assert "more problems" not in caught.value.message


@pytest.mark.parametrize(
    ("read", "line", "guess"),
    [
        (read_run, "301 0 FBIS3-10082 1", "judgments (query iteration document grade)"),
        (read_run, "301,FBIS3-10082,0.5", "CSV; part it by commas, and begin it with a header that names the columns"),
        (read_run, "\0\1\2\3", "binary data, not text"),
        (read_judgments, "301 Q0 FBIS3-10082 1 0.5 me", "a run (query Q0 document rank score tag)"),
        (read_run, "num_ret               \t301\t94", "what trec_eval prints of a run; give the run itself"),
    ],
)  # fmt: skip
def test_what_a_file_seems_to_be_is_said_where_most_lines_are_wrong(read: Reader, line: str, guess: str) -> None:
    message = summed_up(read, *[line] * 12)
    assert message.startswith("12 of 12 lines: ")
    assert message.endswith(f"; it looks like {guess}")


def test_nothing_is_guessed_where_most_lines_are_good() -> None:
    lines = ["q1 0 d 1", *[f"q Q0 d{number} 1 1 t" for number in range(9)]]
    assert problems_of(read_run, text(*lines), format="trec") == [(1, f"expected 6 columns, found 4 ({SIX})")]


def test_an_archive_with_many_wrong_files_counts_files() -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for number in range(80):
            entry = tarfile.TarInfo(f"q-z{number}.tsv")
            entry.size = 5
            archive.addfile(entry, io.BytesIO(b"d\t.5\n"))
    found = problems_of(read_run, io.BytesIO(packed.getvalue()), queries=["q"])
    assert found[0] == (None, "80 files: the query is not in this evaluation")
    assert found[1] == (None, "query z0 is not in this evaluation (in q-z0.tsv)")
