"""A campaign over its periods: what each system and each team reached, and what is held constant meanwhile."""

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import metrics
from leaderboard.access import Actor, Sight, may_see, subset_seen
from leaderboard.models import Campaign, Evaluation, ScoringSet, SetState
from leaderboard.reads.campaigns import evaluations_of
from leaderboard.reads.columns import Column, column, pick
from leaderboard.reads.entries import load_entries
from leaderboard.reads.headings import CampaignHeading, Terms, campaign_heading, campaign_measures, find_campaign, terms
from leaderboard.reads.lines import Line, Period, colour_numbers, points, system_lines, team_lines
from leaderboard.reads.standings import Show

__all__ = ["ProgressPage", "progress"]

# What must be equal for figures of two periods to be compared.
CONSTANT = ("beta", "no_relevant", "compat", "metric_version", "relevance_level", "judging")


@dataclass(frozen=True, slots=True)
class ProgressPage:
    """One condition of a campaign. `held_back`: periods that this reader can't see yet. `differing`: which of the terms
    aren't the same in all periods shown."""

    campaign: CampaignHeading
    conditions: tuple[str, ...]
    condition: str
    columns: tuple[Column, ...]
    column: Column
    periods: tuple[Period, ...]
    systems: tuple[Line, ...]
    teams: tuple[Line, ...]
    baselines: tuple[Line, ...]
    held_back: tuple[str, ...]
    differing: tuple[str, ...]

    @property
    def is_series(self) -> bool:
        """Whether one period follows another. Evaluations of the same period stand beside each other: nothing rises or
        falls between them."""
        return 1 < len(self.periods) == len({period.name for period in self.periods})


def progress(
    session: Session,
    actor: Actor,
    campaign_slug: str,
    now: dt.datetime,
    *,
    condition: str | None = None,
    measure: str | None = None,
) -> ProgressPage:
    """Raises NotFound for no such campaign, BadInput for a measure that it does not show.

    `condition`: one of the campaign's; without it, the one with the most periods. A period whose results or names are
    held back from the reader is left out and named.
    """
    campaign = find_campaign(session, campaign_slug)
    evaluations = evaluations_of(session, campaign.id)
    seen = [
        one for one in evaluations if may_see(actor, one, Sight.RESULTS, now) and may_see(actor, one, Sight.NAMES, now)
    ]
    conditions = tuple(sorted({one.condition for one in evaluations}))
    chosen = condition if condition is not None and condition in conditions else _longest(evaluations)
    columns = tuple(column(name) for name in campaign_measures(campaign))
    by = pick(columns, measure)
    periods = _periods(session, actor, campaign, seen, now)
    names = {name for period in periods.values() for name in period.measures.values()}
    entries = [entry for entry in load_entries(session, actor, seen, now, names) if not entry.late]
    shown = Show(campaign.run_choice.value)
    here = sorted(
        (one for one in evaluations if one.condition == chosen), key=lambda one: (one.period_key, one.title, one.id)
    )
    ordered = tuple(periods[one.id] for one in here if one.id in periods)
    found = points(entries, ordered, by, shown)
    numbers = colour_numbers(entries, periods.values(), columns[0], shown)
    field = [point for point in found if not point.entry.system.is_baseline]
    return ProgressPage(
        campaign=campaign_heading(campaign),
        conditions=conditions,
        condition=chosen,
        columns=columns,
        column=by,
        periods=ordered,
        systems=system_lines(field, numbers),
        teams=team_lines(field, by, numbers),
        baselines=system_lines([point for point in found if point.entry.system.is_baseline], numbers),
        held_back=tuple(one.period for one in here if one not in seen),
        differing=_differing([period.terms for period in ordered]),
    )


def _seen(actor: Actor, evaluations: Sequence[Evaluation], now: dt.datetime) -> list[Evaluation]:
    """Those whose results this reader may see under their names: the others can't be joined to lines."""
    return [
        one for one in evaluations if may_see(actor, one, Sight.RESULTS, now) and may_see(actor, one, Sight.NAMES, now)
    ]


def _longest(evaluations: Sequence[Evaluation]) -> str:
    """The condition with the most evaluations, the first by name of several."""
    counts = Counter(sorted(one.condition for one in evaluations))
    return counts.most_common(1)[0][0] if counts else ""


def _periods(
    session: Session, actor: Actor, campaign: Campaign, evaluations: Sequence[Evaluation], now: dt.datetime
) -> dict[int, Period]:
    """Evaluation -> its period, for those that have a current set."""
    sets = session.scalars(
        sa.select(ScoringSet)
        .join(ScoringSet.revision)
        .options(sa.orm.contains_eager(ScoringSet.revision))
        .where(ScoringSet.evaluation_id.in_([one.id for one in evaluations]), ScoringSet.state == SetState.CURRENT)
    )
    by_evaluation = {one.evaluation_id: one for one in sets}
    several = Counter((one.condition, one.period) for one in evaluations)
    periods = {}
    for one in evaluations:
        if one.id not in by_evaluation:
            continue
        current = by_evaluation[one.id]
        level = current.settings["relevance_level"]
        alone = several[one.condition, one.period] == 1
        periods[one.id] = Period(
            evaluation_id=one.id,
            name=one.period,
            label=one.period if alone else f"{one.period} · {one.title}",
            slug=one.slug,
            title=one.title,
            terms=terms(session, campaign, current, subset_seen(actor, one, now)),
            measures={name: _at_level(name, level) for name in campaign_measures(campaign)},
        )
    return periods


def _at_level(name: str, level: int) -> str:
    return str(metrics.parse(name).at_relevance(level)) if level != 1 else name


def _differing(held: Sequence[Terms]) -> tuple[str, ...]:
    return tuple(name for name in CONSTANT if len({getattr(one, name) for one in held}) > 1)
