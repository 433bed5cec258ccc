"""Any order of what people and workers do to the runs of an evaluation, on several sessions: what must hold after every
step.

The jobs that are in workers' hands are kept beside the database, so that it can be asked whether a row says the same:
a holder whose lease ran out and was taken up again is a late one, and whatever it sends is refused.
"""

import shutil
import uuid
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE, Actor, actor_of
from leaderboard.audit.models import Event
from leaderboard.audit.writes import present
from leaderboard.config import Config
from leaderboard.db import Database, clock
from leaderboard.errors import Conflict, LeaderboardError, QuotaSpent, Unavailable
from leaderboard.evaluations.rules import Opening
from leaderboard.formats import Limits
from leaderboard.store import RunStore
from leaderboard.submissions.models import Participation, PersonalUse, Submission, Use
from leaderboard.submissions.rules import STANDING, Designation, Ruling, SetState, State, day_of
from leaderboard.submissions.writes import submissions
from leaderboard.teams import writes as teams
from leaderboard.teams.models import Team
from leaderboard.worker import messages, queue
from leaderboard.worker.models import Score, Scoring, ScoringSet
from leaderboard.worker.run_scorer import RunScorer
from leaderboard.worker.writes import ready_sets, switch
from tests.support.databases import OwnDatabase, Postgres
from tests.support.examples import examples
from tests.support.rows import every_row
from tests.support.standing import standing_by_the_rule, standing_kept
from tests.support.verification import named, verified
from tests.support.world import QRELS, World, run_text

EXAMPLES, STEPS = 3, 30
WORKERS = ("first", "second", "third")
LEASE_SECONDS = 3600.0  # it ends when a rule says so
TOTAL_QUOTA = 12
JUDGMENTS = (QRELS, QRELS.replace("q1 0 d2 0", "q1 0 d2 1"), QRELS.replace("q2 0 d3 1", "q2 0 d3 0\nq2 0 d9 1"))
UNREADABLE = "q1 Q0 d1\n"
FIGURES = 8  # of a run: three measures and Judged@10, over two subsets
CHANGES: dict[str, Callable[[Session, Actor, Submission], object]] = {
    "select": submissions.select_run,
    "make primary": submissions.make_primary,
    "withdraw": submissions.withdraw,
    "hide": lambda session, _, run: submissions.hide_run(session, CONSOLE, run, Ruling.HIDDEN, "a reason"),
    "show again": lambda session, _, run: submissions.restore(session, CONSOLE, run),
}


class Machine(RuleBasedStateMachine):
    """held: jobs that are in workers' hands; late: those that were; new_world gives an installation of its own"""

    new_world: Callable[[ExitStack], World]
    steps = 0  # of all sequences

    def __init__(self) -> None:
        super().__init__()
        self._stack = ExitStack()
        self.held: list[queue.Claim] = []
        self.late: list[queue.Claim] = []
        self.accepted: list[int] = []

    @initialize()
    def begin(self) -> None:
        self.world = world = type(self).new_world(self._stack)
        self.database = world.database
        self.scorer = RunScorer(world.database, world.store, Limits(expanded_bytes=world.config.text_bytes))
        world.change_evaluation(total_quota=TOTAL_QUOTA)
        with self.database.write() as session:
            second = teams.create_team(session, world.eve, "Southern lights").id
            self.senders = [(world.ada.user_id, world.team), (world.eve.user_id, second)]
            self.systems = {
                team: [
                    teams.create_system(
                        session, CONSOLE, session.get_one(Team, team), teams.NewSystem(f"S{team}-{n}")
                    ).id
                    for n in range(2)
                ]
                for _, team in self.senders
            }

    def teardown(self) -> None:
        """Whatever was left is finished by one worker, and then the record is in order."""
        with self._stack:
            if hasattr(self, "database"):
                self._finish()

    def _finish(self) -> None:
        for claim in self.held:
            self.expire(claim)
        with self.database.write() as session:
            queue.sweep(session, LEASE_SECONDS)
            session.execute(sa.update(Scoring).values(not_before=None))
        while (claim := self._claim("last")) is not None:
            assert self._settle(claim, self._score(claim)) is queue.Recorded.DONE
        with self.database.write() as session:
            assert queue.unfinished(session) == 0
            session.execute(sa.update(Scoring).values(not_before=None))
        self.held = []
        self.switch()
        self.everything_holds()
        assert {run.id for run in self.world.all(sa.select(Submission))} == set(self.accepted)
        assert named(verified(self.world)) == []

    # What people do.

    @rule(
        sender=st.integers(0, 1), system=st.integers(0, 1), designation=st.sampled_from(Designation),
        number=st.integers(0, 5), is_readable=st.sampled_from([True, True, True, False]),
    )  # fmt: skip
    def submit(self, sender: int, system: int, designation: Designation, number: int, is_readable: bool) -> None:
        user, team = self.senders[sender]
        upload = self.world.receive(run_text(number) if is_readable else UNREADABLE)
        values: dict[str, Any] = {"system": self.systems[team][system], "designation": designation}
        with self.database.write() as session:
            actor = actor_of(session, user)
            try:
                run = submissions.submit(session, actor, self.world.evaluation, team, upload=upload, **values).id
            except (Conflict, QuotaSpent):
                session.rollback()
                return
        self.accepted.append(run)

    @precondition(lambda self: self.accepted)
    @rule(data=st.data(), name=st.sampled_from(sorted(CHANGES)))
    def decide(self, data: st.DataObject, name: str) -> None:
        """Of a run, by its team or by organisers: what is refused changes nothing."""
        run_id = data.draw(st.sampled_from(self.accepted))
        try:
            with self.database.write() as session:
                run = session.get_one(Submission, run_id)
                CHANGES[name](session, actor_of(session, run.submitter_id), run)
        except Unavailable:
            raise
        except LeaderboardError:
            pass

    @rule(text=st.sampled_from(JUDGMENTS), source=st.sampled_from([None, None, "second"]))
    def revise(self, text: str, source: str | None) -> None:
        with suppress(Conflict):  # the same as before
            self.world.judge(text, source=source)

    @rule(documents=st.integers(1000, 1002))
    def change_settings(self, documents: int) -> None:
        self.world.change_evaluation(documents=documents)

    @rule(is_closed=st.booleans())
    def close_or_open(self, is_closed: bool) -> None:
        closes_at = present() - timedelta(days=1) if is_closed else None
        self.world.change_evaluation(closes_at=closes_at, grace_seconds=0)

    @rule(opening=st.sampled_from(Opening))
    def reveal(self, opening: Opening) -> None:
        self.world.change_evaluation(results=opening)

    @rule()
    def try_failed_again(self) -> None:
        with self.world.organising() as (session, _, evaluation):
            submissions.retry_failed(session, CONSOLE, evaluation)

    # What workers do.

    @rule(worker=st.sampled_from(WORKERS))
    def claim(self, worker: str) -> None:
        claim = self._claim(worker)
        if claim is not None:
            assert claim.scoring_id not in {other.scoring_id for other in self.held}
            self.held.append(claim)

    @precondition(lambda self: self.database.engine.dialect.name == "postgresql")  # SQLite has one writer at a time
    @rule()
    def claim_at_once(self) -> None:
        """Two workers, neither of which sees what the other has not committed."""
        with self.database.write() as first, self.database.write() as second:
            claims = [queue.claim(first, "first", LEASE_SECONDS), queue.claim(second, "second", LEASE_SECONDS)]
        taken = [claim for claim in claims if claim is not None]
        assert len({claim.scoring_id for claim in [*taken, *self.held]}) == len(taken) + len(self.held)
        self.held += taken

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def stall(self, data: st.DataObject) -> None:
        """A worker says nothing until its lease has run out; nobody has looked for it yet."""
        self.expire(data.draw(st.sampled_from(self.held)))

    def expire(self, claim: queue.Claim) -> None:
        with self.database.write() as session:
            row = sa.update(Scoring).where(Scoring.id == claim.scoring_id)
            session.execute(row.values(lease_until=clock(-1.0)), execution_options={"synchronize_session": False})

    @rule()
    def sweep(self) -> None:
        with self.database.write() as session:
            expired = set(session.scalars(sa.select(Scoring.id).where(Scoring.lease_until < clock())))
            assert queue.sweep(session, LEASE_SECONDS) == len(expired)
        self._let_go(*(claim for claim in self.held if claim.scoring_id in expired))

    @precondition(lambda self: self.held or self.late)
    @rule(data=st.data())
    def renew(self, data: st.DataObject) -> None:
        claim = data.draw(st.sampled_from([*self.held, *self.late]))
        with self.database.write() as session:
            assert queue.renew(session, claim, LEASE_SECONDS) == (claim in self.held)

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def record(self, data: st.DataObject) -> None:
        """The figures of a run, or what is wrong with its file."""
        claim = data.draw(st.sampled_from(self.held))
        assert self._settle(claim, self._score(claim)) is queue.Recorded.DONE
        self._let_go(claim)

    @precondition(lambda self: self.held)
    @rule(data=st.data(), reply=st.sampled_from([
        messages.Failed("an error"), messages.Postponed("the store is away"), messages.Unreadable("damaged", True),
    ]))  # fmt: skip
    def fail(self, data: st.DataObject, reply: messages.Reply) -> None:
        claim = data.draw(st.sampled_from(self.held))
        assert self._settle(claim, reply) is queue.Recorded.DONE
        self._let_go(claim)

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def hand_back(self, data: st.DataObject) -> None:
        claim = data.draw(st.sampled_from(self.held))
        with self.database.write() as session:
            queue.release(session, claim)
        self._let_go(claim)

    @precondition(lambda self: self.late)
    @rule(data=st.data(), is_failure=st.booleans())
    def record_late(self, data: st.DataObject, is_failure: bool) -> None:
        """What a worker sends whose job is in other hands by now changes nothing."""
        claim = data.draw(st.sampled_from(self.late))
        reply = messages.Failed("too late") if is_failure else self._score(claim)
        before = every_row(self.database)
        assert self._settle(claim, reply) is queue.Recorded.LOST
        assert every_row(self.database) == before

    @rule()
    def wait(self) -> None:
        """Until whatever failed is tried again."""
        with self.database.write() as session:
            session.execute(sa.update(Scoring).values(not_before=None))

    @rule()
    def switch(self) -> None:
        with self.database.write() as session:
            for made in ready_sets(session):
                switch(session, queue.WORKER, made)

    # What holds.

    @invariant()
    def everything_holds(self) -> None:
        if not hasattr(self, "systems"):
            return
        type(self).steps += 1
        with self.database.read() as session:
            rows = list(session.scalars(sa.select(Scoring)))
            sets = {made.id: made for made in session.scalars(sa.select(ScoringSet))}
            runs = {run.id: run for run in session.scalars(sa.select(Submission))}
            self._sets_are_right(sets)
            self._results_are_right(session, rows)
            self._quotas_are_right(session, list(runs.values()))
        of_workers = {(row.id, row.worker, row.attempt) for row in rows if row.state is State.SCORING}
        assert of_workers == {(claim.scoring_id, claim.worker, claim.attempt) for claim in self.held}
        for made in sets.values():
            if made.state is not SetState.SUPERSEDED:
                entered = [row.submission_id for row in rows if row.scoring_set_id == made.id]
                assert sorted(entered) == sorted(runs), "each run is in each set that stands or is being made, once"
        assert standing_kept(self.database) == standing_by_the_rule(self.database)

    def _sets_are_right(self, sets: dict[int, ScoringSet]) -> None:
        standing = Counter(made.source for made in sets.values() if made.state in STANDING)
        assert set(standing.values()) == {1}, "one set of each source stands"
        assert sum(made.state is SetState.CURRENT for made in sets.values()) == 1

    def _results_are_right(self, session: Session, rows: list[Scoring]) -> None:
        scored = sorted(row.id for row in rows if row.state is State.SCORED)
        events = session.scalars(sa.select(Event).where(Event.action == "score"))
        assert sorted(event.facts["scoring"] for event in events) == scored, "one event for each result"
        figures = sa.select(Score.scoring_id, sa.func.count()).group_by(Score.scoring_id)
        assert dict(session.execute(figures).all()) == dict.fromkeys(scored, FIGURES)

    def _quotas_are_right(self, session: Session, runs: list[Submission]) -> None:
        uses: list[Use] = [*session.scalars(sa.select(Participation)), *session.scalars(sa.select(PersonalUse))]
        for use in uses:
            own = [
                run
                for run in runs
                if (run.submitter_id == use.user_id if isinstance(use, PersonalUse) else run.team_id == use.team_id)
            ]
            charged = [run for run in own if run.charged]
            assert use.used == len(charged) <= TOTAL_QUOTA
            assert use.used_today == sum(day_of(run.received_at) == use.day for run in charged)
        ended = sa.select(Event.subject_id).where(Event.action.in_(("reject", "fail")))
        assert {run.id for run in runs if not run.charged} == set(session.scalars(ended)), "what is given back, once"

    def _claim(self, worker: str) -> queue.Claim | None:
        with self.database.write() as session:
            return queue.claim(session, worker, LEASE_SECONDS)

    def _score(self, claim: queue.Claim) -> messages.Reply:
        reply = self.scorer.answer(messages.Job(claim.submission_id, claim.scoring_set_id), 0)
        assert isinstance(reply, messages.RunScores | messages.Rejected), reply
        return reply

    def _settle(self, claim: queue.Claim, reply: messages.Reply) -> queue.Recorded:
        with self.database.write() as session:
            return queue.settle(session, claim, reply)

    def _let_go(self, *claims: queue.Claim) -> None:
        self.held = [claim for claim in self.held if claim not in claims]
        self.late += claims


@pytest.fixture
def new_world(
    own_database: OwnDatabase, fill_world: object, engine_name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> Callable[[ExitStack], World]:
    """Makes installations that begin with the small campaign."""
    postgres: Postgres | None = request.getfixturevalue("postgres") if engine_name == "postgresql" else None
    begins_with = str(sa.make_url(own_database.url).database)

    def new(stack: ExitStack) -> World:
        folder = tmp_path / uuid.uuid4().hex
        folder.mkdir()
        stack.callback(shutil.rmtree, folder)
        if postgres is not None:
            url = postgres.create(begins_with)
            stack.callback(postgres.leave, url)
        else:
            file = folder / "leaderboard.sqlite"
            shutil.copyfile(begins_with, file)
            url = f"sqlite:///{file}"
        database = stack.enter_context(closing(Database.connect(url)))
        config = Config(database_url=url, store_url=str(folder / "store"))
        return World(database, RunStore(config.store_url), config, **own_database.known)

    return new


def test_whatever_people_and_workers_do_in_whatever_order(
    new_world: Callable[[ExitStack], World], quick_hashes: None
) -> None:
    machine: type[Machine] = type("OnThisEngine", (Machine,), {"new_world": staticmethod(new_world)})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples(EXAMPLES), stateful_step_count=STEPS, suppress_health_check=list(HealthCheck)
        ),
    )
    print(f"{machine.steps} steps")
