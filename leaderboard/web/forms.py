"""What all forms share: a refused form comes back filled in, with each error beside its field."""

import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, ClassVar

from flask import flash, g, redirect, render_template, request
from flask.typing import ResponseReturnValue
from flask_wtf import FlaskForm
from sqlalchemy.orm import Session
from wtforms import Field, FloatField, HiddenField
from wtforms.validators import ValidationError
from wtforms.widgets import TextInput

from leaderboard.audit.rules import short
from leaderboard.declared.forms import as_text, fields_of
from leaderboard.declared.inputs import Inputs
from leaderboard.errors import Conflict, Gathered, InvalidFields, LeaderboardError, Unconfirmed
from leaderboard.numbers import is_whole, read_number, read_whole, written
from leaderboard.web.context import writing
from leaderboard.web.errors import retry_after


class _OurWords:
    """What WTForms says by itself, in the words of this site."""

    OURS: ClassVar[Mapping[str, str]] = {"Not a valid choice.": "choose one"}

    def gettext(self, words: str) -> str:
        return self.OURS.get(words, words)

    def ngettext(self, one: str, many: str, number: int) -> str:
        return one if number == 1 else many


class Form(FlaskForm):  # type: ignore[misc]  # Flask-WTF has no types
    """A form whose errors may also come from the service behind it."""

    class Meta:
        csrf = False  # security.csrf checks every POST before its view; the page carries the token

        def get_translations(self, _: Any) -> _OurWords:
            """WTForms asks this for the words of its own messages."""
            return _OurWords()

    form_errors: list[str]
    asked: tuple[str, ...] = ()  # what saving does at once, to be confirmed
    made_from: ClassVar[Mapping[str, str]] = {}  # fields that are made from another one where they are left empty

    def text(self, name: str) -> str:
        """The field's text as it was sent; empty when nothing was."""
        data: str | None = self._fields[name].data
        return data or ""

    def validate(self, extra_validators: Any = None) -> bool:
        """Whether all can be used, as far as the form knows."""
        sound = super().validate(extra_validators)
        for field in self._fields.values():
            field.errors = list(dict.fromkeys(field.errors))
        return bool(sound)

    def usable(self, name: str) -> Any:
        """What the field gives the service: what was sent, or its default where the form refuses that."""
        field: Field = self._fields[name]
        return field.default if field.errors else field.data

    @contextmanager
    def checked_with(self, found: Gathered | None = None) -> Iterator[None]:
        """Checks the form, then lets the service within check what can be used of it: so that all is told at once.

        found  what was refused before already, such as a proof that had to be looked at outside the transaction

        It stands inside the transaction: where either refused something, InvalidFields undoes what the service did. Of
        a field that the form refuses, what the service says is left out: it was given a stand-in. So is what it says of
        one that was left empty, to be made from a field that is wrong.
        """
        sound = self.validate()
        refused = {name for name, field in self._fields.items() if field.errors}
        found = found or Gathered()
        with found:
            yield
        wrong = refused | found.fields.keys()
        empty = (name for name in self.made_from if name in self._fields and not self.text(name))
        known = refused | {name for name in empty if self.made_from[name] in wrong}
        if wrong or not sound:  # what belongs to no field of the form makes it unsound too
            raise InvalidFields({name: said for name, said in found.fields.items() if name not in known})

    def refuse(self, fields: Mapping[str, Sequence[str]]) -> None:
        """Puts each message beside its field; what belongs to none stands above the form."""
        for name, messages in fields.items():
            if name in self._fields:
                field: Field = self._fields[name]
                field.errors = [*field.errors, *messages]
            else:
                self.form_errors = [*self.form_errors, *messages]


class Declared(Form):
    """A form whose fields are made from a model of inputs: what was written is read by the model, in the write."""

    model: ClassVar[type[Inputs]]
    state = HiddenField()  # what `state_of` noted when it was opened

    def sent(self) -> dict[str, Any]:
        """What was sent, by setting."""
        return {name: field.data for name, field in self._fields.items() if name in self.model.model_fields}

    @property
    def confirmed(self) -> bool:
        """Whether what saving does at once was listed and is meant so."""
        return bool(request.form.get("confirm"))


def declared(model: type[Inputs], *left_out: str) -> type[Declared]:
    """The form of a model, without some of its fields."""
    made: type[Declared] = types.new_class(
        model.__name__, (Declared,), exec_body=lambda body: body.update(fields_of(model, *left_out), model=model)
    )
    return made


def filled(form: type[Declared], values: Mapping[str, Any]) -> Declared:
    """The form with these values, unless others were sent."""
    return form(data={name: as_text(value) for name, value in values.items()})


def saved(
    change: Callable[[Session], tuple[str, str]], page: Callable[[LeaderboardError], ResponseReturnValue]
) -> ResponseReturnValue:
    """What the POST of a form answers: where it leads once the change is made, or the page with what was refused.

    change  makes the change in one transaction; what is said of it, and the address that follows. Raises what is wrong,
            or what has to be confirmed, and so undoes it
    """
    try:
        with writing() as session:
            said, address = change(session)
    except LeaderboardError as error:
        return page(error)
    flash(said)
    return redirect(address)


def state_of(values: Mapping[str, Any]) -> str:
    """What a form notes of the settings that it shows."""
    return short({name: value for name, value in values.items() if value is not None})


def refuse_stale(form: Form, values: Mapping[str, Any]) -> None:
    """Raises Conflict where somebody changed the settings since the form was opened; sending it again replaces theirs.

    values  the settings as they are, locked until the transaction ends
    """
    shown, form["state"].data = form.text("state"), state_of(values)
    if shown and shown != form["state"].data:
        raise Conflict(
            "Somebody changed these settings since you opened this page. Nothing is saved. Look at them in another "
            "window, or save again to put yours in their place."
        )


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
                raise ValueError(self.problem(text)) from None

    def problem(self, _: str) -> str:
        """What is wrong with a text that can't be read."""
        return self.wrong

    def _value(self) -> str:
        if self.raw_data:
            return str(self.raw_data[0])
        return "" if self.data is None else written(self.data)


class WholeField(NumberField):
    """A whole number, or None where nothing is written."""

    read = staticmethod(read_whole)
    wrong = "give a whole number, or leave it empty"

    def problem(self, text: str) -> str:
        """One that is a whole number has too many digits."""
        return "give a whole number of at most 18 digits, or leave it empty" if is_whole(text) else self.wrong


def options(*pairs: tuple[str, str]) -> Any:
    """The choices of a field, each with its label, as WTForms 3.3 wants them (its types are older)."""
    return dict(pairs)


def form_page(template: str, form: Form, error: LeaderboardError | None = None, **context: Any) -> ResponseReturnValue:
    """The page of a form; after a POST, filled in as it was sent, with what is wrong and status 400 or the error's."""
    if isinstance(error, Unconfirmed):
        form.asked = error.effects
        return render_template(template, form=form, **context)
    if isinstance(error, InvalidFields):
        form.refuse(error.fields)
    elif error is not None:
        form.refuse({"": [error.message]})
    status = error.status if error else 400 if form.is_submitted() else 200
    g.refused = status >= HTTPStatus.BAD_REQUEST  # its title begins with "Error" then
    headers = retry_after(error.retry_seconds if error else None)
    return render_template(template, form=form, **context), status, headers
