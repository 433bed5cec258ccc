"""A field of systems on a board whose figures are written down by hand: what a read or a page makes of them is known.

Everything goes through the services, except that no file is scored: the values of each query are given, and stand in
the tables as a worker would have recorded them.
"""

import dataclasses
import datetime as dt
import io
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE, Actor
from leaderboard.boards import writes as boards
from leaderboard.campaigns import writes as campaigns
from leaderboard.campaigns.models import Campaign
from leaderboard.db import Database
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import Subset
from leaderboard.formats import QueryRow, read_judgments
from leaderboard.judgments import writes as judgments
from leaderboard.judgments.rules import JudgmentFiles
from leaderboard.store import Received
from leaderboard.submissions.models import Participation, Submission
from leaderboard.submissions.rules import Designation, SetState, State, SystemKind
from leaderboard.submissions.writes import submissions
from leaderboard.teams import writes as writes
from leaderboard.teams.models import System, Team
from leaderboard.worker import writes as scoring_sets
from leaderboard.worker.models import Score, Scoring, ScoringSet
from leaderboard.worker.reads import current_set
from tests.support.databases import Filling, OwnDatabase
from tests.support.standing import standing_by_the_rule, standing_kept

NOW = dt.datetime(2026, 6, 1, 12, 0, tzinfo=dt.UTC)
DAY = dt.timedelta(days=1)
NAN = float("nan")


def about(mean: float, queries: int = 20) -> list[float]:
    """Values close to that mean on every query, in another way for each mean: such systems are told apart."""
    noise = np.random.default_rng(round(abs(mean) * 1_000)).normal(0, 0.01, queries)
    values: list[float] = (mean + noise - noise.mean()).tolist()
    return values


@dataclass
class Field:
    """Evaluations of one campaign, ranked by AP, with four queries each unless told otherwise."""

    database: Database
    measures: Sequence[str] = ("AP", "P@5")
    evaluations: dict[str, int] = dataclasses.field(default_factory=dict)
    teams: dict[str, int] = dataclasses.field(default_factory=dict)
    systems: dict[str, int] = dataclasses.field(default_factory=dict)
    _numbers: Any = dataclasses.field(default_factory=itertools.count)

    def campaign(self, **settings: Any) -> "Field":
        given: dict[str, Any] = {"measures": list(self.measures), "primary_measure": self.measures[0], **settings}
        with self.database.write() as session:
            campaigns.create_campaign(
                session, CONSOLE, "news", "News search", description="Articles of a year.", **given
            )
        return self

    def evaluation(
        self, slug: str = "2026", *, tags: Sequence[Sequence[str]] = ((), (), (), ()), qrels: str = "", **settings: Any
    ) -> "Field":
        """Queries q1, q2 … with these tags; judged so that q1 has one relevant document, q2 two, and so on."""
        given: dict[str, Any] = {
            "opens_at": NOW - 30 * DAY, "closes_at": NOW - DAY, "late_allowed": True, "documents": 1000,
            "daily_quota": None, **settings,
        }  # fmt: skip
        lines = qrels or "".join(
            f"q{query} 0 d{document} 1\n" for query in range(1, len(tags) + 1) for document in range(1, query + 1)
        )
        with self.database.write() as session:
            campaign = session.scalars(sa.select(Campaign)).one()
            made = evaluations.create_evaluation(
                session, CONSOLE, campaign, slug, f"The year {slug}", given.pop("period", slug), **given
            )
            rows = [
                QueryRow(f"q{n}", f"text of {n}", tuple(own), f"more of {n}") for n, own in enumerate(tags, start=1)
            ]
            judgments.import_queries(session, CONSOLE, made, rows)
            judgments.import_judgments(
                session, CONSOLE, made, JudgmentFiles(read_judgments(io.BytesIO(lines.encode())))
            )
            self.evaluations[slug] = made.id
        return self

    def run(
        self,
        system: str,
        values: Mapping[str, Sequence[float]] | None = None,
        *,
        team: str = "",
        evaluation: str = "",
        kind: SystemKind = SystemKind.AUTOMATIC,
        state: State = State.SCORED,
        means: Mapping[str, float | None] | None = None,
        intervals: Mapping[str, tuple[float, float]] | None = None,
        hidden: Mapping[str, Sequence[float]] | None = None,
        **given: Any,
    ) -> int:
        """A run of `system` (of a team of the same name unless given); its id.

        values     measure -> one value a query, NaN for none; means are theirs unless given
        hidden     the same over hidden queries too
        """
        place = next(self._numbers)
        when = given.pop("received_at", NOW - 20 * DAY + dt.timedelta(minutes=place))
        digest = f"{place:064x}"
        upload = Received(digest, digest[32:], digest, 10, 10, f"run-{place}.txt")
        with self.database.write() as session:
            owner = self._team(session, team or f"Team {system}")
            given |= {"system": self._system(session, owner, system, kind).id, "received_at": when}
            into = self.evaluations[evaluation or next(iter(self.evaluations))]
            run = submissions.submit(session, CONSOLE, into, owner.id, upload=upload, **given)
            scoring = session.scalars(sa.select(Scoring).where(Scoring.submission_id == run.id)).one()
            scoring.state = state
            scoring.finished_at = when
            if state is State.SCORED:
                run.scored_at = when
                self._record(session, scoring, values or {}, Subset.SHOWN, means or {}, intervals or {})
                self._record(session, scoring, hidden or values or {}, Subset.ALL, means or {}, intervals or {})
                if run.designation is Designation.PRIMARY:
                    held = session.get_one(Participation, (owner.id, into))
                    held.primary_submission_id = run.id
            return run.id

    def judge_again(
        self,
        qrels: str,
        figures: Mapping[int, Mapping[str, Sequence[float]]],
        *,
        source: str | None = None,
        at: dt.datetime = NOW - 10 * DAY,
        note: str = "",
    ) -> int:
        """New judgments of the first evaluation, by which its runs have these values; the set that stands `at` then."""
        with self.database.write() as session:
            into = session.get_one(Evaluation, next(iter(self.evaluations.values())))
            judged = read_judgments(io.BytesIO(qrels.encode()))
            revision = judgments.import_judgments(session, CONSOLE, into, JudgmentFiles(judged), note, source=source)
            made = session.scalars(sa.select(ScoringSet).where(ScoringSet.revision_id == revision.id)).one()
            self._score(session, made, figures, at)
            return made.id

    def score_again(
        self, figures: Mapping[int, Mapping[str, Sequence[float]]], *, at: dt.datetime = NOW - 10 * DAY
    ) -> int:
        """The set that other settings have made, by which the runs have these values; it stands `at` then."""
        with self.database.write() as session:
            made = session.scalars(sa.select(ScoringSet).where(ScoringSet.state == SetState.BUILDING)).one()
            self._score(session, made, figures, at)
            return made.id

    def _score(
        self, session: Session, made: ScoringSet, figures: Mapping[int, Mapping[str, Sequence[float]]], at: dt.datetime
    ) -> None:
        former = session.scalar(
            sa.select(ScoringSet).where(ScoringSet.state == SetState.CURRENT, ScoringSet.id != made.id)
        )
        for scoring in session.scalars(sa.select(Scoring).where(Scoring.scoring_set_id == made.id)):
            scoring.state, scoring.finished_at = State.SCORED, at
            for subset in Subset:
                self._record(session, scoring, figures.get(scoring.submission_id, {}), subset, {}, {})
        if made.state is SetState.BUILDING:
            scoring_sets.switch(session, CONSOLE, made)
        made.switched_at = at
        if former is not None:
            former.switched_at = at - DAY
            former.shown_until = at if former.state is SetState.SUPERSEDED else None

    def change(self, evaluation: str = "", **columns: Any) -> None:
        with self.database.write() as session:
            found = session.get_one(Evaluation, self.evaluations[evaluation or next(iter(self.evaluations))])
            for name, value in columns.items():
                setattr(found, name, value)

    def refresh(self) -> None:
        """Works out what is due of the boards, as a worker does between jobs."""
        with self.database.read() as session:
            due = boards.due(session)
        for one in due:
            assert boards.refresh(self.database, one)

    def withdraw(self, run: int) -> None:
        with self.database.write() as session:
            submissions.withdraw(session, CONSOLE, session.get_one(Submission, run))

    def member(self, team: str) -> Actor:
        """Somebody in that team."""
        return Actor(None, "member", teams=frozenset({self.teams[team]}))

    def scoring(self, run: int) -> int:
        with self.database.read() as session:
            return session.scalars(sa.select(Scoring.id).where(Scoring.submission_id == run)).one()

    def current_set(self, evaluation: str = "") -> ScoringSet:
        with self.database.read() as session:
            found = current_set(session, self.evaluations[evaluation or next(iter(self.evaluations))])
            assert found is not None
            return found

    def _team(self, session: Session, name: str) -> Team:
        if name not in self.teams:
            self.teams[name] = writes.create_team(session, CONSOLE, name).id
        return session.get_one(Team, self.teams[name])

    def _system(self, session: Session, team: Team, name: str, kind: SystemKind) -> System:
        found = session.scalar(sa.select(System).where(System.team_id == team.id, System.name == name))
        of = found or writes.create_system(session, CONSOLE, team, writes.NewSystem(name, kind))
        self.systems[name] = of.id  # of several teams' systems of one name that of the last run
        return of

    def _record(
        self,
        session: Session,
        scoring: Scoring,
        values: Mapping[str, Sequence[float]],
        subset: Subset,
        means: Mapping[str, float | None],
        intervals: Mapping[str, tuple[float, float]],
    ) -> None:
        for measure, own in values.items():
            vector = np.array(own, dtype=float)
            defined = vector[~np.isnan(vector)]
            mean = float(defined.mean()) if len(defined) else None
            low, high = intervals.get(measure, (None, None))
            of_run = {"scoring_id": scoring.id, "measure": measure, "subset": subset, "count": len(defined)}
            session.add(Score(**of_run, mean=means.get(measure, mean), low=low, high=high, values=vector))


def _fill(database: Database, **evaluation: Any) -> dict[str, int]:
    made = Field(database)
    made.campaign()
    made.evaluation(**evaluation)
    return made.evaluations


@pytest.fixture(scope="session")
def fill_field() -> Filling:
    """Puts into a database what `field` begins with."""
    return _fill


@pytest.fixture
def field(database: Database, own_database: OwnDatabase, fill_field: Filling) -> Iterator[Field]:
    """A campaign ranked by AP with one evaluation of four queries, closed yesterday, on both engines."""
    yield Field(database, evaluations=own_database.known)
    assert standing_kept(database) == standing_by_the_rule(database)  # whatever the test did


@pytest.fixture(scope="session")
def fill_twenty() -> Filling:
    """Puts into a database what `twenty_queries` begins with."""
    return partial(_fill, tags=[("law",)] * 20)


@pytest.fixture
def twenty_queries(database: Database, own_database: OwnDatabase, fill_twenty: Filling) -> Field:
    """A campaign ranked by AP with one evaluation of twenty queries, all of them of the tag "law"."""
    return Field(database, evaluations=own_database.known)
