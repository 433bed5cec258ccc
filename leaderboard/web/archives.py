"""Archives of past years that somebody sends: what one would make, and bringing it in once somebody says yes.

For the site's pages and for its API. An archive is kept in the store between the two and named by a proof. One without
a manifest gets a draft of one; a manifest that is sent beside its archive is kept in the store like it.
"""

import datetime as dt
import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from leaderboard.access import actor_of
from leaderboard.errors import BadInput, InvalidFields, NotFound
from leaderboard.formats import Limits
from leaderboard.formats.harmless import shown
from leaderboard.reads.organising.rooms import organised_campaign
from leaderboard.store import Received
from leaderboard.transfer.drafting import draft_of
from leaderboard.transfer.importing import Import, Report
from leaderboard.transfer.manifest import NAME, Manifest, look_at_manifest
from leaderboard.transfer.tree import Tree, open_tree
from leaderboard.web import uploads
from leaderboard.web.context import actor, config, database, reading, store
from leaderboard.web.organised_files import GONE, limits

__all__ = [
    "MOST_RUNS",
    "ArchivePlan",
    "BroughtIn",
    "EvaluationPlan",
    "ManifestDraft",
    "NoManifest",
    "bring_in",
    "draft",
    "manifest_of_kept",
    "plan",
    "plan_of_kept",
    "require_right",
]

MOST_RUNS = 500  # of one archive: somebody waits. The command takes any number
MOST_UNPACKED = 1 << 30  # bytes of an archive's files, unpacked
MOST_DRAFTED = 1 << 28  # of one without a manifest: to draft one each of its files is read
MOST_TEXT = 900_000  # bytes of a draft: a form's fields may have 1 MiB
BY_COMMAND = "draft its manifest with leaderboard import-campaign FOLDER --write-manifest FILE"


class NoManifest(BadInput):
    """An archive without a manifest, and none beside it."""


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """What an archive has of an evaluation; title and dates of one that is here already are as they are here.

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
    kept             names the archive, and the manifest beside it, for the yes, which may be said for twelve hours
    """

    filename: str
    campaign: str
    title: str
    evaluations: tuple[EvaluationPlan, ...]
    teams: tuple[str, ...]
    report: Report
    kept: str

    @property
    def brings_nothing(self) -> bool:
        """Whether every run is there already, and nothing else would be made; what is left out is among the notes."""
        nothing_changes = not (self.report.made or self.report.effects or self.report.other_dates)
        return nothing_changes and self.report.already == sum(one.runs for one in self.evaluations)


@dataclass(frozen=True, slots=True)
class ManifestDraft:
    """A manifest for an archive without one, to be completed.

    text               TOML
    evaluations, runs  how many are in it
    notes              what to look at before it is used, and every file that was not understood
    kept               names the archive
    """

    filename: str
    text: str
    evaluations: int
    runs: int
    notes: tuple[str, ...]
    kept: str


@dataclass(frozen=True, slots=True)
class BroughtIn:
    """What was brought in. campaign: its part of the address."""

    campaign: str
    report: Report


def require_right(campaign: str) -> str:
    """That whoever asks may bring something into the campaign, whose title it gives, or a whole one where it is "".

    Raises NotFound.
    """
    if campaign:
        with reading() as session:
            return organised_campaign(session, actor(), campaign).title
    if not (actor().all_powerful or actor().may_found):
        raise NotFound
    return ""


def draft(upload: Received, campaign: str) -> ManifestDraft:
    """Drafts a manifest for an archive, of one campaign or, "", of a new one. Raises BadInput where it can't be."""
    title = require_right(campaign)
    with _tree(upload) as tree:
        if sum(file.stat().st_size for file in tree.files.values()) > MOST_DRAFTED:
            raise BadInput(f"{upload.filename} is too large for that here; {BY_COMMAND}")
        drafted = draft_of(tree, slug=campaign, title=title, limits=limits(), most_runs=MOST_RUNS)
    if not drafted.evaluations:
        raise BadInput(f"there is no {NAME} in {upload.filename}, and no judgments by which one could be drafted")
    if len(drafted.text.encode()) > MOST_TEXT:
        raise BadInput(f"{upload.filename} has too many queries and runs for that here; {BY_COMMAND}")
    counts = drafted.evaluations, drafted.runs
    return ManifestDraft(upload.filename, drafted.text, *counts, drafted.notes, uploads.keep(upload))


def manifest_of_kept(kept: str, field: str) -> str:
    """The manifest by which a kept archive was looked at: the one beside it, else its own.

    Raises InvalidFields for `field` where the archive is gone, and BadInput for a manifest that is no text, or longer
    than a form takes.
    """
    upload, beside = _kept(kept, field)
    with _tree(upload) as tree:
        if beside is None:
            content = tree.file(NAME).read_bytes()
        else:
            with store().run_file(beside.sha256) as path:
                content = path.read_bytes()
    if len(content) > MOST_TEXT:
        raise BadInput(f"the manifest of {upload.filename} is too long for that here; change it in the archive")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput(f"the manifest of {upload.filename} is no UTF-8 text") from None


def plan_of_kept(kept: str, manifest: str, campaign: str, field: str) -> ArchivePlan:
    """What the archive that a draft names would make by this manifest. Raises InvalidFields for `field` where it is
    gone, and as `plan` does.
    """
    return plan(_kept(kept, field)[0], campaign, manifest)


def plan(upload: Received, campaign: str, manifest_text: str = "") -> ArchivePlan:
    """What an archive would make, of one campaign or, "", of any, by its manifest or the one beside it.

    Raises FileRejected with every problem, and NoManifest.
    """
    beside = store().receive(io.BytesIO(manifest_text.encode()), NAME) if manifest_text.strip() else None
    with _opened(upload, campaign, beside) as (tree, manifest, problems):
        bringing = _import(manifest, tree)
        report = bringing.look(problems)
    evaluations = tuple(
        EvaluationPlan(
            bringing.facts[one.slug].title,
            bringing.facts[one.slug].period,
            bringing.facts[one.slug].closes_at,
            one.queries,
            len(one.query_ids),
            len(one.judgments),
            sum(run.evaluation == one.slug for run in bringing.runs),
        )
        for one in manifest.evaluations
    )
    teams = tuple(sorted({manifest.team(run.entry.team).name for run in bringing.runs}))
    return ArchivePlan(
        upload.filename, manifest.slug, bringing.title, evaluations, teams, report, _keep(upload, beside)
    )


def bring_in(kept: str, campaign: str, field: str, *, correct_dates: bool) -> BroughtIn:
    """Brings in the archive that a plan names; workers score its runs.

    correct_dates  runs that an earlier import brought in get the dates of the manifest

    Every run is a transaction of its own: when the request breaks off, the same archive goes on where it was. Raises
    FileRejected with every problem, and InvalidFields for `field` where the archive is gone.
    """
    upload, beside = _kept(kept, field)
    with _opened(upload, campaign, beside) as (tree, manifest, problems):
        bringing = _import(manifest, tree, correct_dates=correct_dates)
        if problems:
            bringing.look(problems)
        bringing.prepare(whole=True)
        for run in bringing.runs:
            received = bringing.receive(run)
            if received is not None:
                with database().write() as session:
                    bringing.enter(session, run, received)
    return BroughtIn(manifest.slug, bringing.report)


def _import(manifest: Manifest, tree: Tree, *, correct_dates: bool = False) -> Import:
    user = actor().user_id
    return Import(
        database(), store(), lambda session: actor_of(session, user), manifest, tree, limits(), MOST_RUNS,
        correct_dates=correct_dates,
    )  # fmt: skip


def _keep(upload: Received, beside: Received | None) -> str:
    """Names an archive, and the manifest beside it, for the yes."""
    return " ".join(uploads.keep(one) for one in (upload, beside) if one is not None)


def _kept(proofs: str, field: str) -> tuple[Received, Received | None]:
    """What `_keep` names. Raises InvalidFields for `field` where it is gone, or another's."""
    found = [uploads.kept(one) for one in proofs.split(" ")[:2]]
    if None in found:
        raise InvalidFields({field: [GONE]})
    upload, *beside = [one for one in found if one is not None]
    return upload, beside[0] if beside else None


@contextmanager
def _tree(upload: Received) -> Iterator[Tree]:
    """The archive's files. Raises BadInput."""
    unpacked = Limits(expanded_bytes=min(config().text_bytes, MOST_UNPACKED))
    with store().run_file(upload.sha256) as path, open_tree(path, unpacked, upload.filename) as tree:
        yield tree


@contextmanager
def _opened(upload: Received, campaign: str, beside: Received | None) -> Iterator[tuple[Tree, Manifest, list[str]]]:
    """The archive's files, the manifest, which must be of the campaign where one is named, and what is wrong with that.

    beside  a manifest that goes before the archive's own

    Raises BadInput.
    """
    with _tree(upload) as tree:
        if beside is None and NAME not in tree.files:
            raise NoManifest(f"there is no file {NAME} in {upload.filename}")
        manifest, problems = _manifest(tree, beside)
        if campaign and manifest.slug != campaign:
            if manifest.slug:
                problems.append(f"campaign: slug: {shown(manifest.slug)} is another campaign: this is {campaign}")
            manifest = replace(manifest, slug=campaign)  # so that the rest is looked at too
        yield tree, manifest, problems


def _manifest(tree: Tree, beside: Received | None) -> tuple[Manifest, list[str]]:
    if beside is None:
        return look_at_manifest(tree.file(NAME))
    with store().run_file(beside.sha256) as path:
        return look_at_manifest(path)
