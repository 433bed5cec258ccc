"""The organiser's list of submissions, and what organisers do with one."""

import json

import pytest
import sqlalchemy as sa

from leaderboard.campaigns.models import Campaign
from leaderboard.evaluations import writes as submission_forms
from leaderboard.evaluations.rules import FieldKind, FormField
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import State, SystemKind
from leaderboard.teams.models import Membership, System, Team
from tests.support.pages import filled, hidden, table_of
from tests.support.refused import every_row
from tests.web.conftest import API, BOTH, FORM, RUN, Program, Reader, World

LIST = "/organise/harbour/2025/submissions"


@pytest.fixture
def runs(world: World, participant: Reader) -> list[str]:
    """The organisers' pages of two runs of Searcher; the second one's label and file name are hostile."""
    for label, filename, more in (("plain", "alpha.run", ""), ("=1+1", "../<b>.html", "q3 Q0 d9 2 0.1 alpha\n")):
        answer = participant.send(FORM, RUN + more, filename, **world.sent(label=label))
        assert answer.status_code == 302, answer.text
    return [f"{LIST}/1", f"{LIST}/2"]


@BOTH
def test_all_submissions_are_listed_with_filters_states_and_the_oldest_wait(
    world: World, organiser: Reader, runs: list[str]
) -> None:
    page = organiser.get(LIST)
    assert all(f'href="{run}"' in page for run in runs)
    assert "The oldest run in the queue came" in page
    assert "queued 2" in page
    for asked, found in (
        ("text=plain", [0]), ("text=2", [1]), ("state=scored", []), ("team=alpha", [0, 1]), ("team=beta", []),
        ("kind=baseline", []), ("late=no", [0, 1]), ("late=yes", []), ("text=Searcher&state=queued", [0, 1]),
        ("text=%25", []),
    ):  # fmt: skip
        shown = organiser.get(f"{LIST}?{asked}")
        assert [place for place, run in enumerate(runs) if f'href="{run}"' in shown] == found, asked
    assert "Harbour 2025" in organiser.get("/organise/harbour/submissions")
    world.turn(State.SCORED)
    assert "No run waits to be scored." in organiser.get(LIST)
    organiser.get(f"{LIST}?state=lost", status=400)


@BOTH
def test_the_list_as_a_file_has_the_answers_and_no_formula_among_them(
    world: World, organiser: Reader, runs: list[str]
) -> None:
    world.do(submission_forms.set_field, FormField(key="cost", label="Cost", kind=FieldKind.NUMBER).as_json())
    world.do(submission_forms.set_field, FormField(key="note", label="N", header="note").as_json())
    with world.database.write() as session:
        first, second = session.scalars(sa.select(Submission).order_by(Submission.id))
        first.answers, second.said = {"cost": 7.0}, {"note": "=1+1"}
    assert runs
    listed = table_of(organiser.client.get(f"{LIST}.csv"))
    assert [(row["answer cost"], row["answer note"]) for row in listed] == [("", "'=1+1"), ("7", "")]
    assert "answer cost" in organiser.get("/organise/harbour/submissions.csv").splitlines()[0]
    assert json.loads(organiser.get(f"{LIST}.json"))["rows"][0]["answer note"] == "=1+1"


def test_the_file_is_handed_out_as_a_download_under_a_harmless_name(
    organiser: Reader, participant: Reader, runs: list[str]
) -> None:
    answer = organiser.client.get(f"{runs[1]}/file")
    assert answer.data == (RUN + "q3 Q0 d9 2 0.1 alpha\n").encode()
    assert answer.content_type == "application/octet-stream"
    assert answer.headers["Content-Disposition"] == "attachment; filename=submission-2.txt"
    answer.close()
    participant.get(f"{runs[1]}/file", status=404)


def test_organisers_disqualify_a_run_its_team_reads_why_and_they_put_it_back(
    world: World, organiser: Reader, participant: Reader, other: Reader, runs: list[str]
) -> None:
    world.turn(State.SCORED)
    first, board = runs[0], "/campaigns/harbour/2025"
    assert "/submissions/1" in other.get(board)
    refused = organiser.post(f"{first}/take-off", ruling="disqualified", because=" ")
    assert (refused.status_code, "say why" in refused.text.lower()) == (400, True)
    answers = {"ruling": "disqualified", "holds_place": "", "because": "It saw the judgments."}
    asked = organiser.post(f"{first}/take-off", **answers)
    assert "<li>Harbour 2025: 0 of 1 system change rank; another run is shown for 1.</li>" in asked.text
    assert '/submissions/1"' in other.get(board)
    assert organiser.post(f"{first}/take-off", **answers, confirm="yes").location == first
    page = participant.get("/submissions/1")
    assert "status-disqualified" in page
    assert "It saw the judgments." in page
    other.get("/submissions/1", status=404)
    board_page = other.get(board)
    assert '/submissions/1"' not in board_page
    assert '/submissions/2"' in board_page  # the other run of the system, as the organiser chose
    assert "disqualified 1" in organiser.get(LIST)
    assert organiser.post(f"{first}/restore").location == first
    assert '/submissions/1"' in other.get(board)


def test_a_change_that_scores_runs_again_asks_first_and_says_so_then(
    world: World, organiser: Reader, runs: list[str]
) -> None:
    world.turn(State.SCORED)
    assert len(runs) == 2
    words, path = "2 runs of 1 evaluation scored again", "/organise/harbour/2025/settings"
    before = every_row(world.database)
    asked = organiser.post(path, **{**filled(organiser.get(path)), "relevance_level": "2"})
    assert asked.status_code == 200
    assert f"Nothing is changed yet. {words}" in asked.text
    assert every_row(world.database) == before
    assert organiser.post(path, **filled(asked.text)).location == path
    assert organiser.post(path, **{**filled(organiser.get(path)), "description": "Another word."}).location == path
    assert organiser.post("/organise/harbour/2025/remove").location == path
    assert "Harbour 2025 has submissions, which stay on record" in organiser.get(path)

    world.turn(State.SCORED)
    queries, given = "/organise/harbour/2025/queries", {"action": "exclude", "query": "q1", "because": "garbled"}
    asked = organiser.post(f"{queries}/change", **given)
    assert words in asked.text
    assert "Yes, exclude 1 query" in asked.text
    assert "excluded" not in organiser.get(queries).split("All queries")[0]
    assert organiser.post(f"{queries}/change", **given, confirm="yes").location == queries


BASELINE = f"{LIST}/baseline"
NEW = {"system": "new-0", "new_system": "BM25"}


@BOTH
@pytest.mark.parametrize("above", ["", "/evaluations/2025"])
def test_a_draft_goes_with_its_test_runs_once_that_is_confirmed(
    world: World, organiser: Reader, orla: Program, above: str
) -> None:
    world.change(draft=True)
    page, removal = (
        f"/organise/harbour{above.removeprefix('/evaluations')}",
        f"{API}/organise/campaigns/harbour{above}/remove",
    )
    asks_nothing = organiser.get(f"{page}/settings")
    assert organiser.send(BASELINE, RUN, "bm25.txt", **NEW).status_code == 302
    said = ["1 test run is removed for good."]
    assert orla.post(removal, 400)["fields"]["confirm"] == said
    assert 'name="confirm"' not in asks_nothing
    assert organiser.post(f"{page}/remove").location == f"{page}/settings"  # the page was opened before the run came
    named = organiser.get(f"{page}/settings")
    assert said[0] in named
    assert "and 1 test run. The audit trail" in named
    assert 'name="confirm" value="yes">Remove' in named
    assert len(world.runs()) == 1
    if above:
        assert organiser.post(f"{page}/remove", confirm="yes").location == "/organise/harbour"
    else:
        orla.post(removal, confirm=True)
    assert world.runs() == []


@BOTH
def test_an_organiser_adds_a_baseline_run_whose_team_and_system_are_made_with_it(
    world: World, organiser: Reader, participant: Reader
) -> None:
    # What is asked of participants is not asked of organisers for a baseline.
    world.do(
        submission_forms.set_field, FormField(key="cost", label="Cost", kind=FieldKind.NUMBER, required=True).as_json()
    )
    world.do(submission_forms.state_agreement, "rules", "Rules", "Be fair.")
    participant.get(BASELINE, status=404)
    for page in (LIST, "/organise/harbour/2025"):
        assert f'href="{BASELINE}"' in organiser.get(page)
    assert organiser.send(BASELINE, RUN, "bm25.txt", **NEW).location == "/organise/harbour/2025"
    again = organiser.send(BASELINE, RUN + "q3 Q0 d9 2 0.1 alpha\n", "bm25.txt", **NEW)
    assert (again.status_code, "has a system &#39;BM25&#39;" in again.text) == (400, True)
    [system] = world.all(sa.select(System).where(System.kind == SystemKind.BASELINE))
    second = organiser.send(BASELINE, RUN + "q3 Q0 d9 2 0.1 alpha\n", "bm25.txt", system=str(system.id))
    assert second.status_code == 302
    runs = world.runs()
    [campaign] = world.all(sa.select(Campaign))
    assert [(run.system_id, run.team_id, run.charged) for run in runs] == [
        (system.id, campaign.baseline_team_id, True)
    ] * 2
    [team] = world.all(sa.select(Team).where(Team.id == campaign.baseline_team_id))
    assert (system.name, team.name) == ("BM25", "Harbour organisers")
    assert not world.all(sa.select(Membership).where(Membership.team_id == team.id))
    assert participant.send(BASELINE, RUN, "bm25.txt", **NEW).status_code == 404
    assert len(world.runs()) == 2


@BOTH
def test_a_baseline_meets_the_checks_of_every_run(world: World, organiser: Reader) -> None:
    strange = organiser.send(BASELINE, "q9 Q0 d1 1 0.9 bm25\n", "bm25.txt", **NEW)
    assert strange.status_code == 400
    assert organiser.send(BASELINE, RUN, "bm25.txt", **NEW).status_code == 302
    twin = organiser.send(BASELINE, RUN, "bm25.txt", system="new-0", new_system="BM25 again")
    assert (twin.status_code, len(world.runs())) == (200, 1)  # the same text again is asked about
    kept = hidden(twin.text, "kept")
    twin = organiser.send(BASELINE, None, system="new-0", new_system="BM25 again", kept=kept, confirm="yes")
    assert (twin.status_code, len(world.runs())) == (302, 2)
    world.change(daily_quota=0)
    assert "No submission is left" in organiser.get(BASELINE)
    world.change(daily_quota=None, closes_at=world.evaluation.created_at)
    assert "closed" in organiser.get(BASELINE)


@BOTH
def test_a_name_that_no_other_team_may_have_keeps_no_baseline_out(world: World, organiser: Reader) -> None:
    with world.database.write() as session:
        session.get_one(Campaign, world.campaign.id).title = "Names that are longer than what a team may be called " * 2
    assert organiser.send(BASELINE, RUN, "bm25.txt", **NEW).status_code == 302
