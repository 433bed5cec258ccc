"""What a run says of itself, in comment lines and in a YAML file beside it; hostile YAML costs nothing."""

import io
import time

import pytest

from leaderboard.formats import read_run, side_metadata
from leaderboard.formats.metadata import HEADER_BYTES, SIDE_BYTES, header_metadata

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


def tracked(samples: int) -> str:
    """A file as a tracker of resources writes it, with so many samples of what was used, in both of YAML's styles."""
    moments = ", ".join(f"{100 * at}ms" for at in range(samples))
    used = ", ".join(f"{at % 7}" for at in range(samples))
    rows = "".join(f"      - '2026-03-01 10:00:{at % 60:02}.25'\n" for at in range(samples))
    return (
        "schema version: 0.2\nplatform:\n  hardware:\n    ram: 64 GB\nresources:\n  runtime:\n    wallclock: 12500 ms\n"
        f"  cpu:\n    used process: {{min: 0, max: 6, timeseries: {{timestamps: [{moments}], values: [{used}]}}}}\n"
        f"    energy used system: 690906302 J\n  ram:\n    sampled at:\n{rows}    used system: null\n"
    )


@pytest.mark.parametrize("samples", [3, 20_000])
def test_time_series_of_trackers_are_skipped_and_do_not_count(samples: int) -> None:
    said = side_metadata(tracked(samples).encode())
    assert said.problem == ""
    moments = said.entries.pop("resources.ram.sampled at", "")
    assert moments.count("10:00:") == (3 if samples == 3 else 0)
    assert said.entries == {
        "schema version": "0.2", "platform.hardware.ram": "64 GB", "resources.runtime.wallclock": "12500 ms",
        "resources.cpu.used process.min": "0", "resources.cpu.used process.max": "6",
        "resources.cpu.energy used system": "690906302 J", "resources.ram.used system": "null",
    }  # fmt: skip
    commented = "# ir_metadata.start\n" + "".join(f"# {line}\n" for line in tracked(300).splitlines())
    in_run = header_metadata(f"{commented}# ir_metadata.end\n".encode()).entries
    assert in_run["resources.cpu.energy used system"] == "690906302 J"
    assert side_metadata(f"{tracked(samples)}x: [".encode()).problem.startswith(f"line {samples + 14}: it is no YAML")


def test_lists_that_are_no_time_series_are_kept() -> None:
    libraries = ", ".join(f"library=={number}" for number in range(30))
    said = side_metadata(f"seeds: [1, 2, 3]\nlibraries: [{libraries}]\n".encode()).entries
    assert said["seeds"] == "1, 2, 3"
    assert said["libraries"] == libraries


@pytest.mark.parametrize("text", ["[", "[1,", "- 1\n", "[" + "1," * 19, "- 1", "[" + " " * 50, "1", "'1 '", "[1, 2]"])
def test_no_text_takes_longer_than_its_length_where_series_are_looked_for(text: str) -> None:
    def seconds(size: int) -> float:
        content, began = (text * (size // len(text))).encode(), time.process_time()
        side_metadata(content)
        return time.process_time() - began

    assert seconds(SIDE_BYTES) < 40 * max(seconds(SIDE_BYTES // 10), 0.02)


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
        (b"a" * (HEADER_BYTES + 1), "longer than 65,536 characters"),
        (b"a" * (SIDE_BYTES + 1), "larger than 4,194,304 bytes"),
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
