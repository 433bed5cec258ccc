"""A campaign over its periods: the figures of systems and teams, and which settings changed; and the front page and a
campaign's page, which show campaigns together with the progress of one."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from functools import partial

from sqlalchemy.orm import Session

from leaderboard import db, errors
from leaderboard.access import Actor, Content, may_see
from leaderboard.boards.reads import entries as table
from leaderboard.boards.reads.ranking import Show, choose, load_candidates, ranks, sorted_rows
from leaderboard.campaigns import reads as campaign_reads
from leaderboard.campaigns.models import Campaign
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads import evaluations as reads
from leaderboard.evaluations.rules import OF_CAMPAIGN, OF_EVALUATION
from leaderboard.frozen import frozen
from leaderboard.worker.reads import current_sets

# What must be equal for figures of two periods to be compared. Each period has a collection of its own.
COMPARABLE = {**OF_CAMPAIGN, "metric_version": "the version of the measures", **OF_EVALUATION}
del COMPARABLE["documents"]


@frozen
class Period:
    """One evaluation of a condition. `label` is its period's `name`, with its title where a period has several.

    measures: name in the campaign -> name in this evaluation, which holds its relevance level.
    """

    evaluation_id: int
    name: str
    label: str
    slug: str
    title: str
    terms: reads.Terms
    measures: Mapping[str, str]


@frozen
class PeriodPoint:
    """A line in one period. rank: of the run on the board."""

    period: Period
    entry: table.Entry
    figure: table.Figure
    rank: int | None

    @property
    def best(self) -> bool:
        return self.rank == 1

    def under(self, column: table.Column) -> table.Figure:
        """Its figure under a measure of the campaign, as the period counts it."""
        return self.entry.figure(self.period.measures[column.name])


@frozen
class Line:
    """A system over the periods, or the best of a team's systems in each.

    called: what sentences and charts call it: its name, told apart from others of the page
    number: decides its colour, the same on every page of the campaign.
    """

    name: str
    called: str
    system: table.SystemLabel | None
    team: str
    team_slug: str
    number: int
    own: bool
    points: tuple[PeriodPoint, ...]

    def at(self, period: Period) -> PeriodPoint | None:
        return next((point for point in self.points if point.period is period), None)

    def mean(self, period: Period) -> float | None:
        point = self.at(period)
        return point.figure.mean if point else None


@frozen
class ProgressPage:
    """One condition of a campaign. held_back: periods whose results this reader can't see yet; differing: names of the
    terms that are not the same in all periods shown."""

    campaign: reads.CampaignHeading
    conditions: tuple[str, ...]
    condition: str
    columns: tuple[table.Column, ...]
    column: table.Column
    periods: tuple[Period, ...]
    systems: tuple[Line, ...]
    teams: tuple[Line, ...]
    baselines: tuple[Line, ...]
    held_back: tuple[str, ...]
    differing: dict[str, str]

    @property
    def best_of_several(self) -> bool:
        """Whether a point is the best of several runs or systems by its mean, and so without an interval."""
        lines = (*self.systems, *self.teams, *self.baselines)
        return any(point.entry.chosen_of > 1 for line in lines for point in line.points)

    def listed(self, text: str, page: int | None, sort: str) -> tuple[tuple[Line, ...], table.Paging]:
        """The systems and baselines on one page of a long table, or those with this text in their name or their
        team's, as `ordered`."""
        lines = self.ordered((*self.systems, *self.baselines), sort)
        return table.found_on_page(lines, lambda line: (line.name, line.team), text, page)

    def ordered(self, lines: Sequence[Line], sort: str) -> tuple[Line, ...]:
        """By their means in the period of this slug, with - before it the worst first; "": in the latest period."""
        orders = {period.slug: (self.column, partial(Line.mean, period=period)) for period in self.periods}
        return sorted_rows(lines, sort or next(reversed(orders), ""), orders)

    @property
    def is_series(self) -> bool:
        """Whether the evaluations follow each other in time. Several in one period do not: a line between them would
        show no progress."""
        return 1 < len(self.periods) == len({period.name for period in self.periods})


def progress(
    session: Session,
    actor: Actor,
    campaign_slug: str,
    now: datetime,
    *,
    condition: str | None = None,
    measure: str | None = None,
) -> ProgressPage:
    """Raises NotFound for no such campaign, BadInput for a measure or a condition that it does not have.

    `condition`: one of the campaign's; without it, the one with the most periods to see. A period whose results or
    names are held back from the reader is left out and named.
    """
    campaign = reads.find_campaign(session, actor, campaign_slug)
    evaluations = campaign_reads.evaluations_of(session, actor, campaign.id)
    [page] = progress_in(session, actor, campaign, evaluations, now, [condition], measure=measure)
    return page


def progress_in(
    session: Session,
    actor: Actor,
    campaign: Campaign,
    evaluations: Sequence[Evaluation],
    now: datetime,
    conditions: Sequence[str | None],
    *,
    measure: str | None = None,
    candidates: Sequence[table.Entry] | None = None,
) -> list[ProgressPage]:
    """What `progress` gives for each of these conditions, None for the one with the most periods to see, of a campaign
    whose evaluations are what `evaluations_of` gives; in as many statements as for one.

    candidates: under the primary measure, those of an `Overview`, where the caller has it already
    """
    contents = Content.RESULTS, Content.NAMES
    visible = [each for each in evaluations if all(may_see(actor, each, content, now) for content in contents)]
    known = tuple(sorted({evaluation.condition for evaluation in evaluations}))
    for condition in conditions:
        if condition and condition not in known:
            listed = ", ".join(filter(None, known)) or "none"
            raise errors.BadInput(f"condition={condition}: the conditions of this campaign are: {listed}")
    columns = tuple(table.column(name) for name in reads.campaign_measures(campaign))
    by = table.pick(columns, measure)
    periods = periods_of(session, actor, campaign, visible, now)
    names = {key: {period.measures[each.name] for each in (by, columns[0])} for key, period in periods.items()}
    if candidates is None:
        candidates = load_candidates(session, actor, visible, now, names)
    entries = [candidate for candidate in candidates if not candidate.late and candidate.evaluation_id in periods]
    shown = Show(campaign.run_choice)
    numbers = _colour_numbers(entries, periods.values(), columns[0], shown)

    def page(chosen: str) -> ProgressPage:
        here = sorted(
            (evaluation for evaluation in evaluations if evaluation.condition == chosen),
            key=lambda evaluation: (evaluation.period_key, evaluation.title, evaluation.id),
        )
        ordered = tuple(periods[evaluation.id] for evaluation in here if evaluation.id in periods)
        points = _points(entries, ordered, by, shown)
        competing = [point for point in points if not point.entry.is_baseline]
        called = table.disambiguate(point.entry.system for point in points)
        return ProgressPage(
            campaign=reads.campaign_heading(campaign),
            conditions=known,
            condition=chosen,
            columns=columns,
            column=by,
            periods=ordered,
            systems=_system_lines(competing, numbers, called),
            teams=_team_lines(competing, by, numbers),
            baselines=_system_lines([point for point in points if point.entry.is_baseline], numbers, called),
            held_back=tuple(evaluation.period for evaluation in here if evaluation not in visible),
            differing=differing_terms([period.terms for period in ordered]),
        )

    # The first by name of several.
    longest = max(known, key=[evaluation.condition for evaluation in visible].count, default="")
    return [page(condition if condition in known else longest) for condition in conditions]


def periods_of(
    session: Session, actor: Actor, campaign: Campaign, evaluations: Sequence[Evaluation], now: datetime
) -> dict[int, Period]:
    """Evaluation id -> its period, for evaluations that have judgments."""
    by_evaluation = current_sets(session, [evaluation.id for evaluation in evaluations])
    judged = [(each, by_evaluation[each.id]) for each in evaluations if each.id in by_evaluation]
    held = reads.terms_of(session, actor, judged, now)
    several = Counter((evaluation.condition, evaluation.period) for evaluation in evaluations)

    def period(evaluation: Evaluation, level: int) -> Period:
        alone = several[evaluation.condition, evaluation.period] == 1
        return db.snapshot(
            Period,
            evaluation,
            evaluation_id=evaluation.id,
            name=evaluation.period,
            label=evaluation.period if alone else f"{evaluation.period} · {evaluation.title}",
            terms=held[evaluation.id],
            measures={name: table.at_level(name, level) for name in reads.campaign_measures(campaign)},
        )

    return {evaluation.id: period(evaluation, current.settings.relevance_level) for evaluation, current in judged}


def differing_terms(held: Sequence[reads.Terms]) -> dict[str, str]:
    """What is not the same in all of these, by its name in words."""
    values = [{**asdict(terms.settings), "metric_version": terms.metric_version} for terms in held]
    return {name: words for name, words in COMPARABLE.items() if len({own[name] for own in values}) > 1}


def _points(
    entries: Iterable[table.Entry], periods: Sequence[Period], by: table.Column, shown: Show
) -> list[PeriodPoint]:
    """A point for each system in each period that it has a mean in."""
    points = []
    for period in periods:
        here = table.column(period.measures[by.name])
        chosen = choose((entry for entry in entries if entry.evaluation_id == period.evaluation_id), shown, here)
        places = ranks(chosen, here)
        for entry in chosen:
            figure = entry.figure(here.name)
            if figure.mean is not None:
                points.append(PeriodPoint(period, entry, figure, places.get(entry.scoring_id)))
    return points


def _colour_numbers(
    entries: Sequence[table.Entry], periods: Iterable[Period], primary: table.Column, shown: Show
) -> dict[int, int]:
    """System id -> its number: first the systems of the latest period, then those of earlier ones only, each by the
    best of their ranks there; of equal ones those in most evaluations.

    It depends on the whole campaign and on its primary measure only, so that a system has one colour on every page.
    """
    ranked = [point for point in _points(entries, list(periods), primary, shown) if point.rank is not None]
    latest = ranked[0].period.name if ranked else ""  # periods come newest first
    places = defaultdict[int, list[tuple[bool, int]]](list)
    for point in ranked:
        places[point.entry.system.id].append((point.period.name != latest, point.rank or 0))
    order = sorted(places, key=lambda system: (min(places[system]), -len(places[system]), system))
    return {system: number for number, system in enumerate(order)}


def _system_lines(
    points: Iterable[PeriodPoint], numbers: Mapping[int, int], called: Mapping[int, str]
) -> tuple[Line, ...]:
    """One line for each system, in the order of their numbers. called: what they are called, by their ids."""
    by_system = defaultdict[int, list[PeriodPoint]](list)
    for point in points:
        by_system[point.entry.system.id].append(point)
    lines = (line_of(own, numbers.get(system, len(numbers)), called[system]) for system, own in by_system.items())
    return tuple(sorted(lines, key=lambda line: (line.number, line.name)))


def _team_lines(points: Sequence[PeriodPoint], by: table.Column, numbers: Mapping[int, int]) -> tuple[Line, ...]:
    """One line for each team: its best system in each period. Teams are numbered in the order of their systems."""
    best = defaultdict[str, dict[int, PeriodPoint]](dict)
    for point in points:
        own, period = best[point.entry.system.team_slug], point.period.evaluation_id
        if period not in own or by.places((point.figure.mean, own[period].figure.mean)) == [1, 2]:
            own[period] = point
    several = Counter((point.entry.system.team_slug, point.period.evaluation_id) for point in points)
    for team, own in best.items():
        for period, point in own.items():
            entry = replace(point.entry, chosen_of=max(several[team, period], point.entry.chosen_of))
            own[period] = replace(point, entry=entry, figure=entry.figure(point.period.measures[by.name]))
    systems = (point.entry.system for point in points)
    order = sorted((numbers.get(system.id, len(numbers)), system.team_slug) for system in systems)
    teams = dict.fromkeys(slug for _, slug in order)
    return tuple(line_of(list(best[slug].values()), number) for number, slug in enumerate(teams))


def line_of(points: Sequence[PeriodPoint], number: int, called: str | None = None) -> Line:
    """Of a system that is called so, or of its team."""
    entry, system = points[-1].entry, points[-1].entry.system
    name, label = (system.team, None) if called is None else (system.name, system)
    return Line(name, called or name, label, system.team, system.team_slug, number, entry.own, tuple(points))


@frozen
class FrontPage:
    """campaigns: as `campaign_summaries` lists them; longest: of those that are not archived the one with the
    most periods, the first of several; years: its progress. Both None where there is none."""

    campaigns: tuple[campaign_reads.CampaignSummary, ...]
    longest: campaign_reads.CampaignSummary | None
    years: ProgressPage | None


def front(session: Session, actor: Actor, now: datetime) -> FrontPage:
    """Everything that the front page shows."""
    known = campaign_reads.overview(session, actor, now)
    summaries = campaign_reads.campaign_summaries(known)
    current = [summary for summary in summaries if not summary.campaign.archived]
    longest = max(current, key=lambda summary: len(summary.periods), default=None)
    if longest is None:
        return FrontPage(summaries, None, None)
    campaign = next(campaign for campaign in known.evaluations if campaign.slug == longest.campaign.slug)
    own, candidates = known.evaluations[campaign], known.candidates
    [years] = progress_in(session, actor, campaign, own, now, [None], candidates=candidates)
    return FrontPage(summaries, longest, years)


def campaign_overview(
    session: Session, actor: Actor, slug: str, now: datetime
) -> tuple[campaign_reads.CampaignPage, ProgressPage]:
    """A campaign with its evaluations, and its progress under its primary measure. Raises NotFound."""
    known = campaign_reads.overview(session, actor, now, slug)
    [(campaign, evaluations)] = known.evaluations.items()
    [years] = progress_in(session, actor, campaign, evaluations, now, [None], candidates=known.candidates)
    return campaign_reads.campaign_page(actor, known), years
