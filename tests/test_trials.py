"""The long trials on a small scale."""

import pytest

from trials import kill_storm, readers, siege


def test_pages_answer_while_runs_come_in() -> None:
    assert readers.main(["--seconds", "1", "--readers", "2"]) == 0


def test_pages_answer_while_slow_clients_hold_the_site() -> None:
    assert siege.main(["--seconds", "1", "--uploads", "8", "--silent", "20", "--half-sent", "20"]) == 0


def test_killed_workers_lose_no_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert kill_storm.main(["--seconds", "3", "--workers", "2"]) == 0
    assert "SIGKILL" in capsys.readouterr().out
