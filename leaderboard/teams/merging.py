"""Two teams that are one, such as two spellings of a name: their systems, runs, quotas and people become one team's."""

from collections.abc import Collection

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, merging_refusal, require
from leaderboard.audit.writes import present, record
from leaderboard.campaigns.models import Campaign, CampaignTeam
from leaderboard.db import insert_unless_there, locked
from leaderboard.errors import Conflict, InvalidFields
from leaderboard.names import LONGEST, name_key
from leaderboard.submissions.models import Arrival, Participation, Submission
from leaderboard.submissions.rules import SystemKind
from leaderboard.submissions.writes.submissions import settle_primary
from leaderboard.teams.models import FormerAddress, Invitation, JoinRequest, Membership, System, Team
from leaderboard.teams.reads.find import namesakes
from leaderboard.teams.rules import Role
from leaderboard.teams.writes import end_requests, free_system_slug, hand_over_pseudonyms


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
    members = session.scalars(sa.select(Membership.user_id).where(Membership.team_id == target.id)).all()
    end_requests(session, actor, target, members)  # of whoever was in one and had asked the other
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
    rows = session.scalars(sa.select(Participation).where(Participation.team_id == source.id)).all()
    for row in rows:
        values = {"day": row.day, "used_today": 0, "rejected_today": 0, "used": 0}
        insert_unless_there(session, Participation, team_id=target.id, evaluation_id=row.evaluation_id, **values)
    parts = {}
    for evaluation_id in sorted(row.evaluation_id for row in rows):
        ids = sorted((source.id, target.id))
        both = {team_id: locked(session, Participation, (team_id, evaluation_id)) for team_id in ids}
        parts[evaluation_id] = both[source.id], both[target.id]
    return parts


def _move_systems(session: Session, actor: Actor, source: Team, target: Team, unite: Collection[int]) -> dict[int, int]:
    """A system of the source -> the one that its runs are of from now on."""
    own = session.scalars(sa.select(System).where(System.team_id == source.id).order_by(System.id)).all()
    same = namesakes(session, source, target)
    if set(unite) - same.keys():
        raise InvalidFields({"unite": [f"choose among the systems whose names {target.name} has too"]})
    taken = set(session.scalars(sa.select(System.slug).where(System.team_id == target.id)))
    becomes = {}
    for system in own:
        if system.merged_into_id is not None:
            continue
        old_slug = system.slug
        if system.id in unite:
            other = same[system.id]
            if (system.kind is SystemKind.BASELINE) is not (other.kind is SystemKind.BASELINE):
                raise InvalidFields({"unite": [f"one {system.name} is a baseline, the other is not: keep them apart"]})
            other.description = other.description or system.description
            other.code_url = other.code_url or system.code_url
            other.paper_url = other.paper_url or system.paper_url
            system.merged_into_id = other.id
            becomes[system.id] = other.id
            hand_over_pseudonyms(session, system.id, other.id)
            record(session, actor, "become one", system, about=[other], system=other.id, team=target.id)
            continue
        if system.id in same:
            system.name = _name_apart(session, target, system.name, source.name)
            system.name_key = name_key(system.name)
        slug = free_system_slug(session, target.id, system.name) if old_slug in taken else old_slug
        system.slug, system.team_id = slug, target.id
        taken.add(slug)
        insert_unless_there(
            session, FormerAddress, team_slug=source.slug, system_slug=old_slug, team_id=target.id, system_id=system.id
        )
        becomes[system.id] = system.id
        record(session, actor, "move to team", system, team=[source.id, target.id])
    return becomes


def _name_apart(session: Session, team: Team, name: str, other: str) -> str:
    """`Heron (Alder Group)`: a name that no system of the team has."""
    for number in range(1, LONGEST):
        behind = f" ({other[:25]}{f' {number}' if number > 1 else ''})"
        candidate = f"{name[: LONGEST - len(behind)].rstrip()}{behind}"
        taken = sa.select(System.id).where(System.team_id == team.id, System.name_key == name_key(candidate))
        if session.scalar(taken) is None:
            return candidate
    raise Conflict(f"{team.name} has too many systems that are called {name}.")


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
