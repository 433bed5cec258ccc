"""Sends hostile files to every form that takes a file, and says what went wrong: by rights nothing."""

import gzip
import io
import random
import resource
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from werkzeug.datastructures import FileStorage, MultiDict
from werkzeug.test import encode_multipart

from leaderboard import bounded
from leaderboard.access import CONSOLE
from leaderboard.accounts import writes as people
from leaderboard.accounts.models import User
from leaderboard.web.app import create_app
from tests.support.hostile_files import FAMILIES
from tests.support.hostile_runs import forget_counts
from tests.support.world import RUN, World, new_account
from tests.web.conftest import Reader

MOST_ANSWERED = 512 * 1024  # bytes of a page that says what is wrong with a file
MOST_MEMORY = 1500 * 2**20  # bytes by which this process may grow over all of them
YEAR, ROOM = "/campaigns/small/2026", "/organise/small"
Give = Callable[[random.Random], bytes]


@dataclass
class Uploaded:
    """What became of the files. memory: bytes by which the process grew; longest: the page with most bytes."""

    states: dict[str, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    memory: int = 0
    longest: tuple[int, str] = (0, "")


def _deep(chance: random.Random, opening: str, closing: str, most: int = 100_000) -> bytes:
    times = chance.randint(1000, most)
    return (opening * times + closing * chance.choice((0, times))).encode()


TOPICS: Mapping[str, Give] = {
    "entities of entities": lambda chance: (
        "<!DOCTYPE topics [<!ENTITY a0 'x'>"
        + "".join(f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, chance.randint(8, 30)))
        + "]><topics><topic number='1'><query>&a7;</query></topic></topics>"
    ).encode(),
    "an entity from elsewhere": lambda chance: (
        f'<!DOCTYPE t [<!ENTITY e SYSTEM "{chance.choice(("file:///etc/passwd", "http://127.0.0.1:9/"))}">]>'
        "<topics><topic number='1'><query>&e;</query></topic></topics>"
    ).encode(),
    "elements in elements": lambda chance: _deep(chance, "<topic>", "</topic>"),
    "topics without end": lambda chance: b"<top>\n<num> Number: 1\n<title> x\n" * chance.randint(1000, 50_000),
    "one long query": lambda chance: b"q1\t" + b"x" * chance.randint(10**6, 5 * 10**6),
}
SIDES: Mapping[str, Give] = {
    "aliases of aliases": lambda chance: (
        "a0: &a0 [x, x]\n"
        + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, chance.randint(5, 12)))
    ).encode(),
    "an object of Python": lambda chance: (
        f"!!python/object/apply:os.{chance.choice(('system', 'popen'))} ['touch stray']"
    ).encode(),
    "lists in lists": lambda chance: _deep(chance, "[", "]", 20_000),
    "a key a line": lambda chance: "".join(f"k{n}: {n}\n" for n in range(chance.randint(1000, 50_000))).encode(),
}
NAMES = ("../../stray", "/stray", "a/../../stray", "manifest.toml", "C:\\stray", "x" * 300, "a\nb", "\u202eoot")


def _zip(chance: random.Random) -> bytes:
    """Members whose names lead elsewhere, are each other's or are very many."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        for number in range(chance.choice((1, 20, 3000))):
            name = chance.choice(NAMES) + (f"/{number}" if number > 5 else f"{number}")
            packed.writestr(name, RUN)
        packed.writestr("bomb", bytes(chance.randint(1, 60) * 2**20))
    return made.getvalue()


def _tar(chance: random.Random) -> bytes:
    """Links and devices beside files."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as packed:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.REGTYPE):
            entry = tarfile.TarInfo(chance.choice(NAMES).replace("\n", "_"))
            entry.type, entry.linkname = kind, chance.choice(("/etc/passwd", "../../stray", "."))
            entry.size = len(RUN) if kind == tarfile.REGTYPE else 0
            packed.addfile(entry, io.BytesIO(RUN.encode()))
    return made.getvalue()


MANIFEST = '[campaign]\nslug = "other"\ntitle = "Other"\nmeasures = ["AP"]\n'
RUNS = '[[evaluation]]\nslug = "2019"\ntitle = "2019"\nperiod = "2019"\n[[evaluation.runs]]\nteam = "x"\nfiles = '
MANIFESTS: Mapping[str, Give] = {
    "a path that leads out": lambda chance: f"{MANIFEST}{RUNS}{chance.choice(NAMES)!r}\n".encode(),
    "a pattern that runs away": lambda chance: f'{MANIFEST}{RUNS}"{"*" * chance.randint(50, 5000)}{{tag}}"\n'.encode(),
    "tables in tables": lambda chance: f"{MANIFEST}[{'.'.join('a' * chance.randint(100, 3000))}]\n".encode(),
    "lists in lists": lambda chance: f"{MANIFEST}x = ".encode() + _deep(chance, "[", "]", 20_000),
    "a number without end": lambda chance: f"{MANIFEST}x = {'9' * chance.randint(5000, 10**6)}\n".encode(),
    "values of other kinds": lambda chance: (
        f"campaign = {chance.choice(('1', '[]', 'true', '1979-05-27', '{slug = 1}', 'nan'))}\n".encode()
    ),
    "no text": lambda chance: MANIFEST.encode() + chance.randbytes(chance.randint(1, 5000)),
}


def _of(families: Mapping[str, Give]) -> Callable[[int, random.Random], tuple[str, bytes]]:
    """These families and the hostile runs in turn."""

    def give(number: int, chance: random.Random) -> tuple[str, bytes]:
        if families and number % 2:
            name = list(families)[number // 2 % len(families)]
            return name, families[name](chance)
        family = list(FAMILIES)[number % len(FAMILIES)]
        return family, FAMILIES[family](chance)

    return give


def _archived(number: int, chance: random.Random) -> tuple[str, bytes]:
    """An archive for the import: a hostile one, or one with a hostile manifest."""
    if number % 3 == 0:
        return "a zip", _zip(chance)
    if number % 3 == 1:
        return "a tar", _tar(chance)
    name = list(MANIFESTS)[number // 3 % len(MANIFESTS)]
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as packed:
        packed.writestr("manifest.toml", MANIFESTS[name](chance))
        packed.writestr("2019/input.one", RUN)
    return f"a manifest with {name}", made.getvalue()


@dataclass(frozen=True)
class _Form:
    """Where a file goes: in which field, beside which other fields, and which files there are."""

    address: str
    name: str
    give: Callable[[int, random.Random], tuple[str, bytes]]
    fields: Mapping[str, str] = field(default_factory=dict)
    run: bool = False  # whether a good run goes with it


SUBMITTED = {"designation": "contrastive", "system": "new-{team}", "new_system": "System {number}", "threshold": "1.5"}
FORMS: Mapping[str, _Form] = {
    "submission": _Form(f"{YEAR}/submit", "run", _of({}), SUBMITTED),
    "file beside it": _Form(f"{YEAR}/submit", "beside", _of(SIDES), SUBMITTED, run=True),
    "check": _Form(f"{YEAR}/check", "run", _of({})),
    "queries": _Form(f"{ROOM}/2026/queries/preview", "file", _of(TOPICS)),
    "judgments": _Form(f"{ROOM}/2026/judgments/preview", "file", _of({}), {"holds": "judgments"}),
    "documents": _Form(f"{ROOM}/2026/form/documents", "documents", _of({})),
    "archive": _Form("/organise/import/preview", "archive", _archived),
}


def upload_all(world: World, seed: int, count: int) -> Uploaded:
    """Sends `count` files, the forms in turn. No answer is a server's error, and nothing lies where it should not."""
    found = Uploaded()
    world.change_evaluation(daily_quota=None)
    app = create_app(replace(world.config, secret_key="a secret that only the tests know", secure_cookies=False))
    with world.database.write() as session:
        orla = people.create_user(session, CONSOLE, new_account("Orla of the uploads"), is_admin=True)
        ada = session.get_one(User, world.ada.user_id)
    readers = {True: Reader(app.test_client(), ada), False: Reader(app.test_client(), orla)}
    store, grown, names = Path(world.config.store_url), _peak(), list(FORMS)
    bounded.call(int)  # what stays of this process until it ends: the socket of the one that others are forked from
    usual, own = tempfile.tempdir, store.parent / "temporary"  # of this process alone, so that all that is left is ours
    own.mkdir()
    tempfile.tempdir = str(own)
    around = _files(store.parent) | _files(Path.cwd())
    try:
        for number in range(count):
            name = names[number % len(names)]
            form = FORMS[name]
            family, content = form.give(number // len(names), random.Random(f"{seed} {number}"))
            what = f"file {number}, {family}, as {name}"
            answer = _send(readers[form.address.startswith(YEAR)], form, world.team, number, content)
            told = len(answer[1])
            found.states[answer[0][:3]] = found.states.get(answer[0][:3], 0) + 1
            found.longest = max(found.longest, (told, what))
            if answer[0] >= "429" or told > MOST_ANSWERED:
                found.faults.append(f"{what}: {answer[0]}, {told:,} bytes")
            forget_counts(world)
    finally:
        tempfile.tempdir = usual
        app.extensions["database"].close()
    found.memory = _peak() - grown
    if found.memory > MOST_MEMORY:
        found.faults.append(f"{found.memory:,} bytes of memory")
    left = (_files(store.parent) | _files(Path.cwd())) - around | _files(own)
    left |= _files(store / "incoming") if (store / "incoming").is_dir() else set()
    found.faults += [f"stray: {path}" for path in sorted(map(str, left)) if path != str(store)]
    return found


def _send(reader: Reader, form: _Form, team: int, number: int, content: bytes) -> tuple[str, bytes]:
    """The status and the body of the answer."""
    fields: MultiDict[str, object] = MultiDict({"csrf_token": reader.token()})
    for name, value in form.fields.items():
        fields.add(name, value.format(team=team, number=number))
    if form.run:
        fields.add("run", FileStorage(io.BytesIO(gzip.compress(RUN.encode())), "a.run.gz"))
    fields.add(form.name, FileStorage(io.BytesIO(content), f"{number}.run"))
    boundary, body = encode_multipart(fields)
    answer = reader.client.post(form.address, data=body, content_type=f'multipart/form-data; boundary="{boundary}"')
    return answer.status, answer.data


def _files(folder: Path) -> set[Path]:
    """What lies in the folder itself: enough to see a file that was written beside its place."""
    return set(folder.iterdir())


def _peak() -> int:
    """The most memory that this process had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
