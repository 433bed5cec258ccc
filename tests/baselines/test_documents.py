"""Documents out of files of every kind, and what is wrong with them."""

import gzip
from pathlib import Path

import pytest

from leaderboard.baselines.documents import DocumentFile, document_files, read_documents
from leaderboard.errors import FileRejected


def _read(path: Path, content: bytes | str) -> list[tuple[str, str]]:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return [(each.id, " ".join(each.text.split())) for each in read_documents(DocumentFile(path))]


@pytest.mark.parametrize(
    ("content", "documents"),
    [
        ('{"id": "d1", "text": "a b"}\n\n{"_id": 7, "TITLE": "t", "contents": null}\n', [("d1", "a b"), ("7", "t")]),
        # MS MARCO 2: the passage's own id is pid. CORD-19: an abstract in parts.
        ('{"pid": "p", "passage": "x", "docid": "d", "spans": [[1]]}', [("p", "x")]),
        ('{"docno": "p", "title": "t", "abstract": ["one", "two"], "body": "b"}', [("p", "t one two b")]),
        ("d1\ta b\r\nd2\turl\ttitle\tbody\n", [("d1", "a b"), ("d2", "url title body")]),
        ("docid\ttext\nd1\ta\n", [("d1", "a")]),
        ("docid\turl\ttitle\tbody\nd1\tu\tt\ta\n", [("d1", "u t a")]),
        # Documents that are called as a column often is.
        ("doc\tharbour fees\nid\ttext of another\n", [("doc", "harbour fees"), ("id", "text of another")]),
        ("\ufeffd1\ta\n", [("d1", "a")]),
    ],
)
def test_json_lines_and_tsv_are_read(tmp_path: Path, content: str, documents: list[tuple[str, str]]) -> None:
    assert _read(tmp_path / "docs", content) == documents
    assert _read(tmp_path / "docs.gz", gzip.compress(content.encode())) == documents


SGML = """<?xml version="1.0"?>
<DOC>
<DOCNO> FT911-3 </DOCNO>
<TEXT>
Fees &amp; ports: 3 < 5 <P>and <b
class=x>more</b>
</TEXT>
</DOC>
<doc><docno>two</docno><dochdr>http://x 200</dochdr><script>var harbour</script>text<!-- no --></doc><DOC
id="LDC.3" type="story">
third</DOC>  between is nothing
<DOC><DOCNO>four
<TITLE>not closed</TITLE>
<DOC><DOCID>five</DOCID>the last one
"""


def test_sgml_is_read_as_it_comes(tmp_path: Path) -> None:
    assert _read(tmp_path / "docs", SGML) == [
        ("FT911-3", "Fees & ports: 3 < 5 and more"),
        ("two", "text"),
        ("LDC.3", "third"),
        ("four", "not closed"),
        ("five", "the last one"),
    ]


@pytest.mark.parametrize("size", [1, 7, 50])
def test_sgml_is_the_same_wherever_pieces_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    (tmp_path / "docs").write_text(SGML)
    whole = list(read_documents(DocumentFile(tmp_path / "docs")))
    monkeypatch.setattr("leaderboard.baselines.documents.MIB", size)
    assert list(read_documents(DocumentFile(tmp_path / "docs"))) == whole


def test_a_folder_holds_a_text_a_document_or_files_of_many(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "b.txt").write_text("text b")
    (tmp_path / "sub" / "a.txt.gz").write_bytes(gzip.compress(b"[not json]"))
    (tmp_path / "c.v2").write_text("plain\twith a tab")
    (tmp_path / "many.jsonl").write_text('{"id": "m1", "text": "one"}\n{"id": "m2", "text": "two"}\n')
    (tmp_path / "sgml").write_text("<DOC><DOCNO>s</DOCNO>three</DOC>")
    (tmp_path / ".hidden").write_bytes(b"\0")
    found = [(each.id, each.text) for file in document_files([tmp_path]) for each in read_documents(file)]
    assert found == [
        ("b", "text b"), ("c.v2", "plain\twith a tab"), ("m1", "one"), ("m2", "two"), ("s", " three"),
        ("a", "[not json]"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("docid\ttext\n", "has no document"),
        ('{"id": "d1", "text": "a"}\n{"id": "d2"', "line 2: is no JSON object: Input data was truncated"),
        ('{"id": "d1", "text": "a"}\n[1]', "line 2: is no JSON object: Expected `object`, got `array`"),
        ('{"text": "a"}', "line 1: has no id (id, _id, pid, docno, docid, doc_id, document_id, document"),
        ('{"id": "d1", "url": "x"}', "line 1: has no text (title, headline, headings, abstract, text,"),
        ('{"id": "d1", "text": {"a": 1}}', "line 1: text is no text"),
        ('{"id": true, "text": "a"}', "line 1: document id is neither a text nor a whole number"),
        ('{"id": "a b", "text": "a"}', "line 1: document id 'a b' holds a blank"),
        ('{"id": "d", "text": ' + "[" * 200_000, "line 1: is no JSON object: maximum recursion depth exceeded"),
        ("[\n{}]", "is one JSON array; write one JSON object a line"),
        ("d1\ta\nd2 b\n", "line 2: has no TAB; expected id TAB text, JSON lines or TREC's SGML"),
        ("\ta\n", "line 1: document id is empty"),
        (b"d1\ta\nd2\t\xff\n", "line 2: byte 4 is no UTF-8 text; save the file as UTF-8"),
        (b"\n<DOC>\n<DOCNO>d</DOCNO>\n\xe9t\xe9</DOC>", "line 2: byte 24 is no UTF-8 text"),
        ("<DOC>\n<DOCNO>d</DOCNO></DOC>\n<DOC>\ntext</DOC>", "line 3: this <DOC> has no <DOCNO>"),
        ("<html><body>", "begins with a tag and has no <DOC>"),
        (b"PK\x03\x04zip", "is a zip archive"),
        (b"d1\ta\0b\n", "is binary data, not text"),
        (gzip.compress(b"d1\ta\n" * 999, mtime=0)[:-9], "ends in the middle of its gzip data"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, content: bytes | str, message: str) -> None:
    with pytest.raises(FileRejected) as refused:
        _read(tmp_path / "docs", content)
    assert refused.value.message.startswith(f"{tmp_path / 'docs'}: {message}")


def test_a_text_in_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "my notes.txt").write_text("x")
    [file] = document_files([tmp_path])
    with pytest.raises(FileRejected, match="document id 'my notes' holds a blank"):
        list(read_documents(file))
    (tmp_path / "my notes.txt").rename(tmp_path / "n.txt")
    (tmp_path / "n.txt").write_bytes(b"one\ntwo \xe9\n")
    [file] = document_files([tmp_path])
    with pytest.raises(FileRejected, match="line 1: byte 9 is no UTF-8 text"):
        list(read_documents(file))
