"""Past years brought in from an archive, previewed first, and a whole campaign taken out as one."""

import msgspec
from flask import Response

from leaderboard.accounts.rules import Scope
from leaderboard.declared.inputs import Inputs
from leaderboard.errors import InvalidFields, file_of
from leaderboard.store import Received
from leaderboard.transfer import organise as archives
from leaderboard.transfer.importing import Imported
from leaderboard.web import uploads
from leaderboard.web.endpoints import get, post
from leaderboard.web.organise import CAMPAIGN
from leaderboard.web.security import require_text


class ArchiveForm(msgspec.Struct):
    """A .zip, .tar or .tar.gz with a manifest and the files that it names, as an export is one."""

    archive: bytes


class PreviewForm(msgspec.Struct):
    """An archive, and beside it the text of a manifest where it has none, or where another is meant than its own."""

    archive: bytes
    manifest: str = ""


class Kept(Inputs):
    """Confirms an archive: what its preview says under `kept`."""

    kept: str


@post("/organise/import/draft", Scope.ORGANISE, form=ArchiveForm)
def draft_import() -> archives.ManifestDraft:
    """Drafts the manifest of an archive that has none, of a whole campaign: complete it and send both."""
    return draft_import_into("")


@post("/organise/import/preview", Scope.ORGANISE, form=PreviewForm)
def preview_import() -> archives.ArchivePlan:
    """What an archive of a whole campaign would make, or every problem with it; nothing is made."""
    return preview_import_into("")


@post("/organise/import", Scope.ORGANISE)
def import_campaign(body: Kept) -> Imported:
    """Brings in an archive that was previewed. Workers score its runs."""
    return import_into("", body)


@post(f"{CAMPAIGN}/import/draft", Scope.ORGANISE, form=ArchiveForm)
def draft_import_into(campaign: str) -> archives.ManifestDraft:
    """Drafts the manifest of an archive that has none, for a campaign: complete it and send both."""
    with file_of("archive"):
        return archives.draft(_received(campaign)[0], campaign)


@post(f"{CAMPAIGN}/import/preview", Scope.ORGANISE, form=PreviewForm)
def preview_import_into(campaign: str) -> archives.ArchivePlan:
    """What an archive would bring into a campaign, or every problem with it; nothing is made."""
    with file_of("archive"):
        upload, manifest = _received(campaign, "manifest")
        return archives.plan(upload, campaign, manifest)


@post(f"{CAMPAIGN}/import", Scope.ORGANISE)
def import_into(campaign: str, body: Kept) -> Imported:
    """Brings an archive that was previewed into the campaign."""
    archives.require_right(campaign)
    with file_of("archive"):
        return archives.bring_in(body.kept, campaign, "kept")


@get(f"{CAMPAIGN}/export.tar.gz", Scope.ORGANISE, file="application/gzip")
def export_campaign(campaign: str) -> Response:
    """A whole campaign as an archive: judgments, hidden queries, runs and teams' notes are in it."""
    return archives.campaign_export(campaign)


def _received(campaign: str, *known: str) -> tuple[Received, str]:
    """The archive that was sent, and the text of a manifest where that is known here. Raises InvalidFields."""
    archives.require_right(campaign)
    posted = uploads.receive("archive", check=require_text)
    wrong = [uploads.not_taken(name, False, ("archive", *known)) for name in posted.fields if name not in known]
    if wrong:
        raise InvalidFields({name: words for each in wrong for name, words in each.fields.items()})
    return uploads.require_chosen(posted, "archive"), posted.fields.get("manifest", "")
