"""What a run says of itself, in comment lines and in a YAML file beside it; hostile YAML costs nothing."""

import io

import pytest

from leaderboard.formats import read_run, side_metadata
from leaderboard.formats.metadata import HEADER_BYTES, header_metadata

# As the specification of ir_metadata shows it.
BLOCK = """\
# ir_metadata.start
# platform:
#   hardware:
#     cpu:
#       model: 'Intel Xeon Gold 6144 CPU @ 3.50GHz'
# method:
#   automatic: true
#   retrieval:
#     - name: bm25
#       k1: 1.2
#     - name: monoT5
# ir_metadata.end
"""
ROW = "q1 Q0 d1 1 0.5 tag\n"


def test_the_block_of_ir_metadata_is_read_from_a_run() -> None:
    run = read_run(io.BytesIO((BLOCK + ROW).encode()))
    assert run.said.problem == ""
    assert run.said.entries == {
        "platform.hardware.cpu.model": "Intel Xeon Gold 6144 CPU @ 3.50GHz",
        "method.automatic": "true",
        "method.retrieval.name": "bm25, monoT5",
        "method.retrieval.k1": "1.2",
    }
    assert len(run) == 1


def test_lines_of_a_key_and_a_value_are_read_from_a_run() -> None:
    head = "# Team: Alder\n#\n# training data: none\n# just a remark\n# see http://example.org/x\n"
    assert read_run(io.BytesIO((head + ROW).encode())).said.entries == {"team": "Alder", "training data": "none"}


def test_lines_around_a_block_are_read_too_and_the_block_has_the_say() -> None:
    block = "# ir_metadata.start\n# platform:\n#   cpu: x\n# team: Birch\n# ir_metadata.end\n"
    said = read_run(io.BytesIO(("# gpu: none\n" + block + "# team: Alder\n# prompt: no\n" + ROW).encode())).said
    assert said.entries == {"platform.cpu": "x", "team": "Birch", "gpu": "none", "prompt": "no"}


def test_comments_behind_the_first_row_are_not_looked_at() -> None:
    assert read_run(io.BytesIO((ROW + "# team: Alder\n").encode())).said.entries == {}


def test_a_block_that_cannot_be_read_is_told_and_the_run_is_read_all_the_same() -> None:
    broken = "# ir_metadata.start\n# a: [1\n# ir_metadata.end\n"
    run = read_run(io.BytesIO((broken + ROW).encode()))
    assert "it is no YAML" in run.said.problem
    assert len(run) == 1
    assert header_metadata(b"# ir_metadata.start\n# a: 1\nq1").problem == "# ir_metadata.end is missing"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "an anchor or an alias"),
        (b"[" * 60_000, "too many"),
        (b"- " * 30_000, "too many"),
        (b"{" + b"a: 1," * 10_000 + b"}", "too many"),
        (b"? [a]\n: 1\n", "it is no YAML"),
        (b"a: 1\n b: [", "it is no YAML"),
        (b"%YAML 1" + b"9" * 50_000 + b".1\n---\na: 1", "it is no YAML"),
        (b"\xff\xfea", "no UTF-8"),
        (b"a: \x01", "it is no YAML (unacceptable character #x0001: special characters are not allowed"),
        (b"a" * (HEADER_BYTES + 1), "larger than 65,536 bytes"),
    ],
)
def test_hostile_yaml_is_refused_before_it_costs_anything(content: bytes, says: str) -> None:
    assert says in side_metadata(content).problem


def test_no_value_is_made_of_yaml_and_no_code_is_run() -> None:
    content = b"a: !!python/object/apply:os.system [exit]\nb: 2020-01-01\nc: 0x1F\nd: ~\n"
    assert side_metadata(content).entries == {"a": "exit", "b": "2020-01-01", "c": "0x1F", "d": "~"}


def test_what_is_kept_is_bounded_and_can_be_seen() -> None:
    many = side_metadata("".join(f"k{n}: v\n" for n in range(1000)).encode())
    assert len(many.entries) == 200
    long = side_metadata(b'key: "' + b"x" * 5000 + b'"\nnul: "a\\0b\\u202e"\n')
    assert len(long.entries["key"]) <= 501
    assert long.entries["nul"].isprintable()
