"""One period of a campaign: its systems over all of the period's conditions, such as languages, or text and speech."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from math import fsum

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import errors
from leaderboard.access import Actor, Content, may_see
from leaderboard.boards.reads import entries as table
from leaderboard.boards.reads.breakdown import Cell, SystemRow, best_first, cells_on
from leaderboard.boards.reads.ranking import ComparedBoard, load_boards
from leaderboard.campaigns import reads as campaign_reads
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads import evaluations as reads
from leaderboard.frozen import frozen
from leaderboard.progress.reads.progress import Period, differing_terms, periods_of
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import RunChoice
from leaderboard.teams.models import System, Team
from leaderboard.worker.reads import current_sets


@frozen
class AcrossRow(SystemRow):
    """A system over the conditions.

    mean       of its figures; None where it lacks a condition, unless the reader asks for means with gaps
    mean_rank  of its ranks in the conditions; None where `mean` is
    lacking    how many conditions it has no figure in
    rank       by `mean`, of systems with all conditions only
    """

    mean_rank: float | None
    lacking: int


@frozen
class AcrossPage:
    """One period of a campaign by one measure.

    periods     those with an evaluation that the reader knows of, the newest first
    conditions  the evaluations of the period that have figures, each with its condition as `label`
    held_back   labels of those whose results or names of systems the reader can't see yet
    empty       labels of those without any figure of a system: no mean is over them
    differing   names of the terms that are not the same in all conditions
    with_gaps   whether systems that lack conditions have means over the others
    best_runs   whether each system is there with the best of its runs
    """

    campaign: reads.CampaignHeading
    periods: tuple[str, ...]
    period: str
    columns: tuple[table.Column, ...]
    column: table.Column
    conditions: tuple[Period, ...]
    rows: tuple[AcrossRow, ...]
    baselines: tuple[AcrossRow, ...]
    held_back: tuple[str, ...]
    empty: tuple[str, ...]
    differing: dict[str, str]
    with_gaps: bool
    best_runs: bool

    @property
    def complete(self) -> int:
        """How many systems have all conditions."""
        return sum(not row.lacking for row in self.rows)


def across(
    session: Session,
    actor: Actor,
    campaign_slug: str,
    now: datetime,
    *,
    period: str | None = None,
    measure: str | None = None,
    gaps: str | None = None,
) -> AcrossPage:
    """Raises NotFound for no such campaign, BadInput for a period or a measure that it does not have.

    period  without it, the newest with two conditions to see, else the newest
    gaps    yes: systems that lack conditions have means too, over the conditions that they have
    """
    campaign = reads.find_campaign(session, actor, campaign_slug)
    evaluations = campaign_reads.evaluations_of(session, actor, campaign.id)
    known = tuple(dict.fromkeys(evaluation.period for evaluation in evaluations))
    if period and period not in known:
        raise errors.BadInput(f"period={period}: the periods of this campaign are: {', '.join(known) or 'none'}")
    contents = Content.RESULTS, Content.NAMES
    visible = [each for each in evaluations if all(may_see(actor, each, content, now) for content in contents)]
    judged = current_sets(session, [each.id for each in visible])
    counts = Counter(each.period for each in visible if each.id in judged)
    period = period or max(known, key=lambda each: min(counts[each], 2), default="")
    here = [evaluation for evaluation in evaluations if evaluation.period == period]
    labels = _labels(here)
    columns = tuple(table.column(name) for name in reads.campaign_measures(campaign))
    by = table.pick(columns, measure)
    shown = [evaluation for evaluation in here if evaluation in visible]
    conditions = periods_of(session, actor, campaign, shown, now)
    asked = [
        (each, table.column(conditions[each.evaluation.id].measures[by.name]), ())
        for each in table.disclosures(session, actor, shown, now)
    ]
    boards = {board.disclosure.evaluation.id: board for board in load_boards(session, asked) if _is_entered(board)}
    counted = [conditions[each.id] for each in shown if each.id in boards]
    cells, with_gaps = [cells_on(boards[each.evaluation_id]) for each in counted], gaps == "yes"
    rows = _rows(session, actor, cells, shown, with_gaps=with_gaps)
    return AcrossPage(
        campaign=reads.campaign_heading(campaign),
        periods=known,
        period=period,
        columns=columns,
        column=by,
        conditions=tuple(replace(each, label=labels[each.evaluation_id]) for each in counted),
        rows=_ranked([row for row in rows if not row.system.is_baseline], by),
        baselines=best_first([row for row in rows if row.system.is_baseline], by),
        held_back=tuple(labels[each.id] for each in here if each not in shown),
        empty=tuple(labels[each.id] for each in shown if each.id not in boards),
        differing=differing_terms([each.terms for each in counted]),
        with_gaps=with_gaps,
        best_runs=campaign.run_choice is RunChoice.BEST,
    )


def _labels(evaluations: Sequence[Evaluation]) -> dict[int, str]:
    """Evaluation -> its condition, or its title where it has none; both where several have one."""
    several = Counter(each.condition for each in evaluations)

    def label(each: Evaluation) -> str:
        return each.condition if several[each.condition] == 1 else f"{each.condition} · {each.title}"

    return {each.id: label(each) if each.condition else each.title for each in evaluations}


def _is_entered(board: ComparedBoard) -> bool:
    """Whether a system that is no baseline has a figure."""
    runs, means = board.runs, board.figures[board.by.name].means
    return bool((~(runs.late | runs.baseline | runs.off_board | np.isnan(means))).any())


def _rows(
    session: Session,
    actor: Actor,
    cells: Sequence[dict[int, Cell]],
    evaluations: Sequence[Evaluation],
    *,
    with_gaps: bool,
) -> list[AcrossRow]:
    """Of every system with a figure in one of the conditions, without its rank by the mean. cells: of each condition"""
    entered = sa.select(Submission.system_id).where(Submission.evaluation_id.in_([each.id for each in evaluations]))
    named = sa.select(Team.id, System.id, System.name, System.kind, System.slug, Team.name, Team.slug)
    rows = []
    for row in session.execute(named.join(System.team).where(System.id.in_(entered))):
        system = table.SystemLabel(*row[1:])
        own = tuple(of_condition.get(system.id) for of_condition in cells)
        known = [cell for cell in own if cell]
        if not known:
            continue
        is_shown, ranks = with_gaps or len(known) == len(own), [cell.rank for cell in known if cell.rank]
        rows.append(
            AcrossRow(
                system=system,
                own=actor.is_in(row[0]),
                rank=None,
                mean=fsum(cell.mean for cell in known) / len(known) if is_shown else None,
                cells=own,
                mean_rank=sum(ranks) / len(ranks) if is_shown and ranks else None,
                lacking=len(own) - len(known),
            )
        )
    return rows


def _ranked(rows: Sequence[AcrossRow], column: table.Column) -> tuple[AcrossRow, ...]:
    """Those with all conditions by their means, with ranks; then those that lack one, two and so on, without."""
    ordered = sorted(best_first(rows, column), key=lambda row: row.lacking)
    places = column.places([row.mean for row in ordered if not row.lacking]) if column.direction != "none" else []
    ranks = [*places, *[None] * (len(ordered) - len(places))]
    return tuple(replace(row, rank=rank) for row, rank in zip(ordered, ranks, strict=True))
