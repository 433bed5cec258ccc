import gzip
import io
import tarfile
from collections.abc import Mapping

import pytest

from leaderboard.formats import Limits, read_judgments, read_run
from tests.formats.files import problems_of


def archive(files: Mapping[str, bytes | tarfile.TarInfo], mode: str = "w:gz") -> io.BytesIO:
    """An archive of these files; an entry in place of bytes goes in as it is, without content."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode=mode) as tar:  # type: ignore[call-overload]  # one of its many modes
        for name, content in files.items():
            entry = content if isinstance(content, tarfile.TarInfo) else tarfile.TarInfo(name)
            if isinstance(content, bytes):
                entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content) if isinstance(content, bytes) else None)
    return io.BytesIO(target.getvalue())


def entry(kind: bytes, name: str = "q-1.tsv", link: str = "") -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type = kind
    made.linkname = link
    return made


@pytest.mark.parametrize("mode", ["w:gz", "w"])
def test_each_file_is_a_query(mode: str) -> None:
    files = {"run/q-1.tsv": b"a\tY\t0.9\nb\tN\t0.1\n", "run/q-2.tsv": b"", "run/3": b"a\tY\t0.5\n"}
    folder = tarfile.TarInfo("run")
    folder.type = tarfile.DIRTYPE
    run = read_run(archive({"run": folder, **files}, mode))
    assert run.queries == ("1", "2", "3")
    assert run.query.tolist() == [0, 0, 2]
    assert run.document.to_list() == ["a", "b", "a"]
    assert run.score.tolist() == [0.9, 0.1, 0.5]
    assert run.decision is not None
    assert run.decision.tolist() == [True, False, True]


def test_scores_may_stand_without_decisions() -> None:
    run = read_run(archive({"q1.txt": b"a\t0.9\nb\t0.1\n", "q2.txt": b"a 0.5\r\n"}))
    assert run.queries == ("q1", "q2")
    assert run.score.tolist() == [0.9, 0.1, 0.5]
    assert run.decision is None


@pytest.mark.parametrize(
    "header", [b"1\tgovernment\n", b"q-1\tgovernment\n", b"doc\tdecision\tscore\n", b"# x\n1\ty\n"]
)
def test_a_header_that_names_the_query_or_the_columns_is_left_out(header: bytes) -> None:
    run = read_run(archive({"q-1.tsv": header + b"a\tY\t0.9\n", "q-2.tsv": b"a\tN\t0.2\n"}))
    assert run.queries == ("1", "2")
    assert run.score.tolist() == [0.9, 0.2]


@pytest.mark.parametrize("row", [b"1\tY\t0.5\n", b"1\tn\t0.5\n"])
def test_a_row_whose_document_is_called_as_the_query_is_no_header(row: bytes) -> None:
    content = row.upper() + b"8\tY\t0.4\n"
    assert read_run(archive({"1.tsv": content})).document.to_list() == ["1", "8"]
    assert read_run(archive({"1.tsv": b"1\t0.5\n8\t0.4\n"})).document.to_list() == ["1", "8"]


def test_problems_name_the_file_and_its_line() -> None:
    files = {
        "q-1.tsv": b"1\tgov\na\tY\t0.9\na\tN\t0.1\nb\ty\t1\n",
        "q-2.tsv": b"a\tY\t0.9\nb\t0.5\n",
        "2.tsv": b"a\tY\t1\n",
        "q-9.tsv": b"",
    }
    assert problems_of(read_run, archive(files), queries=["1", "2"]) == [
        (3, "document a is listed twice for query 1 (first on line 2) (in q-1.tsv)"),
        (4, "decision y is neither Y nor N (in q-1.tsv)"),
        (2, "expected 3 columns, found 2 (document Y|N score) (in q-2.tsv)"),
        (None, "query 2 has a file already, q-2.tsv (in 2.tsv)"),
        (None, "query 9 is not in this evaluation (in q-9.tsv)"),
    ]


def test_a_query_may_be_called_with_the_prefix() -> None:
    assert read_run(archive({"q-1.tsv": b"a\tY\t1\n"}), queries=["q-1"]).queries == ("q-1",)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"/etc/q-1.tsv": b"a\tY\t1\n"}, "holds /etc/q-1.tsv, a path that leads out of the archive"),
        ({"../q-1.tsv": b"a\tY\t1\n"}, "holds ../q-1.tsv, a path that leads out of the archive"),
        (
            {"x": entry(tarfile.SYMTYPE, link="/etc/passwd")},
            "holds q-1.tsv, a link or another thing that is no plain file",
        ),
        ({"x": entry(tarfile.LNKTYPE, link="q-2.tsv")}, "holds q-1.tsv, a link or another thing that is no plain file"),
        ({"x": entry(tarfile.FIFOTYPE)}, "holds q-1.tsv, a link or another thing that is no plain file"),
        ({"q-1.tsv": gzip.compress(b"a\tY\t1\n")}, "holds q-1.tsv, which is compressed twice; compress it once"),
        ({"q-1.tsv": archive({"q": b"x"}, "w").getvalue()}, "holds q-1.tsv, which is an archive within the archive"),
        ({"._q-1.tsv": b"x"}, "is an archive without files"),  # macOS adds it to another one
        ({}, "is empty"),
    ],
)
def test_what_no_honest_archive_holds_is_refused(files: dict[str, bytes | tarfile.TarInfo], message: str) -> None:
    source = archive(files) if files else io.BytesIO(gzip.compress(b""))
    assert problems_of(read_run, source) == [(None, message)]


def test_an_archive_without_files_is_refused() -> None:
    assert problems_of(read_run, archive({"x": entry(tarfile.DIRTYPE)})) == [(None, "is an archive without files")]


def test_the_caps_on_bytes_and_files_hold_while_reading() -> None:
    big = archive({"q-1.tsv": b"document\tY\t1\n" * 100_000})
    assert problems_of(read_run, big, limits=Limits(expanded_bytes=10 << 10)) == [
        (None, "holds more than 10 KiB of text, the most allowed")
    ]
    many = archive({f"q-{number}.tsv": b"a\tY\t1\n" for number in range(6)})
    assert problems_of(read_run, many, limits=Limits(members=5)) == [
        (None, "holds more than 5 files, the most allowed")
    ]


def test_a_header_that_claims_to_be_huge_is_refused_before_it_is_read() -> None:
    huge = tarfile.TarInfo("pax")
    huge.type = tarfile.XHDTYPE
    huge.size = 1 << 34
    source = io.BytesIO(gzip.compress(huge.tobuf(tarfile.GNU_FORMAT) + bytes(10_000)))
    [(line, message)] = problems_of(read_run, source)
    assert line is None
    assert message == "is a damaged archive (an entry's header is too long); make it again"


RUN = {"q-1.tsv": b"a\tY\t1\n", "q-2.tsv": b"b\tN\t0.5\n"}


def test_an_archive_cut_between_two_files_is_refused() -> None:
    whole = archive(RUN, "w").getvalue()
    for end in (1024, 1024 + 200, 2048, 2048 + 512):  # after a file, within a header, before the end and within it
        assert problems_of(read_run, io.BytesIO(gzip.compress(whole[:end])))[0][1].startswith("is a damaged archive (")


def test_what_follows_the_end_of_an_archive_is_refused_and_a_damaged_header_is_not_taken_for_the_end() -> None:
    whole = archive(RUN, "w").getvalue()
    damaged = bytearray(whole)
    damaged[1024] ^= 1  # the first sign of the second file's name: its header's checksum is wrong now
    another = gzip.compress(whole) + gzip.compress(archive({"q-3.tsv": b"a\tY\t1\n"}, "w").getvalue())
    for content in (another, whole + b"x", bytes(damaged)):
        assert problems_of(read_run, io.BytesIO(content)) == [
            (None, "is a damaged archive (something follows its end); make it again")
        ]
    assert len(read_run(io.BytesIO(gzip.compress(whole + bytes(100_000))))) == 2


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("q-.tsv", "query id is empty"),
        ("my q.tsv", "query id 'my q' holds a blank"),
        (" ", "query id ' ' holds a blank"),
        ("q-1\n2.tsv", "query id '1\N{REPLACEMENT CHARACTER}2' holds a control character"),
        ("q\udce9.tsv", "query id q\N{REPLACEMENT CHARACTER} is no UTF-8 text"),
        ("q" * 400, f"query id longer than 255 bytes: {'q' * 60}…"),
    ],
)
def test_a_file_is_called_after_a_query_as_ids_are(name: str, message: str) -> None:
    shown = "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in name)
    shown = shown if len(shown) <= 60 else shown[:60] + "…"
    for queries in (None, ["1"]):
        assert problems_of(read_run, archive({name: b"a\tY\t1\n"}), queries=queries) == [
            (None, f"{message} (in {shown})")
        ]


def test_judgments_are_no_archive() -> None:
    assert problems_of(read_judgments, archive({"q": b"q 0 d 1\n"})) == [
        (None, "is an archive; give the file itself, plain or gzipped")
    ]
