"""Reads a form with files while it arrives: each file goes straight to the run store, and is kept only once the whole
form was read. One that is cut off, too long or broken anywhere leaves nothing behind.
"""

import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from flask import request
from flask_wtf.csrf import CSRFError, validate_csrf
from itsdangerous import BadData
from werkzeug.datastructures import MultiDict
from werkzeug.http import parse_options_header
from werkzeug.sansio.multipart import Epilogue, Field, File, MultipartDecoder, NeedData, Preamble
from wtforms import ValidationError

from leaderboard.errors import BadInput, InvalidFields, LeaderboardError, TooLarge, TooManyAttempts, file_of
from leaderboard.formats import SIDE_BYTES
from leaderboard.frozen import frozen
from leaderboard.numbers import size
from leaderboard.store import Arriving, Received, file_system
from leaderboard.web.context import actor, clock, config, signer, store
from leaderboard.web.organise import limits
from leaderboard.web.security import require_text

PIECE = 2**18  # bytes read at once
FIELD_BYTES = 2**20  # all text fields together
PARTS = 50
PATIENCE = 4  # times the cap: a browser that is cut off while it sends never shows the answer
SALT = "an upload that was received"
KEPT_SECONDS = 12 * 3600  # the store sweeps files that no submission names after a day
NOT_TAKEN = "the file was not taken in, because of what is wrong above: choose it again"
BROKEN = "the upload was cut off before its end; send it again"

Fields = MultiDict[str, str]
Admit = Callable[[Fields], Callable[[], None] | None]
T = TypeVar("T")


@frozen
class Posted:
    """The form's fields, and the file: received, or refused with the reason in words; neither when none was sent.

    beside       the beginning of a small file that was sent with it
    received_at  when the last byte of the form had come
    refusal      why no file was taken in: what follows the fields was not even read then
    """

    fields: Fields
    upload: Received | None
    refused: str | None
    received_at: datetime
    refusal: LeaderboardError | None = None
    beside: bytes | None = None


def receive(
    file_field: str,
    admit: Admit = lambda _: None,
    beside: str = "",
    check: Callable[[Fields], None] | None = None,
    settle: Callable[[Posted, Received, Path], None] | None = None,
) -> Posted:
    """Reads this request's form. The view must be exempt from the general token check, which would read it first.

    admit  is given the fields that come before the first file and raises a LeaderboardError where no file is to be
           taken in; the server then discards what is still being sent. It may give what is to be called with each
           piece of a file
    beside  another field with a file, of which SIDE_BYTES are read, and one more that says that there are more
    check  what the fields must be, before any file is taken: the site's own form's, unless told otherwise
    settle  in place of keeping the file: is given the form, what the file is and where it lies

    Raises CSRFError before any byte of a file is written, BadInput when the form is broken or cut off, InvalidFields
    for a second file of a field and for one of no field, and TooLarge at several times the cap; no file is kept then.
    """
    names = [file_field, *filter(None, [beside])]
    with _read(names, check or _require_own_form, admit) as (fields, files, refusal):
        if refusal is not None:
            return Posted(fields, None, NOT_TAKEN, clock(), refusal)
        received_at, upload, refused, file = clock(), None, None, files.get(file_field)
        try:
            upload = file.received() if file else None
        except TooLarge as error:
            refused = error.message
        content = None
        if beside in files:
            with file_system(), files[beside].whole().open("rb") as source:
                content = source.read(SIDE_BYTES + 1)
        posted = Posted(fields, upload, refused, received_at, None, content)
        if file and upload and settle:
            settle(posted, upload, file.path)
        elif file and upload:
            store().prepare(file.path, upload)
            store().keep(file.path, upload)
        return posted


def look(
    see: Callable[[Fields, Path, str], T | None],
    check: Callable[[Fields], None] | None,
    admit: Admit,
    file_field: str = "run",
) -> tuple[Fields, T | None]:
    """Reads this request's form with a file and keeps nothing: its fields, and what `see` makes of them, the path and
    the name of the file; None where no file was sent.

    Raises as `receive` does, what `admit` raises, and TooLarge for a file over the cap.
    """
    with _read((file_field,), check or _require_own_form, admit) as (fields, files, refusal):
        if refusal is not None:
            raise refusal
        file = files.get(file_field)
        return fields, see(fields, file.whole(), file.filename) if file else None


# Each look at a file takes up to some hundred megabytes for a second: more at once would bound nobody's memory. Only so
# many of them wait, each with a thread.
AT_ONCE, WAITING = threading.BoundedSemaphore(2), threading.BoundedSemaphore(20)


@contextmanager
def turn() -> Iterator[None]:
    """Within it a file is looked at in another process. Raises TooManyAttempts while many wait."""
    if not WAITING.acquire(blocking=False):
        raise TooManyAttempts("Many files are being checked at this moment; try again in a minute.")
    try:
        with aside(), AT_ONCE:
            yield
    finally:
        WAITING.release()


@contextmanager
def aside() -> Iterator[None]:
    """While this request waits for another process, another request computes: `server.gate` lets few do so at once."""
    slots = request.environ.get("leaderboard.slots", threading.Semaphore(0))
    slots.release()
    try:
        yield
    finally:
        slots.acquire()


def require_known(known: Collection[str], files: Collection[str], fields: Fields) -> None:
    """Raises InvalidFields for a field that there is not, and BadInput for a text that can't be kept."""
    require_text(fields)
    for name, texts in fields.lists():
        if name not in known or len(texts) > 1:
            raise not_taken(name, name in known, [*known, *files])


def read_files(readers: Mapping[str, Callable[..., Any]], known: Collection[str] = ()) -> tuple[Fields, dict[str, Any]]:
    """Reads the form of a program and keeps nothing: its fields, and what the reader of each file's field made of it.

    known  the other fields that it may have

    Raises InvalidFields for a field that there is not, BadInput for a broken form, and what the readers raise.
    """
    contents = {}
    with _read(readers, partial(require_known, known, readers)) as (fields, files, _):
        for name, file in files.items():
            with file_of(name):
                contents[name] = readers[name](file.whole(), name=file.filename, limits=limits())
    return fields, contents


def keep(upload: Received | None, **more: Any) -> str:
    """A proof, for a hidden field, that the reader has sent this file: a form that comes back need not send it anew.
    more: what else the form that comes back has to know.
    """
    return signer(SALT).dumps({"user": actor().user_id, "more": more, **asdict(upload)}) if upload else ""


def require_kept(proof: str, field: str) -> Received:
    """The file behind a proof of this reader. Raises InvalidFields for `field` where it is gone."""
    upload, _ = kept_with(proof)
    if upload is None:
        raise InvalidFields({field: ["the file is not here any more; choose it again"]})
    return upload


def require_chosen(posted: Posted, field: str) -> Received:
    """The file that was sent. Raises why it was not taken in, and InvalidFields where none was sent."""
    if posted.refusal is not None:
        raise posted.refusal
    if posted.upload is None:
        raise InvalidFields({field: [posted.refused or "choose a file"]})
    return posted.upload


def kept_with(proof: str) -> tuple[Received | None, dict[str, Any]]:
    """The file behind a proof of this reader, and what else stands in the proof; None without a good one."""
    try:
        values = signer(SALT).loads(proof, max_age=KEPT_SECONDS)
    except BadData:
        return None, {}
    user, more = values.pop("user"), values.pop("more")
    return (Received(**values), more) if user == actor().user_id else (None, {})


@contextmanager
def _read(
    names: Collection[str], check: Callable[[Fields], None], admit: Admit = lambda _: None
) -> Iterator[tuple[Fields, dict[str, Arriving], LeaderboardError | None]]:
    """This request's form, read to its end: its fields; its files, by field, which are gone when the block ends; and
    why `admit` refuses any: what follows is not read then.
    """
    fields: Fields = MultiDict()
    files: dict[str, Arriving] = {}
    refusal, left, events = None, FIELD_BYTES, _events(names)
    arrives: Callable[[], None] | None = None
    with ExitStack() as until_read:
        for part in events:
            name = part.name or ""
            if isinstance(part, File) and part.filename:
                if not files:
                    check(fields)
                    try:
                        arrives = admit(fields)
                    except LeaderboardError as error:
                        refusal = error
                        break
                if name in files or name not in names:
                    raise not_taken(name, name in files, names)
                files[name] = until_read.enter_context(store().arriving(part.filename))
                for piece in _pieces(events):
                    if arrives:
                        arrives()
                    with suppress(TooLarge):  # the file is read to its end all the same, and refused then
                        files[name].write(piece)
            else:  # a file that was not chosen is an empty text
                text = _text(events, left)
                left -= len(text)
                if isinstance(part, Field):
                    fields.add(name, text.decode("utf-8", "replace"))
        else:
            check(fields)
        yield fields, files, refusal


def _pieces(events: Iterator[Any]) -> Iterator[bytes]:
    """The body of the part that has begun."""
    for event in events:
        yield event.data
        if not event.more_data:
            return


def _text(events: Iterator[Any], most: int) -> bytearray:
    text = bytearray()
    for piece in _pieces(events):
        text += piece
        if len(text) > most:
            raise TooLarge("This form's texts are too long: all of them together may have 1 MiB.")
    return text


def _events(files: Collection[str]) -> Iterator[Any]:
    """The parts of this request's form as they arrive. Raises TooLarge before anything is read, and BadInput for what
    is no form, which says how one is sent.
    """
    cap = config().upload_bytes
    request.max_content_length = PATIENCE * cap
    if (request.content_length or 0) > PATIENCE * cap:
        raise TooLarge(
            f"What you sent has {size(request.content_length or 0)}, so much that it was not read: a file may have at "
            f"most {size(cap)}. Choose a smaller one, or pack it with gzip, and send the form again."
        )
    boundary = parse_options_header(request.headers.get("Content-Type", ""))[1].get("boundary", "")
    if request.mimetype != "multipart/form-data" or not boundary:
        example = "".join(f" -F {name}=@FILE" for name in files if name)
        raise BadInput(f"Send a form (multipart/form-data), its files last, such as by curl -F FIELD=TEXT{example}.")
    decoder = MultipartDecoder(boundary.encode(), max_form_memory_size=FIELD_BYTES, max_parts=PARTS)
    while True:
        try:
            event = decoder.next_event()
        except ValueError:
            raise BadInput(BROKEN) from None
        if isinstance(event, NeedData):
            decoder.receive_data(request.stream.read(PIECE) or None)
        elif isinstance(event, Epilogue):
            return
        elif not isinstance(event, Preamble):
            yield event


def not_taken(name: str, twice: bool, known: Collection[str]) -> InvalidFields:
    """Refuses a part of a form that there is not, or that came already."""
    return InvalidFields({name: ["is given twice" if twice else f"is not known here; known are: {', '.join(known)}"]})


def _require_own_form(fields: Fields) -> None:
    """That they are the site's own form's."""
    try:
        validate_csrf(fields.get("csrf_token"))
    except ValidationError as error:
        raise CSRFError(str(error)) from error
    require_text(fields)
