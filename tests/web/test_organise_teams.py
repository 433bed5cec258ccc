"""The organiser's pages on teams and systems, what teams say of themselves, and the audit trail."""

import io
import re

import numpy as np
import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.campaigns import writes as campaigns
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.rules import Subset
from leaderboard.formats import read_judgments, read_queries
from leaderboard.judgments import writes as judgments
from leaderboard.judgments.rules import JudgmentFiles
from leaderboard.submissions.rules import State
from leaderboard.teams import writes as teams
from leaderboard.worker.models import Score, Scoring
from tests.support.pages import text_of
from tests.web.conftest import BOTH, FORM, RUN, Reader, World, errors


@pytest.fixture
def both(world: World, participant: Reader, other: Reader) -> int:
    """Alpha and Beta have a run each of a system Searcher; Beta's system."""
    with world.database.write() as session:
        twin = teams.create_system(session, CONSOLE, world.teams["beta"], teams.NewSystem("Searcher")).id
    for who, system, more in ((participant, world.system.id, ""), (other, twin, "q3 Q0 d9 2 0.1 alpha\n")):
        assert who.send(FORM, RUN + more, **world.sent(system=str(system), label=f"of {system}")).status_code == 302
    world.turn(State.SCORED)
    return twin


def test_an_organiser_marks_a_baseline_and_boards_say_so(
    world: World, organiser: Reader, visitor: Reader, participant: Reader, both: int
) -> None:
    assert both
    page = f"/organise/harbour/systems/{world.system.id}"
    assert f'href="{page}"' in organiser.get("/organise/harbour/systems")
    sent = {"kind": "baseline", "description": "BM25", "code_url": "https://example.org/code"}
    refused = organiser.post(page, **sent, paper_url="http://user:pw@x/")
    assert (refused.status_code, errors(refused.text)) == (400, {"paper_url"})
    assert organiser.post(page, **sent, paper_url="").location == "/organise/harbour/systems"
    board = visitor.client.get("/campaigns/harbour/2025.json").json
    assert board is not None
    assert {(row["team"], row["kind"]) for row in board["rows"]} == {("Alpha", "baseline"), ("Beta", "automatic")}
    assert 'href="https://example.org/code"' in participant.get("/teams/alpha/searcher")


def test_another_kind_names_every_board_of_every_campaign_that_it_changes(
    world: World, organiser: Reader, participant: Reader, both: int
) -> None:
    """The figures are those of `_scored`: on each board Searcher of Alpha is first, and on Harbour's Beta's second."""
    _coast(world, participant)
    _scored(world, {both: 0.25})
    page = f"/organise/harbour/systems/{world.system.id}"
    asked = organiser.post(page, kind="baseline").text
    assert "Nothing is changed yet." in asked
    assert "Coast 2024: 1 of 1 system change rank; another run is shown for 0." in asked
    assert "Harbour 2025: 2 of 2 systems change rank; another run is shown for 0." in asked


def _coast(world: World, ada: Reader) -> None:
    """Another campaign of the organiser's, where Searcher of Alpha has a run."""
    with world.database.write() as session:
        coast = campaigns.create_campaign(session, CONSOLE, "coast", "Coast", measures=["AP"], primary_measure="AP")
        campaigns.add_organiser(session, CONSOLE, coast, session.merge(world.users["orla"]))
        made = evaluations.create_evaluation(session, CONSOLE, coast, "2024", "Coast 2024", "2024")
        judgments.import_queries(session, CONSOLE, made, read_queries(io.BytesIO(b"q1\tfirst\n")))
        judgments.import_judgments(session, CONSOLE, made, JudgmentFiles(read_judgments(io.BytesIO(b"q1 0 d1 1\n"))))
    assert ada.send("/campaigns/coast/2024/submit", RUN.splitlines()[0] + "\n", **world.sent()).status_code == 302
    world.turn(State.SCORED)


def _scored(world: World, means: dict[int, float]) -> None:
    """Gives each system's runs this mean of AP, or 0.5."""
    with world.database.write() as session:
        for scoring in session.scalars(sa.select(Scoring).options(sa.orm.joinedload(Scoring.submission))):
            mean = means.get(scoring.submission.system_id, 0.5)
            own = {"scoring_id": scoring.id, "measure": "AP", "subset": Subset.ALL, "mean": mean, "count": 1}
            session.add(Score(**own, values=np.array([mean])))


@BOTH
def test_an_organiser_makes_two_spellings_one_team_having_read_what_that_does(
    world: World, organiser: Reader, participant: Reader, both: int
) -> None:
    alpha, beta = world.teams["alpha"].id, world.teams["beta"].id
    ask, one = f"/organise/harbour/teams/{beta}/merge?into={alpha}", {"twin-searcher": "one"}
    with world.database.write() as session:  # another campaign lets one of them in, and asks nobody
        private = campaigns.create_campaign(
            session, CONSOLE, "private", "Kept quiet", measures=["AP"], primary_measure="AP", visibility="private"
        )
        campaigns.let_team_in(session, CONSOLE, private, session.merge(world.teams["alpha"]))
    page = organiser.get(ask)
    assert "Both have a system Searcher, with 1 run and 1 run" in page
    assert "Kept quiet" not in page
    assert "1 + 1" in page
    assert "1 run of 1 system of Beta become those of Alpha, for good." in page
    assert organiser.post(ask, **one).status_code == 200  # without having read it
    twin = f"/organise/harbour/systems/{both}"
    organiser.post(twin, kind="baseline", confirm="yes")
    offered_no_more = organiser.post(ask, confirm="yes", **one)
    assert offered_no_more.location == ask
    assert "one Searcher is a baseline, the other is not: keep them apart" in organiser.get(ask)
    organiser.post(twin, kind="automatic", confirm="yes")
    answer = organiser.post(ask, confirm="yes", **one)
    assert answer.location == "/organise/harbour/teams"
    assert organiser.post(ask, confirm="yes", **one).status_code == 404  # a second press
    assert {(run.team_id, run.system_id) for run in world.runs()} == {(alpha, world.system.id)}
    for old, new in (("/teams/beta", "/teams/alpha"), ("/teams/beta/searcher", "/teams/alpha/searcher")):
        assert participant.client.get(old).location == new
    organiser.get(f"/organise/harbour/teams/{beta}", status=404)


@BOTH
def test_the_trail_says_who_did_what_and_what_changed(
    world: World, organiser: Reader, participant: Reader, both: int
) -> None:
    assert both
    participant.post("/submissions/1/describe", label="another label", notes="")
    organiser.post(f"/organise/harbour/systems/{world.system.id}", kind="manual", description="")
    with world.database.write() as session:
        campaigns.change_campaign(session, CONSOLE, session.merge(world.campaign), measures=["AP", "nDCG@10"])
    trail = "/organise/harbour/trail"
    page = text_of(organiser.get(trail))
    assert "ada: change label or notes of run 1 of Searcher by Alpha, Harbour 2025" in page
    assert re.search(r"label: of \d+ → another label", page)
    assert "kind: automatic → manual" in page
    assert re.search(r"measures: AP, P@5 → AP, nDCG@10", page)
    assert page.index("orla: change system Searcher of Alpha") < page.index("ada: change label")  # the newest first
    ada, orla = world.users["ada"].id, world.users["orla"].id
    for asked, found in (
        (f"person={ada}", (True, False)), (f"person={orla}", (False, True)), ("person=worker", (False, False)),
        ("subject=submission&number=1", (True, False)), ("subject=system", (False, True)),
        ("since=2020-01-01&until=2020-02-01", (False, False)),
    ):  # fmt: skip
        shown = organiser.get(f"{trail}?{asked}")
        assert ("another label" in shown, "orla: change" in shown) == found, asked
    for wrong in ("subject=none", "person=x", "since=yesterday", "number=-1", "until=0001-01-01"):
        organiser.get(f"{trail}?{wrong}", status=400)
    assert "another label" in organiser.get(f"{trail}.csv")
    participant.get(trail, status=404)
