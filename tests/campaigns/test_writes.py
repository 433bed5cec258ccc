import math
from collections.abc import Callable
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
from leaderboard.audit.writes import present, record
from leaderboard.boards.models import Board, Standing
from leaderboard.boards.reads.history import board_versions
from leaderboard.campaigns import writes as campaigns
from leaderboard.campaigns.models import Campaign, CampaignOrganiser, CampaignTeam
from leaderboard.campaigns.reads import what_goes
from leaderboard.campaigns.rules import Visibility
from leaderboard.db import Base, Database
from leaderboard.errors import Conflict, InvalidFields, NotAllowed, NotFound, PriorLocked
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.effects import effects
from leaderboard.evaluations.rules import NoRelevant
from leaderboard.formats import QueryRow
from leaderboard.judgments import writes as queries
from leaderboard.judgments.models import Judgment, JudgmentRevision, Query
from leaderboard.submissions.models import Participation, Submission
from leaderboard.submissions.rules import SetState, State
from leaderboard.submissions.writes import submissions
from leaderboard.teams import writes as teams
from leaderboard.teams.models import Pseudonym, Team
from leaderboard.teams.writes import NewSystem
from leaderboard.worker.models import Score, Scoring, ScoringSet
from tests.support.refused import refused
from tests.support.waiting import wait_until, waits
from tests.support.world import World, build_world, new_account

SQLITE = pytest.mark.parametrize("engine_name", ["sqlite"])  # refused before any statement
AP = {"measures": ["AP"], "primary_measure": "AP"}


def _create(database: Database, **values: Any) -> Campaign:
    with database.write() as session:
        return campaigns.create_campaign(session, CONSOLE, **{"slug": "c", "title": "C", **AP, **values})


def _do(world: World, what: Callable[..., Any], *rows: tuple[type[Base], int], user: int = 0, **changes: Any) -> Any:
    """what(session, actor, campaign, rows …): by the console, or as `user` may by then."""
    with world.organising() as (session, campaign, _):
        actor = actor_of(session, user) if user else CONSOLE
        return what(session, actor, campaign, *(session.get_one(*row) for row in rows), **changes)


def _change(world: World, **changes: Any) -> None:
    _do(world, campaigns.change_campaign, **changes)


def _account(actor: Actor) -> tuple[type[User], int]:
    assert actor.user_id is not None
    return User, actor.user_id


@SQLITE
@pytest.mark.parametrize(
    ("values", "fields"),
    [
        ({"slug": "Not a slug"}, {"slug"}),
        ({"slug": "import"}, {"slug"}),
        ({"title": " "}, {"title"}),
        ({"measures": ["AQWV"], "primary_measure": "AQWV"}, {"beta"}),
        ({"measures": ["nDCG@10x"]}, {"measures"}),
        ({"measures": [], "primary_measure": ""}, {"measures"}),
        ({"cost": -0.1, "value": 1, "prior": 1}, {"cost", "prior"}),
        ({"cost": 0.1, "value": math.inf, "prior": 0.1}, {"value"}),
        ({"beta": math.nan, "compat": 8}, {"beta", "compat"}),
    ],
)
def test_what_is_wrong_is_said_by_its_field(database: Database, values: dict[str, object], fields: set[str]) -> None:
    with pytest.raises(InvalidFields) as caught:
        _create(database, **values)
    assert set(caught.value.fields) == fields


def test_settings_are_kept_as_they_are_meant(database: Database) -> None:
    """Measures by their canonical names with the primary one, β as it follows, texts without blanks around them."""
    made = _create(
        database, measures=["map", "P_10,recip_rank"], primary_measure="ndcg_cut_10", cost=0.1, value=1, prior=1 / 600,
        links=[(" The  code ", " https://example.org/x ")], contact=" ada@example.org ", guidelines="# Hello",
    )  # fmt: skip
    assert (made.measures, made.primary_measure) == (["nDCG@10", "AP", "P@10", "RR"], "nDCG@10")
    assert made.beta == pytest.approx(59.9)
    assert made.links == [["The code", "https://example.org/x"]]
    assert (made.contact, made.guidelines) == ("ada@example.org", "# Hello")


def test_the_prior_can_change_until_the_first_result_and_never_after(world: World) -> None:
    _change(world, beta=40, no_relevant=NoRelevant.PFA_ONLY)
    sets = world.all(sa.select(ScoringSet).order_by(ScoringSet.id))
    made = [(made.settings.beta, made.state) for made in sets]
    assert made == [(20.0, SetState.SUPERSEDED), (40.0, SetState.CURRENT)]  # which the board reads at once
    world.submit()
    world.drain()
    for change in ({"beta": 20}, {"no_relevant": NoRelevant.EXCLUDE}, {"cost": 0.1, "value": 1.0, "prior": 1 / 600}):
        with refused(world.database, PriorLocked, "campaign"):
            _change(world, **change)
    _change(world, title="Another title", beta=40)
    (campaign,) = world.all(sa.select(Campaign))
    assert (campaign.beta, campaign.no_relevant, campaign.title) == (40, NoRelevant.PFA_ONLY, "Another title")


def _lock(world: World) -> tuple[float | None, bool]:
    (campaign,) = world.all(sa.select(Campaign))
    return campaign.beta, campaign.locked_at is not None


def test_a_test_run_of_a_draft_locks_nothing_and_a_change_of_beta_leaves_no_figure_of_the_one_before(
    world: World,
) -> None:
    _change(world, visibility=Visibility.DRAFT)
    run = world.submit(actor=CONSOLE)
    world.drain()
    assert (world.scoring(run).beta, *_lock(world)) == (20, 20, False)
    _change(world, beta=40)
    assert [(scoring.state, scoring.beta) for scoring in world.all(sa.select(Scoring))] == [(State.QUEUED, None)]
    world.drain()
    assert (world.scoring(run).beta, *_lock(world)) == (40, 40, False)
    _change(world, beta=20)  # by the set of before, whose figures are made anew
    world.drain()
    with world.database.read() as session:
        page = board_versions(session, CONSOLE, "small", "2026", present())
        assert [version.current for version in page.sets] == [True]
        assert verify(session).differences == []
    assert {scoring.beta for scoring in world.all(sa.select(Scoring))} == {20}
    _change(world, visibility=Visibility.PUBLIC)  # what is on the board now stays so
    with refused(world.database, PriorLocked, "campaign"):
        _change(world, beta=40)


def test_a_published_campaign_without_a_scored_run_is_locked_by_its_first(world: World) -> None:
    _change(world, visibility=Visibility.DRAFT)
    _change(world, visibility=Visibility.PUBLIC)
    assert _lock(world) == (20, False)
    world.submit()
    assert _lock(world) == (20, False)
    world.drain()
    assert _lock(world) == (20, True)


def _asked(world: World, draft: bool | None = None, **changes: Any) -> list[str]:
    """What a change of the campaign, and of whether its evaluation is a draft, does at once. It is not made."""
    with world.organising() as (session, campaign, evaluation), world.database.read() as committed:
        if changes:
            campaigns.change_campaign(session, CONSOLE, campaign, **changes)
        if draft is not None:
            evaluations.change_evaluation(session, CONSOLE, evaluation, draft=draft)
        lines = effects(session, committed, CONSOLE, Evaluation.campaign_id == campaign.id, present())
        session.rollback()
    return list(lines)


def test_what_publishing_fixes_is_asked_for_and_names_beta(world: World) -> None:
    _change(world, visibility=Visibility.DRAFT)

    def asked() -> list[str]:
        return [line for line in _asked(world, visibility=Visibility.PUBLIC) if "β" in line]

    assert asked() == [
        "β = 20 of A small campaign is fixed for good with the first scored run of a published evaluation."
    ]
    world.submit(actor=CONSOLE)
    world.drain()
    assert asked() == ["β = 20 of A small campaign is fixed for good from now on: it has scored runs."]
    _change(world, visibility=Visibility.PUBLIC)
    _change(world, visibility=Visibility.DRAFT)
    assert asked() == []


def test_a_test_run_of_a_draft_evaluation_locks_nothing_in_a_public_campaign(world: World) -> None:
    world.change_evaluation(draft=True)
    run = world.submit(actor=CONSOLE)
    world.drain()
    assert (world.scoring(run).beta, *_lock(world)) == (20, 20, False)
    asked = _asked(world, beta=40)
    assert asked == ["1 test run is scored again; present figures are deleted."]
    _change(world, beta=40)
    assert [(scoring.state, scoring.beta) for scoring in world.all(sa.select(Scoring))] == [(State.QUEUED, None)]
    world.drain()
    assert (world.scoring(run).beta, *_lock(world)) == (40, 40, False)
    _do(world, campaigns.archive_campaign, archived=True)
    _do(world, campaigns.archive_campaign, archived=False)  # neither publishes anything
    assert _lock(world) == (40, False)
    world.change_evaluation(draft=False)
    assert _lock(world) == (40, True)
    with refused(world.database, PriorLocked, "campaign"):
        _change(world, beta=20)
    with world.database.read() as session:
        assert verify(session).differences == []


def test_an_evaluation_without_a_scored_run_locks_with_its_first_once_published(world: World) -> None:
    world.change_evaluation(draft=True)
    first = world.submit(actor=CONSOLE)
    world.change_evaluation(draft=False)
    assert _lock(world) == (20, False)
    world.drain()
    assert (world.scoring(first).beta, *_lock(world)) == (20, 20, True)


def test_a_draft_that_is_published_with_its_campaign_at_once_locks(world: World) -> None:
    _change(world, visibility=Visibility.DRAFT)
    world.change_evaluation(draft=True)
    world.submit(actor=CONSOLE)
    world.drain()
    _change(world, visibility=Visibility.PUBLIC)  # as yet nobody sees the figures
    assert _lock(world) == (20, False)
    _change(world, visibility=Visibility.DRAFT)
    with world.organising() as (session, campaign, evaluation):
        campaigns.change_campaign(session, CONSOLE, campaign, visibility=Visibility.PUBLIC)
        evaluations.change_evaluation(session, CONSOLE, evaluation, draft=False)
    assert _lock(world) == (20, True)


def test_of_a_change_of_beta_only_drafts_are_scored_again(world: World) -> None:
    waiting = world.submit(actor=CONSOLE)  # of a published evaluation, and not scored yet
    with world.organising() as (session, campaign, _):
        evaluations.create_evaluation(session, CONSOLE, campaign, "2027", "2027", "2027", draft=True)
    _change(world, beta=40)
    assert not world.all(sa.select(Event).where(Event.action == "score anew"))
    assert _lock(world) == (40, False)
    world.drain()
    assert (world.scoring(waiting).beta, *_lock(world)) == (40, 40, True)


def test_what_publishing_an_evaluation_fixes_is_asked_for_and_names_beta(world: World) -> None:
    fixed = "β = 20 of A small campaign is fixed for good {}."
    with_first = fixed.format("with the first scored run of a published evaluation")

    def asked(**changes: Any) -> list[str]:
        return [line for line in _asked(world, draft=False, **changes) if "β" in line]

    world.change_evaluation(draft=True)
    assert asked() == [with_first]
    _change(world, visibility=Visibility.DRAFT)
    assert asked() == []  # nobody sees it yet
    assert asked(visibility=Visibility.PUBLIC) == [with_first]
    _change(world, visibility=Visibility.PUBLIC)
    world.submit(actor=CONSOLE)
    world.drain()
    assert asked() == [fixed.format("from now on: it has scored runs")]
    world.change_evaluation(draft=False)
    world.change_evaluation(draft=True)
    assert asked() == []


def test_a_draft_goes_with_its_test_runs_and_not_with_runs_of_others(world: World) -> None:
    _change(world, visibility=Visibility.DRAFT)
    for _ in range(2):
        world.submit(actor=CONSOLE)
    world.drain()
    with world.organising() as (session, campaign, evaluation):
        goes = [what_goes(session, row) for row in (campaign, evaluation)]
    assert goes == ["1 evaluation, 3 queries, 4 judgments and 2 test runs", "3 queries, 4 judgments and 2 test runs"]
    with world.database.write() as session:  # as if it had come while the campaign was public
        run = session.scalars(sa.select(Submission).order_by(Submission.id)).first()
        assert run is not None
        run.submitter_id = world.ada.user_id
        record(session, CONSOLE, "describe", run)
    for refusing in (evaluations.remove_campaign, _remove_its_evaluation):
        with refused(world.database, Conflict, "submission"):
            _do(world, refusing)
    _do(world, campaigns.add_organiser, _account(world.ada))
    _do(world, evaluations.remove_campaign)
    tables = (Campaign, Evaluation, Submission, Scoring, Score, ScoringSet, Participation, Standing, Board, Pseudonym)
    assert [world.all(sa.select(table)) for table in tables] == [[]] * len(tables)
    with world.database.read() as session:
        assert verify(session).differences == []


def test_a_draft_evaluation_of_a_public_campaign_goes_with_its_test_runs_and_a_published_one_stays(
    world: World,
) -> None:
    world.submit(actor=CONSOLE)  # not scored yet, and on record: it was published
    for refusing in (evaluations.remove_campaign, _remove_its_evaluation):
        with refused(world.database, Conflict, "submission"):
            _do(world, refusing)
    world.change_evaluation(draft=True)
    world.drain()
    _do(world, _remove_its_evaluation)
    assert (world.all(sa.select(Submission)), len(world.all(sa.select(Campaign)))) == ([], 1)


def test_a_locked_draft_stays_with_its_runs(world: World) -> None:
    world.submit()
    world.drain()
    _change(world, visibility=Visibility.DRAFT)
    _do(world, campaigns.add_organiser, _account(world.ada))
    for refusing in (evaluations.remove_campaign, _remove_its_evaluation):
        with refused(world.database, Conflict, "submission"):
            _do(world, refusing)


def _remove_its_evaluation(session: Session, actor: Actor, campaign: Campaign) -> None:
    own = sa.select(Evaluation).where(Evaluation.campaign_id == campaign.id)
    evaluations.remove_evaluation(session, actor, session.scalars(own).one())


def test_of_a_draft_an_evaluation_goes_with_its_test_runs(world: World) -> None:
    _change(world, visibility=Visibility.DRAFT)
    run = world.submit(actor=CONSOLE)
    world.drain()
    _do(world, _remove_its_evaluation)
    assert (world.all(sa.select(Submission)), len(world.all(sa.select(Campaign)))) == ([], 1)
    with world.database.read() as session:
        assert verify(session).differences == []
    with world.database.write() as session:
        campaign = session.get_one(Campaign, world.campaign)
        later = evaluations.create_evaluation(session, CONSOLE, campaign, "2027", "2027", "2027")
        queries.import_queries(session, CONSOLE, later, [QueryRow("q1", "", ())])
    # An old link to the removed run leads to no other one.
    assert world.submit(actor=CONSOLE, evaluation=later.id, system=NewSystem("Later")) > run


def test_a_public_campaign_that_is_made_private_lets_the_teams_with_runs_in(world: World) -> None:
    world.submit("q1 Q0 d1 1 1 a\n")
    with world.database.write() as session:
        teams.create_team(session, world.eve, "Without runs")
    for visibility in (Visibility.DRAFT, Visibility.PRIVATE):  # nobody but organisers knew of the draft
        _change(world, visibility=visibility)
    assert world.all(sa.select(CampaignTeam)) == []
    for visibility in (Visibility.PUBLIC, Visibility.PRIVATE):
        _change(world, visibility=visibility)
    assert [row.team_id for row in world.all(sa.select(CampaignTeam))] == [world.team]


def test_a_run_that_comes_while_its_campaign_is_made_private_lets_its_team_in_a_draft_refuses_it(
    world: World,
) -> None:
    """Of two transactions that are open at the same moment the later one waits for the other."""

    def upload(text: str) -> dict[str, Any]:
        return {"upload": world.receive(text), "system": NewSystem(text[-4:])}

    with ThreadPoolExecutor(1) as other:
        sent = upload("q1 Q0 d1 1 1 one\n")
        with world.organising() as (session, _, evaluation):
            submissions.submit(session, world.ada, evaluation.id, world.team, **sent)
            changing = other.submit(_change, world, visibility=Visibility.PRIVATE)
            wait_until(lambda: changing.done() or waits(world.database), "the change waits for the run")
        changing.result()
        assert [row.team_id for row in world.all(sa.select(CampaignTeam))] == [world.team]
        late = upload("q1 Q0 d1 1 1 late\n")
        _change(world, visibility=Visibility.PUBLIC)
        _do(world, campaigns.let_team_out, (Team, world.team))
        with world.organising() as (session, campaign, _):
            campaigns.change_campaign(session, CONSOLE, campaign, visibility=Visibility.DRAFT)
            sending = other.submit(world.submit, **late)
            wait_until(lambda: sending.done() or waits(world.database), "the run waits for the change")
        with pytest.raises(NotFound):
            sending.result()
    assert len(world.all(sa.select(Submission))) == 1


def test_only_organisers_change_a_campaign(world: World) -> None:
    ada, eve = _account(world.ada), _account(world.eve)
    whole: tuple[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]], ...] = (
        (campaigns.change_campaign, (), {"title": "Mine"}),
        (campaigns.archive_campaign, (), {"archived": True}),
        (campaigns.add_organiser, (eve,), {}),
        (campaigns.remove_organiser, (eve,), {}),
        (campaigns.let_team_in, ((Team, world.team),), {}),
        (campaigns.let_team_out, ((Team, world.team),), {}),
        (evaluations.remove_campaign, (), {}),
    )
    for what, rows, changes in whole:
        with refused(world.database, NotAllowed, "campaign"):
            _do(world, what, *rows, user=ada[1], **changes)
    _do(world, campaigns.add_organiser, ada)
    for what, rows, changes in whole:
        _do(world, what, *rows, user=ada[1], **changes)
    assert world.all(sa.select(Campaign)) == []


def test_an_admin_of_the_site_organises_what_they_make(database: Database, quick_hashes: None) -> None:
    with database.write() as session:
        admin = people.create_user(session, CONSOLE, new_account("Admin"), is_admin=True)
        campaign = campaigns.create_campaign(session, actor_of(session, admin.id), "x", "X", **AP)
        session.flush()
        assert actor_of(session, admin.id).organises == {campaign.id}


def test_a_campaign_made_by_mistake_is_removed_with_all_that_hangs_on_it(
    database: Database, tmp_path: Path, quick_hashes: None
) -> None:
    world = build_world(database, tmp_path)
    other = _create(database).id
    _do(world, campaigns.add_organiser, _account(world.ada))
    _change(world, beta=40)
    tables = (Evaluation, Query, JudgmentRevision, Judgment, ScoringSet, CampaignOrganiser)
    assert all(world.all(sa.select(table)) for table in tables)
    with world.organising() as (session, campaign, evaluation):
        goes = [what_goes(session, row) for row in (campaign, evaluation)]
    assert goes == ["1 evaluation, 3 queries and 4 judgments", "3 queries and 4 judgments"]
    _do(world, evaluations.remove_campaign)
    assert [world.all(sa.select(table)) for table in tables] == [[]] * len(tables)
    assert world.all(sa.select(Campaign.id)) == [other]
    of_evaluation, event = world.all(sa.select(Event).where(Event.action == "remove").order_by(Event.id))
    assert (of_evaluation.subject, of_evaluation.subject_id) == ("evaluation", world.evaluation)
    assert (event.subject, event.subject_id) == ("campaign", world.campaign)
    assert event.facts == {"slug": "small", "title": "A small campaign"}
    with database.read() as session:
        assert verify(session).differences == []


def test_whom_an_admin_lets_may_found_campaigns_and_organises_them(world: World) -> None:
    _, ada = _account(world.ada)

    def found(slug: str, title: str) -> int:
        with world.database.write() as session:
            return campaigns.create_campaign(session, actor_of(session, ada), slug, title, **AP).id

    def let(actor: Actor, *, may_found: bool) -> None:
        with world.database.write() as session:
            people.set_founder(session, actor, session.get_one(User, ada), may_found=may_found)

    with refused(world.database, NotAllowed, "campaign"):
        found("own", "Own")
    with refused(world.database, NotAllowed, "user"):
        let(world.ada, may_found=True)
    let(CONSOLE, may_found=True)
    made = found("own", "Own")
    _create(world.database, slug="stealth", title="Stealth", visibility=Visibility.PRIVATE)
    for slug in ("own", "stealth"):  # in the same words: Ada may not know of the second one
        with refused(world.database, InvalidFields, "campaign") as caught:
            found(slug, "Another")
        assert str(caught.value) == f"slug: the address {slug!r} can't be had here; choose another"
    found("", "Stealth")
    assert "stealth-2" in world.all(sa.select(Campaign.slug))
    with world.database.read() as session:
        assert made in actor_of(session, ada).organises
        assert verify(session).differences == []
    let(CONSOLE, may_found=False)
    with refused(world.database, NotAllowed, "campaign"):
        found("third", "Third")


def test_the_last_organiser_stays_unless_an_admin_says_otherwise(world: World) -> None:
    ada, eve = _account(world.ada), _account(world.eve)
    for user in (ada, eve):
        _do(world, campaigns.add_organiser, user)
    _do(world, campaigns.remove_organiser, eve, user=ada[1])
    with refused(world.database, Conflict, "campaign_organiser", match="is the only organiser"):
        _do(world, campaigns.remove_organiser, ada, user=ada[1])
    _do(world, campaigns.remove_organiser, ada)
    assert world.all(sa.select(CampaignOrganiser)) == []


def test_an_archived_campaign_can_be_read_and_takes_nothing(world: World) -> None:
    _do(world, campaigns.archive_campaign, archived=True)
    with pytest.raises(Conflict, match="is archived"):
        world.submit("not a run")
    new = {"slug": "2030", "title": "The year 2030", "period": "2030", "documents": 9}
    with refused(world.database, Conflict, "evaluation", match="is archived"):
        _do(world, evaluations.create_evaluation, **new)
    _do(world, campaigns.archive_campaign, archived=False)
    world.submit("not a run")
    _do(world, evaluations.create_evaluation, **new)


@SQLITE
@pytest.mark.parametrize(
    "links",
    [
        [["Code", "javascript:alert(1)"]],
        [["Code", "https://user:pw@example.org/"]],
        [["", "https://example.org"]],
        [["Code", "https://example.org"]] * 21,
    ],
)
def test_a_link_is_an_address_of_the_web_with_a_title(database: Database, links: list[list[str]]) -> None:
    _create(database, slug="other")
    with refused(database, InvalidFields, "campaign", match="link|address"):
        _create(database, links=links)
