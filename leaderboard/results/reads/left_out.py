"""Leave one team out: what each team of an evaluation found alone, and what its figure is worth without that."""

import math
from collections.abc import Iterable
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, Content, may_see, require, subset_seen
from leaderboard.boards.reads.entries import Column, Entry, SystemLabel, column
from leaderboard.boards.reads.ranking import load_standing, ranks
from leaderboard.evaluations.reads import evaluations as reads
from leaderboard.frozen import frozen
from leaderboard.generations.models import BoardGeneration
from leaderboard.results.models import TeamFinds
from leaderboard.results.reads.run import less

BASELINES = "Baselines"


@frozen
class TeamLeftOut:
    """team: its name. runs: all of its runs in time. unique: relevant documents that these alone found. system: its
    best one on the board, by its run `submission_id`. mean, rank: on the board; without: the same without `unique`, all
    else as it is; None where undefined or not ranked."""

    team: str
    team_slug: str
    runs: int
    unique: int
    system: SystemLabel
    submission_id: int
    mean: float | None
    without: float | None
    rank: int | None
    rank_without: int | None

    @property
    def difference(self) -> float | None:
        return less(self.without, self.mean)


@frozen
class LeaveOneTeamOutPage:
    """lines: of all runs, None until it is worked out by the runs of now. depth: ranks within which a run finds a
    document; 0 until it is worked out, and where there are too many lines. unique: relevant documents that one team
    alone found. teams: the largest loss first"""

    evaluation: reads.EvaluationHeading
    column: Column | None
    lines: int | None
    depth: int
    relevant: int
    unique: int
    teams: tuple[TeamLeftOut, ...]

    @property
    def loses_most(self) -> TeamLeftOut | None:
        """The team whose figure is worst without its own finds; None where no figure is worse."""
        first = self.teams[0] if self.teams else None
        return first if first and self.column and _gain(first, self.column) < 0 else None


def _gain(row: TeamLeftOut, by: Column) -> float:
    """How much better its figure is without its own finds: below 0 as a rule; infinite where that is undefined."""
    return math.inf if row.difference is None else row.difference * (-1.0 if by.direction == "lower" else 1.0)


def leave_one_team_out(
    session: Session, actor: Actor, campaign_slug: str, slug: str, now: datetime
) -> LeaveOneTeamOutPage:
    """Raises NotAllowed while single queries are closed, or names are."""
    evaluation, scoring_set = reads.find_evaluation_and_set(session, actor, campaign_slug, slug)
    require(may_see(actor, evaluation, Content.DETAILS, now), reads.closed_details(evaluation))
    require(may_see(actor, evaluation, Content.NAMES, now), "The names of teams are hidden for now.")
    heading = reads.evaluation_heading(evaluation, now)
    stored = session.get(TeamFinds, scoring_set.id) if scoring_set else None
    number = session.scalar(sa.select(BoardGeneration.number).where(BoardGeneration.evaluation_id == evaluation.id))
    if scoring_set is None or stored is None or stored.generation != (number or 0):
        return LeaveOneTeamOutPage(heading, None, None, 0, 0, 0, ())
    by, subset = column(scoring_set.primary_measure), subset_seen(actor, evaluation, now)
    own = stored.finds.get("subsets", {}).get(scoring_set.settings.subset_kept(subset).value, {})
    found = own.get("teams", ())
    teams = _teams(found, load_standing(session, actor, evaluation, now, by), by)
    teams.sort(key=lambda row: (_gain(row, by), row.rank or math.inf, row.team.casefold()))
    depth, counts = stored.finds.get("depth", 0), (own.get("relevant", 0), sum(team["unique"] for team in found))
    return LeaveOneTeamOutPage(heading, by, stored.finds["lines"], depth, *counts, tuple(teams))


def _teams(found: Iterable[dict[str, Any]], entries: list[Entry], by: Column) -> list[TeamLeftOut]:
    """One row for each team that is on the board."""
    standing = {str(entry.scoring_id): entry for entry in entries}
    means = {scoring: entry.figure(by.name).mean for scoring, entry in standing.items()}
    before = {str(scoring): rank for scoring, rank in ranks(entries, by).items()}
    rows = []
    for team in found:
        own = [scoring for scoring in team["without"] if scoring in standing]
        if not own:
            continue
        best = min(own, key=lambda scoring: before.get(scoring, len(before) + 1))
        changed, after = means, before
        if team["unique"]:
            changed = means | team["without"]
            after = dict(zip(before, by.places([changed[scoring] for scoring in before]), strict=True))
        entry, mean, without = standing[best], means[best], changed[best]
        name, slug = (BASELINES, "") if entry.is_baseline else (entry.system.team, entry.system.team_slug)
        counts, of_entry = (team["runs"], team["unique"]), (entry.system, entry.submission_id)
        rank, rank_without = before.get(best), None if without is None else after.get(best)
        rows.append(TeamLeftOut(name, slug, *counts, *of_entry, mean, without, rank, rank_without))
    return rows
