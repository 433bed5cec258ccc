"""Bringing past years in through the browser: an archive in a manifest's form, previewed, then taken in; workers score.

Below a campaign its organisers bring years into it; above all campaigns, whoever may make one brings a whole one. What
goes out is the same form.
"""

from flask import Blueprint, abort, flash, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import MultiDict
from wtforms import FileField, HiddenField, TextAreaField

from leaderboard.errors import FileRejected, InvalidFields, LeaderboardError
from leaderboard.judgments.organise import chosen
from leaderboard.numbers import counted
from leaderboard.transfer import archives
from leaderboard.transfer.archives import MOST_RUNS, ArchivePlan, NoManifest
from leaderboard.transfer.manifest import NAME
from leaderboard.web import uploads
from leaderboard.web.context import actor
from leaderboard.web.forms import Form, form_page
from leaderboard.web.organise import organised
from leaderboard.web.security import csrf
from leaderboard.web.sessions import signed_in

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


@blueprint.get("/import")
@signed_in
def whole() -> ResponseReturnValue:
    _require_founder()
    return render_template(FORM, form=ArchiveForm(), campaign="", problems=None)


@blueprint.post("/import/preview")
@signed_in
def preview_whole() -> ResponseReturnValue:
    _require_founder()
    return _preview("")


@blueprint.post("/import/manifest")
@signed_in
def complete_whole() -> ResponseReturnValue:
    _require_founder()
    return _complete("")


@blueprint.post("/import")
@signed_in
def take_in_whole() -> ResponseReturnValue:
    _require_founder()
    return _take_in("")


@blueprint.get("/<campaign>/import")
@organised
def into(campaign: str) -> ResponseReturnValue:
    return render_template(FORM, form=ArchiveForm(), campaign=campaign, problems=None)


@blueprint.post("/<campaign>/import/preview")
@organised
def preview_into(campaign: str) -> ResponseReturnValue:
    return _preview(campaign)


@blueprint.post("/<campaign>/import/manifest")
@organised
def complete_into(campaign: str) -> ResponseReturnValue:
    return _complete(campaign)


@blueprint.post("/<campaign>/import")
@organised
def take_in_into(campaign: str) -> ResponseReturnValue:
    return _take_in(campaign)


@blueprint.get("/<campaign>/export.tar.gz")
@organised
def export(campaign: str) -> ResponseReturnValue:
    return archives.campaign_export(campaign)


csrf.exempt(preview_whole)  # uploads.receive checks the token itself, before it keeps a byte of the file
csrf.exempt(preview_into)
csrf.exempt(complete_whole)  # so does uploads.look; a manifest may be longer than other forms
csrf.exempt(complete_into)


def _require_founder() -> None:
    if not (actor().all_powerful or actor().may_found):
        abort(404)


def _preview(campaign: str) -> ResponseReturnValue:
    def admit(_: MultiDict[str, str]) -> None:
        archives.require_right(campaign)

    posted = uploads.receive("archive", admit)
    try:
        upload = chosen(posted, "archive")
        try:
            return _planned(campaign, archives.plan(upload, campaign))
        except NoManifest:
            draft = archives.draft(upload, campaign)
    except LeaderboardError as error:
        return _refused(campaign, error)
    form = DraftForm(formdata=None, kept=draft.kept, manifest=draft.text)
    return render_template(DRAFT, form=form, campaign=campaign, draft=draft, problems=None)


def _complete(campaign: str) -> ResponseReturnValue:
    """Previews an archive by the manifest that stands beside it; where that is wrong it comes back as it was sent.

    From the preview, too: "edit" gives the manifest that it went by.
    """
    fields, _ = uploads.look("", 0)
    if "edit" in fields:
        return _edit(campaign, DraftForm(fields).text("kept"))
    form = DraftForm(fields)
    try:
        if not form.text("manifest").strip():
            raise InvalidFields({"manifest": [f"is empty: write what {NAME} would hold"]})
        return _planned(campaign, archives.plan_of_kept(form.text("kept"), form.text("manifest"), campaign, "manifest"))
    except LeaderboardError as error:
        problems = error if isinstance(error, FileRejected) else None
        beside = InvalidFields({"manifest": ["nothing was taken in; see its problems"]}) if problems else error
        return form_page(DRAFT, form, beside, campaign=campaign, draft=None, problems=problems, source=ARCHIVE)


def _edit(campaign: str, kept: str) -> ResponseReturnValue:
    try:
        form = DraftForm(formdata=None, kept=kept, manifest=archives.manifest_of_kept(kept, "archive"))
    except LeaderboardError as error:
        return _refused(campaign, error)
    return render_template(DRAFT, form=form, campaign=campaign, draft=None, problems=None)


def _planned(campaign: str, plan: ArchivePlan) -> ResponseReturnValue:
    form = ConfirmForm(formdata=None, kept=plan.kept)
    return render_template(PREVIEW, form=form, campaign=campaign, plan=plan, most=SHOWN)


def _take_in(campaign: str) -> ResponseReturnValue:
    try:
        imported = archives.bring_in(ConfirmForm().text("kept"), campaign, "archive")
    except LeaderboardError as error:
        return _refused(campaign, error)
    report = imported.report
    already = f" {counted(report.already, 'run was', 'runs were')} there already." if report.already else ""
    score = "; workers score what is new" if report.imported else ""
    flash(f"{counted(report.imported, 'run')} brought in{score}.{already}")
    return redirect(url_for("organise.campaign", campaign=imported.campaign))


def _refused(campaign: str, error: LeaderboardError) -> ResponseReturnValue:
    """The page with what is wrong: of a file every problem with its line."""
    problems = error if isinstance(error, FileRejected) else None
    beside = InvalidFields({"archive": ["nothing was taken in; see the problems below"]}) if problems else error
    form = ArchiveForm(formdata=None)
    return form_page(FORM, form, beside, campaign=campaign, problems=problems, source=ARCHIVE)
