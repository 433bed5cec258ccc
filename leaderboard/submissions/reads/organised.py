"""The submissions of a campaign or of one evaluation, as their organisers list, filter and look at them."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVarTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor
from leaderboard.accounts.models import User
from leaderboard.boards.reads.entries import Paging, paging_of
from leaderboard.campaigns.models import Campaign
from leaderboard.db import snapshot
from leaderboard.errors import BadInput, NotFound
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads import form_fields, organised_campaign, organised_evaluation
from leaderboard.evaluations.rules import Answer, as_written
from leaderboard.submissions import rules
from leaderboard.submissions.models import Participation, Submission
from leaderboard.submissions.reads.selection import (
    ITS_TEAMS_PART,
    SHOWN_STATE,
    contenders,
    select_refusal,
    with_current_scoring,
)
from leaderboard.submissions.reads.status import answers_of_run
from leaderboard.teams.models import System, Team
from leaderboard.worker.models import Scoring

Columns = TypeVarTuple("Columns")

ROWS = 50  # on a page


@dataclass(frozen=True, slots=True)
class Filters:
    """Which submissions are asked for; what is empty asks for all.

    state  as pages show it, see `rules.shown_state`
    team   its slug
    late   "yes" or "no"
    text   stands in the label, the file's name, the system's name or the beginning of the SHA-256; or is the number
    """

    state: str = ""
    team: str = ""
    kind: str = ""
    late: str = ""
    text: str = ""

    @property
    def given(self) -> bool:
        """Whether any is."""
        return any((self.state, self.team, self.kind, self.late, self.text))


@dataclass(frozen=True, slots=True)
class SubmissionRow:
    """seconds: how long scoring it took; ruled_because: why organisers took it off the boards.

    received_assumed: whether the import that brought it in assumed when it was received
    answers: to the fields of its evaluation's form, by their keys, whoever else sees them
    """

    id: int
    title: str
    campaign: str
    evaluation: str
    evaluation_title: str
    team: str
    team_slug: str
    system: str
    system_slug: str
    kind: rules.SystemKind
    designation: rules.Designation
    is_primary: bool
    state: str
    late: bool
    submitter: str
    received_at: dt.datetime
    received_assumed: bool
    finished_at: dt.datetime | None
    seconds: float | None
    size: int
    problems: int
    ruled_because: str
    filename: str
    sha256: str
    answers: Mapping[str, Answer]


@dataclass(frozen=True, slots=True)
class SubmissionList:
    """rows: of one page, the newest first.

    counts           how many in each state, whatever state is asked for
    waiting_since    since when the oldest is queued that waits or is being scored
    seconds, longest  how long scoring one took, on average and at most; None before the first
    teams            those that submitted, as (slug, name)
    fields           the keys of the fields that their evaluations ask, or asked
    """

    filters: Filters
    rows: tuple[SubmissionRow, ...]
    paging: Paging
    counts: dict[str, int]
    waiting_since: dt.datetime | None
    seconds: float | None
    longest: float | None
    teams: tuple[tuple[str, str], ...]
    fields: tuple[str, ...]


def submissions(
    session: Session,
    actor: Actor,
    campaign_slug: str,
    slug: str | None,
    now: dt.datetime,  # noqa: ARG001  # every read of a page takes it
    *,
    filters: Filters,
    page: int | None,
) -> SubmissionList:
    """Those of one evaluation, or of all of the campaign. Raises NotFound, and BadInput for a filter that is none."""
    if slug is None:
        within = Evaluation.campaign_id == organised_campaign(session, actor, campaign_slug).id
    else:
        within = Evaluation.id == organised_evaluation(session, actor, campaign_slug, slug).id
    asked = [within, *_conditions(filters)]
    of_state = _of_state(filters.state)
    in_state = _joined(sa.select(SHOWN_STATE, sa.func.count())).where(*asked).group_by(SHOWN_STATE)
    counts = dict.fromkeys(rules.SHOWN_STATES, 0) | dict(session.execute(in_state).all())
    paging = paging_of(counts[filters.state] if filters.state else sum(counts.values()), page, ROWS)
    statement = _rows().where(*asked, *of_state).order_by(Submission.received_at.desc(), Submission.id.desc())
    if page is not None:
        statement = statement.limit(ROWS).offset(paging.before(ROWS))
    rows = tuple(_row(row) for row in session.execute(statement))
    waits = sa.case((Scoring.state.in_(rules.UNFINISHED), Scoring.queued_at))
    took = sa.case((Scoring.state == rules.State.SCORED, Scoring.seconds))
    oldest, mean, longest = session.execute(
        _joined(sa.select(sa.func.min(waits), sa.func.avg(took), sa.func.max(took))).where(*asked)
    ).one()
    teams = session.execute(
        sa.select(Team.slug, Team.name)
        .where(Team.id.in_(_joined(sa.select(Submission.team_id)).where(within)))
        .order_by(Team.name)
    )
    evaluations = session.scalars(
        sa.select(Evaluation).where(within).order_by(Evaluation.period_key, Evaluation.id)
    ).all()  # fmt: skip
    return SubmissionList(
        filters=filters,
        rows=rows,
        paging=paging,
        counts=counts,
        waiting_since=oldest,
        seconds=float(mean) if mean is not None else None,
        longest=longest,
        teams=tuple((slug, name) for slug, name in teams),
        fields=tuple(dict.fromkeys(field.key for evaluation in evaluations for field in form_fields(evaluation))),
    )


def submission_row(
    session: Session, actor: Actor, campaign_slug: str, slug: str, submission_id: int, _: dt.datetime
) -> SubmissionRow:
    """One submission to the evaluation. Raises NotFound, for a submission to any other evaluation too."""
    evaluation = organised_evaluation(session, actor, campaign_slug, slug)
    own = Submission.id == submission_id, Submission.evaluation_id == evaluation.id
    row = session.execute(_rows().where(*own)).one_or_none()
    if row is None:
        raise NotFound(f"there is no submission {submission_id} in {evaluation.title}")
    return _row(row)


def may_replace(
    session: Session, actor: Actor, campaign_slug: str, slug: str, submission_id: int, now: dt.datetime
) -> tuple[SubmissionRow, ...]:
    """The other scored runs of a system that `actor` may let stand in place of one that is on no board and holds its
    place, the newest first; none where it holds none. Raises NotFound."""
    evaluation = organised_evaluation(session, actor, campaign_slug, slug)
    run = session.get(Submission, submission_id)
    if run is None or run.evaluation_id != evaluation.id or not run.holds_place:
        return ()
    ids = [contender.submission_id for contender in contenders(session, run)]
    others = session.scalars(sa.select(Submission).where(Submission.id.in_(ids)))
    free = [other.id for other in others if select_refusal(session, actor, other, now) is None]
    rows = session.execute(_rows().where(Submission.id.in_(free)).order_by(Submission.id.desc()))
    return tuple(_row(row) for row in rows)


def _rows() -> sa.Select[Submission, Scoring, System, Team, Evaluation, str, str | None, bool, str]:
    """Statement: what `_row` makes a row of."""
    is_primary = sa.func.coalesce(Participation.primary_submission_id == Submission.id, sa.false())
    return (
        _joined(
            sa.select(Submission, Scoring, System, Team, Evaluation, Campaign.slug, User.name, is_primary, SHOWN_STATE)
        )
        .outerjoin(User, User.id == Submission.submitter_id)
        .outerjoin(Participation, ITS_TEAMS_PART)
    )


def _joined(statement: sa.Select[*Columns]) -> sa.Select[*Columns]:
    """Submissions with what the filters look at, and the scoring that boards show."""
    return with_current_scoring(
        statement.select_from(Submission)
        .join(System, System.id == Submission.system_id)
        .join(Team, Team.id == Submission.team_id)
        .join(Evaluation, Evaluation.id == Submission.evaluation_id)
        .join(Campaign, Campaign.id == Evaluation.campaign_id)
    )


def _conditions(filters: Filters) -> list[sa.ColumnElement[bool]]:
    conditions: list[sa.ColumnElement[bool]] = []
    if filters.team:
        conditions.append(Team.slug == filters.team)
    if filters.kind:
        _one_of("kind", filters.kind, [kind.value for kind in rules.SystemKind])
        conditions.append(System.kind == filters.kind)
    if filters.late:
        _one_of("late", filters.late, ["yes", "no"])
        conditions.append(Submission.late.is_(filters.late == "yes"))
    if text := filters.text.strip():
        columns = (Submission.label, Submission.filename, System.name)
        stands = [column.icontains(text, autoescape=True) for column in columns]
        stands.append(Submission.sha256.istartswith(text, autoescape=True))
        if text.isascii() and text.isdecimal() and len(text) < 10:
            stands.append(Submission.id == int(text))
        conditions.append(sa.or_(*stands))
    return conditions


def _of_state(state: str) -> list[sa.ColumnElement[bool]]:
    """Conditions for being in a state; "": in any."""
    if state:
        _one_of("state", state, rules.SHOWN_STATES)
    return [SHOWN_STATE.in_([state])] if state else []


def _one_of(name: str, value: str, choices: Any) -> None:
    if value not in choices:
        raise BadInput(f"{name}={value}: this page filters by one of {', '.join(choices)}")


def _row(row: Any) -> SubmissionRow:
    """Of a row of `_rows`."""
    run, scoring, system, team, evaluation, campaign, submitter, is_primary, state = row
    return snapshot(
        SubmissionRow,
        run,
        title=rules.title_of_run(run.label, run.filename, run.id),
        campaign=campaign,
        evaluation=evaluation.slug,
        evaluation_title=evaluation.title,
        team=team.name,
        team_slug=team.slug,
        system=system.name,
        system_slug=system.slug,
        kind=system.kind,
        is_primary=is_primary,
        state=state,
        submitter=submitter or "",
        finished_at=scoring.finished_at if scoring else None,
        seconds=scoring.seconds if scoring else None,
        problems=run.problem_count,
        answers={field.key: as_written(answer) for field, answer in answers_of_run(run, scoring).items()},
    )
