"""What changes about runs and their scores: submitted, scored, chosen, judged anew, imported."""

import dataclasses
import io

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE
from leaderboard.boards import writes as boards
from leaderboard.errors import Problem
from leaderboard.formats import read_judgments
from leaderboard.judgments import writes as judgments
from leaderboard.judgments import writes as sources
from leaderboard.submissions.rules import Designation, Ruling, SetState
from leaderboard.submissions.writes import past_runs as imports
from leaderboard.submissions.writes import submissions
from leaderboard.teams.models import System
from leaderboard.worker import queue
from leaderboard.worker import writes as scoring_sets
from leaderboard.worker.messages import Failed, Postponed, Rejected, Unreadable
from leaderboard.worker.models import ScoringSet
from tests.web.changes.listing import ALPHA, BOARD, NONE, Changes
from tests.web.play import Play

change = Changes()


@change("submissions.submit", at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    play.submit(session, session.get_one(System, play.world.system.id), designation=Designation.PRIMARY)


@change("queue.claim", "queue.renew", "queue.release", raises=NONE)
def _(session: Session, play: Play) -> None:
    claim = play.claim(session)
    assert queue.renew(session, claim, 60)
    queue.release(session, claim)


@change("queue.sweep", raises=NONE)
def _(session: Session, play: Play) -> None:
    queue.sweep(session)


@change("queue.settle")
def _(session: Session, play: Play) -> None:
    queue.settle(session, play.claim(session), Failed("an error while scoring"))
    queue.settle(session, play.claim(session), Postponed("the store does not answer"))


@change("queue.settle", at=BOARD)
def _(session: Session, play: Play) -> None:
    play.score(session, 0.5)


@change("submissions.submit", at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    play.submit(session, session.get_one(System, play.world.system.id))


@change("queue.settle", at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    queue.settle(session, play.claim(session), Rejected((Problem(17, "17"),), 1))


@change("submissions.retry", at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    submissions.retry(session, CONSOLE, play.run(session, 1))


@change("queue.settle", at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    queue.settle(session, play.claim(session), Unreadable("an error of ours"))


@change("submissions.retry_failed", at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    submissions.retry_failed(session, CONSOLE, play.evaluation(session))


@change("queue.settle", at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    play.score(session, 0.75)


@change("submissions.make_primary", at=BOARD)
def _(session: Session, play: Play) -> None:
    submissions.make_primary(session, CONSOLE, play.run(session, 1))


@change("submissions.describe", at="/submissions/2", who="ada")
def _(session: Session, play: Play) -> None:
    submissions.describe(session, CONSOLE, play.run(session, 1), label="the better one", notes="tuned")


@change("submissions.hide_run", at=BOARD)
def _(session: Session, play: Play) -> None:
    submissions.hide_run(session, CONSOLE, play.run(session, 1), Ruling.HIDDEN, "a reason")


@change("submissions.restore", at=BOARD)
def _(session: Session, play: Play) -> None:
    submissions.restore(session, CONSOLE, play.run(session, 1))


@change("submissions.withdraw", at=BOARD)
def _(session: Session, play: Play) -> None:
    submissions.withdraw(session, CONSOLE, play.run(session, 1), "a mistake")


@change("submissions.submit", at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    for mean in (0.6, 0.7):
        play.submit(session, session.scalars(sa.select(System).where(System.name == "Second")).one())
        play.score(session, mean)


@change("submissions.select_run", at=BOARD)
def _(session: Session, play: Play) -> None:
    submissions.select_run(session, CONSOLE, play.run(session, 3))


@change("boards.refresh")
def _(_: Session, play: Play) -> None:
    with play.database.read() as session:
        due = boards.due(session)
    assert due
    assert all(boards.refresh(play.database, one) for one in due)


@change("judgments.import_judgments", at=BOARD)
def _(session: Session, play: Play) -> None:
    lines = b"q1 0 d1 1\nq1 0 d2 1\nq2 0 d4 1\nq3 0 d5 1\n"
    judgments.import_judgments(session, CONSOLE, play.evaluation(session), read_judgments(io.BytesIO(lines)))


@change("worker.switch", at=BOARD)
def _(session: Session, play: Play) -> None:
    play.score_all(session)
    building = session.scalars(sa.select(ScoringSet).where(ScoringSet.state == SetState.BUILDING)).one()
    scoring_sets.switch(session, CONSOLE, building)


@change("judgments.import_judgments", at=f"{BOARD}/sources", who="orla")
def _(session: Session, play: Play) -> None:
    lines = io.BytesIO(b"q1 0 d2 1\nq2 0 d4 1\nq3 0 d5 1\n")
    judgments.import_judgments(session, CONSOLE, play.evaluation(session), read_judgments(lines), source="assistant")
    play.score_all(session)


@change("worker.make_official", at=f"{BOARD}/boards")
def _(session: Session, play: Play) -> None:
    scoring_sets.make_official(session, CONSOLE, play.evaluation(session), "assistant")


@change("judgments.rename_source", at=f"{BOARD}/sources", who="orla")
def _(session: Session, play: Play) -> None:
    sources.rename_source(session, CONSOLE, play.evaluation(session), "assistant", "helpful")


@change("judgments.remove_source", "judgments.set_aside_sources", at=f"{BOARD}/sources", who="orla")
def _(session: Session, play: Play) -> None:
    sources.remove_source(session, CONSOLE, play.evaluation(session), "assessors")


@change("past_runs.import_run", at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    system = session.get_one(System, play.world.system.id)
    upload = dataclasses.replace(play.upload(), sha256="f" * 64)
    imports.import_run(session, CONSOLE, play.evaluation(session), system, upload)
