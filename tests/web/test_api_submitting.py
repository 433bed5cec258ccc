"""Submitting through the API: the form's own way in, told by names instead of choices, and never taken twice."""

import datetime as dt
import io
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from werkzeug.datastructures import MultiDict

from leaderboard.accounts import rate_limits
from leaderboard.accounts.rules import Scope
from leaderboard.audit.writes import present
from leaderboard.evaluations import writes as submission_forms
from leaderboard.evaluations.rules import FieldKind, FormField
from leaderboard.judgments import writes as queries
from leaderboard.submissions.models import Arrival, PersonalUse, Submission
from tests.web.conftest import API, BOTH, RUN, SUBMISSIONS, Program, World, files_in


def used(world: World) -> int:
    """What files have cost all persons of their quotas, those that were rejected too."""
    return world.all(sa.select(sa.func.sum(PersonalUse.used + PersonalUse.rejected_today)))[0] or 0


FIELDS = {"team": "alpha", "system": "searcher"}


@pytest.fixture
def ada(program: Callable[..., Program]) -> Program:
    return program("ada", Scope.SUBMIT)


@BOTH
def test_a_run_goes_in_and_is_followed(ada: Program, world: World) -> None:
    answer = ada.submit(team="alpha", system="searcher", threshold="0.5", label="first", designation="primary")
    assert answer.status_code == 201
    taken = answer.json
    assert (taken["state"], taken["title"], taken["threshold"]) == ("queued", "first", 0.5)
    assert taken["threshold_unused"]  # only AP and P@5 are shown here
    assert taken["submitter"] == "ada"
    followed = ada.ask(f"{API}/submissions/{taken['id']}")
    assert followed["receipt"] == taken["receipt"]
    assert len(followed["receipt"]) == 64


@pytest.mark.parametrize(
    ("fields", "wrong", "said"),
    [
        ({"system": "searcher"}, "team", "name the team, before the file"),
        ({"team": "alpha"}, "system", "give either system, or new_system"),
        ({**FIELDS, "threshold": "half"}, "threshold", "give a number"),
        ({**FIELDS, "designation": "best"}, "designation", "choose one of: primary, contrastive"),
    ],
)
def test_what_is_wrong_with_a_field_is_said_by_its_name(
    ada: Program, world: World, fields: dict[str, str], wrong: str, said: str
) -> None:
    answer = ada.submit(**fields)
    assert answer.status_code == 400
    assert said in " ".join(answer.json["fields"][wrong])
    assert world.count(Submission) == 0


@pytest.mark.parametrize("address", [SUBMISSIONS, SUBMISSIONS.replace("/submissions", "/check")])
@pytest.mark.parametrize(("name", "said"), [("run", "is given twice"), ("rnu", "is not known here; known are")])
def test_a_second_file_and_one_of_no_field_are_refused_and_nothing_is_kept(
    ada: Program, world: World, app: Flask, address: str, name: str, said: str
) -> None:
    fields: dict[str, Any] = FIELDS if address == SUBMISSIONS else {}
    run = ("run", (io.BytesIO(RUN.encode()), "a.run"))
    again = (name, (io.BytesIO(b"q1 Q0 d9 1 3 b\n"), "b.run"))
    refused = ada.ask(address, "POST", status=400, data=MultiDict([*fields.items(), run, again]))
    assert refused["fields"][name][0].startswith(said)
    assert (world.count(Submission), files_in(app)) == (0, [])


def test_who_is_not_in_the_team_learns_nothing_of_its_systems(program: Callable[..., Program], world: World) -> None:
    """Nor of the team: it is answered as one that never was, with her own teams' names alone."""
    eve = program("eve", Scope.SUBMIT)
    for team, system in (("alpha", "searcher"), ("alpha", "nothing"), ("alphb", "searcher")):
        answer = eve.submit(team=team, system=system)
        assert answer.status_code == 400
        assert answer.json["fields"] == {"team": [f"there is no team {team!r}; known are beta"]}
    assert world.count(Submission) == 0


def test_a_token_that_may_only_read_submits_and_withdraws_nothing(
    program: Callable[..., Program], ada: Program, world: World
) -> None:
    taken = ada.submit().json
    reader = program("ada", Scope.ORGANISE)
    assert reader.submit().status_code == 403
    assert reader.send(f"{API}/submissions/{taken['id']}/withdraw", "POST", json={}).status_code == 403
    assert program().submit().status_code == 401
    assert world.count(Submission) == 1
    assert ada.ask(f"{API}/submissions/{taken['id']}")["withdrawn_at"] is None


@BOTH
def test_a_second_try_under_the_same_key_takes_no_second_run(
    ada: Program, program: Callable[..., Program], world: World
) -> None:
    first, second = ada.submit(key="k1"), ada.submit(key="k1")
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json["id"] == second.json["id"]
    assert ada.ask(f"{API}/sendings/k1")["id"] == first.json["id"]
    assert ada.send(f"{API}/sendings/k2").status_code == 404
    ben = program("ben", Scope.SUBMIT)  # keys are each account's own
    assert ben.send(f"{API}/sendings/k1").status_code == 404
    assert ben.submit(RUN + "q3 Q0 d7 2 0.5 beta\n", key="k1").status_code == 201
    assert world.count(Submission) == 2


def test_under_an_old_key_no_byte_of_a_file_is_read_after_closing_and_not_very_often_before(
    monkeypatch: pytest.MonkeyPatch, ada: Program, world: World
) -> None:
    monkeypatch.setitem(rate_limits.FORM_FILE.bounds, "form files of user {user}", 1)
    assert ada.submit(key="k1").status_code == 201
    assert [ada.submit(key="k1").status_code for _ in range(2)] == [200, 429]
    world.change(closes_at=present() - dt.timedelta(days=1))
    monkeypatch.setattr("leaderboard.store.Arriving.write", None)
    closed = ada.submit(key="k1")
    assert (closed.status_code, "Under this key you sent submission 1." in closed.json["detail"]) == (409, True)


def test_a_run_that_is_most_likely_a_slip_is_taken_with_a_yes_only_and_nothing_of_it_is_kept_before(
    app: Flask, ada: Program, world: World
) -> None:
    world.measure("AP", "SetF")
    world.change(daily_quota=2)
    for _ in range(3):  # however often: it costs neither a place nor a file
        answer = ada.submit(key="k1", **FIELDS)
        assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert list(answer.json["fields"]) == ["confirm"]
    [warning] = answer.json["fields"]["confirm"]
    assert "neither decisions nor a threshold θ" in warning
    assert "confirm=yes in a form" in answer.json["detail"]
    assert (world.count(Submission), world.count(Arrival), used(world)) == (0, 0, 0)
    assert files_in(app) == []
    assert ada.send(f"{API}/sendings/k1").status_code == 404
    assert ada.submit(key="k1", **FIELDS, confirm="yes").status_code == 201
    assert ada.submit(key="k1", **FIELDS).status_code == 200  # sent before, with or without a yes
    twin = ada.submit(key="k2", **FIELDS, threshold="0.75").json
    assert "Your team has submitted a file with the same text before" in twin["fields"]["confirm"][0]
    assert world.count(Submission) == 1


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("%PDF-1.7 nonsense", "is a PDF document"),
        ("query,document,score\n" + "q1,d1,1\n" * 9, "line 3: document d1 is listed twice for query q1"),
    ],
)
def test_a_file_that_would_be_rejected_is_refused_with_its_problems_and_not_kept(
    app: Flask, ada: Program, world: World, content: str, says: str
) -> None:
    answer = ada.submit(content, **FIELDS, confirm="yes")
    assert answer.status_code == 400
    assert says in answer.json["fields"]["run"][0]
    assert (world.count(Submission), world.count(Arrival), used(world), files_in(app)) == (0, 0, 0, [])


def test_an_answer_that_tells_of_queries_beside_those_shown_counts_as_a_rejected_file(
    ada: Program, world: World
) -> None:
    world.measure("AP", "SetF")
    world.change(closes_at=present() + dt.timedelta(days=1))
    world.do(queries.import_queries, [queries.QueryRow("secret", "", ())], queries.Split.HIDDEN)
    invented, hidden = (f"{RUN}{name} Q0 d1 1 0.1 a\n" for name in ("nobody", "secret"))
    refused = ada.submit(invented, **FIELDS, threshold="0.75").json
    assert refused["fields"] == {"run": ["line 5: query nobody is not in this evaluation"]}
    assert used(world) == 1
    doubtful = ada.submit(hidden, **FIELDS).json
    assert set(doubtful["fields"]) == {"confirm"}
    assert used(world) == 2
    wrong_form = ada.submit(hidden, **FIELDS, designation="best").json
    assert set(wrong_form["fields"]) == {"designation", "confirm"}
    assert used(world) == 3
    assert ada.submit(hidden, **FIELDS, threshold="0.75").status_code == 201
    assert (used(world), world.count(Arrival)) == (4, 0)


def test_what_is_asked_and_lacks_is_named_with_its_question_and_choices_all_at_once(ada: Program, world: World) -> None:
    model = FormField(key="model", label="Model", kind=FieldKind.CHOICE, choices=("sparse", "dense"), required=True)
    world.do(submission_forms.set_field, model.as_json())
    world.do(submission_forms.state_agreement, "terms", "Terms of use", "Do no harm.")
    world.do(submission_forms.set_rules, least_documents=1, tag_pattern="[a-z]+")
    fields = {**FIELDS, "answer-model": "", "agreement-rules": "1"}
    said = [ada.submit(**given).json for given in (FIELDS, fields, {**FIELDS, "answer-model": "x"})]
    assert all(said)
    first, second, third = (one["fields"] for one in said if one)
    assert first == {
        "answer-model": ["Model is lacking, which every run here needs: choose one of: “sparse”, “dense”"],
        "agreement-terms": ["accept this to submit a run: Terms of use (version 1)"],
    }
    assert second.keys() == {*first, "agreement-rules"}
    assert third["answer-model"] == ["choose one of: “sparse”, “dense”"]
    asked = ada.ask(f"{SUBMISSIONS.removesuffix('submissions')}submitting")
    assert [(one["key"], one["choices"]) for one in asked["fields"]] == [("model", ["sparse", "dense"])]
    assert [(one["key"], one["text"]) for one in asked["agreements"]] == [("terms", "Do no harm.")]
    assert (asked["rules"]["least_documents"], asked["rules"]["every_query"]) == (1, False)
    unseen = ada.submit(**FIELDS, **{"answer-model": "dense", "agreement-terms": "2"}).json
    assert "asked now is version 1 of terms" in unseen["fields"]["agreement-terms"][0]
    taken = ada.submit(**FIELDS, **{"answer-model": "dense", "agreement-terms": "1"})
    assert taken.status_code == 201, taken.text
    [terms] = taken.json["agreements"]
    assert (terms["key"], terms["version"], terms["accepted_at"][:2]) == ("terms", 1, "20")
    assert taken.json["answers"] == [{"label": "Model", "text": "dense", "shown_to": "organisers"}]


@pytest.mark.parametrize("other", [{"threshold": "0.5"}, {"run": f"{RUN}q3 Q0 d9 2 0.1 a\n"}])
def test_a_key_that_was_used_for_another_file_or_other_fields_is_refused(
    app: Flask, ada: Program, world: World, other: dict[str, str]
) -> None:
    assert ada.submit(key="k1", **FIELDS).status_code == 201
    kept = files_in(app)
    refused = ada.submit(other.get("run", RUN), key="k1", **{**FIELDS, "threshold": other.get("threshold", "")})
    assert (refused.status_code, world.count(Submission), files_in(app)) == (409, 1, kept)
    assert "This key was used for submission 1" in refused.json["detail"]
    assert "Take another key" in refused.json["detail"]
    unread = ada.submit(key="k1", **FIELDS, threshold="half")
    assert (unread.status_code, list(unread.json["fields"])) == (400, ["threshold"])


@pytest.mark.parametrize("key", ["two words", "x" * 201, "ü"])
def test_a_key_that_can_not_be_kept_is_refused(ada: Program, world: World, key: str) -> None:
    assert ada.submit(key=key).status_code == 400
    assert world.count(Submission) == 0
