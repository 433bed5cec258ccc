"""What the rows are called that events of the trail tell of by their numbers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.models import (
    Agreement,
    Campaign,
    Evaluation,
    Event,
    JudgmentRevision,
    Query,
    ScoringSet,
    Submission,
    System,
    Team,
    User,
)

__all__ = ["NUMBERS", "Named", "Names", "names_of"]

NUMBERS = {  # fact or column -> the table whose number it holds, where it holds one
    "user": "user",
    "team": "team",
    "team_id": "team",
    "system": "system",
    "system_id": "system",
    "of": "evaluation",
    "source": "evaluation",
    "to": "submission",
    "before": "submission",
    "instead": "submission",
    "primary": "submission",
    "primary_submission_id": "submission",
    "revision_id": "judgment_revision",
}


@dataclass(frozen=True, slots=True)
class Named:
    """What a thing is called; evaluation, submission: of a run."""

    name: str
    evaluation: str = ""
    submission: int | None = None


Names = Mapping[tuple[str, int], Named]  # by table and number


def names_of(session: Session, events: Sequence[Event]) -> Names:
    """What the events are about and tell of, by name; what is not there any more has none."""
    ids: dict[str, set[int]] = {}
    for event in events:
        for table, number in _told_numbers(event):
            ids.setdefault(table, set()).add(number)
    return {**_names_of_places(session, ids), **_names_within(session, ids)}


def _names_of_places(session: Session, ids: Mapping[str, set[int]]) -> dict[tuple[str, int], Named]:
    named: dict[tuple[str, int], Named] = {}
    for user in session.scalars(sa.select(User).where(User.id.in_(ids.get("user", ())))):
        named["user", user.id] = Named(user.name)
    for campaign in session.scalars(sa.select(Campaign).where(Campaign.id.in_(ids.get("campaign", ())))):
        named["campaign", campaign.id] = Named(campaign.title)
    for evaluation in session.scalars(sa.select(Evaluation).where(Evaluation.id.in_(ids.get("evaluation", ())))):
        named["evaluation", evaluation.id] = Named(evaluation.title)
    for team in session.scalars(sa.select(Team).where(Team.id.in_(ids.get("team", ())))):
        named["team", team.id] = Named(team.name)
    systems = sa.select(System).where(System.id.in_(ids.get("system", ()))).options(sa.orm.joinedload(System.team))
    for system in session.scalars(systems):
        named["system", system.id] = Named(f"{system.name} of {system.team.name}")
    return named


def _names_within(session: Session, ids: Mapping[str, set[int]]) -> dict[tuple[str, int], Named]:
    """Of what is part of an evaluation."""
    named: dict[tuple[str, int], Named] = {}
    queries = sa.select(Query.id, Query.external_id, Evaluation.title).join(Evaluation)
    for query in session.execute(queries.where(Query.id.in_(ids.get("query", ())))):
        named["query", query.id] = Named(f"{query.external_id} of {query.title}")
    agreements = sa.select(Agreement.id, Agreement.key, Agreement.version, Evaluation.title).join(Evaluation)
    for agreed in session.execute(agreements.where(Agreement.id.in_(ids.get("agreement", ())))):
        named["agreement", agreed.id] = Named(f"{agreed.key}, version {agreed.version}, of {agreed.title}")
    revisions = sa.select(JudgmentRevision).where(JudgmentRevision.id.in_(ids.get("judgment_revision", ())))
    for revision in session.scalars(revisions):
        named["judgment_revision", revision.id] = Named(f"revision {revision.number} by {revision.source}")
    sets = (
        sa.select(ScoringSet.id, Evaluation.title, JudgmentRevision.number, JudgmentRevision.source)
        .join(Evaluation, Evaluation.id == ScoringSet.evaluation_id)
        .join(JudgmentRevision, JudgmentRevision.id == ScoringSet.revision_id)
        .where(ScoringSet.id.in_(ids.get("scoring_set", ())))
    )
    for one in session.execute(sets):
        named["scoring_set", one.id] = Named(
            f"{one.id} of {one.title}, by revision {one.number} of the judgments by {one.source}"
        )
    runs = (
        sa.select(Submission)
        .where(Submission.id.in_(ids.get("submission", ())))
        .options(
            sa.orm.joinedload(Submission.system),
            sa.orm.joinedload(Submission.team),
            sa.orm.joinedload(Submission.evaluation),
        )
    )
    for run in session.scalars(runs):
        name = f"run {run.id} of {run.system.name} by {run.team.name}, {run.evaluation.title}"
        named["submission", run.id] = Named(name, run.evaluation.slug, run.id)
    return named


def _told_numbers(event: Event) -> Iterator[tuple[str, int]]:
    """Every row that an event tells of by its number, as (table, number)."""
    yield event.subject, event.subject_id
    for name, value in event.facts.items():
        for number in value if isinstance(value, list) else [value]:
            if name in NUMBERS and type(number) is int:
                yield NUMBERS[name], number
    for thing, before in event.changed.items():
        after = event.state.get(thing)
        for columns in (before, after):
            if not isinstance(columns, dict):
                continue
            for column in NUMBERS.keys() & columns.keys():
                if isinstance(columns[column], str) and columns[column].isdecimal():
                    yield NUMBERS[column], int(columns[column])
