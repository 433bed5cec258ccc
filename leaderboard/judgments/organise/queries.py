"""An evaluation's queries: a file with its preview, and what becomes of single ones: excluded, hidden, taken back."""

from flask import Blueprint, flash, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, FileField, HiddenField, StringField

from leaderboard.errors import FileRejected, InvalidFields, LeaderboardError
from leaderboard.evaluations.rules.scoring_settings import Split
from leaderboard.formats import QUERY_FORMATS, read_queries
from leaderboard.judgments.organise.files import chosen, evaluation_here, read_stored, received
from leaderboard.judgments.reads.query_file import organised_queries, query_changes
from leaderboard.judgments.writes import queries
from leaderboard.numbers import counted
from leaderboard.web import uploads
from leaderboard.web.context import actor, page_number, read, reading, writing
from leaderboard.web.forms import Form, form_page
from leaderboard.web.organise import GONE, organised, unconfirmed
from leaderboard.web.security import csrf

blueprint = Blueprint("organise_queries", __name__, url_prefix="/organise/<campaign>/<evaluation>/queries")

LIST = "organise/queries.html"
PREVIEW = "organise/queries_preview.html"
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
            place = evaluation_here(session)
            changes = query_changes(session, place, rows)
            if changes.state != form.text("state"):
                form.state.data = changes.state
                return render_template(
                    PREVIEW, form=form, changes=changes, upload=upload, most=MOST_SHOWN, stale=True
                ), 409
            split = Split.HIDDEN if form.text("hidden") else Split.SHOWN
            queries.import_queries(session, actor(), place, rows, split)
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
            place = evaluation_here(session)
            match action:
                case "exclude":
                    changed = queries.exclude_queries(session, actor(), place, ids, form.text("because"))
                case "include":
                    changed = queries.include_queries(session, actor(), place, ids)
                case "remove":
                    changed = queries.remove_queries(session, actor(), place, ids)
                case "hide" | "show":
                    split = Split.HIDDEN if action == "hide" else Split.SHOWN
                    changed = queries.set_split(session, actor(), place, ids, split)
                case _:
                    raise InvalidFields({"": ["choose what becomes of the queries"]})
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
    """The page with the form as it was sent, and what is wrong: of a file every problem with its line."""
    page = read(organised_queries, campaign, evaluation, page=page_number())
    problems = error if isinstance(error, FileRejected) else None
    beside = InvalidFields({"file": ["nothing was taken in; see its problems"]}) if problems else error
    return form_page(LIST, form, beside, page=page, change=ChangeForm(formdata=None), problems=problems)
