"""Files of queries and judgments: received once, kept under their hash, and named by a signed proof until the yes.

What a page shows before the yes is worked out from the stored file, and the yes reads it from there again: what the
browser sends back says which file is meant and nothing of what it holds.

An evaluation's queries: a file with its preview, and what becomes of single ones: excluded, hidden, taken back.

An evaluation's judgments: files with their preview, revisions, and which source of judgments is the official one.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from flask import Blueprint, g, render_template, request
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, FileField, HiddenField, SelectField, StringField

from leaderboard.errors import Gathered, InvalidFields, LeaderboardError, file_of
from leaderboard.evaluations.rules import Split
from leaderboard.formats import QUERY_FORMATS, read_queries
from leaderboard.judgments import reads, writes
from leaderboard.judgments.inputs import RenamedSource, RevisionWords
from leaderboard.judgments.models import Query
from leaderboard.judgments.rules import READERS, JudgmentFiles
from leaderboard.numbers import counted
from leaderboard.store import Received
from leaderboard.web import uploads
from leaderboard.web.context import page_number, read, reading, store
from leaderboard.web.forms import Declared, Form, fields_of, form_page
from leaderboard.web.organise import changed_here, evaluation_here, limits, organised
from leaderboard.web.security import csrf
from leaderboard.worker.writes import make_official

Content = TypeVar("Content")


def read_stored(upload: Received, reader: Callable[..., Content], field: str = "file") -> Content:
    """What a reader of `formats` makes of a file in the store, under the site's own caps. Raises InvalidFields for
    `field`, every problem with its line.
    """
    with store().open_run(upload.sha256) as source, file_of(field):
        return reader(source, name=upload.filename, limits=limits())


blueprint = Blueprint("organise_queries", __name__, url_prefix="/organise/<campaign>/<evaluation>/queries")

CHANGES: dict[str, Callable[..., list[Query]]] = {
    "exclude": writes.exclude_queries,
    "include": writes.include_queries,
    "remove": writes.remove_queries,
    "hide": partial(writes.set_split, split=Split.HIDDEN),
    "show": partial(writes.set_split, split=Split.SHOWN),
}
MOST_SHOWN = 200  # new, changed and missing queries that a preview lists of each


class QueryFileForm(Form):
    """kept, state: which file is meant, and what the evaluation was like when the preview was made."""

    file = FileField("File of queries", description=f"{QUERY_FORMATS}. You see what it changes before anything does.")
    hidden = BooleanField("Hide the new queries until the evaluation closes")
    kept = HiddenField()
    state = HiddenField()


class ChangeForm(Form):
    because = StringField("Reason", description="To exclude: readers see it beside the query.")


@blueprint.get("")
@organised
def index(**_: str) -> ResponseReturnValue:
    return _queries_page(QueryFileForm())


@blueprint.post("/preview")
@organised
def preview(**_: str) -> ResponseReturnValue:
    posted = uploads.receive("file")
    form = QueryFileForm(formdata=posted.fields)
    try:
        upload = uploads.require_chosen(posted, "file")
        rows = read_stored(upload, read_queries)
    except LeaderboardError as error:
        return _queries_page(form, error)
    with reading() as session:
        changes = reads.query_changes(session, evaluation_here(session), rows)
    form.kept.data, form.state.data = uploads.keep(upload), changes.state
    return render_template("organise/queries_preview.html", form=form, changes=changes, upload=upload, most=MOST_SHOWN)


csrf.exempt(preview)  # uploads.receive checks the token itself, before it keeps a byte of the file


@blueprint.post("/import")
@organised
def take_in(**_: str) -> ResponseReturnValue:
    form = QueryFileForm()
    try:
        upload = uploads.require_kept(form.text("kept"), "file")
        rows = read_stored(upload, read_queries)
    except LeaderboardError as error:
        return _queries_page(form, error)
    more = rows, Split.HIDDEN if form.hidden.data else Split.SHOWN, form.text("state")
    return changed_here(
        partial(_queries_page, form),
        lambda named: f"{upload.filename}: {counted(len(named), 'query')} imported.",
        writes.import_previewed_queries,
        *more,
        asks=False,
    )


@blueprint.post("/change")
@organised
def change(**_: str) -> ResponseReturnValue:
    form = ChangeForm()
    ids, action = request.form.getlist("query"), request.form.get("action", "")
    page = partial(_queries_page, form, ticked=set(ids), action=action)
    if not ids or action not in CHANGES:
        return page(InvalidFields({"": ["choose at least one query in the table, and what becomes of it"]}))
    became = "removed" if action == "remove" else "changed"
    reason = (form.text("because"),) if action == "exclude" else ()
    return changed_here(
        page, lambda changed: f"{counted(len(changed), 'query')} {became}.", CHANGES[action], ids, *reason
    )


def _queries_page(form: Form, error: LeaderboardError | None = None, **context: Any) -> ResponseReturnValue:
    page = read(reads.organised_queries, g.room.campaign, g.room.evaluation, page=page_number())
    upload = form if isinstance(form, QueryFileForm) else QueryFileForm(formdata=None)
    context["change"] = form if isinstance(form, ChangeForm) else ChangeForm(formdata=None)
    return form_page("organise/queries.html", form, error, page=page, upload=upload, **context)


judgments_blueprint = Blueprint(
    "organise_judgments", __name__, url_prefix="/organise/<campaign>/<evaluation>/judgments"
)

TITLES = {
    "judgments": "Judgments: query, iteration, document, grade",
    "subtopics": "Judgments of subtopics: query, subtopic, document, grade",
    "known": "Documents that the user knew already (Coverage, Novelty)",
}


class JudgmentFileForm(Declared):
    """The files that have come so far ride along, each as a signed proof."""

    model = RevisionWords
    source, note = fields_of(RevisionWords, "state").values()
    holds = SelectField("What the file holds", choices=dict(TITLES), validate_choice=False)
    file = FileField("File", description="TREC's columns, CSV with a header or JSON lines; plain or gzipped.")
    kept_judgments = HiddenField()
    kept_subtopics = HiddenField()
    kept_known = HiddenField()

    def kept(self) -> dict[str, Received]:
        """What the file of each kind is, of those that have come. Raises InvalidFields for one that is gone."""
        proofs = {kind: self.text(f"kept_{kind}") for kind in READERS}
        return {kind: uploads.require_kept(proof, "file") for kind, proof in proofs.items() if proof}


class RenameForm(Declared):
    model = RenamedSource
    source = SelectField("Source", validate_choice=False, id="renamed")
    name = fields_of(RenamedSource)["name"]


@judgments_blueprint.get("", endpoint="index")
@organised
def judgments_index(**_: str) -> ResponseReturnValue:
    return _judgments_page(JudgmentFileForm())


@judgments_blueprint.post("/preview", endpoint="preview")
@organised
def judgments_preview(**_: str) -> ResponseReturnValue:
    posted = uploads.receive("file")
    form = JudgmentFileForm(formdata=posted.fields)
    wrong, files = Gathered(), dict[str, Received]()
    try:
        with wrong:
            holds = next((kind for kind in READERS if kind == form.text("holds")), "judgments")
            files = {**form.kept(), holds: uploads.require_chosen(posted, "file")}
        with wrong:
            words = form.checked()
        wrong.raise_any()
        held = _held(files)
    except LeaderboardError as error:
        return _judgments_page(form, error)
    with reading() as session:
        changes = reads.judgment_changes(session, evaluation_here(session), held, words.source)
    for kind in READERS:
        form[f"kept_{kind}"].data = uploads.keep(files.get(kind))
    form.state.data = changes.state
    return render_template(
        "organise/judgments_preview.html", form=form, changes=changes, files=files, held=held, titles=TITLES
    )


csrf.exempt(judgments_preview)  # uploads.receive checks the token itself, before it keeps a byte of the file


@judgments_blueprint.post("/import", endpoint="take_in")
@organised
def judgments_take_in(**_: str) -> ResponseReturnValue:
    form = JudgmentFileForm()
    page = partial(_judgments_page, form)
    try:
        files, words = _held(form.kept()), form.checked()
    except LeaderboardError as error:
        return page(error)
    said = (
        "Revision {0.number} holds {0.judgments:,} judgments by {0.source}. Boards switch when every run is scored by "
        "it."
    )
    return changed_here(page, said.format, writes.import_previewed, files, words, asks=False)


@judgments_blueprint.post("/official")
@organised
def official(**_: str) -> ResponseReturnValue:
    source = request.form.get("source", "")
    said = f"Boards use the judgments of {source} now."
    return changed_here(partial(_judgments_page, Form()), said, make_official, source)


@judgments_blueprint.post("/rename")
@organised
def rename(**_: str) -> ResponseReturnValue:
    form = RenameForm()
    source, name = (form.text(part) for part in ("source", "name"))
    page = partial(_judgments_page, form)
    return changed_here(page, f"{source} is called {name} now.", writes.rename_source, source, name)


@judgments_blueprint.post("/remove")
@organised
def remove(**_: str) -> ResponseReturnValue:
    source = request.form.get("source", "")
    said = f"{source} is removed: {{}}.".format
    return changed_here(partial(_judgments_page, Form()), said, writes.remove_source, source)


def _held(files: Mapping[str, Received]) -> JudgmentFiles:
    """Raises InvalidFields with every problem of the first file that has any, and without judgments."""
    return JudgmentFiles.of({kind: read_stored(upload, READERS[kind]) for kind, upload in files.items()}, "file")


def _judgments_page(form: Form, error: LeaderboardError | None = None) -> ResponseReturnValue:
    page = read(reads.organised_judgments, g.room.campaign, g.room.evaluation)
    upload = form if isinstance(form, JudgmentFileForm) else JudgmentFileForm(formdata=None)
    renaming = form if isinstance(form, RenameForm) else RenameForm(formdata=None)
    names = (page.official, *(source.name for source in page.others), *page.set_aside)
    renaming["source"].choices = {name: name for name in names}
    return form_page("organise/judgments.html", form, error, page=page, upload=upload, renaming=renaming)
