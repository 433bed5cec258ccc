"""Two ids that the hash of documents can't tell apart: what somebody could make on purpose."""

import itertools

import numpy as np

from leaderboard.formats.ids import WORD, keys


def with_equal_keys() -> tuple[bytes, bytes]:
    """Two ids of two words with one hash.

    The last word is hashed first and the result added to the first word, bit by bit: a last word of one's choice is
    evened out by the first.
    """
    first = np.frombuffer(b"document", np.uint64)
    of_last = keys(np.array([b"00000000"]))
    for number in itertools.count(1):
        last = f"{number:08d}".encode()
        evened = (first ^ of_last ^ keys(np.array([last]))).tobytes()
        if 0 not in evened:
            one, other = b"document" + b"00000000", evened + last
            assert len(one) == len(other) == 2 * WORD
            assert np.unique(keys(np.array([one, other]))).size == 1
            return one, other
    raise AssertionError
