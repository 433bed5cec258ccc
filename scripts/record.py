"""Proves that a change of the code changed nothing: records what an installation answers, and compares two records.

    python -m scripts.record record OUT [--engine sqlite|postgresql] [--like OLD]
    python -m scripts.record compare OLD NEW [--but-words] [--dates]

Three installations are played by a set clock and set chance: the demonstration, the year of tests/experiment and the
world of the access matrix. Of each the record holds, as text, what everybody is answered: pages, files, the API; of the
first two also what commands print, what an export holds, and every digest and figure in the database. Beside these
stand the OpenAPI document, the help of all commands, and what commands make of files.
"""

import argparse
import datetime as dt
import hashlib
import io
import itertools
import json
import logging
import re
import shutil
import sys
import tarfile
import tempfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from html.parser import HTMLParser
from pathlib import Path

import click
import sqlalchemy as sa
import time_machine

from leaderboard.cli import leaderboard as root_command

# All that is known of how the package and its tests are laid out.
from leaderboard.demo import campaigns as seeding
from tests.experiment.answers import Answer
from tests.experiment.draws import FIRST
from tests.experiment.installation import PASSWORD, Installation, chance, installed, quick_passwords
from tests.experiment.plans import RUNS
from tests.experiment.walk import ORGANISER, Asked, addresses
from tests.experiment.year import play
from tests.support.clients import file_of
from tests.support.commands import run_here
from tests.support.field import NOW
from tests.support.quick import compile_once, keep_files_in_memory
from tests.support.shared import REPOSITORY, shared_data
from tests.web.access_rules import API, FORMS, PAGES, PHASES
from tests.web.matrix import Played, played
from trials.closed_judgments import new_databases

DEMONSTRATED = dt.datetime(2026, 1, 15, 12, tzinfo=dt.UTC)
ACCOUNTS = {"visitor": "", "participant": "participant", "organiser": "organiser"}  # of the seeds
IN_THE_YEAR = {"visitor": "", "participant": "ada", "organiser": ORGANISER, "admin": "alma"}
KINDS = {
    "visitor": "visitor", "another participant": "member of another team", "participant": "owner of the team",
    "organiser": "organiser", "admin": "admin",
}  # fmt: skip
READ_WHOLE = ("open", "closed")  # phases; in the others only what answers otherwise there
FORMATS = ("csv", "json")
SHOWN_HEADERS = ("Content-Type", "Location", "Content-Disposition")
OF_A_ROUTE = {"demo": 6, "year": 14}  # addresses of a route that are read, chosen by a hash; of boards thrice as many
NOT_READ = re.compile(r"/docs/|/SECURITY|^/static/")  # words only
COMMANDS = ("campaign list", "evaluation list", "team list", "user list", "verify --figures", "verify --json")
OF_A_CAMPAIGN = ("campaign show", "submission list", "system list", "trail")
TABLES = {  # what is on record in figures
    "judgment_revision": "id, evaluation_id, number, source, judgments, highest_grade, sha256",
    "scoring_set": "id, evaluation_id, revision_id, primary_measure, state, settings_hash",
    "scoring": "id, submission_id, scoring_set_id, state, beta, digest",
    "standing": "scoring_set_id, run_choice, subset, rounded, late, system_id, scoring_id",
    "score": "scoring_id, measure, subset, count, mean, low, high, lost_low, lost_high",
}


class Record:
    """A folder of text files. like: another record, of which the same addresses are asked."""

    def __init__(self, folder: Path, like: Path | None) -> None:
        self._folder, self._like = folder, like

    def write(self, name: str, text: str) -> None:
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")

    def asked(self, name: str, usual: Iterable[str]) -> list[str]:
        """The addresses to ask, which are noted."""
        noted = self._like / name / "asked.txt" if self._like is not None else None
        chosen = noted.read_text().splitlines() if noted is not None and noted.exists() else list(usual)
        self.write(f"{name}/asked.txt", "\n".join([*chosen, ""]))
        return chosen

    def answers(self, name: str, address: str, answers: Mapping[str, Answer]) -> None:
        """What people are answered at one address; those who are answered alike together."""
        alike: dict[str, list[str]] = defaultdict(list)
        lines = [address]
        for kind, answer in answers.items():
            headers = dict(answer.headers)
            lines.append(
                f"@ {kind}: {answer.status} {' '.join(headers[name] for name in SHOWN_HEADERS if name in headers)}"
            )
            alike[body_text(answer)].append(kind)
        lines += [f"== {', '.join(kinds)}\n{text}" for text, kinds in alike.items()]
        self.write(f"{name}/{file_name(address)}.txt", "\n".join([*lines, ""]))


def file_name(address: str) -> str:
    name = re.sub(r"[^\w.{}=&,@-]", "~", address.strip("/").replace("?", "@")) or "front"
    return name if len(name) < 150 else f"{name[:130]}~{hashlib.sha256(address.encode()).hexdigest()[:8]}"


def body_text(answer: Answer) -> str:
    headers, body = dict(answer.headers), answer.body
    kind = headers.get("Content-Type", "").partition(";")[0]
    if kind == "text/html":
        page = Page()
        page.feed(body.decode())
        return page.text()
    if kind.endswith("json") and body:
        return json.dumps(json.loads(body), indent=1, sort_keys=True, ensure_ascii=False)
    if ".tar" in headers.get("Content-Disposition", ""):
        with tarfile.open(fileobj=io.BytesIO(body)) as archive:
            return "\n".join(sorted(archive.getnames()))
    if kind.startswith("text/") or not body:
        return body.decode()
    return f"{len(body)} bytes, {hashlib.sha256(body).hexdigest()}"


WITHIN_A_LINE = re.compile("a|abbr|b|button|code|em|i|input|kbd|label|small|span|strong|su[bp]|t[dh]|text|time")
SILENT = ("script", "style")
SHOWN_ATTRIBUTES = {
    "a": ("href",), "form": ("method", "action"), "button": ("name", "value", "formaction"),
    "input": ("type", "name", "value", "checked", "disabled", "required"), "img": ("src", "alt"),
    "option": ("value", "selected"), "select": ("name",), "textarea": ("name",),
}  # fmt: skip


class Page(HTMLParser):
    """A page as lines of text, with where links lead, what forms hold and what charts say of their marks."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[str] = []
        self._words: list[str] = []
        self._silent = 0

    def text(self) -> str:
        self._end_line()
        return "\n".join(self._lines)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent += tag in SILENT
        if not WITHIN_A_LINE.fullmatch(tag):
            self._end_line()
        values = dict(attrs)
        attributes = [
            f"{name}={values[name] or ''}"
            for name in (*SHOWN_ATTRIBUTES.get(tag, ()), "aria-label", "title")
            if name in values
        ]
        if tag in ("td", "th"):
            self._words.append("|")
        if attributes and values.get("name") != "csrf_token":
            self._words.append(f"[{tag} {' '.join(attributes)}]")

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in SILENT
        if not WITHIN_A_LINE.fullmatch(tag):
            self._end_line()

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._words += data.split()

    def _end_line(self) -> None:
        if self._words:
            self._lines.append(" ".join(self._words))
        self._words = []


def record(target: Path, engine: str, like: Path | None) -> None:
    keep_files_in_memory()
    compile_once()
    logging.disable()  # a refusal with 503 is one of the answers
    shutil.rmtree(target, ignore_errors=True)
    out = Record(target, like)
    with tempfile.TemporaryDirectory() as name, new_databases(engine, Path(name)) as new_database:
        folder = Path(name)
        record_help(out)
        record_files(out, folder)
        with installed(new_database(), folder / "demo") as here:
            here.at(DEMONSTRATED)
            here.begin("the demonstration")
            seeding.load(here.database, here.store, DEMONSTRATED)
            here.drain()
            record_installation(out, "demo", here, folder, ACCOUNTS)
        with installed(new_database(), folder / "year") as here:
            if engine == "postgresql":
                number_without_gaps(here)
            play(here, FIRST, Asked(endpoints=("none",)))
            for (when, who, method, address), answer in here.steps.items():
                out.answers("year/steps", f"{when}, {who} {method} {address}", {who: answer})
            record_installation(out, "year", here, folder, IN_THE_YEAR)
        set_clock, matrix_of = time_machine.travel(NOW, tick=False), played(new_database(), folder / "matrix")
        with set_clock, chance(), quick_passwords(), matrix_of as matrix:
            for phase in PHASES:
                record_phase(out, phase, matrix)


def number_without_gaps(here: Installation) -> None:
    """Lets PostgreSQL give numbers as SQLite does, which takes those again that were rolled back; digests hold them."""
    tables = sa.inspect(here.database.engine)
    names = [
        name for name in tables.get_table_names() if any(column["autoincrement"] for column in tables.get_columns(name))
    ]
    next_of = "setval(pg_get_serial_sequence('\"{0}\"', 'id'), (SELECT coalesce(max(id), 0) + 1 FROM \"{0}\"), false)"
    statement = sa.text(f"SELECT {', '.join(next_of.format(name) for name in names)}")
    begin = here.begin

    def begin_anew(what: str) -> None:
        with here.database.engine.begin() as connection:
            connection.execute(statement)
        begin(what)

    here.begin = begin_anew  # type: ignore[method-assign]  # of this installation only


def record_help(out: Record) -> None:
    def walk(command: click.Command, path: list[str]) -> None:
        done = run_here([*path, "--help"], {})
        out.write(f"help/{' '.join(path) or 'leaderboard'}.txt", f"exit {done.status}\n{done.out}{done.err}")
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                below = command.get_command(context, name)
                walk(below or command, [*path, name])

    walk(root_command, [])


def record_installation(out: Record, name: str, here: Installation, folder: Path, people: Mapping[str, str]) -> None:
    """What everybody reads, then what commands print, an export, and figures as they are stored."""
    environment = here.app.extensions["config"].as_environment()

    def command(*arguments: str, text: str = "") -> str:
        here.begin(" ".join(arguments))
        done = run_here(arguments, environment, text=text)
        return f"exit {done.status}\n{done.out}{done.err}".replace(str(folder), "<folder>")

    now = dt.datetime.now(dt.UTC)
    for account in filter(None, people.values()):
        command("user", "add", account, "--admin", "--password-stdin", text=f"{PASSWORD}\n")  # where it isn't there
        command("user", "password", account, "--password-stdin", text=f"{PASSWORD}\n")
        scopes = (part for scope in ("submit", "manage", "organise") for part in ("--scope", scope))
        here.api_tokens[account] = command("user", "token", account, "--for", "the record", *scopes).split()[-1]
    here.at(now, *people.values())
    for address in out.asked(f"{name}/answers", some(here, OF_A_ROUTE[name])):
        out.answers(f"{name}/answers", address, {kind: here.people[who].get(address) for kind, who in people.items()})
    with here.database.read() as session:
        for table, columns in TABLES.items():
            rows = session.execute(sa.text(f"SELECT {columns} FROM {table}")).all()  # noqa: S608  # our own constants
            lines = sorted(("\t".join(map(written, row)) for row in rows), key=natural)
            out.write(f"{name}/tables/{table}.tsv", "\n".join([columns, *lines, ""]))
        campaigns = session.scalars(sa.text("SELECT slug FROM campaign ORDER BY id")).all()
    for words in (*COMMANDS, *(f"{words} {campaign}" for words in OF_A_CAMPAIGN for campaign in campaigns)):
        out.write(f"{name}/commands/{words}.txt", command(*words.split()))
    for campaign in campaigns:
        target = folder / f"{name}-{campaign}"
        out.write(f"{name}/exports/{campaign}/command.txt", command("export", campaign, "--out", str(target)))
        files = sorted(path for path in target.rglob("*") if path.is_file())
        sums = [f"{path.relative_to(target)}\t{hashlib.sha256(path.read_bytes()).hexdigest()}" for path in files]
        out.write(f"{name}/exports/{campaign}/files.tsv", "\n".join([*sums, ""]))
        for path in (path for path in files if path.suffix == ".toml"):
            out.write(f"{name}/exports/{campaign}/{path.relative_to(target)}", path.read_text())


def written(value: object) -> str:
    """A value of the database, the same on both engines."""
    return str(int(value)) if isinstance(value, bool) else repr(value) if isinstance(value, float) else str(value)


def natural(line: str) -> list[tuple[int, str]]:
    """Orders numbers in a line as numbers."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", line)]


def some(here: Installation, most: int) -> Iterator[str]:
    """The addresses of each route, no more than so many."""
    links = here.app.url_map.bind("localhost")
    routes: dict[str, list[str]] = defaultdict(list)
    for address in addresses(here, "GET"):
        if not NOT_READ.search(address):
            route = links.match(address.partition("?")[0], return_rule=True)[0].rule
            routes[route].append(address)
    for route, alike in routes.items():
        count = most * 3 if route.count("<") == 2 else most
        yield from sorted(sorted(alike, key=lambda address: zlib.crc32(address.encode()))[:count], key=natural)


def record_phase(out: Record, phase: str, matrix: Played) -> None:
    """All pages of the access matrix in this phase, then the forms, by whom they refuse."""
    matrix.move_to(phase)

    def patterns() -> Iterator[str]:
        for page in (page for pages in PAGES.values() for page in pages):
            if not NOT_READ.search(page.address) and (phase in READ_WHOLE or not page.is_usual(phase)):
                yield page.address
                yield from (file_of(page.address, ending) for ending in FORMATS if page.files is not None)

    name = f"matrix/{phase}"
    for pattern in out.asked(name, patterns()):
        address = pattern.format(**matrix.names)
        out.answers(name, pattern, {kind: Answer.of(matrix.get(who, address)) for kind, who in KINDS.items()})
    for form in FORMS.values() if phase in READ_WHOLE else ():
        address, refusals = form.address.format(**matrix.names), form.refusals(phase)
        answers = {}
        for kind, who in KINDS.items():
            if who in refusals and address.startswith(API):
                program = matrix.app.test_client()
                answers[kind] = Answer.of(program.post(address, json=form.fields, headers=matrix.bearer(who)))
            elif who in refusals:
                data = {"csrf_token": matrix.tokens[who]}
                answers[kind] = Answer.of(matrix.clients[who].post(address, data=data))
        out.answers(f"{name}/forms", f"{form.address} (POST)", answers)


def record_files(out: Record, folder: Path) -> None:
    """What commands make of files: without a database."""
    shared = shared_data()
    for line in file_commands(folder, shared):
        done = run_here(line.split(), {}, folder=folder)
        text = f"{line}\nexit {done.status}\n{done.out}{done.err}"
        if line.startswith("fuse"):
            text += (folder / "fused.run").read_text()
        for path, word in ((folder, "<folder>"), (REPOSITORY, "<repository>"), (shared, "<shared>")):
            text = text.replace(str(path), word)
        out.write(f"files/{file_name(text.splitlines()[0])}.txt", text)


def file_commands(folder: Path, shared: Path | None) -> Iterator[str]:
    """Over the experiment's runs, the worked examples, and other people's runs where they are."""
    grades = sorted(FIRST["shown"][0].items())
    (folder / "qrels.txt").write_text("".join(f"{query} 0 {document} {grade}\n" for (query, document), grade in grades))
    pairs = []
    for name, run in RUNS.items():
        path = folder / f"{name.replace(' ', '-')}.run"
        path.write_text(run.text)
        pairs.append((path, folder / "qrels.txt"))
        yield f"check {path}"
    for examples in sorted((REPOSITORY / "seeds" / "worked-examples").iterdir()):
        pairs += itertools.product(sorted(examples.glob("*.run")), sorted(examples.glob("*.qrels")))
    if shared is not None:
        pairs.append((shared / "dl-hard/bm25.gz", shared / "dl-hard/qrels.txt"))
        pairs.append((shared / "trec-cast21/org_manual_bm25.gz", shared / "trec-cast21/qrels.txt"))
        tests = shared / "trec_eval-tests"
        for line in (tests / "COMMANDS.tsv").read_text().splitlines():  # options, two files, a tab, the expected output
            *options, qrels, ranked = line.partition("\t")[0].split()
            yield " ".join(("trec_eval", *options, str(tests / qrels), str(tests / ranked)))
    for path, judgments in pairs:
        yield f"trec_eval -q -m all_trec {judgments} {path}"
        yield f"trec_eval -c -l 2 -m official {judgments} {path}"
        yield f"score {path} --judgments {judgments} -q --format trec_eval"
        yield f"score {path} --judgments {judgments} --format json"
    three = "score good.run other.run lacking.run --judgments qrels.txt"
    yield f"{three} -q --format csv --documents 40 --beta 2 --measures AQWV,Pmiss,Pfa,MQWV,AP,nDCG@5,P@5"
    for kind in ("table", "csv", "json"):
        yield f"{three} --format {kind}"
        yield f"{three} --compare good.run --format {kind}"
        yield f"agreement good.run other.run --format {kind}"
    for curve in ("sweep", "oracle", "recall", "rank"):
        yield f"curves good.run --judgments qrels.txt --curve {curve} --documents 40 --beta 2"
    yield "fuse rrf good.run other.run --out fused.run"
    yield "fuse combsum good.run other.run --out fused.run"
    for measure in ("AQWV", "AP", "nDCG@10", "MQWV", "RBO"):
        yield f"score --explain {measure}"


MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
DATES = (
    (r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: ?UTC|Z|[+-]\d\d:\d\d)?)?", "<date>"),
    (rf"\b\d{{1,2}} (?:{MONTHS})[a-z]* \d{{4}}(?:,? \d\d:\d\d(?::\d\d)?(?: UTC)?)?", "<date>"),
)
VARYING = (
    (r"^(.*\bLeaderboard )\d+\.\d+\.\d+\S*(?: \(commit [^)]*\))?", r"\1<build>"),
    (r"\b(?=[\w-]*[a-z])(?=[\w-]*[A-Z])(?=[\w-]*\d)[\w-]{30,}", "<token>"),
    (r"(name=seen value=)[^\]]*", r"\1<seen>"),
    (r"(/static/[^\s?\]]+)\?[\w=.-]+", r"\1"),
    (r"(head of the trail: \d+:|\"(?:hash|head|previous_hash)\": \")[0-9a-f]{64}", r"\1<hash>"),
    (r"(?<=\"seconds\": )\d+(?:\.\d+)?|(?<=, in )\d+(?:\.\d+)? m?s\b", "<seconds>"),
)
NUMBER = re.compile(r"[-+−]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?")
ADDRESS = re.compile(r"(?:href|action|formaction|src)=[^\s\]]*|(?<= )/\S*|https?:\S+")
STATUS = re.compile(r"^(?:@ .*|exit \d+)", re.MULTILINE)
KINDS_OF_CHANGE = ("statuses", "figures", "addresses", "words")
MOSTLY = 0.3
LONG = 2000  # lines
SHOWN_LINES, SHOWN_FILES, SHOWN_CHARACTERS = 6, 4, 300


@dataclass(frozen=True)
class Change:
    """Lines that others stand in for: the same change in many files is one."""

    old: tuple[str, ...]
    new: tuple[str, ...]

    @property
    def kind(self) -> str:
        """What differs that matters most."""
        before, after = "\n".join(self.old), "\n".join(self.new)
        for kind, pattern in (("statuses", STATUS), ("figures", NUMBER), ("addresses", ADDRESS)):
            if Counter(pattern.findall(before)) != Counter(pattern.findall(after)):
                return kind
        return "words"

    def __str__(self) -> str:
        return "\n".join((*_clipped("-", self.old), *_clipped("+", self.new)))


def _clipped(mark: str, lines: Sequence[str]) -> Iterator[str]:
    yield from (f"  {mark} {line[:SHOWN_CHARACTERS]}" for line in lines[:SHOWN_LINES])
    if len(lines) > SHOWN_LINES:
        yield f"  {mark} … {len(lines) - SHOWN_LINES} more lines"


def normalised(text: str, *, dates: bool = False) -> list[str]:
    """The lines without what is another each time; dates: these stay."""
    for pattern, instead in (*(() if dates else DATES), *VARYING):
        text = re.sub(pattern, instead, text, flags=re.MULTILINE)
    return text.splitlines()


def changes(old: Sequence[str], new: Sequence[str]) -> Iterator[Change]:
    """Runs of lines that differ; line by line where as many stand there and most are alike, which is quick.

    Of a long file only which lines are gone and which are new, not where: finding that takes minutes.
    """
    differ = [before != after for before, after in zip(old, new, strict=False)]
    if len(old) == len(new) and sum(differ) < MOSTLY * len(old):
        for differs, run in itertools.groupby(range(len(old)), lambda number: differ[number]):
            if differs:
                lines = list(run)
                yield Change(tuple(old[lines[0] : lines[-1] + 1]), tuple(new[lines[0] : lines[-1] + 1]))
        return
    if max(len(old), len(new)) > LONG:
        gone, added = Counter(old) - Counter(new), Counter(new) - Counter(old)
        yield Change((f"{gone.total()} lines in {len(old)}", *gone), (f"{added.total()} lines in {len(new)}", *added))
        return
    for kind, start, end, new_start, new_end in SequenceMatcher(None, old, new).get_opcodes():
        if kind != "equal":
            yield Change(tuple(old[start:end]), tuple(new[new_start:new_end]))


def compare(
    old: Path, new: Path, write: Callable[[str], object], *, but_words: bool = False, dates: bool = False
) -> int:
    """Tells what differs, a summary first; 1 where something does. but_words: where something but words does."""
    names = [{str(path.relative_to(side)) for path in side.rglob("*") if path.is_file()} for side in (old, new)]
    files_of: dict[Change, list[str]] = defaultdict(list)
    for name in sorted(names[0] & names[1]):
        before, after = ((side / name).read_bytes().decode() for side in (old, new))
        if before != after:
            for change in changes(*(normalised(text, dates=dates) for text in (before, after))):
                files_of[change].append(name)
    changed = sorted({name for files in files_of.values() for name in files})
    by_word = {"gone": sorted(names[0] - names[1]), "added": sorted(names[1] - names[0]), "changed": changed}
    write(f"{len(names[0])} and {len(names[1])} files: {', '.join(f'{len(by_word[word])} {word}' for word in by_word)}")
    kinds = Counter(change.kind for change in files_of)
    write(", ".join(f"{kinds[kind]} different changes of {kind}" for kind in KINDS_OF_CHANGE))
    for word, files in by_word.items():
        for room, count in sorted(Counter(name.rpartition("/")[0] for name in files).items()):
            write(f"  {count} {word} in {room}")
    for word in ("gone", "added"):
        for name in by_word[word]:
            write(f"{word}: {name}")
    for change, files in sorted(
        files_of.items(), key=lambda item: (KINDS_OF_CHANGE.index(item[0].kind), -len(item[1]))
    ):
        others = f" and {len(files) - SHOWN_FILES} more" if len(files) > SHOWN_FILES else ""
        write(f"{change.kind}, {len(files)} times: {'; '.join(files[:SHOWN_FILES])}{others}\n{change}")
    return int(names[0] != names[1] or any(kind != "words" or not but_words for kind in kinds))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m scripts.record", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    tasks = parser.add_subparsers(dest="task", required=True)
    recording = tasks.add_parser("record")
    recording.add_argument("folder", type=Path)
    recording.add_argument("--engine", choices=("sqlite", "postgresql"), default="sqlite")
    recording.add_argument("--like", type=Path, help="another record: ask the same addresses")
    comparing = tasks.add_parser("compare")
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    comparing.add_argument("--but-words", action="store_true", help="exit with 0 where only words differ")
    comparing.add_argument("--dates", action="store_true", help="compare dates, too")
    options = parser.parse_args(arguments)
    if options.task == "record":
        record(options.folder, options.engine, options.like)
        return 0
    return compare(
        options.old,
        options.new,
        lambda line: sys.stdout.write(f"{line}\n"),
        but_words=options.but_words,
        dates=options.dates,
    )


if __name__ == "__main__":
    sys.exit(main())
