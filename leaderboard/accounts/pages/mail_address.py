"""The e-mail address of the reader's account: changing and confirming it, and which mails are wanted."""

from flask import Blueprint, flash, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from flask_login import current_user
from wtforms import SelectMultipleField, StringField
from wtforms.widgets import CheckboxInput, ListWidget

from leaderboard.accounts.models import User
from leaderboard.accounts.pages.proofs import ProofForm, password_field
from leaderboard.accounts.writes import accounts
from leaderboard.accounts.writes.rate_limits import count_mail
from leaderboard.errors import BadInput, Conflict, Gathered, TooManyAttempts
from leaderboard.mail.rules import OPTIONAL, MailKind
from leaderboard.web.context import actor, client_address, database, now, reading, writing
from leaderboard.web.forms import Form, form_page
from leaderboard.web.mail_notice import on_its_way
from leaderboard.web.sessions import signed_in

blueprint = Blueprint("addresses", __name__, url_prefix="/account")


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


@blueprint.route("/email", methods=["GET", "POST"])
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
            accounts.change_address(session, actor(), session.get_one(User, current_user.id), given)
    except (BadInput, TooManyAttempts) as error:
        return form_page("account/email.html", form, error)
    to = given.strip()
    flash(on_its_way("A link", to) if to else "Your account has no address any more.")
    return redirect(url_for("account.show"))


@blueprint.post("/email/send")
@signed_in
def send_again() -> ResponseReturnValue:
    with reading() as session:
        waiting = session.get_one(User, current_user.id).unconfirmed_email
    if waiting is None:
        raise Conflict("No address of your account waits to be confirmed.")
    count_mail(database(), waiting, client_address(), now(), MailKind.CONFIRMATION)
    with writing() as session:
        address = accounts.send_confirmation(session, actor(), session.get_one(User, current_user.id))
    flash(on_its_way("Another link", address))
    return redirect(url_for("account.show"))


@blueprint.get("/email/confirm/<token>")
@signed_in
def confirmation(token: str) -> ResponseReturnValue:
    with reading() as session:
        link = accounts.find_confirmation(session, actor(), token, now())
    return render_template("account/confirm.html", address=link.address, token=token)


@blueprint.post("/email/confirm/<token>")
@signed_in
def confirm(token: str) -> ResponseReturnValue:
    with writing() as session:
        user = accounts.confirm_address(session, actor(), token, now())
    flash(f"{user.email} is confirmed.")
    return redirect(url_for("account.show"))


@blueprint.route("/mail", methods=["GET", "POST"])
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
            accounts.choose_mail(session, actor(), session.get_one(User, current_user.id), form.wanted.data or [])
    except BadInput as error:
        return form_page("account/mail.html", form, error, address=user.email)
    flash("Your choice of mails is kept.")
    return redirect(url_for("account.show"))
