"""What all forms share: a refused form comes back filled in, with each error beside its field."""

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from flask import g, render_template
from flask.typing import ResponseReturnValue
from flask_wtf import FlaskForm
from wtforms import Field, FloatField
from wtforms.validators import ValidationError
from wtforms.widgets import DateTimeLocalInput, TextInput

from leaderboard.errors import InvalidFields, LeaderboardError
from leaderboard.numbers import read_number, read_whole
from leaderboard.web.errors import retry_after

__all__ = ["Form", "Given", "MomentField", "NumberField", "WholeField", "form_page", "options"]


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


class NumberField(FloatField):
    """A number, or None where nothing is written. A plain text input: one for numbers hides what was typed wrongly."""

    widget = TextInput()
    read = staticmethod(read_number)
    wrong = "give a number such as 0.5, or leave it empty"

    def process_formdata(self, valuelist: list[str]) -> None:
        text = valuelist[0].strip() if valuelist else ""
        self.data = None
        if text:
            try:
                self.data = self.read(text)
            except ValueError:
                raise ValueError(self.wrong) from None

    def _value(self) -> str:
        if self.raw_data:
            return str(self.raw_data[0])
        return "" if self.data is None else f"{self.data:.15g}"


class WholeField(NumberField):
    """A whole number, or None where nothing is written."""

    read = staticmethod(read_whole)
    wrong = "give a whole number, or leave it empty"


class MomentField(Field):
    """A day and a time of day by clocks of a zone that another field names; a naive datetime, or None for nothing."""

    widget = DateTimeLocalInput()
    WRITTEN = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2})?")

    def process_formdata(self, valuelist: list[str]) -> None:
        text = valuelist[0].strip() if valuelist else ""
        self.data = None
        if text:
            try:
                self.data = dt.datetime.fromisoformat(text if self.WRITTEN.fullmatch(text) else "")
            except ValueError:
                raise ValueError("give a day and a time, like 2026-09-30T18:00, or leave it empty") from None

    def _value(self) -> str:
        if self.raw_data:
            return str(self.raw_data[0])
        if self.data is None:
            return ""
        return str(self.data.isoformat(timespec="seconds" if self.data.second else "minutes"))


def options(*pairs: tuple[str, str]) -> Any:
    """The choices of a field, each with its label, as WTForms 3.3 wants them (its types are older)."""
    return dict(pairs)


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
