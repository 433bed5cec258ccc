"""Who is logged in proves once more to be the account's owner, before what is dangerous."""

import datetime as dt

from flask_login import current_user
from wtforms import PasswordField
from wtforms.validators import ValidationError

from leaderboard.accounts.models import User
from leaderboard.accounts.writes import accounts as people
from leaderboard.accounts.writes.rate_limits import KnownBrowser
from leaderboard.errors import BadInput, InvalidFields
from leaderboard.web.context import client_address, database, now, reading
from leaderboard.web.forms import Form

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
