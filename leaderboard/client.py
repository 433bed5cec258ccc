"""A small client of the API, in the standard library only: it checks and submits runs, and reads their figures.

    client = Client("https://leaderboard.example", token)
    sent = client.submit("harbour/2026-text", Path("run.gz"), team="team-alder", system="heron")
    done = client.wait(sent["id"], seconds=600)
    print(client.results(done["id"])["figures"])

What an evaluation asks beside the run goes with it: `asked` says what, `answers`, `agree` and `side_file` give it. A
run that is most likely a slip is not taken: `Refused` has the warnings in the field `confirm`, and `confirm=True` says
that it is meant so.

A run goes over in pieces, so that its size costs no memory. Every sending has a key, by which a second try after a
broken connection finds the first one: no run is submitted twice.
"""

import hashlib
import json
import re
import shutil
import tempfile
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO
from urllib.parse import quote, urlencode, urlsplit

from leaderboard.errors import BadInput, LeaderboardError, Unavailable

PIECE = 2**16  # bytes
TRIES = 4  # at a server that does not answer
PAUSE = 1.0  # seconds before the second try; twice as long before each further one
LOOK_SECONDS = 1.0  # between two questions whether a run is scored
UNFINISHED = ("queued", "scoring")
HERE = ("localhost", "127.0.0.1", "::1")

BOUNDARY = uuid.uuid4().hex  # between the parts of a form: nobody knows it who writes a file

NOTHING: Mapping[str, Any] = MappingProxyType({})
Tell = Callable[[int], None]
Content = bytes | Iterator[bytes]
FormContent = tuple[Mapping[str, str], Sequence[tuple[str, Path]]]  # fields and files, by their names


class Refused(LeaderboardError):
    """The server refused this. status: HTTP's; fields: messages by field."""

    def __init__(self, status: int, message: str, fields: Mapping[str, list[str]] | None = None) -> None:
        super().__init__(message)
        self.http_status = status
        self.fields = dict(fields or {})

    @classmethod
    def of(cls, status: int, content: bytes) -> "Refused":
        """What an answer says; of one that is no problem of the API (a proxy's, another site's) its status."""
        try:
            problem = json.loads(content)
            fields = problem["fields"]
            words = "\n".join(f"{name}: {text}" for name, texts in fields.items() for text in texts)
            return cls(status, words or str(problem["detail"]), fields)
        except (ValueError, KeyError, TypeError, AttributeError):
            return cls(status, f"The server answered {status} and not as this API does; look at its address.")


class NoServer(Unavailable):
    """The server does not answer."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A token goes to the server that it was given for and to no other."""

    def redirect_request(self, *about: Any) -> None:
        _, _, status, _, _, elsewhere = about
        raise Refused(status, f"The server sends on to {elsewhere}: give that as its address, if you trust it.")


class Client:
    """An account's way to a server.

    server    the site's address; HTTP without encryption only to this machine, because a token would go in clear text
    token     from the account's page; "" reads what is public
    seconds   how long one answer is waited for
    """

    def __init__(self, server: str, token: str = "", *, seconds: float = 60.0) -> None:
        parts = urlsplit(server)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadInput(f"{server} is no server's address; give one such as https://leaderboard.example")
        if token and parts.scheme == "http" and parts.hostname not in HERE:
            raise BadInput("a token goes over https:// only: over http:// everybody on the way could read it")
        if not token.isascii() or not token.isprintable():
            raise BadInput("the token holds a character that no token has")
        self._base, self._token, self._seconds = f"{server.rstrip('/')}/api/v1", token, seconds

    def get(self, path: str, **arguments: str) -> Any:
        """What is at a path such as `/campaigns`. Raises Refused or NoServer."""
        return self._patiently(lambda: self._ask(path, arguments))

    def fetch(self, path: str, target: Path) -> None:
        """Writes the file at a path into a new file, whole or not at all. Raises BadInput where `target` is there
        already, Refused or NoServer.
        """
        if target.exists():
            raise BadInput(f"{target} is there already; give another name")
        if not target.parent.is_dir():
            raise BadInput(f"there is no folder {target.parent}")
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetch-") as unfinished:
            part = Path(unfinished) / target.name
            with part.open("wb") as file:
                self._ask(path, into=file)
            part.rename(target)

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """What a path answers to this JSON. Raises Refused or NoServer; it is not tried again."""
        return self._ask(path, {}, json.dumps(body or {}).encode(), {"Content-Type": "application/json"})

    def send(self, path: str, content: Path | FormContent, **arguments: str) -> Any:
        """What a path answers to a file as the body, or to a form of fields and files. Raises Refused or NoServer."""
        if isinstance(content, Path):
            return self._ask(path, arguments, content.read_bytes(), {"Content-Type": "application/octet-stream"})
        form = _Form(*content)
        return self._ask(path, arguments, form.pieces(), form.head)

    def submit(
        self,
        evaluation: str,
        run: Path,
        *,
        answers: Mapping[str, str] | None = None,
        agree: Mapping[str, int | str] | None = None,
        side_file: Path | None = None,
        key: str | None = None,
        tell: Tell | None = None,
        **fields: Any,
    ) -> Any:
        """Sends a run and gives its submission; where this run was sent before, that submission.

        evaluation  CAMPAIGN/EVALUATION
        answers     to the fields that the organisers ask, by key; see `asked`
        agree       to agreements that are accepted with this run, by key: the version that you read; see `asked`
        side_file   a YAML file with metadata of the run
        key         tells this sending from others; made of the file and the fields unless given; "" for none
        tell        is told of each piece how many bytes it has
        fields      team; system, the last part of its address, or new_system, the name of one to make; designation,
                    threshold, label, notes, version, stand; confirm=True: the run is meant so, whatever the warnings

        Raises Refused, by `fields` where it is about some: `run` has what is wrong with a file that would be rejected,
        `confirm` what has to be confirmed; NoServer after several tries.
        """
        fields |= {f"answer-{name}": value for name, value in (answers or {}).items()}
        fields |= {f"agreement-{name}": version for name, version in (agree or {}).items()}
        texts = {
            field: "yes" if value is True else str(value)
            for field, value in fields.items()
            if value is not None and value is not False and value != ""
        }
        files = [("run", run)] if side_file is None else [("beside", side_file), ("run", run)]
        of_run = {field: text for field, text in texts.items() if field != "confirm"}  # the same with and without it
        key = _key(evaluation, [path for _, path in files], of_run) if key is None else key
        path = f"{_address(evaluation)}/submissions"

        def send_once() -> Any:
            try:
                if key:
                    return self._ask(f"/sendings/{quote(key, safe='')}")
            except Refused as refused:
                if refused.http_status != HTTPStatus.NOT_FOUND:
                    raise
            form = _Form(texts, files, tell)
            return self._ask(path, {}, form.pieces(), form.head | ({"Idempotency-Key": key} if key else {}))

        return self._patiently(send_once)

    def check(self, evaluation: str, run: Path, *, threshold: float | None = None, tell: Tell | None = None) -> Any:
        """What would become of a run: `problems` it would be rejected for, `warnings` to be confirmed, `unsettled`,
        `remarks`, `is_sound` of the file (None: that can't be said, or not of all of a long file), `refused_now` (why
        no run is taken at this moment, else "") and all of it `in_words`. Nothing is kept.

        evaluation, threshold, tell: as `submit` takes them
        """
        form = _Form({} if threshold is None else {"threshold": repr(threshold)}, [("run", run)], tell)
        return self._patiently(lambda: self._ask(f"{_address(evaluation)}/check", {}, form.pieces(), form.head))

    def asked(self, evaluation: str) -> Any:
        """What an evaluation asks with a run (fields, agreements), and what your teams may still submit to it."""
        return self.get(f"{_address(evaluation)}/submitting")

    def wait(self, submission: int, seconds: float) -> Any:
        """The submission once it is scored or rejected, or as it is after so many seconds."""
        deadline = time.monotonic() + seconds
        while True:
            run = self.get(f"/submissions/{submission}")
            if run["state"] not in UNFINISHED or run["waiting"] or time.monotonic() >= deadline:
                return run
            time.sleep(min(LOOK_SECONDS, max(0.0, deadline - time.monotonic())))

    def results(self, submission: int) -> Any:
        """Means, intervals and, where they are open, values on single queries of a scored submission."""
        return self.get(f"/submissions/{submission}/results")

    def _patiently(self, ask: Callable[[], Any]) -> Any:
        """Asks again while nobody answers, or while the server says that it can't at the moment."""
        for tries in range(TRIES - 1):
            try:
                return ask()
            except NoServer:
                time.sleep(PAUSE * 2**tries)
        return ask()

    def _ask(
        self,
        path: str,
        arguments: Mapping[str, str] = NOTHING,
        content: Content | None = None,
        head: Mapping[str, str] = NOTHING,
        into: BinaryIO | None = None,
    ) -> Any:
        address = f"{self._base}{path}?{urlencode(arguments)}".removesuffix("?")
        request = urllib.request.Request(address, content, {"Accept": "application/json", **head})  # noqa: S310  # the scheme is checked above
        if self._token:
            request.add_unredirected_header("Authorization", f"Bearer {self._token}")
        try:
            with urllib.request.build_opener(_NoRedirects).open(request, timeout=self._seconds) as answer:
                if into is not None:
                    return shutil.copyfileobj(answer, into)
                is_text = answer.headers.get("Content-Type", "").startswith("text/plain")
                return answer.read().decode() if is_text else json.loads(answer.read())
        except urllib.error.HTTPError as error:
            refused = Refused.of(error.code, error.read())
            if error.code in (HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT):
                raise NoServer(refused.message) from None
            raise refused from None
        except (urllib.error.URLError, HTTPException, OSError) as error:
            reason = getattr(error, "reason", error)
            raise NoServer(f"{self._base} does not answer: {reason}") from None
        except ValueError:
            raise Refused(HTTPStatus.OK, f"{self._base} answers, but not as this API does.") from None


def _address(evaluation: str) -> str:
    campaign, _, name = evaluation.partition("/")
    return f"/campaigns/{quote(campaign, safe='')}/evaluations/{quote(name, safe='')}"


class _Form:
    """A form with files, whose bytes are read while they are sent. tell: of the bytes of each piece of a file."""

    def __init__(self, fields: Mapping[str, str], files: Sequence[tuple[str, Path]], tell: Tell | None = None) -> None:
        start = f"--{BOUNDARY}\r\nContent-Disposition: form-data; name="
        text = "".join(f'{start}"{name}"\r\n\r\n{value}\r\n' for name, value in fields.items())
        self._parts: list[bytes | Path] = []
        for field, path in files:
            name = re.sub(r'[\\"\r\n]', "_", path.name)
            text += f'{start}"{field}"; filename="{name}"\r\nContent-Type: application/octet-stream\r\n\r\n'
            self._parts += [text.encode("utf-8", "replace"), path]
            text = "\r\n"
        self._parts.append(f"{text}--{BOUNDARY}--\r\n".encode("utf-8", "replace"))
        self._tell = tell
        size = sum(len(part) if isinstance(part, bytes) else part.stat().st_size for part in self._parts)
        self.head = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}", "Content-Length": str(size)}

    def pieces(self) -> Iterator[bytes]:
        """The whole form, piece by piece."""
        for part in self._parts:
            if isinstance(part, bytes):
                yield part
                continue
            with part.open("rb") as file:
                while piece := file.read(PIECE):
                    yield piece
                    if self._tell:
                        self._tell(len(piece))


def _key(evaluation: str, files: Sequence[Path], fields: Mapping[str, str]) -> str:
    """The same for the same files with the same fields, whenever they are sent."""
    digest = hashlib.sha256(json.dumps([evaluation, sorted(fields.items())]).encode())
    for path in files:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()
