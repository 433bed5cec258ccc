"""The check of a run through the API: what the page says of it, and nothing is kept."""

import datetime as dt
import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from markupsafe import escape

from leaderboard import cli
from leaderboard.access import CONSOLE
from leaderboard.accounts.rules import Scope
from leaderboard.campaigns.models import Campaign
from leaderboard.evaluations import writes as submission_forms
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import FieldKind, FormField, Opening
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules.checks import LATE
from tests.web.conftest import RUN, Reader, World
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
    one_more = check(ada, f"{RUN}x1 Q0 d1 1 1 a\n")  # a hidden one, for all that she knows
    assert (one_more["is_sound"], one_more["problem_count"], one_more["warnings"]) == (None, 0, [])
    wrong = check(ada, "q1 Q0 d1 1 high a\nq1 Q0\n")
    assert wrong["problem_count"] == 2
    assert wrong["problems"][0]["line"] == 1
    assert wrong["is_sound"] is False
    with world.database.read() as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Submission)) == 0
    assert [one for one in (tmp_path / "store").rglob("*") if one.is_file()] == []


def test_a_field_that_there_is_not_and_one_that_is_given_twice_are_told_apart(program: Callable[..., Program]) -> None:
    twice: Any = ["0.5", "0.6"]
    assert check(program("ada"), RUN, 400, threshold=twice)["fields"] == {"threshold": ["is given twice"]}
    unknown = check(program("ada"), RUN, 400, depth="3")["fields"]
    assert unknown == {"depth": ["is not known here; known are: threshold, run"]}


def test_only_the_own_teams_runs_are_told_as_twins(program: Callable[..., Program]) -> None:
    ada = program("ada", Scope.SUBMIT)
    assert send(ada, RUN).status_code == 201
    assert [one["kind"] for one in check(ada, RUN)["warnings"]] == ["twin"]
    assert check(program("eve"), RUN)["twins"] == []


BAD = {
    "a header that is no run's": b"topic,url\nq1,d1\n",
    "judgments": b"q1 0 d1 1\nq1 0 d2 0\n",
    "a PDF": b"%PDF-1.7\n\x00",
    "UTF-16": RUN.encode("utf-16"),
    "nothing": b"",
    "one byte": b"x",
    "gzip in gzip": gzip.compress(gzip.compress(RUN.encode())),
    "cut gzip": gzip.compress(RUN.encode())[:-9],
    "other queries": RUN.replace("q", "x").encode(),
    "one other query": f"{RUN}x1 Q0 d1 1 1 a\n".encode(),
    "other documents": RUN.replace("d", "x").encode(),
    "a tag of another form": RUN.replace("alpha", "Alpha-1").encode(),
    "theta that returns nothing": RUN.encode(),
    "a header that is broken": b"# a: [\n# ir_metadata.start\n# a: [\n# ir_metadata.end\n" + RUN.encode(),
}


@pytest.mark.parametrize("content", BAD.values(), ids=BAD.keys())
def test_page_program_and_command_say_the_same_of_a_file(
    app: Flask,
    world: World,
    reader: Callable[[str], Reader],
    program: Callable[..., Program],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    content: bytes,
) -> None:
    world.measure("AP", "SetF")
    world.change(details=Opening.ALWAYS)
    with world.database.write() as session:
        evaluation = session.get_one(Evaluation, world.evaluation.id)
        submission_forms.set_rules(session, CONSOLE, evaluation, document_pattern="d[0-9]+", tag_pattern="[a-z]+")
    said = check(program("orla", Scope.ORGANISE), content, threshold="9")
    (tmp_path / "a.run").write_bytes(content)
    monkeypatch.setenv("LEADERBOARD_DATABASE_URL", app.extensions["config"].database_url)
    monkeypatch.setenv("LEADERBOARD_STORE_URL", app.extensions["config"].store_url)
    capsys.readouterr()
    place = ("--evaluation", "harbour/2025", "--threshold", "9")
    assert cli.run(["check", str(tmp_path / "a.run"), *place]) == 1
    assert capsys.readouterr().out.splitlines() == said["in_words"]
    assert said["is_sound"] is False
    assert bool(said["problems"]) == bool(said["problem_count"])
    for name in ("orla", "ada"):  # who knows of every query, and who does not
        told = said if name == "orla" else check(program(name), content, threshold="9")
        page = reader(name).send("/campaigns/harbour/2025/check", content, "a.run", threshold="9").text
        sentences = [one["message"] for one in told["problems"]]
        sentences += [one["text"] for one in told["warnings"]] + [told["unsettled"]] + told["remarks"]
        assert [one for one in sentences if str(escape(one)) not in page] == []
        assert ("It would be rejected</h3>" in page) == (told["problem_count"] > 0)
        assert page.count("notice-warning") == len(told["warnings"]) + bool(told["unsettled"])
        assert all(one in "\n".join(told["in_words"]) for one in sentences)
        assert "speaks against submitting" not in page


AGO, AHEAD = (dt.datetime.now(dt.UTC) + dt.timedelta(days=days) for days in (-2, 2))


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"closes_at": AGO}, "Harbour 2025 closed on"),
        ({"opens_at": AHEAD, "closes_at": None}, "Harbour 2025 takes runs from"),
        ({"total_quota": 0}, "Your team has used 0 of its 0 submissions"),
        ({"archived": True}, "is archived: it can be read, and takes no runs any more."),
        ({"closes_at": AGO, "late_allowed": True}, ""),
    ],
)
def test_a_check_says_whether_a_run_would_be_taken_now_in_the_words_of_the_refusal(
    world: World, program: Callable[..., Program], participant: Reader, columns: dict[str, Any], says: str
) -> None:
    if columns.pop("archived", False):
        with world.database.write() as session:
            session.get_one(Campaign, world.campaign.id).archived_at = AGO
    world.change(title="Harbour 2025", **columns)
    ada = program("ada", Scope.SUBMIT)
    said = check(ada, RUN)
    assert (said["is_sound"], said["late_now"]) == (True, not says)
    assert says in said["refused_now"]
    words = said["in_words"][-1]
    assert words == (f"It would not be taken now: {said['refused_now']}" if says else LATE)
    assert str(escape(words)) in participant.send("/campaigns/harbour/2025/check", RUN, "a.run").text
    sent = send(ada, RUN)
    assert (sent.status_code == 201) == (not says)
    assert not says or sent.json["detail"] == said["refused_now"]


def test_a_check_holds_what_a_run_says_of_itself_against_the_form_as_submitting_does(
    world: World, program: Callable[..., Program], participant: Reader
) -> None:
    with world.database.write() as session:
        evaluation = session.get_one(Evaluation, world.evaluation.id)
        for key, required in (("params", False), ("gpus", True)):
            field = FormField(key=key, label=key.title(), kind=FieldKind.NUMBER, header=key, required=required)
            submission_forms.set_field(session, CONSOLE, evaluation, field)
    ada = program("ada", Scope.SUBMIT)
    for head in ("# params: abc\n# gpus: 8\n", "# gpus: many\n"):
        said, sent = check(ada, head + RUN), send(ada, head + RUN)
        assert (said["is_sound"], sent.status_code) == (False, 400)
        assert sent.json is not None
        [[wrong]] = sent.json["fields"].values()
        assert said["wrong_answers"] == [wrong]
        page = participant.send("/campaigns/harbour/2025/check", head + RUN, "a.run").text
        assert f"It would not be taken as it is: {escape(wrong)}." in page
        assert "speaks against submitting" not in page
        form = participant.send(
            "/campaigns/harbour/2025/submit", head + RUN, system=str(world.system.id), designation="primary"
        )
        assert form.status_code == 400
        assert str(escape(wrong.removeprefix("the "))) in form.text
        assert ('id="run-error"' in form.text, 'id="answer-gpus-error"' in form.text) == ("abc" in head, "many" in head)
    lacking = check(ada, RUN)
    assert (lacking["wrong_answers"], len(lacking["lacking_answers"])) == ([], 1)
    assert lacking["remarks"][0].startswith("Gpus is lacking, which every run here needs: say gpus")
