"""The fields of a form, made from the model of what it asks: labels, hints, choices and defaults stand there alone.

A field holds the text that was written; the model reads it, and says what is wrong.
"""

import datetime as dt
import typing
from enum import Enum
from typing import Any

from pydantic.fields import FieldInfo
from wtforms import BooleanField, Field, RadioField, StringField, TextAreaField
from wtforms.widgets import DateTimeLocalInput

from leaderboard.declared.inputs import Inputs, is_required, kinds_of, shown_of


class MomentField(StringField):
    """A day and a time of day by clocks of a zone that another field names."""

    widget = DateTimeLocalInput()


def fields_of(model: type[Inputs], *left_out: str) -> dict[str, Any]:
    """Unbound fields by name, in the model's order."""
    return {name: _field(field) for name, field in model.model_fields.items() if name not in (*left_out, "confirm")}


def as_text(value: Any) -> Any:
    """A value as its field shows it."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dt.datetime):
        return value.isoformat(timespec="seconds" if value.second else "minutes")
    if isinstance(value, list | tuple):  # words, or lines of several
        return " ".join(value) if all(isinstance(part, str) for part in value) else "\n".join(map(" ".join, value))
    if value is None or isinstance(value, bool | str):
        return value if value is not None else ""
    return str(value) if isinstance(value, int) else repr(value).removesuffix(".0")


def _field(field: FieldInfo) -> Any:
    kinds, shown = kinds_of(field.annotation), shown_of(field)
    label, hint = field.title or "", field.description or ""
    default = None if is_required(field) else as_text(field.get_default())
    choices = _choices(kinds, shown.words)
    if bool in kinds:
        return BooleanField(label, description=hint, default=bool(default))
    if choices is not None:
        return RadioField(label, description=hint, default=default, choices=choices, validate_choice=False)
    if default == "":
        label = f"{label} (optional)"
    if dt.datetime in kinds:
        return MomentField(label, description=hint, render_kw={"class": "moment"})
    narrow = shown.short or int in kinds
    classes = {"class": "code" if shown.code else "short"} if shown.code or narrow else {}
    numbers = {"inputmode": "numeric" if int in kinds else "decimal", "autocomplete": "off"} if narrow else {}
    kind: type[Field] = TextAreaField if shown.lines > 1 else StringField
    rows = {"rows": shown.lines} if shown.lines > 1 else {}
    required = {"required": True} if is_required(field) else {}
    attributes = {**classes, **numbers, **rows, **required, **(shown.attributes or {})}
    return kind(label, description=hint, default=default, render_kw=attributes)


def _choices(kinds: tuple[Any, ...], words: Any) -> dict[str, str] | None:
    """Value -> label of a setting that is one of several; None of any other."""
    for kind in kinds:
        if isinstance(kind, type) and issubclass(kind, Enum):
            return {str(each.value): (words or {}).get(each, str(each.value)) for each in words or kind}
        if typing.get_origin(kind) is typing.Literal:
            return {str(each): (words or {}).get(each, str(each)) for each in words or typing.get_args(kind)}
    return None
