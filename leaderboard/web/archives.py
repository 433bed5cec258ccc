"""Archives of past years that somebody sends: what one would make, and bringing it in once somebody says yes.

For the site's pages and for its API. An archive is kept in the store between the two and named by a proof.
"""

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from leaderboard.access import actor_of
from leaderboard.errors import InvalidFields, NotFound
from leaderboard.formats import Limits
from leaderboard.formats.harmless import shown
from leaderboard.reads.organising.rooms import organised_campaign
from leaderboard.store import Received
from leaderboard.transfer.importing import Import, Report
from leaderboard.transfer.manifest import NAME, Manifest, look_at_manifest
from leaderboard.transfer.tree import Tree, open_tree
from leaderboard.web import uploads
from leaderboard.web.context import actor, config, database, reading, store
from leaderboard.web.organised_files import GONE, limits

__all__ = ["MOST_RUNS", "ArchivePlan", "BroughtIn", "EvaluationPlan", "bring_in", "plan", "require_right"]

MOST_RUNS = 500  # of one archive: somebody waits. The command takes any number
MOST_UNPACKED = 1 << 30  # bytes of an archive's files, unpacked


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """What an archive has of an evaluation.

    queries    its file of them, "" without one
    query_ids  how many the manifest names where there is no file; without either they are those that are judged
    """

    title: str
    period: str
    closes_at: dt.datetime | None
    queries: str
    query_ids: int
    revisions: int
    runs: int


@dataclass(frozen=True, slots=True)
class ArchivePlan:
    """What an archive would make; nothing of it is made yet.

    campaign, title  of the campaign
    teams            whose runs are in it
    report           what would be made and what is there already, and files that nothing in the manifest names
    kept             names the archive for the yes, which may be said for twelve hours
    """

    filename: str
    campaign: str
    title: str
    evaluations: tuple[EvaluationPlan, ...]
    teams: tuple[str, ...]
    report: Report
    kept: str


@dataclass(frozen=True, slots=True)
class BroughtIn:
    """What was brought in. campaign: its part of the address."""

    campaign: str
    report: Report


def require_right(campaign: str) -> None:
    """That whoever asks may bring something into the campaign, or a whole one where it is "". Raises NotFound."""
    if campaign:
        with reading() as session:
            organised_campaign(session, actor(), campaign)
    elif not (actor().all_powerful or actor().may_found):
        raise NotFound


def plan(upload: Received, campaign: str) -> ArchivePlan:
    """What an archive would make, of one campaign or, "", of any. Raises FileRejected with every problem."""
    with _opened(upload, campaign) as (tree, manifest, problems):
        bringing = _import(manifest, tree)
        report = bringing.look(problems)
    evaluations = tuple(
        EvaluationPlan(
            one.title,
            one.period,
            one.settings.get("closes_at"),
            one.queries,
            len(one.query_ids),
            len(one.judgments),
            sum(run.evaluation == one.slug for run in bringing.runs),
        )
        for one in manifest.evaluations
    )
    teams = tuple(sorted({manifest.team(run.entry.team).name for run in bringing.runs}))
    title = str(manifest.settings.get("title", ""))
    return ArchivePlan(upload.filename, manifest.slug, title, evaluations, teams, report, uploads.keep(upload))


def bring_in(kept: str, campaign: str, field: str) -> BroughtIn:
    """Brings in the archive that a plan names; workers score its runs.

    Every run is a transaction of its own: when the request breaks off, the same archive goes on where it was. Raises
    FileRejected with every problem, and InvalidFields for `field` where the archive is gone.
    """
    upload = uploads.kept(kept)
    if upload is None:
        raise InvalidFields({field: [GONE]})
    with _opened(upload, campaign) as (tree, manifest, problems):
        bringing = _import(manifest, tree)
        if problems:
            bringing.look(problems)
        bringing.prepare(whole=True)
        for run in bringing.runs:
            received = bringing.receive(run)
            if received is not None:
                with database().write() as session:
                    bringing.enter(session, run, received)
    return BroughtIn(manifest.slug, bringing.report)


def _import(manifest: Manifest, tree: Tree) -> Import:
    user = actor().user_id
    return Import(database(), store(), lambda session: actor_of(session, user), manifest, tree, limits(), MOST_RUNS)


@contextmanager
def _opened(upload: Received, campaign: str) -> Iterator[tuple[Tree, Manifest, list[str]]]:
    """The archive's files, its manifest, which must be of the campaign where one is named, and what is wrong with that.

    Raises BadInput.
    """
    unpacked = Limits(expanded_bytes=min(config().text_bytes, MOST_UNPACKED))
    with store().run_file(upload.sha256) as path, open_tree(path, unpacked, upload.filename) as tree:
        manifest, problems = look_at_manifest(tree.file(NAME))
        if campaign and manifest.slug != campaign:
            if manifest.slug:
                problems.append(f"campaign: slug: {shown(manifest.slug)} is another campaign: this is {campaign}")
            manifest = replace(manifest, slug=campaign)  # so that the rest is looked at too
        yield tree, manifest, problems
