"""Who sees what, and who may do what: the one place that answers, for pages, API, exports and commands alike."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from enum import Enum, auto
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import db, errors
from leaderboard.accounts.models import User
from leaderboard.accounts.rules import Scope
from leaderboard.boards.rules import Rounding
from leaderboard.campaigns.models import Campaign, CampaignOrganiser, CampaignTeam
from leaderboard.campaigns.rules import Visibility, is_known
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import Opening, ScoringSettings, Subset, is_public, refusal, teams_may_change
from leaderboard.frozen import frozen
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import SetState
from leaderboard.teams.models import Invitation, JoinRequest, Membership, Team
from leaderboard.teams.rules import Role
from leaderboard.worker.models import ScoringSet


@frozen
class Actor:
    """Somebody who asks. `user_id` is None for a visitor and for the command line; the latter is `all_powerful`.

    may_found  whether an admin let the account make campaigns
    let_into  the private campaigns that organisers let a team of theirs into
    """

    user_id: int | None = None
    name: str = ""
    all_powerful: bool = False
    teams: frozenset[int] = frozenset()
    organises: frozenset[int] = frozenset()
    let_into: frozenset[int] = frozenset()
    may_found: bool = False

    def may_organise(self, campaign_id: int) -> bool:
        return self.all_powerful or campaign_id in self.organises

    def is_in(self, team_id: int) -> bool:
        return team_id in self.teams

    def answers_for(self, team_id: int, campaign_id: int) -> bool:
        """Whether a team's runs in the campaign are theirs to submit, follow and withdraw: members and organisers."""
        return self.is_in(team_id) or self.may_organise(campaign_id)


VISITOR = Actor()
CONSOLE = Actor(name="command line", all_powerful=True)


class Content(Enum):
    """Kinds of things that an evaluation shows or holds back."""

    RESULTS = auto()  # means and ranks
    DETAILS = auto()  # whatever shows single queries or documents: it reveals the judgments
    JUDGMENTS = auto()  # the judgments themselves
    NAMES = auto()  # which team and system a run is of
    TEXTS = auto()  # what the queries ask for: their texts and tags


def actor_of(session: Session, user_id: int | None) -> Actor:
    """The actor behind a signed-in account, in one statement; a visitor when there is none or it was closed."""
    if user_id is None:
        return VISITOR
    row = session.execute(OF_ACCOUNT, {"account": user_id}).one_or_none()
    return VISITOR if row is None else actor_in(row)


def actor_columns() -> tuple[sa.ColumnElement[Any], ...]:
    """What `actor_in` makes an actor of, as columns of a statement on User: of an account that is not closed."""
    own = Membership.user_id == User.id
    organised = sa.select(_listed(CampaignOrganiser.campaign_id)).where(CampaignOrganiser.user_id == User.id)
    let_into = sa.select(_listed(CampaignTeam.campaign_id)).join(Membership, Membership.team_id == CampaignTeam.team_id)
    return (
        User.id.expression,
        User.name.expression,
        User.is_admin.expression,
        User.may_found.expression,
        sa.select(_listed(Membership.team_id)).where(own).scalar_subquery(),
        organised.scalar_subquery(),
        let_into.where(own).scalar_subquery(),
    )


def actor_in(row: Sequence[Any]) -> Actor:
    """The actor that a row of `actor_columns` says."""
    user_id, name, is_admin, may_found, *lists = row
    teams, organises, let_into = (frozenset(map(int, ids.split(","))) if ids else frozenset() for ids in lists)
    return Actor(user_id, name, is_admin, teams, organises, let_into, may_found)


def _listed(numbers: Any) -> sa.ColumnElement[str]:
    """All of a statement's numbers in one text, so that they fit into a column of a row about something else."""
    return sa.func.aggregate_strings(sa.cast(numbers, sa.Text), ",")


# Built once: each request of a program with a token asks for it.
OF_ACCOUNT = sa.select(*actor_columns()).where(User.id == sa.bindparam("account"), User.is_active.is_(True))


def knows_campaign(actor: Actor, campaign: Campaign) -> bool:
    """Whether there is such a campaign for `actor`. For whom there is none, nothing may tell of it: it is absent."""
    return actor.may_organise(campaign.id) or is_known(campaign.visibility, let_in=campaign.id in actor.let_into)


def knows(actor: Actor, evaluation: Evaluation) -> bool:
    """Whether there is such an evaluation for `actor`; for everybody else it is absent, as its campaign may be."""
    if actor.may_organise(evaluation.campaign_id):
        return True
    return not evaluation.draft and knows_campaign(actor, evaluation.campaign)


def known_campaigns(actor: Actor) -> sa.ColumnElement[bool]:
    """`knows_campaign` as a condition on Campaign."""
    if actor.all_powerful:
        return sa.true()
    return sa.or_(
        Campaign.visibility == Visibility.PUBLIC,
        Campaign.id.in_(actor.organises),
        sa.and_(Campaign.visibility == Visibility.PRIVATE, Campaign.id.in_(actor.let_into)),
    )


def known_evaluations(actor: Actor) -> sa.ColumnElement[bool]:
    """`knows` as a condition on Evaluation, in statements where its Campaign is joined."""
    if actor.all_powerful:
        return sa.true()
    return sa.and_(
        known_campaigns(actor), sa.or_(Evaluation.draft.is_(False), Evaluation.campaign_id.in_(actor.organises))
    )


# A condition on Evaluation: it is no draft, nor is its campaign. A result of such a one fixes the campaign's prior.
IS_PUBLISHED = sa.and_(Evaluation.draft.is_(False), Evaluation.campaign.has(Campaign.visibility != Visibility.DRAFT))


def require_known(actor: Actor, evaluation: Evaluation) -> None:
    """Raises NotFound where there is no such evaluation for `actor`."""
    if not knows(actor, evaluation):
        raise errors.NotFound


def knows_team(session: Session, actor: Actor, team: Team, on_boards: Iterable[Evaluation], now: datetime) -> bool:
    """Whether there is such a team for `actor`; for everybody else it is absent, like one that never was.

    It is there for its members and admins; for accounts, where an owner lets others find it, or a request of theirs
    waits; for whoever organises a campaign that it sent a run to or that let it in; and for all who see a run of it
    under its name.

    on_boards  the evaluations that show a run of it
    """
    shown = Content.RESULTS, Content.NAMES
    if actor.all_powerful or actor.is_in(team.id):
        return True
    if any(all(may_see(actor, board, content, now) for content in shown) for board in on_boards):
        return True
    if actor.user_id is None:
        return False
    own = JoinRequest.team_id == team.id, JoinRequest.user_id == actor.user_id
    if team.is_listed or db.exists(session, *own, JoinRequest.waits()):
        return True
    if not actor.organises:
        return False
    let_in = session.scalars(sa.select(CampaignTeam.campaign_id).where(CampaignTeam.team_id == team.id))
    return bool(actor.organises & _campaigns_entered(session, team_id=team.id).union(let_in))


def submission_refusal(evaluation: Evaluation, begun_at: datetime, received_at: datetime) -> str | None:
    """Why nobody's run of a request begun then, whose last byte came then, is taken, in words; None when it is."""
    if evaluation.campaign.archived_at is not None:
        return f"{evaluation.campaign.title} is archived: it can be read, and takes no runs any more."
    return refusal(evaluation, begun_at, received_at)


def actor_through(session: Session, user_id: int, scopes: Collection[Scope]) -> Actor:
    """The actor behind an API token: its account, as no more than a participant unless the token may organise."""
    actor = actor_of(session, user_id)
    if Scope.ORGANISE in scopes:
        return actor
    return replace(actor, all_powerful=False, organises=frozenset(), may_found=False)


def may_see(actor: Actor, evaluation: Evaluation, content: Content, now: datetime, team_id: int | None = None) -> bool:
    """Whether `actor` may see this of the evaluation, or of `team_id`'s own runs in it."""
    if actor.may_organise(evaluation.campaign_id):
        return True
    if not knows(actor, evaluation):
        return False
    own = team_id is not None and actor.is_in(team_id)
    match content:
        case Content.RESULTS:
            return is_public(evaluation.results, evaluation, now) or (own and evaluation.own_results)
        case Content.DETAILS:
            # The team's own runs are no exception: its per-query values would give the judgments away. And whoever may
            # not see a run's means may not see them query by query.
            means = may_see(actor, evaluation, Content.RESULTS, now, team_id)
            return means and is_public(evaluation.details, evaluation, now)
        case Content.JUDGMENTS:
            # Never before closing, whatever is set: a file of judgments is every answer at once.
            return evaluation.judgments_published and is_public(Opening.CLOSED, evaluation, now)
        case Content.NAMES:
            return own or evaluation.anonymous_until is None or evaluation.anonymous_until <= now
        case Content.TEXTS:
            return is_public(evaluation.texts, evaluation, now)


def open_to_all(evaluation: Evaluation, now: datetime) -> frozenset[str]:
    """What everybody who knows of the evaluation may see of it, by the names of `Content` in small letters, and
    `hidden_queries`; nothing of what is a draft.
    """
    reader = Actor(let_into=frozenset({evaluation.campaign_id}))
    if not knows(reader, evaluation):
        return frozenset()
    contents = {content.name.lower() for content in Content if may_see(reader, evaluation, content, now)}
    return frozenset(contents | {"hidden_queries"} if subset_seen(reader, evaluation, now) is Subset.ALL else contents)


def effective_time(actor: Actor, evaluation: Evaluation, scoring_set: ScoringSet, now: datetime) -> datetime | None:
    """The moment by whose rules `actor` sees the figures of a set, any of the evaluation's; None: not at all.

    The current one is seen by the rules of now, as boards show it. So are all that ever stood by whoever may see single
    queries, those of other sources of judgments too. Whoever may not is told of an old set what boards told of it the
    moment before it was replaced, and of other sources nothing: figures by two revisions, or by two sources, would
    answer what one's figures don't (docs/disclosure.md).
    """
    if actor.may_organise(evaluation.campaign_id) or scoring_set.state is SetState.CURRENT:
        return now
    was_shown = scoring_set.switched_at is not None and scoring_set.state is not SetState.BUILDING
    if was_shown and may_see(actor, evaluation, Content.DETAILS, now):
        return now
    return scoring_set.shown_until


def subset_seen(actor: Actor, evaluation: Evaluation, now: datetime) -> Subset:
    """Which queries `actor` knows of and sees means over: hidden ones are the organisers' until they open."""
    if actor.may_organise(evaluation.campaign_id) or is_public(evaluation.hidden_queries, evaluation, now):
        return Subset.ALL
    return Subset.SHOWN


def rounding_seen(
    actor: Actor, evaluation: Evaluation, settings: ScoringSettings, now: datetime, team_id: int | None = None
) -> Rounding | None:
    """How `actor` sees the figures of the evaluation, or of `team_id`'s own runs in it; None: with all their digits.

    settings  of the scoring set that the figures are of
    """
    if may_see(actor, evaluation, Content.DETAILS, now, team_id):
        return None
    return Rounding(settings.size(subset_seen(actor, evaluation, now)))


def may_change_standing(actor: Actor, evaluation: Evaluation, now: datetime) -> bool:
    """Whether what `actor` does to a run may change which run of its system stands: a team's until closing only."""
    return actor.may_organise(evaluation.campaign_id) or teams_may_change(evaluation, now)


def organises_all_entered(session: Session, actor: Actor, **which: int) -> bool:
    """Whether `actor` may rename a team (team_id) or make it one with another, or change the kind of a system
    (system_id): that is on the boards of all campaigns that it has runs in.

    Admins may, and whoever organises every one of them; what is in none is an admin's only. Whoever lets a team in
    asks nobody, so that gives no say, and takes none from others.
    """
    if actor.all_powerful or not actor.organises:
        return actor.all_powerful
    campaigns = _campaigns_entered(session, **which)
    return bool(campaigns) and actor.organises.issuperset(campaigns)


def merging_refusal(session: Session, actor: Actor, *teams: Team) -> str:
    """Why `actor` may not make these teams one, in words; "" where they may."""
    names = [team.name for team in teams if not organises_all_entered(session, actor, team_id=team.id)]
    who = "by admins and by whoever organises every campaign that it took part in"
    return f"{names[0]} is merged {who}." if names else ""


def may_bring_in(session: Session, actor: Actor, team_id: int) -> bool:
    """Whether `actor`, who organises a campaign, may bring runs of the past in under a team's name.

    Admins and the command line may for every team. Organisers may for teams that they are in, for those that took part
    in a campaign of theirs, and for those that came in with runs of the past: nobody is in them, and they took part
    nowhere yet. Under a stranger's name nobody publishes figures.
    """
    if actor.all_powerful or actor.is_in(team_id):
        return True
    entered = _campaigns_entered(session, team_id=team_id)
    if entered:
        return bool(entered & actor.organises)
    return not db.exists(session, Membership.team_id == team_id)


def entered(*which: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    """A condition on Evaluation: it has submissions of these conditions, of which one is read then, not all."""
    return sa.exists().where(Submission.evaluation_id == Evaluation.id, *which)


def _campaigns_entered(session: Session, **which: int) -> set[int]:
    """The campaigns that submissions were made to. which: their team's or their system's number."""
    own = (getattr(Submission, name) == number for name, number in which.items())
    return set(session.scalars(sa.select(Evaluation.campaign_id).where(entered(*own)).distinct()))


def maker_may_invite() -> sa.ColumnElement[bool]:
    """A condition on Invitation: made on the command line, or by somebody who may invite to its team still."""
    maker, own = sa.orm.aliased(User), sa.orm.aliased(Membership)
    owns = (
        sa.exists()
        .where(own.team_id == Invitation.team_id, own.user_id == Invitation.created_by_id, own.role == Role.OWNER)
        .correlate(Invitation)  # by itself it would ask for any invitation, being two levels down
    )
    may = sa.exists().where(
        maker.id == Invitation.created_by_id, maker.is_active.is_(True), sa.or_(maker.is_admin.is_(True), owns)
    )
    return sa.or_(Invitation.created_by_id.is_(None), may)


def require(allowed: bool, message: str) -> None:
    """Raises NotAllowed with `message` unless allowed."""
    if not allowed:
        raise errors.NotAllowed(message)


def require_organiser(actor: Actor, campaign_id: int) -> None:
    """Raises NotAllowed for whoever does not organise the campaign."""
    require(actor.may_organise(campaign_id), "Only organisers of the campaign may do this.")


Organised = TypeVar("Organised", Campaign, Evaluation)


def locked_to_organise(session: Session, actor: Actor, row: Organised) -> Organised:
    """A campaign or an evaluation, locked for a change. Raises NotAllowed for whoever does not organise it."""
    require_organiser(actor, row.id if isinstance(row, Campaign) else row.campaign_id)
    return db.locked(session, type(row), row.id)
