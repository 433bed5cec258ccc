"""What all forms share: a refused form comes back filled in, with each error beside its field."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from flask import g, render_template
from flask.typing import ResponseReturnValue
from flask_wtf import FlaskForm
from wtforms import Field
from wtforms.validators import ValidationError

from leaderboard.errors import InvalidFields, LeaderboardError
from leaderboard.web.errors import retry_after

__all__ = ["Form", "Given", "form_page"]


class Form(FlaskForm):  # type: ignore[misc]  # Flask-WTF has no types
    """A form whose errors may also come from the service behind it."""

    class Meta:
        csrf = False  # security.csrf checks every POST before its view; the page carries the token

    form_errors: list[str]

    def text(self, name: str) -> str:
        """The field's text as it was sent; empty when nothing was."""
        data: str | None = self._fields[name].data
        return data or ""

    def refuse(self, fields: Mapping[str, Sequence[str]]) -> None:
        """Puts each message beside its field; what belongs to none stands above the form."""
        for name, messages in fields.items():
            if name in self._fields:
                field: Field = self._fields[name]
                field.errors = [*field.errors, *messages]
            else:
                self.form_errors = [*self.form_errors, *messages]


class Given:
    """The field must be filled in. Whether its value is valid is checked by the service."""

    field_flags = {"required": True}  # noqa: RUF012  # WTForms reads it from the class

    def __init__(self, message: str) -> None:
        self.message = message

    def __call__(self, _: Any, field: Field) -> None:
        if not field.data or (isinstance(field.data, str) and not field.data.strip()):
            raise ValidationError(self.message)


def form_page(template: str, form: Form, error: LeaderboardError | None = None, **context: Any) -> ResponseReturnValue:
    """The page of a form; after a POST, filled in as it was sent, with what is wrong and status 400 or the error's."""
    if isinstance(error, InvalidFields):
        form.refuse(error.fields)
    elif error is not None:
        form.refuse({"": [error.message]})
    status = error.status if error else 400 if form.is_submitted() else 200
    g.refused = status >= HTTPStatus.BAD_REQUEST  # its title begins with "Error" then
    headers = retry_after(error.retry_seconds if error else None)
    return render_template(template, form=form, **context), status, headers
