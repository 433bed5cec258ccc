"""The reader's own account: teams, runs, password, sessions."""

from flask import Blueprint, flash, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from flask_login import current_user
from wtforms import PasswordField
from wtforms.validators import ValidationError

from leaderboard.accounts import reads as accounts
from leaderboard.accounts.models import User
from leaderboard.accounts.pages.proofs import ProofForm
from leaderboard.accounts.reads import tokens_of
from leaderboard.accounts.writes import accounts as people
from leaderboard.accounts.writes import credentials
from leaderboard.errors import BadInput, Conflict, Gathered, TooManyAttempts
from leaderboard.web.context import actor, now, reading, writing
from leaderboard.web.forms import Given, form_page
from leaderboard.web.sessions import sign_out, signed_in, stay_signed_in

blueprint = Blueprint("account", __name__, url_prefix="/account")


class PasswordForm(ProofForm):
    password = PasswordField(
        "New password",
        [Given("choose a new password")],
        description="At least 10 characters. You stay logged in here and are logged out everywhere else, and your API "
        "tokens stop working.",
        render_kw={"autocomplete": "new-password"},
    )

    def validate_password(self, field: PasswordField) -> None:
        """By the two texts, so that it tells nothing of the password in use to who does not know it."""
        if field.data and field.data == self.text("current"):
            raise ValidationError("this is the current password: choose another one")


@blueprint.get("/")
@signed_in
def show() -> ResponseReturnValue:
    with reading() as session:
        account = accounts.account(session, actor(), now())
        sessions = accounts.open_sessions(session, current_user.id, now(), current_user.session.id)
        keys = tokens_of(session, current_user.id, now())
    return render_template(
        "account/show.html", account=account, sessions=sessions, this=current_user.session.id, tokens=keys
    )


@blueprint.route("/password", methods=["GET", "POST"])
@signed_in
def password() -> ResponseReturnValue:
    form = PasswordForm()
    if not form.is_submitted():
        return form_page("account/password.html", form)
    proof = Gathered()
    try:
        with proof:
            form.prove()
        with reading() as session:
            about = session.get_one(User, current_user.id)
        with form.checked_with(proof):
            new = credentials.hashed(form.text("password"), about.name, about.email or "")
        with writing() as session:
            user = session.get_one(User, current_user.id)
            token = people.set_password(session, actor(), user, new, staying=current_user.session.id)
    except (BadInput, TooManyAttempts) as error:
        return form_page("account/password.html", form, error)
    stay_signed_in(token)
    flash("Your password is changed.")
    return redirect(url_for("account.show"))


@blueprint.route("/close", methods=["GET", "POST"])
@signed_in
def close() -> ResponseReturnValue:
    form = ProofForm()
    with reading() as session:
        needed = accounts.needed_by(session, actor())
    if not form.validate_on_submit():
        return form_page("account/close.html", form, needed=needed)
    try:
        form.prove()
        with writing() as session:
            people.close_account(session, actor(), session.get_one(User, current_user.id))
    except (BadInput, TooManyAttempts, Conflict) as error:
        return form_page("account/close.html", form, error, needed=needed)
    sign_out()
    flash("Your account is closed.")
    return redirect(url_for("campaigns.front"))


@blueprint.post("/sessions/<int:session_id>/end")
@signed_in
def end_session(session_id: int) -> ResponseReturnValue:
    with writing() as session:
        people.end_session(session, actor(), session.get_one(User, current_user.id), session_id)
    if session_id == current_user.session.id:
        sign_out()
        return redirect(url_for("auth.log_in"))
    flash("That browser is logged out.")
    return redirect(url_for("account.show"))


@blueprint.post("/sessions/end")
@signed_in
def end_sessions() -> ResponseReturnValue:
    with writing() as session:
        user = session.get_one(User, current_user.id)
        token = people.end_sessions(session, actor(), user, staying=current_user.session.id)
    stay_signed_in(token)
    flash("You are logged out everywhere but here.")
    return redirect(url_for("account.show"))
