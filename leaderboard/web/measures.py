"""The measure reference, straight from the registry: what a measure means is said once, beside its code."""

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from leaderboard.errors import NotFound
from leaderboard.metrics import VERSION, Family, families, family
from leaderboard.metrics.formula import mathml

blueprint = Blueprint("measures", __name__, url_prefix="/measures")


@blueprint.get("/")
def index() -> ResponseReturnValue:
    groups: dict[str, list[Family]] = {}
    for each in families():
        groups.setdefault(each.group, []).append(each)
    return render_template("measures/index.html", groups=groups, metric_version=VERSION)


@blueprint.get("/<name>")
def show(name: str) -> ResponseReturnValue:
    try:
        found = family(name)
    except KeyError:
        raise NotFound from None
    names = [each.name for each in families()]
    place = names.index(name)
    before, after = names[place - 1] if place else None, names[place + 1] if place + 1 < len(names) else None
    formula = Markup(mathml(found.reference.formula))  # noqa: S704  # made of our own registry's text, and escaped
    return render_template("measures/show.html", family=found, formula=formula, before=before, after=after)
