import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE, Actor, actor_of
from leaderboard.accounts import writes as people
from leaderboard.accounts.models import User
from leaderboard.audit.models import Event
from leaderboard.audit.verify import verify
from leaderboard.campaigns import writes as campaigns
from leaderboard.campaigns.models import Campaign, CampaignOrganiser, CampaignTeam
from leaderboard.campaigns.rules import Visibility
from leaderboard.db import Database
from leaderboard.errors import Conflict, InvalidFields, NotAllowed, NotFound, PriorLocked
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import NoRelevant
from leaderboard.judgments.models import Judgment, JudgmentRevision, Query
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import SetState
from leaderboard.submissions.writes import submissions
from leaderboard.teams import writes as teams
from leaderboard.teams.models import Team
from leaderboard.teams.writes import NewSystem
from leaderboard.worker.models import ScoringSet
from tests.support.refused import refused
from tests.support.waiting import wait_until, waits
from tests.support.world import World, build_world, new_account

SQLITE = pytest.mark.parametrize("engine_name", ["sqlite"])  # refused before any statement


def _create(database: Database, **values: object) -> Campaign:
    given = {"measures": ["AP"], "primary_measure": "AP", "slug": "c", "title": "C", **values}
    with database.write() as session:
        return campaigns.create_campaign(session, CONSOLE, **given)  # type: ignore[arg-type]  # as a form sends them


def test_a_campaign_derives_its_beta_or_states_it(database: Database) -> None:
    derived = _create(database, slug="a", cost=0.1, value=1.0, prior=1 / 600, measures=["AQWV"], primary_measure="AQWV")
    assert derived.beta == pytest.approx(59.9)
    assert _create(database, slug="b", beta=40, measures=["AQWV"], primary_measure="AQWV").beta == 40
    assert _create(database, slug="c").beta is None
    assert _create(database, slug="d", cost=0.1, value=1.0, prior=1 / 600, beta=59.9).beta == 59.9


@SQLITE
@pytest.mark.parametrize(
    ("values", "fields"),
    [
        ({"slug": "Not a slug"}, {"slug"}),
        ({"title": " "}, {"title"}),
        ({"measures": ["AQWV"], "primary_measure": "AQWV"}, {"beta"}),
        ({"measures": ["nDCG@10x"]}, {"measures"}),
        ({"measures": [], "primary_measure": ""}, {"measures"}),
        ({"cost": 0.1}, {"value", "prior"}),
        ({"cost": 0.1, "value": 1.0, "prior": 1.0}, {"prior"}),
        ({"cost": -0.1, "value": math.inf, "prior": 0.1}, {"cost", "value"}),
        ({"cost": 0.1, "value": 1.0, "prior": 1 / 600, "beta": 40}, {"beta"}),
        ({"beta": -1}, {"beta"}),
        ({"beta": math.nan}, {"beta"}),
        ({"compat": 8}, {"compat"}),
    ],
)
def test_what_is_wrong_is_said_by_its_field(database: Database, values: dict[str, object], fields: set[str]) -> None:
    with pytest.raises(InvalidFields) as caught:
        _create(database, **values)
    assert set(caught.value.fields) == fields


def test_measures_are_kept_by_their_canonical_names_with_the_primary_one(database: Database) -> None:
    campaign = _create(database, measures=["map", "P_10,recip_rank"], primary_measure="ndcg_cut_10")
    assert campaign.measures == ["nDCG@10", "AP", "P@10", "RR"]
    assert campaign.primary_measure == "nDCG@10"


def test_a_slug_is_taken_once(database: Database) -> None:
    _create(database)
    with pytest.raises(InvalidFields) as caught:
        _create(database)
    assert set(caught.value.fields) == {"slug"}


def test_the_prior_can_change_until_the_first_result_and_never_after(world: World) -> None:
    with world.organising() as (session, campaign, _):
        campaigns.change_campaign(session, CONSOLE, campaign, beta=40, no_relevant=NoRelevant.PFA_ONLY)
    world.submit()
    world.drain()
    for change in ({"beta": 20}, {"no_relevant": NoRelevant.EXCLUDE}, {"cost": 0.1, "value": 1.0, "prior": 1 / 600}):
        with refused(world.database, PriorLocked, "campaign"), world.organising() as (session, campaign, _):
            campaigns.change_campaign(session, CONSOLE, campaign, **change)
    with world.organising() as (session, campaign, _):
        campaigns.change_campaign(session, CONSOLE, campaign, title="Another title", beta=40)
    (campaign,) = world.all(sa.select(Campaign))
    assert (campaign.beta, campaign.no_relevant, campaign.title) == (40, NoRelevant.PFA_ONLY, "Another title")


def test_a_changed_prior_makes_a_new_set_that_the_board_reads_at_once(world: World) -> None:
    with world.organising() as (session, campaign, _):
        campaigns.change_campaign(session, CONSOLE, campaign, beta=40)
    sets = world.all(sa.select(ScoringSet).order_by(ScoringSet.id))
    assert [(made.settings.beta, made.state) for made in sets] == [
        (20.0, SetState.SUPERSEDED),
        (40.0, SetState.CURRENT),
    ]


def test_a_public_campaign_that_is_made_private_lets_the_teams_with_runs_in_unless_told_otherwise(world: World) -> None:
    world.submit("q1 Q0 d1 1 1 a\n")
    with world.organising() as (session, campaign, _):
        teams.create_team(session, world.eve, "Without runs")
        campaigns.change_campaign(session, CONSOLE, campaign, visibility=Visibility.PRIVATE, shut_out=True)
    assert world.all(sa.select(CampaignTeam)) == []
    for visibility in (Visibility.DRAFT, Visibility.PRIVATE):  # nobody but organisers knew of the draft
        with world.organising() as (session, campaign, _):
            campaigns.change_campaign(session, CONSOLE, campaign, visibility=visibility)
    assert world.all(sa.select(CampaignTeam)) == []
    for visibility in (Visibility.PUBLIC, Visibility.PRIVATE):
        with world.organising() as (session, campaign, _):
            campaigns.change_campaign(session, CONSOLE, campaign, visibility=visibility)
    assert [one.team_id for one in world.all(sa.select(CampaignTeam))] == [world.team]


@pytest.mark.parametrize("visibility", [Visibility.PUBLIC, Visibility.DRAFT])
def test_shutting_teams_out_is_refused_where_the_campaign_is_not_made_private(
    world: World, visibility: Visibility
) -> None:
    with refused(world.database, InvalidFields, "campaign") as caught, world.organising() as (session, campaign, _):
        campaigns.change_campaign(session, CONSOLE, campaign, visibility=visibility, title="X", shut_out=True)
    assert caught.value.fields["shut_out"][0].startswith("shuts teams out of a public campaign that is made private")


def test_a_run_that_comes_while_its_campaign_is_made_private_lets_its_team_in_or_is_refused(world: World) -> None:
    """Of two transactions that are open at the same moment the later one waits for the other."""

    def make_private(**more: bool) -> None:
        with world.organising() as (session, campaign, _):
            campaigns.change_campaign(session, CONSOLE, campaign, visibility=Visibility.PRIVATE, **more)

    def upload(text: str) -> dict[str, Any]:
        return {"upload": world.receive(text), "system": NewSystem(text[-4:])}

    with ThreadPoolExecutor(1) as beside:
        sent = upload("q1 Q0 d1 1 1 one\n")
        with world.organising() as (session, _, evaluation):
            submissions.submit(session, world.ada, evaluation, session.get_one(Team, world.team), **sent)
            changing = beside.submit(make_private)
            wait_until(lambda: changing.done() or waits(world.database), "the change waits for the run")
        changing.result()
        assert [one.team_id for one in world.all(sa.select(CampaignTeam))] == [world.team]
        late = upload("q1 Q0 d1 1 1 late\n")
        with world.organising() as (session, campaign, _):
            campaigns.change_campaign(session, CONSOLE, campaign, visibility=Visibility.PUBLIC)
            campaigns.let_team_out(session, CONSOLE, campaign, session.get_one(Team, world.team))
        with world.organising() as (session, campaign, _):
            campaigns.change_campaign(session, CONSOLE, campaign, visibility=Visibility.PRIVATE, shut_out=True)
            sending = beside.submit(world.submit, **late)
            wait_until(lambda: sending.done() or waits(world.database), "the run waits for the change")
        with pytest.raises(NotFound):
            sending.result()
    assert len(world.all(sa.select(Submission))) == 1


def test_only_organisers_change_a_campaign(world: World) -> None:
    with refused(world.database, NotAllowed, "campaign"), world.organising() as (session, campaign, _):
        campaigns.change_campaign(session, world.ada, campaign, title="Mine")
    with refused(world.database, NotAllowed, "campaign"), world.organising() as (session, campaign, _):
        campaigns.add_organiser(session, world.ada, campaign, session.get_one(User, world.ada.user_id))
    with refused(world.database, NotAllowed, "campaign"), world.organising() as (session, campaign, _):
        campaigns.create_campaign(session, world.ada, "x", "X", measures=["AP"], primary_measure="AP")
    with world.organising() as (session, campaign, _):
        campaigns.add_organiser(session, CONSOLE, campaign, session.get_one(User, world.ada.user_id))
        session.flush()
        ada = actor_of(session, world.ada.user_id)
        campaigns.change_campaign(session, ada, campaign, title="Mine")
        eve = session.get_one(User, world.eve.user_id)
        campaigns.add_organiser(session, ada, campaign, eve)
        campaigns.remove_organiser(session, ada, campaign, eve)


def test_an_admin_of_the_site_organises_what_they_make(database: Database, quick_hashes: None) -> None:
    with database.write() as session:
        admin = people.create_user(session, CONSOLE, new_account("Admin"), is_admin=True)
        actor = actor_of(session, admin.id)
        campaign = campaigns.create_campaign(session, actor, "x", "X", measures=["AP"], primary_measure="AP")
        session.flush()
        assert actor_of(session, admin.id).organises == {campaign.id}


def test_a_campaign_made_by_mistake_is_removed_with_all_that_hangs_on_it(
    database: Database, tmp_path: Path, quick_hashes: None
) -> None:
    world = build_world(database, tmp_path)
    with world.organising() as (session, campaign, _):
        other = campaigns.create_campaign(session, CONSOLE, "o", "Other", measures=["AP"], primary_measure="AP").id
        campaigns.add_organiser(session, CONSOLE, campaign, session.get_one(User, world.ada.user_id))
        campaigns.change_campaign(session, CONSOLE, campaign, beta=40)
    tables = (Evaluation, Query, JudgmentRevision, Judgment, ScoringSet, CampaignOrganiser)
    assert all(world.all(sa.select(table)) for table in tables)
    with world.organising() as (session, campaign, _):
        evaluations.remove_campaign(session, CONSOLE, campaign)
    assert [world.all(sa.select(table)) for table in tables] == [[]] * len(tables)
    assert world.all(sa.select(Campaign.id)) == [other]
    of_evaluation, event = world.all(sa.select(Event).where(Event.action == "remove").order_by(Event.id))
    assert (of_evaluation.subject, of_evaluation.subject_id) == ("evaluation", world.evaluation)
    with database.read() as session:
        assert verify(session).differences == []
    assert (event.subject, event.subject_id, event.facts) == (
        "campaign", world.campaign, {"slug": "small", "title": "A small campaign"},
    )  # fmt: skip


def test_a_campaign_that_has_submissions_is_not_removed(world: World) -> None:
    run = world.submit("not a run")
    with world.database.write() as session:
        submissions.withdraw(session, CONSOLE, session.get_one(Submission, run))
    with (
        refused(world.database, Conflict, "campaign", match="which stay on record"),
        world.organising() as (session, campaign, _),
    ):
        evaluations.remove_campaign(session, CONSOLE, campaign)


def test_only_its_organisers_remove_a_campaign(world: World) -> None:
    with refused(world.database, NotAllowed, "campaign"), world.organising() as (session, campaign, _):
        evaluations.remove_campaign(session, actor_of(session, world.ada.user_id), campaign)


def _as(session: Session, user: int) -> Actor:
    return actor_of(session, user)


def test_whom_an_admin_lets_may_found_campaigns_and_organises_them(world: World) -> None:
    ada = world.ada.user_id
    given = {"measures": ["AP"], "primary_measure": "AP"}
    with refused(world.database, NotAllowed, "campaign"), world.database.write() as session:
        campaigns.create_campaign(session, _as(session, ada), "own", "Own", **given)
    with refused(world.database, NotAllowed, "user"), world.database.write() as session:
        people.set_founder(session, _as(session, ada), session.get_one(User, ada), may_found=True)
    with world.database.write() as session:
        people.set_founder(session, CONSOLE, session.get_one(User, ada), may_found=True)
    with world.database.write() as session:
        made = campaigns.create_campaign(session, _as(session, ada), "own", "Own", **given)
        campaigns.create_campaign(session, CONSOLE, "stealth", "Stealth", visibility=Visibility.PRIVATE, **given)
    for slug in ("own", "stealth"):  # in the same words: Ada may not know of the second one
        taken = refused(world.database, InvalidFields, "campaign")
        with taken as caught, world.database.write() as session:
            campaigns.create_campaign(session, _as(session, ada), slug, "Another", **given)
        assert caught.value.fields == {"slug": [f"the address {slug!r} can't be had here; choose another"]}
    with world.database.write() as session:
        assert campaigns.create_campaign(session, _as(session, ada), "", "Stealth", **given).slug == "stealth-2"
        assert made.id in _as(session, ada).organises
        people.set_founder(session, CONSOLE, session.get_one(User, ada), may_found=False)
        assert not _as(session, ada).may_found
    with world.database.read() as session:
        assert verify(session).differences == []


def test_the_last_organiser_stays_unless_an_admin_says_otherwise(world: World) -> None:
    with world.organising() as (session, campaign, _):
        for user in (world.ada.user_id, world.eve.user_id):
            campaigns.add_organiser(session, CONSOLE, campaign, session.get_one(User, user))
    with world.organising() as (session, campaign, _):
        eve = session.get_one(User, world.eve.user_id)
        campaigns.remove_organiser(session, _as(session, world.ada.user_id), campaign, eve)
    with (
        refused(world.database, Conflict, "campaign_organiser", match="is the only organiser"),
        world.organising() as (session, campaign, _),
    ):
        ada = session.get_one(User, world.ada.user_id)
        campaigns.remove_organiser(session, _as(session, world.ada.user_id), campaign, ada)
    with world.organising() as (session, campaign, _):
        campaigns.remove_organiser(session, CONSOLE, campaign, session.get_one(User, world.ada.user_id))
    assert world.all(sa.select(CampaignOrganiser)) == []


def test_an_archived_campaign_can_be_read_and_takes_nothing(world: World) -> None:
    with world.organising() as (session, campaign, _):
        campaigns.archive_campaign(session, CONSOLE, campaign, archived=True)
    with pytest.raises(Conflict, match="is archived"):
        world.submit("not a run")
    with (
        refused(world.database, Conflict, "evaluation", match="is archived"),
        world.organising() as (session, campaign, _),
    ):
        evaluations.create_evaluation(session, CONSOLE, campaign, "2030", "The year 2030", "2030")
    with world.organising() as (session, campaign, _):
        campaigns.archive_campaign(session, CONSOLE, campaign, archived=False)
    world.submit("not a run")


@SQLITE
@pytest.mark.parametrize(
    "links",
    [
        [["Code", "javascript:alert(1)"]],
        [["Code", "//example.org"]],
        [["Code", "https://user:pw@example.org/"]],
        [["Code", "https://example.org/a b"]],
        [["", "https://example.org"]],
        [["Code", "data:text/html,x"]],
        [["Code", "https://example.org"]] * 21,
    ],
)
def test_a_link_is_an_address_of_the_web_with_a_title(database: Database, links: list[list[str]]) -> None:
    _create(database, slug="other")
    with refused(database, InvalidFields, "campaign", match="link|address"):
        _create(database, links=links)


def test_a_campaign_keeps_its_links_contact_and_guidelines(database: Database) -> None:
    made = _create(
        database, links=[(" The  code ", " https://example.org/x ")], contact=" ada@example.org ", guidelines="# Hello"
    )
    assert made.links == [["The code", "https://example.org/x"]]
    assert (made.contact, made.guidelines) == ("ada@example.org", "# Hello")
