"""Systems: what a team works on over the years, and the random numbers that name them while names are hidden."""

import secrets
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, may_change_kind, require
from leaderboard.audit.writes import assign, present, record
from leaderboard.declared.inputs import checked
from leaderboard.errors import Gathered, InvalidFields
from leaderboard.locking import add_or_refuse, insert_unless_there, locked
from leaderboard.names import checked_name, free_slug, name_key, slug_of
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import SystemKind
from leaderboard.teams.inputs import SystemSettings
from leaderboard.teams.models import Pseudonym, System, Team


@dataclass(frozen=True, slots=True)
class NewSystem:
    """What a team says about a system that it makes."""

    name: str
    kind: SystemKind = SystemKind.AUTOMATIC
    description: str = ""
    code_url: str = ""
    paper_url: str = ""


def create_system(session: Session, actor: Actor, team: Team, new: NewSystem, slug: str = "") -> System:
    """A system of the team. Its name is its own within the team; a baseline is made by organisers only.

    slug  where it comes from another installation, unless it is taken here; made from the name otherwise
    """
    _require_right(actor, team.id, new.kind)
    wrong = Gathered()
    shown, key = new.name, ""
    with wrong:
        settings = checked(SystemSettings, {name: getattr(new, name) for name in SystemSettings.model_fields})
    with wrong:
        shown, key = checked_name(new.name)
        other = session.scalar(sa.select(System.name).where(System.team_id == team.id, System.name_key == key))
        if other is not None:
            raise InvalidFields({"name": [f"{team.name} has a system {other!r}; choose it, or give another name"]})
    wrong.raise_any()
    system = System(
        team_id=team.id,
        slug=free_system_slug(session, team.id, slug or shown),
        name=shown,
        name_key=key,
        created_at=present(),
        **settings.model_dump(),
    )
    add_or_refuse(session, system, InvalidFields({"name": ["somebody of your team just made this system"]}))
    record(session, actor, "create", system, name=system.name, team=team.id, kind=new.kind.value)
    return system


def change_system(session: Session, actor: Actor, system: System, **changes: Any) -> None:
    """Changes what is said about a system; what is left out stays, and so does its name: boards of past years show it.

    Its team changes the description and the links. Its kind is changed by whoever organises all campaigns that it has
    runs in: as a baseline it is ranked on none of their boards.
    """
    organiser = may_change_kind(session, actor, system.id)
    require(actor.is_in(system.team_id) or organiser, "Only members of the team and organisers describe a system.")
    current = {name: getattr(system, name) for name in SystemSettings.model_fields}
    settings = checked(SystemSettings, current | changes).model_dump()
    require(
        settings["kind"] is system.kind or organiser,
        "Only whoever organises every campaign that a system has runs in changes its kind.",
    )
    if assign(locked(session, System, system.id), **settings):
        record(session, actor, "change", system)


def unused_system(session: Session, team: Team, name: str, kind: SystemKind) -> System | None:
    """The team's system of this name and kind, as long as every file sent for it was rejected."""
    good = sa.exists().where(Submission.system_id == System.id, Submission.problem_count == 0)
    return session.scalar(
        sa.select(System).where(
            System.team_id == team.id, System.name_key == name_key(name), System.kind == kind, ~good
        )
    )


def _require_right(actor: Actor, team_id: int, kind: SystemKind) -> None:
    organiser = actor.all_powerful or bool(actor.organises)
    require(actor.is_in(team_id) or organiser, "Only members of the team may do this.")
    require(kind is not SystemKind.BASELINE or organiser, "Only organisers make baselines.")


def free_system_slug(session: Session, team_id: int, name: str) -> str:
    """A slug that no system of the team has, made from the name."""
    taken = set(session.scalars(sa.select(System.slug).where(System.team_id == team_id)))
    return free_slug(slug_of(name) or "system", taken.__contains__)


NUMBERS = 16**6  # of one installation, over all evaluations


def ensure_pseudonym(session: Session, evaluation_id: int, system_id: int) -> None:
    """Draws the system's number in the evaluation, where it has none yet."""
    key = (evaluation_id, system_id)
    while session.get(Pseudonym, key) is None:  # the number may be another's: drawn again
        number = secrets.randbelow(NUMBERS)
        insert_unless_there(session, Pseudonym, evaluation_id=evaluation_id, system_id=system_id, number=number)


def hand_over_pseudonyms(session: Session, source_id: int, target_id: int) -> None:
    """Two systems become one: where the target has a number it keeps it, elsewhere it gets the source's."""
    has = sa.select(Pseudonym.evaluation_id).where(Pseudonym.system_id == target_id)
    lacking = Pseudonym.system_id == source_id, Pseudonym.evaluation_id.not_in(has)
    session.execute(
        sa.update(Pseudonym).where(*lacking).values(system_id=target_id),
        execution_options={"synchronize_session": False},
    )
