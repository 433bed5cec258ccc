"""Two teams that are one, such as two spellings of a name: their systems, runs, quotas and people become one team's."""

from collections.abc import Collection

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, merging_refusal, require
from leaderboard.audit.writes import present, record
from leaderboard.campaigns.models import Campaign, CampaignTeam
from leaderboard.db import exists, insert_unless_there, locked
from leaderboard.errors import Conflict, InvalidFields
from leaderboard.names import LONGEST, free_slug, name_key
from leaderboard.submissions.models import Arrival, Participation, Submission
from leaderboard.submissions.writes.submissions import settle_primary
from leaderboard.teams.models import FormerAddress, Invitation, JoinRequest, Membership, Pseudonym, System, Team
from leaderboard.teams.reads import namesakes
from leaderboard.teams.rules import Role
from leaderboard.teams.writes import end_requests, free_system_slug


def merge_teams(session: Session, actor: Actor, source: Team, target: Team, *, unite: Collection[int] = ()) -> None:
    """Makes `source` a part of `target`, with its systems, runs, people, invitations and quotas.

    What each has used of an evaluation's quotas adds up. Of two primary runs in one evaluation the one that was
    submitted last stays it; the other goes on standing for its system. Old addresses lead to the target's. A row of
    the old team stays for the trail, and its name stays taken.

    unite  ids of systems of the source that become one with the target's system of the same name; others of a name
           that the target has are kept apart, with the old team's name behind theirs

    Admins do so, and whoever organises every campaign that either team took part in. Raises NotAllowed, Conflict where
    one of them was merged already, and InvalidFields (unite).
    """
    refused = merging_refusal(session, actor, source, target)
    require(not refused, refused)
    if source.id == target.id:
        raise Conflict("A team is not merged with itself.")
    # Whoever submits for one of them, or lets people in, holds its row: they have finished, or they find the target.
    for team_id in sorted((source.id, target.id)):
        locked(session, Team, team_id)
    for team in (source, target):
        if team.merged_into_id is not None:
            raise Conflict(f"{team.name} was merged into another team already.")
    parts = _locked_parts(session, source, target)
    runs = session.scalars(
        sa.select(Submission).where(Submission.team_id == source.id).order_by(Submission.id).with_for_update()
    ).all()
    becomes = _move_systems(session, actor, source, target, unite)
    for run in runs:
        old, new = parts[run.evaluation_id]
        record(session, actor, "move to team", run, about=[old, new], team=[source.id, target.id])
        run.team_id, run.system_id = target.id, becomes[run.system_id]
    for old, new in parts.values():
        _add_up(session, actor, old, new)
    _move_people(session, source, target)
    for let_in in session.scalars(sa.select(CampaignTeam).where(CampaignTeam.team_id == source.id)).all():
        insert_unless_there(session, CampaignTeam, campaign_id=let_in.campaign_id, team_id=target.id)
        session.delete(let_in)
        campaign = session.get_one(Campaign, let_in.campaign_id)
        record(session, actor, "let in instead", campaign, team=[source.id, target.id])
    for table in (Invitation, JoinRequest, Arrival):
        session.execute(sa.update(table).where(table.team_id == source.id).values(team_id=target.id))
    end_requests(session, actor, target)  # of whoever was in one and had asked the other
    session.execute(
        sa.update(FormerAddress)
        .where(FormerAddress.team_id == source.id, FormerAddress.system_id.is_not(None))
        .values(team_id=target.id)
    )
    source.merged_into_id, source.is_listed = target.id, False
    record(session, actor, "merge", target, about=[source], team=source.id, name=source.name, runs=len(runs))
    record(session, actor, "merge into", source, about=[target], team=target.id, name=target.name)


def _locked_parts(session: Session, source: Team, target: Team) -> dict[int, tuple[Participation, Participation]]:
    """Evaluation -> what each team did there, locked; the target's row is made where there is none."""
    parts = {}
    own = sa.select(Participation).where(Participation.team_id == source.id).order_by(Participation.evaluation_id)
    for row in session.scalars(own).all():
        unused = {"day": row.day, "used_today": 0, "rejected_today": 0, "used": 0}
        insert_unless_there(session, Participation, team_id=target.id, evaluation_id=row.evaluation_id, **unused)
        ids = sorted((source.id, target.id))
        both = {team_id: locked(session, Participation, (team_id, row.evaluation_id)) for team_id in ids}
        parts[row.evaluation_id] = row, both[target.id]
    return parts


def _move_systems(session: Session, actor: Actor, source: Team, target: Team, unite: Collection[int]) -> dict[int, int]:
    """A system of the source -> the one that its runs are of from now on."""
    same = {own.id: other for own, other in namesakes(session, source, target)}
    if set(unite) - same.keys():
        raise InvalidFields({"unite": [f"choose among the systems whose names {target.name} has too"]})
    becomes = {}
    own = sa.select(System).where(System.team_id == source.id, System.merged_into_id.is_(None)).order_by(System.id)
    for system in session.scalars(own).all():
        if system.id in unite:
            other = same[system.id]
            _become_one(session, system, other)
            record(session, actor, "become one", system, about=[other], system=other.id, team=target.id)
            becomes[system.id] = other.id
            continue
        if system.id in same:
            system.name = _name_apart(session, system.name, source, target)
            system.name_key = name_key(system.name)
        old_slug = system.slug
        if exists(session, System.team_id == target.id, System.slug == old_slug):
            system.slug = free_system_slug(session, target.id, system.name)
        system.team_id = target.id
        former = {"team_slug": source.slug, "system_slug": old_slug}
        session.add(FormerAddress(**former, team_id=target.id, system_id=system.id))
        record(session, actor, "move to team", system, team=[source.id, target.id])
        becomes[system.id] = system.id
    return becomes


def _become_one(session: Session, system: System, other: System) -> None:
    """`other` goes on as both, with its own texts and numbers where it has some. Raises InvalidFields (unite)."""
    if system.is_baseline != other.is_baseline:
        raise InvalidFields({"unite": [f"one {system.name} is a baseline, the other is not: keep them apart"]})
    for name in ("description", "code_url", "paper_url"):
        setattr(other, name, getattr(other, name) or getattr(system, name))
    system.merged_into_id = other.id
    has = sa.select(Pseudonym.evaluation_id).where(Pseudonym.system_id == other.id)
    lacking = Pseudonym.system_id == system.id, Pseudonym.evaluation_id.not_in(has)
    handed = sa.update(Pseudonym).where(*lacking).values(system_id=other.id)
    session.execute(handed, execution_options={"synchronize_session": False})


def _name_apart(session: Session, name: str, source: Team, target: Team) -> str:
    """`Heron (Alder Group)`, or with a number behind it: a name that no system of either team has."""
    taken = set(session.scalars(sa.select(System.name_key).where(System.team_id.in_((source.id, target.id)))))
    behind = f" ({source.name[:25]})"
    return free_slug(name[: LONGEST - len(behind)] + behind, lambda candidate: name_key(candidate) in taken)


def _add_up(session: Session, actor: Actor, old: Participation, new: Participation) -> None:
    """What the old team used counts for the new one, and its primary run goes on standing for its system."""
    new.used += old.used
    if old.day > new.day:
        new.day, new.used_today, new.rejected_today = old.day, old.used_today, old.rejected_today
    elif old.day == new.day:
        new.used_today += old.used_today
        new.rejected_today += old.rejected_today
    primary, old.primary_submission_id = old.primary_submission_id, None
    session.flush()
    session.delete(old)
    settle_primary(session, actor, new)
    if primary is None or new.primary_submission_id in {None, primary}:
        return
    run = session.get_one(Submission, primary)
    stands = session.get_one(Submission, new.primary_submission_id)
    if run.system_id != stands.system_id and run.withdrawn_at is None and run.ruling is None:
        run.chosen_at = present()
        record(session, actor, "keep standing", run, primary=stands.id)


def _move_people(session: Session, source: Team, target: Team) -> None:
    """The source's members become the target's; who owned either owns it."""
    for member in session.scalars(sa.select(Membership).where(Membership.team_id == source.id)).all():
        values = {"role": member.role, "joined_at": member.joined_at}
        insert_unless_there(session, Membership, team_id=target.id, user_id=member.user_id, **values)
        if member.role is Role.OWNER:
            session.get_one(Membership, (target.id, member.user_id)).role = Role.OWNER
        session.delete(member)
