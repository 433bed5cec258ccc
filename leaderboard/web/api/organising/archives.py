"""Past years brought in from an archive, previewed first, and a whole campaign taken out as one."""

from dataclasses import dataclass

import msgspec
from flask import Response

from leaderboard.errors import InvalidFields, file_of
from leaderboard.rules.scopes import Scope
from leaderboard.store import Received
from leaderboard.web import archives, uploads
from leaderboard.web.api.endpoints import get, post
from leaderboard.web.api.organising import CAMPAIGN
from leaderboard.web.campaign_export import campaign_export
from leaderboard.web.intake import require_text


class ArchiveForm(msgspec.Struct):
    """A .zip, .tar or .tar.gz with a manifest and the files that it names, as an export is one."""

    archive: bytes


@dataclass(frozen=True, slots=True)
class Kept:
    """The yes to an archive: what its preview says under `kept`."""

    kept: str


@post("/organise/import/preview", Scope.ORGANISE, form=ArchiveForm)
def preview_import() -> archives.ArchivePlan:
    """What an archive of a whole campaign would make, or every problem with it; nothing is made."""
    return _plan("")


@post("/organise/import", Scope.ORGANISE)
def import_campaign(body: Kept) -> archives.BroughtIn:
    """Brings in an archive that was previewed. Workers score its runs. The same again goes on where it broke off."""
    return _bring_in(body, "")


@post(f"{CAMPAIGN}/import/preview", Scope.ORGANISE, form=ArchiveForm)
def preview_import_into(campaign: str) -> archives.ArchivePlan:
    """What an archive would bring into a campaign, or every problem with it; nothing is made."""
    return _plan(campaign)


@post(f"{CAMPAIGN}/import", Scope.ORGANISE)
def import_into(campaign: str, body: Kept) -> archives.BroughtIn:
    """Brings an archive that was previewed into the campaign."""
    return _bring_in(body, campaign)


@get(f"{CAMPAIGN}/export.tar.gz", Scope.ORGANISE, file="application/gzip")
def export_campaign(campaign: str) -> Response:
    """A whole campaign as an archive: judgments, hidden queries, runs and teams' notes are in it."""
    archives.require_right(campaign)
    return campaign_export(campaign)


def _plan(campaign: str) -> archives.ArchivePlan:
    with file_of("archive"):
        return archives.plan(_received(campaign), campaign)


def _received(campaign: str) -> Received:
    archives.require_right(campaign)
    posted = uploads.receive("archive", lambda _: None, check=require_text)
    if posted.fields:
        raise InvalidFields({name: ["is not known here; the archive is all"] for name in posted.fields})
    if posted.upload is None:
        raise InvalidFields({"archive": [posted.refused or "send the archive, as the form's file"]})
    return posted.upload


def _bring_in(body: Kept, campaign: str) -> archives.BroughtIn:
    archives.require_right(campaign)
    with file_of("archive"):
        return archives.bring_in(body.kept, campaign, "kept")
