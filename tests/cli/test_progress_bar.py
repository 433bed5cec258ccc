import io
import sys
from pathlib import Path

import pytest

from leaderboard.cli import options as module
from leaderboard.cli.options import progress_bar


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("screen", "shortest"), [(Screen(), 1 << 20), (io.StringIO(), 1)])
def test_a_short_file_moves_no_bar_and_where_nobody_is_looking_none_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, screen: io.StringIO, shortest: int
) -> None:
    run = tmp_path / "run"
    run.write_text("q Q0 d 1 2 t\n")
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(module, "LONG_BYTES", shortest)
    with progress_bar([run]) as opened:
        assert opened(run) == run
    assert screen.getvalue() == ""
