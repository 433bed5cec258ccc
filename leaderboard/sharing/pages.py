"""How a board is cited, a campaign's Atom feed, the badge of a system, and the picture of a board that others show.

Feed, badge and picture are read by programs and on other sites: they tell everybody what a visitor may know.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from flask import Blueprint, Response, render_template
from flask.typing import ResponseReturnValue

from leaderboard.access import VISITOR
from leaderboard.boards.reads.board import board
from leaderboard.sharing import reads
from leaderboard.web.context import now, read, reading
from leaderboard.web.exports import IN_LATEX, download, public_address
from leaderboard.web.formatting import scale_of
from leaderboard.web.page_cache import changes_soon

Page = TypeVar("Page")

blueprint = Blueprint("sharing", __name__)

CITE = "/campaigns/<campaign>/<evaluation>/boards/<int:scoring_set>/cite"
A_WHILE = "public, max-age=600"  # seconds, that other sites and proxies may keep what does not depend on who asks


def _as_visitor(page: Callable[..., Page], *where: object, **more: object) -> Page:
    with reading() as session:
        return page(session, VISITOR, *where, now(), **more)


def _citation(campaign: str, evaluation: str, scoring_set: int) -> dict[str, Any]:
    changes_soon()  # it says today's date
    where = {"campaign": campaign, "evaluation": evaluation, "scoring_set": scoring_set}
    page, address = read(reads.citation, *where.values()), public_address("boards.old_board", **where)
    bibtex = render_template(
        "sharing/board.bib", page=page, address=address, latex=lambda text: text.translate(IN_LATEX)
    )
    return {"page": page, "address": address, "bibtex": bibtex}


@blueprint.get(CITE)
def cite(campaign: str, evaluation: str, scoring_set: int) -> ResponseReturnValue:
    return render_template("sharing/cite.html", **_citation(campaign, evaluation, scoring_set))


@blueprint.get(f"{CITE}.bib")
def bibtex(campaign: str, evaluation: str, scoring_set: int) -> Response:
    text = _citation(campaign, evaluation, scoring_set)["bibtex"]
    return download(f"{text}\n", "application/x-bibtex", f"{campaign}-{evaluation}-{scoring_set}.bib")


def _shared(content: str | bytes, media_type: str) -> Response:
    return Response(content, mimetype=media_type, headers={"Cache-Control": A_WHILE})


@blueprint.get("/campaigns/<campaign>/feed.atom")
def feed(campaign: str) -> Response:
    page = _as_visitor(reads.feed, campaign)
    return _shared(render_template("sharing/feed.xml", page=page), "application/atom+xml")


@blueprint.get("/submissions/<int:submission>/badge.svg")
def badge(submission: int) -> Response:
    page, row = _as_visitor(reads.badge, submission)
    return _shared(render_template("sharing/badge.svg", page=page, row=row), "image/svg+xml")


@blueprint.get("/campaigns/<campaign>/<evaluation>/card.<any(svg, png):ending>")
def card(campaign: str, evaluation: str, ending: str) -> Response:
    """The first systems of the board, as large as sites show pictures of pages that are linked to."""
    page = _as_visitor(board, campaign, evaluation, view=reads.RANKS)
    drawing = render_template("sharing/card.svg", page=page, scale=scale_of(page.whole.ends))
    if ending == "svg":
        return _shared(drawing, "image/svg+xml")
    import vl_convert  # it starts threads, and hangs after a fork if it was used before

    return _shared(bytes(vl_convert.svg_to_png(drawing)), "image/png")
