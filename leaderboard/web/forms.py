"""What all forms share: a refused form comes back filled in, with each error beside its field."""

import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from http import HTTPStatus
from typing import Any, ClassVar

from flask import flash, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_wtf import FlaskForm
from pydantic.fields import FieldInfo
from wtforms import BooleanField, Field, HiddenField, RadioField, StringField, TextAreaField
from wtforms.validators import DataRequired
from wtforms.widgets import DateTimeLocalInput

from leaderboard import errors
from leaderboard.audit.rules import short
from leaderboard.declared.inputs import MUST_STAY, Inputs, as_text, checked, choices_of, kinds_of, shown_of


class Form(FlaskForm):  # type: ignore[misc]  # Flask-WTF has no types
    """A form whose errors may also come from the service behind it."""

    class Meta:
        csrf = False  # security.csrf checks every POST before its view; the page carries the token

    form_errors: list[str]
    asked: tuple[str, ...] = ()  # what saving does at once, to be confirmed

    def text(self, name: str) -> str:
        """The field's text as it was sent; empty when nothing was."""
        data: str | None = self._fields[name].data
        return data or ""

    @contextmanager
    def checked_with(self) -> Iterator[errors.Gathered]:
        """Lets the service within check what can be used of a form that was validated: so that all is told at once.

        It stands inside the transaction: where either refused something, InvalidFields undoes what the service did. Of
        a field that the form refuses, what the service says is left out.
        """
        problems = errors.Gathered()
        with problems:
            yield problems
        if self.errors or problems.fields:
            raise errors.InvalidFields(
                {name: said for name, said in problems.fields.items() if name not in self.errors}
            )

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

    def checked(self, **more: Any) -> Any:
        """The same, and more that was, as the model's. Raises InvalidFields with everything that is wrong."""
        return checked(self.model, {**self.sent(), **more})

    @property
    def confirmed(self) -> bool:
        """Whether what saving does at once was listed and is meant so."""
        return bool(request.form.get("confirm"))


def fields_of(model: type[Inputs], *left_out: str) -> dict[str, Any]:
    """Unbound fields by name, in the model's order; those of changes with the defaults of the settings."""
    settings = getattr(model.__base__, "model_fields", {})
    return {
        name: _field(settings.get(name, field) if field.default is None else field)
        for name, field in model.model_fields.items()
        if name not in (*left_out, "confirm")
    }


def _field(field: FieldInfo) -> Any:
    kinds, shown = kinds_of(field.annotation), shown_of(field)
    must_be_filled = field.is_required() or MUST_STAY in field.metadata
    default = None if must_be_filled else as_text(field.get_default())
    of_field: dict[str, Any] = {"label": field.title or "", "description": field.description or "", "default": default}
    if bool in kinds:
        return BooleanField(**{**of_field, "default": bool(default)})
    if values := choices_of(kinds):
        words = shown.words or dict.fromkeys(values)
        choices = {str(as_text(value)): label or str(as_text(value)) for value, label in words.items()}
        return RadioField(**of_field, choices=choices, validate_choice=False)
    if default == "":
        of_field["label"] += " (optional)"
    if datetime in kinds:
        return StringField(**of_field, widget=DateTimeLocalInput(), render_kw={"class": "moment"})
    attributes: dict[str, Any] = {}
    if shown.short or int in kinds:
        attributes = {"inputmode": "numeric" if int in kinds else "decimal", "autocomplete": "off", "class": "short"}
    if shown.code:
        attributes["class"] = "code"
    if shown.lines > 1:
        attributes["rows"] = shown.lines
    if must_be_filled:
        attributes["required"] = True
    attributes |= shown.attributes or {}
    kind = TextAreaField if shown.lines > 1 else StringField
    return kind(**of_field, id=attributes.pop("id", None), render_kw=attributes)


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
    change: Callable[[], tuple[str, str]], page: Callable[[errors.LeaderboardError], ResponseReturnValue]
) -> ResponseReturnValue:
    """What the POST of a form answers: where it leads once the change is made, or the page with what was refused.

    change  makes the change in one transaction; what is said of it, and the address that follows. Raises what is wrong,
            or what has to be confirmed, and so undoes it
    """
    try:
        said, address = change()
    except errors.LeaderboardError as error:
        return page(error)
    flash(said)
    return redirect(address)


def done(change: Callable[[], object], said: str, address: str, back: str) -> ResponseReturnValue:
    """Where a button without a form leads: to `address` once the change is made, or back with what refused it."""
    try:
        change()
    except (errors.Conflict, errors.InvalidFields) as refused:
        flash(refused.message, "warning")
        return redirect(back)
    flash(said)
    return redirect(address)


def sent_on(said: str, endpoint: str, **where: Any) -> ResponseReturnValue:
    """Where a change that is made leads to, with what is said of it."""
    flash(said)
    return redirect(url_for(endpoint, **where))


def answered(
    form: Form, template: str, change: Callable[[], ResponseReturnValue], *, checks: bool = False, **context: Any
) -> ResponseReturnValue:
    """The page of a form; after a POST, what `change` answers, or the page again with what was refused.

    checks  whether `change` is asked though the form refuses something, for what the service finds
            (`Form.checked_with`)
    """
    error = None
    if form.is_submitted():
        try:
            if form.validate() or checks:
                return change()
        except (errors.BadInput, errors.TooManyAttempts, errors.Conflict) as refusal:
            error = refusal
    return form_page(template, form, error, **context)


def state_of(values: Mapping[str, Any]) -> str:
    """What a form notes of the settings that it shows."""
    return short({name: value for name, value in values.items() if value is not None})


def refuse_stale(form: Form, values: Mapping[str, Any]) -> None:
    """Raises Conflict where somebody changed the settings since the form was opened; sending it again replaces theirs.

    values  the settings as they are, locked until the transaction ends
    """
    shown, form["state"].data = form.text("state"), state_of(values)
    if shown and shown != form["state"].data:
        raise errors.Conflict(
            "Somebody changed these settings since you opened this page. Nothing is saved. Look at them in another "
            "window, or save again to put yours in their place."
        )


Required = DataRequired  # whether the value is valid is checked by the service


def form_page(
    template: str, form: Form, error: errors.LeaderboardError | None = None, **context: Any
) -> ResponseReturnValue:
    """The page of a form; after a POST, filled in as it was sent, with what is wrong and status 400 or the error's."""
    if isinstance(error, errors.Unconfirmed):
        form.asked = error.effects
        return render_template(template, form=form, **context)
    if error is not None:
        form.refuse(error.fields if isinstance(error, errors.InvalidFields) else {"": [error.message]})
    status = error.status if error else 400 if form.is_submitted() else 200
    g.refused = status >= HTTPStatus.BAD_REQUEST  # its title begins with "Error" then
    g.retry_seconds = error.retry_seconds if error else None
    return render_template(template, form=form, **context), status
