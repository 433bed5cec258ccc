"""Whether this process can serve: what a load balancer asks."""

import sqlalchemy as sa
from flask import Blueprint, Response

from leaderboard.errors import Unavailable
from leaderboard.web.context import reading

blueprint = Blueprint("health", __name__)


@blueprint.get("/healthz")
def healthz() -> Response:
    try:
        with reading() as session:
            session.execute(sa.select(1))
    except sa.exc.OperationalError as error:
        raise Unavailable("The database does not answer.") from error
    return Response("ok\n", mimetype="text/plain")
