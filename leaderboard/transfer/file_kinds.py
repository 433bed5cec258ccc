"""What the files of a tree without a manifest are, by their content."""

from collections.abc import Callable
from enum import StrEnum

from leaderboard.errors import FileRejected
from leaderboard.formats import Limits, is_archive_file, open_plain, read_run
from leaderboard.formats.guessing import HEAD_BYTES, PRINTED, guess_content
from leaderboard.numbers import is_number, is_whole
from leaderboard.transfer.tree import Tree

__all__ = ["Kind", "is_of_teams", "is_printed", "kinds_of"]

HEAD_LINES = 50
MOSTLY = 0.9  # of the first lines: judgments with a few wrong ones are judgments, and reading them names the lines
ITERATION = ("0", "Q0")  # what stands second in nearly all judgments: these are some, whatever their grades are


class Kind(StrEnum):
    RUN = "run"
    JUDGMENTS = "judgments"
    QUERIES = "queries"
    OTHER = "other"


def is_of_teams(tree: Tree, path: str) -> bool:
    """Whether an archive holds runs, and is none itself: every zip, and tars with folders of more than one level."""
    file = tree.files[path]
    if not is_archive_file(file):
        return False
    if path.lower().endswith(".zip"):
        return True
    try:
        with open_plain(file) as text:
            read_run(text, name=path)
    except FileRejected:
        return True
    return False


def kinds_of(tree: Tree, archives: list[str], done: Callable[[int], None]) -> dict[Kind, list[str]]:
    """Kind -> the paths that are of it. archives: paths that are left out; done: told after each file."""
    kinds: dict[Kind, list[str]] = {kind: [] for kind in Kind}
    for path in tree.files:
        if path not in archives:
            kinds[_kind_of(tree, path)].append(path)
        done(1)
    return kinds


def _kind_of(tree: Tree, path: str) -> Kind:
    """By the first lines."""
    try:
        with open_plain(tree.files[path], Limits()) as text:
            head = text.peek(HEAD_BYTES)
    except (FileRejected, OSError):
        return Kind.OTHER
    if head.lstrip()[:1] == b"<" and (b"<top" in head.lower() or b"<topic" in head.lower()):
        return Kind.QUERIES
    if guess_content(head, "run") == PRINTED:
        return Kind.OTHER
    lines = head.decode(errors="replace").splitlines()
    lines = [line for line in (lines[:-1] if len(head) >= HEAD_BYTES else lines) if line.strip()][:HEAD_LINES]
    if not lines:
        return Kind.OTHER
    fields = [line.split() for line in lines]
    if all(len(one) == 6 and is_number(one[3]) and is_number(one[4]) for one in fields):
        return Kind.RUN
    if all(len(one) == 4 and one[2] in ("Y", "N") and is_number(one[3]) for one in fields):
        return Kind.RUN
    if sum(len(one) == 4 and (is_whole(one[3]) or one[1] in ITERATION) for one in fields) >= MOSTLY * len(fields):
        return Kind.JUDGMENTS
    parts = [line.split("\t") for line in lines]
    if all(2 <= len(one) <= 3 and len(one[0].split()) == 1 and not is_number(one[1]) for one in parts):
        return Kind.QUERIES
    if lines[0].startswith("{") and '"score"' in lines[0]:
        return Kind.RUN
    return Kind.OTHER


def is_printed(tree: Tree, path: str) -> bool:
    """Whether a file holds what trec_eval prints of a run, by its first lines."""
    try:
        with open_plain(tree.files[path], Limits()) as text:
            return guess_content(text.peek(HEAD_BYTES), "run") == PRINTED
    except (FileRejected, OSError):
        return False
