"""An evaluation's judgments: files with their preview, revisions, and which source of judgments is the official one."""

from dataclasses import dataclass

import msgspec
from sqlalchemy.orm import Session

from leaderboard.accounts.rules import Scope
from leaderboard.campaigns.reads import settings
from leaderboard.errors import Conflict, file_of
from leaderboard.judgments.reads import judgment_file
from leaderboard.judgments.writes import sources
from leaderboard.judgments.writes.judgments import import_judgments
from leaderboard.names import checked_slug
from leaderboard.texts import LONGEST_REASON, checked_text
from leaderboard.web.context import actor, read, reading, writing
from leaderboard.web.endpoints import get, post
from leaderboard.web.organise import EVALUATION, JUDGMENT_FILES, JudgmentFiles, changing, evaluation_here
from leaderboard.web.uploads import read_files
from leaderboard.worker.writes import make_official

JUDGMENTS = f"{EVALUATION}/judgments"


class JudgmentForm(msgspec.Struct):
    """Judgments as they are sent: `judgments`, in TREC's four columns, CSV with a header or JSON lines; `subtopics` and
    `known`, where measures need them.

    source: whose they are, in one short word, the official source's unless told; note: what is new; state: that of a
    preview: where there is a newer revision by now, nothing is taken in.
    """

    judgments: bytes = b""
    subtopics: bytes = b""
    known: bytes = b""
    source: str = ""
    note: str = ""
    state: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """Whose judgments boards go by. confirm: to the change of ranks, which a refusal without it counts."""

    source: str
    confirm: bool = False


@dataclass(frozen=True, slots=True)
class NewName:
    """What a source of judgments is called so far, and from now on."""

    source: str
    name: str


@dataclass(frozen=True, slots=True)
class Removed:
    """The source of judgments to remove."""

    source: str


@dataclass(frozen=True, slots=True)
class _Sent:
    files: JudgmentFiles
    source: str | None
    note: str
    state: str


@get(JUDGMENTS, Scope.ORGANISE)
def organised_judgments(campaign: str, evaluation: str) -> judgment_file.OrganisedJudgments:
    """The revisions of the judgments, with their sources, their hashes and how far scoring by them is."""
    return read(judgment_file.organised_judgments, campaign, evaluation)


@post(f"{JUDGMENTS}/preview", Scope.ORGANISE, form=JudgmentForm)
def preview_judgments(campaign: str, evaluation: str) -> judgment_file.JudgmentChanges:
    """What judgments would change; nothing is taken in. Where sending the same to `judgments` would be refused,
    `would_be_refused` is true and `problems` says every reason.
    """
    sent = _sent(campaign, evaluation)
    with reading() as session:
        return _changes(session, campaign, evaluation, sent)


@post(JUDGMENTS, Scope.ORGANISE, form=JudgmentForm)
def add_judgments(campaign: str, evaluation: str) -> judgment_file.OrganisedJudgments:
    """Adds a revision of the judgments. The boards switch once all runs are scored by it."""
    sent = _sent(campaign, evaluation)
    with writing() as session:
        if sent.state and _changes(session, campaign, evaluation, sent).state != sent.state:
            raise Conflict("There is a newer revision than that preview's; look at another before you send this one.")
        files, found = sent.files, evaluation_here(session, campaign, evaluation)
        with file_of("judgments"):
            import_judgments(
                session, actor(), found, files.judgments, sent.note, files.known, files.subtopics, source=sent.source
            )
    return read(judgment_file.organised_judgments, campaign, evaluation)


@post(f"{JUDGMENTS}/official", Scope.ORGANISE)
def make_source_official(campaign: str, evaluation: str, body: Source) -> judgment_file.OrganisedJudgments:
    """Lets the boards go by the judgments of another source, whose runs are all scored; the old ones stay beside.
    To be confirmed.
    """
    with changing(campaign, confirm=body.confirm) as session:
        make_official(session, actor(), evaluation_here(session, campaign, evaluation), body.source)
    return read(judgment_file.organised_judgments, campaign, evaluation)


@post(f"{JUDGMENTS}/rename", Scope.ORGANISE)
def rename_source(campaign: str, evaluation: str, body: NewName) -> judgment_file.OrganisedJudgments:
    """Gives a source of judgments another name, on old boards too; the trail keeps the one before."""
    with writing() as session:
        sources.rename_source(session, actor(), evaluation_here(session, campaign, evaluation), body.source, body.name)
    return read(judgment_file.organised_judgments, campaign, evaluation)


@post(f"{JUDGMENTS}/remove", Scope.ORGANISE)
def remove_source(campaign: str, evaluation: str, body: Removed) -> judgment_file.OrganisedJudgments:
    """Takes a source of judgments away; what becomes of it `others` says before, as its `removal`. The official one
    stays.
    """
    with writing() as session:
        sources.remove_source(session, actor(), evaluation_here(session, campaign, evaluation), body.source)
    return read(judgment_file.organised_judgments, campaign, evaluation)


def _sent(campaign: str, evaluation: str) -> _Sent:
    """This request's form. Raises NotFound before any of it is read, and InvalidFields."""
    read(settings.evaluation_settings, campaign, evaluation)
    fields, files = read_files(JUDGMENT_FILES, ("source", "note", "state"))
    source = fields.get("source", "").strip()
    return _Sent(
        JudgmentFiles.of(files, "judgments"),
        checked_slug(source, "source") if source else None,
        checked_text(fields.get("note", ""), LONGEST_REASON, "note"),
        fields.get("state", ""),
    )


def _changes(session: Session, campaign: str, evaluation: str, sent: _Sent) -> judgment_file.JudgmentChanges:
    found = evaluation_here(session, campaign, evaluation)
    return judgment_file.judgment_changes(
        session, found, sent.files.judgments, sent.files.known, sent.files.subtopics, sent.source
    )
