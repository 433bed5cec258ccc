"""Campaigns, evaluations and queries by the names of their addresses, and whether one can be removed.

What everybody may see of an evaluation, of what there is to see; and what a change of its dates took back.

What an evaluation asks of a submission, for the form and for its organisers.

The headings of pages: the campaign, the evaluation, and the settings that its figures depend on.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import access, errors, metrics, moments
from leaderboard.access import Actor, known_campaigns, known_evaluations, open_to_all, subset_seen
from leaderboard.audit.models import Event
from leaderboard.audit.stored_events import stored_events
from leaderboard.boards.reads.entries import Column, columns_of
from leaderboard.boards.rules import Rounding
from leaderboard.campaigns.models import Campaign, CampaignOrganiser
from leaderboard.campaigns.rules import Visibility, is_beta_of
from leaderboard.db import exists, missing, read_so_far, snapshot
from leaderboard.evaluations import rules
from leaderboard.evaluations.models import Acceptance, Agreement, CollectionList, Evaluation
from leaderboard.evaluations.rules import FormField, Opening, Phase, ScoringSettings, ShownTo, Split, Subset, phase_of
from leaderboard.formats import FileRules
from leaderboard.frozen import frozen
from leaderboard.judgments.models import Judgment, JudgmentRevision, Query
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.selection import with_current_scoring
from leaderboard.submissions.rules import RunChoice, State
from leaderboard.teams.models import System
from leaderboard.worker.models import Scoring, ScoringSet
from leaderboard.worker.reads import IS_CURRENT, note_current_set


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


def find_with_details(
    session: Session, actor: Actor, campaign_slug: str, slug: str, now: datetime
) -> tuple[Evaluation, ScoringSet]:
    """The same where single queries are open to the reader. Raises NotAllowed where they are not, NotFound before the
    first judgments too."""
    evaluation, current = find_evaluation_and_set(session, actor, campaign_slug, slug)
    access.require(access.may_see(actor, evaluation, access.Content.DETAILS, now), closed_details(evaluation))
    if current is None:
        raise errors.NotFound("single queries have figures from the first judgments on")
    return evaluation, current


def removal_refusal(session: Session, which: Campaign | Evaluation | System) -> str | None:
    """Why a campaign, an evaluation or a system can't be removed, in words; None when it can."""
    own = {Campaign: Evaluation.campaign_id, Evaluation: Evaluation.id, System: Submission.system_id}[type(which)]
    runs = [Submission.evaluation_id == Evaluation.id, own == which.id]
    campaign = which.campaign if isinstance(which, Evaluation) else which
    if isinstance(campaign, Campaign) and campaign.locked_at is None:
        organisers = sa.select(CampaignOrganiser.user_id).where(CampaignOrganiser.campaign_id == campaign.id)
        others = sa.and_(Submission.submitter_id.is_not(None), Submission.submitter_id.not_in(organisers))
        runs.append(sa.or_(access.IS_PUBLISHED, others))  # test runs of drafts go with them
    if not exists(session, *runs):
        return None
    name = which.name if isinstance(which, System) else which.title
    return f"{name} has submissions, which stay on record; it can't be removed."


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
IN_WORDS = {
    "results": "the board",
    "details": "results by query, which reveal judgments",
    "judgments": "the judgments themselves",
    "hidden_queries": "the hidden queries",
    "texts": "texts and tags of queries",
    "names": "names of teams and systems",
}


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


def revealed_in_words(opened: Collection[str]) -> str:
    """What of it everybody may read, or could, in words."""
    return "; ".join(words for name, words in IN_WORDS.items() if name in opened)


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
    run_choice: RunChoice


@frozen
class EvaluationHeading:
    """What a page shows of its evaluation.

    results, details  when they open to the public; each page's own fields say whether this reader sees them
    closed_from       the end of the grace after closing: when what closing opens is open
    public            whether every visitor sees its board
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
    public: bool


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
        public=access.may_see(access.VISITOR, evaluation, access.Content.RESULTS, now),
    )


def closed_details(evaluation: Evaluation) -> str:
    """Why single queries can't be seen, and from when."""
    closed, words = rules.closed_from(evaluation), "the organisers keep them to themselves"
    if closed and Opening.NEVER not in (evaluation.details, evaluation.results):
        words = f"they open when the evaluation closes, {moments.moment_in_words(closed)}"
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
