"""Makes text that came with a file fit for messages, facts and pages: short, on one line, every character seen.

Whatever is told of a file goes through here, so that no control character reaches the database or a page, whose JSON
and whose readers have no use for one, and no message is as long as a line of the file.
"""

import re

SHOWN_CHARACTERS = 60  # of a value, within a message
LONGEST_TAG = 80  # characters
LONGEST_MESSAGE = 400
# What turns the order of writing around, also of what stands behind the text on a page.
TURNING = re.compile(r"[\u202a-\u202e\u2066-\u2069]")
IN_ITS_PLACE = "\N{REPLACEMENT CHARACTER}"


def harmless(text: str, most: int) -> str:
    """The first `most` characters, with "…" where there are more; those that can't be seen are replaced.

    >>> harmless("a\\0b" + "c" * 9, 5)
    'a�bcc…'
    """
    cut = text[:most]
    if not cut.isprintable():
        cut = "".join(character if character.isprintable() else IN_ITS_PLACE for character in cut)
    return cut if len(text) <= most else f"{cut}…"


def shown(text: str) -> str:
    """A value of the file as a message shows it."""
    return harmless(text, SHOWN_CHARACTERS)
