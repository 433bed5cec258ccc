"""What an organiser asks of run files: what breaks it is told line by line."""

import gzip
import io
import time

import pytest

from leaderboard.errors import FileRejected, Problem
from leaderboard.formats import FileRules, RunRules, document_list, read_run
from leaderboard.formats.file_rules import read_document_list

RUN = (
    "# made on Monday\n"
    "q1 Q0 doc-1 1 0.9 my-tag\n"
    "q1 Q0 doc-2 2 0.8 my-tag\n"
    "q1 Q0 doc-3 3 0.7 my-tag\n"
    "q2 Q0 other7 1 0.9 my-tag\n"
)


def problems_of(
    rules: FileRules, run: str = RUN, *, queries: tuple[str, ...] = (), documents: str = ""
) -> list[Problem]:
    packed = document_list(io.BytesIO(documents.encode())).packed if documents else None
    try:
        read_run(io.BytesIO(run.encode()), rules=RunRules(rules, queries, packed), name="run")
    except FileRejected as rejected:
        return list(rejected.problems)
    return []


def test_too_many_documents_for_a_query_are_told_with_its_first_line() -> None:
    [problem] = problems_of(FileRules(most_documents=2))
    assert (problem.line, problem.message) == (2, "query q1 has more than 2 documents, the most allowed here")
    assert problems_of(FileRules(most_documents=3)) == []


def test_documents_are_counted_where_the_lines_of_queries_are_mixed() -> None:
    lines = ["q1 Q0 a 1 4 t", "q2 Q0 a 1 4 t", "q1 Q0 b 2 3 t", "q2 Q0 b 2 3 t", "q2 Q0 c 3 1 t"]
    assert [problem.line for problem in problems_of(FileRules(most_documents=2), "\n".join(lines))] == [2]
    assert [problem.line for problem in problems_of(FileRules(most_documents=1), "\n".join(lines))] == [1, 2]


def test_too_few_documents_for_a_query_are_told_with_its_first_line() -> None:
    [problem] = problems_of(FileRules(least_documents=2))
    assert (problem.line, problem.message) == (5, "query q2 has fewer than 2 documents, the least asked for here")


def test_a_query_without_a_list_is_told_by_name() -> None:
    [problem] = problems_of(FileRules(every_query=True), queries=("q1", "q2", "q3"))
    assert problem.line is None
    assert problem.message == "1 query has no list, and here every query must have one: q3"
    assert problems_of(FileRules(every_query=True), queries=("q1", "q2")) == []


def test_documents_that_are_not_on_the_list_are_told_each_with_its_line() -> None:
    found = problems_of(FileRules(documents=3), documents="doc-1\ndoc-2\ndoc-3\n")
    assert [(problem.line, problem.message) for problem in found] == [(5, "document other7 is not of this collection")]
    assert problems_of(FileRules(documents=4), documents="doc-1\ndoc-2\ndoc-3\nother7") == []


def test_documents_without_the_form_of_the_collection_are_told_each_with_its_line() -> None:
    found = problems_of(FileRules(document_pattern=r"doc-\d+"))
    assert [(problem.line, problem.message) for problem in found] == [
        (5, r"document other7 does not fit the pattern of ids in this collection, doc-\d+")
    ]


@pytest.mark.parametrize(("pattern", "is_refused"), [("[a-z-]{1,12}", False), ("[A-Z]+", True)])
def test_the_run_tag_has_the_form_that_is_asked_for(pattern: str, is_refused: bool) -> None:
    found = problems_of(FileRules(tag_pattern=pattern))
    assert [(problem.line, problem.message) for problem in found] == (
        [(line, f"run tag my-tag has not the form that is asked for here: {pattern}") for line in (2, 3, 4, 5)]
        if is_refused
        else []
    )


@pytest.mark.parametrize("strange", ["bad-tag!@#", "x" * 600, "çé"])
@pytest.mark.parametrize("broken", [False, True])  # with a line that is read one by one
def test_the_run_tag_of_every_line_is_looked_at_and_told_with_its_line(strange: str, broken: bool) -> None:
    tags = ["a"] * 5 + [strange] + ["longer1tag"] * 3 + [strange]
    lines = [f"q1 Q0 d{n} {n} {-n} {tag}" for n, tag in enumerate(tags)]
    if broken:
        lines[2] = "q1 Q0 d2 2 high a"
    found = problems_of(FileRules(tag_pattern="[A-Za-z0-9]{1,12}|x*"), "\n".join(lines))
    of_tags = [problem for problem in found if "run tag" in problem.message]
    assert [problem.line for problem in of_tags] == [6, 10]
    assert all(f"run tag {strange[:6]}"[:10] in problem.message for problem in of_tags)
    assert len(found) == 2 + broken


def test_of_a_file_with_lines_that_cannot_be_read_nothing_is_said_to_be_missing() -> None:
    found = problems_of(FileRules(least_documents=2, every_query=True), RUN + "q2 Q0 doc-9 2\n", queries=("q3",))
    assert [problem.line for problem in found] == [6]


def test_a_list_of_documents_is_packed_and_comes_back_as_it_was() -> None:
    ids = [f"doc-{n}" for n in range(5000)]
    plain = document_list(io.BytesIO("\n".join(ids).encode()))
    packed = document_list(io.BytesIO(gzip.compress(("\r\n".join(ids) + "\r\n").encode())))
    assert plain == packed
    assert plain.count == 5000
    assert len(plain.packed) < len("".join(ids)) / 2
    assert read_document_list(plain.packed).decode().split() == ids


@pytest.mark.parametrize(("text", "says"), [("d1\nd2 d3\n", "line 2: expected 1 column,"), ("", "is empty")])
def test_what_is_no_list_of_documents_is_refused(text: str, says: str) -> None:
    with pytest.raises(FileRejected, match=says):
        document_list(io.BytesIO(text.encode()))


def test_rules_cost_little_beside_reading() -> None:
    """A bound with room for a noisy machine; docs/performance.md has what was measured on a million lines."""
    run = "".join(f"q{n // 1000} Q0 doc-{n * 7 % 100_003} {n % 1000} {-n} t\n" for n in range(100_000)).encode()
    listed = document_list(io.BytesIO("".join(f"doc-{n}\n" for n in range(100_003)).encode()))
    rules = RunRules(
        FileRules(1000, 1, True, r"doc-\d{1,6}", "[a-z]+", listed.count), [f"q{n}" for n in range(100)], listed.packed
    )

    def seconds(rules: RunRules | None) -> float:
        started = time.process_time()
        read_run(io.BytesIO(run), rules=rules)
        return time.process_time() - started

    pairs = [(seconds(None), seconds(rules)) for _ in range(5)]
    assert min(ruled for _, ruled in pairs) < 2.5 * min(bare for bare, _ in pairs)


def test_rules_are_said_in_words_a_sentence_each() -> None:
    assert FileRules().in_words == ()
    assert FileRules(most_documents=1000, least_documents=1, documents=2500).in_words == (
        "Documents in a query's list: at least 1.",
        "Documents in a query's list: at most 1,000.",
        "Documents are those of the collection's list, which has 2,500.",
    )
