"""The share of the access matrix that `make test` reads: who asks for what in which phase; the trial reads all of it.

One phase, WHOLE, is read by everybody, everywhere. In each other phase

- what belongs to the evaluation, its campaign, its runs or its team, what lists them, and whatever the table answers
  otherwise in some phase is read by the visitor, one of the other accounts, one of the team, and in every second phase
  an organiser or admin, whom no phase keeps out;
- everything else (organisers' rooms, the reader's own account, documents), on which no phase may leave a mark, is read
  in every third phase, by one of each column;
- a form is sent by one of each column that it refuses, in every third phase where the table answers alike in all.

Who it is rotates over the phases, and starts elsewhere at each address. So in each phase each rule meets everybody on
some of the addresses, and at each address everybody comes by in some phase.
"""

import zlib
from collections.abc import Collection

from leaderboard.web.exports import FORMATS
from tests.web.access_rules import API, KINDS, PHASES, Form, Page

__all__ = ["IN_PART", "WHOLE", "column", "must_be_found", "reads", "sends"]

WHOLE = "anonymous"  # results and single queries are open, judgments and names are not
SELDOM = 3  # phases: ten others, so three turns at least, for each of the largest column
IN_PART = [phase for phase in PHASES if phase != WHOLE]
STAFF = KINDS["organiser"]
OF_THE_EVALUATION = ("/campaigns/news", "/submissions/{", "/teams/sekretwoods")
LISTS = ("/", "/account/", "/account", "/campaigns")


def column(kind: str) -> tuple[str, ...]:
    """The kinds of people for whom the table has the same answers, this one among them."""
    return tuple(other for other, place in KINDS.items() if place == KINDS[kind])


def _turn(address: str, phase: str, every: int = 1) -> int:
    """Counts up from phase to phase, or once in so many, from another number at each address."""
    return zlib.crc32(address.encode()) + IN_PART.index(phase) // every


def _is_in_turn(kind: str, turn: int, seldom: int) -> bool:
    if turn % seldom:
        return False
    peers = column(kind)
    return peers[turn // seldom % len(peers)] == kind


def reads(page: Page, address: str, phase: str, kind: str, *, file: bool) -> bool:
    """Whether they ask for the page, or a file of it, in this phase; address: as the table has it."""
    if phase == WHOLE:
        return True
    path = page.address.removeprefix(API)
    of_the_evaluation = bool(page.phases) or path.startswith(OF_THE_EVALUATION) or path in LISTS
    turn = _turn(address, phase, len(FORMATS) if file else 1)  # a format has its turn once in so many phases
    if not of_the_evaluation:
        return _is_in_turn(kind, turn, SELDOM)
    return _is_in_turn(kind, turn, 2 if KINDS[kind] == STAFF else 1)


def sends(form: Form, phase: str, kind: str) -> bool:
    """Whether they send the form in this phase."""
    return phase == WHOLE or _is_in_turn(kind, _turn(form.address, phase), 1 if form.phases else SELDOM)


def must_be_found(kind: str, allowed: Collection[str]) -> bool:
    """Whether somebody of the kind's column has to find, where a part is read, what these kinds may know."""
    return KINDS[kind] != STAFF and all(other in allowed for other in column(kind))
