"""One declaration for all that is given: each setting, option and field of a body is one `setting` of a model.

    class TeamSettings(Inputs):
        name: Line = setting("Name", "As boards show it.")
        seats: Whole | None = setting("Seats", "Left empty, there is no limit.", default=None, ge=1)

From it are made the fields of forms (`web.forms`), the options of commands (`declared.commands`), bodies and
schemas of the API, and the tables in docs. `checked` tells all that is wrong at once.
"""

import inspect
import types
import typing
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import Enum
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    model_validator as _model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, PydanticUndefined

from leaderboard import names, numbers, texts
from leaderboard.errors import BadInput, InvalidFields
from leaderboard.frozen import frozen

LONGEST_LINE = 120  # characters
# What the tables hold, with room for the grace and for any time zone.
FIRST_DAY, LAST_DAY = datetime(1901, 1, 1, tzinfo=UTC), datetime(9998, 1, 1, tzinfo=UTC)
GREATEST = 10**9  # more than anybody means, and what both databases can hold


@frozen
class Shown:
    """How forms and commands show a setting.

    option  its option on the command line, where that is not made of its name; "" for none
    words   of each value of a choice
    lines   of a text that may have several
    code    set in a fixed width; short: a narrow field
    is_file the option names a file that holds the text
    attributes  further ones of the field of a form
    """

    option: str | None = None
    words: Mapping[Any, str] | None = None
    lines: int = 1
    code: bool = False
    short: bool = False
    is_file: bool = False
    attributes: Mapping[str, str] | None = None


ADDRESS = Shown(attributes={"autocomplete": "off", "autocapitalize": "none"})


def setting(
    label: str,
    help: str = "",  # noqa: A002  # what every parser of options calls it
    *,
    default: Any = PydanticUndefined,
    shown: Shown | None = None,
    **bounds: Any,
) -> Any:
    """A field of a model. bounds: pydantic's own, such as ge, le and max_length."""
    field = Field(default, title=label, description=help or None, **bounds)
    field.metadata.append(shown or Shown())
    return field


class Inputs(BaseModel):
    """What is given at once. An empty text stands for none where something else than a text is asked."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @_model_validator(mode="before")
    @classmethod
    def _leave_empty_out(cls, values: Any, info: ValidationInfo) -> Any:
        if info.mode != "python" or not isinstance(values, Mapping):
            return values
        read = dict(values)
        for name, field in cls.model_fields.items():
            kinds, value = kinds_of(field.annotation), values.get(name)
            if isinstance(value, str) and not value.strip() and str not in kinds:
                del read[name]
                if types.NoneType in kinds:
                    read[name] = None
        return read

    def given(self) -> dict[str, Any]:
        """What was given, by name, but for whether it is confirmed: the rest stays as it is."""
        return {name: value for name, value in self if name in self.model_fields_set - {"confirm"}}


Model = TypeVar("Model", bound=Inputs)


MUST_STAY = "not to be emptied"  # metadata of a setting that changes may leave out and forms may not


def changes_of(model: type[Model]) -> type[Model]:
    """Decorates a model derived from one of settings: what it inherits may all be left out, and stays then."""
    own = inspect.get_annotations(model)
    for name, field in model.model_fields.items():
        if name not in own:
            if field.is_required():
                field.metadata.append(MUST_STAY)
            field.default, field.validate_default = None, False
    model.model_config["json_schema_extra"] = _without_defaults
    model.model_rebuild(force=True)
    return model


def is_of_changes(model: type[Inputs]) -> bool:
    """Whether `changes_of` made it: it says nothing where all of it is left out."""
    return model.model_config.get("json_schema_extra") is _without_defaults


def _without_defaults(schema: dict[str, Any]) -> None:
    for field in schema.get("properties", {}).values():
        field.pop("default", None)


def shown_of(field: FieldInfo) -> Shown:
    """How a setting is shown."""
    return next((part for part in field.metadata if isinstance(part, Shown)), Shown())


def kinds_of(annotation: Any) -> tuple[Any, ...]:
    """The types that a setting may have: `(int, NoneType)` of `Annotated[int, …] | None`."""
    if typing.get_origin(annotation) is Annotated:
        return kinds_of(typing.get_args(annotation)[0])
    if typing.get_origin(annotation) in (types.UnionType, typing.Union):
        return tuple(kind for part in typing.get_args(annotation) for kind in kinds_of(part))
    return (annotation,)


def choices_of(kinds: tuple[Any, ...]) -> tuple[Any, ...]:
    """The values of a setting that is one of several; none of any other."""
    for kind in kinds:
        if isinstance(kind, type) and issubclass(kind, Enum):
            return tuple(kind)
        if typing.get_origin(kind) is typing.Literal:
            return typing.get_args(kind)
    return ()


def checked(model: type[Model], values: Mapping[str, Any], **context: Any) -> Model:
    """The values as the model's, texts as numbers and moments. context: what its checks need to know.

    Raises InvalidFields with everything that is wrong, by the names of the settings.
    """
    try:
        return model.model_validate(values, context=context)
    except ValidationError as error:
        raise InvalidFields(problems_of(error, model)) from None


def checked_partly(model: type[Model], values: Mapping[str, Any]) -> tuple[Model, dict[str, list[str]]]:
    """What of the values can be used, and what is wrong with the others, in whose place the defaults stand."""
    try:
        return checked(model, values), {}
    except InvalidFields as error:
        usable = {name: value for name, value in values.items() if name not in error.fields}
        return checked(model, usable), {**error.fields}


def checked_json(model: type[Model], content: bytes) -> Model:
    """The same of JSON, in which a number is a number and no text."""
    try:
        return model.model_validate_json(content, strict=True)
    except ValidationError as error:
        if error.errors(include_url=False)[0]["type"] == "json_invalid":
            raise BadInput("The body is no JSON that can be read here.") from None
        raise InvalidFields(problems_of(error, model)) from None


def problems_of(error: ValidationError, model: type[BaseModel]) -> dict[str, list[str]]:
    """What is wrong, by field, in the same words wherever it was given."""
    problems: dict[str, list[str]] = {}
    for each in error.errors(include_url=False):
        name, *within = each["loc"] or ("",)
        cause = each.get("ctx", {}).get("error")
        if isinstance(cause, ValueError) and isinstance(cause.args[0], InvalidFields):  # it is about several fields
            problems |= cause.args[0].fields
            continue
        words = words_of(each)
        if each["type"] == "extra_forbidden":
            words = f"is not known here; known are: {', '.join(sorted(model.model_fields)) or 'none'}"
        number = next((f"{part + 1}: " for part in within if isinstance(part, int)), "")  # of a list
        problems.setdefault(str(name), []).extend(f"{number}{line}" for line in words.splitlines())
    return {name: list(dict.fromkeys(words)) for name, words in problems.items()}


def words_of(problem: ErrorDetails) -> str:
    """What pydantic finds wrong, in words."""
    context = problem.get("ctx", {})
    if "expected" in context:
        return f"choose one of: {context['expected'].replace(' or ', ', ').replace(chr(39), '')}"
    return WORDS.get(problem["type"], problem["msg"]).format_map(context)


WORDS = {
    "missing": "is missing",
    "extra_forbidden": "there is no such setting",
    "value_error": "{error}",
    "string_pattern_mismatch": "expected the form {pattern}",
    **dict.fromkeys(
        ("int_type", "int_parsing", "int_from_float", "int_parsing_size"), "give a whole number of at most 18 digits"
    ),
    **dict.fromkeys(("float_type", "float_parsing", "finite_number"), "give a number such as 0.5"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "say true or false"),
    **dict.fromkeys(("string_type", "string_unicode"), "give a text"),
    **dict.fromkeys(("list_type", "tuple_type"), "give a list"),
    **dict.fromkeys(("datetime_type", "datetime_parsing"), "give a day, or a day and a time like 2026-09-30T18:00"),
    "greater_than_equal": "give a number of at least {ge:,}",
    "greater_than": "give a number above {gt:,}",
    "less_than_equal": "give a number of at most {le:,}",
    "less_than": "give a number below {lt:,}",
    "string_too_short": "is missing",
    "too_short": "is missing",
    "string_too_long": "use at most {max_length:,} characters",
    "too_long": "give at most {max_length:,}",
}


def read_by(read: Callable[[str], Any], words: str, *, json_too: bool = False) -> Any:
    """The validator that reads a text, in JSON only with `json_too`. words: what is said of one that can't be read."""

    def validate(value: Any, info: ValidationInfo) -> Any:
        if not isinstance(value, str) or (info.mode == "json" and not json_too):
            return value
        try:
            return read(value.strip())
        except ValueError:
            raise ValueError(words.format(value.strip())) from None

    return BeforeValidator(validate)


def _in_range(moment: datetime) -> datetime:
    known = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    if not FIRST_DAY <= known < LAST_DAY:
        raise ValueError(f"give a date from {FIRST_DAY.year} to {LAST_DAY.year - 1}")
    return moment


def text_of(longest: int, tidied: Callable[[str], str] = str.strip) -> Any:
    """The validator of a text of at most so many characters, without blanks around it."""

    def check(text: str) -> str:
        if problem := texts.text_problem(text, longest):
            raise ValueError(problem)
        return tidied(text)

    return AfterValidator(check)


def line_of(longest: int) -> Any:
    """The validator of a text of one line of at most so many characters."""
    return text_of(longest, lambda text: " ".join(text.split()))


def needed(text: str) -> str:
    """Refuses an empty text."""
    if not text.strip():
        raise ValueError("is missing")
    return text


def _address(text: str) -> str:
    try:
        return text and names.checked_slug(text.strip())
    except InvalidFields as wrong:
        raise ValueError(wrong) from None


Slug = Annotated[str, AfterValidator(_address)]  # a part of an address; empty, it is made
WHOLE = read_by(numbers.read_whole, WORDS["int_type"])
RATIO = read_by(numbers.read_ratio, "{!r} is no finite number; give one such as 0.5 or 1/600")
MOMENT = read_by(datetime.fromisoformat, WORDS["datetime_type"], json_too=True)
Line = Annotated[str, line_of(LONGEST_LINE)]  # a text of one line
Name = Annotated[Line, AfterValidator(needed)]  # one that must not be empty
Whole = Annotated[int, WHOLE]
Number = Annotated[float, read_by(numbers.read_number, WORDS["float_type"])]
Ratio = Annotated[float, RATIO]  # also as one number divided by another
IN_ZONE = (
    "With an offset, such as 2027-05-01T12:00:00Z or …+02:00; without one it is what clocks show in the evaluation's "
    "time zone."
)
Moment = Annotated[datetime, MOMENT, AfterValidator(_in_range), Field(description=IN_ZONE)]
Confirm = Annotated[bool, Field(description="To what it does at once, which a refusal without it lists.")]


def defaults_of(model: type[Inputs]) -> dict[str, Any]:
    """What holds where a setting is left out, by name."""
    return {name: field.default for name, field in model.model_fields.items() if not field.is_required()}


def as_text(value: Any) -> Any:
    """A value as its field shows it."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds" if value.second else "minutes")
    if isinstance(value, list | tuple):  # words, or lines of several
        return " ".join(value) if all(isinstance(part, str) for part in value) else "\n".join(map(" ".join, value))
    if value is None or isinstance(value, bool | str):
        return value if value is not None else ""
    return str(value) if isinstance(value, int) else repr(value).removesuffix(".0")
