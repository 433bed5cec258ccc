"""The submission form: what it offers, what goes in, and how it comes back."""

import gzip
import hashlib
import io
import re
from dataclasses import replace

import pytest
import sqlalchemy as sa
from flask import Flask

from leaderboard.access import CONSOLE
from leaderboard.accounts import rate_limits as attempts
from leaderboard.audit.writes import present
from leaderboard.campaigns.models import Campaign
from leaderboard.evaluations import writes as submission_forms
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import FormField
from leaderboard.store import Caps
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import REJECTED_A_DAY, Designation, RunChoice, State
from leaderboard.teams.models import System
from leaderboard.worker.models import Scoring
from tests.web.conftest import RUN, Reader, World, files_in

FORM = "/campaigns/harbour/2025/submit"
BOTH = pytest.mark.parametrize("engine_name", ["sqlite", "postgresql"])


@pytest.fixture
def engine_name() -> str:
    """One is enough where nothing else is said: words, files, and what is submitted is tried on both elsewhere."""
    return "sqlite"


def submissions(world: World) -> list[Submission]:
    with world.database.read() as session:
        return list(session.scalars(sa.select(Submission).order_by(Submission.id)))


def score_all(world: World) -> None:
    """Marks every run as scored, as a worker would."""
    with world.database.write() as session:
        session.execute(sa.update(Scoring).values(state=State.SCORED))
        session.execute(sa.update(Submission).where(Submission.scored_at.is_(None)).values(scored_at=present()))


def ask(world: World) -> None:
    """The evaluation asks a field and an agreement of every run."""
    with world.database.write() as session:
        asking = session.get_one(Evaluation, world.evaluation.id)
        submission_forms.set_field(session, CONSOLE, asking, FormField(key="model", label="Model", required=True))
        submission_forms.state_agreement(session, CONSOLE, asking, "terms", "Terms of use", "Do no harm.")


@BOTH
def test_a_run_goes_in_with_everything_that_was_said_of_it(world: World, app: Flask, participant: Reader) -> None:
    world.measure("AP", "SetF")
    answer = participant.send(
        FORM, RUN, system=str(world.system.id), designation="primary", threshold="0.75", label="first", notes="dense"
    )
    [run] = submissions(world)
    assert answer.location == f"/submissions/{run.id}"
    assert (run.system_id, run.team_id, run.submitter_id) == (
        world.system.id, world.teams["alpha"].id, world.users["ada"].id,
    )  # fmt: skip
    assert (run.designation, run.threshold, run.label, run.notes) == (Designation.PRIMARY, 0.75, "first", "dense")
    assert run.sha256 == hashlib.sha256(RUN.encode()).hexdigest()
    assert (run.size, run.filename) == (len(RUN), "alpha.run")
    assert [path.name for path in files_in(app)] == [run.sha256]
    with world.database.read() as session:
        assert session.scalars(sa.select(Scoring.state)).all() == [State.QUEUED]


def test_no_system_is_chosen_before_the_reader_does(world: World, participant: Reader) -> None:
    page = participant.get(FORM)
    assert re.search(r'<select[^>]*name="system"[^>]*><option value="">Choose a system</option>', page)
    assert "<option selected" not in page
    assert participant.send(FORM, RUN, system="", designation="contrastive").status_code == 400
    assert submissions(world) == []


def test_the_form_says_which_run_stands_and_asks_whether_this_one_should(world: World, participant: Reader) -> None:
    assert "no run stands yet" in participant.get(FORM)
    sent = {"system": str(world.system.id), "designation": "contrastive"}
    participant.send(FORM, RUN, label="first try", **sent)
    score_all(world)
    page = participant.get(FORM)
    assert re.search(r"first try \(run 1, \d+ \w+ \d+\) stands now", page)
    assert re.search(r"Let this run stand for <span[^>]*>its system</span>\?", page)
    assert not re.search(r'<input[^>]*name="stand"[^>]*checked|checked[^>]*name="stand"', page)
    participant.send(FORM, f"{RUN}q3 Q0 d7 2 0.5 alpha\n", label="second try", **sent)
    score_all(world)
    assert re.search(r"first try \(run 1, .*\) stands now", participant.get(FORM))
    participant.send(FORM, f"{RUN}q3 Q0 d8 2 0.5 alpha\n", label="third try", stand="y", **sent)
    score_all(world)
    assert re.search(r"third try \(run 3, .*\) stands now", participant.get(FORM))


@pytest.mark.parametrize(
    ("choice", "says"),
    [(RunChoice.BEST, "the best run of each system, by the measure that ranks"), (RunChoice.LATEST, "the latest run")],
)
def test_where_the_campaign_shows_the_best_or_the_latest_run_there_is_nothing_to_choose(
    world: World, participant: Reader, choice: RunChoice, says: str
) -> None:
    with world.database.write() as session:
        session.get_one(Campaign, world.campaign.id).run_choice = choice
    page = participant.get(FORM)
    assert says in page
    assert "stand" not in re.sub(r"<[^>]*>", "", page)
    assert 'name="stand"' not in page
    assert participant.send(FORM, RUN, system=str(world.system.id), designation="contrastive").status_code == 302


@BOTH
def test_a_new_system_is_made_with_its_run(world: World, participant: Reader) -> None:
    team = world.teams["alpha"].id
    participant.send(FORM, RUN, system=f"new-{team}", system_name="Sparse one", designation="primary")
    with world.database.read() as session:
        names = session.scalars(sa.select(System.name).where(System.team_id == team).order_by(System.id)).all()
    assert names == ["Searcher", "Sparse one"]


def test_every_error_comes_back_by_its_field_and_the_rest_is_kept(world: World, participant: Reader) -> None:
    world.measure("AP", "SetF")
    answer = participant.send(
        FORM, None, system=f"new-{world.teams['alpha'].id}", designation="primary", threshold="high", notes="kept notes"
    )
    assert answer.status_code == 400
    for field in ("system_name", "run", "threshold"):
        assert f'href="#{field}"' in answer.text
        assert f'id="{field}-error"' in answer.text
    assert "kept notes" in answer.text
    assert 'value="high"' in answer.text
    assert re.search(r'value="primary"[^>]*checked|checked[^>]*value="primary"', answer.text)
    assert submissions(world) == []


def test_files_with_a_form_that_has_mistakes_are_no_rejected_ones_and_only_so_many_an_hour(
    world: World, participant: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(world)
    monkeypatch.setitem(attempts.FORM_FILE.bounds, "form files of user {user}", REJECTED_A_DAY + 2)
    sent = {"system": str(world.system.id), "designation": "primary", "agreement-terms": "1"}
    for _ in range(REJECTED_A_DAY + 1):
        assert participant.send(FORM, RUN, **sent).status_code == 400
    assert participant.send(FORM, RUN, **sent, **{"answer-model": "dense"}).location == "/submissions/1"
    later = participant.send(FORM, RUN, **sent)
    assert later.status_code == 429
    assert "You have sent very many files; try again in 60 min" in later.text


def test_a_file_that_arrived_need_not_be_sent_again(world: World, participant: Reader, other: Reader) -> None:
    world.measure("AP", "SetF")
    answer = participant.send(FORM, RUN, system=str(world.system.id), designation="primary", threshold="high")
    assert answer.status_code == 400
    assert f"alpha.run</strong> ({len(RUN)} bytes) has arrived" in answer.text
    found = re.search(r'name="kept"[^>]*value="([^"]+)"', answer.text)
    assert found is not None
    stolen = other.send(
        FORM, None, system=f"new-{world.teams['beta'].id}", system_name="B", designation="primary", kept=found[1]
    )
    assert stolen.status_code == 400
    sent = {"system": str(world.system.id), "designation": "primary", "threshold": "0.75"}
    participant.send(FORM, None, kept=found[1], **sent)
    [run] = submissions(world)
    assert run.sha256 == hashlib.sha256(RUN.encode()).hexdigest()


@pytest.mark.parametrize("choice", ["nonsense", "new-", "9" * 30, ""])
def test_a_system_that_is_not_offered_is_refused(world: World, participant: Reader, choice: str) -> None:
    answer = participant.send(FORM, RUN, system=choice, system_name="x", designation="primary")
    assert answer.status_code == 400
    assert 'id="system-error"' in answer.text


def test_a_file_over_the_cap_is_refused_and_not_kept(world: World, app: Flask, participant: Reader) -> None:
    answer = participant.send(FORM, RUN * 2000, system=str(world.system.id), designation="primary", notes="kept notes")
    assert answer.status_code == 400
    assert "larger than 100,000 bytes" in answer.text
    assert "kept notes" in answer.text
    assert files_in(app) == []


def test_a_file_that_expands_over_the_cap_is_refused_and_not_kept(
    world: World, app: Flask, participant: Reader
) -> None:
    packed = gzip.compress(b"q1 Q0 d1 1 0.9 alpha\n" * 100_000)
    answer = participant.send(FORM, packed, system=str(world.system.id), designation="primary")
    assert answer.status_code == 400
    assert "expands to more than 1,000,000 bytes" in answer.text
    assert files_in(app) == []


def test_a_form_without_its_token_keeps_nothing(world: World, app: Flask, participant: Reader) -> None:
    answer = participant.client.post(
        FORM,
        data={"system": str(world.system.id), "designation": "primary", "run": (io.BytesIO(RUN.encode()), "a.run")},
        content_type="multipart/form-data",
    )
    assert answer.status_code == 400
    assert submissions(world) == []
    assert files_in(app) == []


@pytest.mark.parametrize("length", [200, 400, 520])
@BOTH
def test_an_upload_that_is_cut_off_leaves_neither_row_nor_file(
    world: World, app: Flask, participant: Reader, length: int
) -> None:
    token = participant.token()
    parts = [("csrf_token", token), ("system", str(world.system.id)), ("designation", "primary")]
    body = "".join(
        f'--cut\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in parts
    )
    body += f'--cut\r\nContent-Disposition: form-data; name="run"; filename="a.run"\r\n\r\n{RUN}'
    sent = body.encode()[: -len(RUN) + 40] if length == 520 else body.encode()[:length]
    answer = participant.client.post(
        FORM,
        input_stream=io.BytesIO(sent),
        content_length=len(body) + 1000,
        content_type="multipart/form-data; boundary=cut",
    )
    assert answer.status_code == 400
    assert submissions(world) == []
    assert files_in(app) == []


PART = '\r\n--b\r\nContent-Disposition: form-data; name="notes"\r\n\r\n'


@pytest.mark.parametrize(
    ("behind", "status"),
    [
        (f"{PART}cut off", 400),
        (f"{PART * 60}\r\n--b--\r\n", 413),
        ("\r\n--b\r\nnonsense\r\n\r\na\r\n--b--\r\n", 400),
    ],
    ids=["cut off", "too many parts", "a broken head of a part"],
)
def test_a_form_that_breaks_behind_the_file_leaves_no_file(
    world: World, app: Flask, participant: Reader, behind: str, status: int
) -> None:
    app.extensions["config"] = replace(app.extensions["config"], upload_bytes=10**7)
    parts = [("csrf_token", participant.token()), ("system", str(world.system.id)), ("designation", "primary")]
    head = "--b\r\nContent-Disposition: form-data; name="
    body = "".join(f'{head}"{name}"\r\n\r\n{value}\r\n' for name, value in parts)
    body += f'{head}"run"; filename="a.run"\r\n\r\n{RUN}{behind}'
    answer = participant.client.post(
        FORM,
        input_stream=io.BytesIO(body.encode()),
        content_length=len(body) + 100,
        content_type="multipart/form-data; boundary=b",
    )
    assert answer.status_code == status
    assert submissions(world) == []
    assert files_in(app) == []


def test_a_form_too_large_to_be_read_is_refused_with_the_way_back_to_it(participant: Reader) -> None:
    large = participant.send(FORM, RUN * 6000)
    assert (large.status_code, "<title>Error: " in large.text) == (413, True)
    assert "a file may have at most 97.7 KiB" in large.text
    assert f'<a href="{FORM}">' in large.text
    long = participant.post("/account/teams/new", name="Gamma", description="x" * 70_000)
    assert long.status_code == 413
    assert "at most 64 KiB are read here. Shorten its longest text" in long.text
    assert '<a href="/account/teams/new">' in long.text


class Watched(io.RawIOBase):
    """An upload that looks into the store each time that some of it is asked for."""

    def __init__(self, content: bytes, app: Flask) -> None:
        super().__init__()
        self._content = io.BytesIO(content)
        self._app = app
        self.asked: list[int] = []
        self.kept: list[int] = []

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]  # all that is passed here
        self.asked.append(len(buffer))
        self.kept.append(max((path.stat().st_size for path in files_in(self._app)), default=0))
        return self._content.readinto(buffer)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:  # the test client measures its body so
        return self._content.seek(offset, whence)

    def tell(self) -> int:
        return self._content.tell()


def test_an_upload_goes_to_the_store_piece_by_piece(world: World, app: Flask, participant: Reader) -> None:
    app.extensions["store"].caps = Caps(upload_bytes=20_000_000, text_bytes=20_000_000)
    app.extensions["config"] = replace(app.extensions["config"], upload_bytes=20_000_000)
    fields = {"csrf_token": participant.token(), "system": str(world.system.id), "designation": "primary"}
    head = "--b\r\nContent-Disposition: form-data; name="
    body = "".join(f'{head}"{name}"\r\n\r\n{value}\r\n' for name, value in fields.items()).encode()
    long = b"".join(b"q1 Q0 document-%d 1 0.9 alpha\n" % number for number in range(200_000))
    body += f'{head}"run"; filename="a.run"\r\n\r\n'.encode() + long + b"\r\n--b--\r\n"
    upload = Watched(body, app)
    answer = participant.client.post(
        FORM, input_stream=upload, content_length=len(body), content_type="multipart/form-data; boundary=b"
    )
    assert answer.status_code == 302
    assert max(upload.asked) <= 2**18
    assert upload.kept[len(upload.kept) // 2] > len(body) / 3
    [run] = submissions(world)
    assert run.size == len(long)


@BOTH
def test_the_quota_stands_beside_the_form_and_is_enforced(world: World, participant: Reader) -> None:
    world.change(daily_quota=2)
    assert "2 of 2" in participant.get(FORM)
    sent = {"system": str(world.system.id), "designation": "contrastive"}
    for number in range(2):
        assert participant.send(FORM, f"{RUN}# {number}\n", **sent).status_code == 302
    page = participant.get(FORM)
    assert re.search(r"Your team has used 2 of its 2 submissions for today\. The count starts again on \d", page)
    assert "<form" not in page.partition("<main")[2]
    answer = participant.send(FORM, RUN, system=str(world.system.id), designation="contrastive")
    assert answer.status_code == 429
    assert "starts again on" in answer.text
    assert 60 < int(answer.headers["Retry-After"]) <= 24 * 3600  # when the day is over
    assert len(submissions(world)) == 2


def test_a_threshold_that_only_python_takes_for_a_number_is_refused(world: World, participant: Reader) -> None:
    world.measure("AP", "SetF")
    sent = {"system": str(world.system.id), "designation": "contrastive"}
    for text in ("1_0", "٣", "１", "inf", "nan", "1e999"):
        answer = participant.send(FORM, RUN, threshold=text, **sent)
        assert (answer.status_code, "give a number such as 0.5" in answer.text) == (400, True), text
    assert submissions(world) == []
    participant.get("/submissions/٣", status=404)
    assert participant.send(FORM, RUN, threshold="7.5e-1", **sent).status_code == 302
    assert [run.threshold for run in submissions(world)] == [0.75]
