"""What the trial of every call does: each operation as its caller does it; and what an installation then holds."""

import io
import re
import shutil
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa
from flask import Flask
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE
from leaderboard.accounts import writes as accounts
from leaderboard.accounts.models import User
from leaderboard.accounts.rules import Scope
from leaderboard.audit.models import Event
from leaderboard.audit.writes import present
from leaderboard.boards.models import Board, Standing
from leaderboard.evaluations.models import Evaluation
from leaderboard.judgments.models import JudgmentRevision
from leaderboard.mail.models import Mail
from leaderboard.operating.backup import RESTORED, reading, restore, write_backup
from leaderboard.store import RunStore
from leaderboard.submissions.models import Arrival, Participation, PersonalUse, Submission
from leaderboard.submissions.rules import SetState
from leaderboard.submissions.writes.run_store import bind, require_own
from leaderboard.transfer.importing import bring_in
from leaderboard.transfer.manifest import NAME, open_tree, read_manifest
from leaderboard.worker import loop, queue
from leaderboard.worker.models import Score, Scoring, ScoringSet
from tests.support import scoring
from tests.support.pages import hidden
from tests.support.world import QRELS, RUN, World, run_text, signed_in

CORRECTED = QRELS.replace("q1 0 d2 0", "q1 0 d2 1")
KEY = "a-key"
BACKUPS = "backups"  # a folder
OF_OPERATORS = ("backup", RESTORED)  # events, of which there is one more where somebody begins again


class Told(NamedTuple):
    """What an operation's caller learnt of it. done: that it is done; words: what else"""

    done: bool
    words: Any = None


@dataclass(frozen=True)
class Here:
    """An installation as one process has it. place: a folder for files of its own"""

    world: World
    app: Flask
    place: Path
    more: dict[str, Any]

    @property
    def store(self) -> RunStore:
        return self.world.store


@dataclass(frozen=True)
class Operation:
    """One thing that somebody does.

    run      does it once
    prepare  makes the state that it begins with, and returns what it has to know of it
    after    what its caller does then, who was told what `run` returned, or None where the process was killed
    holds    what is not there of what its caller was told
    at_once  whether the record has to be in order before `after`, too
    """

    run: Callable[[Here], Told]
    prepare: Callable[[Here], dict[str, Any]] = lambda _: {}
    after: Callable[[Here, Told | None], object] = lambda *_: None
    holds: Callable[[Here, Any], Iterator[str]] = lambda *_: iter(())
    at_once: bool = True


def work(here: Here) -> Told:
    """A worker, until nothing waits."""
    loop.run(here.world.config, stop=UntilIdle())
    return Told(True)


class UntilIdle(threading.Event):
    """A worker's stop, set once it has nothing to do: waiting for anything else takes no time."""

    def wait(self, timeout: float | None = None) -> bool:
        if timeout == loop.POLL_SECONDS:
            self.set()
        return self.is_set()


def make_token(here: Here) -> dict[str, Any]:
    with here.world.database.write() as session:
        owner = session.get_one(User, here.world.ada.user_id)
        token = accounts.make_token(session, CONSOLE, owner, "trial", Scope, days=None, now=present())
        cookie = signed_in(session, owner.id)
    return {"token": token, "cookie": cookie}


def sea() -> tuple[io.BytesIO, str]:
    """The file of a run."""
    return io.BytesIO(RUN.encode()), "sea.run"


def upload(here: Here) -> Told:
    """By the API, under a key."""
    fields = {
        "team": "northern-lights",
        "new_system": "Sea",
        "threshold": "1.5",
        "run": (io.BytesIO(RUN.encode()), "sea.run"),
    }
    headers = {"Authorization": f"Bearer {here.more['token']}", "Idempotency-Key": KEY}
    path = "/api/v1/campaigns/small/evaluations/2026/submissions"
    answer = here.app.test_client().post(path, data=fields, headers=headers, content_type="multipart/form-data")
    if answer.status_code not in (200, 201, 503):
        raise AssertionError(f"the API answered {answer.status_code}: {answer.text[:300]}")
    return Told(answer.status_code != 503, answer.json)


def send_again(here: Here, told: Told | None) -> None:
    """As our client does: under the same key, which may find the first one."""
    again = upload(here)
    if not again.done or (told is not None and told.done and told.words["id"] != again.words["id"]):
        raise AssertionError(f"told {told}, and then {again}")


def upload_by_form(here: Here, kept: str = "") -> Told:
    """In the browser. kept: what a form that came back says of its file, which is not sent again then"""
    browser = here.app.test_client()
    with browser.session_transaction() as cookie:
        cookie["_user_id"] = here.more["cookie"]
    path = "/campaigns/small/2026/submit"
    page = browser.get(path)
    fields: dict[str, Any] = {"system": f"new-{here.world.team}", "new_system": "Sea", "designation": "contrastive"}
    fields |= {"threshold": "1.5"} | ({"kept": kept} if kept else {"run": sea()})
    if page.status_code == 200:
        data = {"csrf_token": hidden(page.text), **fields}
        page = browser.post(path, data=data, content_type="multipart/form-data")
    if page.status_code not in (302, 503):
        raise AssertionError(f"the form answered {page.status_code}: {page.text[:3000]}")
    if page.status_code == 302:
        return Told(True, {"id": int(page.location.rpartition("/")[2])})
    return Told(False, {"kept": kept_file(page.text)})


def kept_file(page: str) -> str:
    """What a form that came back says of the file that it keeps; "" where it keeps none."""
    return next(iter(re.findall('name="kept"[^>]* value="([^"]*)"', page)), "")


def look_and_send_again(here: Here, told: Told | None) -> None:
    """As a person does who was not told of a run: they look for it, and press the button again or send the file again
    where it is not there."""
    if here.world.all(sa.select(Submission)):
        return
    kept = told.words["kept"] if told is not None and isinstance(told.words, dict) else ""
    if not upload_by_form(here, kept).done:
        raise AssertionError("the form did not take it afterwards")


def is_there(here: Here, words: Any) -> Iterator[str]:
    """A run that its sender was told of."""
    run = here.world.all(sa.select(Submission).where(Submission.id == words["id"]))
    if not run or run[0].sha256 != words.get("receipt", run[0].sha256):
        yield f"the run that its sender was told of is not there: {words}"


def submitted(here: Here) -> dict[str, Any]:
    here.world.submit(run_text(1))
    here.world.submit(run_text(2))
    return {}


def claim(here: Here) -> Told:
    with here.world.database.write() as session:
        queue.sweep(session, here.world.config.lease_seconds)
        return Told(True, queue.claim(session, "trial", here.world.config.lease_seconds))


def is_held(here: Here, words: Any) -> Iterator[str]:
    with here.world.database.write() as session:
        if not queue.renew(session, words, here.world.config.lease_seconds):
            yield "a job that was claimed is not in its worker's hands"


def scored(here: Here) -> dict[str, Any]:
    submitted(here)
    work(here)
    return {}


def to_be_switched(here: Here) -> dict[str, Any]:
    """All is scored by the new judgments, and the worker ended before the switch."""
    scored(here)
    here.world.judge(CORRECTED)
    with closing(scoring.WorkerHere(here.world.database, here.store, here.world.config)) as worker:
        worker._switches.begin(3600.0)
        for _ in range(2):
            worker.step(threading.Event())
    assert [made.state for made in here.world.all(sa.select(ScoringSet))] == [SetState.CURRENT, SetState.BUILDING]
    return {}


def revise(here: Here) -> Told:
    here.world.judge(CORRECTED)
    return Told(True)


def revise_again(here: Here, _: Told | None) -> None:
    """As an organiser does: who was not told that the judgments are in looks, and imports them once more."""
    if len(here.world.all(sa.select(JudgmentRevision))) == 1:
        revise(here)


def is_revised(here: Here, _: Any) -> Iterator[str]:
    if len(here.world.all(sa.select(JudgmentRevision))) != 2:
        yield "the judgments that were imported are not there"


def past_year(here: Here) -> dict[str, Any]:
    """A folder of a past year with three runs."""
    folder = here.place / "past"
    folder.mkdir()
    (folder / "qrels.txt").write_text(QRELS)
    for number in range(3):
        (folder / f"input.run{number}").write_text(run_text(number))
    (folder / NAME).write_text(
        '[campaign]\nslug = "past"\ntitle = "Past"\nmeasures = ["AP", "P@1"]\nprimary_measure = "AP"\n'
        '[[evaluation]]\nslug = "2019"\ntitle = "2019"\nperiod = "2019"\ncloses_at = 2019-09-30\n'
        '[[evaluation.judgments]]\nfile = "qrels.txt"\nreleased = 2019-09-01\n'
        '[[evaluation.runs]]\nfiles = "input.{tag}"\nteam = "Team {tag}"\nreceived = 2019-08-01\n'
    )
    return {"folder": folder}


def import_campaign(here: Here) -> Told:
    with open_tree(here.more["folder"]) as tree:
        manifest = read_manifest(tree.file(NAME), NAME)
        bind(here.world.database, here.store)
        bring_in(here.world.database, here.store, lambda _: CONSOLE, manifest, tree, NAME)
    return Told(True)


def is_imported(here: Here, _: Any) -> Iterator[str]:
    if len(here.world.all(sa.select(Submission))) != 3:
        yield "the runs that were imported are not there"


def back_up(here: Here, name: str = "all.zip") -> Told:
    store = RunStore(here.store.url, here.world.config, must_exist=True)
    with here.world.database.read() as session:
        store.bound = require_own(session, store)
    file = here.place / BACKUPS / name
    write_backup(here.world.database, store, file, earlier=None, files=True, tell=lambda _: None)
    return Told(True, file)


def to_be_backed_up(here: Here) -> dict[str, Any]:
    (here.place / BACKUPS).mkdir()
    return scored(here)


def back_up_again(here: Here, told: Told | None) -> None:
    """As an operator does who was not told that it is done: into another file."""
    if told is None or not told.done:
        faults = [*is_backup(here, back_up(here, "again.zip").words)]
        if (here.place / BACKUPS / "all.zip").exists():  # half a file would be taken for a backup
            faults += is_backup(here, here.place / BACKUPS / "all.zip")
        if faults:
            raise AssertionError(faults)


def is_backup(_: Here, file: Path) -> Iterator[str]:
    with reading(file) as (archive, manifest):
        if archive.testzip() is not None or not len(manifest["runs"]) == len(manifest["held"]) == 2:
            yield f"{file} has not all"


def to_be_restored(here: Here) -> dict[str, Any]:
    """A backup, and neither a table nor a file of the store."""
    to_be_backed_up(here)
    back_up(here)
    with here.world.database.engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(sa.text("DROP SCHEMA public CASCADE"))
            connection.execute(sa.text("CREATE SCHEMA public"))
    if here.world.database.engine.dialect.name == "sqlite":
        here.world.database.close()
        for path in here.place.glob("leaderboard.sqlite*"):
            path.unlink()
    for name, _ in [*here.store.place.names("")]:
        here.store.place.remove(name)
    if Path(here.store.url).is_dir():
        shutil.rmtree(here.store.url)
    return {}


def restore_backup(here: Here) -> Told:
    with reading(here.place / BACKUPS / "all.zip") as (archive, manifest):
        store = RunStore(here.store.url, here.world.config)
        restore(here.world.database, store, manifest, [archive], lambda _: None)
    return Told(True)


def restore_again(here: Here, told: Told | None) -> None:
    """As an operator does who was not told that it is done: by the same command."""
    if told is None or not told.done:
        restore_backup(here)


def is_restored(here: Here, _: Any) -> Iterator[str]:
    if len(here.world.all(sa.select(Submission))) != 2:
        yield "the runs that were restored are not there"


OPERATIONS = {
    "upload": Operation(upload, make_token, send_again, is_there),
    "upload by form": Operation(upload_by_form, make_token, look_and_send_again, is_there),
    "claim": Operation(claim, submitted, holds=is_held),
    "scoring": Operation(work, submitted),
    "revision": Operation(revise, scored, revise_again, is_revised),
    "switch": Operation(work, to_be_switched),
    "import": Operation(import_campaign, past_year, lambda here, _: import_campaign(here), is_imported),
    "backup": Operation(back_up, to_be_backed_up, back_up_again, is_backup),
    "restore": Operation(restore_backup, to_be_restored, restore_again, is_restored, at_once=False),
}


def state(world: World) -> dict[str, Any]:
    """What an installation holds, by names and hashes in place of ids and without the clock."""
    with world.database.read() as session:
        evaluations = {row.id: row.slug for row in session.scalars(sa.select(Evaluation))}
        of_set = {
            made.id: (made.source, made.settings_hash, revision.number, evaluations[made.evaluation_id])
            for made, revision in session.execute(sa.select(ScoringSet, JudgmentRevision).join(JudgmentRevision))
        }
        runs = {run.id: (run.sha256, run.system.name) for run in session.scalars(sa.select(Submission))}
        scorings = {
            row.id: (runs[row.submission_id], of_set[row.scoring_set_id]) for row in session.scalars(sa.select(Scoring))
        }
        return {name: sorted(map(repr, rows)) for name, rows in _rows(session, of_set, runs, scorings).items()}


def _rows(session: Session, of_set: dict[int, Any], runs: dict[int, Any], scorings: dict[int, Any]) -> dict[str, Any]:
    def all_of(table: Any) -> Any:
        return session.scalars(sa.select(table).options(sa.orm.undefer("*")))

    revision = JudgmentRevision.number, JudgmentRevision.sha256, JudgmentRevision.judgments, Evaluation.slug
    uses = [*all_of(Participation), *all_of(PersonalUse)]
    return {
        "runs": [
            (runs[row.id], row.label, row.charged, row.scored_at is not None, row.chosen_at is not None, row.problems)
            for row in all_of(Submission)
        ],
        "sets": [(of_set[row.id], row.state) for row in all_of(ScoringSet)],
        "scorings": [
            (scorings[row.id], row.state, row.beta, row.missing, row.unjudged, row.facts) for row in all_of(Scoring)
        ],
        "figures": [
            (scorings[row.scoring_id], row.measure, row.subset, row.mean, row.count, row.low, row.high,
             row.values.tobytes())
            for row in all_of(Score)
        ],
        "boards": [
            (of_set[row.scoring_set_id], row.measure, row.subset, row.version, *map(scorings.get, row.scorings),
             row.means.tobytes(), row.lows.tobytes(), row.highs.tobytes())
            for row in all_of(Board)
        ],
        "selected runs": [
            (of_set[row.scoring_set_id], row.run_choice, row.subset, row.rounded, scorings[row.scoring_id])
            for row in all_of(Standing)
        ],
        "quotas": [(type(row).__name__, row.used, row.used_today, row.rejected_today) for row in uses],
        "files on their way": all_of(Arrival),
        "revisions": session.execute(sa.select(*revision).join(Evaluation)).all(),
        "events": Counter(event.action for event in all_of(Event) if event.action not in OF_OPERATORS).items(),
        "mails": Counter(mail.kind for mail in all_of(Mail)).items(),
    }  # fmt: skip
