"""One period of a campaign: its systems over all of the period's conditions, such as languages, or text and speech."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from math import fsum

from sqlalchemy.orm import Session

from leaderboard import errors
from leaderboard.access import Actor, Content, may_see
from leaderboard.boards.reads import entries as table
from leaderboard.boards.reads.breakdown import Cell, SystemRow, cells_of, in_time, rows_of
from leaderboard.boards.reads.history import labels_on
from leaderboard.boards.reads.ranking import load_boards
from leaderboard.campaigns import reads as campaign_reads
from leaderboard.evaluations.reads import evaluations as reads
from leaderboard.frozen import frozen
from leaderboard.progress.reads.progress import Period, differing_terms, periods_of

HELD_BACK, EMPTY = "results or names of systems are not public yet", "no system has a figure yet"


@frozen
class AcrossRow(SystemRow):
    """A system over the conditions.

    mean       of its figures, and mean_rank of its ranks; None where it lacks a condition
    rank       by `mean`
    partial    the mean of the figures that it has
    lacking    how many conditions it has no figure in
    """

    mean_rank: float | None
    partial: float
    lacking: int


@frozen
class AcrossPage:
    """One period of a campaign by one measure.

    periods     those with an evaluation that the reader knows of, the newest first
    conditions  the evaluations of the period that count, each with its condition as `label`
    left_out    label of an evaluation that does not count -> why
    differing   names of the terms that are not the same in all conditions
    rows        the best mean first, then systems that lack one condition, two and so on
    """

    campaign: reads.CampaignHeading
    periods: tuple[str, ...]
    period: str
    columns: tuple[table.Column, ...]
    column: table.Column
    conditions: tuple[Period, ...]
    left_out: dict[str, str]
    differing: dict[str, str]
    rows: tuple[AcrossRow, ...]


def across(
    session: Session, actor: Actor, campaign_slug: str, now: datetime, *,
    period: str | None = None, measure: str | None = None,
) -> AcrossPage:  # fmt: skip
    """Raises NotFound for no such campaign, BadInput for a period or a measure that it does not have.

    An evaluation counts where the reader sees results and names, and a system that is no baseline has a figure. period:
    without it, the newest with two conditions to see, else the newest
    """
    campaign = reads.find_campaign(session, actor, campaign_slug)
    evaluations = campaign_reads.evaluations_of(session, actor, campaign.id)
    known = tuple(dict.fromkeys(evaluation.period for evaluation in evaluations))
    if period and period not in known:
        raise errors.BadInput(f"period={period}: the periods of this campaign are: {', '.join(known) or 'none'}")
    contents = Content.RESULTS, Content.NAMES
    visible = [each for each in evaluations if all(may_see(actor, each, content, now) for content in contents)]
    periods = periods_of(session, actor, campaign, visible, now)
    counts = Counter(each.period for each in visible if each.id in periods)
    period = period or max(known, key=lambda each: min(counts[each], 2), default="")
    here, shown = ([each for each in own if each.period == period] for own in (evaluations, visible))
    several = Counter(each.condition for each in here)
    labels = {each.id: (each.condition if several[each.condition] == 1 else "") or each.title for each in here}
    columns = tuple(table.column(name) for name in reads.campaign_measures(campaign))
    by = table.pick(columns, measure)
    asked = (
        (each, table.column(periods[each.evaluation.id].measures[by.name]), ())
        for each in table.disclosures(session, actor, shown, now)
    )
    boards = load_boards(session, asked)
    figures = ((board.disclosure.evaluation.id, cells_of(board, in_time(board))) for board in boards)
    cells = {key: own for key, own in figures if any(cell.rank or by.direction == "none" for cell in own.values())}
    rows = rows_of(labels_on(session, boards), boards, [*cells.values()])
    return AcrossPage(
        campaign=reads.campaign_heading(campaign),
        periods=known,
        period=period,
        columns=columns,
        column=by,
        conditions=tuple(replace(periods[each], label=labels[each]) for each in cells),
        left_out={labels[each.id]: EMPTY if each in shown else HELD_BACK for each in here if each.id not in cells},
        differing=differing_terms([periods[each].terms for each in cells]),
        rows=_ranked([_over_conditions(*row) for row in rows], by),
    )


def _over_conditions(system: table.SystemLabel, own: bool, cells: Sequence[Cell]) -> AcrossRow:
    """Its row with its means, without its rank by them."""
    means = [cell.mean for cell in cells if cell.mean is not None]
    ranks = [cell.rank for cell in cells if cell.rank is not None]
    partial, lacking = fsum(means) / len(means), len(cells) - len(means)
    mean, mean_rank = None if lacking else partial, None if lacking or not ranks else sum(ranks) / len(ranks)
    return AcrossRow(system, own, mean, None, tuple(cells), mean_rank, partial, lacking)


def _ranked(rows: Sequence[AcrossRow], column: table.Column) -> tuple[AcrossRow, ...]:
    ordered = sorted(column.sort(rows, lambda row: row.partial), key=lambda row: row.lacking)
    ranked = [row for row in ordered if row.mean_rank is not None]
    ranks = dict(zip((row.system.id for row in ranked), column.places([row.mean for row in ranked]), strict=True))
    return tuple(replace(row, rank=ranks.get(row.system.id)) for row in ordered)
