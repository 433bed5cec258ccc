"""The check of a run through the API: what the page says of it, and nothing is kept."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from leaderboard.models import StagedRun, Submission
from leaderboard.rules.scopes import Scope
from tests.web.conftest import RUN, World
from tests.web.test_api import API, Program, program
from tests.web.test_api_submitting import send

__all__ = ["program"]  # the fixture

pytestmark = pytest.mark.parametrize("engine_name", ["sqlite"])
CHECK = f"{API}/campaigns/harbour/evaluations/2025/check"


def check(program: Program, run: str | bytes | None, status: int = 200, **fields: str) -> Any:
    data: dict[str, Any] = {**fields}
    if run is not None:
        data["run"] = (io.BytesIO(run.encode() if isinstance(run, str) else run), "a.run")
    return program.ask(CHECK, "POST", status=status, data=data, content_type="multipart/form-data")


def test_a_check_says_what_would_become_of_a_run_and_keeps_nothing(
    program: Callable[..., Program], world: World, tmp_path: Path
) -> None:
    ada = program("ada")
    found = check(ada, RUN)
    assert (found["lines"], found["queries"], found["known"], found["problems"], found["warnings"]) == (4, 3, 3, [], [])
    assert found["is_sound"]
    assert "expected" not in found
    strange = check(ada, RUN.replace("q", "x"))
    assert [one["kind"] for one in strange["warnings"]] == ["collection"]
    assert strange["unknown"] == [3, ["x1", "x2", "x3"]]
    wrong = check(ada, "q1 Q0 d1 1 high a\nq1 Q0\n")
    assert wrong["problem_count"] == 2
    assert wrong["problems"][0]["line"] == 1
    assert not wrong["is_sound"]
    with world.database.read() as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Submission)) == 0
        assert session.scalar(sa.select(sa.func.count()).select_from(StagedRun)) == 0
    assert [one for one in (tmp_path / "store").rglob("*") if one.is_file()] == []


def test_only_the_own_teams_runs_are_told_as_twins(program: Callable[..., Program]) -> None:
    ada = program("ada", Scope.SUBMIT)
    assert send(ada, RUN).status_code == 201
    assert [one["kind"] for one in check(ada, RUN)["warnings"]] == ["twin"]
    assert check(program("eve"), RUN)["twins"] == []


def test_what_is_wrong_with_the_form_is_said_by_its_field(program: Callable[..., Program]) -> None:
    ada = program("ada")
    assert "run" in check(ada, None, 400, threshold="0.5")["fields"]
    assert "threshold" in check(ada, RUN, 400, threshold="half")["fields"]
    assert "team" in check(ada, RUN, 400, team="alpha")["fields"]
    ada.ask(CHECK, "POST", status=400, json={"run": "x"})
    check(program(), RUN, 401)
    for bad in (b"", b"%PDF-1.7\n\x00", b"\x1f\x8bbroken", b"\xff\xfe\x00"):
        assert check(ada, bad)["problem_count"] > 0
