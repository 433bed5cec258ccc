"""The share of the access matrix that `make test` reads: who asks for what in which phase; the trial reads all of it.

What belongs to the evaluation, its campaign, its runs or its team, what lists them, and whatever the table answers
otherwise in some phase, everybody reads and sends in one phase, WHOLE, but for files, which are made of what the page
shows. In each other phase, and of files in each,

- where something is shown, or the table has an answer of the phase's own, the address is read by the visitor, one of
  the other accounts, one of the team, and in every second phase an organiser or admin, whom no phase keeps out;
- where they are refused as in most phases, by each of these in every second phase, and so is what programs get of
  anything but a board: it is made of what the pages show, as files are, and in WHOLE read by as many as they;
- a form is sent by one of each column, in every second phase where the table has no answer of the phase's own.

Everything else (organisers' rooms, the reader's own account, documents), on which no phase may leave a mark, each of
them reads and sends once, each in another phase than the others.

Who it is rotates over the phases, and starts elsewhere at each address. So in each phase each rule meets everybody on
some of the addresses, and at each address everybody comes by in some phase.
"""

import zlib
from collections.abc import Collection

from leaderboard.web.exports import FORMATS
from tests.web.access_rules import API, KINDS, PHASES, Form, Page

WHOLE = "anonymous"  # results and single queries are open, judgments and names are not
IN_PART = [phase for phase in PHASES if phase != WHOLE]
STAFF = KINDS["organiser"]
OF_THE_EVALUATION = ("/campaigns/news", "/submissions/{", "/teams/sekretwoods")
BOARD = "/campaigns/news/evaluations/2026/board"  # as programs ask for it
LISTS = ("/", "/account/", "/account", "/campaigns")


def column(kind: str) -> tuple[str, ...]:
    """The kinds of people for whom the table has the same answers, this one among them."""
    return tuple(other for other, place in KINDS.items() if place == KINDS[kind])


def _start(address: str) -> int:
    return zlib.crc32(address.encode())


def _is_once(address: str, phase: str, kind: str) -> bool:
    """Whether it is in this phase, of all, that they ask for what is alike in each."""
    return (_start(address) + list(KINDS).index(kind)) % len(PHASES) == list(PHASES).index(phase)


def _is_in_turn(kind: str, turn: int, *, seldom: bool) -> bool:
    """Whether they are the one of their column; seldom, and of staff, in every second turn only."""
    if (seldom or KINDS[kind] == STAFF) and turn % 2 != KINDS[kind] % 2:
        return False
    peers = column(kind)
    return peers[turn // 2 % len(peers)] == kind


def reads(page: Page, address: str, phase: str, kind: str, *, file: bool) -> bool:
    """Whether they ask for the page, or a file of it, in this phase; address: as the table has it."""
    path = page.address.removeprefix(API)
    if not (page.phases or path.startswith(OF_THE_EVALUATION) or path in LISTS):
        return _is_once(page.address, phase, kind)
    of_programs = page.address.startswith(API)
    if phase == WHOLE and not file and not of_programs:
        return True
    every = len(FORMATS) if file else 1  # a format has its turn once in so many phases
    turn = _start(address) + list(PHASES).index(phase) // every
    shown = page.status(phase, kind, file=file) == 200
    again = of_programs and not path.startswith(BOARD)  # what a page shows
    return _is_in_turn(kind, turn, seldom=page.is_usual(phase) and (again or not shown))


def sends(form: Form, phase: str, kind: str) -> bool:
    """Whether they send the form in this phase."""
    if not form.phases:
        return _is_once(form.address, phase, kind)
    turn = _start(form.address) + list(PHASES).index(phase)
    return phase == WHOLE or _is_in_turn(kind, turn, seldom=phase not in form.phases)


def must_be_found(kind: str, allowed: Collection[str]) -> bool:
    """Whether somebody of the kind's column has to find, where a part is read, what these kinds may know."""
    return KINDS[kind] != STAFF and all(other in allowed for other in column(kind))
