"""Answers to an evaluation's form fields, and what runs say of themselves, as their readers may see them.

One submission: what was received, and the state of its scoring.

The submissions of a campaign or of one evaluation, as their organisers list, filter and look at them.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import fields, replace
from datetime import datetime
from typing import Any, NamedTuple, TypeVarTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, Content, may_change_standing, may_see, require, require_known, subset_seen
from leaderboard.boards.models import Board, Standing
from leaderboard.boards.reads.entries import COUNTED, Entry, Paging, SystemLabel, anonymous, paging_within
from leaderboard.boards.reads.ranking import PrimaryResult, primary_results
from leaderboard.db import read_so_far, snapshot
from leaderboard.errors import BadInput, NotFound
from leaderboard.evaluations import rules
from leaderboard.evaluations.models import Acceptance, Agreement, Evaluation
from leaderboard.evaluations.reads import evaluations as reads
from leaderboard.evaluations.rules import Answer, FormField, ShownTo, Subset
from leaderboard.frozen import frozen
from leaderboard.submissions import rules as run_rules
from leaderboard.submissions.models import Participation, Submission
from leaderboard.submissions.reads import selection
from leaderboard.submissions.rules import SHOWN_STATES, UNFINISHED, Designation, Ruling, State, SystemKind
from leaderboard.teams.models import Pseudonym, System, Team
from leaderboard.worker.models import IN_QUEUE, Scoring, ScoringSet
from leaderboard.worker.reads import IS_CURRENT, current_set, note_current_set

MOST_VALUES = 50  # that a filter offers


@frozen
class ShownAnswer:
    """shown_to: who sees it beside the run's team, for a reader who should know."""

    label: str
    text: str
    shown_to: ShownTo


@frozen
class AcceptedAgreement:
    """A version of an agreement that whoever submitted a run accepted in its evaluation, and when."""

    key: str
    version: int
    title: str
    text: str
    accepted_at: datetime


@frozen
class AnswerFilter:
    """A field that a board can be filtered by, and the answers of its runs, most frequent first, each with how many."""

    field: FormField
    values: tuple[tuple[str, int], ...]


@frozen
class BoardAnswers:
    """What a board shows of answers.

    columns   fields that are columns
    filters   fields that the reader can filter by
    of_run    submission -> field -> its answer
    chosen    the field's key and the answer that the reader filters by; None without a filter
    """

    columns: tuple[FormField, ...] = ()
    filters: tuple[AnswerFilter, ...] = ()
    of_run: Mapping[int, Mapping[FormField, Answer]] | None = None
    chosen: tuple[str, str] | None = None

    def of(self, submission_id: int) -> Mapping[FormField, Answer]:
        return (self.of_run or {}).get(submission_id, {})

    def has(self, submission_id: int) -> bool:
        """Whether a run passes the filter."""
        said = ((field.key, rules.in_words(answer)) for field, answer in self.of(submission_id).items())
        return self.chosen is None or self.chosen in said


def answers_of_run(run: Submission, scoring: Scoring | None) -> dict[FormField, Answer]:
    """All answers of a run, whoever may see them."""
    return rules.answers_of(reads.form_fields(run.evaluation), run.answers, _said_of(run, scoring))


def _said_of(run: Submission, scoring: Scoring | None) -> dict[str, str]:
    """What a run says of itself: in the file beside it, else in its own header."""
    return rules.said_by(scoring.facts if scoring else {}, run.said)


def board_answers(
    session: Session, evaluation: Evaluation, entries: Iterable[Entry], asked: str | None
) -> BoardAnswers:
    """The answers of a board's runs, those of systems without a name left out.

    asked  `key:answer` to filter by. Raises BadInput that lists the fields when it is none of them.
    """
    fields = [field for field in reads.form_fields(evaluation) if field.on_board]
    chosen = _chosen([field for field in fields if field.filter], asked)
    if not fields:
        return BoardAnswers()
    named = [entry for entry in entries if not entry.system.is_anonymous]
    rows = session.execute(
        sa.select(Submission.id, Submission.answers, Submission.said, Scoring.facts)
        .join(Scoring, Scoring.submission_id == Submission.id)
        .where(Scoring.id.in_([entry.scoring_id for entry in named]))
    )
    of_run = {run: rules.answers_of(fields, answers, rules.said_by(facts, said)) for run, answers, said, facts in rows}
    filters = [AnswerFilter(field, _values(field, of_run.values())) for field in fields if field.filter]
    return BoardAnswers(tuple(field for field in fields if field.column), tuple(filters), of_run, chosen)


def _values(field: FormField, answers: Iterable[Mapping[FormField, Answer]]) -> tuple[tuple[str, int], ...]:
    counts = Counter(rules.in_words(own[field]) for own in answers if field in own)
    return tuple(counts.most_common(MOST_VALUES))


def _chosen(fields: Collection[FormField], asked: str | None) -> tuple[str, str] | None:
    if not asked:
        return None
    key, colon, text = asked.partition(":")
    if not colon or key not in {field.key for field in fields}:
        there = ", ".join(field.key for field in fields) or "none"
        raise BadInput(f"answer={asked}: give a field and an answer as key:answer; fields to filter by: {there}")
    return key, text


@frozen
class SubmissionStatus:
    """A submission as its page shows it, whatever became of it.

    state      queued, scoring, scored, rejected, failed or withdrawn
    awaits     what this page still waits for: "scores", then "intervals" of those, "" when nothing more comes by itself
    waiting    True when there are no judgments yet to score it by
    ahead      how many queued scorings a worker takes before it
    may_act    whether the reader may withdraw it: its team and the organisers
    receipt, md5  SHA-256 and MD5 of the bytes as received; empty for readers outside the team
    received_assumed  whether nothing said when it was received, and the import took another date for it
    run_at     when it was made, where that is known; imported_at, importer: when and by whom it was brought in
    threshold_unused  whether it has a θ, and no measure here counts what was returned
    problems   (line or None, message), the first ones; `problem_count` is all of them; the team's and organisers' only
    failure    in words, of the last attempt
    crowded    queries for which it and the judgments name more documents than the collection has; for organisers only
    holds_place, would_hold_place  whether no other run takes its place: it was withdrawn after closing, or would now be
    answers    to the organisers' fields, as far as this reader may see them
    agreements  what its submitter accepted in this evaluation; for its team and organisers only
    said       what the run says of itself, by key, for whoever may know whose it is, but for what fields read that are
               shown to fewer; said_problem: of its header
    may_let_stand  whether the reader may let it stand for its system, in place of the run that does now
    may_make_primary  whether the reader may make it its team's primary run
    ruling, ruled_at, ruled_because  what organisers decided about it; for its team and organisers only
    """

    id: int
    evaluation: reads.EvaluationHeading
    system: SystemLabel
    state: str
    own: bool
    may_act: bool
    may_let_stand: bool
    may_make_primary: bool
    ruling: Ruling | None
    ruled_at: datetime | None
    ruled_because: str
    results_open: bool
    title: str
    designation: Designation
    is_primary: bool
    threshold: float | None
    threshold_unused: bool
    notes: str
    filename: str
    receipt: str
    md5: str
    version: str
    size: int
    text_size: int
    submitter: str
    begun_at: datetime
    received_at: datetime
    received_assumed: bool
    run_at: datetime | None
    imported_at: datetime | None
    importer: str
    late: bool
    awaits: str
    waiting: bool
    ahead: int
    attempt: int
    finished_at: datetime | None
    seconds: float | None
    problems: tuple[tuple[int | None, str], ...]
    problem_count: int
    failure: str
    crowded: int
    withdrawn_at: datetime | None
    withdrawn_because: str
    holds_place: bool
    would_hold_place: bool
    answers: tuple[ShownAnswer, ...]
    agreements: tuple[AcceptedAgreement, ...]
    said: tuple[tuple[str, str], ...]
    said_problem: str


# What stands in a status for readers who are neither of the run's team nor organisers.
OUTSIDE: dict[str, Any] = {
    "ruling": None, "ruled_at": None, "ruled_because": "", "notes": "", "filename": "", "receipt": "", "md5": "",
    "submitter": "", "importer": "", "problems": (), "problem_count": 0, "failure": "", "said_problem": "",
}  # fmt: skip


def status(session: Session, actor: Actor, submission_id: int, now: datetime) -> SubmissionStatus:
    """Raises NotFound for no such submission, and for one of another team that is on no board yet."""
    run, scoring, participation, state = find_submission(session, actor, submission_id, now)
    evaluation, inside = run.evaluation, _is_inside(actor, run)
    primary = participation.primary_submission_id if participation else None
    is_primary = primary == run.id
    may_choose = inside and state == State.SCORED and may_change_standing(actor, evaluation, now)
    results_open, _, named = _seen_of(actor, run, now)
    named = named or inside
    circles = ({ShownTo.EVERYONE} if named else set()) | ({ShownTo.ORGANISERS} if inside else set())
    facts = scoring.facts if scoring else {}
    columns = Agreement.key, Agreement.version, Agreement.title, Agreement.text, Acceptance.accepted_at
    own = Agreement.evaluation_id == run.evaluation_id, Acceptance.user_id == run.submitter_id
    accepted = sa.select(*columns).join(Acceptance).where(*own).order_by(Agreement.key, Agreement.version)
    shown = snapshot(
        SubmissionStatus,
        run,
        evaluation=reads.evaluation_heading(evaluation, now),
        system=label_of(session, actor, run, now),
        state=state,
        own=actor.is_in(run.team_id),
        may_act=inside,
        may_let_stand=may_choose and _could_stand(session, run, primary),
        may_make_primary=may_choose and not (run.late or is_primary),
        results_open=results_open,
        title=run_rules.title_of_run(run.label if named else "", run.filename if inside else "", run.id),
        is_primary=is_primary,
        threshold_unused=run.threshold is not None and not reads.measures_of_returned(evaluation.campaign),
        receipt=run.sha256,
        version=run.version if named else "",
        submitter=run.submitter.name if run.submitter else "",
        importer=run.importer.name if run.importer else "",
        awaits=awaits(session, scoring, state, results_open, subset_seen(actor, evaluation, now)),
        waiting=scoring is None,
        ahead=_ahead(session, scoring),
        attempt=scoring.attempt if scoring else 0,
        finished_at=scoring and scoring.finished_at,
        seconds=scoring and scoring.seconds,
        problems=tuple(map(tuple, run.problems)),
        failure=scoring.failure if scoring else "",
        crowded=facts.get("crowded", 0) if actor.may_organise(evaluation.campaign_id) else 0,
        would_hold_place=not may_change_standing(actor, evaluation, now),
        answers=tuple(
            ShownAnswer(field.label, rules.in_words(answer), field.shown_to)
            for field, answer in answers_of_run(run, scoring).items()
            if field.shown_to in circles
        ),
        agreements=tuple(AcceptedAgreement(*row) for row in session.execute(accepted))
        if inside and run.submitter
        else (),
        said=tuple(rules.said_to(reads.form_fields(evaluation), _said_of(run, scoring), circles).items())
        if circles
        else (),
        said_problem=facts.get("said_problem", ""),
    )
    return shown if inside else replace(shown, **OUTSIDE)


def sent_under(session: Session, actor: Actor, key: str | None, _: datetime) -> int | None:
    """The submission that an account sent under an idempotency key; None where it sent none."""
    if key is None or actor.user_id is None:
        return None
    own = Submission.submitter_id == actor.user_id, Submission.sending_key == key
    return session.scalar(sa.select(Submission.id).where(*own))


class FoundSubmission(NamedTuple):
    """A submission with what belongs to it: its scoring in the current set, None before the first judgments; its team's
    part in the evaluation; and its state as pages show it."""

    run: Submission
    scoring: Scoring | None
    participation: Participation | None
    state: str


def find_submission(session: Session, actor: Actor, submission_id: int, now: datetime) -> FoundSubmission:
    """Raises NotFound for readers outside its team unless it is on a board that they may see."""
    known: dict[int, FoundSubmission] = read_so_far(session, "submissions")
    rows = known[submission_id] = known.get(submission_id) or _read(session, submission_id)
    run = rows.run
    require_known(actor, run.evaluation)
    on_board = rows.state == State.SCORED and may_see(actor, run.evaluation, Content.RESULTS, now, run.team_id)
    if on_board or _is_inside(actor, run):
        return rows
    raise NotFound(f"submission {submission_id} is not on any board")


def _read(session: Session, submission_id: int) -> FoundSubmission:
    """The rows, and the evaluation's current set beside them. Raises NotFound."""
    row = session.execute(
        selection.with_current_scoring(sa.select(Submission, Scoring, Participation, selection.SHOWN_STATE, ScoringSet))
        .outerjoin(ScoringSet.revision)
        .outerjoin(Participation, selection.ITS_TEAMS_PART)
        .where(Submission.id == submission_id)
        .options(
            sa.orm.contains_eager(ScoringSet.revision),
            sa.orm.joinedload(Submission.evaluation).joinedload(Evaluation.campaign),
            *map(sa.orm.joinedload, (Submission.system, Submission.team, Submission.submitter, Submission.importer)),
        )
    ).one_or_none()
    if row is None:
        raise NotFound(f"there is no submission {submission_id}")
    run, scoring, participation, state, current = row
    note_current_set(session, run.evaluation_id, current)
    return FoundSubmission(run, scoring, participation, state)


@frozen
class ScoredSubmission:
    """A run that was scored in its evaluation's current set, and what its reader may see of it.

    subset   the queries that the reader's figures are over
    details  whether single queries are seen; named: whether it is known whose run it is
    """

    run: Submission
    scoring: Scoring
    scoring_set: ScoringSet
    subset: Subset
    details: bool
    named: bool


def find_scored(session: Session, actor: Actor, submission_id: int, now: datetime) -> ScoredSubmission:
    """Raises NotFound as `find_submission` does, and for a run that is not scored; NotAllowed where its results are not
    open."""
    run, scoring, *_ = find_submission(session, actor, submission_id, now)
    scoring_set = current_set(session, run.evaluation_id)
    if scoring is None or scoring_set is None or scoring.state != State.SCORED:
        raise NotFound(f"submission {submission_id} is not scored")
    results, details, named = _seen_of(actor, run, now)
    require(results, "The results of this run are not open yet.")
    return ScoredSubmission(run, scoring, scoring_set, subset_seen(actor, run.evaluation, now), details, named)


def _seen_of(actor: Actor, run: Submission, now: datetime) -> Iterator[bool]:
    """Whether a reader sees the run's results, its values on single queries, and whose it is."""
    for sight in (Content.RESULTS, Content.DETAILS, Content.NAMES):
        yield may_see(actor, run.evaluation, sight, now, run.team_id)


def label_of(session: Session, actor: Actor, run: Submission, now: datetime) -> SystemLabel:
    """The run's system as this reader may know it: in an anonymous period under the name it has on the board."""
    system, team = run.system, run.team
    is_named = system.kind is SystemKind.BASELINE or _is_inside(actor, run)
    if is_named or may_see(actor, run.evaluation, Content.NAMES, now, run.team_id):
        return SystemLabel(system.id, system.name, system.kind, system.slug, team.name, team.slug)
    held = read_so_far(session, "pseudonyms")  # or the session forgets it at once
    held[system.id] = session.get_one(Pseudonym, (run.evaluation_id, system.id))
    return anonymous(system.id, system.kind, held[system.id].number)


def _is_inside(actor: Actor, run: Submission) -> bool:
    return actor.answers_for(run.team_id, run.evaluation.campaign_id)


def _could_stand(session: Session, run: Submission, primary: int | None) -> bool:
    """Whether this scored run does not stand for its system, and its team's primary run does not either; only the
    primary rule chooses."""
    if run.evaluation.campaign.run_choice is not run_rules.RunChoice.PRIMARY:
        return False
    own = ScoringSet.evaluation_id == run.evaluation_id, Standing.system_id == run.system_id
    standing = selection.standing_runs(session, *own, Standing.late == run.late)
    return not {run.id, primary} & {each.id for each in standing}  # none stands where a place is kept empty


def awaits(session: Session, scoring: Scoring | None, state: str, results_open: bool, subset: Subset) -> str:
    """What a run still waits for, as `SubmissionStatus.awaits` says it to who sees this subset of the queries."""
    if state in UNFINISHED:
        return "scores"
    if scoring is None or scoring.finished_at is None or state != State.SCORED or not results_open:
        return ""
    # A figure without an interval (too few queries, equal values) has none after the worker has looked at it, either.
    own = Board.scoring_set_id == scoring.scoring_set_id, Board.subset == subset
    refreshed = sa.select(sa.func.count()).where(*own, Board.refreshed_at >= scoring.finished_at)
    measures = session.get_one(ScoringSet, scoring.scoring_set_id).settings.measures
    return "" if session.scalar(refreshed) == len(measures) else "intervals"


def _ahead(session: Session, scoring: Scoring | None) -> int:
    """Scorings that a worker takes before this one: of a lower priority, or of the same and an earlier turn."""
    if scoring is None or scoring.state != State.QUEUED:
        return 0
    before = sa.tuple_(Scoring.priority, Scoring.turn, Scoring.id) < (scoring.priority, scoring.turn, scoring.id)
    waiting = sa.select(sa.func.count()).where(Scoring.state == State.QUEUED, before)
    return session.scalar(waiting) or 0


Columns = TypeVarTuple("Columns")

ROWS = 50  # on a page


@frozen
class Filters:
    """Which submissions are asked for; what is empty asks for all.

    state  as pages show it, one of `SHOWN_STATES`
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
        return self != Filters()


FILTERS = tuple(field.name for field in fields(Filters))


@frozen
class SubmissionRow:
    """seconds: how long scoring it took; ruled_because: why organisers took it off the boards.

    measure, mean, rank: by its evaluation's primary measure, once it is scored
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
    kind: SystemKind
    designation: Designation
    is_primary: bool
    state: str
    late: bool
    submitter: str
    received_at: datetime
    received_assumed: bool
    finished_at: datetime | None
    seconds: float | None
    measure: str
    mean: float | None
    rank: int | None
    size: int
    problems: int
    ruled_because: str
    filename: str
    sha256: str
    answers: Mapping[str, Answer]


@frozen
class SubmissionList:
    """rows: of one page, the newest first.

    counts           how many in each state, whatever state is asked for; on a page of the COUNTED newest ones
    more             whether there may be more than these
    waiting_since    since when the oldest is queued that waits or is being scored, whatever is asked for
    teams            those that submitted, as (slug, name)
    fields           the keys of the fields that their evaluations ask, or asked
    """

    filters: Filters
    rows: tuple[SubmissionRow, ...]
    paging: Paging
    counts: dict[str, int]
    more: bool
    waiting_since: datetime | None
    teams: tuple[tuple[str, str], ...]
    fields: tuple[str, ...]


def submissions(
    session: Session,
    actor: Actor,
    campaign_slug: str,
    slug: str | None,
    now: datetime,
    *,
    page: int | None,
    **asked_for: str | None,
) -> SubmissionList:
    """Those of one evaluation, or of all of the campaign. asked_for: FILTERS; None asks for all.

    Raises NotFound, and BadInput for a filter that is none.
    """
    filters = Filters(**{name: value or "" for name, value in asked_for.items()})
    if slug is None:
        within = Evaluation.campaign_id == reads.organised_campaign(session, actor, campaign_slug).id
    else:
        within = Evaluation.id == reads.organised_evaluation(session, actor, campaign_slug, slug).id
    conditions = _conditions(filters)
    of_state = conditions.pop("state", sa.true())
    asked = [within, *conditions.values()]
    newest_first = Submission.received_at.desc(), Submission.id.desc()
    newest = _joined(sa.select(selection.SHOWN_STATE.label("state"))).where(*asked).order_by(*newest_first)
    paging = paging_within(session, newest.where(of_state), page, ROWS)
    states = newest.limit(None if page is None else COUNTED).subquery()
    in_state = sa.select(states.c.state, sa.func.count()).group_by(states.c.state)
    counts = dict.fromkeys(SHOWN_STATES, 0) | dict(session.execute(in_state).all())
    statement = _rows().where(*asked, of_state).order_by(*newest_first)
    if page is not None:
        statement = statement.limit(ROWS).offset(paging.before(ROWS))
    rows = _read_rows(session, actor, statement, now)
    of_set = Scoring.scoring_set_id == ScoringSet.id, sa.text(IN_QUEUE)
    waiting = sa.select(sa.func.min(Scoring.queued_at)).where(*of_set)
    of_sets = sa.select(waiting.scalar_subquery()).join_from(ScoringSet, Evaluation)
    oldest = min(filter(None, session.scalars(of_sets.where(within, IS_CURRENT))), default=None)
    has_sent = sa.exists().where(selection.ITS_TEAMS_PART)  # whose only upload broke off has taken part all the same
    taking_part = sa.select(Team.slug, Team.name).join(Participation, Participation.team_id == Team.id)
    teams = session.execute(
        taking_part.join(Evaluation, Evaluation.id == Participation.evaluation_id)
        .where(within, has_sent)
        .distinct()
        .order_by(Team.name)
    )
    own = sa.select(Evaluation).where(within).order_by(Evaluation.period_key, Evaluation.id)
    asked_fields = (field.key for evaluation in session.scalars(own).all() for field in reads.form_fields(evaluation))
    return SubmissionList(
        filters=filters,
        rows=rows,
        paging=paging,
        counts=counts,
        more=page is not None and sum(counts.values()) == COUNTED,
        waiting_since=oldest,
        teams=tuple((slug, name) for slug, name in teams),
        fields=tuple(dict.fromkeys(asked_fields)),
    )


def submission_row(
    session: Session, actor: Actor, campaign_slug: str, slug: str, submission_id: int, now: datetime
) -> SubmissionRow:
    """One submission to the evaluation. Raises NotFound, for a submission to any other evaluation too."""
    evaluation = reads.organised_evaluation(session, actor, campaign_slug, slug)
    own = Submission.id == submission_id, Submission.evaluation_id == evaluation.id
    for row in _read_rows(session, actor, _rows().where(*own), now):
        return row
    raise NotFound(f"there is no submission {submission_id} in {evaluation.title}")


def _rows() -> sa.Select[Submission, Scoring, bool, str]:
    """Statement: what `_row` makes a row of."""
    is_primary = sa.func.coalesce(Participation.primary_submission_id == Submission.id, sa.false())
    return (
        _joined(sa.select(Submission, Scoring, is_primary, selection.SHOWN_STATE))
        .outerjoin(Participation, selection.ITS_TEAMS_PART)
        .options(
            sa.orm.contains_eager(Submission.evaluation).contains_eager(Evaluation.campaign),
            *map(sa.orm.contains_eager, (Submission.system, Submission.team)),
            sa.orm.joinedload(Submission.submitter),
        )
    )


def _joined(statement: sa.Select[*Columns]) -> sa.Select[*Columns]:
    """Submissions with what the filters look at, and the scoring that boards show."""
    whose = statement.select_from(Submission).join(Submission.system).join(Submission.team)
    return selection.with_current_scoring(whose.join(Submission.evaluation).join(Evaluation.campaign))


def _conditions(filters: Filters) -> dict[str, sa.ColumnElement[bool]]:
    """Conditions by filter. Raises BadInput for what a filter does not offer."""
    for name, choices in (("state", SHOWN_STATES), ("kind", tuple(SystemKind)), ("late", ("yes", "no"))):
        if (value := getattr(filters, name)) and value not in choices:
            raise BadInput(f"{name}={value}: this page filters by one of {', '.join(choices)}")
    text = filters.text.strip()
    names = (Submission.label, Submission.filename, System.name)
    conditions: dict[str, sa.ColumnElement[bool]] = {
        "state": selection.SHOWN_STATE.in_([filters.state]),
        "team": Team.slug == filters.team,
        "kind": System.kind == filters.kind,
        "late": Submission.late.is_(filters.late == "yes"),
        "text": sa.or_(
            sa.cast(Submission.id, sa.String) == text,
            Submission.sha256.istartswith(text, autoescape=True),
            *(column.icontains(text, autoescape=True) for column in names),
        ),
    }
    return {name: condition for name, condition in conditions.items() if getattr(filters, name).strip()}


def _read_rows(
    session: Session, actor: Actor, statement: sa.Select[Submission, Scoring, bool, str], now: datetime
) -> tuple[SubmissionRow, ...]:
    """What a statement of `_rows` finds."""
    found = session.execute(statement).all()
    evaluations = {row[0].evaluation_id: row[0].evaluation for row in found}
    results = primary_results(session, actor, evaluations.values(), now, [row[0].id for row in found])
    return tuple(_row(row, results.get(row[0].id)) for row in found)


def _row(row: Any, result: PrimaryResult | None) -> SubmissionRow:
    """Of a row of `_rows`."""
    run, scoring, is_primary, state = row
    return snapshot(
        SubmissionRow,
        run,
        title=run_rules.title_of_run(run.label, run.filename, run.id),
        campaign=run.evaluation.campaign.slug,
        evaluation=run.evaluation.slug,
        evaluation_title=run.evaluation.title,
        team=run.team.name,
        team_slug=run.team.slug,
        system=run.system.name,
        system_slug=run.system.slug,
        kind=run.system.kind,
        is_primary=is_primary,
        state=state,
        submitter=run.submitter.name if run.submitter else "",
        finished_at=scoring and scoring.finished_at,
        seconds=scoring and scoring.seconds,
        measure=result.column.name if result else "",
        mean=result and result.mean,
        rank=result.rank[0] if result and result.rank else None,
        problems=run.problem_count,
        answers={field.key: rules.as_written(answer) for field, answer in answers_of_run(run, scoring).items()},
    )
