"""trec_eval's own tests: its arguments, and the output that each must give, byte for byte."""

import gzip
from pathlib import Path

import pytest
from click.testing import CliRunner

from leaderboard.cli.trec_eval import trec_eval
from tests.support.shared import shared_data as shared_folder

DATA = shared_folder()
FOLDER = DATA / "trec_eval-tests" if DATA else None
COMMANDS = (FOLDER / "COMMANDS.tsv").read_text().splitlines() if FOLDER else []

# What `leaderboard trec_eval` leaves out, and so which of trec_eval's tests.
OUT = {
    "-R prefs": "preference judgments",
    "-R qrels_prefs": "preferences made from judgments",
    "-R qrels_jg": "judgment groups",
    "-Z": "z-scores",
}
RUN = [command for command in COMMANDS if not any(option in command for option in OUT)]


def test_nine_commands_are_in_and_six_are_out() -> None:
    assert (len(RUN), len(COMMANDS) - len(RUN)) == (9, 6)


@pytest.mark.parametrize("command", RUN, ids=lambda command: command.split("\t")[0])
def test_the_output_is_byte_equal(command: str, tmp_path: Path) -> None:
    assert FOLDER is not None
    arguments, output = command.split("\t")
    *options, judgments, run = arguments.split()
    if not (FOLDER / run).exists():
        unpacked = tmp_path / run
        unpacked.write_bytes(gzip.decompress((FOLDER / f"{run}.gz").read_bytes()))
        run = str(unpacked)
    result = CliRunner().invoke(
        trec_eval, [*options, str(FOLDER / judgments), str(FOLDER / run)], catch_exceptions=False
    )
    assert result.stderr == ""
    assert result.exit_code == 0
    assert result.stdout_bytes == (FOLDER / output).read_bytes()
