"""Run files that were made to harm, drawn by a seed: one table of families, each a function from chance to a file.

`hostile_files(seed, count)` goes through the families in turn, so that any count from their number on has all of them.
"""

import gzip
import io
import random
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

MIB = 1 << 20
GOOD = b"q1 Q0 d1 1 2.5 tag\nq1 Q0 d2 2 1.5 tag\nq2 Q0 d3 1 1.0 tag\n"
CONTROLS = [bytes([code]) for code in (*range(9), 11, 12, *range(14, 32), 127)]
UNSEEN = [
    chr(code).encode() for code in (0x85, 0xA0, 0xAD, 0x61C, 0x200B, 0x200D, 0x202E, 0x2028, 0x2066, 0xFEFF, 0xFFFE)
]
NUMBERS = [
    "inf", "-inf", "nan", "NaN", "Infinity", "1_0", "٣", "１", "0x10", "1e999", "-1e999", "1e-9999", "1" * 5000,
    "0." + "3" * 5000, "--1", "1,5", "", "1e", ".", "+", "1d5", "½", "²",
]  # fmt: skip
ENCODINGS = ["utf-16", "utf-16-be", "utf-32", "latin-1", "cp1252", "utf-7", "cp037", "utf-8-sig"]
PATHS = [
    "../q1", "/etc/q1", "q1/../../x", "q\0one", "x" * 300, "q1\n", "q1\u202e", "._q1", "C:\\q1", "q1/", ".", "", "q-q1",
]  # fmt: skip
MAGICS = [
    b"PK\x03\x04", b"%PDF-1.7\n", b"\x7fELF", b"BZh91AY", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd", b"SQLite format 3\0",
    b"<html>", b"PAR1",
]  # fmt: skip


GZIP_HEADER = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
GZIP_HEADER_WITH_NAME = b"\x1f\x8b\x08\x08\0\0\0\0\0\xff"
LAST_BLOCK = b"\x01\0\0\xff\xff"  # of deflate, stored and empty


def _blocks(bits: str) -> bytes:
    """A gzip member of eight times these bits of deflate that hold nothing, again and again in 2 MB."""
    content = int(bits[::-1], 2)
    eight = sum(content << (place * len(bits)) for place in range(8)).to_bytes(len(bits), "little")
    return GZIP_HEADER + eight * (2 * MIB // len(eight)) + LAST_BLOCK + struct.pack("<II", 0, 0)


# Gzip data of 2 MB that ask for work and give next to no text. The bits are RFC 1951's: a block that is not the last,
# its kind, and for a dynamic one two codes for lengths (257 and 1 of them: 255 zeros and two ones) and its end.
GZIP_SHAPES: Mapping[str, bytes] = {
    "empty members": gzip.compress(b"", mtime=0) * (2 * MIB // 20),
    "members of one byte": gzip.compress(b"\n", mtime=0) * (2 * MIB // 21),
    "empty stored blocks": GZIP_HEADER + b"\0\0\0\xff\xff" * (2 * MIB // 5) + LAST_BLOCK + struct.pack("<II", 0, 0),
    "empty fixed blocks": _blocks("010" + "0000000"),
    "empty dynamic blocks": _blocks(
        "001" + "00000" + "00000" + "0111" + "000000100010" + "000" * 13 + "010" + "01111111" + "01101011" + "11110"
    ),
    "NULs after the last member": gzip.compress(GOOD) + bytes(2 * MIB),
    "a name without end": GZIP_HEADER_WITH_NAME + b"x" * 2 * MIB,
    "a member for each 64 bytes": (
        (GZIP_HEADER_WITH_NAME + b"x" * 40 + b"\0" + LAST_BLOCK + struct.pack("<II", 0, 0)) * (2 * MIB // 64)
    ),
}


def _entry(kind: bytes, content: bytes, name: str = "x") -> bytes:
    """An entry of a tar archive with its content."""
    entry = tarfile.TarInfo(name)
    entry.type, entry.size = kind, len(content)
    return entry.tobuf(tarfile.USTAR_FORMAT) + content + bytes(-len(content) % tarfile.BLOCKSIZE)


def _archive(files: int, before_each: bytes, before_all: bytes = b"") -> bytes:
    """A gzipped archive of files of one line."""
    entries = (before_each + _entry(tarfile.REGTYPE, b"d1\tY\t1\n", f"q{number}") for number in range(files))
    return gzip.compress(before_all + b"".join(entries) + bytes(2 * tarfile.BLOCKSIZE), 1)


LONG_HEADER = b"".join(b"13 k%07d=\n" % number for number in range(5000))  # a record for each of 5,000 keys

# Small archives that ask for work by their headers. tarfile keeps the records of all global headers, and copies them
# for every entry with a header of its own or another global one before it.
ARCHIVE_SHAPES: Mapping[str, bytes] = {
    "files of one line": _archive(1000, b""),
    "a long header for each file": _archive(25, _entry(tarfile.XHDTYPE, LONG_HEADER)),
    "a long global header and a header for each file": (
        _archive(1200, _entry(tarfile.XHDTYPE, b"13 comment=a\n"), _entry(tarfile.XGLTYPE, LONG_HEADER))
    ),
}


class HostileFile(NamedTuple):
    family: str
    content: bytes

    @property
    def lines(self) -> int:
        """Of text, once it is decompressed, which takes some time."""
        if not self.content.startswith(b"\x1f\x8b"):
            return self.content.count(b"\n")
        try:
            with gzip.open(io.BytesIO(self.content)) as text:
                return sum(piece.count(b"\n") for piece in iter(lambda: text.read(MIB), b""))
        except (OSError, EOFError, zlib.error):
            return 0


Family = Callable[[random.Random], bytes]


def _spliced(chance: random.Random, piece: bytes, times: int = 1) -> bytes:
    """The good run with a piece put in at random places."""
    content = bytearray(GOOD)
    for _ in range(times):
        place = chance.randrange(len(content) + 1)
        content[place:place] = piece
    return bytes(content)


def _line(query: str = "q1", document: str = "d1", score: str = "1.0", tag: str = "tag") -> bytes:
    return f"{query} Q0 {document} 1 {score} {tag}\n".encode("utf-8", "surrogatepass")


def _tar(
    chance: random.Random, entries: Iterator[tuple[tarfile.TarInfo, bytes]], kind: int = tarfile.PAX_FORMAT
) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=kind) as archive:
        for entry, content in entries:
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return gzip.compress(packed.getvalue(), chance.choice([1, 6]))


def _linked(chance: random.Random) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    entry = tarfile.TarInfo("q1")
    entry.type = chance.choice([tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE])
    entry.linkname = "/etc/passwd"
    yield entry, b""


def _odd_header(chance: random.Random) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    entry = tarfile.TarInfo("q1")
    name = chance.choice(["GNU.sparse.map", "GNU.sparse.size", "size", "mtime", "path", "GNU.sparse.major", "uid"])
    entry.pax_headers = {name: chance.choice(["x", "-1", "9" * 30, "1,2,x", "\u202e", "٣", "1_9", " 9"])}
    yield entry, b"d1\t1\n"


def _zip(chance: random.Random) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(chance.choice(PATHS) or "x", b"\0" * MIB)
    return packed.getvalue()


def _damaged(chance: random.Random) -> bytes:
    packed = bytearray(gzip.compress(GOOD * 100))
    for _ in range(chance.randint(1, 5)):
        packed[chance.randrange(2, len(packed))] ^= 1 << chance.randrange(8)
    return bytes(packed)


def _nested(chance: random.Random) -> bytes:
    depth = chance.choice([50, 500, 1_000, 5_000, 100_000])
    opening, closing = chance.choice([("[", "]"), ('{"a":', "}")])
    value = opening * depth + "1" + closing * depth
    member = chance.choice(["query", "document", "score", "other"])
    values = {"query": '"q1"', "document": '"d1"', "score": "1", member: value}
    line = ", ".join(f'"{name}": {text}' for name, text in values.items())
    return f"{{{line}}}\n".encode() * chance.randint(1, 3)


def _json(chance: random.Random) -> bytes:
    values = [
        '"q1"', '"\\ud800"', '"\\u0000"', "NaN", "-Infinity", "1e999", "9" * 5000, "null", "true", "{}", "[]",
        '"' + "x" * 300 + '"', '"1_0"',
    ]  # fmt: skip
    lines = []
    for _ in range(chance.randint(1, 30)):
        names = [
            chance.choice(["query", "document", "score", "decision", "qid", "sc\\u0000re", "\\udfff"]) for _ in range(4)
        ]
        lines.append("{" + ", ".join(f'"{name}": {chance.choice(values)}' for name in names) + "}")
    return ("\n".join(['{"query": "q1", "document": "d1", "score": 1}', *lines])).encode()


def _csv(chance: random.Random) -> bytes:
    header = chance.choice(
        [
            "query,document,score",
            '"query","document","score"',
            "query,document,score,n\0te",
            "query,document,score,query",
            "\ufeffquery,document,score",
            "query,document,score," + "x," * 5000,
        ]
    )
    rows = [
        "q1,d1,1", '"q1,d1,1', 'q1,"d""1",1', '"q\n1",d1,1', "q1,d1", "q1,d1,1,1", "=1+1,d1,1", 'q1,d1,"1',
        "a\0,b,c", '"' * 50,
    ]  # fmt: skip
    return "\n".join([header, *(chance.choice(rows) for _ in range(chance.randint(1, 40)))]).encode()


def _repeated_header(chance: random.Random) -> bytes:
    header = b"query,document,score," + b"b" * chance.randint(10_000, 900_000) + b"\n"
    return (header + b"a\n") * chance.randint(2, 5)


def _random_bytes(chance: random.Random) -> bytes:
    return chance.randbytes(chance.randint(1, 20_000))


def _mixed(chance: random.Random) -> bytes:
    parts = [
        GOOD,
        b"query,document,score\nq1,d1,1\n",
        b'{"query":"q1","document":"d1","score":1}\n',
        b"q1\td1\tY\t1\n",
        b"q1 0 d1 1\n",
        b"[1, 2]\n",
        b"<top>\n",
    ]
    return b"".join(chance.choices(parts, k=chance.randint(2, 9)))


def _many(chance: random.Random, line: bytes, most: int = 400_000) -> bytes:
    return chance.choice([b"", GOOD]) + line * chance.randint(most // 4, most)


def _numbered(chance: random.Random, form: str, most: int = 150_000) -> bytes:
    return "".join(form.format(number) for number in range(chance.randint(most // 4, most))).encode()


FAMILIES: Mapping[str, Family] = {
    "empty": lambda _: b"",
    "one byte": lambda chance: bytes([chance.randrange(256)]),
    "random bytes": _random_bytes,
    "another encoding": lambda chance: GOOD.decode().replace("tag", "täg").encode(chance.choice(ENCODINGS), "replace"),
    "control characters": lambda chance: _spliced(chance, chance.choice(CONTROLS), chance.randint(1, 4)),
    "NUL in the tag": lambda chance: _line(tag="a\0" * chance.randint(1, 3)),
    "unseen characters": lambda chance: _spliced(chance, chance.choice(UNSEEN), chance.randint(1, 4)),
    "broken UTF-8": lambda chance: _spliced(
        chance, chance.choice([b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80"])
    ),
    "numbers that are none": lambda chance: b"".join(_line(score=chance.choice(NUMBERS)) for _ in range(5)),
    "ids without end": lambda chance: _line(
        document="d" * chance.randint(250, 500_000), query="q" * chance.choice([2, 300])
    ),
    "a tag without end": lambda chance: _line(tag=chance.choice(["t", "é", "\u202e"]) * chance.randint(1_000, 200_000)),
    "one line without end": lambda chance: gzip.compress(
        chance.choice([b"a", b"a ", b"\0", b"#"]) * chance.randint(MIB, 30 * MIB)
    ),
    "many columns": lambda chance: (b"a " * chance.randint(7, 300_000) + b"\n") * chance.randint(1, 4),
    "widths": lambda chance: b"".join(b"a " * chance.randrange(60) + b"\n" for _ in range(20_000)),
    "returns only": lambda chance: GOOD.replace(b"\n", b"\r") * chance.randint(1, 5_000),
    "blank lines": lambda chance: gzip.compress(
        _many(chance, chance.choice([b"\n", b"\r\n", b" \n", b"\t\v\f\n"]), 4_000_000)
    ),
    "comments": lambda chance: gzip.compress(_many(chance, chance.choice([b"#\n", b" # \n", b"#\0\n"]), 2_000_000)),
    "one byte a line": lambda chance: _many(chance, bytes([chance.randrange(33, 127)]) + b"\n", 2_000_000),
    "a wrong line now and then": lambda chance: _numbered(
        chance, chance.choice(["q1 Q0 d{0} 1 1 t\n" * 50 + "x\n", "q1 Q0 d{0} 1 1 t\nx{0}\n"]), 10_000
    ),
    "wrong scores": lambda chance: _numbered(chance, "q1 Q0 d{0} 1 x{0} t\n"),
    "unknown queries": lambda chance: _numbered(chance, "x{0} Q0 d 1 1 t\n"),
    "one document again and again": lambda chance: gzip.compress(_many(chance, b"q1 Q0 d1 1 1 t\n", 1_000_000)),
    "out of order": lambda chance: b"".join(chance.sample(GOOD.splitlines(True) * 400, 1200)),
    "bad JSON": _json,
    "JSON in JSON": _nested,
    "broken JSON lines": lambda chance: (
        b'{"query":"q1","document":"d1","score":1}\n'
        + _many(chance, chance.choice([b"{\n", b"1\n", b'"\n', b"}\n"]), 200_000)
    ),
    "bad CSV": _csv,
    "a header again and again": _repeated_header,
    "short records": lambda chance: (
        b"query,document,score\n" + _many(chance, chance.choice([b"a\n", b",,\n", b'"\n', b"\n"]), 300_000)
    ),
    "mixed formats": _mixed,
    "another kind of file": lambda chance: chance.choice(MAGICS) + chance.choice([GOOD, b"\0" * 1000, b""]),
    "gzip in gzip": lambda _: gzip.compress(gzip.compress(GOOD)),
    "cut gzip": lambda chance: gzip.compress(GOOD * 100)[: -chance.randint(1, 60)],
    "damaged gzip": _damaged,
    "a gzip bomb": lambda chance: (
        gzip.compress(chance.choice([b"\0" * len(GOOD), b"\n" * len(GOOD), GOOD]) * (60 * MIB // len(GOOD)), 9)
        * chance.randint(1, 3)
    ),
    "gzip that gives nothing": lambda chance: chance.choice(list(GZIP_SHAPES.values())),
    "zip": _zip,
    "an archive bomb": lambda chance: _tar(
        chance, ((tarfile.TarInfo(f"q{number}"), b"d1\t1\n" * 500_000) for number in range(1, 4))
    ),
    "an archive of many files": lambda chance: _tar(
        chance, ((tarfile.TarInfo(f"x{number}"), b"") for number in range(chance.randint(1_000, 25_000)))
    ),
    "an archive of many headers": lambda chance: chance.choice(list(ARCHIVE_SHAPES.values())),
    "odd names in an archive": lambda chance: _tar(
        chance, ((tarfile.TarInfo(name), b"d1\t1\n") for name in chance.sample(PATHS, 3)), tarfile.GNU_FORMAT
    ),
    "links in an archive": lambda chance: _tar(chance, _linked(chance)),
    "odd headers in an archive": lambda chance: _tar(chance, _odd_header(chance)),
    "hostile files in an archive": lambda chance: _tar(
        chance, ((tarfile.TarInfo(f"q{number}"), _random_bytes(chance)) for number in (1, 2))
    ),
    "two kinds at once": lambda chance: (
        _tar(chance, iter([(tarfile.TarInfo("q1"), GOOD)]))[: chance.randint(20, 200)] + GOOD
    ),
}


def hostile_files(seed: int, count: int) -> Iterator[HostileFile]:
    """`count` files, the families in turn."""
    names = list(FAMILIES)
    for number in range(count):
        family = names[number % len(names)]
        yield HostileFile(family, FAMILIES[family](random.Random(f"{seed} {number}")))
