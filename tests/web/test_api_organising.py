"""Organising through the API: the same services as the organiser's pages, for tokens that may organise."""

import io
from collections.abc import Callable
from typing import Any

import pytest

from leaderboard.accounts.rules import Scope
from leaderboard.submissions.rules import State
from tests.web.conftest import API, BOTH, RUN, Program, World
from tests.web.test_organise_import import without_manifest

CAMPAIGN = f"{API}/organise/campaigns/harbour"
EVALUATION = f"{CAMPAIGN}/evaluations/2025"


def post(program: Program, path: str, text: str, status: int = 200) -> Any:
    """Sends a file as the body."""
    return program.ask(path, "POST", status=status, data=text, content_type="application/octet-stream")


def judge(program: Program, path: str, status: int = 200, fields: dict[str, str] | None = None, **files: str) -> Any:
    """Sends a form with files of judgments."""
    data = {**(fields or {}), **{name: (io.BytesIO(text.encode()), "qrels.txt") for name, text in files.items()}}
    return program.ask(path, "POST", status=status, data=data)


@BOTH
def test_an_evaluation_is_made_filled_and_judged(orla: Program) -> None:
    made = orla.post(f"{CAMPAIGN}/evaluations", 201, slug="2026", title="Harbour 2026", period="2026")
    assert (made["values"]["slug"], made["values"]["draft"]) == ("2026", True)
    new = f"{CAMPAIGN}/evaluations/2026"
    assert [row["id"] for row in post(orla, f"{new}/queries", "q1\tone\tlaw\nq2\ttwo\n")["rows"]] == ["q1", "q2"]
    judged = judge(orla, f"{new}/judgments", fields={"note": "first"}, judgments="q1 0 d1 1\nq2 0 d2 1\n")
    assert [(one["number"], one["judgments"], one["note"]) for one in judged["revisions"]] == [(1, 2, "first")]
    settings = {"draft": False, "daily_quota": 3, "closes_at": "2031-01-02T00:00:00Z"}
    refused = orla.post(new, 400, **settings)["fields"]["confirm"][0]
    assert refused == "Harbour 2026 opens to everybody, for good: texts and tags of queries."
    changed = orla.ask(new, "POST", json=settings | {"confirm": True})
    assert (changed["values"]["draft"], changed["values"]["daily_quota"]) == (False, 3)
    assert changed["values"]["closes_at"].startswith("2031-01-02")
    assert changed["values"]["title"] == "Harbour 2026"  # what was left out stays
    assert orla.ask(f"{new}/readiness")


@BOTH
def test_runs_of_an_evaluation_are_scored_again_together(
    orla: Program, program: Callable[..., Program], world: World
) -> None:
    assert program("ada", Scope.SUBMIT).submit().status_code == 201
    world.turn(State.FAILED)
    assert orla.ask(f"{EVALUATION}/retry-failed", "POST") == {"waiting": 1}
    world.turn(State.SCORED)
    assert orla.ask(f"{EVALUATION}/rescore", "POST") == {"waiting": 0}
    said = ["1 run of 1 evaluation scored again; boards show the figures of before until all are."]
    measures = {"measures": ["AP", "RR"]}
    for path, body in (
        (CAMPAIGN, measures), (EVALUATION, {"relevance_level": 2}),
        (f"{EVALUATION}/queries/exclude", {"queries": ["q3"], "because": "unclear"}),
        (f"{EVALUATION}/queries/hide", {"queries": ["q2"]}),
    ):  # fmt: skip
        assert orla.post(path, 400, **body)["fields"]["confirm"] == said
    assert post(orla, f"{EVALUATION}/queries", "q4\tfourth\n", 400)["fields"]["confirm"] == said
    assert orla.ask(f"{EVALUATION}/queries")["total"] == 3
    assert post(orla, f"{EVALUATION}/queries", "q3\tanother text\n")["total"] == 3  # scores nothing
    assert orla.post(EVALUATION, title="Another")["values"]["relevance_level"] == 1
    world.measure("AP", "P@10")
    assert orla.ask(f"{EVALUATION}/rescore", "POST") == {"waiting": 1}
    assert orla.post(CAMPAIGN, **measures, confirm=True)["values"]["measures"] == ["AP", "RR"]
    assert orla.post(CAMPAIGN, measures=["AP"], confirm=True)["values"]["measures"] == ["AP"]
    assert post(orla, f"{EVALUATION}/queries?confirm=true", "q4\tfourth\n")["total"] == 4


def test_another_official_source_and_a_date_that_closes_at_once_need_a_yes(
    orla: Program, program: Callable[..., Program], world: World
) -> None:
    assert program("ada", Scope.SUBMIT).submit().status_code == 201
    judge(orla, f"{EVALUATION}/judgments", judgments="q1 0 d1 1\n", fields={"source": "llm"})
    world.turn(State.SCORED)
    official = f"{EVALUATION}/judgments/official"
    refused = orla.post(official, 400, source="llm")["fields"]["confirm"]
    assert refused == ["Harbour 2025: 0 of 1 system change rank; another run is shown for 0."]
    assert orla.ask(f"{EVALUATION}/judgments")["official"] == "assessors"
    assert orla.post(official, source="llm", confirm=True)["official"] == "llm"
    past = {"closes_at": "2026-01-01T00:00:00Z"}
    refused = orla.post(EVALUATION, 400, **past)["fields"]["confirm"]
    assert [one.partition(":")[0] for one in refused] == [
        "Harbour 2025 closes at once", "Harbour 2025 opens to everybody, for good",
    ]  # fmt: skip
    assert orla.ask(EVALUATION)["values"]["closes_at"] is None
    assert orla.post(EVALUATION, **past, confirm=True)["values"]["closes_at"].startswith("2026-01-01")


@BOTH
def test_dates_are_given_with_an_offset_or_by_the_clocks_of_a_zone_and_a_clone_is_a_year_later(orla: Program) -> None:
    dates = {"time_zone": "AoE", "opens_at": "2025-03-01T00:00:00+02:00", "closes_at": "2025-09-30T23:59:00"}
    values = orla.post(EVALUATION, **dates, grace_seconds=5, confirm=True)["values"]
    assert values["opens_at"].startswith("2025-02-28T22:00:00")
    assert values["closes_at"].startswith("2025-10-01T11:59:00")  # 23:59 is over everywhere twelve hours later
    orla.post(f"{EVALUATION}/form/fields", key="model", label="Model")
    clone = orla.post(f"{EVALUATION}/clone", 201, grace_seconds=7, with_queries=True)
    assert (
        clone["values"] | {"slug": "2026", "title": "Harbour 2026", "period": "2026", "draft": True} == clone["values"]
    )
    assert (clone["values"]["grace_seconds"], clone["goes"]) == (7, "3 queries and 0 judgments")
    assert clone["values"]["closes_at"].startswith("2026-10-01T11:59:00")
    asked = orla.ask(f"{CAMPAIGN}/evaluations/2026/form")["fields"]
    assert [one["field"]["label"] for one in asked] == ["Model"]
    again = orla.post(f"{EVALUATION}/clone", 400, slug="2026")
    assert again["fields"] == {"slug": ["the address '2026' can't be had here; choose another"]}
    assert "fields" in orla.post(EVALUATION, 400, time_zone="Mars", opens_at="2025-01-01T00:00")


def test_what_is_asked_of_a_run_is_set_shown_copied_and_ended(orla: Program) -> None:
    form = f"{EVALUATION}/form"
    choice = {"key": "kind", "label": " Kind  of model ", "kind": "choice", "choices": ["sparse", "dense"]}
    orla.post(f"{form}/fields", **choice)
    orla.post(f"{form}/agreements", key="terms", title="Terms", wording="Be fair.")
    orla.post(f"{form}/rules", most_documents=10, document_pattern="d[0-9]+")
    orla.post(f"{form}/rules", every_query=True)
    post(orla, f"{form}/documents", "d1\nd2\nd3\nd4\nd5\n")
    asked = orla.ask(form)
    assert asked["fields"][0]["field"] | choice == {**asked["fields"][0]["field"], "label": " Kind  of model "}
    assert asked["fields"][0]["field"]["label"] == "Kind of model"
    assert [(one["key"], one["version"], one["accepted"]) for one in asked["agreements"]] == [("terms", 1, 0)]
    rules = asked["rules"]
    assert (rules["most_documents"], rules["every_query"], rules["documents"]) == (10, True, 5)
    orla.post(f"{CAMPAIGN}/evaluations", 201, title="Harbour 2026", period="2026")
    other = f"{CAMPAIGN}/evaluations/2026/form"
    copied = orla.post(f"{other}/copy", source="2025")
    assert (copied["rules"], [one["field"] for one in copied["fields"]]) == (rules, [asked["fields"][0]["field"]])
    for source in ("none", ""):
        assert orla.post(f"{other}/copy", 400, source=source)["fields"]["source"]
    assert orla.ask(f"{other}/fields/kind/remove", "POST")["fields"] == []
    orla.ask(f"{other}/fields/kind/remove", "POST", status=404)
    assert orla.ask(f"{other}/agreements/terms/end", "POST")["agreements"] == []
    assert orla.ask(f"{other}/documents/remove", "POST")["rules"]["documents"] == 0


def test_files_are_previewed_and_taken_in_while_nothing_has_changed(orla: Program) -> None:
    lines = "q3\tanother text\tlaw\nq4\tfourth\tnews\n"
    seen = post(orla, f"{EVALUATION}/queries/preview", lines)
    assert ([one["id"] for one in seen["new"]], seen["changed"][0]["text"]) == (["q4"], "another text")
    assert orla.ask(f"{EVALUATION}/queries")["total"] == 3
    taken = post(orla, f"{EVALUATION}/queries?hidden=true&state={seen['state']}", lines)
    assert (taken["total"], taken["hidden"]) == (4, 1)
    assert "preview" in post(orla, f"{EVALUATION}/queries?state={seen['state']}", "q5\tfifth\n", 409)["detail"]

    own, judged = f"{EVALUATION}/judgments", "q1 0 d1 2\nq4 0 d9 1\n"
    changes = judge(orla, f"{own}/preview", judgments=judged, fields={"source": "llm"})
    assert (changes["source"], changes["official"], changes["would_be_refused"]) == ("llm", False, False)
    strange = judge(orla, f"{own}/preview", judgments=f"{judged}q77 0 d1 1\n")
    assert (strange["would_be_refused"], strange["unknown"]) == (True, ["q77"])
    judge(orla, own, 400, judgments=f"{judged}q77 0 d1 1\n")
    fields = {"source": "llm", "state": changes["state"], "note": "by a model"}
    both = judge(orla, own, judgments=judged, known="q1 0 d1 1\n", fields=fields)
    assert next((one["number"], one["source"], one["note"]) for one in both["revisions"]) == (2, "llm", "by a model")
    assert "newer revision" in judge(orla, own, 409, judgments="q1 0 d1 1\n", fields=fields)["detail"]
    assert orla.post(f"{own}/official", source="llm")["official"] == "llm"
    assert "already" in orla.post(f"{own}/official", 409, source="llm")["detail"]
    renamed = orla.post(f"{own}/rename", source="llm", name="a-model")
    assert (renamed["official"], [one["name"] for one in renamed["others"]]) == ("a-model", ["assessors"])
    assert "Boards use the judgments of" in orla.post(f"{own}/remove", 409, source="a-model")["detail"]
    assert orla.post(f"{own}/remove", source="assessors")["others"] == []


@pytest.mark.parametrize("body", ["null", '[["q9", "text"]]', "{}", "[" * 5000, '{"a":' * 900 + "1" + "}" * 900])
def test_json_is_no_file_and_what_is_no_object_is_no_body(orla: Program, body: str) -> None:
    more = {"data": body, "content_type": "application/json", "status": 400}
    for path in ("queries", "queries/preview", "form/documents"):
        refused = orla.ask(f"{EVALUATION}/{path}", "POST", **more)["detail"]
        assert "curl -H 'Content-Type: application/octet-stream' --data-binary @FILE" in refused
    for path in ("judgments", "judgments/preview"):
        refused = orla.ask(f"{EVALUATION}/{path}", "POST", **more)["detail"]
        assert "curl -F FIELD=TEXT -F judgments=@FILE -F subtopics=@FILE -F known=@FILE." in refused
    for path in ("/queries/exclude", "/form/rules") if body != "{}" else ():
        refused = orla.ask(f"{EVALUATION}{path}", "POST", **more)["detail"]
        assert refused.startswith(("The body is no JSON", "The body has to be a JSON object of fields"))
    assert orla.ask(f"{EVALUATION}/queries")["total"] == 3


def test_a_runs_room_says_what_taking_it_off_would_change_and_it_is_put_back(
    orla: Program, program: Callable[..., Program]
) -> None:
    number = program("ada", Scope.SUBMIT).submit().json["id"]
    run = f"{EVALUATION}/submissions/{number}"
    room = orla.ask(run)
    assert room["team"] == "Alpha"
    with orla.send(f"{run}/file") as answer:
        assert (answer.data.decode(), answer.headers["Content-Disposition"][:10]) == (RUN, "attachment")
    assert [row["id"] for row in orla.ask(f"{CAMPAIGN}/submissions?late=no&kind=automatic")["rows"]] == [number]
    assert orla.ask(f"{CAMPAIGN}/submissions?text=nothing")["rows"] == []
    orla.ask(f"{CAMPAIGN}/submissions?late=maybe", status=400)
    off = orla.post(f"{run}/take-off", ruling="disqualified", because="not a run", holds_place=False, confirm=True)
    assert (off["state"], off["ruled_because"]) == ("disqualified", "not a run")
    disqualified = orla.ask(f"{CAMPAIGN}/submissions?evaluation=2025&state=disqualified")
    assert [row["id"] for row in disqualified["rows"]] == [number]
    assert orla.ask(f"{run}/restore", "POST")["state"] == "queued"
    assert orla.ask(f"{CAMPAIGN}/evaluations/none/submissions/{number}/restore", "POST", status=404)


def test_a_campaign_is_taken_out_as_an_archive_and_brought_in_again(
    orla: Program, program: Callable[..., Program]
) -> None:
    program("ada", Scope.SUBMIT).submit()
    with orla.send(f"{CAMPAIGN}/export.tar.gz") as answer:
        archive = answer.data

    def ask(path: str, content: bytes = archive, status: int = 200, asks: Program = orla, **fields: str) -> Any:
        data = {**fields, "archive": (io.BytesIO(content), "harbour.tar.gz")}
        return asks.ask(f"{API}/organise/{path}", "POST", status=status, data=data)

    into = "campaigns/harbour/import"
    plan = ask(f"{into}/preview")
    assert (plan["campaign"], plan["teams"]) == ("harbour", ["Alpha"])
    assert [(one["title"], one["runs"]) for one in plan["evaluations"]] == [("Harbour 2025", 1)]
    assert "note" in ask(f"{into}/preview", status=400, note="x")["fields"]
    ask("import/preview", status=404)  # whole campaigns are for those who may make one
    ask(f"{into}/preview", status=404, asks=program("eve", Scope.ORGANISE))
    draft = ask(f"{into}/draft", without_manifest())
    assert (draft["evaluations"], draft["runs"]) == (1, 2)
    assert "no file manifest.toml" in str(ask(f"{into}/preview", without_manifest(), 400))
    text = draft["text"].replace("period_key = 1", "period_key = 1\ndocuments = 1000")
    completed = ask(f"{into}/preview", without_manifest(), manifest=text)
    assert orla.post(f"{CAMPAIGN}/import", kept=completed["kept"])["report"]["imported"] == 2
    done = orla.post(f"{CAMPAIGN}/import", kept=plan["kept"])
    assert (done["campaign"], done["report"]["already"], done["report"]["imported"]) == ("harbour", 1, 0)
    assert orla.post(f"{CAMPAIGN}/import", 400, kept="x")["fields"]["kept"]


def test_a_token_that_may_not_organise_or_is_of_no_organiser_finds_nothing(
    program: Callable[..., Program], world: World
) -> None:
    program("orla", Scope.SUBMIT).ask(EVALUATION, status=403)
    program("ada", Scope.ORGANISE).ask(EVALUATION, status=404)
    program("ada", Scope.ORGANISE).post(EVALUATION, 404, title="Mine")
    program().ask(EVALUATION, status=401)
    assert program("orla", Scope.ORGANISE).ask(EVALUATION)["values"]["title"] == "Harbour 2025"


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        (EVALUATION, {"documents": "many"}, "documents"),
        (EVALUATION, {"id": 7}, "id"),
        (EVALUATION, {"title": 5, "draft": "no", "grace_seconds": -1}, "draft"),
        (CAMPAIGN, {"links": [["one", "no address"]]}, "links"),
        (CAMPAIGN, {"beta": -1.0}, "beta"),
        (f"{EVALUATION}/queries/exclude", {"queries": "q1", "because": "x"}, "queries"),
        (f"{EVALUATION}/queries/exclude", {"queries": ["q1"], "because": " "}, "because"),
        (f"{EVALUATION}/queries/exclude", {"queries": ["none"], "because": "x"}, "queries"),
        (f"{EVALUATION}/clone", {"slug": "A b"}, "slug"),
        (f"{EVALUATION}/form/fields", {"key": "model", "label": "Model", "number": 1}, "number"),
        (f"{EVALUATION}/form/agreements", {"key": "terms", "title": "", "wording": "x"}, "title"),
        (f"{EVALUATION}/form/rules", {"most_documents": 0}, "most_documents"),
        (f"{EVALUATION}/judgments/official", {}, "source"),
        (f"{CAMPAIGN}/archive", {"archived": False}, "archived"),
    ],
)
def test_what_is_wrong_is_said_by_its_field_and_nothing_changes(
    orla: Program, path: str, body: dict[str, object], field: str
) -> None:
    before = orla.ask(EVALUATION), orla.ask(CAMPAIGN)
    said = orla.post(path, 400, **body)
    assert field in said["fields"], said
    assert (orla.ask(EVALUATION), orla.ask(CAMPAIGN)) == before


def test_a_file_that_is_none_of_queries_or_judgments_is_refused_by_its_lines(orla: Program) -> None:
    said = judge(orla, f"{EVALUATION}/judgments", 400, judgments="q1 0 d1\n")
    assert list(said["fields"]) == ["judgments"]
    assert "line 1" in str(said["fields"]["judgments"])
    said = post(orla, f"{EVALUATION}/queries", "%PDF-1.7\n\x00\x01", 400)
    assert list(said["fields"]) == ["queries"]
    assert "%PDF" not in str(said["detail"])
