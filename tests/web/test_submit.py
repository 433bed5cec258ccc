"""The submission form: what it offers, what goes in, and how it comes back."""

import gzip
import hashlib
import logging
import re
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from leaderboard.accounts import rate_limits as attempts
from leaderboard.config import Config
from leaderboard.operating import logs
from leaderboard.submissions import rules
from leaderboard.submissions.models import PersonalUse
from leaderboard.submissions.rules import REJECTED_A_DAY, Designation, State
from leaderboard.worker.models import Scoring
from tests.support.pages import hidden
from tests.support.stores import BOTH_STORES
from tests.web.conftest import BOTH, FORM, RUN, Body, Reader, World, files_in, kept_runs


@BOTH
@BOTH_STORES
def test_a_run_goes_in_with_everything_that_was_said_of_it(world: World, app: Flask, participant: Reader) -> None:
    world.measure("AP", "SetF")
    answer = participant.send(
        FORM, RUN, system=str(world.system.id), designation="primary", threshold="0.75", label="first", notes="dense"
    )
    [run] = world.runs()
    assert answer.location == f"/submissions/{run.id}"
    assert (run.system_id, run.team_id, run.submitter_id) == (
        world.system.id, world.teams["alpha"].id, world.users["ada"].id,
    )  # fmt: skip
    assert (run.designation, run.threshold, run.label, run.notes) == (Designation.PRIMARY, 0.75, "first", "dense")
    assert run.sha256 == hashlib.sha256(RUN.encode()).hexdigest()
    assert (run.size, run.filename) == (len(RUN), "alpha.run")
    assert kept_runs(app) == [run.sha256]
    with world.database.read() as session:
        assert session.scalars(sa.select(Scoring.state)).all() == [State.QUEUED]


def test_the_log_says_who_sent_which_run_in_which_request(
    world: World, participant: Reader, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "leaderboard")
    answer = participant.send(FORM, RUN, **world.sent())
    said = logs.event(caplog.records[-1])  # this thread has made the answer: events are still about its request
    run, ada = world.runs()[0], world.users["ada"]
    assert (said["message"], said["submission"], said["account"]) == ("received a run", run.id, ada.id)
    assert (said["request"], said["path"]) == (answer.headers["X-Request-ID"], FORM)


def test_every_error_comes_back_by_its_field_and_the_rest_is_kept(world: World, participant: Reader) -> None:
    world.measure("AP", "SetF")
    answer = participant.send(
        FORM, None, system=f"new-{world.teams['alpha'].id}", designation="primary", threshold="high", notes="kept notes"
    )
    assert answer.status_code == 400
    for field in ("new_system", "run", "threshold"):
        assert f'href="#{field}"' in answer.text
        assert f'id="{field}-error"' in answer.text
    assert "kept notes" in answer.text
    assert 'value="high"' in answer.text
    assert re.search(r'value="primary"[^>]*checked|checked[^>]*value="primary"', answer.text)
    assert world.runs() == []


def test_files_that_are_kept_with_a_form_that_has_mistakes_count_among_the_rejected_ones_until_they_are_submitted(
    world: World, participant: Reader
) -> None:
    sent = {"system": str(world.system.id), "designation": "primary"}
    wrong = {**sent, "label": "x" * 200}
    kept = [hidden(participant.send(FORM, RUN, **wrong).text, "kept") for _ in range(REJECTED_A_DAY - 1)]
    for proof in kept[:2]:  # sent again without the file, it counts no second time
        participant.send(FORM, None, kept=proof, **wrong)
    for proof in kept[:2]:
        assert participant.send(FORM, None, kept=proof, confirm="yes", **sent).status_code == 302
    [rejected] = world.all(sa.select(PersonalUse.rejected_today))
    assert rejected == REJECTED_A_DAY - 3
    for system in ("999", *[str(world.system.id)] * 2):  # a choice that there is not keeps none
        participant.send(FORM, RUN, **{**wrong, "system": system})
    refused = participant.send(FORM, RUN, **sent)
    assert (refused.status_code, "files on the way or not checked yet" in refused.text) == (429, True)


def test_so_many_files_an_hour_come_by_the_forms(
    world: World, participant: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(attempts.FORM_FILE.bounds, "form files of user {user}", 1)
    sent = {"system": str(world.system.id), "designation": "primary"}
    assert participant.send(FORM, RUN, **sent).location == "/submissions/1"
    later = participant.send(FORM, RUN, **sent)
    assert (later.status_code, "You have sent very many files; try again in 60 min" in later.text) == (429, True)


def test_a_file_that_arrived_need_not_be_sent_again(world: World, participant: Reader) -> None:
    world.measure("AP", "SetF")
    answer = participant.send(FORM, RUN, system=str(world.system.id), designation="primary", threshold="high")
    assert answer.status_code == 400
    assert f"alpha.run</strong> ({len(RUN)} bytes) has arrived" in answer.text
    kept = hidden(answer.text, "kept")
    sent = {"system": str(world.system.id), "designation": "primary", "threshold": "0.75"}
    participant.send(FORM, None, kept=kept, **sent)
    [run] = world.runs()
    assert run.sha256 == hashlib.sha256(RUN.encode()).hexdigest()


def test_a_form_without_its_token_keeps_nothing(world: World, app: Flask, participant: Reader) -> None:
    assert participant.stream(Body(world.sent())).status_code == 400
    assert world.runs() == []
    assert files_in(app) == []


def test_a_form_too_large_to_be_read_is_refused_with_the_way_back_to_it(participant: Reader) -> None:
    large = participant.send(FORM, RUN * 6000)
    assert (large.status_code, "<title>Error: " in large.text) == (413, True)
    assert "a file may have at most 97.7 KiB" in large.text
    assert f'<a href="{FORM}">' in large.text
    long = participant.post("/account/teams/new", name="Gamma", description="x" * 70_000)
    assert (long.status_code, '<a href="/account/teams/new">' in long.text) == (413, True)


def test_the_quota_stands_beside_the_form_and_is_enforced(world: World, participant: Reader) -> None:
    world.change(daily_quota=1)
    assert "1 of 1" in participant.get(FORM)
    assert participant.send(FORM, RUN, **world.sent()).status_code == 302
    page = participant.get(FORM)
    assert re.search(
        r"Your team has used 1 of its 1 submissions for today\. The count starts again on [^.]+\. That is ", page
    )
    assert "<form" not in page.partition("<main")[2]
    answer = participant.send(FORM, RUN, **world.sent())
    assert (answer.status_code, "starts again on" in answer.text) == (429, True)
    assert 60 < int(answer.headers["Retry-After"]) <= 24 * 3600  # when the day is over


def test_a_quota_that_files_not_checked_yet_hold_may_be_free_at_once(
    world: World, participant: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "REJECTED_A_DAY", 1)
    assert participant.send(FORM, RUN, **world.sent()).status_code == 302
    page = participant.get(FORM)
    assert "1 file on the way or not checked yet, which may take the rest of the quota. Try again soon.</p>" in page


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (RUN.encode() * 2000, "larger than 100,000 bytes"),
        (gzip.compress(b"q1 Q0 d1 1 0.9 alpha\n" * 100_000), "expands to more than 1,000,000 bytes"),
    ],
    ids=["large", "bomb"],
)
def test_a_file_over_a_cap_is_refused_and_not_kept(
    world: World, app: Flask, participant: Reader, content: bytes, words: str
) -> None:
    answer = participant.send(FORM, content, **world.sent(notes="kept notes"))
    assert (answer.status_code, words in answer.text, "kept notes" in answer.text) == (400, True, True)
    assert (world.runs(), files_in(app)) == ([], [])


PART = '\r\n--b\r\nContent-Disposition: form-data; name="notes"\r\n\r\n'


@BOTH
@pytest.mark.parametrize(
    ("status", "sent"),
    [
        (400, {"keep": 150}),
        (400, {"keep": 300}),
        (400, {"keep": -100}),
        (400, {"ending": f"{PART}cut off"}),
        (413, {"ending": f"{PART * 60}\r\n--b--\r\n"}),
        (400, {"ending": "\r\n--b\r\nnonsense\r\n\r\na\r\n--b--\r\n"}),
    ],
    ids=["in the fields", "before the file", "in the file", "behind it", "too many parts", "a broken head of a part"],
)
def test_an_upload_that_is_cut_off_or_breaks_leaves_neither_row_nor_file(
    world: World, app: Flask, participant: Reader, status: int, sent: dict[str, Any]
) -> None:
    app.extensions["config"] = replace(app.extensions["config"], upload_bytes=10**7)
    body = Body({"csrf_token": participant.token(), **world.sent()}, **sent)
    assert participant.stream(body).status_code == status
    assert (world.runs(), files_in(app)) == ([], [])


def test_an_upload_goes_to_the_store_piece_by_piece(world: World, app: Flask, participant: Reader) -> None:
    app.extensions["store"].config = Config(upload_bytes=20_000_000, text_bytes=20_000_000)
    app.extensions["config"] = replace(app.extensions["config"], upload_bytes=20_000_000)
    file = b"".join(b"q1 Q0 document-%d 1 0.9 alpha\n" % number for number in range(200_000))
    pieces: list[tuple[int, int]] = []  # what was asked for, and what the store held then

    def look(body: Body) -> None:
        pieces.append((body.asked, max((path.stat().st_size for path in files_in(app)), default=0)))

    body = Body({"csrf_token": participant.token(), **world.sent()}, file, look)
    assert participant.stream(body).status_code == 302
    assert max(asked for asked, _ in pieces) <= 2**18
    assert pieces[len(pieces) // 2][1] > body.size / 3
    assert [run.size for run in world.runs()] == [len(file)]
