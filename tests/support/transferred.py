"""What an installation holds of a campaign, without ids and this machine's clock: equal where two hold the same."""

from typing import Any

import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.db import Database
from leaderboard.lookup import find_campaign, scored_runs
from leaderboard.models import (
    Evaluation,
    JudgmentRevision,
    Participation,
    Query,
    Score,
    Scoring,
    ScoringSet,
    Submission,
)
from leaderboard.rules.standings import RunChoice, standing_runs
from leaderboard.transfer.columns import SETTINGS

__all__ = ["held"]


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
                (
                    one.number,
                    one.source,
                    one.sha256,
                    one.judgments,
                    one.highest_grade,
                    one.note,
                    one.released_at,
                )
                for one in session.scalars(revisions.order_by(JudgmentRevision.number))
            ]
            runs = session.scalars(
                sa.select(Submission).where(Submission.evaluation_id == evaluation.id).order_by(Submission.id)
            ).all()
            place = {run.id: number for number, run in enumerate(runs)}
            of_it["runs"] = [_run(run) for run in runs]
            of_it["figures"] = _figures(session, evaluation.id, place)
            scored = scored_runs(session, ScoringSet.evaluation_id == evaluation.id)
            standing = [
                one
                for of_set in scored.values()
                for one in standing_runs(of_set, RunChoice(campaign.run_choice), lambda _: None, "none")
            ]
            of_it["standing"] = sorted(place[one.submission_id] for one in standing)
            primary = sa.select(Participation.primary_submission_id).where(Participation.evaluation_id == evaluation.id)
            of_it["primary"] = sorted(place[one] for one in session.scalars(primary) if one is not None)
            found[evaluation.slug] = of_it
    return found


def _columns(row: Any) -> dict[str, Any]:
    return {name: getattr(row, name) for name in SETTINGS[type(row)]}


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
