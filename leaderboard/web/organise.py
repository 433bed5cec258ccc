"""Asked before a change does what nobody may do unawares; one field, `confirm`, says that it is meant so.

What organisers do, one module a subject, as `web/organise` has a page for each.

Every endpoint needs a token that may organise; whoever does not organise the campaign finds nothing here.

Files of organisers that the site reads itself, while somebody waits: how much of them.

The organiser's rooms: one module a subject, each with a blueprint of its own, all below `/organise`.

A view below an address with `<campaign>` (and `<evaluation>`) stands under `@organised`: whoever does not organise the
campaign finds nothing there. Its template extends `organise/base.html`, which shows where one is and the sections. A
new page of a campaign or an evaluation is linked by its line in one of the two lists below.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import sqlalchemy as sa
from flask import g, request, url_for
from flask.typing import ResponseReturnValue
from markupsafe import Markup
from sqlalchemy.orm import Session

from leaderboard import access, db, errors
from leaderboard.campaigns.models import Campaign
from leaderboard.campaigns.reads import Room, room
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.effects import effects
from leaderboard.evaluations.reads.evaluations import organised_campaign, organised_evaluation
from leaderboard.evaluations.reads.readiness import Mend, Urgency, readiness
from leaderboard.formats import ByteSource, Limits
from leaderboard.web.context import actor, config, now, read, reading, writing
from leaderboard.web.forms import Declared, refuse_stale, saved, state_of
from leaderboard.web.security import FORM_TYPES
from leaderboard.web.sessions import signed_in

Content = TypeVar("Content")
Page = TypeVar("Page")


def require_confirmed(
    session: Session, confirmed: bool, changed: sa.ColumnElement[bool], also: Sequence[str] = ()
) -> None:
    """Raises Unconfirmed, which undoes what the session has changed, with what that does at once; nothing if confirmed.

    changed  which evaluations it may be about
    also     what else has to be confirmed, a line each
    """
    if confirmed:
        return
    with reading() as committed:
        listed = *also, *effects(session, committed, actor(), changed, now())
    if listed:
        raise errors.Unconfirmed(listed)


def settings_change(
    form: Declared, values: Mapping[str, Any], write: Callable[..., object]
) -> Callable[[], tuple[str, str]]:
    """What saving a form of the settings at hand does, which notes what they were when it was opened.

    values  the settings as they are stored; write: (session, actor, the campaign or evaluation, **changes)
    """
    if not form.is_submitted():
        form.state.data = state_of(values)

    def save(session: Session, by: access.Actor, row: Campaign | Evaluation, **changes: Any) -> None:
        db.locked(session, Campaign, getattr(row, "campaign_id", row.id))  # before its evaluations, as writes do
        row = db.locked(session, type(row), row.id)
        refuse_stale(form, {name: getattr(row, name) for name in values})
        write(session, by, row, **changes)

    def change() -> tuple[str, str]:
        change_here(g.room.campaign, g.room.evaluation, save, confirm=form.confirmed, **form.sent())
        return with_next("The settings are changed."), request.path

    return change


CAMPAIGN = "/organise/campaigns/<campaign>"
EVALUATION = f"{CAMPAIGN}/evaluations/<evaluation>"


def campaign_here(session: Session, campaign: str) -> Campaign:
    """The campaign, for whoever asks. Raises NotFound for those who do not organise it."""
    return organised_campaign(session, actor(), campaign)


def evaluation_here(session: Session, campaign: str | None = None, evaluation: str | None = None) -> Evaluation:
    """The evaluation, for whoever asks: that of the room at hand where none is named. Raises NotFound for those who do
    not organise its campaign.
    """
    campaign = g.room.campaign if campaign is None else campaign
    return organised_evaluation(session, actor(), campaign, g.room.evaluation if evaluation is None else evaluation)


def change_here(
    campaign: str, evaluation: str, change: Callable[..., Any], *more: Any, confirm: bool = True, **changes: Any
) -> Any:
    """What change(session, actor, row, …) of a program answers; undone where it does what nobody confirmed.

    evaluation  "" for a change of the campaign itself
    """
    with writing() as session:
        row = evaluation_here(session, campaign, evaluation) if evaluation else campaign_here(session, campaign)
        own = (Evaluation.id if evaluation else Evaluation.campaign_id) == row.id
        answer = change(session, actor(), row, *more, **changes)
        require_confirmed(session, confirm, own)
        return answer


def read_after(
    page: Callable[..., Page], campaign: str, evaluation: str, change: Callable[..., Any], *more: Any, **changes: Any
) -> Page:
    """What a read of an evaluation gives once `change_here` has made a change of it."""
    change_here(campaign, evaluation, change, *more, **changes)
    return read(page, campaign, evaluation)


def changed_here(
    page: Callable[[errors.LeaderboardError], ResponseReturnValue],
    said: str | Callable[[Any], str],
    change: Callable[..., Any],
    *more: Any,
    asks: bool = True,
    **changes: Any,
) -> ResponseReturnValue:
    """What the POST of a form of the evaluation at hand answers: the way to its index once change(session, actor,
    evaluation, …) is made, with what is said of it, or of its answer; or the page with what was refused.

    asks  whether what it does at once is listed and to be confirmed; False after a preview
    """

    campaign, evaluation = g.room.campaign, g.room.evaluation

    def make() -> tuple[str, str]:
        confirm = not asks or bool(request.form.get("confirm"))
        answer = change_here(campaign, evaluation, change, *more, confirm=confirm, **changes)
        words = said if isinstance(said, str) else said(answer)
        return with_next(words), url_for(".index", campaign=campaign, evaluation=evaluation)

    return saved(make, page)


MOST_TEXT = 256 << 20
MOST_LINES = 5_000_000
MOST_QUERIES = 100_000


def limits() -> Limits:
    """How much of such a file is read: what the installation allows, and less than would hold everybody up."""
    most = min(config().text_bytes, MOST_TEXT)
    return Limits(expanded_bytes=most, all_id_bytes=most, lines=MOST_LINES, queries=MOST_QUERIES)


def read_body(read_file: Callable[..., Content], field: str) -> Content:
    """This request's body as a file. Raises NotFound, before any of it is read, for whoever does not organise the
    campaign of its address, BadInput where it says that it is something else, and InvalidFields for `field`, what a
    form calls it.
    """
    here()
    if request.mimetype in FORM_TYPES or request.mimetype.endswith("json"):
        raise errors.BadInput(
            "Send the file itself as the body, with Content-Type: application/octet-stream and not "
            f"{request.mimetype}, such as by curl -H 'Content-Type: application/octet-stream' --data-binary @FILE."
        )
    request.max_content_length = config().upload_bytes
    source: ByteSource = request.stream
    with errors.file_of(field):
        return read_file(source, name="the body", limits=limits())


# Where each point of the readiness list is mended: the endpoint, the field there, and what the next step is called.
MENDS = {
    Mend.QUERIES: ("organise_queries.index", None, "upload queries"),
    Mend.JUDGMENTS: ("organise_judgments.index", None, "upload judgments"),
    Mend.DOCUMENTS: ("organise_evaluations.settings", "documents", "give the number of documents"),
    Mend.DATES: ("organise_evaluations.settings", "closes_at", "set the dates"),
    Mend.SETTINGS: ("organise_evaluations.settings", None, "complete the settings"),
    Mend.BETA: ("organise_campaigns.settings", "cost", "give β"),
    Mend.CAMPAIGN: ("organise_campaigns.settings", None, "complete the settings of the campaign"),
    Mend.PUBLISH: ("organise.evaluation", None, "publish"),
    Mend.ORGANISERS: ("organise_people.show", None, "let teams in"),
    Mend.BASELINE: ("organise_submissions.baseline", None, "add a baseline run"),
    Mend.FORM: ("organise_forms.index", "documents", "check the list of documents"),
}


def mended_at(mend: Mend) -> str:
    """The address where such a point of the evaluation at hand is mended."""
    endpoint, anchor, _ = MENDS[mend]
    evaluation = None if endpoint in OF_CAMPAIGN else g.room.evaluation
    return url_for(endpoint, campaign=g.room.campaign, evaluation=evaluation, _anchor=anchor)


def with_next(said: str) -> str:
    """What is said of a change to the evaluation at hand, with a link to what is to be done next."""
    first, *_ = read(readiness, g.room.campaign, g.room.evaluation) if g.room.evaluation else [None]
    if first is None or first.urgency is not Urgency.TO_DO:
        return said
    return Markup('{} <a href="{}">Next: {}</a>').format(said, mended_at(first.mend), MENDS[first.mend][-1])


P = ParamSpec("P")

# The links of a room by their endpoints, in the order in which they are shown. Each endpoint takes `campaign`, those of
# evaluations `evaluation` too.
OF_CAMPAIGN = {
    "organise.campaign": "Overview",
    "organise_campaigns.settings": "Settings",
    "organise_people.show": "Organisers",
    "organise_evaluations.new": "New evaluation",
    "organise_import.into": "Import, export",
    "organise_submissions.of_campaign": "Submissions",
    "organise_teams.index": "Teams",
    "organise_systems.index": "Systems",
    "organise_trail.index": "Audit trail",
}
OF_EVALUATION = {
    "organise.evaluation": "Overview",
    "organise_evaluations.settings": "Settings",
    "organise_submissions.of_evaluation": "Submissions",
    "organise_forms.index": "Form",
    "organise_queries.index": "Queries",
    "organise_judgments.index": "Judgments",
    "organise_evaluations.clone": "Clone",
}


def organised(view: Callable[P, ResponseReturnValue]) -> Callable[P, ResponseReturnValue]:
    """A view below `<campaign>`, or `<campaign>/<evaluation>`, for its organisers and admins.

    A visitor logs in first, whatever the address; for everybody else it is as if there were nothing. The room is in
    `g.room` then, for the template.
    """

    @wraps(view)
    @signed_in
    def checked(*args: P.args, **kwargs: P.kwargs) -> ResponseReturnValue:
        here()
        return view(*args, **kwargs)

    return checked


def here() -> Room:
    """The room that this request's address is in. Raises NotFound for whoever does not organise the campaign."""
    if "room" not in g:
        where = request.view_args or {}
        g.room = read(room, where["campaign"], where.get("evaluation"))
    present: Room = g.room
    return present


def sections(room: Room) -> list[tuple[str, str, bool]]:
    """The links of a room, for its navigation: words, address, and whether the page at hand is of it."""
    listed = OF_EVALUATION if room.evaluation else OF_CAMPAIGN
    of_subject = [endpoint for endpoint in listed if endpoint.partition(".")[0] == request.blueprint]
    present = request.endpoint if request.endpoint in listed else next(iter(of_subject), None)
    where: dict[str, Any] = {"campaign": room.campaign, "evaluation": room.evaluation or None}
    return [(title, url_for(endpoint, **where), endpoint == present) for endpoint, title in listed.items()]
