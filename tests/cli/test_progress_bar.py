import io
import sys
from pathlib import Path

import pytest

from leaderboard.cli import options as module
from leaderboard.cli.options import progress_bar
from leaderboard.formats import read_run

RUN = b"q Q0 d 1 2 t\nq Q0 e 2 1 t\n"


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def run(tmp_path: Path) -> Path:
    file = tmp_path / "run"
    file.write_bytes(RUN)
    return file


@pytest.mark.parametrize(("screen", "shortest"), [(Screen(), 1 << 20), (io.StringIO(), 1)])
def test_a_short_file_moves_no_bar_and_where_nobody_is_looking_none_does(
    run: Path, monkeypatch: pytest.MonkeyPatch, screen: io.StringIO, shortest: int
) -> None:
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(module, "LONG_BYTES", shortest)
    with progress_bar([run]) as opened:
        assert opened(run) == run
    assert screen.getvalue() == ""


def test_a_long_file_moves_a_bar_on_a_terminal(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(module, "LONG_BYTES", len(RUN))
    with progress_bar([run]) as opened:
        assert read_run(opened(run)).document.to_list() == ["d", "e"]
    assert "Reading" in screen.getvalue()
    assert "100%" in screen.getvalue()
