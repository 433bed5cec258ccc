"""A process of its own for what strangers send: it answers, or ends, and says which bound it met."""

import os

import pytest

from leaderboard import bounded
from leaderboard.errors import Unavailable


def test_the_answer_of_another_process_comes_back() -> None:
    assert bounded.call(os.getpid) != os.getpid()
    assert bounded.call(sorted, [3, 1, 2]) == [1, 2, 3]


def test_memory_beyond_the_bound_ends_the_process_and_not_the_caller() -> None:
    assert len(bounded.call(bytes, 2**20)) == 2**20
    with pytest.raises(bounded.Exceeded):
        bounded.call(bytes, bounded.MEMORY_BYTES)


def test_computing_beyond_the_bound_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "SECONDS", 1)
    with pytest.raises(bounded.Exceeded):
        bounded.call(sum, range(10**12))


def test_a_fault_of_the_program_is_told_from_a_bound(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RuntimeError, match="int failed in its process"):
        bounded.call(int, "x")


def test_a_file_that_the_system_does_not_give_is_no_fault_of_the_program() -> None:
    with pytest.raises(Unavailable):
        bounded.call(os.listdir, "missing")
