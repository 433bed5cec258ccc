"""Whether this process can serve: what a load balancer asks."""

from http import HTTPStatus

import sqlalchemy as sa
from flask import Blueprint, Response

from leaderboard.accounts.models import User
from leaderboard.errors import NoDatabase, NoStore, OtherBuild
from leaderboard.web.context import reading, store

blueprint = Blueprint("health", __name__)


@blueprint.get("/healthz")
def healthz() -> Response:
    """`ok`, or the parts that don't answer, one a line."""
    missing = []
    try:
        with reading() as session:
            session.execute(sa.select(User.id).limit(1))  # a table: SQLite does not open its file for less
    except OtherBuild:
        missing.append("the database was made by another build of this program")
    except NoDatabase:
        missing.append("the database does not answer")
    try:
        store().check()
    except NoStore:
        missing.append("the run store can't be written")
    if not missing:
        return Response("ok\n", mimetype="text/plain")
    return Response("".join(f"{line}\n" for line in missing), HTTPStatus.SERVICE_UNAVAILABLE, mimetype="text/plain")
