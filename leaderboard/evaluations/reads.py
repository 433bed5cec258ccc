"""Campaigns, evaluations and queries by the names of their addresses, and whether one can be removed.

What everybody may see of an evaluation, of what there is to see; and what a change of its dates took back.

What an evaluation asks beside a run.

What an evaluation asks of a submission, as its organisers see it.

The headings of pages: the campaign, the evaluation, and the settings that its figures depend on.

What a change does at once, as counts: listed before it is kept, so that nobody re-scores or opens unawares.

To know it the change is made in `session`, and compared with what `committed` reads; it is undone unless confirmed.

What an evaluation still lacks before it can open, and before its runs can be scored and shown.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import access, errors, metrics
from leaderboard.access import Actor, Content, known_campaigns, known_evaluations, open_to_all, subset_seen
from leaderboard.audit.models import Event
from leaderboard.audit.stored_events import stored_events
from leaderboard.boards.reads.entries import Column, Disclosure, column, columns_of, load_entries
from leaderboard.boards.reads.ranking import Show, choose, ranks
from leaderboard.boards.rules import Rounding
from leaderboard.campaigns.models import Campaign, CampaignTeam
from leaderboard.campaigns.rules import Visibility, is_beta_of, is_known
from leaderboard.db import exists, missing, read_so_far, snapshot
from leaderboard.evaluations import rules
from leaderboard.evaluations.models import Acceptance, Agreement, CollectionList, Evaluation
from leaderboard.evaluations.rules import FormField, Opening, Phase, ScoringSettings, ShownTo, Split, Subset, phase_of
from leaderboard.formats import FileRules
from leaderboard.frozen import frozen
from leaderboard.judgments.models import Judgment, JudgmentRevision, KnownDocument, Query, SubtopicJudgment
from leaderboard.metrics.measure import NEEDED, Need
from leaderboard.moments import moment_in_words
from leaderboard.numbers import counted
from leaderboard.submissions.models import Participation, Submission
from leaderboard.submissions.reads.selection import ITS_TEAMS_PART, with_current_scoring
from leaderboard.submissions.rules import SetState, State, SystemKind
from leaderboard.teams.models import System
from leaderboard.worker.models import Scoring, ScoringSet
from leaderboard.worker.reads import IS_CURRENT, current_set, newest_revision, note_current_set, standing_set


def find_campaign(session: Session, actor: Actor, slug: str) -> Campaign:
    """Raises NotFound, also where `actor` may not know of it."""
    known = known_campaigns(actor)
    campaign = session.scalar(sa.select(Campaign).where(Campaign.slug == slug, known))
    return campaign or missing(session, "campaign", slug, Campaign.slug, known)


def find_evaluation(session: Session, actor: Actor, campaign_slug: str, slug: str) -> Evaluation:
    """The evaluation with its campaign, in one statement. Raises NotFound, also where `actor` may not know of it."""
    return find_evaluation_and_set(session, actor, campaign_slug, slug)[0]


def organised_campaign(session: Session, actor: Actor, slug: str) -> Campaign:
    """Raises NotFound also for whoever does not organise it."""
    campaign = find_campaign(session, actor, slug)
    if not actor.may_organise(campaign.id):
        raise errors.NotFound
    return campaign


def organised_evaluation(session: Session, actor: Actor, campaign_slug: str, slug: str) -> Evaluation:
    """The evaluation with its campaign. Raises NotFound also for whoever does not organise the campaign."""
    organised_campaign(session, actor, campaign_slug)
    return find_evaluation(session, actor, campaign_slug, slug)


def find_evaluation_and_set(
    session: Session, actor: Actor, campaign_slug: str, slug: str
) -> tuple[Evaluation, ScoringSet | None]:
    """The same with what `current_set` gives, still in one statement."""
    own = Evaluation.campaign_id == Campaign.id, Campaign.slug == campaign_slug, known_evaluations(actor)
    row = session.execute(
        sa.select(Evaluation, ScoringSet)
        .join(Evaluation.campaign)
        .outerjoin(ScoringSet, sa.and_(ScoringSet.evaluation_id == Evaluation.id, IS_CURRENT))
        .outerjoin(ScoringSet.revision)
        .options(sa.orm.contains_eager(Evaluation.campaign), sa.orm.contains_eager(ScoringSet.revision))
        .where(*own, Evaluation.slug == slug)
    ).one_or_none()
    if not row:
        find_campaign(session, actor, campaign_slug)
        missing(session, "evaluation", slug, Evaluation.slug, *own, within=f" in {campaign_slug}")
    evaluation, current = row
    note_current_set(session, evaluation.id, current)
    return evaluation, current


def removal_refusal(session: Session, which: Campaign | Evaluation | System) -> str | None:
    """Why a campaign, an evaluation or a system can't be removed, in words; None when it can."""
    own = {Campaign: Evaluation.campaign_id, Evaluation: Evaluation.id, System: Submission.system_id}[type(which)]
    if not exists(session, Submission.evaluation_id == Evaluation.id, own == which.id):
        return None
    name = which.name if isinstance(which, System) else which.title
    return f"{name} has submissions, which stay on record; it can't be removed."


def queries_stay(session: Session, evaluation: Evaluation) -> str | None:
    """Why queries of an evaluation can't be removed any more, in words; None while they can."""
    for table, what in ((JudgmentRevision, "judgments"), (Submission, "submissions")):
        if exists(session, table.evaluation_id == evaluation.id):
            return f"{evaluation.title} has {what}, so its queries stay on record; exclude what shall not count."
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


REVEALING = frozenset({"details", "judgments", "hidden_queries"})  # who has read these makes better runs
CLOSED_AGAIN = "closed_again"  # the fact of an event: what of these everybody could read until a change took it back


def of_what_there_is(session: Session, evaluation: Evaluation, opened: Collection[str]) -> frozenset[str]:
    """Those of what `open_to_all` names that the evaluation has something of: nothing opens with no runs."""
    of_content: dict[str, Any] = {"texts": Query, "hidden_queries": Query, "judgments": JudgmentRevision}
    narrowed = {"hidden_queries": [Query.split == Split.HIDDEN]}
    rows = {name: of_content.get(name, Submission).evaluation_id == evaluation.id for name in opened}
    return frozenset(name for name, own in rows.items() if exists(session, own, *narrowed.get(name, [])))


def closed_again(session: Session, evaluation: Evaluation, before: Collection[str], now: datetime) -> dict[str, Any]:
    """What a change just took back of `REVEALING` that everybody could read, as facts of its event; none for nothing.

    before  what `open_to_all` gave before the change
    """
    closed = of_what_there_is(session, evaluation, REVEALING.intersection(before) - open_to_all(evaluation, now))
    return {CLOSED_AGAIN: sorted(closed)} if closed else {}


def once_revealed(session: Session, evaluation: Evaluation) -> frozenset[str]:
    """What of `REVEALING` everybody could read until a change of the evaluation took it back, by the audit trail."""
    of_it = (Event.subject == "evaluation", Event.subject_id == evaluation.id, Event.action == "change")
    facts = [stored.event.facts for stored in stored_events(session, *of_it) if stored.event]
    return REVEALING.intersection(name for own in facts for name in own.get(CLOSED_AGAIN, ()))


def form_fields(evaluation: Evaluation) -> tuple[FormField, ...]:
    """The fields of its submission form, retired ones too, in their order."""
    return tuple(map(FormField.from_json, evaluation.form_fields))


def fields_used(session: Session, evaluation: Evaluation) -> tuple[Counter[str], set[str]]:
    """How many runs answer each field of its form, by the field's key: in the form, or in their own metadata.

    And the keys of the fields that keep something that a run says of itself to fewer than who sees whose run it is:
    what they read, and its parts. Of a run whose file was not read yet everything is taken to be said.
    """
    fields, answered, keeping = form_fields(evaluation), Counter[str](), set[str]()
    closed = [field for field in fields if field.header and field.shown_to is not ShownTo.EVERYONE]
    runs = with_current_scoring(sa.select(Submission.answers, Submission.said, Scoring.facts, Scoring.state))
    for answers, beside, facts, state in session.execute(runs.where(Submission.evaluation_id == evaluation.id)):
        was_read, said = state in (State.SCORED, State.REJECTED), rules.said_by(facts or {}, beside)
        answered.update(field.key for field in rules.answers_of(fields, answers, said))
        keeping |= {field.key for field in closed if not was_read or any(map(field.covers, said))}
    return answered, keeping


def file_rules(evaluation: Evaluation) -> FileRules:
    """What it asks of run files."""
    return FileRules.from_json(evaluation.file_rules)


def collection_list(session: Session, evaluation_id: int) -> bytes | None:
    """The document ids of its collection, packed; None where no list was given."""
    return session.scalar(sa.select(CollectionList.packed).where(CollectionList.evaluation_id == evaluation_id))


def standing_agreements(session: Session, evaluation_id: int) -> dict[str, Agreement]:
    """The last version of each agreement that was not ended, by its key, in the order of these."""
    own = sa.select(Agreement).where(Agreement.evaluation_id == evaluation_id)
    last = {version.key: version for version in session.scalars(own.order_by(Agreement.key, Agreement.version))}
    return {key: agreement for key, agreement in last.items() if not agreement.ended_at}


@frozen
class OrganisedField:
    """A field, and what keeps it from being removed.

    answered  how many runs answer it: in the form, or in their own metadata
    keeps     whether it keeps something that runs say of themselves to organisers and the run's team
    """

    field: FormField
    answered: int
    keeps: bool


@frozen
class OrganisedAgreement:
    """The standing version of an agreement, and how many accounts accepted it."""

    key: str
    version: int
    title: str
    text: str
    since: datetime
    accepted: int


@frozen
class OrganisedForm:
    """others: slug and title of the campaign's other evaluations, whose form could be copied, the newest first."""

    fields: tuple[OrganisedField, ...]
    agreements: tuple[OrganisedAgreement, ...]
    rules: FileRules
    others: tuple[tuple[str, str], ...]


def organised_form(session: Session, actor: Actor, campaign: str, evaluation: str, _: datetime) -> OrganisedForm:
    """Raises NotFound also for whoever does not organise the campaign."""
    record = organised_evaluation(session, actor, campaign, evaluation)
    answers, keeping = fields_used(session, record)
    own = sa.select(Acceptance.agreement_id).join(Agreement).where(Agreement.evaluation_id == record.id)
    accepted = Counter(session.scalars(own))
    others = sa.select(Evaluation.slug, Evaluation.title).where(
        Evaluation.campaign_id == record.campaign_id, Evaluation.id != record.id
    )
    return OrganisedForm(
        fields=tuple(OrganisedField(field, answers[field.key], field.key in keeping) for field in form_fields(record)),
        agreements=tuple(
            snapshot(OrganisedAgreement, agreement, since=agreement.created_at, accepted=accepted[agreement.id])
            for agreement in standing_agreements(session, record.id).values()
        ),
        rules=file_rules(record),
        others=tuple(
            (slug, title)
            for slug, title in session.execute(others.order_by(Evaluation.period_key.desc(), Evaluation.id))
        ),
    )


@frozen
class CampaignHeading:
    slug: str
    title: str
    description: str
    simulated: bool
    visibility: Visibility
    archived: bool


@frozen
class EvaluationHeading:
    """What a page shows of its evaluation.

    results, details  when they open to the public; each page's own fields say whether this reader sees them
    closed_from       the end of the grace after closing: when what closing opens is open
    """

    id: int
    campaign: CampaignHeading
    slug: str
    title: str
    description: str
    period: str
    period_key: int
    condition: str
    collection: str
    phase: Phase
    opens_at: datetime | None
    closes_at: datetime | None
    grace_seconds: int
    closed_from: datetime | None
    late_allowed: bool
    results: Opening
    details: Opening
    draft: bool


@frozen
class JudgedQuery:
    """A query and what a scoring set's judgments say of it. best_grade: None without any."""

    tags: tuple[str, ...]
    position: int
    external_id: str
    text: str
    split: Split
    excluded: bool
    best_grade: int | None


@frozen
class Terms:
    """The settings that all figures of an evaluation depend on: figures under equal terms can be compared.

    cost, value, prior  as the campaign gives them; None when β is not theirs
    queries             all that this reader may know of: counted + excluded + unjudged
    counted             those that may have a value: judged and not excluded
    nothing_relevant    counted ones without a relevant document, which measures may leave out
    unjudged            left out because nothing is judged (pooled judging)
    rounding            how this reader sees figures; None: with all digits. Where they are rounded, how many queries
                        are judged is not told: `counted` is then those that count if they are judged, `unjudged` None
    """

    settings: ScoringSettings
    cost: float | None
    value: float | None
    prior: float | None
    metric_version: str
    revision: int
    revision_at: datetime
    queries: int
    counted: int
    nothing_relevant: int
    excluded: int
    unjudged: int | None
    rounding: Rounding | None
    columns: tuple[Column, ...]

    @property
    def primary(self) -> Column:
        return self.columns[0]


def campaign_measures(campaign: Campaign) -> tuple[str, ...]:
    """The measures that the campaign shows, the primary one first."""
    return tuple(dict.fromkeys((campaign.primary_measure, *campaign.measures)))


def measures_of_returned(campaign: Campaign) -> tuple[str, ...]:
    """Those of them that count what was returned, for which θ is asked."""
    return tuple(name for name in campaign_measures(campaign) if metrics.parse(name).family.of_returned)


def campaign_heading(campaign: Campaign) -> CampaignHeading:
    """What a page shows of its campaign."""
    return snapshot(CampaignHeading, campaign, archived=campaign.archived_at is not None)


def evaluation_heading(evaluation: Evaluation, now: datetime) -> EvaluationHeading:
    """What a page shows of its evaluation at the moment `now`."""
    return snapshot(
        EvaluationHeading,
        evaluation,
        campaign=campaign_heading(evaluation.campaign),
        phase=phase_of(evaluation, now),
        closed_from=rules.closed_from(evaluation),
    )


def closed_details(evaluation: Evaluation) -> str:
    """Why single queries can't be seen, and from when."""
    closed, words = rules.closed_from(evaluation), "the organisers keep them to themselves"
    if closed and Opening.NEVER not in (evaluation.details, evaluation.results):
        words = f"they open when the evaluation closes, {moment_in_words(closed)}"
    return f"Single queries would give the judgments away; {words}."


def terms_of(
    session: Session,
    actor: Actor,
    sets: Sequence[tuple[Evaluation, ScoringSet]],
    now: datetime,
    team_id: int | None = None,
) -> dict[int, Terms]:
    """Evaluation id -> the terms of the scoring set that comes with it, as `actor` sees them, or of `team_id`'s own
    runs; in one statement.
    """
    roundings = {
        own.id: access.rounding_seen(actor, evaluation, own.settings, now, team_id) for evaluation, own in sets
    }
    queries_of(session, [own for _, own in sets if roundings[own.id] is None])
    terms_by_id = {}
    for evaluation, scoring_set in sets:
        revision, settings, rounding = scoring_set.revision, scoring_set.settings, roundings[scoring_set.id]
        parts = {name: getattr(evaluation.campaign, name) for name in ("cost", "value", "prior")}
        judged = judged_queries(session, scoring_set) if rounding is None else None
        terms_by_id[evaluation.id] = Terms(
            settings=settings,
            **(parts if is_beta_of(settings.beta, **parts) else dict.fromkeys(parts)),
            metric_version=scoring_set.metric_version,
            revision=revision.number,
            revision_at=revision.released_at or revision.imported_at,
            rounding=rounding,
            columns=columns_of(settings),
            **_counts(settings, subset_seen(actor, evaluation, now), judged),
        )
    return terms_by_id


def queries_of(session: Session, sets: Iterable[ScoringSet]) -> dict[int, list[JudgedQuery]]:
    """Set id -> all queries of its evaluation, in the order of their positions, those too that came after it, which
    have no place in its vectors; at most one statement for all sets. Other sets may be among them.
    """
    known: dict[int, list[JudgedQuery]] = read_so_far(session, "judged queries")
    if unread := {scoring_set.id for scoring_set in sets} - known.keys():
        known.update((set_id, []) for set_id in unread)
        of_query = Judgment.revision_id == ScoringSet.revision_id, Judgment.query_id == Query.id
        rows = session.execute(
            sa.select(
                *(ScoringSet.id, Query.tags, Query.position, Query.external_id, Query.text, Query.split),
                Query.excluded_at.is_not(None),
                sa.select(sa.func.max(Judgment.grade)).where(*of_query).scalar_subquery(),
            )
            .join(Query, Query.evaluation_id == ScoringSet.evaluation_id)
            .where(ScoringSet.id.in_(unread))
            .order_by(Query.position)
        )
        for set_id, tags, *row in rows:
            known[set_id].append(JudgedQuery(tuple(tags), *row))
    return known


def judged_queries(session: Session, scoring_set: ScoringSet) -> list[JudgedQuery]:
    """The set's own queries, in the order of their positions."""
    return queries_of(session, [scoring_set])[scoring_set.id][: scoring_set.settings.queries]


def queries_of_subset(session: Session, scoring_set: ScoringSet, subset: Subset, texts: bool) -> list[JudgedQuery]:
    """All queries of a set's evaluation that are in the subset; `texts`: whether their texts and tags may be seen."""
    queries = queries_of(session, [scoring_set])[scoring_set.id]
    known = [query for query in queries if not subset.leaves_out(query.split)]
    return known if texts else [replace(query, text="", tags=()) for query in known]


def _counts(settings: ScoringSettings, subset: Subset, judged: Sequence[JudgedQuery] | None) -> dict[str, Any]:
    """The counts of queries. judged: None for a reader who may not know which are."""
    size = settings.size(subset)
    queries = settings.queries - (len(settings.hidden) if subset is Subset.SHOWN else 0)
    counts = {"queries": queries, "counted": size, "nothing_relevant": 0, "excluded": queries - size, "unjudged": None}
    if judged is not None:
        best = {query.external_id: query.best_grade for query in judged}
        is_complete = settings.judging is rules.Judging.COMPLETE
        grades = [best[query] for query in settings.counted(best, subset) if is_complete or best[query] is not None]
        barren = sum((grade or 0) < settings.relevance_level for grade in grades)
        counts |= {"counted": len(grades), "nothing_relevant": barren, "unjudged": size - len(grades)}
    return counts


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
TAKES_RUNS = Phase.UPCOMING, Phase.OPEN  # those that are ranked, now or later


@frozen
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
    fields: tuple[FormField, ...]


def effects(
    session: Session, committed: Session, actor: Actor, changed: sa.ColumnElement[bool], now: datetime
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
            was, are = (
                _places(own, each.evaluation, actor, now) for own, each in ((committed, before), (session, after))
            )
            other_source = before.evaluation.official_source != after.evaluation.official_source
            lines += _moved(after.evaluation.title, was, are, always=other_source)
        if before.fields != after.fields:
            lines += _answers_shown(committed, before, after)
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


def _state(session: Session, evaluation: Evaluation, now: datetime) -> _State:
    campaign = evaluation.campaign
    known_to = Visibility.DRAFT if evaluation.draft else campaign.visibility
    let_in = {*session.scalars(sa.select(CampaignTeam.team_id).where(CampaignTeam.campaign_id == campaign.id))}
    entered = set(session.scalars(sa.select(Submission.team_id).where(Submission.evaluation_id == evaluation.id)))
    current = standing_set(session, evaluation.id, evaluation.official_source)
    own = Submission.evaluation_id == evaluation.id
    baselines = sa.select(System.id).where(System.kind == SystemKind.BASELINE, Submission.system_id == System.id, own)
    chosen = sa.select(
        Submission.id, Submission.chosen_at, Submission.withdrawn_at, Submission.ruling, Submission.holds_place,
        Participation.primary_submission_id,
    ).outerjoin(Participation, ITS_TEAMS_PART).where(own)  # fmt: skip
    return _State(
        evaluation=evaluation,
        readers=READERS.index(known_to),
        takes_runs=phase_of(evaluation, now) in TAKES_RUNS,
        open=open_to_all(evaluation, now),
        knowing={team: team in let_in for team in entered if is_known(known_to, let_in=team in let_in)},
        ranked_by=(
            current and (current.id, current.primary_measure),
            campaign.run_choice,
            {*session.scalars(baselines)},
            {*session.execute(chosen)},
        ),
        fields=form_fields(evaluation),
    )


def _opened(session: Session, before: _State, after: _State) -> Iterator[str]:
    """What closes or opens: for runs, and for readers."""
    evaluation = after.evaluation
    title, was_open, is_open = evaluation.title, *(each.takes_runs and each.readers > 0 for each in (before, after))
    if was_open and not after.takes_runs and after.readers:
        follows = "runs are late from now on" if evaluation.late_allowed else "it takes no runs any more"
        yield f"{title} closes at once: {follows}."
    hidden_names = frozenset() if "results" in after.open else {"names"}  # there is no board that they stand on
    known_before = frozenset() if before.readers < after.readers else before.open
    if opened := of_what_there_is(session, evaluation, after.open - known_before - hidden_names):
        private = evaluation.campaign.visibility is Visibility.PRIVATE
        whom = "members of the teams that are let in" if private else "everybody"
        yield f"{title} opens to {whom}, for good: {revealed_in_words(opened)}."
    if is_open and not was_open:
        revealed = once_revealed(session, evaluation) | of_what_there_is(session, evaluation, REVEALING & before.open)
        if revealed:
            yield f"{title} takes runs again, although these could be read: {revealed_in_words(revealed)}."


def _places(session: Session, evaluation: Evaluation, actor: Actor, now: datetime) -> Places:
    current = standing_set(session, evaluation.id, evaluation.official_source)
    if not current:
        return {}
    by, disclosure = column(current.primary_measure), Disclosure(actor, evaluation, current, now)
    if not disclosure.sees(Content.RESULTS, own=False):
        return {}
    entries = choose(load_entries(session, [disclosure], [by.name]), Show(evaluation.campaign.run_choice.value), by)
    rank = ranks(entries, by)
    return {(run.system_id, run.late): (run.submission_id, rank.get(run.scoring_id)) for run in entries}


def _moved(title: str, before: Places, after: Places, *, always: bool) -> Iterator[str]:
    """How many systems stand otherwise. always: by another source, which has other figures too."""
    both, none = before.keys() | after.keys(), (0, None)
    other_runs, moved = (
        {key[0] for key in both if before.get(key, none)[part] != after.get(key, none)[part]} for part in (0, 1)
    )
    if other_runs or moved or (both and always):
        systems = counted(len({system for system, _ in both}), "system")
        yield f"{title}: {len(moved):,} of {systems} change rank; another run is shown for {len(other_runs):,}."


def _answers_shown(committed: Session, before: _State, after: _State) -> Iterator[str]:
    """The fields whose answers, or whose part of runs' own metadata, were for their team and the organisers only."""
    used = set[str]().union(*fields_used(committed, before.evaluation))
    closed = {(field.key, field.header) for field in after.fields if field.shown_to is not ShownTo.EVERYONE}
    open_before, read = (
        {field.header for field in state.fields if field.shown_to is ShownTo.EVERYONE} for state in (before, after)
    )
    opened = [
        field.label
        for field in before.fields
        if field.shown_to is not ShownTo.EVERYONE and field.key in used
        if (field.key, field.header) not in closed or any(map(field.covers, read - open_before))
    ]
    if opened:
        yield f"{after.evaluation.title}: answers to {', '.join(opened)} are shown to more readers, for good."


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


@frozen
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


def readiness(session: Session, actor: Actor, campaign_slug: str, slug: str, now: datetime) -> tuple[Point, ...]:
    """Every point, what is to do first. Raises NotFound."""
    points = _points(session, organised_evaluation(session, actor, campaign_slug, slug), now)
    return tuple(sorted(points, key=lambda point: [*Urgency].index(point.urgency)))


def left_to_do(session: Session, actor: Actor, campaign_slug: str, now: datetime) -> dict[str, int]:
    """Evaluation -> how many points are to do, of those that have not closed and of drafts. Raises NotFound."""
    campaign = organised_campaign(session, actor, campaign_slug)
    own = sa.select(Evaluation).where(Evaluation.campaign_id == campaign.id)
    return {
        evaluation.slug: sum(point.urgency is TO_DO for point in _points(session, evaluation, now))
        for evaluation in session.scalars(own).all()
        if evaluation.draft or phase_of(evaluation, now) is not Phase.CLOSED
    }


def _points(session: Session, evaluation: Evaluation, now: datetime) -> Iterator[Point]:
    revision = newest_revision(session, evaluation, evaluation.official_source)
    for about, mend, check in (
        ("Queries", Mend.QUERIES, _queries(session, evaluation)),
        ("Judgments", Mend.JUDGMENTS, _judgments(session, evaluation, revision)),
        ("Measures", Mend.CAMPAIGN, _measures(session, evaluation, revision)),
        ("Dates", Mend.SETTINGS, _dates(session, evaluation, now)),
        ("Who knows of it", Mend.SETTINGS, _knowledge(session, evaluation)),
        ("What is public", Mend.SETTINGS, _openings(evaluation, now)),
        ("Quotas", Mend.SETTINGS, _quotas(evaluation)),
        ("Documents", Mend.FORM, _document_list(evaluation)),
        ("Baselines", Mend.SYSTEMS, _baselines(session, evaluation)),
        ("Words", Mend.CAMPAIGN, _words(evaluation)),
    ):
        points = [Point(about, urgency, words, *more or [mend]) for urgency, words, *more in check]
        yield from [point for point in points if point.urgency is not DONE] or points


def _queries(session: Session, evaluation: Evaluation) -> Points:
    own = Query.evaluation_id == evaluation.id, Query.excluded_at.is_(None)
    counting = session.execute(sa.select(Query.split, Query.text).where(*own)).all()
    if not counting:
        yield TO_DO, "There are no queries, or all are excluded."
    elif all(split is Split.HIDDEN for split, _ in counting):
        yield TO_DO, "All queries are hidden: nobody can make a run."
    if textless := sum(not text for _, text in counting):
        yield LOOK, f"{_of_all(textless, counting)} without a text: participants see ids only."
    yield DONE, f"{counted(len(counting), 'query')}."


def _of_all(count: int, queries: Sequence[Any]) -> str:
    return f"{counted(count, 'query')} of {len(queries):,}"


def _judgments(session: Session, evaluation: Evaluation, revision: JudgmentRevision | None) -> Points:
    if not revision:
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
    barren = sum((grade or 0) < evaluation.relevance_level for grade in grades) - unjudged
    if unjudged:
        yield LOOK, f"{_of_all(unjudged, grades)} without judgments: left out of all means."
    if barren:
        yield LOOK, f"{_of_all(barren, grades)} without a relevant document."
    yield DONE, f"{counted(revision.judgments, 'judgment')}."


def _measures(session: Session, evaluation: Evaluation, revision: JudgmentRevision | None) -> Points:
    known, subtopics = (  # before there are judgments, they may come with them
        not revision or exists(session, table.revision_id == revision.id) for table in (KnownDocument, SubtopicJudgment)
    )
    has = {"documents": evaluation.documents, "beta": evaluation.campaign.beta, "known": known, "subtopics": subtopics}
    lacking = {name: rules.lacks(metrics.parse(name), **has) for name in campaign_measures(evaluation.campaign)}
    for need, mend in MENDS.items():
        if names := [name for name, needs in lacking.items() if need in needs]:
            yield TO_DO, f"{', '.join(names)} {'need' if names[1:] else 'needs'} {NEEDED[need]}.", mend
    if revision and not current_set(session, evaluation.id):
        yield TO_DO, "No run can be scored with these settings.", Mend.JUDGMENTS
    yield DONE, "Every measure has what it needs."


def _dates(session: Session, evaluation: Evaluation, now: datetime) -> Points:
    takes_runs = phase_of(evaluation, now) in TAKES_RUNS
    counts = sa.select(sa.func.count(), sa.func.count(Submission.imported_at))
    runs, imported = session.execute(counts.where(Submission.evaluation_id == evaluation.id)).one()
    waiting = [name for name in ("results", "details", "texts") if getattr(evaluation, name) is Opening.CLOSED]
    start, end = (moment and moment_in_words(moment) for moment in (evaluation.opens_at, evaluation.closes_at))
    if not end and 0 < runs == imported:
        yield TO_DO, "Its runs were brought in, and it takes new ones without end: give it the dates that it had."
    elif waiting and not end:
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
    elif visibility is Visibility.PUBLIC:
        yield DONE, "Everybody."
    else:
        teams = session.scalar(sa.select(sa.func.count()).where(own)) or 0
        words = f"The campaign is private: {counted(teams, 'team')} let in."
        yield DONE if teams else TO_DO, words, Mend.ORGANISERS


def _openings(evaluation: Evaluation, now: datetime) -> Points:
    until, closes = evaluation.anonymous_until, evaluation.closes_at
    if phase_of(evaluation, now) is not Phase.CLOSED and evaluation.details is Opening.ALWAYS:
        yield LOOK, "Results by query are public while runs are taken: they reveal the judgments."
    if evaluation.judgments_published and not closes:
        yield LOOK, "The judgments are published when it has closed, and it never closes: give it a closing date."
    if evaluation.texts is Opening.NEVER:
        yield LOOK, "Texts of queries are never public: give them to participants in another way."
    if until and closes and until < closes:
        yield LOOK, f"Names of teams are shown from {moment_in_words(until)} on, before it closes."
    board = {Opening.NEVER: "to organisers only", Opening.CLOSED: "to all once it has closed"}
    yield DONE, f"The board is shown {board.get(evaluation.results, 'to all')}."


def _quotas(evaluation: Evaluation) -> Points:
    quotas = {"a day": evaluation.daily_quota, "in all": evaluation.total_quota}
    bounds = [f"{bound:,} {when}" for when, bound in quotas.items() if bound is not None]
    if not bounds:
        yield LOOK, "No limit of submissions: the figures of many runs tell something of the judgments."
    if 0 in quotas.values():
        yield LOOK, "The quota is 0: no team can submit a run. Left empty, there is no limit."
    yield DONE, f"A team submits {' and '.join(bounds)} at most."


def _document_list(evaluation: Evaluation) -> Points:
    """Whether the list of documents can be the collection's: by its length, since each look at a page asks."""
    listed, documents = file_rules(evaluation).documents, evaluation.documents
    if not listed:
        return
    has = f"The list of documents has {counted(listed, 'document')}"
    if documents not in (None, listed):
        yield TO_DO, f"{has}, and the collection {documents:,} (N_total). Runs that name others are rejected."
    yield DONE, f"{has}."


def _baselines(session: Session, evaluation: Evaluation) -> Points:
    systems = sa.select(sa.func.count(sa.distinct(System.id))).join(Submission, Submission.system_id == System.id)
    own = Submission.evaluation_id == evaluation.id, Submission.withdrawn_at.is_(None)
    words = "No baseline yet: participants see better where they stand beside one. Mark a system with runs as one."
    count = session.scalar(systems.where(System.kind == SystemKind.BASELINE, *own))
    yield (DONE, f"{counted(count, 'baseline')}.") if count else (LOOK, words)


def _words(evaluation: Evaluation) -> Points:
    lacking = [f"no {name}" for name in ("contact", "guidelines") if not getattr(evaluation.campaign, name)]
    words = " and ".join(lacking) or "guidelines and a contact"
    yield LOOK if lacking else DONE, f"The campaign's page has {words}."
