"""Logging in and out, registering, and a new password by a link in a mail."""

from flask import Blueprint, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import HiddenField, PasswordField, StringField

from leaderboard.accounts.writes import accounts as people
from leaderboard.accounts.writes import credentials
from leaderboard.accounts.writes.rate_limits import count_link, count_mail, count_name, count_registration, take_back
from leaderboard.errors import BadInput, Gathered, TooManyAttempts
from leaderboard.mail.rules import MailKind
from leaderboard.web.context import client_address, database, now, on_its_way, reading, writing
from leaderboard.web.forms import Form, Given, form_page
from leaderboard.web.sessions import known_browser, local, sign_in, sign_out

blueprint = Blueprint("auth", __name__)


class LogInForm(Form):
    name = StringField(
        "Name or e-mail address", [Given("give your name or e-mail address")], render_kw={"autocomplete": "username"}
    )
    password = PasswordField("Password", [Given("give your password")], render_kw={"autocomplete": "current-password"})
    next = HiddenField()


class NameForm(Form):
    """What every new account is asked."""

    name = StringField(
        "Name",
        [Given("give the name that your team and the organisers will see")],
        description="Your team and the organisers see it.",
        render_kw={"autocomplete": "username"},
    )
    email = StringField(
        "E-mail address (optional)",
        description="Only admins see it. Once it is confirmed, you get mails there and can have a new password sent.",
        render_kw={"autocomplete": "email", "type": "email"},
    )


class RegisterForm(NameForm):
    password = PasswordField(
        "Password",
        [Given("choose a password")],
        description="At least 10 characters. A few words are easy to remember.",
        render_kw={"autocomplete": "new-password"},
    )
    next = HiddenField()


@blueprint.route("/login", methods=["GET", "POST"])
def log_in() -> ResponseReturnValue:
    form = LogInForm(data={"next": request.args.get("next", "")})
    if not form.validate_on_submit():
        return form_page("auth/log_in.html", form)
    try:
        user = people.authenticate(
            database(), form.text("name"), form.text("password"), client_address(), now(), known_browser()
        )
    except (BadInput, TooManyAttempts) as error:
        return form_page("auth/log_in.html", form, error)
    sign_in(user)
    return redirect(local(form.text("next"), url_for("account.show")))


@blueprint.route("/register", methods=["GET", "POST"])
def register() -> ResponseReturnValue:
    form = RegisterForm(data={"next": request.args.get("next", "")})
    if not form.is_submitted():
        return form_page("auth/register.html", form)
    try:
        new = counted_account(form, form.text("password"))
        with writing() as session:
            user = people.register(session, new)
    except (BadInput, TooManyAttempts) as error:
        return form_page("auth/register.html", form, error)
    sign_in(user)
    flash(f"Welcome, {user.name}. Make a team, or open the invitation that you were sent, to submit runs.")
    return redirect(local(form.text("next"), url_for("account.show")))


def counted_account(form: NameForm, password: str | None) -> people.NewAccount:
    """The account that a form asks for, which is checked with it; its name counts unless it has turned out to be free.

    Raises InvalidFields with all that is wrong, TooManyAttempts.
    """
    count_registration(database(), client_address(), now())
    wrong = Gathered()
    with form.checked_with(wrong):
        with wrong:
            new = people.new_account(form.text("name"), password, form.text("email"))
        if "name" not in wrong.fields:
            asked = count_name(database(), client_address(), now())
            with wrong, writing() as session:
                people.require_free(session, form.text("name"))
                take_back(session, asked)
    if new.email is not None:
        count_mail(database(), new.email, client_address(), now(), MailKind.CONFIRMATION)
    return new


@blueprint.post("/logout")
def log_out() -> ResponseReturnValue:
    sign_out()
    flash("You are logged out.")
    return redirect(url_for("auth.log_in"))


reset_blueprint = Blueprint("resets", __name__, url_prefix="/password")


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


@reset_blueprint.route("/forgotten", methods=["GET", "POST"])
def forgotten() -> ResponseReturnValue:
    form = ForgottenForm()
    if not form.validate_on_submit():
        return form_page("auth/forgotten.html", form)
    try:
        count_mail(database(), form.text("email"), client_address(), now(), MailKind.RESET)
        with writing() as session:
            people.ask_for_reset(session, form.text("email"))
    except (BadInput, TooManyAttempts) as error:
        return form_page("auth/forgotten.html", form, error)
    flash(on_its_way("If an account has this confirmed address, a link that works for an hour", "it"))
    return redirect(url_for("auth.log_in"))


@reset_blueprint.route("/reset/<token>", methods=["GET", "POST"])
def reset(token: str) -> ResponseReturnValue:
    form = ResetForm()
    with reading() as session:
        user = people.find_reset(session, token, now()).user
    if not form.validate_on_submit():
        return form_page("auth/reset.html", form, name=user.name)
    try:
        count_link(database(), client_address(), now())
        new = credentials.hashed(form.text("password"), user.name, user.email or "")
        with writing() as session:
            people.reset_password(session, token, new, now())
    except (BadInput, TooManyAttempts) as error:
        return form_page("auth/reset.html", form, error, name=user.name)
    flash("Your password is changed. Log in with it.")
    return redirect(url_for("auth.log_in"))
