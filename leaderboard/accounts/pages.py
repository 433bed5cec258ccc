"""Logging in and out, registering, and a new password by a link in a mail.

Providers of OpenID Connect that an installation lists, and what one proves of whoever comes back from it.

Authlib does the protocol: code flow with PKCE, state and nonce, the ID token's signature and claims. Nothing is asked
but the configured issuer, and hosts that the operator names beside it.

Logging in with an account elsewhere, making an account by it, and linking one to an account that is there.

The reader's own account: password, address, sessions and tokens; and what proves who is logged in, before what is
dangerous.
"""

import dataclasses
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar
from urllib.parse import urlsplit

from authlib.common.errors import AuthlibBaseError
from authlib.integrations.flask_client import FlaskIntegration, FlaskOAuth2App
from authlib.integrations.requests_client import OAuth2Session
from flask import Blueprint, Flask, current_app, flash, redirect, render_template, request, session, url_for
from flask.typing import ResponseReturnValue
from flask_login import current_user
from joserfc.errors import JoseError
from pydantic import AfterValidator, Field
from requests import RequestException, Response
from wtforms import HiddenField, PasswordField, RadioField, SelectMultipleField, StringField
from wtforms.validators import ValidationError
from wtforms.widgets import CheckboxInput

from leaderboard.accounts import reads, writes as accounts
from leaderboard.accounts.models import User
from leaderboard.accounts.rate_limits import LINK, MAIL, NAME, REGISTRATION, KnownBrowser, Limit, count, take_back
from leaderboard.accounts.rules import SHORTEST, Scope, token_hash
from leaderboard.config import Config
from leaderboard.declared.inputs import Inputs, checked
from leaderboard.errors import BadInput, Conflict, NotFound
from leaderboard.mail.rules import OPTIONAL, MailKind
from leaderboard.mail.smtp import is_here
from leaderboard.names import checked_slug, email_key
from leaderboard.web.context import actor, client_address, config, database, now, on_its_way, reading, writing
from leaderboard.web.forms import Form, Required, answered, sent_on
from leaderboard.web.sessions import known_browser, local, sign_in, sign_out, signed_in, stay_signed_in

T = TypeVar("T")

blueprint = Blueprint("account", __name__)
form_at = partial(blueprint.route, methods=["GET", "POST"])

MAIL_ADDRESS = {"autocomplete": "email", "type": "email"}
CURRENT, USERNAME = {"autocomplete": "current-password"}, {"autocomplete": "username"}


def _new_password(label: str, description: str) -> PasswordField:
    return PasswordField(
        label,
        [Required("choose a password")],
        description=f"At least {SHORTEST} characters. {description}",
        render_kw={"autocomplete": "new-password"},
    )


class LogInForm(Form):
    name = StringField("Name or e-mail address", [Required("give your name or e-mail address")], render_kw=USERNAME)
    password = PasswordField("Password", [Required("give your password")], render_kw=CURRENT)
    next = HiddenField()


class NameForm(Form):
    """What every new account is asked."""

    name = StringField(
        "Name",
        [Required("give the name that your team and the organisers will see")],
        description="Your team and the organisers see it.",
        render_kw=USERNAME,
    )
    email = StringField(
        "E-mail address (optional)",
        description="Only admins see it. Once it is confirmed, you get mails there and can have a new password sent.",
        render_kw=MAIL_ADDRESS,
    )


class RegisterForm(NameForm):
    password = _new_password("Password", "A few words are easy to remember.")
    next = HiddenField()


def _count(limit: Limit, **names: object) -> list[int]:
    """Counts an attempt of who asks. Raises TooManyAttempts."""
    return count(database(), limit, now(), client_address(), **names)


def _count_mail(address: str, kind: MailKind) -> None:
    """Counts a mail that is asked for, whether or not it will be sent. Nothing is kept of the address but its hash."""
    _count(MAIL, kind=kind, to=token_hash(email_key(address)))


def _write(change: Callable[..., T], *values: Any, form: Form | None = None, **more: Any) -> T:
    """What a write to the reader's own account gives, in a transaction of its own. form: what it checks, too."""
    with writing() as database_session, form.checked_with() if form else nullcontext():
        return change(database_session, actor(), database_session.get_one(User, actor().user_id), *values, **more)


def _user() -> User:
    """The reader's own account."""
    with reading() as database_session:
        return database_session.get_one(User, actor().user_id)


@form_at("/login")
def log_in() -> ResponseReturnValue:
    form = LogInForm(data={"next": request.args.get("next", "")})

    def enter() -> ResponseReturnValue:
        name, password = form.text("name"), form.text("password")
        sign_in(accounts.authenticate(database(), name, password, client_address(), now(), known_browser()))
        return redirect(local(form.text("next")))

    return answered(form, "auth/log_in.html", enter)


@form_at("/register")
def register() -> ResponseReturnValue:
    form = RegisterForm(data={"next": request.args.get("next", "")})

    def enter() -> ResponseReturnValue:
        new = counted_account(form, form.text("password"))
        with writing() as session:
            user = accounts.register(session, new)
        return _welcome(user, form.text("next"))

    return answered(form, "auth/register.html", enter, checks=True)


def _welcome(user: User, then: str | None) -> ResponseReturnValue:
    sign_in(user)
    advice = "" if then else " Make a team, or open the invitation that you were sent, to submit runs."
    flash(f"Welcome, {user.name}.{advice}")
    return redirect(local(then))


def counted_account(form: NameForm, password: str | None) -> accounts.NewAccount:
    """The account that a form asks for, which is checked with it; its name counts unless it has turned out to be free.

    Raises InvalidFields with all that is wrong, TooManyAttempts.
    """
    _count(REGISTRATION)
    with form.checked_with() as wrong:
        with wrong:
            new = accounts.new_account(form.text("name"), password, form.text("email"))
        if "name" not in wrong.fields:
            asked = _count(NAME)
            with wrong, writing() as session:
                accounts.require_free(session, form.text("name"))
                take_back(session, asked)
    if new.email is not None:
        _count_mail(new.email, MailKind.CONFIRMATION)
    return new


@blueprint.post("/logout")
def log_out() -> ResponseReturnValue:
    sign_out()
    return sent_on("You are logged out.", "account.log_in")


class ForgottenForm(Form):
    email = StringField(
        "E-mail address",
        [Required("give the e-mail address of your account")],
        description="The confirmed address of your account.",
        render_kw=MAIL_ADDRESS,
    )


class ResetForm(Form):
    password = _new_password("New password", "You are logged out wherever you are logged in.")


@form_at("/password/forgotten")
def forgotten() -> ResponseReturnValue:
    form = ForgottenForm()

    def ask() -> ResponseReturnValue:
        _count_mail(form.text("email"), MailKind.RESET)
        with writing() as session:
            accounts.ask_for_reset(session, form.text("email"))
        said = on_its_way("If an account has this confirmed address, a link that sets a new password", "it")
        return sent_on(said, "account.log_in")

    return answered(form, "auth/forgotten.html", ask)


@form_at("/password/reset/<token>")
def reset(token: str) -> ResponseReturnValue:
    form = ResetForm()
    with reading() as session:
        user = accounts.find_link(session, MailKind.RESET, token, now()).user

    def change() -> ResponseReturnValue:
        _count(LINK)
        new = accounts.hashed(form.text("password"), user.name, user.email or "")
        with writing() as session:
            accounts.reset_password(session, token, new, now())
        return sent_on("Your password was changed. Log in with it.", "account.log_in")

    return answered(form, "auth/reset.html", change, name=user.name)


SECONDS = 10.0  # that a provider may take for each answer
ANSWER_BYTES = 2**20
LONGEST_SUBJECT = 255  # characters, by the standard
# Signed with the provider's own key: a secret that both sides know proves less.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
FAULTS = (AuthlibBaseError, JoseError, RequestException, RuntimeError, ValueError, KeyError, TypeError)


def _is_safe(address: str) -> bool:
    """Whether nobody in between can change what is fetched there: HTTPS, or this machine."""
    parts = urlsplit(address)
    return parts.scheme == "https" or (parts.scheme == "http" and is_here(parts.hostname or ""))


def _issuer(address: str) -> str:
    if not _is_safe(address):
        raise ValueError("expected an address with https://")
    return address


class Provider(Inputs):
    """One section of the file. `hosts`: where it is fetched from beside the issuer's own host."""

    title: str
    issuer: Annotated[str, AfterValidator(_issuer)]
    client_id: Annotated[str, Field(min_length=1)]
    client_secret: Annotated[str, Field(min_length=1)]
    scope: str = "openid"
    hosts: tuple[str, ...] = ()


class _Fetching(OAuth2Session):  # type: ignore[misc]  # Authlib has no types
    """Asks the provider's hosts only, follows no redirection and reads no long answer."""

    def __init__(self, hosts: frozenset[str], **settings: Any) -> None:
        super().__init__(**settings)
        self._hosts = hosts

    def request(self, method: str, url: str, **how: Any) -> Response:
        parts = urlsplit(url)
        if parts.netloc.lower() not in self._hosts or not _is_safe(url):
            raise ValueError(f"{parts.netloc} is not among the hosts of this provider")
        how.update(timeout=SECONDS, allow_redirects=False, stream=True)
        answer: Response = super().request(method, url, **how)
        content = answer.raw.read(ANSWER_BYTES + 1, decode_content=True)
        if len(content) > ANSWER_BYTES:
            raise ValueError("the answer is too long")
        answer._content = content  # what `stream` has left unread
        return answer


def init_app(app: Flask) -> None:
    """Reads the list of providers. Raises BadInput when it can't be read."""
    config: Config = app.extensions["config"]
    providers = _providers(config.oidc_file)
    app.extensions["providers"] = {slug: (provider, _client(slug, provider)) for slug, provider in providers.items()}
    app.jinja_env.globals["providers"] = providers


@contextmanager
def _asking(slug: str) -> Iterator[tuple[Provider, Any]]:
    """A provider and its client, which has read what the provider says of itself.

    Raises NotFound, or Conflict when that fails or what is asked within.
    """
    if slug not in current_app.extensions["providers"]:
        raise NotFound
    provider, client = current_app.extensions["providers"][slug]
    try:
        metadata = client.load_server_metadata()
        if metadata.get("issuer") != provider.issuer:
            client.server_metadata.clear()
            raise ValueError(f"it calls itself {metadata.get('issuer')!r}")
        offered = metadata.get("id_token_signing_alg_values_supported") or ["RS256"]
        metadata["id_token_signing_alg_values_supported"] = [name for name in offered if name in ALGORITHMS]
        yield provider, client
    except FAULTS as error:
        current_app.logger.warning("logging in with %s failed: %s", provider.title, error)
        raise Conflict(
            f"Logging in with {provider.title} did not work. Try again, or log in with your password."
        ) from error


def finish(slug: str) -> accounts.Proven:
    """Who came back from the provider, by the request at hand. Raises NotFound, or Conflict when nothing is proven."""
    with _asking(slug) as (provider, client):
        expected = {"iss": provider.issuer, "aud": provider.client_id}
        claims = {name: {"essential": True, "value": value} for name, value in expected.items()}
        claimed = client.authorize_access_token(claims_options=claims)["userinfo"]
        subject, name = claimed["sub"], claimed.get("name")
        if not isinstance(subject, str) or not 0 < len(subject) <= LONGEST_SUBJECT or not subject.isprintable():
            raise ValueError("it does not say who this is")
    return accounts.Proven(provider.title, provider.issuer, subject, name[:60] if isinstance(name, str) else "")


def _client(slug: str, provider: Provider) -> Any:
    scope = " ".join(dict.fromkeys(["openid", *provider.scope.split()]))
    client = FlaskOAuth2App(
        FlaskIntegration(slug),
        name=slug,
        client_id=provider.client_id,
        client_secret=provider.client_secret,
        server_metadata_url=f"{provider.issuer.rstrip('/')}/.well-known/openid-configuration",
        client_kwargs={"scope": scope, "code_challenge_method": "S256"},
    )
    hosts = frozenset({urlsplit(provider.issuer).netloc.lower(), *map(str.lower, provider.hosts)})
    client.client_cls = partial(_Fetching, hosts)
    return client


def _providers(path: str) -> dict[str, Provider]:
    """By the name of their section, in the order of the file."""
    providers, slug = {}, ""
    try:
        sections = tomllib.loads(Path(path).read_text(encoding="utf-8")) if path else {}
        for slug, section in sections.items():
            providers[checked_slug(slug, "section")] = checked(Provider, {"title": slug, **section})
    except (OSError, TypeError, ValueError, BadInput) as error:
        raise BadInput(f"LEADERBOARD_OIDC_FILE: {path}: {slug and f'{slug}: '}{error}") from error
    return providers


PROVEN, NEXT = "proven identity", "after the log-in"
PROVEN_SECONDS = 600.0


@blueprint.get("/login/with/<provider>")
def begin(provider: str) -> ResponseReturnValue:
    session[NEXT] = local(request.args.get("next"))
    with _asking(provider) as (_, client):
        back_here = f"{config().site_url}{url_for('account.back', provider=provider)}"
        answer: ResponseReturnValue = client.authorize_redirect(back_here)
    return answer


@blueprint.get("/login/with/<provider>/back")
def back(provider: str) -> ResponseReturnValue:
    proven = finish(provider)
    user = None
    if not current_user.is_authenticated:
        with writing() as database_session:
            user = accounts.log_in(database_session, proven, now())
    if user is None:  # kept in the signed cookie, until they say what to do with it
        session[PROVEN] = {**dataclasses.asdict(proven), "at": now().timestamp()}
        return redirect(url_for("account.link" if current_user.is_authenticated else "account.register_identity"))
    then = local(session.get(NEXT))
    sign_in(user)
    return redirect(then)


@form_at("/register/with")
def register_identity() -> ResponseReturnValue:
    proven = _proven()
    form = NameForm(data={"name": proven.name})

    def enter() -> ResponseReturnValue:
        new = counted_account(form, None)
        with writing() as database_session:
            user = accounts.register_with(database_session, new, proven)
        return _welcome(user, session.get(NEXT))

    return answered(form, "auth/register_with.html", enter, checks=True, title=proven.title)


@form_at("/account/identities/link")
@signed_in
def link() -> ResponseReturnValue:
    proven = _proven()

    def add() -> ResponseReturnValue:
        _write(accounts.link_identity, proven)
        session.pop(PROVEN, None)
        return sent_on(f"{proven.title} logs in to this account now.", ".show")

    return answered(ProofForm(), "account/link.html", add, title=proven.title)


@form_at("/account/identities/<int:identity>/remove")
@signed_in
def remove(identity: int) -> ResponseReturnValue:
    def take_away() -> ResponseReturnValue:
        _write(accounts.unlink_identity, identity)
        return sent_on("This identity no longer logs in to your account.", ".show")

    return answered(ProofForm(), "account/unlink.html", take_away)


def _proven() -> accounts.Proven:
    """Raises Conflict when nothing was proven in this browser a moment ago."""
    identity = dict(session.get(PROVEN) or {"at": 0.0})
    if now().timestamp() - identity.pop("at") > PROVEN_SECONDS:
        raise Conflict("Nothing was proven here in the last ten minutes: log in with the other account once more.")
    return accounts.Proven(**identity)


FRESH = timedelta(minutes=10)  # how long a log-in proves it, where there is no password to ask for


class ProofForm(Form):
    """A form that asks for the account's password; of an account without one, for a log-in of a moment ago."""

    current = PasswordField("Current password", render_kw=CURRENT)

    @property
    def asks_password(self) -> bool:
        return _user().password_hash is not None

    def validate_current(self, field: PasswordField) -> None:
        """Refuses who is not the account's owner; wrong passwords count as failed log-ins.

        It writes in transactions of its own: `answered` validates the form before one is opened.
        """
        session = current_user.session
        if not self.asks_password:
            if now() - session.created_at <= FRESH:
                return
            raise ValidationError(
                "log out and in again, then do this within ten minutes: there is no password to ask for"
            )
        # Whoever guesses at the account from elsewhere must not keep its owner, who is logged in, from what is theirs.
        # The moment tells its session from an older one that had this number.
        here = KnownBrowser(session.actor.user_id, f"with session {session.id} of {session.created_at.isoformat()}")
        try:
            accounts.authenticate(database(), actor().name, field.data or "", client_address(), now(), here)
        except BadInput:
            raise ValidationError("this is not your current password") from None


class PasswordForm(ProofForm):
    password = _new_password(
        "New password", "You stay logged in here and are logged out everywhere else, and your API tokens stop working."
    )


@blueprint.get("/account/")
@signed_in
def show() -> ResponseReturnValue:
    with reading() as session:
        page = {
            "account": reads.account(session, actor(), now()),
            "sessions": reads.open_sessions(session, current_user.actor.user_id, now()),
            "tokens": reads.tokens_of(session, current_user.actor.user_id, now()),
        }
    return render_template("account/show.html", **page, this=current_user.session.id)


@form_at("/account/password")
@signed_in
def password() -> ResponseReturnValue:
    form = PasswordForm()

    def change() -> ResponseReturnValue:
        user = _user()
        with form.checked_with():
            new = accounts.hashed(form.text("password"), user.name, user.email or "")
        stay_signed_in(_write(accounts.set_password, new, staying=current_user.session.id))
        return sent_on("Your password was changed.", ".show")

    return answered(form, "account/password.html", change, checks=True)


@form_at("/account/close")
@signed_in
def close() -> ResponseReturnValue:
    with reading() as session:
        needed = reads.needed_by(session, current_user.actor.user_id)

    def finish_account() -> ResponseReturnValue:
        _write(accounts.close_account)
        sign_out()
        return sent_on("Your account was closed.", "campaigns.front")

    return answered(ProofForm(), "account/close.html", finish_account, needed=needed)


@blueprint.post("/account/sessions/<int:session_id>/end")
@signed_in
def end_session(session_id: int) -> ResponseReturnValue:
    _write(accounts.log_out, session_id)
    return sent_on("That browser is logged out.", ".show")


@blueprint.post("/account/sessions/end")
@signed_in
def end_sessions() -> ResponseReturnValue:
    stay_signed_in(_write(accounts.end_sessions, staying=current_user.session.id))
    return sent_on("You are logged out everywhere but here.", ".show")


Checkboxes = partial(SelectMultipleField, option_widget=CheckboxInput())
SCOPES: dict[str, str] = {
    Scope.SUBMIT: "Submit runs, choose which one stands, withdraw them",
    Scope.MANAGE: "Manage teams: make and join them, and say who is in those that I own",
    Scope.ORGANISE: "Organise: see and do what I may as an organiser",
}
LASTS: Any = {30: "30 days", 90: "90 days", 365: "A year", 0: "Until I revoke it"}


class TokenForm(ProofForm):
    name = StringField(
        "Name",
        [Required("say what the token is for, such as the program that uses it")],
        description="What you tell it by, such as the machine or the script that uses it.",
        render_kw={"autocomplete": "off"},
    )
    scopes = Checkboxes(
        "What it may do", description="Every token reads what you see as a participant.", choices=SCOPES, coerce=Scope
    )
    days = RadioField("Lasts", choices=LASTS, coerce=int, default=90)


@form_at("/account/tokens/new")
@signed_in
def new() -> ResponseReturnValue:
    form = TokenForm()

    def make() -> ResponseReturnValue:
        name, days = form.text("name"), form.days.data or None
        token = _write(accounts.make_token, name, form.scopes.data or (), form=form, days=days, now=now())
        # Shown in the answer itself: a redirect would have to keep it somewhere.
        return render_template("account/token.html", token=token, name=name), {"Cache-Control": "no-store"}

    return answered(form, "account/new_token.html", make, checks=True)


@blueprint.post("/account/tokens/<int:api_token>/revoke")
@signed_in
def revoke(api_token: int) -> ResponseReturnValue:
    _write(accounts.revoke_token, api_token)
    return sent_on("The token no longer works.", ".show")


class AddressForm(ProofForm):
    email = StringField(
        "New e-mail address",
        description="You get a link there that confirms it. Leave it empty to have no address here.",
        render_kw=MAIL_ADDRESS,
    )


class MailForm(Form):
    wanted = Checkboxes("Send me a mail when", choices={kind.value: words for kind, words in OPTIONAL.items()})


@form_at("/account/email")
@signed_in
def change() -> ResponseReturnValue:
    form = AddressForm()

    def save() -> ResponseReturnValue:
        address = form.text("email").strip()
        if address and not form.errors:
            _count_mail(address, MailKind.CONFIRMATION)
        _write(accounts.change_address, address, form=form)
        return sent_on(on_its_way("A link", address) if address else "Your account has no address any more.", ".show")

    return answered(form, "account/email.html", save, checks=True)


@blueprint.post("/account/email/send")
@signed_in
def send_again() -> ResponseReturnValue:
    waiting = _user().unconfirmed_email
    if waiting is not None:  # else it is refused below
        _count_mail(waiting, MailKind.CONFIRMATION)
    return sent_on(on_its_way("Another link", _write(accounts.send_confirmation)), ".show")


@blueprint.get("/account/email/confirm/<token>")
@signed_in
def confirmation(token: str) -> ResponseReturnValue:
    with reading() as session:
        link = accounts.find_link(session, MailKind.CONFIRMATION, token, now(), actor())
    return render_template("account/confirm.html", address=link.address, token=token)


@blueprint.post("/account/email/confirm/<token>")
@signed_in
def confirm(token: str) -> ResponseReturnValue:
    return sent_on(f"{_write(accounts.confirm_address, token, now())} is confirmed.", ".show")


@form_at("/account/mail")
@signed_in
def choose() -> ResponseReturnValue:
    user = _user()
    form = MailForm(data={"wanted": [kind.value for kind in OPTIONAL if kind.value not in user.unwanted_mail]})

    def save() -> ResponseReturnValue:
        _write(accounts.choose_mail, form.wanted.data or [])
        return sent_on("Your choice of mails is kept.", ".show")

    return answered(form, "account/mail.html", save, address=user.email)
