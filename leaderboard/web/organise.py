"""The organiser's rooms: one module a subject, each with a blueprint of its own, all below `/organise`.

A view below an address with `<campaign>` (and `<evaluation>`) stands under `@organised`: whoever does not organise the
campaign finds nothing there. Its template extends `organise/base.html`, which shows where one is and the sections. A
new page of a campaign or an evaluation is linked by its line in one of the two lists below.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec

from flask import g, request, url_for
from flask.typing import ResponseReturnValue

from leaderboard.campaigns.reads.organised import Room, room
from leaderboard.web.context import read
from leaderboard.web.sessions import signed_in

P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class Section:
    """A link in the room's navigation. about: the sentence beside it in the room itself."""

    endpoint: str
    title: str
    about: str


@dataclass(frozen=True, slots=True)
class Link:
    """A section as a room shows it. is_here: whether the page at hand is of it."""

    title: str
    about: str
    address: str
    is_here: bool


# In the order in which they are shown. Each endpoint takes `campaign`, those of evaluations `evaluation` too.
OF_CAMPAIGN: tuple[Section, ...] = (
    Section(
        "organise_campaigns.settings",
        "Settings",
        "Measures, β, who may know of it, guidelines; archive or remove it.",
    ),
    Section("organise_people.show", "Organisers", "Who organises it, and which teams know of it while it is private."),
    Section("organise_evaluations.new", "New evaluation", "A year or a round, with queries and a board of its own."),
    Section("organise_import.into", "Import, export", "Past years from an archive; all of this campaign as one."),
    Section("organise_submissions.of_campaign", "Submissions", "Every run of every evaluation, and what became of it."),
    Section("organise_teams.index", "Teams", "Who takes part; rename a team, or make two spellings of it one."),
    Section("organise_systems.index", "Systems", "Mark baselines and manual systems; descriptions and links."),
    Section("organise_trail.index", "Audit trail", "Who did what, when, and what it changed."),
)
OF_EVALUATION: tuple[Section, ...] = (
    Section("organise_evaluations.settings", "Settings", "Dates, collection, judging, quotas, what is public when."),
    Section(
        "organise_submissions.of_evaluation",
        "Submissions",
        "Every run, and what became of it; hide, disqualify, hand back.",
    ),
    Section("organise_forms.index", "Form", "What is asked of a run: fields, agreements, rules for its file."),
    Section("organise_queries.index", "Queries", "What is asked: files with a preview, excluded and hidden queries."),
    Section("organise_judgments.index", "Judgments", "Who judged what: revisions with a preview, and their sources."),
    Section("organise_evaluations.clone", "Clone", "A copy with dates a year later, as a draft."),
)


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
    found: Room = g.room
    return found


def sections(room: Room) -> list[Link]:
    """The links of a room, for its navigation."""
    where: dict[str, Any] = {"campaign": room.campaign}
    if room.evaluation:
        where["evaluation"] = room.evaluation
    listed = OF_EVALUATION if room.evaluation else OF_CAMPAIGN
    here_exactly = [one for one in listed if one.endpoint == request.endpoint]
    of_subject = [one for one in listed if one.endpoint.rpartition(".")[0] == request.blueprint]
    present = next(iter(here_exactly or of_subject), None)
    return [Link(one.title, one.about, url_for(one.endpoint, **where), one is present) for one in listed]
