"""Bringing past years in through the browser: an archive in a manifest's form, previewed, then taken in; workers score.

Below a campaign its organisers bring years into it; above all campaigns, whoever may make one brings a whole one. What
goes out is the same form. The API does the same by the same functions. An archive is kept in the store between preview
and import and named by a proof. One without a manifest gets a draft of one; a manifest that is sent beside its archive
is kept in the store like it.
"""

import io
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields
from itertools import chain
from typing import Any

from flask import Blueprint, Response, flash, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import MultiDict
from wtforms import FileField, HiddenField, TextAreaField

from leaderboard.access import actor_of
from leaderboard.campaigns.reads import organised_campaign
from leaderboard.errors import BadInput, FileRejected, InvalidFields, LeaderboardError, NotFound
from leaderboard.formats import Limits
from leaderboard.formats.plain_text import shown
from leaderboard.judgments.organise import chosen
from leaderboard.numbers import counted
from leaderboard.store import Received
from leaderboard.transfer.drafting import draft_of
from leaderboard.transfer.exporting import exporting, packed
from leaderboard.transfer.importing import Imported
from leaderboard.transfer.importing import bring_in as replayed
from leaderboard.transfer.manifest import NAME, Tree, open_tree, read_manifest
from leaderboard.web import uploads
from leaderboard.web.context import actor, config, database, reading, store
from leaderboard.web.exports import file_name
from leaderboard.web.forms import Form, form_page
from leaderboard.web.organise import GONE, limits, organised
from leaderboard.web.security import csrf
from leaderboard.web.sessions import signed_in

MOST_RUNS = 500  # of one archive: somebody waits. The command takes any number
MOST_UNPACKED = 1 << 30  # bytes of an archive's files, unpacked
MOST_DRAFTED = 1 << 28  # of one without a manifest: to draft one its files are read
MOST_TEXT = 900_000  # bytes of a manifest in a form: its fields may have 1 MiB
BY_COMMAND = "use leaderboard import-campaign"


class NoManifest(BadInput):
    """An archive without a manifest, and none beside it."""


@dataclass(slots=True, kw_only=True)
class ArchivePlan(Imported):
    """What an archive would make; nothing of it is made yet.

    kept  names the archive, and the manifest beside it, to confirm within twelve hours
    """

    filename: str
    kept: str

    @property
    def brings_something(self) -> bool:
        return bool(self.report.made or self.report.imported)


@dataclass(frozen=True, slots=True)
class ManifestDraft:
    """A manifest for an archive without one, to be completed.

    text               TOML
    evaluations, runs  how many are in it
    notes              what to look at before it is used
    kept               names the archive
    """

    filename: str
    text: str
    evaluations: int
    runs: int
    notes: tuple[str, ...]
    kept: str


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
            raise BadInput(f"{upload.filename} is too large to draft a manifest here; {BY_COMMAND}")
        drafted = draft_of(tree, slug=campaign, title=title, limits=limits())
    if drafted.runs > MOST_RUNS:
        raise BadInput(f"{upload.filename} has more than {MOST_RUNS:,} runs; {BY_COMMAND}")
    if not drafted.evaluations:
        raise BadInput(f"there is no {NAME} in {upload.filename}, and no judgments by which one could be drafted")
    _require_short(drafted.text.encode(), upload)
    counts = drafted.evaluations, drafted.runs
    return ManifestDraft(upload.filename, drafted.text, *counts, drafted.notes, uploads.keep(upload))


def plan(upload: Received, campaign: str, manifest_text: str = "") -> ArchivePlan:
    """What an archive would make, of one campaign or, "", of any, by its manifest or the one beside it.

    Raises FileRejected with every problem, and NoManifest.
    """
    separate = store().receive(io.BytesIO(manifest_text.encode()), NAME) if manifest_text.strip() else None
    planned = _bring_in(upload, separate, campaign, keep=False)
    own = {each.name: getattr(planned, each.name) for each in fields(planned)}
    kept = " ".join(uploads.keep(file) for file in (upload, separate) if file)
    return ArchivePlan(**own, filename=upload.filename, kept=kept)


def bring_in(kept: str, campaign: str, field: str) -> Imported:
    """Brings in the archive that a plan names, whole or not at all; workers score its runs.

    Raises FileRejected with every problem, and InvalidFields for `field` where the archive is gone.
    """
    return _bring_in(*_kept(kept, field), campaign, keep=True)


def campaign_export(slug: str) -> Response:
    """The .tar.gz of a campaign that the reader organises, made while it is sent. Raises NotFound, or NoStore."""
    with ExitStack() as opened:
        pieces = packed(opened.enter_context(exporting(database(), actor(), slug)), store())
        first = next(pieces)
        until_sent = opened.pop_all()
    answer = Response(chain([first], pieces), content_type="application/gzip")
    answer.call_on_close(until_sent.close)
    answer.headers["Content-Disposition"] = f'attachment; filename="{file_name(slug)}.tar.gz"'
    answer.headers["Cache-Control"] = "private, no-store"
    return answer


def _bring_in(upload: Received, separate: Received | None, campaign: str, *, keep: bool) -> Imported:
    user = actor().user_id
    with _tree(upload) as tree:
        manifest = read_manifest(_manifest(tree, upload, separate))
        if campaign and manifest.campaign.slug != campaign:
            raise BadInput(f"campaign, slug: {shown(manifest.campaign.slug)} is another campaign: this is {campaign}")
        if len(manifest.runs(tree)[0]) > MOST_RUNS:
            raise BadInput(f"{tree.name} has more than {MOST_RUNS:,} runs; {BY_COMMAND}")
        parts = manifest, tree, NAME
        return replayed(
            database(), store(), lambda session: actor_of(session, user), *parts, limits=limits(), keep=keep
        )


def _kept(proofs: str, field: str) -> tuple[Received, Received | None]:
    """The archive of a plan, and the manifest beside it. Raises InvalidFields for `field` where it is gone."""
    files = [uploads.kept(proof) for proof in proofs.split(" ")[:2]]
    if files[0] is None or None in files:
        raise InvalidFields({field: [GONE]})
    return files[0], files[1] if len(files) > 1 else None


@contextmanager
def _tree(upload: Received) -> Iterator[Tree]:
    """The archive's files. Raises BadInput."""
    unpacked = Limits(expanded_bytes=min(config().text_bytes, MOST_UNPACKED))
    with store().run_file(upload.sha256) as path, open_tree(path, unpacked, upload.filename) as tree:
        yield tree


def _manifest(tree: Tree, upload: Received, separate: Received | None) -> bytes:
    """The one beside the archive, else its own."""
    if separate is not None:
        with store().run_file(separate.sha256) as path:
            return path.read_bytes()
    if NAME not in tree.files:
        raise NoManifest(f"there is no file {NAME} in {upload.filename}")
    return tree.file(NAME).read_bytes()


def _require_short(manifest: bytes, upload: Received) -> bytes:
    if len(manifest) > MOST_TEXT:
        raise BadInput(f"the manifest of {upload.filename} is too long for a form; {BY_COMMAND}")
    return manifest


blueprint = Blueprint("organise_import", __name__, url_prefix="/organise")

FORM, DRAFT, PREVIEW = "organise/import.html", "organise/import_draft.html", "organise/import_preview.html"
ARCHIVE = "the archive"  # what problems are in that have no line: those of a manifest name files and entries
SHOWN = 50  # teams, notes, and files that nothing names, that a page lists


class ArchiveForm(Form):
    archive = FileField(
        "Archive",
        description=f"A .zip, .tar or .tar.gz with {NAME} and the files that it names, as the command leaderboard "
        f"export writes them; at most {MOST_RUNS} runs. Without {NAME} you get a draft of one to complete. "
        "You see what it makes before anything is made.",
    )


class DraftForm(Form):
    kept = HiddenField()
    manifest = TextAreaField("Manifest", render_kw={"rows": 30, "spellcheck": "false", "wrap": "off"})


class ConfirmForm(Form):
    kept = HiddenField()


View = Callable[[str], ResponseReturnValue]


def _page(method: str, address: str, whole: str, into: str, *, exempt: bool = False) -> Callable[[View], View]:
    """Serves a view below a campaign, for its organisers, and above all, for whoever may make one: there it gets "".

    whole, into  its endpoints
    exempt  it checks the form's token by itself
    """

    def serve(view: View) -> View:
        @signed_in
        def above_all() -> ResponseReturnValue:
            require_right("")
            return view("")

        def below(campaign: str) -> ResponseReturnValue:
            return view(campaign)

        for prefix, endpoint, page in (("", whole, above_all), ("/<campaign>", into, organised(below))):
            blueprint.add_url_rule(f"{prefix}/import{address}", endpoint, page, methods=[method])
            if exempt:
                page.__name__ = endpoint
                csrf.exempt(page)
        return view

    return serve


@_page("GET", "", "whole", "into")
def choose(campaign: str) -> ResponseReturnValue:
    return render_template(FORM, form=ArchiveForm(), campaign=campaign, problems=None)


@blueprint.get("/<campaign>/export.tar.gz")
@organised
def export(campaign: str) -> ResponseReturnValue:
    return campaign_export(campaign)


# uploads.receive checks the token itself, before it keeps a byte of the file
@_page("POST", "/preview", "preview_whole", "preview_into", exempt=True)
def preview(campaign: str) -> ResponseReturnValue:
    def admit(_: MultiDict[str, str]) -> None:
        require_right(campaign)

    posted = uploads.receive("archive", admit)
    try:
        upload = chosen(posted, "archive")
        try:
            return _planned(campaign, plan(upload, campaign))
        except NoManifest:
            drafted = draft(upload, campaign)
    except LeaderboardError as error:
        return _refused(campaign, error)
    form = DraftForm(formdata=None, kept=drafted.kept, manifest=drafted.text)
    return render_template(DRAFT, form=form, campaign=campaign, draft=drafted, problems=None)


# uploads.look checks the token; a manifest may be longer than other forms
@_page("POST", "/manifest", "complete_whole", "complete_into", exempt=True)
def complete(campaign: str) -> ResponseReturnValue:
    """Previews an archive by the manifest that stands beside it; where that is wrong it comes back as it was sent.

    From the preview, too: "edit" gives the manifest that it went by.
    """
    fields, _ = uploads.look("", 0)
    if "edit" in fields:
        names = DraftForm(fields).text("kept")
        try:
            upload, separate = _kept(names, "archive")
            with _tree(upload) as tree:
                text = _require_short(_manifest(tree, upload, separate), upload).decode("utf-8-sig")
        except LeaderboardError as error:
            return _refused(campaign, error)
        form = DraftForm(formdata=None, kept=names, manifest=text)
        return render_template(DRAFT, form=form, campaign=campaign, draft=None, problems=None)
    form = DraftForm(fields)
    try:
        if not form.text("manifest").strip():
            raise InvalidFields({"manifest": [f"is empty: write what {NAME} would hold"]})
        upload, _ = _kept(form.text("kept"), "manifest")
        return _planned(campaign, plan(upload, campaign, form.text("manifest")))
    except LeaderboardError as error:
        return _refused(campaign, error, DRAFT, form, "manifest", draft=None)


def _planned(campaign: str, plan: ArchivePlan) -> ResponseReturnValue:
    form = ConfirmForm(formdata=None, kept=plan.kept)
    return render_template(PREVIEW, form=form, campaign=campaign, plan=plan, most=SHOWN)


@_page("POST", "", "take_in_whole", "take_in_into")
def take_in(campaign: str) -> ResponseReturnValue:
    try:
        imported = bring_in(ConfirmForm().text("kept"), campaign, "archive")
    except LeaderboardError as error:
        return _refused(campaign, error)
    report = imported.report
    already = f" {counted(report.already, 'run was', 'runs were')} there already." if report.already else ""
    score = "; workers score what is new" if report.imported else ""
    flash(f"{counted(report.imported, 'run')} brought in{score}.{already}")
    return redirect(url_for("organise.campaign", campaign=imported.campaign))


def _refused(
    campaign: str,
    error: LeaderboardError,
    page: str = FORM,
    form: Form | None = None,
    field: str = "archive",
    **more: Any,
) -> ResponseReturnValue:
    """The page with what is wrong: of a file every problem with its line."""
    problems = error if isinstance(error, FileRejected) else None
    if problems:
        error = InvalidFields({field: ["nothing was taken in; see the problems below"]})
    form = form or ArchiveForm(formdata=None)
    return form_page(page, form, error, campaign=campaign, problems=problems, source=ARCHIVE, **more)
