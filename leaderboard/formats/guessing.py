"""Guesses from its first lines what a file is that can't be read as what it should be."""

from leaderboard.formats.checks import is_number
from leaderboard.formats.tables import our_name

__all__ = ["HEAD_BYTES", "guess_content"]

HEAD_BYTES = 4096  # what tells one format from another
RUN = "a run (query Q0 document rank score tag)"
JUDGMENTS = "judgments (query iteration document grade)"
QUERIES = "queries (id TAB text TAB tags)"


def guess_content(head: bytes, expected: str) -> str:
    """What a file that begins so seems to be, to follow "it looks like"; "" when nothing in particular.

    expected  what it should be: "run", "judgments" or "queries". It is not guessed: the problems say what is wrong

    >>> guess_content(b"301 0 FBIS3-10082 1", "run")
    'judgments (query iteration document grade)'
    >>> guess_content(b"q1;d1;0.5", "run")
    'CSV parted by semicolons; part it by commas'
    """
    if b"\0" in head:
        return "binary data, not text"
    lines = [line for line in head.decode(errors="replace").splitlines() if line.strip() and not line.startswith("#")]
    line = lines[0].strip() if lines else ""
    if line.startswith("<"):
        return "an HTML page or XML; download the file itself"
    if line.startswith("["):
        return "one JSON array; write one JSON object a line"
    return _guess_columns(line, expected)


def _guess_columns(line: str, expected: str) -> str:
    fields = line.split()
    if expected != "queries" and {"query", "document"} <= {our_name(field) for field in fields}:
        return "columns with a header; leave the header out, or save the file as CSV"
    for mark, name in ((";", "semicolons"), ("|", "vertical bars")):
        if line.count(mark) >= 2 > line.count(","):
            return f"CSV parted by {name}; part it by commas"
    if line.count(",") >= 2 and len(fields) <= 2:
        return f"CSV; begin it with a header that names the columns query, document and {_figure(expected)}"
    if expected != "run" and (_is_run(fields) or _is_decision(fields)):
        return RUN if _is_run(fields) else "a run (query document Y|N score)"
    if expected != "judgments" and _is_judgment(fields):
        return JUDGMENTS
    if expected != "queries" and 2 <= len(by_tab := line.split("\t")) <= 3 and " " in by_tab[1].strip():
        return QUERIES
    if expected != "queries" and len(fields) == 3 and is_number(fields[2]):
        missing = "the columns Q0, rank and tag" if expected == "run" else "the iteration (0) as the second column"
        return f"query, document and {_figure(expected)} alone; add {missing}, or save it as CSV with a header"
    return ""


def _figure(expected: str) -> str:
    return "grade" if expected == "judgments" else "score"


def _is_run(fields: list[str]) -> bool:
    return len(fields) >= 6 and is_number(fields[3]) and is_number(fields[4])


def _is_decision(fields: list[str]) -> bool:
    return len(fields) == 4 and fields[2] in ("Y", "N") and is_number(fields[3])


def _is_judgment(fields: list[str]) -> bool:
    return len(fields) == 4 and (_is_integer(fields[1]) or fields[1] == "Q0") and _is_integer(fields[3])


def _is_integer(text: str) -> bool:
    return is_number(text) and text.lstrip("+-").isdigit()
