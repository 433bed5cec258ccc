"""What stands between form and queue: a check that keeps nothing, and warnings that have to be confirmed."""

import datetime as dt
import re

import pytest
import sqlalchemy as sa
from flask import Flask
from itsdangerous import URLSafeTimedSerializer

from leaderboard.audit.writes import present
from leaderboard.evaluations import writes as submission_forms
from leaderboard.evaluations.rules import FormField, Opening
from leaderboard.judgments import writes as judgments, writes as queries
from leaderboard.judgments.rules import JudgmentFiles
from leaderboard.submissions.models import Arrival, PersonalUse, Submission
from tests.support.pages import filled
from tests.support.world import judged
from tests.web.conftest import BOARD, FORM, RUN, Reader, World, files_in

CHECK = f"{BOARD}/check"
MARK = "data-submit"  # of the form of a run


@pytest.fixture
def measured(world: World) -> World:
    world.measure("AP", "SetF")
    return world


def rejected(world: World) -> int:
    """What was counted today as rejected files."""
    return int(world.all(sa.select(PersonalUse.rejected_today))[0])


def check(reader: Reader, run: str | bytes, filename: str = "a.run", **more: str) -> str:
    answer = reader.send(CHECK, run, filename, **more)
    assert answer.status_code == 200, answer.status
    return answer.text


def test_a_run_without_decisions_and_threshold_has_to_be_confirmed_where_a_measure_counts_what_was_returned(
    app: Flask, measured: World, participant: Reader
) -> None:
    asked = participant.send(FORM, RUN, **measured.sent(label="my label"))
    assert asked.status_code == 200
    assert (
        "this run has neither decisions nor a threshold θ: every document that it lists counts as returned"
        in asked.text
    )
    assert (measured.count(Submission), measured.count(Arrival)) == (0, 0)
    sent = filled(asked.text, MARK)
    assert "confirm" not in sent  # the Enter key checks again what was changed
    confirmed = participant.send(FORM, None, **sent, confirm="yes")
    assert confirmed.location == "/submissions/1"
    with measured.database.read() as session:
        run = session.scalars(sa.select(Submission)).one()
        assert (run.label, run.threshold, run.late) == ("my label", None, False)
    assert (measured.count(Arrival), rejected(measured)) == (0, 0)
    assert [path.name for path in files_in(app) if path.parent.parent.name == "runs"] == [run.sha256]
    # Pressed twice, or gone back to: what the first press made.
    assert participant.send(FORM, None, **sent, confirm="yes").location == "/submissions/1"
    assert measured.count(Submission) == 1


def test_metadata_and_the_filled_form_outlast_the_question(measured: World, participant: Reader) -> None:
    measured.do(submission_forms.set_field, FormField(key="gpu", label="GPU", required=True).as_json())
    measured.do(submission_forms.state_agreement, "terms", "Terms", "Be fair.")
    new = {"system": f"new-{measured.teams['alpha'].id}", "new_system": "Heron", "designation": "primary"}
    words = {"label": "my label", "notes": "my notes", "answer-gpu": "A 100", "agreement-terms": "1"}
    asked = participant.send(FORM, RUN, metadata="tool: anserini\n", **new, **words)
    assert "<strong>alpha.run</strong>" in asked.text
    sent = filled(asked.text, MARK)
    assert {name: sent.get(name) for name in (*new, *words)} == {**new, **words}
    # Sent once more as it came back, with θ and no file.
    assert participant.send(FORM, None, **{**sent, "threshold": "0.75"}).location == "/submissions/1"
    with measured.database.read() as session:
        run = session.scalars(sa.select(Submission)).one()
        assert (run.label, run.notes, run.threshold, run.answers) == ("my label", "my notes", 0.75, {"gpu": "A 100"})
        assert (run.system.name, run.filename, run.designation.value) == ("Heron", "alpha.run", "primary")
        assert run.said == {"tool": "anserini"}


def test_nobody_else_confirms_a_file(measured: World, participant: Reader, other: Reader) -> None:
    sent = filled(participant.send(FORM, RUN, **measured.sent()).text, MARK)
    beta = {"kept": sent["kept"], **measured.sent(system=f"new-{measured.teams['beta'].id}", new_system="B")}
    refused = other.send(FORM, None, **beta, confirm="yes")
    assert (refused.status_code, measured.count(Submission)) == (400, 0)
    assert "choose the file of the run" in refused.text


def test_the_proof_of_a_file_that_another_form_kept_is_one_here_too(
    app: Flask, measured: World, participant: Reader
) -> None:
    sent = filled(participant.send(FORM, RUN, **measured.sent()).text, MARK)
    signer = URLSafeTimedSerializer(app.extensions["config"].secret_key, salt="an upload that was received")
    sent["kept"] = signer.dumps(signer.loads(sent["kept"]) | {"more": {}})  # as the pages of organisers make them
    assert participant.send(FORM, None, **sent, confirm="yes").location == "/submissions/1"


def test_what_came_in_time_is_confirmed_until_the_end_of_the_grace(
    app: Flask, measured: World, participant: Reader
) -> None:
    closes = dt.datetime(2026, 6, 30, 12, 0, tzinfo=dt.UTC)
    moment = [closes - dt.timedelta(seconds=10)]
    app.extensions["clock"] = lambda: moment[0]
    measured.change(closes_at=closes, results=Opening.CLOSED)
    first = filled(participant.send(FORM, RUN, **measured.sent()).text, MARK)
    second = filled(participant.send(FORM, f"{RUN}q3 Q0 d9 2 0.1 a\n", **measured.sent()).text, MARK)
    moment[0] = closes + dt.timedelta(seconds=59)
    assert participant.send(FORM, None, **first, confirm="yes").location == "/submissions/1"
    moment[0] = closes + dt.timedelta(seconds=60)  # from now on closing has opened what it opens
    assert participant.send(FORM, None, **second, confirm="yes").status_code == 409
    assert [run.late for run in measured.runs()] == [False]


def test_hidden_queries_are_not_told_from_queries_that_there_are_not(
    world: World, participant: Reader, organiser: Reader
) -> None:
    world.change(closes_at=present() + dt.timedelta(days=1))
    world.do(queries.import_queries, [queries.QueryRow("secret", "", ())], queries.Split.HIDDEN)
    pages = [check(participant, f"{RUN}{name} Q0 d1 1 1 alpha\n") for name in ("secret", "nobody")]
    one, other = (page.partition("<main")[2].replace("nobody", "secret") for page in pages)
    assert "1 query is not among those listed here: secret" in one
    assert one.count("secret") == other.count("secret")
    assert "not among" not in check(organiser, f"{RUN}secret Q0 d1 1 1 alpha\n")


def test_a_check_depends_on_judgments_only_where_single_queries_are_open(world: World, participant: Reader) -> None:
    def answers() -> str:
        with world.database.write() as session:
            session.execute(sa.delete(PersonalUse))  # each form that comes back keeps a file, which counts
        page = check(participant, RUN).partition("<main")[2]
        return page + participant.send(FORM, RUN, **world.sent()).text.partition("<main")[2]

    world.measure("AP", "SetF")
    world.change(closes_at=present() + dt.timedelta(days=1), details=Opening.CLOSED)
    before = answers()
    world.do(judgments.import_judgments, JudgmentFiles(judged("q1 0 d1 0\nq2 0 d7 1\nq3 0 d6 1\n")))
    assert _without_times(answers()) == _without_times(before)
    assert "Judged among the first ten" not in before
    world.change(details=Opening.ALWAYS)
    # q1: d1 is judged and d2 is not; q2: d4 is not judged; q3: d6 is. (1/2 + 0 + 1) / 3
    assert "50\N{NO-BREAK SPACE}%" in check(participant, RUN).partition("Judged among the first ten")[2][:60]


def _without_times(page: str) -> str:

    return re.sub(r"submit/\d+|\d+ \w+ \d{4}, [\d:]+ UTC|[\d-]+T[\d:]+Z|value=\"[^\"]*\"", "", page)
