"""The long trials on a small scale. Killed workers have tests of their own in tests/worker."""

from trials import readers


def test_pages_answer_while_runs_come_in() -> None:
    assert readers.main(["--seconds", "1", "--readers", "2"]) == 0
