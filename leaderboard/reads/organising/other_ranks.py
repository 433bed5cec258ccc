"""How many systems stand by another run, or take another rank, when a campaign's boards go by something else."""

import datetime as dt
from collections.abc import Iterable, Iterator

from sqlalchemy.orm import Session

from leaderboard.access import Actor
from leaderboard.lookup import standing_set
from leaderboard.models import Evaluation, ScoringSet
from leaderboard.numbers import counted
from leaderboard.reads.columns import Column, column
from leaderboard.reads.entries import Entry, load_entries
from leaderboard.reads.standings import Show, choose, ranks
from leaderboard.rules.standings import RunChoice

__all__ = ["another_choice", "another_source"]

Places = dict[tuple[int, bool], tuple[int, int | None]]  # system, whether late -> the run that stands, its rank


def another_source(
    session: Session, actor: Actor, evaluation: Evaluation, before: str, now: dt.datetime
) -> Iterator[str]:
    """How many systems change rank by the official judgments of now, by the measure that ranks the board of each."""
    sources = before, evaluation.official_source
    was, are = (
        {} if found is None else _places_in(session, actor, evaluation, found, now)
        for found in (standing_set(session, evaluation.id, source) for source in sources)
    )
    systems = len(_systems(was.keys() | are.keys()))
    if systems:
        yield (
            f"With this, the board of {evaluation.title} goes by the judgments of {sources[1]} instead of "
            f"{sources[0]}: {_moved(was, are):,} of {counted(systems, 'system')} {_change(_moved(was, are))} rank."
        )


def another_choice(
    session: Session,
    actor: Actor,
    evaluation: Evaluation,
    found: ScoringSet,
    rule: RunChoice,
    measure: str,
    now: dt.datetime,
) -> Iterator[str]:
    """For how many systems another run stands on a board, and how many ranks are others, by what the campaign chose.

    found          its current set, which was so before
    rule, measure  what it was before: the choice, and the measure by which the board ranked
    """
    choice = evaluation.campaign.run_choice
    if (choice, found.primary_measure) == (rule, measure):
        return
    by = column(found.primary_measure)
    entries = load_entries(session, actor, [evaluation], now, {measure, by.name}, scoring_set=found)
    was, are = _places(entries, rule, column(measure)), _places(entries, choice, by)
    others = len(_systems(place for place, (run, _) in was.items() if place in are and run != are[place][0]))
    moved, systems = _moved(was, are), counted(len(_systems(was)), "system")
    if by.name != measure and was:
        stands = f"; another run stands for {others:,} of them" if others else ""
        yield (
            f"With this, the board of {evaluation.title} ranks by {by.name} instead of {measure}: {moved:,} of "
            f"{systems} {_change(moved)} rank{stands}."
        )
    elif others:
        stands = f"another run stands for {others:,} of {systems}"
        yield f"With this, on the board of {evaluation.title} {stands}, and {moved:,} {_change(moved)} rank."


def _places_in(
    session: Session, actor: Actor, evaluation: Evaluation, scoring_set: ScoringSet, now: dt.datetime
) -> Places:
    """Of a set, found among all of its runs: what is kept of it is settled by the commit only."""
    by = column(scoring_set.primary_measure)
    entries = load_entries(session, actor, [evaluation], now, [by.name], scoring_set=scoring_set)
    return _places(entries, evaluation.campaign.run_choice, by)


def _places(entries: Iterable[Entry], choice: RunChoice, by: Column) -> Places:
    standing = choose(entries, Show(choice.value), by)
    found = ranks(standing, by)
    return {(one.system_id, one.late): (one.submission_id, found.get(one.submission_id)) for one in standing}


def _systems(places: Iterable[tuple[int, bool]]) -> set[int]:
    return {system for system, _ in places}


def _moved(was: Places, are: Places) -> int:
    """How many systems take another rank, or lose theirs, or gain one."""
    none = (0, None)
    places = was.keys() | are.keys()
    return len(_systems(place for place in places if was.get(place, none)[1] != are.get(place, none)[1]))


def _change(systems: int) -> str:
    return "changes" if systems == 1 else "change"
