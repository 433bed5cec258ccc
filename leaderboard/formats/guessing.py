"""Guesses from its first lines what a file is that can't be read as what it should be."""

import json
import re
from collections import Counter

from leaderboard.formats.tables import our_name
from leaderboard.numbers import is_number

__all__ = ["HEAD_BYTES", "PRINTED", "guess_content"]

TREC_EVAL = re.compile(r"(?=.{22}\t)\S+ +\t\S+\t\S+")  # it pads the measure to 22 characters
HEAD_BYTES = 4096  # what tells one format from another
RUN = "a run (query Q0 document rank score tag)"
JUDGMENTS = "judgments (query iteration document grade)"
WRITE_QUERIES = "write one query a line, id TAB text TAB tags"
PRINTED = "what trec_eval prints of a run; give the run itself"
RUN_OR_JUDGMENTS = "a run or judgments"
QUERIES = "queries (id TAB text TAB tags)"


def guess_content(head: bytes, expected: str) -> str:
    """What a file that begins so seems to be, to follow "it looks like"; "" when nothing in particular.

    expected  what it should be: "run", "judgments" or "queries". It is not guessed: the problems say what is wrong

    >>> guess_content(b"301 0 FBIS3-10082 1", "run")
    'judgments (query iteration document grade)'
    >>> guess_content(b"q1 Q0 d1 1 0.5 a\\rq1 Q0 d2 2 0.4 a\\r", "run")
    'text whose lines end with CR alone, as on very old Macs; save it with the line ends LF or CR LF'
    >>> guess_content(b"q1;d1;0.5", "run")
    'CSV separated by semicolons; separate it by commas'
    """
    if b"\0" in head:
        return "binary data, not text"
    if b"\r" in head and b"\n" not in head:
        return "text whose lines end with CR alone, as on very old Macs; save it with the line ends LF or CR LF"
    lines = [line for line in head.decode(errors="replace").splitlines() if line.strip() and not line.startswith("#")]
    if not lines:
        return ""
    first = lines[0].strip()
    if first.startswith("<"):
        return "an HTML page or XML; download the file itself"
    if expected == "queries" and first.startswith(("[", "{")):
        return _guess_json(first)
    if first.startswith("["):
        return "one JSON array; write one JSON object a line"
    if header := _guess_header(first, expected):
        return header
    whole = lines[:-1] if len(head) >= HEAD_BYTES and len(lines) > 1 else lines  # the last one may be cut off
    return Counter(_guess_line(line, expected) for line in whole).most_common(1)[0][0]


def _guess_json(line: str) -> str:
    """What the first line of JSON says of a file that should hold queries; "" where it may be one of them."""
    try:
        first = json.loads(line)
    except (ValueError, RecursionError):
        first = None
    if not isinstance(first, dict):
        return "one JSON document; write one JSON object a line"
    return RUN_OR_JUDGMENTS if {"query", "document"} <= {our_name(name) for name in first} else ""


def _guess_header(line: str, expected: str) -> str:
    """What a header that names a query and a document says of the file; "" for any other line."""
    names = re.split(r"[,;|\t]" if expected == "queries" else r"\s+", line)
    if not {"query", "document"} <= {our_name(name) for name in names}:
        return ""
    if expected == "queries":
        return RUN_OR_JUDGMENTS
    return "columns with a header; leave the header out, or save the file as CSV"


def _guess_line(line: str, expected: str) -> str:
    line = line.strip()
    fields = line.split()
    if expected == "queries":
        return _guess_instead_of_query(line, fields)
    if TREC_EVAL.fullmatch(line):
        return PRINTED
    for mark, name in ((";", "semicolons"), ("|", "vertical bars")):
        if line.count(mark) >= 2 > line.count(","):
            return f"CSV separated by {name}; separate it by commas"
    if line.count(",") >= 2 and len(fields) <= 2:
        return f"CSV; begin it with a header that names the columns query, document and {_figure(expected)}"
    if expected == "judgments" and (run := _guess_run(fields)):
        return run
    if 2 <= len(by_tab := line.split("\t")) <= 3 and " " in by_tab[1].strip():
        return QUERIES
    if expected == "run" and _is_judgment(fields):
        return JUDGMENTS
    if len(fields) == 3 and is_number(fields[2]):
        missing = "the columns Q0, rank and tag" if expected == "run" else "the iteration (0) as the second column"
        return f"query, document and {_figure(expected)} alone; add {missing}, or save it as CSV with a header"
    return ""


def _guess_instead_of_query(line: str, fields: list[str]) -> str:
    by_tab = line.split("\t")
    if len(by_tab) == 1 and re.match(r"\S+?[,;|]", line):
        return f"CSV; {WRITE_QUERIES}"
    if run := _guess_run(fields):
        return run
    if _is_judgment(fields):
        return JUDGMENTS
    if len(by_tab) >= 3 and is_number(by_tab[-1]):
        return RUN_OR_JUDGMENTS
    return "an id and a text without the TAB between them" if len(by_tab) == 1 < len(fields) else ""


def _figure(expected: str) -> str:
    return "grade" if expected == "judgments" else "score"


def _guess_run(fields: list[str]) -> str:
    if len(fields) >= 6 and is_number(fields[3]) and is_number(fields[4]):
        return RUN
    return "a run (query document Y|N score)" if _is_decision(fields) else ""


def _is_decision(fields: list[str]) -> bool:
    return len(fields) == 4 and fields[2] in ("Y", "N") and is_number(fields[3])


def _is_judgment(fields: list[str]) -> bool:
    """The iteration may be any word. Where it is neither a number nor Q0, it may be a document before a score: then the
    third field must be no number.
    """
    if len(fields) != 4 or not _is_integer(fields[3]) or _is_decision(fields):
        return False
    return is_number(fields[1]) or fields[1] == "Q0" or not is_number(fields[2])


def _is_integer(text: str) -> bool:
    return is_number(text) and text.lstrip("+-").isdigit()
