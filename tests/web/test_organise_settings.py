"""Campaigns and evaluations made and changed in the browser, without a shell."""

import datetime as dt
import html
import re
from collections.abc import Callable

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.accounts import writes as people
from leaderboard.accounts.models import User
from leaderboard.campaigns import writes as campaigns
from leaderboard.campaigns.models import Campaign, CampaignOrganiser
from leaderboard.campaigns.rules import Visibility
from leaderboard.evaluations.inputs import EvaluationSettings
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import NoRelevant, Opening
from leaderboard.judgments.models import Query
from tests.support.pages import filled
from tests.support.refused import every_row
from tests.web.conftest import FORM, RUN, Reader, World, errors

CAMPAIGN = {
    "title": "Tide track", "visibility": "public", "measures": "AQWV, nDCG@10 AP", "cost": "0.0333", "value": "1",
    "prior": "0.00166667", "no_relevant": "pfa_only", "compat": "10", "run_choice": "best",
    "contact": "tides@example.org", "links": "The data https://example.org/data\n\nCode https://example.org/code",
    "guidelines": "# Rules\n\nBe <b>kind</b>, [read](javascript:alert(1)).",
}  # fmt: skip
EVALUATION = {
    "title": "Tide 2026", "period": "2026", "condition": "Text", "draft": "y", "documents": "1800",
    "relevance_level": "1", "judging": "complete", "time_zone": "AoE", "closes_at": "2026-09-30T23:59",
    "results": "closed", "details": "never", "texts": "closed", "hidden_queries": "never", "daily_quota": "",
    "grace_seconds": "60", "total_quota": "20",
}  # fmt: skip


@pytest.fixture
def founder(world: World, reader: Callable[[str], Reader]) -> Reader:
    """Ben, whom an admin lets make campaigns."""
    with world.database.write() as session:
        people.set_founder(session, CONSOLE, session.get_one(User, world.users["ben"].id), may_found=True)
    return reader("ben")


def test_an_organiser_makes_a_campaign_and_its_evaluation_in_the_browser(founder: Reader, world: World) -> None:
    assert "New campaign" in founder.get("/organise")
    made = founder.post("/organise/campaigns/new", **CAMPAIGN)
    assert made.location == "/organise/tide-track/evaluations/new", made.text
    with world.database.read() as session:
        campaign = session.scalars(sa.select(Campaign).where(Campaign.slug == "tide-track")).one()
        assert campaign.measures == ["AQWV", "nDCG@10", "AP"]
        assert campaign.beta == pytest.approx(0.0333 / 1 * (1 / 0.00166667 - 1))
        assert (campaign.no_relevant, campaign.visibility) == (NoRelevant.PFA_ONLY, Visibility.PUBLIC)
        assert session.get(CampaignOrganiser, (campaign.id, world.users["ben"].id)) is not None
    shown = founder.get("/campaigns/tide-track")
    assert "<h3>Rules</h3>" in shown
    assert "&lt;b&gt;kind" in shown
    assert '<a href="https://example.org/data" rel="nofollow noopener">The data</a>' in shown
    assert 'href="javascript:' not in shown
    assert "tides@example.org" in shown
    made = founder.post("/organise/tide-track/evaluations/new", **EVALUATION)
    assert made.location == "/organise/tide-track/2026-text", made.text
    with world.database.read() as session:
        evaluation = session.scalars(sa.select(Evaluation).where(Evaluation.slug == "2026-text")).one()
        assert evaluation.closes_at == dt.datetime(2026, 10, 1, 11, 59, tzinfo=dt.UTC)
        assert (evaluation.daily_quota, evaluation.total_quota, evaluation.documents) == (None, 20, 1800)
        assert (evaluation.details, evaluation.texts) == (Opening.NEVER, Opening.CLOSED)
        assert evaluation.draft
        assert not evaluation.own_results  # the box was not ticked
    form = founder.get("/organise/tide-track/2026-text/settings")
    assert 'value="2026-09-30T23:59"' in form  # by the clocks of its zone
    assert "= 1 Oct 2026, 11:59 UTC" in form


def test_a_form_that_is_saved_as_it_came_changes_nothing(organiser: Reader, world: World) -> None:
    closes_at = dt.datetime(2027, 3, 28, 17, 59, 59, tzinfo=dt.UTC)
    world.change(closes_at=closes_at, time_zone="Europe/Berlin", anonymous_until=closes_at.replace(second=0))
    with world.database.write() as session:
        campaign = session.get_one(Campaign, world.campaign.id)
        campaigns.change_campaign(session, CONSOLE, campaign, cost=0.0333, value=1.0, prior=1 / 600)
    before = every_row(world.database)
    for path in ("/organise/harbour/settings", "/organise/harbour/2025/settings"):
        assert organiser.post(path, **filled(organiser.get(path))).location == path
    after = every_row(world.database)
    assert [after[table] for table in ("campaign", "evaluation")] == [
        before[table] for table in ("campaign", "evaluation")
    ]


def test_a_form_that_was_opened_before_another_organisers_change_does_not_undo_it_unawares(
    organiser: Reader, world: World
) -> None:
    for path, name, other in (
        ("/organise/harbour/settings", "title", "contact"),
        ("/organise/harbour/2025/settings", "daily_quota", "collection"),
    ):
        opened = filled(organiser.get(path))
        assert organiser.post(path, **{**opened, name: "7"}).location == path
        stale = organiser.post(path, **{**opened, other: "Here"})
        assert stale.status_code == 409
        words = html.unescape(stale.text)
        assert "Somebody changed these settings since you opened this page." in words
        again = filled(stale.text)
        assert (again[name], again[other]) == (opened[name], "Here")
        assert filled(organiser.get(path))[name] == "7"
        assert organiser.post(path, **again).location == path
        assert filled(organiser.get(path))[name] == opened[name]


def test_a_refused_form_comes_back_filled_with_each_error_beside_its_field(founder: Reader, organiser: Reader) -> None:
    refused = founder.post("/organise/campaigns/new", **{**CAMPAIGN, "measures": "nCDG@10 XYZ AP", "prior": "2"})
    assert (refused.status_code, errors(refused.text)) == (400, {"measures", "prior"})
    assert "<title>Error: New campaign" in refused.text
    assert "nCDG@10 XYZ AP</textarea>" in refused.text
    assert "No measure is called 'nCDG@10'; nearest: NCG@10, nDCG@10" in html.unescape(refused.text)
    wrong = {**EVALUATION, "time_zone": "Europe/Berlin", "opens_at": "2026-03-29T02:30", "documents": "10"}
    refused = organiser.post("/organise/harbour/evaluations/new", **wrong)
    assert (refused.status_code, errors(refused.text)) == (400, {"opens_at"})
    assert filled(refused.text)["opens_at"] == "2026-03-29T02:30"


def test_all_that_is_wrong_with_a_form_is_told_at_once(founder: Reader, organiser: Reader, world: World) -> None:
    wrong = {
        **CAMPAIGN, "title": " ", "visibility": "seen", "measures": "nCDG@10", "contact": "x" * 500, "cost": "?",
        "beta": "many", "compat": "11", "links": "bad javascript:alert(1)\nnoaddr\nThe data https://example.org/data",
    }  # fmt: skip
    expected = {"title", "visibility", "measures", "contact", "cost", "beta", "compat", "links"}
    for reader, path in ((founder, "/organise/campaigns/new"), (organiser, "/organise/harbour/settings")):
        refused = reader.post(path, **wrong)
        assert (refused.status_code, errors(refused.text)) == (400, expected)
    wrong = {
        **EVALUATION, "title": "", "period": "Spring", "time_zone": "UTC", "opens_at": "2026-12-01T00:00",
        "closes_at": "2026-11-01T00:00", "daily_quota": "x", "documents": "-3", "judging": "no", "slug": "Not A Slug",
    }  # fmt: skip
    expected = {"title", "period_key", "closes_at", "daily_quota", "documents", "judging"}
    for path, more in (("evaluations/new", {"slug"}), ("2025/clone", {"slug"}), ("2025/settings", set())):
        refused = organiser.post(f"/organise/harbour/{path}", **wrong)
        assert (refused.status_code, errors(refused.text)) == (400, expected | more)
    assert world.all(sa.select(Campaign.title)) == ["Harbour"]
    assert world.all(sa.select(Evaluation.title)) == ["Harbour 2025"]


def test_a_filter_of_the_trail_that_is_none_is_told_beside_it(organiser: Reader) -> None:
    page = organiser.get("/organise/harbour/trail?subject=campaign&number=abc&since=2026-99-99", status=400)
    assert "<title>Error: Audit trail" in page
    assert errors(page) == {"number", "since"}
    assert 'value="abc"' in page
    assert 'value="2026-99-99"' in page
    assert '<option value="campaign" selected>' in page
    assert "number: give a whole number" in organiser.get("/organise/harbour/trail.csv?number=abc", status=400)


def test_dates_and_measures_are_worked_out_by_the_server_too(founder: Reader, organiser: Reader, world: World) -> None:
    found = founder.post("/organise/campaigns/new", **{**CAMPAIGN, "find": "reciprocal rank", "do": "find"})
    assert 'value="add RR"' in found.text
    found = founder.post("/organise/campaigns/new", **{**CAMPAIGN, "find": "nDCG@5", "do": "find"})
    assert 'value="add nDCG@5"' in found.text
    assert 'value="add SetP SetR SetF"' in found.text
    added = founder.post("/organise/campaigns/new", **{**CAMPAIGN, "find": "", "do": "add RR"})
    assert "AQWV, nDCG@10 AP RR</textarea>" in added.text
    for path in ("evaluations/new", "2025/settings", "2025/clone"):
        page = organiser.post(f"/organise/harbour/{path}", **{**EVALUATION, "do": "dates"})
        assert (page.status_code, "= 1 Oct 2026, 11:59 UTC" in page.text) == (200, True)
    assert (world.count(Campaign), world.all(sa.select(Evaluation.title))) == (1, ["Harbour 2025"])


def test_what_the_first_score_locked_is_shown_as_locked_and_why(organiser: Reader, world: World) -> None:
    with world.database.write() as session:
        campaign = session.get_one(Campaign, world.campaign.id)
        campaign.beta, campaign.locked_at = 20.0, dt.datetime(2026, 1, 2, tzinfo=dt.UTC)
    form = organiser.get("/organise/harbour/settings")
    assert "Locked since" in form
    assert "β = 20" in form
    assert 'name="beta"' not in form
    sent = {**filled(form), "title": "New", "beta": "40"}
    assert organiser.post("/organise/harbour/settings", **sent).status_code == 302
    with world.database.read() as session:
        campaign = session.get_one(Campaign, world.campaign.id)
        assert (campaign.title, campaign.beta) == ("New", 20.0)


def test_only_admins_and_whom_they_let_make_campaigns(participant: Reader, organiser: Reader, world: World) -> None:
    for reader in (participant, organiser):
        reader.get("/organise/campaigns/new", status=404)
        assert reader.post("/organise/campaigns/new", **CAMPAIGN).status_code == 404
    for may_found, status in ((True, 200), (False, 404)):
        with world.database.write() as session:
            people.set_founder(session, CONSOLE, session.get_one(User, world.users["ada"].id), may_found=may_found)
        participant.get("/organise/campaigns/new", status=status)


def test_organisers_add_and_remove_one_another_and_the_last_one_stays(organiser: Reader, participant: Reader) -> None:
    path = "/organise/harbour/organisers"
    assert organiser.post(path, name="nobody").status_code == 400
    assert organiser.post(path, name="ADA").location == path
    page = participant.get(path)
    orla, ada = re.findall(rf"{path}/\d+/remove(?=\">Remove orla|\">Leave)", page)
    if f'{ada}">Remove' in page:
        orla, ada = ada, orla
    assert "orla loses access to these pages" in participant.get(orla)
    assert "Only another organiser, or an admin of this site, can add you again" in participant.get(ada)
    organiser.get(path)  # nobody was removed by looking
    assert participant.post(orla).location == path
    organiser.get(path, status=404)
    assert participant.post(ada).location == path
    assert "is the only organiser" in participant.get(path)
    assert participant.post(orla).status_code == 404  # no organiser of this campaign


def test_making_a_public_campaign_private_asks_and_lets_the_teams_with_runs_in(
    organiser: Reader, participant: Reader, world: World
) -> None:
    settings = "/organise/harbour/settings"
    assert participant.send(FORM, RUN, **world.sent()).status_code == 302
    given = {**filled(organiser.get(settings)), "visibility": "private"}
    asked = organiser.post(settings, **given)
    assert (asked.status_code, "1 team with runs let in." in asked.text) == (200, True)
    participant.get("/campaigns/harbour/2025")
    assert organiser.post(settings, **given, confirm="yes").location == settings
    participant.get("/campaigns/harbour/2025")
    page = "/organise/harbour/organisers"
    assert "Let out Alpha" in organiser.get(page)
    leave = "/organise/harbour/teams-let-in/alpha/remove"
    asked = organiser.post(leave)
    assert (asked.status_code, "1 team with runs can&#39;t see them" in asked.text) == (200, True)
    participant.get("/campaigns/harbour/2025")
    assert organiser.post(leave, confirm="yes").location == page
    participant.get("/campaigns/harbour/2025", status=404)


def test_next_years_evaluation_is_a_clone_and_both_are_removed(organiser: Reader, world: World) -> None:
    world.change(closes_at=dt.datetime(2025, 9, 30, 18, tzinfo=dt.UTC))
    form = filled(organiser.get("/organise/harbour/2025/clone"))
    assert (form["closes_at"], form["title"]) == ("2026-09-30T18:00", "Harbour 2026")
    made = organiser.post("/organise/harbour/2025/clone", **{**form, "with_queries": "y"})
    assert made.location == "/organise/harbour/2026"
    assert world.count(Query) == 6
    assert organiser.post("/organise/harbour/2025/clone", **form).status_code == 400  # its address is taken
    for year in ("2026", "2025"):
        assert organiser.post(f"/organise/harbour/{year}/remove").location == "/organise/harbour"
        organiser.get(f"/organise/harbour/{year}", status=404)


def test_an_archived_campaign_stands_apart_and_takes_no_runs(organiser: Reader, participant: Reader) -> None:
    assert organiser.post("/organise/harbour/archive").status_code == 302
    assert "Archived campaigns" in participant.get("/")
    assert "Submit run" not in participant.get("/campaigns/harbour/2025")
    assert "is archived" in participant.get("/campaigns/harbour/2025/submit")
    assert organiser.post("/organise/harbour/archive", archived="no").status_code == 302
    assert "Submit run" in participant.get("/campaigns/harbour/2025")
    assert organiser.post("/organise/harbour/remove").location == "/organise"


def unfolded(page: str) -> list[str]:
    return [words.strip() for words in re.findall(r'<details class="disclosure whole" open>\s*<summary>(.*?)<', page)]


def test_settings_that_are_seldom_changed_are_folded_unless_they_are_others_than_usual(
    organiser: Reader, world: World
) -> None:
    settings = "/organise/harbour/2025/settings"
    world.change(**{name: field.get_default() for name, field in EvaluationSettings.model_fields.items() if name in (
        "time_zone", "grace_seconds", "late_allowed", "judging", "relevance_level", "texts", "hidden_queries",
        "own_results",
    )})  # fmt: skip
    assert unfolded(organiser.get(settings)) == []
    world.change(relevance_level=2, own_results=False)
    changed = ["Judging, and the lowest relevant grade", "Texts, hidden queries and a team&#39;s own means"]
    assert unfolded(organiser.get(settings)) == changed
    assert set(changed) < set(unfolded(organiser.get("/organise/harbour/2025/clone")))
    wrong = organiser.post(settings, **{**EVALUATION, "time_zone": "Mars"})
    assert "Time zone, grace and late runs" in unfolded(wrong.text)


def test_beta_is_asked_without_javascript_and_names_the_measures_that_need_it(founder: Reader) -> None:
    page = founder.get("/organise/campaigns/new")
    assert 'data-detection="AQWV Value Pmiss Pfa MQWV OQWV"' in page
    assert re.search('<input[^>]* name="cost"', page)
    assert not re.search("data-detection[^>]* hidden", page)
