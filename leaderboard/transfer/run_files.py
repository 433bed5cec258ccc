"""Whether a file that a manifest calls a run is one at all."""

import io
from pathlib import Path

from leaderboard.errors import FileRejected, Problem
from leaderboard.formats import read_run
from leaderboard.formats.guessing import HEAD_BYTES, guess_content
from leaderboard.formats.plain_text import beginning

__all__ = ["require_run"]

LOOKED_AT = 1 << 16  # bytes of text
TAR = slice(257, 262), b"ustar"  # a run may be an archive of lists: its beginning alone says nothing


def require_run(path: Path, name: str) -> None:
    """Raises FileRejected for a file in whose beginning no line is one of a run: a document, judgments, a page.

    Such a file says nothing of any system, so nobody's name is put down for it. One with mistakes is a run all the
    same: it is rejected when it is read whole, and is on record with its problems.
    """
    text, _ = beginning(path, LOOKED_AT, name)
    place, mark = TAR
    if text[place] == mark or (len(text) == LOOKED_AT and not text.endswith(b"\n")):
        return
    try:
        read_run(io.BytesIO(text), name=name)
    except FileRejected as error:
        lines = sum(1 for line in text.splitlines() if line.strip() and not line.startswith(b"#"))
        if error.count >= lines:
            guess = guess_content(text[:HEAD_BYTES], "run")
            seems = f"it looks like {guess}" if guess else str(error.problems[0])
            raise FileRejected(
                [Problem(None, f"no line of its beginning is one of a run; {seems}")], name=name
            ) from None
