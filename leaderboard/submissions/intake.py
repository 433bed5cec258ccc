"""How a run comes in, through the form as through the API: a place in the quotas is held for its file, the file is
looked at, and the run is submitted, or nothing of it is."""

import datetime as dt
import os
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session
from werkzeug.datastructures import MultiDict

from leaderboard.errors import FileRejected, Gathered, InvalidFields
from leaderboard.evaluations.models import Evaluation
from leaderboard.formats import beginning
from leaderboard.store import Received
from leaderboard.submissions.reads.form import completed, expected_of
from leaderboard.submissions.rules.checks import CHECKED_BYTES, Checked, Expected, Looked, check_run, require_sound
from leaderboard.submissions.writes import submissions
from leaderboard.teams.models import System, Team
from leaderboard.teams.writes import NewSystem
from leaderboard.web.context import actor, clock, config, now, reading, store, writing

ANY_UPLOAD_SECONDS = 24 * 3600  # where the installation sets no longest time of an upload
COUNTING_SECONDS = 300  # from the last byte of a file to its row, at most
# Each check takes up to some hundred megabytes for a second: more at once would bound nobody's memory.
AT_ONCE = threading.BoundedSemaphore(2)

Fields = MultiDict[str, str]


@dataclass(frozen=True, slots=True)
class SentRun:
    """A run as it was sent.

    system   the id of one of the team's, or the name of a new one
    details  what is said of it: those of `submissions.SubmissionDetails` that a sender gives
    """

    team_id: int
    system: int | str
    upload: Received
    details: Mapping[str, Any]


class Intake:
    """A run that this request sends.

    place    what its file holds in the quotas, from before it is read until it is counted; None before and after
    team_of  the team that the fields before the file name
    key      what the sender calls this sending: no second run of theirs is taken under it
    """

    def __init__(self, evaluation_id: int, team_of: Callable[[Session, Fields], Team], key: str | None = None) -> None:
        self.evaluation_id = evaluation_id
        self.key = key
        self.place: int | None = None
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
        if self.place is not None:
            with writing() as session:
                submissions.release_quota(session, self.place)

    def count_rejected(self, received_at: dt.datetime) -> None:
        """Counts a file that was judged wrong before the queue among the person's rejected ones, and ends its place."""
        user_id = actor().user_id
        if user_id is not None:
            with writing() as session:
                evaluation = session.get_one(Evaluation, self.evaluation_id)
                submissions.count_unused_file(session, evaluation, user_id, received_at, self.place)

    def submit(
        self,
        sent: SentRun,
        checked: Checked,
        wrong: Mapping[str, list[str]],
        *,
        begun_at: dt.datetime,
        received_at: dt.datetime,
        confirmed: bool = False,
        arrived: Path | None = None,
    ) -> int:
        """The id of the submission that is made of it.

        wrong    what is wrong with the form already, by field: of these nothing else is said
        begun_at, received_at  as `submissions.submit` takes them
        confirmed  whether its sender means it, whatever the warnings
        arrived  where the file lies that is to be kept now; None where the store has it

        Raises InvalidFields with all that is wrong with the form and the file, Unconfirmed for what is to be confirmed,
        and what `submissions.submit` raises; nothing is kept then.
        """
        if arrived is not None:  # not in the transaction: a large file takes seconds
            with arrived.open("rb") as file:
                os.fsync(file.fileno())
        with writing() as session:
            evaluation, team = session.get_one(Evaluation, self.evaluation_id), session.get_one(Team, sent.team_id)
            system = NewSystem(sent.system) if isinstance(sent.system, str) else session.get_one(System, sent.system)
            found = Gathered()
            with found:
                run = submissions.submit(
                    session, actor(), evaluation, team, system=system, upload=sent.upload, begun_at=begun_at,
                    received_at=received_at, place=self.place, key=self.key, **sent.details,
                ).id  # fmt: skip
            found.fields |= wrong
            try:
                require_sound(checked, yes=confirmed)
            except InvalidFields as error:
                if not found.fields:
                    raise
                found.fields |= error.fields
            found.raise_any()
            if arrived is not None:
                store().keep(arrived, sent.upload)
        return run


def check_upload(
    evaluation_id: int, upload: Received, threshold: float | None, team_id: int, path: Path | None = None
) -> Checked:
    """What would become of a run of the team's whose file lies at `path`, or in the store."""
    if path is None:
        with store().run_file(upload.sha256) as stored:
            return check_upload(evaluation_id, upload, threshold, team_id, stored)
    with reading() as session:
        evaluation = session.get_one(Evaluation, evaluation_id)
        expected = expected_of(session, actor(), evaluation, now(), to_submit=True)
    try:
        text, whole = beginning(path, CHECKED_BYTES, upload.filename)
        looked = Looked(upload.filename, text, whole, upload.text_sha256)
    except FileRejected as refused:
        looked = Looked(upload.filename, b"", True, upload.text_sha256, refused)
    return check_looked(looked, expected, evaluation_id, threshold, [team_id])


def check_looked(
    looked: Looked, expected: Expected, evaluation_id: int, threshold: float | None, teams: Collection[int]
) -> Checked:
    """What would become of a run that was looked at. teams: whose submissions are looked through for the same text."""
    with AT_ONCE:
        checked, run = check_run(looked, expected, threshold=threshold)
        with reading() as session:
            return completed(session, actor(), evaluation_id, checked, run, looked.text_sha256, teams, now())
