"""Makes a manifest's campaign and evaluations, as far as they are missing, and finds every problem on the way.

All of it is one transaction of the caller's, which it keeps where there was no problem: so what is refused leaves
nothing, and a preview is the same without the keeping. Teams and systems are made to see what is wrong, and undone:
each comes with its first run. What a problem is in the way of is made with a stand-in, so that
what comes after it is looked at too.
"""

import secrets
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, knows_campaign, require_organiser
from leaderboard.errors import BadInput, InvalidFields, LeaderboardError
from leaderboard.formats import Limits
from leaderboard.formats.harmless import shown
from leaderboard.models import Campaign, Evaluation, System
from leaderboard.rules.visibility import Visibility
from leaderboard.services.campaigns import create_campaign
from leaderboard.services.imports import checked_settings
from leaderboard.services.names import name_key
from leaderboard.transfer.differing import note_campaign, note_systems
from leaderboard.transfer.evaluations import EvaluationFacts, Evaluations
from leaderboard.transfer.manifest import WORDS, Manifest
from leaderboard.transfer.parties import Parties, listed_system
from leaderboard.transfer.planning import PlannedRun
from leaderboard.transfer.telling import TELLABLE, Telling
from leaderboard.transfer.tree import Tree
from leaderboard.transfer.unsaid import note_dates, note_kinds

__all__ = ["Making"]

SEEN_BY = {
    Visibility.PUBLIC: "public: everybody sees it at once",
    Visibility.PRIVATE: "private: its organisers and the teams that they let in see it",
    Visibility.DRAFT: "a draft: only its organisers see it until they publish it",
}


class Making:
    """One walk through a manifest, in a session.

    told         what there is to say of it
    evaluations  the ids of what there is now, by slug
    systems      ids by the number of the run, None of one that its first run makes; no run that can't be brought in
    refused      runs that can't be brought in, with the reason
    stood        the old boards that runs were on: see `stood.OldBoards`
    title        of the campaign
    facts        of evaluations, as they are now, by slug
    """

    def __init__(
        self,
        session: Session,
        actor: Callable[[Session], Actor],
        manifest: Manifest,
        tree: Tree,
        limits: Limits,
        problems: list[str],
    ) -> None:
        self.told = Telling(session, manifest.name, problems)
        self.systems: dict[int, int | None] = {}
        self.refused: list[tuple[PlannedRun, LeaderboardError]] = []
        self._session = session
        self._actor = actor
        self._manifest = manifest
        self._tree = tree
        self._parties = Parties(session, actor, manifest, self.told)
        self._evaluations = Evaluations(session, actor, tree, limits, self.told, self._whose)
        self.evaluations, self.stood = self._evaluations.ids, self._evaluations.stood
        self.title = ""
        self.facts: dict[str, EvaluationFacts] = self._evaluations.facts

    def everything(self, runs: list[PlannedRun], *, whole: bool, keep: bool) -> None:
        """Raises NotAllowed, and FileRejected with every problem where there was one.

        whole  a run that can't be brought in is a problem too
        keep   teams and systems are told as made by who enters their runs; else here, as what an import would make
        """
        campaign = self._campaign()
        require_organiser(self._actor(self._session), campaign.id)
        for number, entry in enumerate(self._manifest.evaluations, 1):
            own = [run for run in runs if run.evaluation == entry.slug]
            self._evaluations.make(campaign, entry, f"evaluation {number} ({shown(entry.slug)})", own)
        tried, made = self._session.begin_nested(), len(self.told.made)
        self._parties.make_teams(campaign, runs)
        for run in runs:
            try:
                self._plan(run)
            except TELLABLE as error:
                self.refused.append((run, error))
        for run, refusal in self.refused if whole else ():
            self.told.note(shown(run.entry.file), refusal)
        note_kinds(self._manifest, runs, self.systems, self._parties.systems.values(), self.told)
        self.systems = {number: None if one in self._parties.made else one for number, one in self.systems.items()}
        here = {number: self._session.get_one(System, one) for number, one in self.systems.items() if one is not None}
        note_systems(self._manifest, runs, here, self.told)
        tried.rollback()
        if keep:
            del self.told.made[made:]
        for slug, facts in self.facts.items():
            if facts.is_new:
                own = [run for run in runs if run.evaluation == slug]
                note_dates(self._session.get_one(Evaluation, self.evaluations[slug]), own, self.told)
        self.told.require_none()

    def _campaign(self) -> Campaign:
        manifest, actor = self._manifest, self._actor(self._session)
        found = self._session.scalar(sa.select(Campaign).where(Campaign.slug == manifest.slug))
        if found is not None and knows_campaign(actor, found):
            require_organiser(actor, found.id)
            self.told.there.append(f"the campaign {found.title}")
            note_campaign(found, manifest.settings, self.told)
            self.title = found.title
            return found
        given = {"slug": manifest.slug, "measures": [], "primary_measure": "", **manifest.settings}
        given["primary_measure"] = given["primary_measure"] or next(iter(given["measures"]), "")
        given.setdefault("visibility", Visibility.DRAFT)

        def make(**settings: Any) -> Campaign:
            return create_campaign(self._session, actor, settings.pop("slug"), settings.pop("title"), **settings)

        instead = {
            "slug": f"x-{secrets.token_hex(8)}", "title": "Without a title", "measures": ["AP"],
            "primary_measure": "AP", "beta": 1.0,
        }  # fmt: skip
        made = self.told.row("campaign", make, given, instead)
        self.told.made.append(f"the campaign {made.title}")
        self.title = made.title
        why = "" if "visibility" in manifest.settings else "nothing says who sees it (visibility), so it is "
        self.told.notes.append(f"{made.title}: {why}{SEEN_BY[made.visibility]}")
        return made

    def _whose(self, run: PlannedRun) -> tuple[str, str]:
        """The names of the run's team and system, as the manifest has them."""
        entry = self._manifest.team(run.entry.team)
        listed = listed_system(entry, run.system)
        return entry.name, name_key(run.system if listed is None else listed.name)

    def _plan(self, run: PlannedRun) -> None:
        """Finds the run's system, or makes it for now, and asks whether it could be brought in."""
        without = "" if run.entry.team else "no team is named: add team = …"
        try:
            self._tree.file(run.entry.file)
        except BadInput as error:
            raise BadInput(f"{error.message}; and {without}" if without else error.message) from None
        if without:
            raise BadInput(without)
        try:
            checked_settings({**run.entry.settings, "label": run.label})
        except InvalidFields as error:
            raise InvalidFields({WORDS.get(name, name): told for name, told in error.fields.items()}) from None
        entry = self._manifest.team(run.entry.team)
        team = self._parties.teams[entry.name]
        if team is not None:
            with self._session.begin_nested():
                self.systems[run.number] = self._parties.system(team, run).id
