"""What an installation holds of a campaign, without ids and this machine's clock: equal where two hold the same."""

import datetime as dt
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import sqlalchemy as sa

from leaderboard.access import CONSOLE, Actor
from leaderboard.boards.reads.board import BoardPage, BoardQuery, board
from leaderboard.boards.reads.entries import Figure
from leaderboard.boards.reads.history import board_difference, board_versions
from leaderboard.boards.reads.ranking import Show
from leaderboard.db import Database
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.evaluations import find_campaign
from leaderboard.judgments.models import JudgmentRevision, Query
from leaderboard.submissions.models import Participation, Submission
from leaderboard.submissions.reads.selection import scored_runs
from leaderboard.submissions.rules import RunChoice, selected_runs
from leaderboard.transfer.manifest import CampaignEntry, Entry, EvaluationEntry, RunEntry, SystemEntry
from leaderboard.worker.models import Score, Scoring, ScoringSet

REPLAYED = sa.func.coalesce(Submission.scored_at, Submission.received_at), Submission.id  # as an import orders runs
NAMED = "slug", "title", "name", "period", "description"
RECORDS: dict[str, type[Entry]] = {
    "campaign": CampaignEntry,
    "evaluation": EvaluationEntry,
    "system": SystemEntry,
    "submission": RunEntry,
}


def held(database: Database, slug: str) -> dict[str, Any]:
    """Settings of everything, hashes of settings and judgments, every vector, mean and count, and what stands."""
    with database.read() as session:
        campaign = find_campaign(session, CONSOLE, slug)
        found: dict[str, Any] = {"campaign": _columns(campaign)}
        own = sa.select(Evaluation).where(Evaluation.campaign_id == campaign.id).order_by(Evaluation.slug)
        for evaluation in session.scalars(own):
            of_it: dict[str, Any] = {"settings": _columns(evaluation)}
            queries = sa.select(Query).where(Query.evaluation_id == evaluation.id).order_by(Query.position)
            of_it["queries"] = [
                (one.external_id, one.text, one.description, one.tags, one.split, one.excluded_because)
                for one in session.scalars(queries)
            ]
            revisions = sa.select(JudgmentRevision).where(JudgmentRevision.evaluation_id == evaluation.id)
            of_it["judgments"] = [
                (one.number, one.source, one.sha256, one.judgments, one.highest_grade, one.note, one.released_at)
                for one in session.scalars(revisions.order_by(JudgmentRevision.number))
            ]
            runs = session.scalars(
                sa.select(Submission).where(Submission.evaluation_id == evaluation.id).order_by(*REPLAYED)
            ).all()
            place = {run.id: number for number, run in enumerate(runs)}
            of_it["runs"] = [_run(run) for run in runs]
            of_it["figures"] = _figures(session, evaluation.id, place)
            scored = scored_runs(session, ScoringSet.evaluation_id == evaluation.id)
            standing = [
                one
                for of_set in scored.values()
                for one in selected_runs(of_set, RunChoice(campaign.run_choice), lambda _: None, "none")
            ]
            of_it["standing"] = sorted(place[one.submission_id] for one in standing)
            primary = sa.select(Participation.primary_submission_id).where(Participation.evaluation_id == evaluation.id)
            of_it["primary"] = sorted(place[one] for one in session.scalars(primary) if one is not None)
            found[evaluation.slug] = of_it
    return found


def _columns(row: Any) -> dict[str, Any]:
    record = RECORDS.get(row.__tablename__)
    names = (*(record.model_fields if record else ()), *NAMED)
    return {name: getattr(row, name) for name in names if name in row.__table__.columns}


def _run(run: Submission) -> tuple[Any, ...]:
    system = {**_columns(run.system), "team": _columns(run.team)}
    hashes = run.sha256, run.md5, run.text_sha256, run.size, run.text_size, run.filename
    return _columns(run), system, hashes, run.problems, run.problem_count


def _figures(session: Any, evaluation_id: int, place: dict[int, int]) -> list[tuple[Any, ...]]:
    rows = session.execute(
        sa.select(ScoringSet, Scoring, Score)
        .join(Scoring, Scoring.scoring_set_id == ScoringSet.id)
        .outerjoin(Score, Score.scoring_id == Scoring.id)
        .where(ScoringSet.evaluation_id == evaluation_id, ScoringSet.state.in_(("current", "beside")))
        .options(sa.orm.undefer(Score.values))
    ).all()
    found = []
    for of_set, scoring, score in rows:
        who = (of_set.source, of_set.settings_hash, of_set.metric_version, place[scoring.submission_id], scoring.state)
        more = scoring.beta, scoring.missing, scoring.unjudged, scoring.facts
        line: tuple[Any, ...] = ()
        if score is not None:
            line = score.measure, score.subset, score.mean, score.count, score.values.tobytes()
        found.append((*who, line, more))
    return sorted(found, key=repr)


def boards_held(
    database: Database, slug: str, evaluation: str, actor: Actor, now: dt.datetime, shows: Iterable[Show] = Show
) -> dict[str, Any]:
    """What a reader is shown of every board that an evaluation has gone by, and of what moved from one to the next.

    shows  of which runs, by the primary measure; by the others each board is read once
    """
    with database.read() as session:
        runs = session.scalars(
            sa.select(Submission.id)
            .join(Submission.evaluation)
            .where(Evaluation.slug == evaluation)
            .order_by(*REPLAYED)
        )
        place = {run: number for number, run in enumerate(runs)}
        stood = board_versions(session, actor, slug, evaluation, now).sets
        sets = {one.id: number for number, one in enumerate(stood)}
        found: dict[str, Any] = {
            "sets": [
                (one.words, one.metric_version, one.current, one.beside, one.shown, one.since, one.until, one.changes,
                 sets.get(one.before or 0))
                for one in stood
            ]
        }  # fmt: skip
        for one in stood:
            read = partial(board, session, actor, slug, evaluation, now)
            pages = {str(show): read(BoardQuery(set_id=one.id, show=show)) for show in shows}
            _, *others = next(iter(pages.values())).columns
            pages |= {each.name: read(BoardQuery(set_id=one.id, measure=each.name)) for each in others}
            for name, page in pages.items():
                rows = [
                    (row.rank, row.rank_set, row.entry.system.slug, row.entry.system.name, row.entry.label,
                     place[row.entry.submission_id], row.entry.late, row.entry.missing, *map(_about, row.figures))
                    for row in (*page.rows, *page.baselines)
                ]  # fmt: skip
                found[f"{sets[one.id]} {name}"] = (page.results_open, page.terms, rows, _told(page, place))
        for one in stood:
            if one.before is None:
                continue
            both = board_difference(session, actor, slug, evaluation, one.before, one.id, now)
            moves = [
                (row.system.slug, place[row.submission_id], row.another_run, row.rank_before, row.rank, row.places,
                 _about(row.before), _about(row.after))
                for row in both.rows
            ]  # fmt: skip
            words = both.changes, both.apart, both.judgments, both.orders, both.rounded
            found[f"moved {sets[one.before]} {sets[one.id]}"] = (moves, *words)
    return found


def _about(figure: Figure) -> Figure:
    """With its interval to what two orders of adding up have in common."""
    low, high = (None if end is None else round(end, 12) for end in (figure.low, figure.high))
    return replace(figure, low=low, high=high)


def _told(page: BoardPage, place: dict[int, int]) -> Any:
    """What the board says beside its rows, with runs by their place."""
    found = page.statistics
    if found is None or found.told is None:
        return found and (found.needed_queries, found.rank_queries)
    places = {row.entry.scoring_id: place[row.entry.submission_id] for row in page.rows}
    lead = found.told.lead
    leader = None if lead.leader is None else places[lead.leader]
    own = replace(lead, leader=leader, then=tuple(places[run] for run in lead.then))
    return found.needed_queries, found.rank_queries, replace(found.told, lead=own)
