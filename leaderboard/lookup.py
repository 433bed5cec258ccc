"""What pages and services both look up: rows by the names of addresses, scored runs, what quotas leave, events."""

import datetime as dt
import json
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NoReturn, TypeVarTuple

import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute, Session

from leaderboard.access import CONSOLE, Actor, known_campaigns, known_evaluations, knows_team
from leaderboard.db import read_so_far
from leaderboard.errors import NotFound
from leaderboard.formats import FileRules
from leaderboard.models import (
    Agreement,
    Arrival,
    Campaign,
    CampaignOrganiser,
    CollectionList,
    Evaluation,
    Event,
    FormerAddress,
    JudgmentRevision,
    Membership,
    Participation,
    PersonalUse,
    Query,
    Scoring,
    ScoringSet,
    Standing,
    Submission,
    System,
    Team,
)
from leaderboard.rules.digests import event_hash
from leaderboard.rules.form_fields import FormField, fields_from_json
from leaderboard.rules.quotas import Quota, day_of, quota_of, start_of
from leaderboard.rules.roles import Role
from leaderboard.rules.settings import Split, Subset
from leaderboard.rules.standings import ScoredRun, SystemKind
from leaderboard.rules.states import STANDING, SetState, State

__all__ = [
    "IS_CURRENT",
    "IS_STANDING",
    "StoredEvent",
    "collection_list",
    "current_set",
    "current_sets",
    "file_rules",
    "find_campaign",
    "find_evaluation",
    "find_evaluation_and_set",
    "find_known_team",
    "find_own_team",
    "find_query",
    "find_set",
    "find_system",
    "find_team",
    "form_fields",
    "has_its_place",
    "known_system",
    "known_team",
    "lost_in",
    "merged_system",
    "merged_team",
    "missing",
    "namesakes",
    "newest_revision",
    "note_current_set",
    "of_subset",
    "on_boards",
    "only_organiser_of",
    "only_owner_of",
    "personal_quota",
    "removal_refusal",
    "scored_runs",
    "select_scored_runs",
    "standing_agreements",
    "standing_set",
    "stored_events",
    "team_quotas",
    "with_current_scoring",
]

Columns = TypeVarTuple("Columns")

IS_CURRENT = ScoringSet.state == SetState.CURRENT
# How Standing is joined to its scoring and its set, by which a database finds its rows at once.
IS_STANDING = sa.and_(Standing.scoring_id == Scoring.id, Standing.scoring_set_id == ScoringSet.id)

SHOWN = 10  # names that a message lists
CURRENT_SETS = "current sets"  # evaluation id -> its current set or None, as far as a session of reads knows it


def find_campaign(session: Session, actor: Actor, slug: str) -> Campaign:
    """Raises NotFound, also where `actor` may not know of it."""
    known = known_campaigns(actor)
    campaign = session.scalar(sa.select(Campaign).where(Campaign.slug == slug, known))
    return campaign or missing(session, "campaign", slug, Campaign.slug, known)


def find_evaluation(session: Session, actor: Actor, campaign_slug: str, slug: str) -> Evaluation:
    """The evaluation with its campaign, in one statement. Raises NotFound, also where `actor` may not know of it."""
    evaluation: Evaluation | None = session.scalar(_of_address(sa.select(Evaluation), actor, campaign_slug, slug))
    return evaluation or _no_evaluation(session, actor, campaign_slug, slug)


def find_evaluation_and_set(
    session: Session, actor: Actor, campaign_slug: str, slug: str
) -> tuple[Evaluation, ScoringSet | None]:
    """What `find_evaluation` and `current_set` give, in one statement."""
    is_current = sa.and_(ScoringSet.evaluation_id == Evaluation.id, IS_CURRENT)
    statement = (
        _of_address(sa.select(Evaluation, ScoringSet), actor, campaign_slug, slug)
        .outerjoin(ScoringSet, is_current)
        .outerjoin(ScoringSet.revision)
        .options(sa.orm.contains_eager(ScoringSet.revision))
    )
    row = session.execute(statement).one_or_none()
    if row is None:
        _no_evaluation(session, actor, campaign_slug, slug)
    evaluation, current = row
    note_current_set(session, evaluation.id, current)
    return evaluation, current


def _of_address(statement: sa.Select[*Columns], actor: Actor, campaign_slug: str, slug: str) -> sa.Select[*Columns]:
    """A statement on evaluations, of the one with this address, where `actor` may know of it, with its campaign."""
    return (
        statement.join(Evaluation.campaign)
        .options(sa.orm.contains_eager(Evaluation.campaign))
        .where(Campaign.slug == campaign_slug, Evaluation.slug == slug, known_evaluations(actor))
    )


def _no_evaluation(session: Session, actor: Actor, campaign_slug: str, slug: str) -> NoReturn:
    campaign = find_campaign(session, actor, campaign_slug)
    own = Evaluation.campaign_id == campaign.id
    shown = sa.true() if actor.may_organise(campaign.id) else Evaluation.draft.is_(False)
    missing(session, "evaluation", slug, Evaluation.slug, own, shown, within=f" in {campaign.slug}")


def removal_refusal(session: Session, which: Campaign | Evaluation) -> str | None:
    """Why a campaign, or an evaluation, can't be removed, in words; None when it can."""
    own = Evaluation.campaign_id == which.id if isinstance(which, Campaign) else Evaluation.id == which.id
    runs = sa.select(sa.func.count()).select_from(Submission).join(Submission.evaluation).where(own)
    if count := session.scalar(runs):
        return f"{which.title} has submissions ({count:,}), which stay on record; it can't be removed."
    return None


def find_query(session: Session, evaluation: Evaluation, external_id: str, subset: Subset = Subset.ALL) -> Query:
    """The query, if it is in the subset. Raises NotFound, which names queries of the subset only."""
    own = of_subset(evaluation.id, subset)
    query = session.scalar(sa.select(Query).where(*own, Query.external_id == external_id))
    return query or missing(session, "query", external_id, Query.external_id, *own, within=f" in {evaluation.title}")


def of_subset(evaluation_id: int, subset: Subset) -> tuple[sa.ColumnElement[bool], ...]:
    """Conditions on Query: of the evaluation, and in the subset."""
    left_out = [split for split in Split if subset.leaves_out(split)]
    return Query.evaluation_id == evaluation_id, Query.split.not_in(left_out)


def find_team(session: Session, slug: str, actor: Actor = CONSOLE) -> Team:
    """The team of this address, a former one of it, or one of a team that was merged into it. Raises NotFound.

    actor  whom the message of that may tell of other teams: of their own ones only
    """
    team = known_team(session, slug)
    if team is None:
        _no_team(session, slug, actor)
    return merged_team(session, team)


def find_known_team(session: Session, actor: Actor, slug: str, now: dt.datetime) -> Team:
    """As `find_team`. Raises NotFound, in the same words, also where `actor` may not know of the team."""
    team = find_team(session, slug, actor)
    if not knows_team(session, actor, team, _shown_in(session, team), now):
        _no_team(session, slug, actor)
    return team


def find_own_team(session: Session, actor: Actor, slug: str, campaign_id: int | None = None) -> Team:
    """As `find_team`. Raises NotFound, in the same words, for every team that `actor` is not in.

    campaign_id  of a campaign in which `actor` answers for the team otherwise: organisers do
    """
    found = known_team(session, slug)
    team = None if found is None else merged_team(session, found)
    organises = campaign_id is not None and actor.may_organise(campaign_id)
    if team is None or not (actor.is_in(team.id) or organises):
        _no_team(session, slug, actor, "team of yours")
    return team


def _no_team(session: Session, slug: str, actor: Actor, what: str = "team") -> NoReturn:
    own = sa.true() if actor.all_powerful else Team.id.in_(actor.teams)
    missing(session, what, slug, Team.slug, Team.merged_into_id.is_(None), own)


def _shown_in(session: Session, team: Team) -> Sequence[Evaluation]:
    """The evaluations whose boards have a run of the team."""
    shown = (
        sa.select(Submission.evaluation_id)
        .join(Scoring, Scoring.submission_id == Submission.id)
        .join(ScoringSet, ScoringSet.id == Scoring.scoring_set_id)
        .where(Submission.team_id == team.id, on_boards(), IS_CURRENT, Scoring.state == State.SCORED)
    )
    return session.scalars(
        sa.select(Evaluation)
        .join(Evaluation.campaign)
        .options(sa.orm.contains_eager(Evaluation.campaign))
        .where(Evaluation.id.in_(shown))
    ).all()


def find_system(session: Session, team_slug: str, slug: str) -> System:
    """The system of this address, with its team; former addresses find it, as `find_team` does. Raises NotFound."""
    system = known_system(session, team_slug, slug)
    if system is not None:
        return system
    found = find_team(session, team_slug)
    return missing(session, "system", slug, System.slug, System.team_id == found.id, within=f" of {found.name}")


def known_system(session: Session, team_slug: str, slug: str) -> System | None:
    """The system that has, or had, this address, or the one that it became one with."""
    team = known_team(session, team_slug)
    while team is not None:
        system = session.scalar(sa.select(System).where(System.team_id == team.id, System.slug == slug))
        if system is None:
            before = FormerAddress.team_slug == team.slug, FormerAddress.system_slug == slug
            system = session.scalar(sa.select(System).join(FormerAddress.system).where(*before))
        if system is not None:
            return merged_system(session, system)
        team = session.get(Team, team.merged_into_id) if team.merged_into_id is not None else None
    return None


def namesakes(session: Session, source: Team, target: Team) -> dict[int, System]:
    """A system of one team -> the other team's of the same name, where it has one."""
    own = sa.orm.aliased(System)
    pairs = (
        sa.select(own.id, System)
        .join(System, System.name_key == own.name_key)
        .where(own.team_id == source.id, own.merged_into_id.is_(None), System.team_id == target.id)
    )
    return {row[0]: row[1] for row in session.execute(pairs)}


def merged_team(session: Session, team: Team) -> Team:
    """The team itself, or the one that it was merged into."""
    while team.merged_into_id is not None:
        team = session.get_one(Team, team.merged_into_id)
    return team


def merged_system(session: Session, system: System) -> System:
    """The system itself, or the one that it became one with."""
    while system.merged_into_id is not None:
        system = session.get_one(System, system.merged_into_id)
    return system


def known_team(session: Session, slug: str) -> Team | None:
    """The team that has, or had, this address, whatever it was merged into since."""
    team = session.scalar(sa.select(Team).where(Team.slug == slug))
    if team is None:
        before = FormerAddress.team_slug == slug, FormerAddress.system_slug == ""
        team = session.scalar(sa.select(Team).join(FormerAddress.team).where(*before))
    return team


def only_owner_of(session: Session, user_id: int) -> list[str]:
    """The names of the teams of several members that have no owner but this account."""
    own, other, anybody = (sa.orm.aliased(Membership) for _ in range(3))
    return list(
        session.scalars(
            sa.select(Team.name)
            .join(own, own.team_id == Team.id)
            .where(
                own.user_id == user_id,
                own.role == Role.OWNER,
                sa.exists().where(anybody.team_id == Team.id, anybody.user_id != user_id),
                ~sa.exists().where(other.team_id == Team.id, other.user_id != user_id, other.role == Role.OWNER),
            )
            .order_by(Team.name)
        )
    )


def only_organiser_of(session: Session, user_id: int) -> list[str]:
    """The titles of the campaigns that nobody but this account organises."""
    own, other = sa.orm.aliased(CampaignOrganiser), sa.orm.aliased(CampaignOrganiser)
    return list(
        session.scalars(
            sa.select(Campaign.title)
            .join(own, own.campaign_id == Campaign.id)
            .where(
                own.user_id == user_id,
                ~sa.exists().where(other.campaign_id == Campaign.id, other.user_id != user_id),
            )
            .order_by(Campaign.title)
        )
    )


def current_set(session: Session, evaluation_id: int) -> ScoringSet | None:
    """The set that the evaluation's board reads, with its judgment revision; None before the first judgments."""
    return current_sets(session, [evaluation_id]).get(evaluation_id)


def standing_set(session: Session, evaluation_id: int, source: str) -> ScoringSet | None:
    """The set that stands for one source of judgments; None before its first judgments."""
    return session.scalar(
        sa.select(ScoringSet).where(
            ScoringSet.evaluation_id == evaluation_id, ScoringSet.source == source, ScoringSet.state.in_(STANDING)
        )
    )


def find_set(session: Session, evaluation: Evaluation, set_id: int) -> ScoringSet:
    """One of the evaluation's sets, with its judgment revision. Raises NotFound, and tells of no other one."""
    found = session.scalar(
        sa.select(ScoringSet)
        .join(ScoringSet.revision)
        .options(sa.orm.contains_eager(ScoringSet.revision))
        .where(ScoringSet.id == set_id, ScoringSet.evaluation_id == evaluation.id)
    )
    if found is None:
        raise NotFound
    return found


def newest_revision(session: Session, evaluation: Evaluation, source: str) -> JudgmentRevision | None:
    """The newest revision of a source; None before its first."""
    return session.scalar(
        sa.select(JudgmentRevision)
        .where(JudgmentRevision.evaluation_id == evaluation.id, JudgmentRevision.source == source)
        .order_by(JudgmentRevision.number.desc())
        .limit(1)
    )


def note_current_set(session: Session, evaluation_id: int, current: ScoringSet | None) -> None:
    """Has `current_sets` ask no more for a set that a statement has read beside something else, with its revision."""
    read_so_far(session, CURRENT_SETS)[evaluation_id] = current


def current_sets(session: Session, evaluation_ids: Iterable[int]) -> dict[int, ScoringSet]:
    """Evaluation id -> its current set, as `current_set` gives it; at most one statement for all."""
    wanted = list(evaluation_ids)
    known: dict[int, ScoringSet | None] = read_so_far(session, CURRENT_SETS)
    if unread := [one for one in wanted if one not in known]:
        known.update(dict.fromkeys(unread))
        sets = session.scalars(
            sa.select(ScoringSet)
            .join(ScoringSet.revision)
            .options(sa.orm.contains_eager(ScoringSet.revision))
            .where(ScoringSet.evaluation_id.in_(unread), IS_CURRENT)
        )
        known.update((one.evaluation_id, one) for one in sets)
    return {one: found for one in wanted if (found := known[one]) is not None}


def form_fields(evaluation: Evaluation) -> tuple[FormField, ...]:
    """The fields of its submission form, retired ones too, in their order."""
    return fields_from_json(evaluation.form_fields)


def file_rules(evaluation: Evaluation) -> FileRules:
    """What it asks of run files."""
    return FileRules.from_json(evaluation.file_rules)


def collection_list(session: Session, evaluation_id: int) -> bytes | None:
    """The document ids of its collection, packed; None where no list was given."""
    return session.scalar(sa.select(CollectionList.packed).where(CollectionList.evaluation_id == evaluation_id))


def standing_agreements(session: Session, evaluation_id: int) -> list[Agreement]:
    """The last version of each agreement that was not ended, in the order of their keys."""
    later = sa.orm.aliased(Agreement)
    is_last = ~sa.exists().where(
        later.evaluation_id == Agreement.evaluation_id, later.key == Agreement.key, later.version > Agreement.version
    )
    own = Agreement.evaluation_id == evaluation_id, Agreement.ended_at.is_(None), is_last
    return list(session.scalars(sa.select(Agreement).where(*own).order_by(Agreement.key)))


def lost_in(scoring_set: type[ScoringSet]) -> sa.Select[Scoring]:
    """Statement: failed scorings of a set (the one of the statement around it) that its evaluation's boards would miss.

    Their runs have figures in the set that stands for the same source of judgments. Not those whose stored file is
    damaged, as long as at least as many runs of the set are scored: a few damaged files hold nobody up, and many would
    empty the board. Not runs off the boards.
    """
    shown, current = sa.orm.aliased(Scoring), sa.orm.aliased(ScoringSet)
    other, entered = sa.orm.aliased(Scoring), sa.orm.aliased(Submission)
    balance = (  # scored runs, less those with a damaged file
        sa.select(sa.func.coalesce(sa.func.sum(sa.case((other.state == State.SCORED, 1), else_=-1)), 0))
        .join(entered, entered.id == other.submission_id)
        .where(
            other.scoring_set_id == Scoring.scoring_set_id,
            sa.or_(other.state == State.SCORED, sa.and_(other.state == State.FAILED, other.damaged)),
            on_boards(entered),
        )
        .correlate(Scoring)
        .scalar_subquery()
    )
    has_figures = (
        sa.select(shown.id)
        .join(current, current.id == shown.scoring_set_id)
        .where(
            shown.submission_id == Scoring.submission_id,
            shown.state == State.SCORED,
            current.state.in_(STANDING),
            current.source == scoring_set.source,
        )
        .correlate(Scoring, scoring_set)
        .exists()
    )
    return (
        sa.select(Scoring)
        .join(Submission)
        .where(
            Scoring.scoring_set_id == scoring_set.id,
            Scoring.state == State.FAILED,
            sa.or_(~Scoring.damaged, balance < 0),
            on_boards(),
            has_figures,
        )
        .correlate(scoring_set)
    )


def with_current_scoring(statement: sa.Select[*Columns]) -> sa.Select[*Columns]:
    """A statement on submissions, joined to the scoring of each in its evaluation's current set; NULL without one."""
    is_current = sa.and_(ScoringSet.evaluation_id == Submission.evaluation_id, ScoringSet.state == SetState.CURRENT)
    is_its = sa.and_(Scoring.submission_id == Submission.id, Scoring.scoring_set_id == ScoringSet.id)
    return statement.outerjoin(ScoringSet, is_current).outerjoin(Scoring, is_its)


def on_boards(submission: Any = Submission) -> sa.ColumnElement[bool]:
    """Condition on submissions: neither withdrawn nor taken off by organisers, so that boards show what is scored."""
    return sa.and_(submission.withdrawn_at.is_(None), submission.ruling.is_(None))


def has_its_place(scoring: Any = Scoring, submission: Any = Submission) -> sa.ColumnElement[bool]:
    """Condition on scorings and their submissions: scored, and on boards or keeping its place."""
    return sa.and_(scoring.state == State.SCORED, sa.or_(on_boards(submission), submission.holds_place))


def select_scored_runs(
    *more: Any, of_sets: sa.ColumnElement[bool] = IS_CURRENT, standing: bool = False
) -> sa.Select[*tuple[Any, ...]]:
    """Selects the fields of `ScoredRun`, then `more`, of every scored run of a current set that has its place.

    of_sets   a condition on ScoringSet: of which sets instead
    standing  only those that stand for their systems by the order of their runs alone (`models.Standing`)

    A run that was withdrawn or taken off by organisers has lost it, unless it holds it: then it is among them, marked.

    Joined are Scoring, Submission, ScoringSet and System.
    """
    of_team = sa.and_(
        Participation.team_id == Submission.team_id, Participation.evaluation_id == Submission.evaluation_id
    )
    selected = (
        sa.select(
            Submission.evaluation_id,
            Submission.id,
            Scoring.id,
            Submission.system_id,
            System.kind == SystemKind.BASELINE,
            sa.func.coalesce(Participation.primary_submission_id == Submission.id, sa.false()),
            Submission.late,
            Submission.received_at,
            Submission.scored_at,
            Submission.chosen_at,
            sa.type_coerce(~on_boards(), sa.Boolean),  # else 0 or 1 on SQLite
            *more,
        )
        .join(Submission, Submission.id == Scoring.submission_id)
        .join(ScoringSet, ScoringSet.id == Scoring.scoring_set_id)
        .join(System, System.id == Submission.system_id)
    )
    if standing:
        selected = selected.join(Standing, IS_STANDING)
    return selected.outerjoin(Participation, of_team).where(of_sets, has_its_place())


def scored_runs(
    session: Session, *which: sa.ColumnElement[bool], of_sets: sa.ColumnElement[bool] = IS_CURRENT
) -> dict[int, list[ScoredRun]]:
    """The runs of `select_scored_runs` by the id of their scoring set, in the order of their scorings.

    which  conditions on ScoringSet, Submission, System or Scoring
    """
    runs: dict[int, list[ScoredRun]] = {}
    statement = select_scored_runs(Scoring.scoring_set_id, of_sets=of_sets).where(*which).order_by(Scoring.id)
    for *run, scoring_set_id in session.execute(statement):
        runs.setdefault(scoring_set_id, []).append(ScoredRun(*run))
    return runs


def team_quotas(
    session: Session, evaluation: Evaluation, team_ids: Sequence[int], now: dt.datetime, *, count_pending: bool = True
) -> dict[int, Quota]:
    """What each team has used of the evaluation's quotas.

    count_pending: files that arrive, or wait to be checked, count too. They are looked up first: one that takes its
    next step meanwhile is counted twice then, never missed.
    """
    arriving: dict[int, int] = {}
    unchecked: dict[int, int] = {}
    if count_pending:
        for counts, column, pending in (
            (arriving, Arrival.team_id, _arriving(evaluation, now)),
            (unchecked, Submission.team_id, _unchecked(evaluation, now)),
        ):
            found = sa.select(column, sa.func.count()).where(*pending, column.in_(team_ids)).group_by(column)
            counts.update(session.execute(found).all())
    rows = session.scalars(
        sa.select(Participation).where(
            Participation.evaluation_id == evaluation.id, Participation.team_id.in_(team_ids)
        )
    )
    used = {row.team_id: row for row in rows}
    return {
        team: quota_of(
            evaluation, used.get(team), now, unchecked=unchecked.get(team, 0), arriving=arriving.get(team, 0)
        )
        for team in team_ids
    }


def personal_quota(session: Session, evaluation: Evaluation, user_id: int, now: dt.datetime) -> Quota:
    """What one person has used of the evaluation's quotas over all of their teams."""
    arriving = session.scalar(sa.select(sa.func.count()).where(*_arriving(evaluation, now), Arrival.user_id == user_id))
    unchecked = session.scalar(
        sa.select(sa.func.count()).where(*_unchecked(evaluation, now), Submission.submitter_id == user_id)
    )
    used = session.get(PersonalUse, (user_id, evaluation.id))
    return quota_of(evaluation, used, now, unchecked=unchecked or 0, arriving=arriving or 0, of_person=True)


def _arriving(evaluation: Evaluation, now: dt.datetime) -> tuple[sa.ColumnElement[bool], ...]:
    """Files whose bytes are being read."""
    return Arrival.evaluation_id == evaluation.id, Arrival.expires_at > now


def _unchecked(evaluation: Evaluation, now: dt.datetime) -> tuple[sa.ColumnElement[bool], ...]:
    """Submissions of the day whose file was neither scored nor rejected nor given up yet."""
    return (
        Submission.evaluation_id == evaluation.id,
        Submission.received_at >= start_of(day_of(now)),
        Submission.charged.is_(True),
        Submission.scored_at.is_(None),
    )


def missing(
    session: Session,
    what: str,
    name: str,
    column: InstrumentedAttribute[str],
    *among: sa.ColumnElement[bool],
    within: str = "",
) -> NoReturn:
    """Raises NotFound that suggests the nearest names, or lists the first few when none is near."""
    names = list(session.scalars(sa.select(column).where(*among).order_by(column)))
    near = get_close_matches(name, names)
    if near:
        hint = f"; did you mean {' or '.join(near)}?"
    else:
        hint = f"; there are {', '.join(names[:SHOWN])}{', …' if len(names) > SHOWN else ''}" if names else ""
    raise NotFound(f"there is no {what} {name!r}{within}{hint}")


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """A row of the audit trail, as far as it can be read.

    hash, previous_hash  as they are stored
    event     what it says, in no session; None where that can't be read
    computed  the hash of what it says; empty where that can't be read
    problem   why it can't be
    """

    id: int
    hash: str
    previous_hash: str
    event: Event | None = None
    computed: str = ""
    problem: str = ""


def stored_events(
    session: Session, *where: sa.ColumnElement[bool], newest_first: bool = False
) -> Generator[StoredEvent]:
    """The events, in the order of their numbers. Close it when you stop before the end.

    Their columns are read as bare text and made into values one event at a time: SQL can insert an event with a date
    or a JSON that Python can't read, and it must not stand in the way of the others.
    """
    columns = Event.__table__.columns
    sqlite = session.get_bind().dialect.name == "sqlite"
    # SQLite takes any bytes for a text, and the driver fails on them; PostgreSQL's texts follow the connection's style.
    texts: dict[str, sa.ColumnElement[Any]] = {
        name: sa.cast(column, sa.LargeBinary() if sqlite else sa.Text()) for name, column in columns.items()
    }
    if not sqlite:
        texts["at"] = sa.func.to_char(sa.func.timezone("UTC", columns["at"]), "YYYY-MM-DD HH24:MI:SS.US")
    statement = (
        sa.select(Event.id.label("number"), *(text.label(name) for name, text in texts.items()))
        .where(*where)
        .order_by(Event.id.desc() if newest_first else Event.id)
        .execution_options(yield_per=100)
    )
    with closing(session.execute(statement)) as rows:
        for row in rows:
            yield _stored_event(row.number, row._mapping)  # SQLAlchemy's public name for a row by column


def _stored_event(number: int, said: Mapping[Any, Any]) -> StoredEvent:
    own, previous = (_text_of(said[name], "replace") for name in ("hash", "previous_hash"))
    try:
        at = dt.datetime.fromisoformat(_text_of(said["at"]))
        event = Event(
            id=number,
            at=at.replace(tzinfo=dt.UTC) if at.tzinfo is None else at.astimezone(dt.UTC),
            actor_id=None if said["actor_id"] is None else int(_text_of(said["actor_id"])),
            action=_text_of(said["action"]),
            subject=_text_of(said["subject"]),
            subject_id=int(_text_of(said["subject_id"])),
            **{name: json.loads(_text_of(said[name])) for name in ("facts", "state", "changed")},
            hash=own,
            previous_hash=previous,
        )
        computed = event_hash(
            event.previous_hash, event.id, event.at, event.actor_id, event.action, event.subject, event.subject_id,
            event.facts, event.state, event.changed,
        )  # fmt: skip
    except (ArithmeticError, RecursionError, ValueError) as error:
        return StoredEvent(number, own, previous, problem=f"{type(error).__name__}: {error}")
    return StoredEvent(number, own, previous, event, computed)


def _text_of(value: Any, errors: str = "strict") -> str:
    return value.decode(errors=errors) if isinstance(value, bytes) else str(value)
