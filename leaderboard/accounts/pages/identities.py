"""Logging in with an account elsewhere, making an account by it, and linking one to an account that is there."""

import dataclasses

from flask import Blueprint, flash, redirect, request, session, url_for
from flask.typing import ResponseReturnValue
from flask_login import current_user

from leaderboard.accounts.models import User
from leaderboard.accounts.pages import providers
from leaderboard.accounts.pages.account import ProofForm
from leaderboard.accounts.pages.login import NameForm, counted_account
from leaderboard.accounts.pages.providers import Proven
from leaderboard.accounts.writes import accounts
from leaderboard.errors import BadInput, Conflict, TooManyAttempts
from leaderboard.web.context import actor, config, now, writing
from leaderboard.web.forms import form_page
from leaderboard.web.sessions import local, sign_in, signed_in

blueprint = Blueprint("identities", __name__)

PROVEN, NEXT = "proven identity", "after the log-in"
PROVEN_SECONDS = 600.0


@blueprint.get("/login/with/<provider>")
def begin(provider: str) -> ResponseReturnValue:
    session[NEXT] = local(request.args.get("next"), url_for("account.show"))
    return providers.begin(provider, f"{config().site_url}{url_for('identities.back', provider=provider)}")


@blueprint.get("/login/with/<provider>/back")
def back(provider: str) -> ResponseReturnValue:
    proven = providers.finish(provider)
    if current_user.is_authenticated:
        _keep(proven)
        return redirect(url_for("identities.link"))
    with writing() as database_session:
        user = accounts.log_in(database_session, proven.issuer, proven.subject, now())
    if user is None:
        _keep(proven)
        return redirect(url_for("identities.register"))
    then = local(session.get(NEXT), url_for("account.show"))
    sign_in(user)
    return redirect(then)


@blueprint.route("/register/with", methods=["GET", "POST"])
def register() -> ResponseReturnValue:
    proven = _proven()
    form = NameForm(data={"name": proven.name})
    if not form.is_submitted():
        return form_page("auth/register_with.html", form, title=_title(proven))
    try:
        new = counted_account(form, None)
        with writing() as database_session:
            user = accounts.register_with(database_session, new, proven.issuer, proven.subject)
    except (BadInput, TooManyAttempts, Conflict) as error:
        return form_page("auth/register_with.html", form, error, title=_title(proven))
    then = local(session.get(NEXT), url_for("account.show"))
    sign_in(user)
    flash(f"Welcome, {user.name}. Make a team, or open the invitation that you were sent, to submit runs.")
    return redirect(then)


@blueprint.route("/account/identities/link", methods=["GET", "POST"])
@signed_in
def link() -> ResponseReturnValue:
    proven = _proven()
    form = ProofForm()
    if not form.validate_on_submit():
        return form_page("account/link.html", form, title=_title(proven))
    try:
        form.prove()
        with writing() as database_session:
            user = database_session.get_one(User, current_user.id)
            accounts.link_identity(database_session, actor(), user, proven.issuer, proven.subject, _title(proven))
    except (BadInput, TooManyAttempts, Conflict) as error:
        return form_page("account/link.html", form, error, title=_title(proven))
    session.pop(PROVEN, None)
    flash(f"{_title(proven)} logs in to this account now.")
    return redirect(url_for("account.show"))


@blueprint.route("/account/identities/<int:identity>/remove", methods=["GET", "POST"])
@signed_in
def remove(identity: int) -> ResponseReturnValue:
    form = ProofForm()
    if not form.validate_on_submit():
        return form_page("account/unlink.html", form)
    try:
        form.prove()
        with writing() as database_session:
            user = database_session.get_one(User, current_user.id)
            accounts.unlink_identity(database_session, actor(), user, identity)
    except (BadInput, TooManyAttempts, Conflict) as error:
        return form_page("account/unlink.html", form, error)
    flash("This identity no longer logs in to your account.")
    return redirect(url_for("account.show"))


def _keep(proven: Proven) -> None:
    """Keeps who somebody is elsewhere in the signed cookie, until they say what to do with it."""
    session[PROVEN] = {**dataclasses.asdict(proven), "at": now().timestamp()}


def _proven() -> Proven:
    """Raises Conflict when nothing was proven in this browser a moment ago."""
    kept = dict(session.get(PROVEN) or {"at": 0.0})
    if now().timestamp() - kept.pop("at") > PROVEN_SECONDS:
        raise Conflict("Nothing was proven here in the last ten minutes: log in with the other account once more.")
    return Proven(**kept)


def _title(proven: Proven) -> str:
    return dict(providers.listed()).get(proven.provider, proven.provider)
