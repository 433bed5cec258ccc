"""How a run comes in, through the form as through the API: a place in the quotas is held for its file, the file is
looked at, and the run is submitted, or nothing of it is."""

import datetime as dt
import os
import threading
from collections.abc import Callable, Collection, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from leaderboard.errors import FileRejected, Gathered, LeaderboardError, Unconfirmed
from leaderboard.evaluations.models import Evaluation
from leaderboard.formats import HEADER_BYTES, Metadata, beginning, run_metadata, side_metadata
from leaderboard.store import Received
from leaderboard.submissions.reads.form import completed, expected_of
from leaderboard.submissions.rules import CHECKED_BYTES, Checked, Expected, Looked, check_run
from leaderboard.submissions.writes import submissions
from leaderboard.teams.models import System, Team
from leaderboard.teams.writes import NewSystem
from leaderboard.web import uploads
from leaderboard.web.context import actor, clock, config, now, reading, store, writing
from leaderboard.web.uploads import Fields, Posted

ANY_UPLOAD_SECONDS = 24 * 3600  # where the installation sets no longest time of an upload
COUNTING_SECONDS = 300  # from the last byte of a file to its row, at most
# Each check takes up to some hundred megabytes for a second: more at once would bound nobody's memory.
AT_ONCE = threading.BoundedSemaphore(2)
NO_FILE = Received("", "", "", 0, 0, "")
YES = ("yes", "true", "1")


@dataclass(frozen=True, slots=True)
class SentRun:
    """A run as it was sent.

    system   the id of one of the team's, or the name of a new one
    upload   None where no file came, so that only what else is wrong can be told
    details  what is said of it: those of `submissions.submit` that a sender gives
    """

    team_id: int
    system: int | str
    upload: Received | None
    details: Mapping[str, Any]


class Intake:
    """A run that this request sends.

    place    what its file holds in the quotas, from before it is read until it is counted; None before and after
    team_of  the team that the fields before the file name
    key      what the sender calls this sending: no second run of theirs is taken under it
    checked  what would become of the file, once it was looked at; header: what its own comment lines say
    """

    def __init__(self, evaluation_id: int, team_of: Callable[[Session, Fields], Team], key: str | None = None) -> None:
        self.evaluation_id = evaluation_id
        self.key = key
        self.place: int | None = None
        self.checked = Checked("", whole=True)
        self.header: Mapping[str, str] = {}
        self._team_of = team_of

    def hold(self, fields: Fields) -> None:
        """Holds a place for the file. Raises unless the team that the fields name may send one."""
        expires_at = clock() + dt.timedelta(seconds=(config().upload_seconds or ANY_UPLOAD_SECONDS) + COUNTING_SECONDS)
        with writing() as session:
            evaluation, team = session.get_one(Evaluation, self.evaluation_id), self._team_of(session, fields)
            self.place = submissions.reserve_quota(
                session, actor(), evaluation, team, begun_at=now(), now=clock(), expires_at=expires_at
            )

    def give_up(self) -> None:
        """Ends the place, where one is held."""
        with writing() as session:
            submissions.release_quota(session, self.place)

    def submit(
        self,
        sent: SentRun,
        wrong: Mapping[str, list[str]],
        posted: Posted,
        begun_at: dt.datetime,
        arrived: Path | None = None,
    ) -> int:
        """The id of the submission that is made of it.

        wrong    what is wrong with the form already, by field: of these nothing else is said
        posted   the form; its field `confirm`: its sender means it, whatever the warnings
        begun_at  as `submissions.submit` takes it
        arrived  where the file lies that is to be kept now; None where the store has it

        Raises InvalidFields with all that is wrong with the form and the file, Unconfirmed for what is to be confirmed,
        and what `submissions.submit` raises; nothing is kept then. A file that was judged wrong before the queue counts
        among the person's rejected ones where it is kept, or tells of queries that they may not know of.
        """
        if sent.upload is not None:
            self._check(sent, sent.upload, arrived)
        try:
            return self._enter(sent, wrong, posted, begun_at, arrived)
        except LeaderboardError:
            user_id = actor().user_id
            counts = self.checked.tells_of_hidden or (arrived is None and self.checked.problem_count)
            with writing() as session:
                if counts and user_id is not None:
                    evaluation = session.get_one(Evaluation, self.evaluation_id)
                    submissions.count_unused_file(session, evaluation, user_id, posted.received_at)
                submissions.release_quota(session, self.place)
            raise

    def _check(self, sent: SentRun, upload: Received, arrived: Path | None) -> None:
        with reading() as session:
            evaluation = session.get_one(Evaluation, self.evaluation_id)
            expected = expected_of(session, actor(), evaluation, now(), to_submit=True)
        text, whole, refused = b"", True, None
        with nullcontext(arrived) if arrived else store().run_file(upload.sha256) as path:
            self.header = run_metadata(path, upload.filename)
            try:
                text, whole = beginning(path, CHECKED_BYTES, upload.filename)
            except FileRejected as error:
                refused = error
        looked = Looked(upload.filename, text, whole, upload.text_sha256, refused)
        self.checked = check_looked(looked, expected, self.evaluation_id, sent.details.get("threshold"), [sent.team_id])

    def _enter(
        self,
        sent: SentRun,
        wrong: Mapping[str, list[str]],
        posted: Posted,
        begun_at: dt.datetime,
        arrived: Path | None,
    ) -> int:
        if arrived is not None:  # not in the transaction: a large file takes seconds
            with arrived.open("rb") as file:
                os.fsync(file.fileno())
        checked, problems, run = self.checked, Gathered(), 0
        with writing() as session:
            evaluation, team = session.get_one(Evaluation, self.evaluation_id), session.get_one(Team, sent.team_id)
            system = NewSystem(sent.system) if isinstance(sent.system, str) else session.get_one(System, sent.system)
            with problems:
                run = submissions.submit(
                    session, actor(), evaluation, team, system=system, upload=sent.upload or NO_FILE,
                    begun_at=begun_at, received_at=posted.received_at, place=self.place, key=self.key,
                    header=self.header, **sent.details,
                ).id  # fmt: skip
            problems.fields |= wrong
            if checked.problem_count:
                rejected = FileRejected(checked.problems, checked.problem_count, checked.name)
                problems.fields["run"] = rejected.lines
            elif checked.warnings and posted.fields.get("confirm") not in YES:
                warnings = [warned.text for warned in checked.warnings]
                if not problems.fields:
                    raise Unconfirmed(warnings)
                problems.fields["confirm"] = warnings
            problems.raise_any()
            if arrived is not None and sent.upload is not None:
                store().keep(arrived, sent.upload)
        return run


def receive_run(hold: Callable[[Fields], None], *more: Any) -> Posted:
    """This request's form with a run. more: as `uploads.receive` takes it"""
    return uploads.receive("run", hold, {"beside": HEADER_BYTES}, *more)


def said_beside(posted: Posted) -> Metadata:
    """What the file of metadata beside the run says."""
    return side_metadata(posted.beside["beside"]) if "beside" in posted.beside else Metadata()


def check_looked(
    looked: Looked, expected: Expected, evaluation_id: int, threshold: float | None, teams: Collection[int]
) -> Checked:
    """What would become of a run that was looked at. teams: whose submissions are looked through for the same text."""
    with AT_ONCE:
        checked, run = check_run(looked, expected, threshold=threshold)
        with reading() as session:
            return completed(session, actor(), evaluation_id, checked, run, looked.text_sha256, teams, now())
