"""Reads a form with a file so that the file goes straight to the run store, never whole into memory or a second place.

The framework's own way writes the file to a temporary folder first. Here the parts are taken as they arrive: the text
fields, which the page puts first, then the file, of which the store reads piece by piece. It keeps the file once the
whole form was read: one that is cut off, too long or broken anywhere, behind the file too, leaves nothing behind.
"""

import datetime as dt
import io
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from flask import request
from flask_wtf.csrf import CSRFError, validate_csrf
from itsdangerous import BadData, URLSafeTimedSerializer
from werkzeug.datastructures import MultiDict
from werkzeug.http import parse_options_header
from werkzeug.sansio.multipart import Data, Epilogue, Event, Field, File, MultipartDecoder, NeedData
from wtforms import ValidationError

from leaderboard.errors import BadInput, InvalidFields, LeaderboardError, TooLarge, file_of
from leaderboard.numbers import size
from leaderboard.rules.run_checks import Looked, look_at
from leaderboard.store import Received, plain_filename
from leaderboard.web.context import actor, clock, config, store
from leaderboard.web.intake import mend, refuse_field, require_text
from leaderboard.web.organised_files import limits

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["AGAIN", "Posted", "keep", "kept", "look", "read_files", "receive"]

PIECE = 2**18  # bytes read at once
FIELD_BYTES = 2**20  # all text fields together
FIELDS_LEFT = 2**16  # of these, for the fields behind one that is too long
PARTS = 50
PATIENCE = 4  # times the cap
KEPT_SECONDS = 12 * 3600  # the store sweeps files that no submission names after a day
NOT_TAKEN = "the file was not taken in, because of what is wrong above: choose it again"
AGAIN = "the file was not taken in, because of what else is wrong: choose the file again"
BROKEN = "the upload was cut off before its end; send it again"
TOO_LONG = "this is too long: all texts of a form together may have 1 MiB. What stands here is only its beginning"


@dataclass(frozen=True, slots=True)
class Posted:
    """The form's fields, and the file: received, or refused with the reason in words; neither when none was sent.

    beside       small files that were sent with it, by field
    received_at  when the last byte of the form had come
    refusal      why no file was taken in: what follows the fields was not even read then
    """

    fields: MultiDict[str, str]
    upload: Received | None
    refused: str | None
    received_at: dt.datetime
    refusal: LeaderboardError | None = None
    beside: Mapping[str, bytes] = field(default_factory=dict)


def look(file_field: str, most: int) -> tuple[MultiDict[str, str], Looked | None]:
    """Reads this request's form and keeps nothing: its fields, and the first `most` bytes of its file's text.

    None for the file where none was sent. Raises as `receive` does, but for caps on the file.
    """
    fields: MultiDict[str, str] = MultiDict()
    texts = _Texts(fields)
    looked: Looked | None = None
    events = _form_events([file_field])
    for event in events:
        if isinstance(event, Field):
            texts.take(event.name or "", events)
        elif isinstance(event, File):
            _require_own_form(fields)
            file = PartReader(events)
            if event.filename and event.name == file_field and looked is None:
                looked = look_at(file, plain_filename(event.filename), most, store().caps.text_bytes)
            file.drain()
    _require_own_form(fields)
    return fields, looked


def read_files(
    readers: Mapping[str, Callable[..., Any]], known: Collection[str] = ()
) -> tuple[MultiDict[str, str], dict[str, Any]]:
    """Reads the form of a program, whose files are read as they arrive and not kept: its fields, and what became of
    each file by the reader of its field.

    known  the other fields that it may have

    Raises InvalidFields for a field that there is not, BadInput for a broken form, and what the readers raise.
    """
    fields: MultiDict[str, str] = MultiDict()
    texts = _Texts(fields, cut=False)
    found: dict[str, Any] = {}
    events = _form_events(readers)
    for event in events:
        name = getattr(event, "name", None) or ""
        if isinstance(event, File) and event.filename and name in readers and name not in found:
            file = PartReader(events)
            with file_of(name):
                found[name] = readers[name](file, name=plain_filename(event.filename), limits=limits())
            file.drain()
        elif isinstance(event, Field) and name in known and name not in fields:
            texts.take(name, events)
        elif isinstance(event, Field | File):
            raise _not_taken(name, {*fields, *found}, readers, known)
    require_text(fields)
    return fields, found


def receive(
    file_field: str,
    admit: Callable[[MultiDict[str, str]], None],
    small: Mapping[str, int] | None = None,
    check: Callable[[MultiDict[str, str]], None] | None = None,
    inspect: Callable[["Posted", Received, Path], None] | None = None,
) -> Posted:
    """Reads this request's form. The view must be exempt from the general token check, which would read it first.

    admit  is given the fields that come before the first file and raises a LeaderboardError where no file is to be
           taken in; the server then discards what is still being sent
    small  other fields with files, and how many bytes of each are read, into memory; one more says that there are more
    check  what the fields must be, before any file is taken: the site's own form's, unless told otherwise
    inspect  is given the form, what the file is and where it lies, before it is kept: where it raises, it is not

    A file over the caps is read to its end all the same: a browser that is cut off while it sends never shows the
    answer. Raises CSRFError before any byte of the file is kept, BadInput when the form is broken or cut off,
    InvalidFields for a second file of a field and for one of no field, and TooLarge at several times the cap; no file
    is kept then.
    """
    with ExitStack() as until_read:
        posted, path = _read(
            _form_events([file_field]), file_field, admit, check or _require_own_form, until_read, small or {}
        )
        if inspect is not None and posted.upload is not None and path is not None:
            inspect(posted, posted.upload, path)
        return posted


def _form_events(files: Iterable[str]) -> Iterator[Event]:
    """The parts of this request's form. Raises TooLarge before anything is read, and BadInput for what is no form,
    which says how one is sent with the first of its files.
    """
    cap = config().upload_bytes
    request.max_content_length = PATIENCE * cap
    if (request.content_length or 0) > PATIENCE * cap:
        raise TooLarge(
            f"What you sent has {size(request.content_length or 0)}, so much that it was not read: a file may have at "
            f"most {size(cap)}. Choose a smaller one, or pack it with gzip, and send the form again."
        )
    _, options = parse_options_header(request.headers.get("Content-Type", ""))
    boundary = options.get("boundary", "")
    if request.mimetype != "multipart/form-data" or not boundary:
        raise BadInput(f"Send a form (multipart/form-data){_example(list(files))}.")
    return _events(request.stream, boundary.encode())


def _example(files: Sequence[str]) -> str:
    """How a program sends a form with these files."""
    if not any(files):
        return ""
    further = f"; its other files are: {', '.join(files[1:])}" if files[1:] else ""
    return f", its file as {files[0]} and other fields before it, such as by curl -F {files[0]}=@FILE{further}"


def keep(upload: Received | None) -> str:
    """A proof, for a hidden field, that the reader has sent this file: a form that comes back need not send it anew."""
    return _signer().dumps({"user": actor().user_id, **asdict(upload)}) if upload else ""


def kept(proof: str) -> Received | None:
    """The file behind a proof of this reader; None without a good one."""
    if not proof:
        return None
    try:
        given = _signer().loads(proof, max_age=KEPT_SECONDS)
    except BadData:
        return None
    return Received(**given) if given.pop("user") == actor().user_id else None


def _signer() -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(config().secret_key, salt="an upload that was received")


def _read(
    events: Iterator[Event],
    file_field: str,
    admit: Callable[[MultiDict[str, str]], None],
    check: Callable[[MultiDict[str, str]], None],
    until_read: ExitStack,
    small: Mapping[str, int],
) -> tuple[Posted, Path | None]:
    """The whole form, and where its file lies; `until_read` keeps it when it is closed without an error."""
    fields: MultiDict[str, str] = MultiDict()
    texts = _Texts(fields, cut=check is _require_own_form)
    upload: Received | None = None
    path: Path | None = None
    refused: str | None = None
    beside: dict[str, bytes] = {}
    strange: InvalidFields | None = None
    came: set[str] = set()
    checked = False
    refusal: LeaderboardError | None = None
    for event in events:
        if isinstance(event, Field):
            texts.take(event.name or "", events)
        elif isinstance(event, File):
            if not checked:
                check(fields)
                checked = True
                refusal = _refusal(admit, fields)
            if refusal is not None and (event.filename or not isinstance(refusal, InvalidFields)):
                refused = NOT_TAKEN if event.filename and event.name == file_field else None
                return Posted(fields, None, refused, clock(), refusal), None
            file = PartReader(events)
            if event.filename and (event.name in came or event.name not in {file_field, *small}):
                strange = strange or _not_taken(event.name or "", came, (*small, file_field))
            elif event.filename and event.name == file_field:
                upload, path, refused = _into_store(file, event.filename, until_read)
            elif event.filename and event.name in small:
                beside[event.name] = io.BufferedReader(file).read(small[event.name] + 1)
            came |= {event.name or ""} if event.filename else set()
            file.drain()
    if strange is not None:
        raise strange
    check(fields)  # those behind the file too
    return Posted(fields, upload, refused, clock(), refusal, beside), path


def _into_store(
    file: "PartReader", filename: str, until_read: ExitStack
) -> tuple[Received | None, Path | None, str | None]:
    """The file as it was received and where it lies, or why it is refused."""
    try:
        return *until_read.enter_context(store().receiving(file, filename)), None
    except TooLarge as error:
        return None, None, error.message


def _not_taken(name: str, came: Collection[str], files: Iterable[str], fields: Collection[str] = ()) -> InvalidFields:
    """Refuses a part of a form that there is not, or that came already."""
    known = f"known are: {', '.join(fields)}, and as files" if fields else "known are, as files"
    words = f"is not known here; {known}: {', '.join(files)}"
    return InvalidFields({name: ["is given twice" if name in came else words]})


def _refusal(admit: Callable[[MultiDict[str, str]], None], fields: MultiDict[str, str]) -> LeaderboardError | None:
    try:
        admit(fields)
    except LeaderboardError as refusal:
        return refusal
    return None


class PartReader(io.RawIOBase):
    """The body of one part, read piece by piece."""

    def __init__(self, events: Iterator[Event]) -> None:
        self._events = events
        self._piece = b""
        self._more = True

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        while not self._piece and self._more:
            self._advance()
        view = memoryview(buffer).cast("B")
        length = min(len(view), len(self._piece))
        view[:length] = self._piece[:length]
        self._piece = self._piece[length:]
        return length

    def drain(self) -> None:
        """Reads and drops the rest of the part."""
        self._piece = b""
        while self._more:
            self._advance()
            self._piece = b""

    def _advance(self) -> None:
        event = next(self._events)
        if not isinstance(event, Data):
            raise BadInput(BROKEN)
        self._piece, self._more = event.data, event.more_data


def _events(stream: IO[bytes], boundary: bytes) -> Iterator[Event]:
    """The parts in the order in which they arrive."""
    decoder = MultipartDecoder(boundary, max_form_memory_size=FIELD_BYTES, max_parts=PARTS)
    while True:
        try:
            event = decoder.next_event()
        except ValueError:
            raise BadInput(BROKEN) from None
        if isinstance(event, NeedData):
            decoder.receive_data(stream.read(PIECE) or None)
        elif isinstance(event, Epilogue):
            return
        else:
            yield event


class _Texts:
    """Takes text fields as they arrive. cut: one beyond what all may have is refused, and its beginning comes back;
    otherwise it raises TooLarge.
    """

    def __init__(self, fields: MultiDict[str, str], *, cut: bool = True) -> None:
        self._fields = fields
        self._cut = cut
        self._left = FIELD_BYTES

    def take(self, name: str, events: Iterator[Event]) -> None:
        part = PartReader(events)
        text = io.BufferedReader(part).read(self._left + 1)
        if len(text) > self._left:
            if not self._cut:
                raise TooLarge("A field of the form is too long: all of them together may have 1 MiB.")
            part.drain()
            text = text[: max(self._left - FIELDS_LEFT, 0)]
            refuse_field(name, TOO_LONG)
        self._left -= len(text)
        self._fields.add(name, text.decode("utf-8", "replace"))


def _require_own_form(fields: MultiDict[str, str]) -> None:
    """That they are the site's own form's. What of them is no text is mended, and refused beside its field."""
    try:
        validate_csrf(fields.get("csrf_token"))
    except ValidationError as error:
        raise CSRFError(str(error)) from error
    mend(fields)
