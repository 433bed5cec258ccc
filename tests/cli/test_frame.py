"""The frame of all commands: help, what is wrong with arguments, what is imported when."""

import dataclasses
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from leaderboard.cli import leaderboard, run
from leaderboard.config import Config

Says = Callable[..., str]


def _leaves(group: click.Group, context: click.Context) -> Iterator[tuple[str, click.Command, click.Context]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        inner = click.Context(command, parent=context, info_name=name)
        if isinstance(command, click.Group):
            yield from _leaves(command, inner)
        else:
            yield inner.command_path, command, inner


LEAVES = list(_leaves(leaderboard, click.Context(leaderboard, info_name="leaderboard")))


@pytest.mark.parametrize("path", [path for path, _, _ in LEAVES])
def test_the_help_of_every_command_shows_an_example(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*path.split()[1:], "--help"]) == 0
    usage, _, rest = capsys.readouterr().out.partition("\n")
    assert usage.startswith(f"Usage: {path} ")
    assert path in rest
    assert [line for line in rest.splitlines() if line.endswith(" ")] == []
    assert re.search(r"\bbody\b|answer says|Answers with|`others`|[Ff]or others", rest) is None  # words of the API


def test_the_help_of_submit_says_what_an_agreement_is_named_by(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["submit", "--help"]) == 0
    assert "--agree KEY=VERSION" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sore"], "leaderboard: No such command 'sore'."),
        (["user", "add"], "leaderboard user add: Missing argument 'NAME'."),
        (["serve", "--port", "http"], "leaderboard serve: Invalid value for '--port': 'http' is no whole number"),
        (["submission", "hide", "a"], "leaderboard submission hide: Invalid value for 'SUBMISSION': 'a' is no whole"),
        (
            ["queries", "import", "c/e", "nowhere"],
            "leaderboard queries import: Invalid value for 'FILE': File 'nowhere'",
        ),
    ],
)
def test_a_slip_in_the_arguments_is_said_in_one_line_and_where_to_read_on(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    first, second = said.err.splitlines()
    assert first.startswith(message)
    assert second == f"See {message.partition(':')[0]} --help"


def test_an_unreadable_setting_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("LEADERBOARD_UPLOAD_BYTES", "much")
    assert run(["user", "list"]) == 2
    assert capsys.readouterr().err == "LEADERBOARD_UPLOAD_BYTES: expected a whole number, found 'much'\n"


def test_the_help_lists_every_setting_with_its_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    listed = re.findall(r"^  (LEADERBOARD_\w+)(?:  |$)", capsys.readouterr().out, re.MULTILINE)
    assert listed == [f"LEADERBOARD_{one.name.upper()}" for one in dataclasses.fields(Config)]
    said = dict(Config.described())["LEADERBOARD_LEASE_SECONDS"]
    assert said == "How long a worker may be silent before its run goes to another. Default: 30; from 2 to 3,600."


@pytest.mark.parametrize(
    ("arguments", "absent"),
    [
        (["--help"], {"flask", "sqlalchemy", "pydantic", "numpy"}),
        (["score", "run", "--judgments", "qrels"], {"flask", "sqlalchemy", "pydantic", "scipy"}),
        (["trec_eval", "qrels", "run"], {"flask", "sqlalchemy", "pydantic", "scipy"}),
        (["check", "run"], {"flask", "sqlalchemy"}),
        (["check", "run", "--evaluation", "c/e", "--server", "http://a.example"], {"flask", "sqlalchemy", "numpy"}),
        (["demo", "--help"], {"flask", "gunicorn"}),  # the site is another process
    ],
)
def test_a_command_waits_for_no_module_that_it_does_not_need(
    tmp_path: Path, arguments: list[str], absent: set[str]
) -> None:
    (tmp_path / "run").write_text("q Q0 d 1 0.5 t\n")
    (tmp_path / "qrels").write_text("q 0 d 1\n")
    program = (
        f"import sys; from leaderboard.cli import run; run({arguments!r}); print(*sorted({absent} & set(sys.modules)))"
    )
    environment = {**os.environ, "LEADERBOARD_TOKEN": "t"}  # which is sent over https:// only
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path, env=environment
    )
    assert done.stdout.splitlines()[-1] == "", done


def test_output_that_nobody_reads_to_its_end_is_no_crash() -> None:
    program = "import sys; from leaderboard.cli import main; sys.argv = ['leaderboard', '--help']; main()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
    assert "Traceback" not in said
