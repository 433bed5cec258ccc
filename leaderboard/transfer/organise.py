"""Bringing past years in through the browser: an archive in a manifest's form, previewed, then taken in; workers score.

Below a campaign its organisers bring years into it; above all campaigns, whoever may make one brings a whole one. What
goes out is the same form. The API does the same by the same functions. An archive is kept in the store between preview
and import and named by a proof. One without a manifest gets a draft of one; a manifest that is sent beside its archive
is kept in the store like it.
"""

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial, wraps
from itertools import chain
from typing import Any

from flask import Blueprint, Response, flash, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from wtforms import FileField, HiddenField, TextAreaField

from leaderboard import access, db, numbers
from leaderboard.accounts.rate_limits import TEAM_NAME, count, take_back
from leaderboard.errors import BadInput, FileRejected, InvalidFields, LeaderboardError, NotFound
from leaderboard.evaluations.reads.evaluations import organised_campaign
from leaderboard.formats.plain_text import shown
from leaderboard.names import name_key
from leaderboard.store import Received, file_system
from leaderboard.teams.reads import is_known, known_team, merged, team_called
from leaderboard.transfer import importing
from leaderboard.transfer.drafting import Draft, draft_of
from leaderboard.transfer.exporting import exporting, packed
from leaderboard.transfer.manifest import NAME, TeamEntry, Tree, open_tree, read_manifest
from leaderboard.web import uploads
from leaderboard.web.context import actor, client_address, config, database, now, reading, store, writing
from leaderboard.web.exports import file_name
from leaderboard.web.forms import Form, form_page
from leaderboard.web.organise import here, limits
from leaderboard.web.security import csrf
from leaderboard.web.sessions import signed_in

MOST_RUNS = 500  # of one archive: somebody waits. The command takes any number
MOST_UNPACKED = 1 << 30  # bytes of an archive's files, unpacked
MOST_DRAFTED = 1 << 28  # of one without a manifest: to draft one its files are read
MOST_TEXT = 900_000  # bytes of a manifest in a form: its fields may have 1 MiB


class NoManifest(BadInput):
    """An archive without a manifest, and none beside it."""


@dataclass(slots=True, kw_only=True)
class ArchivePlan(importing.Imported):
    """What an archive would make; nothing of it is made yet.

    kept  names the archive, and the manifest beside it, to confirm within twelve hours
    """

    filename: str
    kept: str

    @property
    def brings_something(self) -> bool:
        return bool(self.report.made or self.report.imported)


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestDraft(Draft):
    """A manifest for an archive without one, to be completed. kept: names the archive."""

    filename: str
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
            raise _too_large(upload)
        drafted = draft_of(tree, slug=campaign, title=title)
    if drafted.runs > MOST_RUNS or len(drafted.text.encode()) > MOST_TEXT:
        raise _too_large(upload)
    if not drafted.evaluations:
        raise BadInput(f"there is no {NAME} in {upload.filename}, and no judgments by which one could be drafted")
    return db.snapshot(ManifestDraft, drafted, filename=upload.filename, kept=uploads.keep(upload))


def _too_large(upload: Received) -> BadInput:
    return BadInput(
        f"{upload.filename} has more runs (at most {MOST_RUNS:,}), more to look through or a longer manifest than this "
        "site takes while somebody waits; use leaderboard import-campaign"
    )


def plan(upload: Received, campaign: str, manifest_text: str = "") -> ArchivePlan:
    """What an archive would make, of one campaign or, "", of any, by its manifest or the one beside it.

    Raises FileRejected with every problem, and NoManifest.
    """
    separate = store().receive(io.BytesIO(manifest_text.encode()), NAME) if manifest_text.strip() else None
    planned = _bring_in(upload, separate, campaign, keep=False)
    proofs = " ".join(uploads.keep(file) for file in (upload, separate) if file)
    return db.snapshot(ArchivePlan, planned, filename=upload.filename, kept=proofs)


def bring_in(proofs: str, campaign: str, field: str) -> importing.Imported:
    """Brings in the archive that a plan names, whole or not at all; workers score its runs.

    Raises FileRejected with every problem, and InvalidFields for `field` where the archive is gone.
    """
    return _bring_in(*_kept(proofs, field), campaign, keep=True)


def campaign_export(slug: str) -> Response:
    """The .tar.gz of a campaign that the reader organises, made while it is sent. Raises NotFound, or NoStore."""
    with file_system(), ExitStack() as opened:
        pieces = packed(opened.enter_context(exporting(database(), actor(), slug)), store())
        first = next(pieces)
        until_sent = opened.pop_all()
    answer = Response(chain([first], pieces), content_type="application/gzip")
    answer.call_on_close(until_sent.close)
    answer.headers["Content-Disposition"] = f'attachment; filename="{file_name(slug)}.tar.gz"'
    answer.headers["Cache-Control"] = "private, no-store"
    return answer


def _bring_in(upload: Received, separate: Received | None, campaign: str, *, keep: bool) -> importing.Imported:
    user = actor().user_id
    with _tree(upload) as tree:
        manifest = read_manifest(_manifest(tree, upload, separate))
        if campaign and manifest.campaign.slug != campaign:
            raise BadInput(f"campaign, slug: {shown(manifest.campaign.slug)} is another campaign: this is {campaign}")
        importing.unpack(manifest, tree, NAME)
        runs = manifest.runs(tree)[0]
        if len(runs) > MOST_RUNS:
            raise _too_large(upload)
        with _counting([manifest.team_called(run.team) for _, run in runs], keep=keep):
            return importing.bring_in(
                database(), store(), lambda session: access.actor_of(session, user), manifest, tree, NAME, keep=keep
            )


@contextmanager
def _counting(teams: Sequence[TeamEntry], *, keep: bool) -> Iterator[None]:
    """Counts each of these teams that is absent for whoever asks, as a try of its name: a preview and a refusal tell
    that it is there. What is brought in is no try, nor are names that are free.

    Raises TooManyAttempts: after too many tries before the block, where a name is free or absent, so that the two can't
    be told apart; else in the place of what the block gives or raises.
    """
    with reading() as session:
        named = {team_called(session, name_key(team.name)) or known_team(session, team.slug) for team in teams}
        taken = {merged(session, team) for team in named if team is not None}
        absent = sum(not is_known(session, actor(), team, now()) for team in taken)
    tried = partial(count, database(), TEAM_NAME, now(), client_address(), user=actor().user_id)
    asked = tried() if (absent or None in named) and not actor().all_powerful else []
    is_try = True
    try:
        yield
        is_try = not keep
    finally:
        for _ in range((absent - 1) * is_try):
            tried()
        if not absent * is_try:
            with writing() as session:
                take_back(session, asked)


def _kept(proofs: str, field: str) -> tuple[Received, Received | None]:
    """The archive of a plan, and the manifest beside it. Raises InvalidFields for `field` where it is gone."""
    upload, *others = [uploads.require_kept(proof, field) for proof in proofs.split(" ")[:2]]
    return upload, next(iter(others), None)


@contextmanager
def _tree(upload: Received) -> Iterator[Tree]:
    """The archive's files. Raises BadInput, and NoStore where there is no room to unpack them."""
    allowed = replace(limits(), expanded_bytes=min(config().text_bytes, MOST_UNPACKED))
    with file_system(), store().reading(upload.sha256) as path, open_tree(path, allowed, upload.filename) as tree:
        yield tree


def _manifest(tree: Tree, upload: Received, separate: Received | None) -> bytes:
    """The one beside the archive, else its own."""
    if separate is not None:
        with store().reading(separate.sha256) as path:
            return path.read_bytes()
    if NAME not in tree.files:
        raise NoManifest(f"there is no file {NAME} in {upload.filename}")
    return tree.file(NAME).read_bytes()


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


def _page(address: str, name: str = "", *, method: str = "POST", exempt: bool = False) -> Callable[[View], View]:
    """Serves a view below a campaign, for its organisers, and above all, for whoever may make one: there it gets "".

    name    of its endpoints, before _whole and _into
    exempt  `uploads` checks the form's token, before it keeps a byte of a file
    """

    def serve(view: View) -> View:
        @wraps(view)
        @signed_in
        def checked(campaign: str) -> ResponseReturnValue:
            if campaign:
                here()
            require_right(campaign)
            return view(campaign)

        for prefix, where in (("", "whole"), ("/<campaign>", "into")):
            endpoint = f"{name}_{where}".removeprefix("_")
            defaults = {} if prefix else {"campaign": ""}
            blueprint.add_url_rule(f"{prefix}/import{address}", endpoint, checked, methods=[method], defaults=defaults)
        return csrf.exempt(checked) if exempt else checked

    return serve


@_page("", method="GET")
def choose(campaign: str) -> ResponseReturnValue:
    return render_template(FORM, form=ArchiveForm(), campaign=campaign, problems=None)


@blueprint.get("/<campaign>/export.tar.gz")
@signed_in
def export(campaign: str) -> ResponseReturnValue:
    return campaign_export(campaign)


@_page("/preview", "preview", exempt=True)
def preview(campaign: str) -> ResponseReturnValue:
    posted = uploads.receive("archive")
    try:
        upload = uploads.require_chosen(posted, "archive")
        try:
            return _planned(campaign, plan(upload, campaign))
        except NoManifest:
            drafted = draft(upload, campaign)
    except LeaderboardError as error:
        return _refused(campaign, error)
    return _manifest_page(campaign, drafted.kept, drafted.text, drafted)


@_page("/manifest", "complete", exempt=True)  # a manifest may be longer than other forms
def complete(campaign: str) -> ResponseReturnValue:
    """Previews an archive by the manifest that stands beside it; where that is wrong it comes back as it was sent.

    From the preview, too: "edit" gives the manifest that it went by.
    """
    fields = uploads.receive("").fields
    form = DraftForm(fields)
    names, text = form.text("kept"), form.text("manifest")
    try:
        upload, separate = _kept(names, "manifest")
        if "edit" in fields:
            with _tree(upload) as tree:
                own = _manifest(tree, upload, separate)
            if len(own) > MOST_TEXT:
                raise _too_large(upload)
            return _manifest_page(campaign, names, own.decode("utf-8-sig"))
        if not text.strip():
            raise InvalidFields({"manifest": [f"is empty: write what {NAME} would hold"]})
        return _planned(campaign, plan(upload, campaign, text))
    except LeaderboardError as error:
        return _refused(campaign, error, DRAFT, form, draft=None)


def _manifest_page(campaign: str, proofs: str, text: str, drafted: ManifestDraft | None = None) -> ResponseReturnValue:
    form = DraftForm(formdata=None, kept=proofs, manifest=text)
    return render_template(DRAFT, form=form, campaign=campaign, draft=drafted, problems=None)


def _planned(campaign: str, plan: ArchivePlan) -> ResponseReturnValue:
    form = ConfirmForm(formdata=None, kept=plan.kept)
    return render_template(PREVIEW, form=form, campaign=campaign, plan=plan, most=SHOWN)


@_page("", "take_in")
def take_in(campaign: str) -> ResponseReturnValue:
    try:
        imported = bring_in(ConfirmForm().text("kept"), campaign, "archive")
    except LeaderboardError as error:
        return _refused(campaign, error)
    report = imported.report
    score = "; workers score what is new" if report.imported else ""
    already = f" {numbers.counted(report.already, 'run was', 'runs were')} there already." if report.already else ""
    flash(f"{numbers.counted(report.imported, 'run')} brought in{score}.{already}")
    return redirect(url_for("organise.campaign", campaign=imported.campaign))


def _refused(
    campaign: str, error: LeaderboardError, page: str = FORM, form: Form | None = None, **more: Any
) -> ResponseReturnValue:
    """The page with what is wrong: of a file every problem with its line."""
    problems = error if isinstance(error, FileRejected) else None
    if problems:
        error = InvalidFields({"manifest" if form else "archive": ["nothing was taken in; see the problems below"]})
    form = form or ArchiveForm(formdata=None)
    return form_page(page, form, error, campaign=campaign, problems=problems, source=ARCHIVE, **more)
