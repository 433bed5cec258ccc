"""Bringing past years in through the browser: an archive in a manifest's form, previewed, then taken in; workers score.

Below a campaign its organisers bring years into it; above all campaigns, whoever may make one brings a whole one. What
goes out is the same form.
"""

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from flask import Blueprint, abort, flash, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from wtforms import FileField, HiddenField

from leaderboard.access import actor_of
from leaderboard.errors import FileRejected, InvalidFields, LeaderboardError, NotFound
from leaderboard.formats import Limits
from leaderboard.formats.harmless import shown
from leaderboard.numbers import counted
from leaderboard.reads.organising.rooms import organised_campaign
from leaderboard.store import Received
from leaderboard.transfer.importing import Import, Report
from leaderboard.transfer.manifest import NAME, Manifest, look_at_manifest
from leaderboard.transfer.tree import Tree, open_tree
from leaderboard.web import uploads
from leaderboard.web.campaign_export import campaign_export
from leaderboard.web.context import actor, config, database, reading, store
from leaderboard.web.forms import Form, form_page
from leaderboard.web.organise import organised
from leaderboard.web.organise.files import GONE, chosen
from leaderboard.web.organised_files import limits
from leaderboard.web.security import csrf
from leaderboard.web.sessions import signed_in

blueprint = Blueprint("organise_import", __name__, url_prefix="/organise")

FORM, PREVIEW = "organise/import.html", "organise/import_preview.html"
MOST_RUNS = 500  # of one archive: somebody waits. The command takes any number
MOST_UNPACKED = 1 << 30  # bytes of an archive's files, unpacked
SHOWN = 50  # runs that were refused, and files that nothing names, that a page lists


class ArchiveForm(Form):
    archive = FileField(
        "Archive",
        description=f"A .zip, .tar or .tar.gz with {NAME} and the files that it names, as the command leaderboard "
        f"export writes them; at most {MOST_RUNS} runs. You see what it makes before anything is made.",
    )


class YesForm(Form):
    kept = HiddenField()


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """What a preview says of an evaluation of the archive."""

    title: str
    period: str
    closes_at: dt.datetime | None
    queries: str
    revisions: int
    runs: int


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


@blueprint.post("/<campaign>/import")
@organised
def take_in_into(campaign: str) -> ResponseReturnValue:
    return _take_in(campaign)


@blueprint.get("/<campaign>/export.tar.gz")
@organised
def export(campaign: str) -> ResponseReturnValue:
    return campaign_export(campaign)


csrf.exempt(preview_whole)  # uploads.receive checks the token itself, before it keeps a byte of the file
csrf.exempt(preview_into)


def _require_founder() -> None:
    if not (actor().all_powerful or actor().may_found):
        abort(404)


def _preview(campaign: str) -> ResponseReturnValue:
    posted = uploads.receive("archive", lambda _: _require_right(campaign))
    try:
        upload = chosen(posted, "archive")
        with _opened(upload, campaign) as (tree, manifest, problems):
            bringing = _import(manifest, tree)
            report = bringing.look(problems)
    except LeaderboardError as error:
        return _refused(campaign, error)
    plans = [
        EvaluationPlan(
            one.title, one.period, one.settings.get("closes_at"), one.queries, len(one.judgments),
            sum(run.evaluation == one.slug for run in bringing.runs),
        )
        for one in manifest.evaluations
    ]  # fmt: skip
    teams = sorted({manifest.team(run.entry.team).name for run in bringing.runs})
    kept = YesForm(formdata=None, kept=uploads.keep(upload))
    return render_template(
        PREVIEW, form=kept, campaign=campaign, upload=upload, manifest=manifest, plans=plans, teams=teams,
        report=report, most=SHOWN,
    )  # fmt: skip


def _take_in(campaign: str) -> ResponseReturnValue:
    try:
        upload = uploads.kept(YesForm().text("kept"))
        if upload is None:
            raise InvalidFields({"archive": [GONE]})
        with _opened(upload, campaign) as (tree, manifest, problems):
            bringing = _import(manifest, tree)
            if problems:
                bringing.look(problems)
            report = _imported(bringing)
            slug = manifest.slug
    except LeaderboardError as error:
        return _refused(campaign, error)
    already = f"; {counted(report.already, 'run')} were there already" if report.already else ""
    flash(f"{counted(report.imported, 'run')} brought in{already}. Workers score them now.")
    for note in report.notes[:SHOWN]:
        flash(note, "warning")
    for one in report.refused[:SHOWN]:
        flash(f"{one.file}: {one.why[0]}", "warning")
    return redirect(url_for("organise.campaign", campaign=slug))


def _import(manifest: Manifest, tree: Tree) -> Import:
    user = actor().user_id
    return Import(database(), store(), lambda session: actor_of(session, user), manifest, tree, limits(), MOST_RUNS)


def _imported(bringing: Import) -> Report:
    """Every run is a transaction of its own: when the request breaks off, the same archive goes on where it was."""
    bringing.prepare(whole=True)
    for run in bringing.runs:
        received = bringing.receive(run)
        if received is not None:
            with database().write() as session:
                bringing.enter(session, run, received)
    return bringing.report


@contextmanager
def _opened(upload: Received, campaign: str) -> Iterator[tuple[Tree, Manifest, list[str]]]:
    """The archive's files, its manifest, which must be of the campaign whose room this is, and what is wrong with that.

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


def _require_right(campaign: str) -> None:
    """Asked before a byte of the file is kept. Raises NotFound."""
    if campaign:
        with reading() as session:
            organised_campaign(session, actor(), campaign)
    elif not (actor().all_powerful or actor().may_found):
        raise NotFound


def _refused(campaign: str, error: LeaderboardError) -> ResponseReturnValue:
    """The page with what is wrong: of a file every problem with its line."""
    problems = error if isinstance(error, FileRejected) else None
    beside = InvalidFields({"archive": ["nothing was taken in; see the problems below"]}) if problems else error
    return form_page(FORM, ArchiveForm(formdata=None), beside, campaign=campaign, problems=problems)
