"""The trial with a big run, on a small one: its maker is beside the real runs."""

import pytest

from trials import big_run


@pytest.mark.usefixtures("shared_data")
def test_a_run_gets_through_a_whole_installation_with_its_figure(capsys: pytest.CaptureFixture[str]) -> None:
    assert big_run.main(["--queries", "12", "--depth", "40", "--engine", "postgresql"]) == 0
    said = capsys.readouterr().out
    for page in big_run.PAGES:
        assert f"{page}: " in said
