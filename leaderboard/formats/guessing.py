"""Guesses from its first line what a file is that can't be read as what it should be."""

import re

from leaderboard.numbers import is_whole

TREC_EVAL = re.compile(r"(?=.{22}\t)\S+ +\t\S+\t\S+")  # it pads the measure to 22 characters
HEAD_BYTES = 4096  # what tells one format from another
RUN = "a run (query Q0 document rank score tag)"
JUDGMENTS = "judgments (query iteration document grade)"
PRINTED = "what trec_eval prints of a run; give the run itself"


def guess_content(head: bytes, expected: str) -> str:
    """What a file that begins so seems to be, to follow "it looks like"; "" when nothing in particular.

    expected  what it should be: "run", "judgments" or "queries". It is not guessed: the problems say what is wrong

    >>> guess_content(b"301 0 FBIS3-10082 1", "run")
    'judgments (query iteration document grade)'
    """
    if b"\0" in head:
        return "binary data, not text"
    if b"\r" in head and b"\n" not in head:
        return "text whose lines end with CR alone; save it with the line ends LF or CR LF"
    lines = (line.strip() for line in head.decode(errors="replace").splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    fields = first.split()
    if first.startswith(("<", "[")):
        return "HTML, XML or one JSON array; give plain text, or one JSON object a line"
    if TREC_EVAL.fullmatch(first):
        return PRINTED
    if expected != "judgments" and len(fields) == 4 and fields[2] not in ("Y", "N") and is_whole(fields[3]):
        return JUDGMENTS
    if expected != "run" and len(fields) == 6:
        return RUN
    if len(fields) <= 2 and expected != "queries" and re.search("[,;|]", first):
        return "CSV; part it by commas, and begin it with a header that names the columns"
    return ""
