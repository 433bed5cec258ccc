"""What stands between form and queue: a check that keeps nothing, and warnings that ask for a yes."""

import datetime as dt
import gzip
import io
import re
from collections.abc import Callable
from html.parser import HTMLParser

import pytest
import sqlalchemy as sa
from flask import Flask

from leaderboard.access import CONSOLE
from leaderboard.audit.writes import present
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations import writes as submission_forms
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import FormField, Opening
from leaderboard.formats import document_list
from leaderboard.judgments import writes as judgments
from leaderboard.judgments import writes as queries
from leaderboard.store import RunStore
from leaderboard.submissions.models import Arrival, PersonalUse, StagedRun, Submission
from leaderboard.submissions.writes import pending as staging
from leaderboard.worker.loop import remove_orphans
from tests.support.world import judged
from tests.web.conftest import RUN, Reader, World, files_in

FORM = "/campaigns/harbour/2025/submit"
CHECK = "/campaigns/harbour/2025/check"
STAGED = staging.STAGED_SECONDS


@pytest.fixture(params=["sqlite"])
def engine_name(request: pytest.FixtureRequest) -> str:
    """Runs that wait are tried on both engines in tests/submissions/test_writes_pending.py."""
    name: str = request.param
    return name


@pytest.fixture
def measured(world: World) -> World:
    world.measure("AP", "SetF")
    return world


@pytest.fixture
def of_collection(world: World) -> World:
    with world.database.write() as session:
        evaluation = session.get_one(Evaluation, world.evaluation.id)
        listed = document_list(io.BytesIO("".join(f"d{n}\n" for n in range(20)).encode()))
        submission_forms.set_documents(session, CONSOLE, evaluation, listed)
    return world


def fields(world: World, **more: str) -> dict[str, str]:
    return {"system": str(world.system.id), "designation": "contrastive", **more}


def count(world: World, table: type) -> int:
    with world.database.read() as session:
        return session.scalar(sa.select(sa.func.count()).select_from(table)) or 0


def rejected_today(world: World) -> int:
    with world.database.read() as session:
        return session.scalars(sa.select(PersonalUse.rejected_today)).one()


def check(reader: Reader, run: str | bytes, filename: str = "a.run", **more: str) -> str:
    answer = reader.send(CHECK, run, filename, **more)
    assert answer.status_code == 200, answer.status
    return answer.text


def test_a_run_without_decisions_and_threshold_asks_for_a_yes_where_a_measure_counts_what_was_returned(
    app: Flask, measured: World, participant: Reader
) -> None:
    answer = participant.send(FORM, RUN, **fields(measured, label="my label"))
    assert answer.location == f"{FORM}/1"
    assert count(measured, Submission) == 0
    page = participant.get(answer.location)
    assert "this run has neither decisions nor a threshold θ: every document that it lists counts as returned" in page
    assert "waits for your yes" in participant.get(FORM)
    said_yes = participant.post(answer.location)
    assert said_yes.location == "/submissions/1"
    with measured.database.read() as session:
        run = session.scalars(sa.select(Submission)).one()
        assert (run.label, run.threshold, run.late) == ("my label", None, False)
    assert (count(measured, Arrival), rejected_today(measured)) == (0, 0)
    assert [path.name for path in files_in(app) if path.parent.parent.name == "runs"] == [run.sha256]
    assert "waits for your yes" not in participant.get(FORM)
    # Pressed twice, or gone back to: what the first yes made.
    for again in (participant.post(answer.location), participant.client.get(answer.location)):
        assert again.location == "/submissions/1"
    for what in ("discard", "change"):
        assert participant.post(f"{answer.location}/{what}").location == answer.location
    assert count(measured, Submission) == 1


def test_a_run_of_another_collection_is_refused(of_collection: World, participant: Reader) -> None:
    run = "t1 Q0 new-1 1 2 a\nt1 Q0 new-2 2 1 a\nt2 Q0 new-3 1 1 a\n"
    answer = participant.send(FORM, run, **fields(of_collection, label="kept label"))
    page = answer.text
    assert (answer.status_code, count(of_collection, Submission), count(of_collection, StagedRun)) == (400, 0, 0)
    assert "kept label" in page
    assert "has arrived" not in page
    assert rejected_today(of_collection) == 1
    assert page.count("new-2") == 1
    assert "It would be rejected" in page


def test_a_run_that_was_sent_before_by_the_same_team_asks_for_a_yes(
    world: World, participant: Reader, other: Reader
) -> None:
    assert participant.send(FORM, RUN, **fields(world, label="first")).location == "/submissions/1"
    packed = gzip.compress(RUN.encode())
    answer = participant.send(FORM, packed, filename="b.gz", **fields(world))
    page = participant.get(answer.location)
    assert "Your team has submitted a file with the same text before: first" in page
    beta = fields(world, system=f"new-{world.teams['beta'].id}", system_name="B")
    assert other.send(FORM, RUN, **beta).location == "/submissions/2"


def test_nobody_else_sees_or_confirms_or_gives_up_a_run_that_waits(
    measured: World, participant: Reader, reader: Callable[[str], Reader]
) -> None:
    address = participant.send(FORM, RUN, **fields(measured)).location
    for name in ("ben", "eve", "orla"):
        reader(name).get(address, status=404)
        assert reader(name).post(address).status_code == 404
        for what in ("discard", "change"):
            assert reader(name).post(f"{address}/{what}").status_code == 404
    participant.get("/campaigns/harbour/1999/submit/1", status=404)
    assert (count(measured, StagedRun), count(measured, Submission)) == (1, 0)


def test_a_run_that_waits_is_not_confirmed_under_another_evaluation(measured: World, participant: Reader) -> None:
    with measured.database.write() as session:
        campaign = session.get_one(Evaluation, measured.evaluation.id).campaign
        evaluations.create_evaluation(session, CONSOLE, campaign, "2026", "Harbour 2026", "2026")
    participant.send(FORM, RUN, **fields(measured))
    assert participant.post("/campaigns/harbour/2026/submit/1").status_code == 404
    assert count(measured, Submission) == 0


def test_a_run_that_waits_goes_back_to_the_filled_form_with_its_file_and_place(
    app: Flask, measured: World, participant: Reader
) -> None:
    measured.change(daily_quota=1)
    with measured.database.write() as session:
        evaluation = session.get_one(Evaluation, measured.evaluation.id)
        submission_forms.set_field(session, CONSOLE, evaluation, FormField(key="gpu", label="GPU", required=True))
        submission_forms.state_agreement(session, CONSOLE, evaluation, "terms", "Terms", "Be fair.")
    new = {"system": f"new-{measured.teams['alpha'].id}", "system_name": "Heron", "designation": "primary"}
    words = {"label": "my label", "notes": "my notes", "answer-gpu": "A 100", "agreement-terms": "1"}
    address = participant.send(FORM, RUN, **new, **words).location
    assert "Change it" in participant.get(address)
    form = participant.post(f"{address}/change")
    assert form.status_code == 200
    assert "<strong>alpha.run</strong>" in form.text
    assert f'action="{FORM}"' in form.text
    assert (count(measured, StagedRun), count(measured, Arrival), rejected_today(measured)) == (1, 0, 1)
    sent = sent_again(form.text)
    again = sent_again(participant.post(f"{address}/change").text)  # the page is loaded again
    assert {name: again.get(name) for name in (*new, *words)} == {**new, **words}
    assert participant.post(address).location == address  # no yes to it any more
    assert participant.client.get(address).location == FORM
    said = participant.get(FORM)
    assert "You took this run back to the form to change it: submit it there." in said
    assert address not in said  # among those that wait
    assert {name: sent.get(name) for name in (*new, *words)} == {**new, **words}
    # Sent once more as it came back, with θ and no file.
    assert participant.send(FORM, None, **{**sent, "threshold": "0.75"}).location == "/submissions/1"
    with measured.database.read() as session:
        run = session.scalars(sa.select(Submission)).one()
        assert (run.label, run.notes, run.threshold, run.answers) == ("my label", "my notes", 0.75, {"gpu": "A 100"})
        assert (run.system.name, run.filename, run.designation.value) == ("Heron", "alpha.run", "primary")
    assert participant.post(f"{address}/change").location == address  # the quota is spent
    assert participant.client.get(address).location == FORM


def sent_again(page: str) -> dict[str, str]:
    """What a browser would send of the page's form."""

    class Fields(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.found: dict[str, str] = {}
            self.inside = ""

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            given = {name: value or "" for name, value in attrs}
            if tag == "input" and (given.get("type") not in ("radio", "checkbox", "file") or "checked" in given):
                self.found[given["name"]] = given.get("value", "")
            if tag in ("select", "textarea"):
                self.inside = given["name"]
            if tag == "option" and "selected" in given:
                self.found[self.inside] = given["value"]

        def handle_endtag(self, tag: str) -> None:
            if tag in ("select", "textarea"):
                self.inside = ""

        def handle_data(self, data: str) -> None:
            if self.inside == "notes":
                self.found[self.inside] = data.strip()

    parser = Fields()
    parser.feed(page.partition("data-submit")[2].partition("</form>")[0])
    return parser.found


def test_a_run_whose_time_is_over_is_gone_and_swept_and_its_file_too(
    app: Flask, measured: World, participant: Reader
) -> None:
    address = participant.send(FORM, RUN, **fields(measured)).location
    later = present() + dt.timedelta(seconds=STAGED + 1)
    store: RunStore = app.extensions["store"]
    assert remove_orphans(measured.database, store, 0.0) == 0
    app.extensions["clock"] = lambda: later
    participant.get(address, status=404)
    assert participant.post(address).status_code == 404
    with measured.database.write() as session:
        session.execute(sa.update(StagedRun).values(expires_at=present() - dt.timedelta(seconds=1)))
    assert remove_orphans(measured.database, store, 0.0) == 1
    assert (count(measured, StagedRun), count(measured, Submission)) == (0, 0)


def test_a_yes_comes_before_closing_opens_anything_or_not_at_all(
    app: Flask, measured: World, participant: Reader
) -> None:
    closes = dt.datetime(2026, 6, 30, 12, 0, tzinfo=dt.UTC)
    moment = [closes - dt.timedelta(seconds=10)]
    app.extensions["clock"] = lambda: moment[0]
    measured.change(closes_at=closes, results=Opening.CLOSED)
    first = participant.send(FORM, RUN, **fields(measured)).location
    second = participant.send(FORM, f"{RUN}q3 Q0 d9 2 0.1 a\n", **fields(measured)).location
    moment[0] = closes + dt.timedelta(seconds=59)
    assert participant.post(first).location == "/submissions/1"
    moment[0] = closes + dt.timedelta(seconds=60)
    assert participant.post(second).status_code == 404
    with measured.database.read() as session:
        assert session.scalars(sa.select(Submission.late)).all() == [False]


def test_a_yes_to_what_can_be_no_more_is_refused_and_nothing_is_lost(measured: World, participant: Reader) -> None:
    address = participant.send(FORM, RUN, **fields(measured)).location
    measured.change(closes_at=present() - dt.timedelta(days=1))
    answer = participant.post(address)
    assert answer.location == address
    assert "it takes no late runs" in participant.get(address)
    assert (count(measured, StagedRun), count(measured, Submission)) == (1, 0)


def test_hidden_queries_are_not_told_from_queries_that_there_are_not(
    world: World, participant: Reader, organiser: Reader
) -> None:
    with world.database.write() as session:
        evaluation = session.get_one(Evaluation, world.evaluation.id)
        evaluation.closes_at = present() + dt.timedelta(days=1)
        queries.import_queries(session, CONSOLE, evaluation, _rows("secret"), queries.Split.HIDDEN)
    pages = [check(participant, f"{RUN}{name} Q0 d1 1 1 alpha\n") for name in ("secret", "nobody")]
    one, other = (page.partition("<main")[2].replace("nobody", "secret") for page in pages)
    assert "1 query is not among those listed here: secret" in one
    assert one.count("secret") == other.count("secret")
    assert "not among" not in check(organiser, f"{RUN}secret Q0 d1 1 1 alpha\n")


def test_a_check_depends_on_judgments_only_where_single_queries_are_open(world: World, participant: Reader) -> None:
    def answers() -> str:
        page = check(participant, RUN).partition("<main")[2]
        staged = participant.send(FORM, RUN, **fields(world)).location
        shown = participant.get(staged).partition("<main")[2] if "submit" in staged else staged
        participant.post(f"{staged}/discard")
        return page + shown

    world.measure("AP", "SetF")
    world.change(closes_at=present() + dt.timedelta(days=1), details=Opening.CLOSED)
    before = answers()
    with world.database.write() as session:
        evaluation = session.get_one(Evaluation, world.evaluation.id)
        judgments.import_judgments(session, CONSOLE, evaluation, judged("q1 0 d1 0\nq2 0 d7 1\nq3 0 d6 1\n"))
    assert _without_times(answers()) == _without_times(before)
    assert "Judged among the first ten" not in before
    world.change(details=Opening.ALWAYS)
    # q1: d1 is judged and d2 is not; q2: d4 is not judged; q3: d6 is. (1/2 + 0 + 1) / 3
    assert "50&nbsp;%" in check(participant, RUN).partition("Judged among the first ten")[2][:60]


def _without_times(page: str) -> str:

    return re.sub(r"submit/\d+|\d+ \w+ \d{4}, [\d:]+ UTC|[\d-]+T[\d:]+Z|value=\"[^\"]*\"", "", page)


def _rows(*names: str) -> list[queries.QueryRow]:
    return [queries.QueryRow(name, "", ()) for name in names]
