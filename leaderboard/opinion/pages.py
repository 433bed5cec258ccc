"""A second opinion on any board: per-query values in, what they can tell of the systems out. Nothing is kept."""

import io
from pathlib import Path

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, FileField, TextAreaField

from leaderboard import bounded, errors
from leaderboard.accounts import rate_limits as attempts
from leaderboard.formats import ByteSource
from leaderboard.opinion.rules import Opinion, opinion_or_problems
from leaderboard.web import uploads
from leaderboard.web.context import actor, clock, database
from leaderboard.web.formatting import scale_of
from leaderboard.web.forms import Form, form_page
from leaderboard.web.security import csrf
from leaderboard.web.sessions import signed_in
from leaderboard.web.uploads import Fields

Answer = Opinion | tuple[str, ...]

blueprint = Blueprint("opinion", __name__)

NOTHING: tuple[str, ...] = ("choose a file, or paste the values",)
TOO_MUCH = "takes too much memory or time to compute here: `leaderboard opinion` has no such limit"


class OpinionForm(Form):
    lower = BooleanField("Lower values are better")
    values = FileField(
        "CSV file", description="A row for each query or item, a column for each system. Or paste the same below."
    )
    pasted = TextAreaField("Pasted values", render_kw={"class": "code", "rows": 8, "spellcheck": "false"})


@blueprint.get("/opinion", endpoint="new_opinion")
@blueprint.post("/opinion")
@signed_in
def opinion() -> ResponseReturnValue:
    if request.method != "POST":
        return form_page("opinion/opinion.html", OpinionForm())
    answer: Answer | None
    fields, answer = uploads.look(_of_values, None, _admit, "values")
    pasted = fields.get("pasted", "").strip()
    if answer is None and pasted:
        _admit(fields)
        answer = _of_values(fields, io.BytesIO(pasted.encode()), "text")
    form = OpinionForm(formdata=fields)
    if not isinstance(answer, Opinion):
        error = errors.InvalidFields({"pasted" if pasted else "values": answer or NOTHING})
        return form_page("opinion/opinion.html", form, error)
    scale = scale_of(end for row in answer.rows for end in (row.mean.estimate, row.mean.low, row.mean.high))
    return render_template("opinion/opinion.html", form=form, opinion=answer, scale=scale)


csrf.exempt(opinion)  # uploads.look checks the token itself, before it reads a byte of the file


def _admit(_: Fields) -> None:
    """Raises TooManyAttempts."""
    attempts.count(database(), attempts.OPINION, clock(), "", user=actor().user_id)


def _of_values(fields: Fields, source: Path | ByteSource, name: str) -> Answer:
    direction = "lower" if fields.get("lower") else "higher"
    try:
        with uploads.turn():
            return bounded.call(opinion_or_problems, source, name, direction)
    except bounded.Exceeded:
        return (TOO_MUCH,)
