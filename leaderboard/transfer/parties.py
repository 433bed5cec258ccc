"""Teams and systems of a manifest: those that are here already, whatever they are called now, and the others made.

A walk through the manifest makes all of them, to find what is wrong, and undoes that; each is made for good in the
transaction of its first run. So whatever becomes of the runs, no team and no system is left without one.
"""

from collections.abc import Callable

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, may_bring_in
from leaderboard.errors import InvalidFields
from leaderboard.formats.harmless import shown
from leaderboard.lookup import is_known_team, known_system, known_team, merged_system, merged_team, team_called
from leaderboard.models import Campaign, Evaluation, Membership, Submission, System, Team
from leaderboard.numbers import counted
from leaderboard.rules.moments import day_in_words
from leaderboard.rules.standings import SystemKind
from leaderboard.services.events import present
from leaderboard.services.names import name_key, slug_of
from leaderboard.services.systems import NewSystem, create_system
from leaderboard.services.teams import create_team
from leaderboard.transfer.manifest import Manifest, SystemEntry, TeamEntry
from leaderboard.transfer.planning import PlannedRun
from leaderboard.transfer.telling import Telling

__all__ = ["Parties", "listed_system"]


class Parties:
    """The teams and systems of a manifest, in a session.

    teams    by the name of the entry; None: one that can't be used
    systems  by the names of the entries of team and system
    made     ids of the systems that were not here
    """

    def __init__(self, session: Session, actor: Callable[[Session], Actor], manifest: Manifest, told: Telling) -> None:
        self.teams: dict[str, Team | None] = {}
        self.systems: dict[tuple[str, str], System] = {}
        self.made: set[int] = set()
        self._known: dict[str, Team] = {}  # the teams that were here, as they were before they were merged
        self._session = session
        self._actor = actor
        self._manifest = manifest
        self._told = told

    def make_teams(self, campaign: Campaign, runs: list[PlannedRun]) -> None:
        """Those that runs are of: the listed ones first, in their order."""
        used = {self._manifest.team(run.entry.team).name for run in runs if run.entry.team}
        for number, entry in enumerate(self._manifest.teams, 1):
            if entry.name in used:
                self._team(campaign, entry, f"team {number} ({shown(entry.name)})")
        for run in runs:
            entry = self._manifest.team(run.entry.team)
            if run.entry.team and entry.name not in self.teams:
                self._team(campaign, entry, f"{shown(run.entry.file)}: team {shown(entry.name)}")

    def of_run(self, campaign: Campaign, run: PlannedRun) -> System:
        """The run's system, which is made, and its team, where they are not here. Raises what `TELLABLE` names."""
        entry = self._manifest.team(run.entry.team)
        return self.system(self._found_team(campaign, entry) or self._new_team(entry), run)

    def _team(self, campaign: Campaign, entry: TeamEntry, place: str) -> Team | None:
        self.teams[entry.name] = None
        with self._told.telling(place):
            self.teams[entry.name] = self._found_team(campaign, entry) or self._new_team(entry)
        return self.teams[entry.name]

    def _new_team(self, entry: TeamEntry) -> Team:
        actor = self._actor(self._session)
        made = create_team(self._session, actor, entry.name, entry.slug or None, entry.description, own=False)
        self._told.made.append(f"the team {made.name}")
        return made

    def _found_team(self, campaign: Campaign, entry: TeamEntry) -> Team | None:
        """The team that is here already, whatever it is called now, or was merged into.

        Raises InvalidFields for one that is another's, or not for this actor.
        """
        known = self._known_team(campaign, entry)
        team = None if known is None else merged_team(self._session, known)
        if team is not None and not may_bring_in(self._session, self._actor(self._session), team.id):
            words = (
                f"the team {entry.name} is here already, and is neither yours nor was ever part of a campaign that you "
                "organise: ask an operator of this site to import the archive (leaderboard import-campaign), or give "
                "the team another name in the manifest"
            )
            raise InvalidFields({"name": [words]})
        if team is not None and not entry.known:
            self._require_no_strangers(campaign, team)
        if known is not None:
            self._known[entry.name] = known
        return team

    def _require_no_strangers(self, campaign: Campaign, team: Team) -> None:
        """A name is free for anybody to take: who took it would have the team's runs, and could withdraw them."""
        own = self._actor(self._session).is_in(team.id) or _took_part(self._session, team, campaign)
        members = sa.select(sa.func.count(Membership.user_id)).where(Membership.team_id == team.id)
        if not own and (count := self._session.scalar(members)):
            words = (
                f"the team {team.name} ({team.slug}) is here already, made on {day_in_words(team.created_at)}, and has "
                f"no run in this campaign: its {counted(count, 'member')} would have these runs, and could change and "
                "withdraw them. If it is this team, write known = true in its [[team]]; else give it another name"
            )
            raise InvalidFields({"name": [words]})

    def _known_team(self, campaign: Campaign, entry: TeamEntry) -> Team | None:
        """By its address where the entry gives one, else by its name: what it is, or ever was, called."""
        session = self._session
        named = team_called(session, name_key(entry.name))
        addressed = known_team(session, entry.slug) if entry.slug else None
        if addressed is None or addressed is named:
            return named
        if _took_part(session, merged_team(session, addressed), campaign):
            return addressed
        if addressed.slug != entry.slug and named is not None:
            return named
        word = "is" if addressed.slug == entry.slug else "was"
        named_so = ""
        if is_known_team(session, self._actor(session), addressed, present()):
            now = merged_team(session, addressed)
            named_so = f", {now.name} ({now.slug})"
        words = (
            f"{entry.slug} {word} the address of another team here{named_so}: give another slug, or that team's name"
        )
        raise InvalidFields({"slug": [words]})

    def system(self, team: Team, run: PlannedRun) -> System:
        """The run's system, one of the team's, made where it is not here yet."""
        entry = self._manifest.team(run.entry.team)
        kind = SystemKind(run.entry.kind) if run.entry.kind else None
        listed = listed_system(entry, run.system)
        name, slug = (run.system, "") if listed is None else (listed.name, listed.slug)
        key = entry.name, name_key(name)
        if key in self.systems:
            return self.systems[key]
        found = self._known_system(team, entry, name, slug)
        if found is None:
            settings = ({} if kind is None else {"kind": kind}) | dict(listed.settings if listed else {})
            found = create_system(self._session, self._actor(self._session), team, NewSystem(name, **settings), slug)
            self.made.add(found.id)
            self._told.made.append(f"the system {found.name} of {team.name}")
        self.systems[key] = found
        return found

    def _known_system(self, team: Team, entry: TeamEntry, name: str, slug: str) -> System | None:
        """The team's system that is here already. One of a team that was merged is looked for where it was, first:
        the team that has it now may have had another one of this name.
        """
        session, own, key = self._session, System.team_id == team.id, name_key(name)
        before = self._known.get(entry.name, team)
        if before is not team:
            found = known_system(session, before.slug, slug or slug_of(name))
            if found is not None and found.team_id == team.id:
                return found
        found = session.scalar(sa.select(System).where(own, System.slug == slug)) if slug else None
        found = found or session.scalar(sa.select(System).where(own, System.name_key == key))
        return None if found is None else merged_system(session, found)


def listed_system(entry: TeamEntry, spelled: str) -> SystemEntry | None:
    """What the manifest says of the team's system of this spelling."""
    key = name_key(spelled)
    return next(
        (one for one in entry.systems if key in {name_key(name) for name in (one.name, one.slug, *one.spellings)}),
        None,
    )


def _took_part(session: Session, team: Team, campaign: Campaign) -> bool:
    own = sa.select(Submission.id).join(Submission.evaluation)
    return bool(
        session.scalar(
            sa.select(own.where(Submission.team_id == team.id, Evaluation.campaign_id == campaign.id).exists())
        )
    )
