"""`1_0` and `٣` are no numbers, wherever one is read."""

import io

import pytest
from click.testing import CliRunner

from leaderboard.cli import leaderboard
from leaderboard.config import Config
from leaderboard.declared.inputs import Inputs, Ratio, Whole, checked
from leaderboard.errors import BadInput, FileRejected, InvalidFields, UnknownMeasure
from leaderboard.formats import read_judgments, read_run
from leaderboard.metrics import parse_all

NO_NUMBERS = ["1_0", "٣", "１", "0x10", "inf", "nan", "1e", "1,5", "--1", "²"]
READERS = {
    "a run's score": lambda text: read_run(io.BytesIO(f"q1 Q0 d1 1 {text} t\n".encode())),
    "a score in CSV": lambda text: read_run(io.BytesIO(f'query,document,score\nq1,d1,"{text}"\n'.encode())),
    "a score in JSON": lambda text: read_run(
        io.BytesIO(f'{{"query": "q1", "document": "d1", "score": {text}}}\n'.encode())
    ),
    "a grade": lambda text: read_judgments(io.BytesIO(f"q1 0 d1 {text}\n".encode())),
}


@pytest.mark.parametrize("text", NO_NUMBERS)
@pytest.mark.parametrize("reader", READERS.values(), ids=READERS.keys())
def test_what_only_python_takes_for_a_number_is_none_in_a_file(reader: object, text: str) -> None:
    with pytest.raises(FileRejected):
        reader(text)  # type: ignore[operator]  # one of READERS


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_what_only_python_takes_for_a_number_is_none_in_a_setting(text: str) -> None:
    with pytest.raises(BadInput, match="LEADERBOARD_JOB_SECONDS"):
        Config.from_environment({"LEADERBOARD_JOB_SECONDS": text})


class Numbers(Inputs):
    """What forms, options and bodies have for numbers."""

    whole: Whole | None = None
    ratio: Ratio | None = None


@pytest.mark.parametrize("field", ["whole", "ratio"])
@pytest.mark.parametrize("text", NO_NUMBERS)
def test_what_only_python_takes_for_a_number_is_none_in_a_declared_input(field: str, text: str) -> None:
    with pytest.raises(InvalidFields) as refused:
        checked(Numbers, {field: text})
    assert set(refused.value.fields) == {field}


@pytest.mark.parametrize("text", [text for text in NO_NUMBERS if not text.startswith("-")])
@pytest.mark.parametrize("command", [("serve", "--port"), ("score", "--threshold")], ids=" ".join)
def test_what_only_python_takes_for_a_number_is_none_on_the_command_line(command: tuple[str, ...], text: str) -> None:
    result = CliRunner().invoke(leaderboard, [*command, text])
    assert result.exit_code == 2
    assert "number" in result.output
    assert text in result.output


@pytest.mark.parametrize("name", ["P@1_0", "P@٣", "AP(rel=1_0)", "AP(rel=٣)"])
def test_what_only_python_takes_for_a_number_is_none_in_the_name_of_a_measure(name: str) -> None:
    with pytest.raises(UnknownMeasure):
        parse_all(name)
