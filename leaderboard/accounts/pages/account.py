"""The reader's own account: password, address, sessions and tokens; and what proves who is logged in, before what is
dangerous.
"""

import datetime as dt

from flask import Blueprint, flash, make_response, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from flask_login import current_user
from wtforms import BooleanField, PasswordField, RadioField, SelectMultipleField, StringField
from wtforms.validators import ValidationError
from wtforms.widgets import CheckboxInput, ListWidget

from leaderboard.accounts import reads as accounts
from leaderboard.accounts.models import User
from leaderboard.accounts.reads import tokens_of
from leaderboard.accounts.rules import Scope
from leaderboard.accounts.writes import accounts as people
from leaderboard.accounts.writes import credentials
from leaderboard.accounts.writes.rate_limits import KnownBrowser, count_mail
from leaderboard.errors import BadInput, Conflict, Gathered, InvalidFields, TooManyAttempts
from leaderboard.mail.rules import OPTIONAL, MailKind
from leaderboard.web.context import actor, client_address, database, now, on_its_way, reading, writing
from leaderboard.web.forms import Form, Given, form_page
from leaderboard.web.sessions import sign_out, signed_in, stay_signed_in

NOT_GIVEN = "give your current password"
FRESH = dt.timedelta(minutes=10)  # how long a log-in proves it, where there is no password to ask for


def password_field() -> PasswordField:
    """The field that asks for it. A form whose page asks last declares it again, last: errors stand in that order."""
    return PasswordField("Current password", render_kw={"autocomplete": "current-password"})


class ProofForm(Form):
    """A form that asks for the account's password; of an account without one, for a log-in of a moment ago."""

    current = password_field()

    @property
    def asks_password(self) -> bool:
        with reading() as session:
            return session.get_one(User, current_user.id).password_hash is not None

    def validate_current(self, field: PasswordField) -> None:
        """Said with all else that the form lacks."""
        if self.asks_password and not field.data:
            raise ValidationError(NOT_GIVEN)

    def prove(self) -> None:
        """Raises InvalidFields when it is not the account's owner; wrong passwords count as failed log-ins.

        It writes in transactions of its own: `Form.checked_with` takes what it found into that of a service.
        """
        if not self.asks_password:
            if now() - current_user.session.created_at > FRESH:
                raise InvalidFields(
                    {"": ["log out and in again, then do this within ten minutes: there is no password to ask for"]}
                )
            return
        if not self.text("current"):
            raise InvalidFields({"current": [NOT_GIVEN]})
        # Whoever guesses at the account from elsewhere must not keep its owner, who is logged in, from what is theirs.
        # The moment tells its session from an older one that had this number.
        seen = current_user.session
        here = KnownBrowser(current_user.id, f"with session {seen.id} of {seen.created_at.isoformat()}")
        try:
            people.authenticate(database(), current_user.name, self.text("current"), client_address(), now(), here)
        except BadInput:
            raise InvalidFields({"current": ["this is not your current password"]}) from None


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


token_blueprint = Blueprint("tokens", __name__, url_prefix="/account/tokens")

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


@token_blueprint.route("/new", methods=["GET", "POST"])
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


@token_blueprint.post("/<int:api_token>/revoke")
@signed_in
def revoke(api_token: int) -> ResponseReturnValue:
    with writing() as session:
        credentials.revoke_token(session, actor(), api_token, now())
    flash("The token no longer works.")
    return redirect(url_for("account.show"))


address_blueprint = Blueprint("addresses", __name__, url_prefix="/account")


class AddressForm(ProofForm):
    email = StringField(
        "New e-mail address",
        description="You get a link there that confirms it. Leave it empty to have no address here.",
        render_kw={"autocomplete": "email", "type": "email"},
    )
    current = password_field()


class MailForm(Form):
    wanted = SelectMultipleField(
        "Send me a mail when",
        validate_choice=False,  # by the service, as all values are
        widget=ListWidget(prefix_label=False),
        option_widget=CheckboxInput(),
    )


@address_blueprint.route("/email", methods=["GET", "POST"])
@signed_in
def change() -> ResponseReturnValue:
    form = AddressForm()
    if not form.is_submitted():
        return form_page("account/email.html", form)
    given, proof = form.text("email"), Gathered()
    try:
        with proof:
            form.prove()
        if given.strip() and not proof.fields:
            count_mail(database(), given, client_address(), now(), MailKind.CONFIRMATION)
        with writing() as session, form.checked_with(proof):
            people.change_address(session, actor(), session.get_one(User, current_user.id), given)
    except (BadInput, TooManyAttempts) as error:
        return form_page("account/email.html", form, error)
    to = given.strip()
    flash(on_its_way("A link", to) if to else "Your account has no address any more.")
    return redirect(url_for("account.show"))


@address_blueprint.post("/email/send")
@signed_in
def send_again() -> ResponseReturnValue:
    with reading() as session:
        waiting = session.get_one(User, current_user.id).unconfirmed_email
    if waiting is None:
        raise Conflict("No address of your account waits to be confirmed.")
    count_mail(database(), waiting, client_address(), now(), MailKind.CONFIRMATION)
    with writing() as session:
        address = people.send_confirmation(session, actor(), session.get_one(User, current_user.id))
    flash(on_its_way("Another link", address))
    return redirect(url_for("account.show"))


@address_blueprint.get("/email/confirm/<token>")
@signed_in
def confirmation(token: str) -> ResponseReturnValue:
    with reading() as session:
        link = people.find_confirmation(session, actor(), token, now())
    return render_template("account/confirm.html", address=link.address, token=token)


@address_blueprint.post("/email/confirm/<token>")
@signed_in
def confirm(token: str) -> ResponseReturnValue:
    with writing() as session:
        user = people.confirm_address(session, actor(), token, now())
    flash(f"{user.email} is confirmed.")
    return redirect(url_for("account.show"))


@address_blueprint.route("/mail", methods=["GET", "POST"])
@signed_in
def choose() -> ResponseReturnValue:
    with reading() as session:
        user = session.get_one(User, current_user.id)
    form = MailForm(data={"wanted": [kind.value for kind in OPTIONAL if kind.value not in user.unwanted_mail]})
    form.wanted.choices = [(kind.value, words) for kind, words in OPTIONAL.items()]
    if not form.validate_on_submit():
        return form_page("account/mail.html", form, address=user.email)
    try:
        with writing() as session:
            people.choose_mail(session, actor(), session.get_one(User, current_user.id), form.wanted.data or [])
    except BadInput as error:
        return form_page("account/mail.html", form, error, address=user.email)
    flash("Your choice of mails is kept.")
    return redirect(url_for("account.show"))
