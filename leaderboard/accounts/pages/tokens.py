"""API tokens of the reader's account: making one, which is shown once, and revoking one."""

from flask import Blueprint, flash, make_response, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from flask_login import current_user
from wtforms import BooleanField, RadioField, StringField

from leaderboard.accounts.models import User
from leaderboard.accounts.pages.proofs import ProofForm, password_field
from leaderboard.accounts.rules import Scope
from leaderboard.accounts.writes import credentials
from leaderboard.errors import BadInput, Gathered, TooManyAttempts
from leaderboard.web.context import actor, now, writing
from leaderboard.web.forms import Given, form_page
from leaderboard.web.sessions import signed_in

blueprint = Blueprint("tokens", __name__, url_prefix="/account/tokens")

FOREVER = "until revoked"
LASTS = [("30", "30 days"), ("90", "90 days"), ("365", "A year"), (FOREVER, "Until I revoke it")]


class TokenForm(ProofForm):
    name = StringField(
        "Name",
        [Given("say what the token is for, such as the program that uses it")],
        description="What you tell it by, such as the machine or the script that uses it.",
        render_kw={"autocomplete": "off"},
    )
    submit_runs = BooleanField("Submit runs, choose which one stands, withdraw them")
    manage = BooleanField("Manage teams: make and join them, and say who is in those that I own")
    organise = BooleanField("Organise: see and do what I may as an organiser")
    days = RadioField("Lasts", default="90")
    current = password_field()


@blueprint.route("/new", methods=["GET", "POST"])
@signed_in
def new() -> ResponseReturnValue:
    form = TokenForm()
    form.days.choices = LASTS
    if not form.is_submitted():
        return form_page("account/new_token.html", form)
    asked = {Scope.SUBMIT: form.submit_runs.data, Scope.MANAGE: form.manage.data, Scope.ORGANISE: form.organise.data}
    scopes = [scope for scope, wanted in asked.items() if wanted]
    proof = Gathered()
    try:
        with proof:
            form.prove()
        with writing() as session, form.checked_with(proof):
            lasts = form.usable("days")
            days = None if lasts == FOREVER else int(lasts)
            user = session.get_one(User, current_user.id)
            token = credentials.make_token(session, actor(), user, form.text("name"), scopes, days=days, now=now())
    except (BadInput, TooManyAttempts) as error:
        return form_page("account/new_token.html", form, error)
    # Shown in the answer itself: a redirect would have to keep it somewhere.
    answer = make_response(render_template("account/token.html", token=token, name=form.text("name")))
    answer.headers["Cache-Control"] = "no-store"
    return answer


@blueprint.post("/<int:api_token>/revoke")
@signed_in
def revoke(api_token: int) -> ResponseReturnValue:
    with writing() as session:
        credentials.revoke_token(session, actor(), api_token, now())
    flash("The token no longer works.")
    return redirect(url_for("account.show"))
