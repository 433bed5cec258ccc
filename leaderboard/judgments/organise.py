"""Files of queries and judgments: received once, kept under their hash, and named by a signed proof until the yes.

What a page shows before the yes is worked out from the stored file, and the yes reads it from there again: what the
browser sends back says which file is meant and nothing of what it holds.

An evaluation's queries: a file with its preview, and what becomes of single ones: excluded, hidden, taken back.

An evaluation's judgments: files with their preview, revisions, and which source of judgments is the official one.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from flask import Blueprint, flash, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session
from werkzeug.datastructures import MultiDict
from wtforms import BooleanField, FileField, HiddenField, SelectField, StringField

from leaderboard.campaigns.reads import organised_evaluation
from leaderboard.errors import FileRejected, Gathered, InvalidFields, LeaderboardError
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import Split
from leaderboard.formats import QUERY_FORMATS, read_queries
from leaderboard.judgments import writes as queries
from leaderboard.judgments.models import Query
from leaderboard.judgments.reads.files import (
    JudgmentChanges,
    judgment_changes,
    organised_judgments,
    organised_queries,
    query_changes,
    query_numbers,
)
from leaderboard.judgments.writes import import_judgments, remove_source, rename_source
from leaderboard.names import checked_slug
from leaderboard.numbers import counted
from leaderboard.store import Received
from leaderboard.texts import LONGEST_REASON, checked_text
from leaderboard.web import uploads
from leaderboard.web.context import actor, page_number, read, reading, store, writing
from leaderboard.web.forms import Form, form_page
from leaderboard.web.organise import GONE, JUDGMENT_FILES, JudgmentFiles, limits, organised, unconfirmed
from leaderboard.web.security import csrf
from leaderboard.worker.writes import make_official

Read = TypeVar("Read")


def received(field: str) -> uploads.Posted:
    """This request's form and its file, which only those who organise the evaluation may send."""

    def admit(_: MultiDict[str, str]) -> None:
        with reading() as session:
            evaluation_here(session)

    return uploads.receive(field, admit)


def evaluation_here(session: Session) -> Evaluation:
    """The evaluation that this request's address is of. Raises NotFound for whoever does not organise it."""
    return organised_evaluation(session, actor(), g.room.campaign, g.room.evaluation)


def read_stored(upload: Received, read: Callable[..., Read]) -> Read:
    """What a reader of `formats` makes of a file in the store, under the site's own caps. Raises FileRejected."""
    with store().open_run(upload.sha256) as source:
        return read(source, name=upload.filename, limits=limits())


def chosen(posted: uploads.Posted, field: str) -> Received:
    """The file that was sent. Raises why it was not taken in, and InvalidFields where none was sent."""
    if posted.refusal is not None:
        raise posted.refusal
    if posted.upload is None:
        raise InvalidFields({field: [posted.refused or "choose a file"]})
    return posted.upload


blueprint = Blueprint("organise_queries", __name__, url_prefix="/organise/<campaign>/<evaluation>/queries")

LIST = "organise/queries.html"
PREVIEW = "organise/queries_preview.html"
CHANGES: dict[str, Callable[..., list[Query]]] = {
    "exclude": queries.exclude_queries,
    "include": queries.include_queries,
    "remove": queries.remove_queries,
    "hide": partial(queries.set_split, split=Split.HIDDEN),
    "show": partial(queries.set_split, split=Split.SHOWN),
}
MOST_SHOWN = 200  # new, changed and missing queries that a preview lists of each


class QueryFileForm(Form):
    file = FileField("File of queries", description=f"{QUERY_FORMATS}. You see what it changes before anything does.")
    hidden = BooleanField("Hide the new queries until the evaluation closes")


class ConfirmForm(Form):
    """The yes: which file, which choice, and what the evaluation was like when the preview was made."""

    kept = HiddenField()
    hidden = HiddenField()
    state = HiddenField()


class ChangeForm(Form):
    because = StringField("Reason", description="To exclude: readers see it beside the query.")


@blueprint.get("")
@organised
def index(campaign: str, evaluation: str) -> ResponseReturnValue:
    page = read(organised_queries, campaign, evaluation, page=page_number())
    return render_template(LIST, page=page, form=QueryFileForm(), change=ChangeForm())


@blueprint.post("/preview")
@organised
def preview(campaign: str, evaluation: str) -> ResponseReturnValue:
    posted = received("file")
    form = QueryFileForm(formdata=posted.fields)
    try:
        upload = chosen(posted, "file")
        rows = read_stored(upload, read_queries)
    except LeaderboardError as error:
        return _refused(campaign, evaluation, form, error)
    with reading() as session:
        changes = query_changes(session, evaluation_here(session), rows)
    yes = ConfirmForm(formdata=None, kept=uploads.keep(upload), hidden="yes" * form.hidden.data, state=changes.state)
    return render_template(PREVIEW, form=yes, changes=changes, upload=upload, most=MOST_SHOWN, stale=False)


csrf.exempt(preview)  # uploads.receive checks the token itself, before it keeps a byte of the file


@blueprint.post("/import")
@organised
def take_in(campaign: str, evaluation: str) -> ResponseReturnValue:
    form = ConfirmForm()
    try:
        upload = uploads.kept(form.text("kept"))
        if upload is None:
            raise InvalidFields({"file": [GONE]})
        rows = read_stored(upload, read_queries)
        with writing() as session:
            record = evaluation_here(session)
            changes = query_changes(session, record, rows)
            if changes.state != form.text("state"):
                form.state.data = changes.state
                return render_template(
                    PREVIEW, form=form, changes=changes, upload=upload, most=MOST_SHOWN, stale=True
                ), 409
            split = Split.HIDDEN if form.text("hidden") else Split.SHOWN
            queries.import_queries(session, actor(), record, rows, split)
    except LeaderboardError as error:
        return _refused(campaign, evaluation, QueryFileForm(formdata=None), error)
    flash(f"{upload.filename}: {len(changes.new):,} new, {len(changes.changed):,} changed.")
    return redirect(url_for(".index", campaign=campaign, evaluation=evaluation))


@blueprint.post("/change")
@organised
def change(campaign: str, evaluation: str) -> ResponseReturnValue:
    form = ChangeForm()
    ids, action = request.form.getlist("query"), request.form.get("action", "")
    try:
        if not ids:
            raise InvalidFields({"": ["choose at least one query in the table"]})
        with writing() as session:
            record = evaluation_here(session)
            if action not in CHANGES:
                raise InvalidFields({"": ["choose what becomes of the queries"]})
            reason = (form.text("because"),) if action == "exclude" else ()
            changed = CHANGES[action](session, actor(), record, ids, *reason)
            done = "removed" if action == "remove" else "changed"
            said = f"{counted(len(changed), 'query', 'queries')} {done}."
            asked = unconfirmed(session, campaign)
    except InvalidFields as error:
        page = read(organised_queries, campaign, evaluation, page=page_number())
        form.refuse(error.fields)
        upload = QueryFileForm(formdata=None)
        g.refused = True  # so that the page's title says it, as that of every refused form
        return render_template(LIST, page=page, form=upload, change=form, ticked=set(ids), refused=form), 400
    if asked:
        page = read(organised_queries, campaign, evaluation, page=page_number())
        more = {"change": form, "ticked": set(ids), "asked": asked, "action": action}
        return render_template(LIST, page=page, form=QueryFileForm(formdata=None), **more)
    flash(said)
    return redirect(url_for(".index", campaign=campaign, evaluation=evaluation))


def _refused(campaign: str, evaluation: str, form: QueryFileForm, error: LeaderboardError) -> ResponseReturnValue:
    page = read(organised_queries, campaign, evaluation, page=page_number())
    return _with_problems(LIST, form, error, page=page, change=ChangeForm(formdata=None))


def _with_problems(template: str, form: Form, error: LeaderboardError, **context: Any) -> ResponseReturnValue:
    """The page with the form as it was sent, and what is wrong: of a file every problem with its line."""
    problems = error if isinstance(error, FileRejected) else None
    message = InvalidFields({"file": ["nothing was taken in; see its problems"]}) if problems else error
    return form_page(template, form, message, problems=problems, **context)


judgments_blueprint = Blueprint(
    "organise_judgments", __name__, url_prefix="/organise/<campaign>/<evaluation>/judgments"
)

PAGE = "organise/judgments.html"
JUDGMENTS_PREVIEW = "organise/judgments_preview.html"
TITLES = {
    "judgments": "Judgments: query, iteration, document, grade",
    "subtopics": "Judgments of subtopics: query, subtopic, document, grade",
    "known": "Documents that the user knew already (Coverage, Novelty)",
}


class JudgmentFileForm(Form):
    """The files that have come so far ride along, each as a signed proof."""

    holds = SelectField("What the file holds", choices=dict(TITLES), validate_choice=False)
    source = StringField(
        "Source (optional)",
        description="Who judged, in one short word such as llm or second-lab, where several do side by side. "
        "Left empty, these are the official judgments.",
        render_kw={"autocomplete": "off"},
    )
    note = StringField("Note (optional)", description="What is new in this revision.")
    file = FileField("File", description="TREC's columns, CSV with a header or JSON lines; plain or gzipped.")
    kept_judgments = HiddenField()
    kept_subtopics = HiddenField()
    kept_known = HiddenField()
    state = HiddenField()

    def kept(self) -> dict[str, Received]:
        """What the file of each kind is, of those that have come. Raises InvalidFields for one that is gone."""
        files = {}
        for kind in JUDGMENT_FILES:
            if proof := self.text(f"kept_{kind}"):
                upload = uploads.kept(proof)
                if upload is None:
                    raise InvalidFields({"file": [GONE]})
                files[kind] = upload
        return files

    def keep(self, files: Mapping[str, Received]) -> None:
        for kind in JUDGMENT_FILES:
            self[f"kept_{kind}"].data = uploads.keep(files.get(kind))

    def require_words(self) -> None:
        """Raises InvalidFields for what stands beside the file and can't be used."""
        wrong = Gathered()
        with wrong:
            if self.text("holds") not in JUDGMENT_FILES:
                raise InvalidFields({"holds": ["choose one of the list"]})
        with wrong:
            _ = self.judged_by
        with wrong:
            checked_text(self.text("note"), LONGEST_REASON, "note")
        wrong.raise_any()

    @property
    def judged_by(self) -> str | None:
        """Raises InvalidFields for a name that is none."""
        source = self.text("source").strip()
        return checked_slug(source, "source") if source else None


class RenameForm(Form):
    renamed = SelectField("Source", validate_choice=False)
    name = StringField("New name", description="One short word.", render_kw={"autocomplete": "off"})


@judgments_blueprint.get("", endpoint="index")
@organised
def judgments_index(campaign: str, evaluation: str) -> ResponseReturnValue:
    return render_template(PAGE, form=JudgmentFileForm(), **_rest_of_page(campaign, evaluation))


@judgments_blueprint.post("/preview", endpoint="preview")
@organised
def judgments_preview(campaign: str, evaluation: str) -> ResponseReturnValue:
    posted = received("file")
    form = JudgmentFileForm(formdata=posted.fields)
    wrong = Gathered()
    try:
        with wrong:
            upload = chosen(posted, "file")
        with wrong:
            form.require_words()
        wrong.raise_any()
        return _previewed(form, {**form.kept(), form.text("holds"): upload})
    except LeaderboardError as error:
        return _judgments_refused(campaign, evaluation, form, error)


csrf.exempt(judgments_preview)  # uploads.receive checks the token itself, before it keeps a byte of the file


@judgments_blueprint.post("/import", endpoint="take_in")
@organised
def judgments_take_in(campaign: str, evaluation: str) -> ResponseReturnValue:
    form = JudgmentFileForm()
    try:
        uploaded = form.kept()
        files, source = _held(uploaded), form.judged_by
        with reading() as session:
            changes = _changes(session, files, source)
        if changes.state != form.text("state"):
            return _previewed(form, uploaded, stale=True)
        with writing() as session:
            revision = import_judgments(
                session, actor(), evaluation_here(session), files.judgments, form.text("note"), files.known,
                files.subtopics, source=source,
            )  # fmt: skip
            said = f"Revision {revision.number} holds {revision.judgments:,} judgments by {revision.source}."
    except LeaderboardError as error:
        return _judgments_refused(campaign, evaluation, form, error)
    flash(f"{said} Its boards switch when every run is scored by it." if changes.runs else said)
    return redirect(url_for(".index", campaign=campaign, evaluation=evaluation))


@judgments_blueprint.post("/official")
@organised
def official(campaign: str, evaluation: str) -> ResponseReturnValue:
    source, empty = JudgmentFileForm().text("source"), JudgmentFileForm(formdata=None)
    try:
        with writing() as session:
            make_official(session, actor(), evaluation_here(session), source)
            asked = unconfirmed(session, campaign)
    except LeaderboardError as error:
        return _judgments_refused(campaign, evaluation, empty, error)
    if asked:
        rest = _rest_of_page(campaign, evaluation)
        return render_template(PAGE, form=empty, asked=asked, asked_source=source, **rest)
    flash(f"Boards go by the judgments of {source} now.")
    return redirect(url_for(".index", campaign=campaign, evaluation=evaluation))


@judgments_blueprint.post("/rename")
@organised
def rename(campaign: str, evaluation: str) -> ResponseReturnValue:
    form = RenameForm()
    source, name = form.text("renamed"), form.text("name").strip()
    try:
        with writing() as session:
            rename_source(session, actor(), evaluation_here(session), source, name)
    except LeaderboardError as error:
        rest = _rest_of_page(campaign, evaluation, form) | {"upload": JudgmentFileForm(formdata=None)}
        return form_page(PAGE, form, error, **rest)
    flash(f"{source} is called {name} now.")
    return redirect(url_for(".index", campaign=campaign, evaluation=evaluation))


@judgments_blueprint.post("/remove")
@organised
def remove(campaign: str, evaluation: str) -> ResponseReturnValue:
    source = JudgmentFileForm().text("source")
    try:
        with writing() as session:
            removal = remove_source(session, actor(), evaluation_here(session), source)
    except LeaderboardError as error:
        return _judgments_refused(campaign, evaluation, JudgmentFileForm(formdata=None), error)
    flash(f"{source} is removed: {removal.in_words}.")
    return redirect(url_for(".index", campaign=campaign, evaluation=evaluation))


def _previewed(form: JudgmentFileForm, files: Mapping[str, Received], *, stale: bool = False) -> ResponseReturnValue:
    """What the files would change. stale: they would change something else than the page said that was agreed to."""
    held = _held(files)
    with reading() as session:
        changes = _changes(session, held, form.judged_by)
    form.keep(files)
    form.state.data = changes.state
    page = render_template(
        JUDGMENTS_PREVIEW, form=form, changes=changes, files=files, held=held, titles=TITLES, stale=stale
    )
    return page, 409 if stale else 200


def _changes(session: Session, files: JudgmentFiles, source: str | None) -> JudgmentChanges:
    here = evaluation_here(session)
    return judgment_changes(session, here, files.judgments, files.known, files.subtopics, source)


def _held(files: Mapping[str, Received]) -> JudgmentFiles:
    """Raises FileRejected with every problem of the first file that has any, InvalidFields without judgments.

    Queries that the evaluation lacks are told once where they are all that is wrong, else each among the problems.
    """
    contents = {}
    for kind, upload in files.items():
        try:
            contents[kind] = read_stored(upload, JUDGMENT_FILES[kind])
        except FileRejected:
            with reading() as session:
                known = frozenset(query_numbers(session, evaluation_here(session)))
            if known:
                read_stored(upload, partial(JUDGMENT_FILES[kind], queries=known))
            raise
    return JudgmentFiles.of(contents, "file")


def _judgments_refused(
    campaign: str, evaluation: str, form: JudgmentFileForm, error: LeaderboardError
) -> ResponseReturnValue:
    return _with_problems(PAGE, form, error, **_rest_of_page(campaign, evaluation))


def _rest_of_page(campaign: str, evaluation: str, renaming: RenameForm | None = None) -> dict[str, Any]:
    """What the page shows beside its first form."""
    page, form = read(organised_judgments, campaign, evaluation), renaming or RenameForm(formdata=None)
    names = (page.official, *(source.name for source in page.others), *page.set_aside)
    form["renamed"].choices = {name: name for name in names}
    return {"page": page, "renaming": form}
