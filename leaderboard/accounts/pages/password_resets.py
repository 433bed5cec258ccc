"""A new password by a link in a mail, for whoever has forgotten theirs."""

from flask import Blueprint, flash, redirect, url_for
from flask.typing import ResponseReturnValue
from wtforms import PasswordField, StringField

from leaderboard.accounts.writes import accounts, credentials
from leaderboard.accounts.writes.rate_limits import count_link, count_mail
from leaderboard.errors import BadInput, TooManyAttempts
from leaderboard.mail.rules import MailKind
from leaderboard.web.context import client_address, database, now, reading, writing
from leaderboard.web.forms import Form, Given, form_page
from leaderboard.web.mail_notice import on_its_way

blueprint = Blueprint("resets", __name__, url_prefix="/password")


class ForgottenForm(Form):
    email = StringField(
        "E-mail address",
        [Given("give the e-mail address of your account")],
        description="The confirmed address of your account.",
        render_kw={"autocomplete": "email", "type": "email"},
    )


class ResetForm(Form):
    password = PasswordField(
        "New password",
        [Given("choose a new password")],
        description="At least 10 characters. You are logged out wherever you are logged in.",
        render_kw={"autocomplete": "new-password"},
    )


@blueprint.route("/forgotten", methods=["GET", "POST"])
def forgotten() -> ResponseReturnValue:
    form = ForgottenForm()
    if not form.validate_on_submit():
        return form_page("auth/forgotten.html", form)
    try:
        count_mail(database(), form.text("email"), client_address(), now(), MailKind.RESET)
        with writing() as session:
            accounts.ask_for_reset(session, form.text("email"))
    except (BadInput, TooManyAttempts) as error:
        return form_page("auth/forgotten.html", form, error)
    flash(on_its_way("If an account has this confirmed address, a link that works for an hour", "it"))
    return redirect(url_for("auth.log_in"))


@blueprint.route("/reset/<token>", methods=["GET", "POST"])
def reset(token: str) -> ResponseReturnValue:
    form = ResetForm()
    with reading() as session:
        user = accounts.find_reset(session, token, now()).user
    if not form.validate_on_submit():
        return form_page("auth/reset.html", form, name=user.name)
    try:
        count_link(database(), client_address(), now())
        new = credentials.hashed(form.text("password"), user.name, user.email or "")
        with writing() as session:
            accounts.reset_password(session, token, new, now())
    except (BadInput, TooManyAttempts) as error:
        return form_page("auth/reset.html", form, error, name=user.name)
    flash("Your password is changed. Log in with it.")
    return redirect(url_for("auth.log_in"))
