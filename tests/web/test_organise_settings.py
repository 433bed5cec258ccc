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
from leaderboard.campaigns.models import Campaign, CampaignOrganiser, CampaignTeam
from leaderboard.campaigns.rules import Visibility
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import NoRelevant, Opening
from leaderboard.judgments.models import Query
from tests.web.conftest import RUN, Reader, World, errors

pytestmark = pytest.mark.parametrize("engine_name", ["sqlite"])  # no statement here is another one on the other

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
    assert "Make a campaign" in founder.get("/organise")
    founder.get("/organise/campaigns/new")
    made = founder.post("/organise/campaigns/new", **CAMPAIGN)
    assert made.location == "/organise/tide-track", made.text
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
    assert '<a href="/measures/AQWV" class="code">AQWV</a>' in shown
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
    def stored() -> list[dict[str, object]]:
        with world.database.read() as session:
            rows = [*session.scalars(sa.select(Campaign)), *session.scalars(sa.select(Evaluation))]
            return [{column.name: getattr(row, column.name) for column in row.__table__.columns} for row in rows]

    closes_at = dt.datetime(2027, 3, 28, 17, 59, 59, tzinfo=dt.UTC)
    world.change(closes_at=closes_at, time_zone="Europe/Berlin", anonymous_until=closes_at.replace(second=0))
    before = stored()
    for path in ("/organise/harbour/settings", "/organise/harbour/2025/settings"):
        assert organiser.post(path, **filled(organiser.get(path))).location == path
    assert stored() == before


def filled(page: str) -> dict[str, str]:
    """What a browser would send of the page's form."""
    form = page.partition('<form class="form wide"')[2].partition("</form>")[0]
    fields = {}
    for tag in re.findall(r"<input[^>]*>", form):
        given = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        if given.get("type") not in ("radio", "checkbox") or " checked" in tag:
            fields[given["name"]] = html.unescape(given.get("value", ""))
    for name, text in re.findall(r'<textarea[^>]* name="(\w+)"[^>]*>\r?\n?(.*?)</textarea>', form, re.DOTALL):
        fields[name] = html.unescape(text)
    return {name: value for name, value in fields.items() if name != "csrf_token"}


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
    wrong = {**CAMPAIGN, "title": "", "measures": "nCDG@10", "prior": "2", "links": "javascript:alert(1)"}
    refused = founder.post("/organise/campaigns/new", **wrong)
    assert refused.status_code == 400
    assert "<title>Error: Make a campaign" in refused.text
    assert 'id="title-error"' in refused.text
    assert "nCDG@10" in refused.text
    refused = founder.post("/organise/campaigns/new", **{**CAMPAIGN, "measures": "nCDG@10 XYZ AP"})
    beside = refused.text.partition('id="measures-error">')[2].partition("</div>")[0]
    first, second = re.findall(r'<p class="field-error">(.*?)</p>', html.unescape(beside))
    assert first.startswith("No measure is called 'nCDG@10'; nearest: NCG@10, nDCG@10")
    assert second.startswith("No measure is called 'XYZ'; no name is like it; the page of measures has all ")
    assert len(second) < 150
    refused = founder.post("/organise/campaigns/new", **{**wrong, "title": "T", "links": ""})
    assert (refused.status_code, "nDCG" in refused.text, 'id="prior-error"' in refused.text) == (400, True, True)
    wrong = {**EVALUATION, "time_zone": "Mars", "documents": "many", "title": "Kept"}
    refused = organiser.post("/organise/harbour/evaluations/new", **wrong)
    assert refused.status_code == 400
    assert 'value="Kept"' in refused.text
    assert 'id="documents-error"' in refused.text
    refused = organiser.post("/organise/harbour/evaluations/new", **{**wrong, "relevance_level": "0"})
    assert 'id="documents-error"' in refused.text
    assert 'id="relevance_level-error"' in refused.text
    wrong = {**EVALUATION, "time_zone": "Europe/Berlin", "opens_at": "2026-03-29T02:30", "documents": "10"}
    refused = organiser.post("/organise/harbour/evaluations/new", **wrong)
    assert "never show 02:30" in refused.text
    assert 'value="2026-03-29T02:30"' in refused.text
    wrong = {**EVALUATION, "time_zone": "UTC", "opens_at": "2026-12-01T00:00"}
    assert 'id="closes_at-error"' in organiser.post("/organise/harbour/evaluations/new", **wrong).text


def test_all_that_is_wrong_with_a_form_is_told_at_once(founder: Reader, organiser: Reader, world: World) -> None:
    wrong = {
        **CAMPAIGN, "title": " ", "visibility": "seen", "measures": "nCDG@10", "contact": "x" * 500, "cost": "-1",
        "beta": "many", "compat": "11", "links": "bad javascript:alert(1)\nnoaddr\nThe data https://example.org/data",
    }  # fmt: skip
    expected = {"title", "visibility", "measures", "contact", "cost", "beta", "compat", "links"}
    for reader, path in ((founder, "/organise/campaigns/new"), (organiser, "/organise/harbour/settings")):
        refused = reader.post(path, **wrong)
        assert (refused.status_code, errors(refused.text)) == (400, expected)
        assert "bad: give a whole web address" in refused.text.casefold()
        assert "noaddr: give the link a title" in refused.text.casefold()
    made_from_title = founder.post("/organise/campaigns/new", **{**CAMPAIGN, "title": ""})
    assert errors(made_from_title.text) == {"title"}
    wrong = {
        **EVALUATION, "title": "", "period": "Spring", "time_zone": "UTC", "opens_at": "2026-12-01T00:00",
        "closes_at": "2026-11-01T00:00", "daily_quota": "x", "documents": "-3", "judging": "no", "slug": "Not A Slug",
    }  # fmt: skip
    expected = {"title", "period_key", "closes_at", "daily_quota", "documents", "judging"}
    for path in ("evaluations/new", "2025/clone"):
        refused = organiser.post(f"/organise/harbour/{path}", **wrong)
        assert (refused.status_code, errors(refused.text)) == (400, {*expected, "slug"})
    refused = organiser.post("/organise/harbour/2025/settings", **wrong)
    assert (refused.status_code, errors(refused.text)) == (400, expected)
    wrong = {**EVALUATION, "time_zone": "Mars", "documents": "many", "total_quota": "-1", "period": ""}
    refused = organiser.post("/organise/harbour/evaluations/new", **wrong)
    assert errors(refused.text) == {"time_zone", "documents", "total_quota", "period"}
    with world.database.read() as session:
        assert session.scalars(sa.select(Campaign.title)).all() == ["Harbour"]
        assert session.scalars(sa.select(Evaluation.title)).all() == ["Harbour 2025"]


def test_what_is_seldom_filled_in_is_folded_until_it_is_wrong_or_filled(organiser: Reader, founder: Reader) -> None:
    def folds(page: str) -> dict[str, bool]:
        found = re.findall(r'<details class="disclosure whole"( open)?>\s*<summary>(.*?)</summary>', page)
        return {words.partition(",")[0].partition(":")[0]: bool(is_open) for is_open, words in found}

    path = "/organise/harbour/evaluations/new"
    assert folds(organiser.get(path)) == {"Its address": False, "After closing": False}
    wrong = {**EVALUATION, "time_zone": "UTC", "grace_seconds": "-5", "documents": "many", "title": ""}
    refused = organiser.post(path, **wrong).text
    assert folds(refused) == {"Its address": False, "After closing": True}
    assert re.findall(r'<li><a href="#(\w+)', refused) == ["title", "grace_seconds", "documents"]  # as on the page
    assert folds(organiser.post(path, **{**wrong, "grace_seconds": "60", "slug": "tide"}).text) == {
        "Its address": True, "After closing": False,
    }  # fmt: skip
    assert not any(folds(founder.get("/organise/campaigns/new")).values())


def test_a_filter_of_the_trail_that_is_none_is_told_beside_it(organiser: Reader) -> None:
    page = organiser.get("/organise/harbour/trail?subject=campaign&number=abc&since=2026-99-99", status=400)
    assert "<title>Error: Audit trail" in page
    assert errors(page) == {"number", "since"}
    assert 'value="abc"' in page
    assert 'value="2026-99-99"' in page
    assert '<option value="campaign" selected>' in page
    assert "number: give a whole number" in organiser.get("/organise/harbour/trail.csv?number=abc", status=400)


def test_a_changed_period_is_sorted_by_its_own_year(organiser: Reader, world: World) -> None:
    path = "/organise/harbour/2025/settings"
    assert organiser.post(path, **{**filled(organiser.get(path)), "period": "2031"}).location == path
    with world.database.read() as session:
        assert session.get_one(Evaluation, world.evaluation.id).period_key == 2031


def test_measures_are_found_by_their_words_and_added_without_javascript(founder: Reader, world: World) -> None:
    found = founder.post("/organise/campaigns/new", **{**CAMPAIGN, "find": "reciprocal rank", "do": "find"})
    assert found.status_code == 200
    assert 'value="add RR"' in found.text
    assert "<title>Make a campaign" in found.text
    entered = founder.post("/organise/campaigns/new", **{**CAMPAIGN, "find": "reciprocal rank", "do": "enter"})
    assert 'value="add RR"' in entered.text
    added = founder.post("/organise/campaigns/new", **{**CAMPAIGN, "find": "", "do": "add RR"})
    assert "AQWV, nDCG@10 AP RR</textarea>" in added.text
    with world.database.read() as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Campaign)) == 1


def test_dates_are_shown_in_utc_before_anything_is_saved(organiser: Reader, world: World) -> None:
    paths = ("/organise/harbour/evaluations/new", "/organise/harbour/2025/settings", "/organise/harbour/2025/clone")
    for path in paths:
        page = organiser.post(path, **{**EVALUATION, "do": "dates"})
        assert page.status_code == 200
        assert "= 1 Oct 2026, 11:59 UTC" in page.text
    with world.database.read() as session:
        assert session.scalars(sa.select(Evaluation.title)).all() == ["Harbour 2025"]


def test_a_date_that_has_no_moment_in_utc_is_told_before_anything_is_saved(organiser: Reader) -> None:
    asked = {**EVALUATION, "title": "", "time_zone": "Europe/Berlin", "opens_at": "2026-03-29T02:30", "do": "dates"}
    page = organiser.post("/organise/harbour/evaluations/new", **asked)
    assert "never show 02:30" in page.text
    assert "= 30 Sep 2026, 21:59 UTC" in page.text
    assert (page.status_code, errors(page.text)) == (400, {"opens_at"})  # a title is not asked for yet
    page = organiser.post("/organise/harbour/evaluations/new", **{**asked, "time_zone": "Mars", "opens_at": "soon"})
    assert errors(page.text) == {"time_zone", "opens_at"}


def test_beta_is_worked_out_by_the_server_too(founder: Reader) -> None:
    page = founder.post("/organise/campaigns/new", **{**CAMPAIGN, "do": "beta"})
    assert "(0.0333 / 1) · (1 / 0.00166667 − 1) = 19.9467" in page.text
    page = founder.post("/organise/campaigns/new", **{**CAMPAIGN, "do": "beta", "value": ""})
    assert "No β: give cost, value and prior (C, V and P) together, or none of them." in page.text
    page = founder.post("/organise/campaigns/new", **{**CAMPAIGN, "do": "beta", "prior": "1/600"})
    assert "(0.0333 / 1) · (1 / 0.00166667 − 1) = 19.9467" in page.text
    page = founder.post("/organise/campaigns/new", **{**CAMPAIGN, "do": "beta", "prior": "1/0", "value": ""})
    assert "no finite number; give one such as 0.5 or 1/600" in page.text


def test_what_is_wrong_with_the_numbers_of_beta_stands_at_its_own_field_and_is_counted(founder: Reader) -> None:
    wrong = {**CAMPAIGN, "measures": "nCDG@10 XYZ", "prior": "2", "value": ""}
    page = founder.post("/organise/campaigns/new", **wrong).text
    summary = page.partition('class="error-summary"')[2].partition("</div>")[0]
    assert (summary.count("<li>"), "4 things need another look" in summary) == (4, True)
    assert (
        page.count("give a share between 0 and 1") + page.count("Give a share between 0 and 1") == 2
    )  # with the summary
    assert "No β: see what is said beside its numbers." in page


def test_a_prior_given_as_a_fraction_stays_the_same_number_when_its_form_is_saved_again(
    founder: Reader, world: World
) -> None:
    made = founder.post("/organise/campaigns/new", **{**CAMPAIGN, "prior": "1/600"})
    assert made.status_code == 302
    slug = made.location.rpartition("/")[2]
    settings = f"/organise/{slug}/settings"
    assert founder.post(settings, **filled(founder.get(settings))).location == settings
    with world.database.read() as session:
        assert session.scalars(sa.select(Campaign.prior).where(Campaign.slug == slug)).one() == 1 / 600


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
        reader.get("/organise/founders", status=404)
    with world.database.write() as session:
        session.get_one(User, world.users["orla"].id).is_admin = True
    assert organiser.post("/organise/founders", name="Ada").location == "/organise/founders"
    assert "Take the right from ada" in organiser.get("/organise/founders")
    participant.get("/organise/campaigns/new")
    assert organiser.post("/organise/founders", name="ada", revoke="yes").status_code == 302
    participant.get("/organise/campaigns/new", status=404)
    refused = organiser.post("/organise/founders", name="nobody")
    assert (refused.status_code, 'id="name-error"' in refused.text) == (400, True)


def test_organisers_add_and_remove_one_another_and_the_last_one_stays(organiser: Reader, participant: Reader) -> None:
    path = "/organise/harbour/organisers"
    assert organiser.post(path, name="nobody").status_code == 400
    assert organiser.post(path, name="ADA").location == path
    page = participant.get(path)
    orla, ada = (
        re.search(rf"/organise/harbour/organisers/(\d+)/remove\">{who}", page) for who in ("Remove orla", "Leave")
    )
    assert orla is not None
    assert ada is not None
    assert "orla no longer finds these pages" in participant.get(f"{path}/{orla[1]}/remove")
    assert "Only another organiser, or an admin of this site, can add you again" in participant.get(
        f"{path}/{ada[1]}/remove"
    )
    organiser.get(path)  # nobody was removed by looking
    assert participant.post(f"{path}/{orla[1]}/remove").location == path
    organiser.get(path, status=404)
    refused = participant.post(f"{path}/{ada[1]}/remove")
    assert refused.location == path
    assert "is the only organiser" in participant.get(path)
    assert participant.post(f"{path}/{orla[1]}/remove").status_code == 404  # no organiser of this campaign


def test_a_private_campaign_is_there_for_the_teams_that_were_let_in(
    organiser: Reader, participant: Reader, other: Reader, visitor: Reader, world: World
) -> None:
    with world.database.write() as session:
        session.get_one(Campaign, world.campaign.id).visibility = Visibility.PRIVATE
    for reader in (participant, other, visitor):
        reader.get("/campaigns/harbour/2025", status=404)
        assert "Harbour" not in reader.get("/")
    refused = organiser.post("/organise/harbour/teams-let-in", team="none")
    assert (refused.status_code, "There is no team of this address; its" in refused.text) == (400, True)
    assert organiser.post("/organise/harbour/teams-let-in", team="alpha").status_code == 302
    participant.get("/campaigns/harbour/2025")
    participant.get("/campaigns/harbour/2025/submit")
    other.get("/campaigns/harbour/2025", status=404)
    assert organiser.post("/organise/harbour/teams-let-in/alpha/remove").status_code == 302
    participant.get("/campaigns/harbour/2025/submit", status=404)
    with world.database.read() as session:
        assert session.scalars(sa.select(CampaignTeam)).all() == []


def test_making_a_public_campaign_private_asks_and_lets_the_teams_with_runs_in(
    organiser: Reader, participant: Reader, world: World
) -> None:
    settings = "/organise/harbour/settings"
    sent = {"system": str(world.system.id), "designation": "primary"}
    assert participant.send("/campaigns/harbour/2025/submit", RUN, **sent).status_code == 302
    assert "Made private, shut out teams that have runs in it" in organiser.get(settings)
    given = {
        **CAMPAIGN,
        "measures": "AP P@5",
        "run_choice": "primary",
        "no_relevant": "exclude",
        "cost": "",
        "value": "",
    }
    given |= {"prior": "", "title": "Harbour", "visibility": "private"}
    for more, words in (({}, "1 team with runs let in."), ({"shut_out": "y"}, "1 team with runs can&#39;t see")):
        asked = organiser.post(settings, **given, **more)
        assert (asked.status_code, words in asked.text) == (200, True)
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
    assert "shut out teams" not in organiser.get(settings)  # it is private now


def test_next_years_evaluation_is_a_clone_with_its_dates_a_year_later(organiser: Reader, world: World) -> None:
    world.change(closes_at=dt.datetime(2025, 9, 30, 18, tzinfo=dt.UTC), details=Opening.NEVER)
    form = organiser.get("/organise/harbour/2025/clone")
    assert 'value="2026-09-30T18:00"' in form
    assert 'value="Harbour 2026"' in form
    made = organiser.post("/organise/harbour/2025/clone", **{**filled(form), "with_queries": "y"})
    assert made.location == "/organise/harbour/2026"
    with world.database.read() as session:
        evaluation = session.scalars(sa.select(Evaluation).where(Evaluation.slug == "2026")).one()
        assert (evaluation.details, evaluation.draft) == (Opening.NEVER, True)
        count = sa.select(sa.func.count()).where(Query.evaluation_id == evaluation.id)
        assert session.scalar(count) == 3
    assert organiser.post("/organise/harbour/2025/clone", **filled(form)).status_code == 400  # its address is taken
    assert organiser.post("/organise/harbour/2026/remove").location == "/organise/harbour"
    organiser.get("/organise/harbour/2026", status=404)
    # Judgments go along where nothing was submitted.
    assert "with its form and 3 queries and" in organiser.get("/organise/harbour/2025/settings")
    assert organiser.post("/organise/harbour/2025/remove").location == "/organise/harbour"
    organiser.get("/organise/harbour/2025", status=404)


def test_the_organisers_page_of_judgments_says_whether_and_when_all_read_it(organiser: Reader, world: World) -> None:
    path = "/campaigns/harbour/2025/judgments"
    assert "Only organisers see this page: by its settings the judgments are not published." in organiser.get(path)
    world.change(judgments_published=True)
    assert "It has no closing date, so the judgments are never published" in organiser.get(path)
    world.change(closes_at=dt.datetime(2100, 1, 1, tzinfo=dt.UTC))
    assert "Only organisers see this page now. Everybody does once the evaluation has closed." in organiser.get(path)


def test_a_draft_is_called_a_draft_and_never_open(organiser: Reader, world: World) -> None:
    world.change(draft=True, opens_at=None, closes_at=dt.datetime(2100, 1, 1, tzinfo=dt.UTC))
    state = '<span class="status status-draft">draft</span>'
    for address in ("/campaigns/harbour", "/campaigns/harbour/2025", "/organise", "/organise/harbour"):
        page = organiser.get(address)
        assert page.count(state) == 1, address
        assert "status-open" not in page, address
    assert "status-open" not in organiser.get("/")
    room = organiser.get("/organise/harbour/2025")
    assert "Open from the start to 1 Jan 2100" in room
    assert "Is open" not in room


def test_an_archived_campaign_stands_apart_and_takes_no_runs(organiser: Reader, participant: Reader) -> None:
    assert organiser.post("/organise/harbour/archive").status_code == 302
    assert "Archived campaigns" in participant.get("/")
    board = participant.get("/campaigns/harbour/2025")
    assert "Submit run" not in board
    assert "archived" in board
    assert "is archived" in participant.get("/campaigns/harbour/2025/submit")
    assert organiser.post("/organise/harbour/evaluations/new", **EVALUATION).status_code == 409
    assert organiser.post("/organise/harbour/archive", archived="no").status_code == 302
    assert "Submit run" in participant.get("/campaigns/harbour/2025")
    assert organiser.post("/organise/harbour/remove").location == "/organise"
