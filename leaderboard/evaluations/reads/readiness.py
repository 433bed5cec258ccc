"""What a change does at once, as counts: listed before it is kept, so that nobody re-scores or opens unawares.

To know it the change is made in `session`, and compared with what `committed` reads; it is undone unless confirmed.

What an evaluation still lacks before it can open, and before its runs can be scored and shown.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import metrics
from leaderboard.access import Actor, open_to_all
from leaderboard.boards.reads.entries import Disclosure, column, load_entries
from leaderboard.boards.reads.ranking import Show, choose, ranks
from leaderboard.campaigns.models import CampaignTeam
from leaderboard.campaigns.reads import organised_campaign, organised_evaluation
from leaderboard.campaigns.rules import Visibility, is_known
from leaderboard.evaluations import rules
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.find import REVEALING, of_what_there_is, once_revealed
from leaderboard.evaluations.reads.form_fields import file_rules, form_fields
from leaderboard.evaluations.reads.headings import campaign_measures
from leaderboard.judgments.models import Judgment, JudgmentRevision, KnownDocument, Query, SubtopicJudgment
from leaderboard.metrics.measure import NEEDED, Need
from leaderboard.moments import moment_in_words
from leaderboard.numbers import counted
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.selection import with_current_scoring
from leaderboard.submissions.rules import SetState, State, SystemKind
from leaderboard.teams.models import System
from leaderboard.teams.reads.find import teams_with_runs
from leaderboard.worker.models import Scoring, ScoringSet
from leaderboard.worker.reads import current_set, newest_revision, standing_set

IN_WORDS = {
    "results": "the board",
    "details": "results by query, which reveal judgments",
    "judgments": "the judgments themselves",
    "hidden_queries": "the hidden queries",
    "texts": "texts and tags of queries",
    "names": "names of teams and systems",
}
READERS = Visibility.DRAFT, Visibility.PRIVATE, Visibility.PUBLIC  # from few to many
Places = dict[tuple[int, bool], tuple[int, int | None]]  # system, whether late -> the run that is shown, its rank
TAKES_RUNS = rules.Phase.UPCOMING, rules.Phase.OPEN  # those that are ranked, now or later


@dataclass(frozen=True, slots=True)
class _State:
    """An evaluation before or after a change.

    readers   how many know of it: a place in READERS
    open      what all of them can read
    knowing   the teams with runs in it that know of it, each with whether it is let into its campaign
    ranked_by what the order of its board depends on, beside figures
    """

    evaluation: Evaluation
    readers: int
    takes_runs: bool
    open: frozenset[str]
    knowing: dict[int, bool]
    ranked_by: tuple[Any, ...]
    fields: tuple[rules.FormField, ...]


def effects(
    session: Session, committed: Session, actor: Actor, changed: sa.ColumnElement[bool], now: dt.datetime
) -> tuple[str, ...]:
    """What the change does that nobody may do unawares, a line each; empty for nothing.

    changed  which evaluations it may be about
    """
    session.flush()
    own = sa.select(Evaluation).where(changed).order_by(Evaluation.id)
    stored = {row.id: _state(committed, row, now) for row in committed.scalars(own).all()}
    pairs = [(stored[row.id], _state(session, row, now)) for row in session.scalars(own).all() if row.id in stored]
    lines = []
    scored_before, scored_again = _scored_again(committed, changed), _scored_again(session, changed)
    if runs := [scored_again[made] for made in scored_again.keys() - scored_before.keys()]:
        lines.append(
            f"{counted(sum(runs), 'run')} of {counted(len(runs), 'evaluation')} scored again; boards show the figures "
            "of before until all are."
        )
    if shut_out := {team for before, after in pairs for team in before.knowing.keys() - after.knowing.keys()}:
        lines.append(f"{counted(len(shut_out), 'team')} with runs can't see them any more.")
    let_in = {team for before, after in pairs for team, _ in after.knowing.items() - before.knowing.items()}
    if let_in and any(after.readers != before.readers for before, after in pairs):
        lines.append(f"{counted(len(let_in), 'team')} with runs let in.")
    for before, after in pairs:
        lines += _opened(session, before, after)
        if before.ranked_by != after.ranked_by:
            places = (_places(committed, actor, before.evaluation, now), _places(session, actor, after.evaluation, now))
            other_source = before.evaluation.official_source != after.evaluation.official_source
            lines += _moved(after.evaluation.title, *places, always=other_source)  # the figures are others too
        if before.fields != after.fields:
            lines += _answers_shown(session, before, after)
    return tuple(lines)


def entered_by(system_id: int) -> sa.ColumnElement[bool]:
    """The evaluations that a change of this system may be about."""
    return Evaluation.id.in_(sa.select(Submission.evaluation_id).where(Submission.system_id == system_id))


def _scored_again(session: Session, changed: sa.ColumnElement[bool]) -> dict[int, int]:
    """Each set that is being built for a board -> how many runs it scores."""
    rows = session.execute(
        sa.select(ScoringSet.id, sa.func.count(Scoring.id))
        .join(Evaluation, Evaluation.id == ScoringSet.evaluation_id)
        .join(Scoring, Scoring.scoring_set_id == ScoringSet.id)
        .where(changed, ScoringSet.state == SetState.BUILDING, ScoringSet.source == Evaluation.official_source)
        .group_by(ScoringSet.id)
    )
    return dict(rows.all())


def revealed_in_words(opened: Collection[str]) -> str:
    """What of it everybody may read, or could, in words."""
    return "; ".join(words for name, words in IN_WORDS.items() if name in opened)


def _state(session: Session, evaluation: Evaluation, now: dt.datetime) -> _State:
    campaign = evaluation.campaign
    known_to = Visibility.DRAFT if evaluation.draft else campaign.visibility
    let_in = {*session.scalars(sa.select(CampaignTeam.team_id).where(CampaignTeam.campaign_id == campaign.id))}
    entered = {team.id for team in teams_with_runs(session, campaign.id, evaluation.id)}
    current = standing_set(session, evaluation.id, evaluation.official_source)
    baselines = sa.select(System.id).join(Submission).where(
        Submission.evaluation_id == evaluation.id, System.kind == SystemKind.BASELINE
    )  # fmt: skip
    return _State(
        evaluation=evaluation,
        readers=READERS.index(known_to),
        takes_runs=rules.phase_of(evaluation, now) in TAKES_RUNS,
        open=open_to_all(evaluation, now),
        knowing={team: team in let_in for team in entered if is_known(known_to, let_in=team in let_in)},
        ranked_by=(
            current and (current.source, current.primary_measure),
            campaign.run_choice,
            {*session.scalars(baselines)},
        ),
        fields=form_fields(evaluation),
    )


def _opened(session: Session, before: _State, after: _State) -> Iterator[str]:
    """What closes or opens: for runs, and for readers."""
    evaluation = after.evaluation
    title, was_open = evaluation.title, before.takes_runs and before.readers > 0
    if was_open and not after.takes_runs and after.readers:
        follows = "runs are late from now on" if evaluation.late_allowed else "it takes no runs any more"
        yield f"{title} closes at once: {follows}."
    hidden_names = frozenset() if "results" in after.open else {"names"}  # there is no board that they stand on
    known_before = frozenset() if before.readers < after.readers else before.open
    if opened := of_what_there_is(session, evaluation, after.open - known_before - hidden_names):
        private = evaluation.campaign.visibility is Visibility.PRIVATE
        whom = "members of the teams that are let in" if private else "everybody"
        yield f"{title} opens to {whom}, for good: {revealed_in_words(opened)}."
    if after.takes_runs and after.readers and not was_open:
        revealed = once_revealed(session, evaluation) | of_what_there_is(session, evaluation, REVEALING & before.open)
        if revealed:
            yield f"{title} takes runs again, although these could be read: {revealed_in_words(revealed)}."


def _places(session: Session, actor: Actor, evaluation: Evaluation, now: dt.datetime) -> Places:
    current = standing_set(session, evaluation.id, evaluation.official_source)
    if current is None:
        return {}
    by = column(current.primary_measure)
    entries = load_entries(session, [Disclosure(actor, evaluation, current, now)], [by.name])
    selected = choose(entries, Show(evaluation.campaign.run_choice.value), by)
    rank = ranks(selected, by)
    return {(run.system_id, run.late): (run.submission_id, rank.get(run.submission_id)) for run in selected}


def _moved(title: str, before: Places, after: Places, *, always: bool) -> Iterator[str]:
    none = (0, None)
    both = before.keys() | after.keys()
    systems = len({system for system, _ in both})
    other_runs, moved = (
        {key[0] for key in both if before.get(key, none)[part] != after.get(key, none)[part]} for part in (0, 1)
    )
    if moved or other_runs or (always and both):
        yield f"{title}: {len(moved):,} of {counted(systems, 'system')} change rank, {len(other_runs):,} the run shown."


def _answers_shown(session: Session, before: _State, after: _State) -> Iterator[str]:
    """How many answers, and entries of runs' own metadata, were for their team and the organisers only."""
    rows = session.execute(
        with_current_scoring(sa.select(Submission.answers, Submission.said, Scoring.facts)).where(
            Submission.evaluation_id == after.evaluation.id,
            Submission.withdrawn_at.is_(None),
            sa.or_(Scoring.state.is_(None), Scoring.state != State.REJECTED),
        )
    )
    runs = [(answers, rules.said_by(facts or {}, said)) for answers, said, facts in rows]
    opened = sum(len(_for_everyone(after.fields, *run) - _for_everyone(before.fields, *run)) for run in runs)
    if opened:
        yield f"{after.evaluation.title}: {counted(opened, 'answer')} shown to more readers, for good."


def _for_everyone(fields: tuple[rules.FormField, ...], answers: Any, said: dict[str, str]) -> set[tuple[str, str]]:
    """What everyone who sees whose run it is sees of its answers and its metadata: ("answer" or "file", its key)."""
    everyone = [field for field in fields if field.shown_to is rules.ShownTo.EVERYONE]
    read = {key for key in said if any(field.reads(key) for field in everyone)}
    of_file = {("file", key) for key in read | rules.said_to(fields, said, {rules.ShownTo.EVERYONE}).keys()}
    return of_file | {("answer", field.key) for field in everyone if field.key in answers}


class Urgency(StrEnum):
    """How far a point stands in the way."""

    TO_DO = "to do"  # without it the evaluation can't do what it is there for
    LOOK = "worth a look"  # it may be meant so
    DONE = "done"


class Mend(StrEnum):
    """Where a point is mended."""

    QUERIES = "queries"
    JUDGMENTS = "judgments"
    SETTINGS = "settings of the evaluation"
    CAMPAIGN = "settings of the campaign"
    ORGANISERS = "teams let in"
    SYSTEMS = "systems"
    FORM = "form and file rules"


@dataclass(frozen=True, slots=True)
class Point:
    about: str
    urgency: Urgency
    words: str
    mend: Mend


# Where it is mended that a measure lacks something.
MENDS: dict[Need, Mend] = {
    "documents": Mend.SETTINGS, "beta": Mend.CAMPAIGN, "known": Mend.JUDGMENTS, "subtopics": Mend.JUDGMENTS,
}  # fmt: skip
TO_DO, LOOK, DONE = Urgency
# Of one check: what is done comes last, and counts where nothing else is said. Without a place where it is mended it is
# mended at the check's.
Points = Iterator[tuple[Urgency, str] | tuple[Urgency, str, Mend]]


def readiness(session: Session, actor: Actor, campaign_slug: str, slug: str, now: dt.datetime) -> tuple[Point, ...]:
    """Every point, what is to do first. Raises NotFound."""
    evaluation = organised_evaluation(session, actor, campaign_slug, slug)
    return tuple(sorted(_points(session, evaluation, now), key=lambda point: [*Urgency].index(point.urgency)))


def left_to_do(session: Session, actor: Actor, campaign_slug: str, now: dt.datetime) -> dict[str, int]:
    """Evaluation -> how many points are to do, of those that have not closed and of drafts. Raises NotFound."""
    campaign = organised_campaign(session, actor, campaign_slug)
    evaluations = session.scalars(sa.select(Evaluation).where(Evaluation.campaign_id == campaign.id)).all()
    return {
        evaluation.slug: sum(point.urgency is TO_DO for point in _points(session, evaluation, now))
        for evaluation in evaluations
        if evaluation.draft or rules.phase_of(evaluation, now) is not rules.Phase.CLOSED
    }


def _points(session: Session, evaluation: Evaluation, now: dt.datetime) -> Iterator[Point]:
    revision = newest_revision(session, evaluation, evaluation.official_source)
    checks: dict[str, tuple[Mend, Points]] = {
        "Queries": (Mend.QUERIES, _queries(session, evaluation)),
        "Judgments": (Mend.JUDGMENTS, _judgments(session, evaluation, revision)),
        "Measures": (Mend.CAMPAIGN, _measures(session, evaluation, revision)),
        "Dates": (Mend.SETTINGS, _dates(session, evaluation, now)),
        "Who knows of it": (Mend.SETTINGS, _knowledge(session, evaluation)),
        "What is public": (Mend.SETTINGS, _openings(evaluation, now)),
        "Quotas": (Mend.SETTINGS, _quotas(evaluation)),
        "Documents": (Mend.FORM, _document_list(session, evaluation, revision)),
        "Baselines": (Mend.SYSTEMS, _baselines(session, evaluation)),
        "Words": (Mend.CAMPAIGN, _words(evaluation)),
    }
    for about, (mend, check) in checks.items():
        points = [Point(about, urgency, words, *more or [mend]) for urgency, words, *more in check]
        yield from [point for point in points if point.urgency is not DONE] or points


def _queries(session: Session, evaluation: Evaluation) -> Points:
    own = Query.evaluation_id == evaluation.id, Query.excluded_at.is_(None)
    counting = session.execute(sa.select(Query.split, Query.text == "").where(*own)).all()
    textless = sum(empty for _, empty in counting)
    if not counting:
        yield TO_DO, "There are no queries, or all are excluded."
    elif all(split is rules.Split.HIDDEN for split, _ in counting):
        yield TO_DO, "All queries are hidden: nobody can make a run."
    if textless:
        yield LOOK, f"{_of_all(textless, counting)} without a text: participants see ids only."
    yield DONE, f"{counted(len(counting), 'query')}."


def _of_all(count: int, queries: Sequence[Any]) -> str:
    return f"{counted(count, 'query')} of {len(queries):,}"


def _judgments(session: Session, evaluation: Evaluation, revision: JudgmentRevision | None) -> Points:
    if revision is None:
        yield TO_DO, "There are no judgments yet. Runs are taken, and scored once there are."
        return
    grades = session.scalars(
        sa.select(sa.func.max(Judgment.grade))
        .select_from(Query)
        .outerjoin(Judgment, sa.and_(Judgment.query_id == Query.id, Judgment.revision_id == revision.id))
        .where(Query.evaluation_id == evaluation.id, Query.excluded_at.is_(None))
        .group_by(Query.id)
    ).all()
    unjudged = grades.count(None) if evaluation.judging is rules.Judging.POOLED else 0
    barren = sum(grade is None or grade < evaluation.relevance_level for grade in grades) - unjudged
    if unjudged:
        yield LOOK, f"{_of_all(unjudged, grades)} without judgments: left out of all means."
    if barren:
        yield LOOK, f"{_of_all(barren, grades)} without a relevant document."
    yield DONE, f"{counted(revision.judgments, 'judgment')}."


def _measures(session: Session, evaluation: Evaluation, revision: JudgmentRevision | None) -> Points:
    known, subtopics = (  # before there are judgments, they may come with them
        revision is None or bool(session.scalar(sa.select(sa.exists().where(table.revision_id == revision.id))))
        for table in (KnownDocument, SubtopicJudgment)
    )
    documents, beta = evaluation.documents, evaluation.campaign.beta
    missing = defaultdict[Need, list[str]](list)
    for name in campaign_measures(evaluation.campaign):
        for need in rules.lacks(metrics.parse(name), documents=documents, beta=beta, known=known, subtopics=subtopics):
            missing[need].append(name)
    for need, names in missing.items():
        yield TO_DO, f"{', '.join(names)} {'need' if names[1:] else 'needs'} {NEEDED[need]}.", MENDS[need]
    if revision is not None and current_set(session, evaluation.id) is None:
        yield TO_DO, "No run can be scored with these settings.", Mend.JUDGMENTS
    yield DONE, "Every measure has what it needs."


def _dates(session: Session, evaluation: Evaluation, now: dt.datetime) -> Points:
    takes_runs = rules.phase_of(evaluation, now) in TAKES_RUNS
    counts = sa.select(sa.func.count(), sa.func.count(Submission.imported_at))
    runs, imported = session.execute(counts.where(Submission.evaluation_id == evaluation.id)).one()
    waiting = [name for name in ("results", "details", "texts") if getattr(evaluation, name) is rules.Opening.CLOSED]
    start, end = (moment and moment_in_words(moment) for moment in (evaluation.opens_at, evaluation.closes_at))
    if end is None and 0 < runs == imported:
        yield TO_DO, "Its runs were brought in, and it takes new ones without end. Give the dates that it had."
    elif end is None and waiting:
        yield LOOK, f"It never closes, so what is to open when it closes stays closed: {', '.join(waiting)}."
    elif not takes_runs and not runs:
        yield TO_DO, f"It closed on {end}. No run ever came: give it dates to come."
    if takes_runs and (revealed := revealed_in_words(once_revealed(session, evaluation))):
        yield LOOK, f"It takes runs again, and ranks them, although everybody could read before: {revealed}."
    late = "; late runs are taken" if evaluation.late_allowed else ""
    yield DONE, f"Open from {start or 'the start'} {f'to {end}{late}' if end else 'on; it never closes'}."


def _knowledge(session: Session, evaluation: Evaluation) -> Points:
    """Who knows of it."""
    visibility, own = evaluation.campaign.visibility, CampaignTeam.campaign_id == evaluation.campaign_id
    if evaluation.draft:
        yield TO_DO, "It is a draft: for everybody but organisers it is not there."
    elif visibility is Visibility.DRAFT:
        yield TO_DO, "Its campaign is a draft: for everybody but organisers it is not there.", Mend.CAMPAIGN
    elif visibility is Visibility.PRIVATE:
        teams = session.scalar(sa.select(sa.func.count()).where(own)) or 0
        words = f"The campaign is private: {counted(teams, 'team')} let in."
        yield DONE if teams else TO_DO, words, Mend.ORGANISERS
    else:
        yield DONE, "Everybody."


def _openings(evaluation: Evaluation, now: dt.datetime) -> Points:
    until, closes = evaluation.anonymous_until, evaluation.closes_at
    if rules.phase_of(evaluation, now) is not rules.Phase.CLOSED and evaluation.details is rules.Opening.ALWAYS:
        yield LOOK, "Results by query are public while runs are taken: they reveal the judgments."
    if evaluation.judgments_published and closes is None:
        yield LOOK, "The judgments are published when it has closed, and it never closes: give it a closing date."
    if evaluation.texts is rules.Opening.NEVER:
        yield LOOK, "Texts of queries are never public: give them to participants in another way."
    if until is not None and closes is not None and until < closes:
        yield LOOK, f"Names of teams are shown from {moment_in_words(until)} on, before it closes."
    board = {rules.Opening.NEVER: "to organisers only", rules.Opening.CLOSED: "to all once it has closed"}
    yield DONE, f"The board is shown {board.get(evaluation.results, 'to all')}."


def _quotas(evaluation: Evaluation) -> Points:
    quotas = {"a day": evaluation.daily_quota, "in all": evaluation.total_quota}
    bounds = [f"{bound:,} {when}" for when, bound in quotas.items() if bound is not None]
    if not bounds:
        yield LOOK, "No limit of submissions: the figures of many runs tell something of the judgments."
    if 0 in quotas.values():
        yield LOOK, "The quota is 0: no team can submit a run. Left empty, there is no limit."
    yield DONE, f"A team submits {' and '.join(bounds)} at most."


def _document_list(session: Session, evaluation: Evaluation, revision: JudgmentRevision | None) -> Points:
    """Whether the list of documents can be the collection's: by its length, since each look at a page asks."""
    listed, documents = file_rules(evaluation).documents, evaluation.documents
    if not listed:
        return
    has, refused = f"The list of documents has {counted(listed, 'document')}", "Runs that name others are rejected."
    if documents is not None and documents != listed:
        yield TO_DO, f"{has}, and the collection {documents:,} (N_total). {refused}"
    if documents is None and revision is not None:
        different = sa.select(sa.func.count(sa.distinct(Judgment.document)))
        if (judged := session.scalar(different.where(Judgment.revision_id == revision.id)) or 0) > listed:
            yield TO_DO, f"{has}, and {judged:,} are judged. {refused}"
    yield DONE, f"{has}."


def _baselines(session: Session, evaluation: Evaluation) -> Points:
    own = Submission.evaluation_id == evaluation.id, Submission.withdrawn_at.is_(None)
    systems = sa.select(sa.func.count(sa.distinct(System.id))).join(Submission, Submission.system_id == System.id)
    if count := session.scalar(systems.where(*own, System.kind == SystemKind.BASELINE)):
        yield DONE, f"{counted(count, 'baseline')}."
    else:
        yield (
            LOOK,
            "No baseline yet: participants see better where they stand beside one. Mark a system with runs as one.",
        )


def _words(evaluation: Evaluation) -> Points:
    lacking = [f"no {name}" for name in ("contact", "guidelines") if not getattr(evaluation.campaign, name)]
    words = " and ".join(lacking) or "guidelines and a contact"
    yield LOOK if lacking else DONE, f"The campaign's page has {words}."
