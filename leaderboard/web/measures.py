"""The measure reference: pages made of what each measure says of itself in the registry."""

from flask import Blueprint, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from leaderboard.errors import NotFound, UnknownMeasure
from leaderboard.metrics import MEASURES_VERSION, Family, families, groups, parse
from leaderboard.metrics.families.agreement import AGREEMENTS, AgreementFamily

blueprint = Blueprint("measures", __name__, url_prefix="/measures")


@blueprint.get("/")
def index() -> ResponseReturnValue:
    listed = {**groups(), "Agreement between two rankings": AGREEMENTS}
    return render_template("measures/index.html", groups=listed, metric_version=MEASURES_VERSION)


@blueprint.get("/<name>")
def show(name: str) -> ResponseReturnValue:
    # Measures of a run, then agreements between two rankings.
    every: tuple[Family | AgreementFamily, ...] = (*families(), *AGREEMENTS)
    listed = {each.name: each for each in every}
    if name not in listed:
        return redirect(url_for("measures.show", name=_family_of(name)))
    family, names = listed[name], list(listed)
    index = names.index(name)
    neighbours = {"before": names[index - 1] if index else None, "after": next(iter(names[index + 1 :]), None)}
    formula = Markup(family.reference.mathml)  # noqa: S704  # made of our own registry's text, and escaped
    return render_template("measures/show.html", family=family, formula=formula, **neighbours)


def _family_of(name: str) -> str:
    """The listed name behind one with parameters or a cutoff, ours or trec_eval's. Raises NotFound."""
    try:
        return parse(name).family.name
    except UnknownMeasure as error:
        raise NotFound(error.message) from None
