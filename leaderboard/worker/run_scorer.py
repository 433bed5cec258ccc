"""Scores a stored run by a scoring set: reads the file, computes every measure, keeps the ranked lists.

The program of the scoring process, which reads the files of participants under a bound on memory.

It is a process of its own because a library that runs out of memory may abort instead of raising, and the worker
has to live on to say so. Standard input brings first the settings, then jobs; each reply is one line. When standard
input ends its worker has died: then it ends too, even in the middle of a job.
"""

import errno
import gc
import logging
import math
import os
import queue
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from leaderboard import scoring
from leaderboard.audit.rules import judgments_sha256
from leaderboard.config import Config
from leaderboard.db import STALLED, Database, snapshot
from leaderboard.errors import Conflict, Damaged, FileRejected, Missing, NoDatabase, NoStore, OtherStore
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.evaluations import collection_list, file_rules
from leaderboard.evaluations.rules import Subset
from leaderboard.formats import NO_RULES, Ids, Judgments, Limits, Run, RunRules, SubtopicJudgments, read_run
from leaderboard.judgments.models import JudgmentRevision, Query
from leaderboard.judgments.reads import stored_rows
from leaderboard.metrics import Floats, Measure, Setting, parse, query_order
from leaderboard.metrics.curves import OF_QUERIES, PRECISION, value_curves, value_level
from leaderboard.metrics.families.binary import over_recall
from leaderboard.metrics.families.detection import AQWV, MQWV
from leaderboard.operating import logs
from leaderboard.scoring.team_finds import team_finds
from leaderboard.statistics import threshold_intervals
from leaderboard.store import RankedList, RunStore
from leaderboard.submissions.models import Submission
from leaderboard.worker import messages
from leaderboard.worker.models import ScoringSet
from leaderboard.worker.writes import imported, of_its_event

SEE = "see `leaderboard verify`"


@dataclass(frozen=True)
class _Prepared:
    """A scoring set made ready for any number of runs. A set never changes, so it may be kept between jobs.

    size       how many positions the vectors of values have
    positions  external id of a query -> its position there
    level      from which grade on a document is relevant
    asked      the queries that are not excluded, judged or not
    judged     subset -> the queries that count in it, with their judgments
    needed     the queries that a run must have a list for where every query must: shown ones
    """

    size: int
    positions: dict[str, int]
    asked: tuple[str, ...]
    needed: tuple[str, ...]
    judged: dict[Subset, scoring.JudgedQueries]
    measures: tuple[Measure, ...]
    setting: Setting
    level: int

    def by_position(self, queries: Sequence[str], values: Floats) -> Floats:
        """float64[size] of the values of these queries, NaN elsewhere."""
        placed = np.full(self.size, np.nan)
        placed[[self.positions[query] for query in queries]] = values
        return placed


class RunScorer:
    """Scores runs one after the other, and keeps the last scoring set ready for the next run.

    report  is told of each stage of a job before it begins
    """

    def __init__(
        self,
        database: Database,
        store: RunStore,
        limits: Limits,
        report: Callable[[messages.Stage], None] = lambda _: None,
    ) -> None:
        self._database = database
        self._store = store
        self._limits = limits
        self._report = report
        self._stage = messages.Stage.STARTING
        self._prepared = lru_cache(1)(partial(_prepare, database))
        self._rules: tuple[object, RunRules | None] = None, None  # what they are made of, and they

    def answer(self, job: messages.Job | messages.LeaveTeamsOut, job_bytes: int) -> messages.Reply:
        """Does a job and says what came of it, whatever goes wrong."""
        self._stage = messages.Stage.STARTING
        try:
            if isinstance(job, messages.LeaveTeamsOut):
                return self._leave_teams_out(job)
            if not job.copy_only:
                return self.score(job.submission_id, job.scoring_set_id)
            prepared, _, run = self._read(job.submission_id, job.scoring_set_id)
            self._keep_lists(job.submission_id, run, prepared)
            return messages.Copied()
        except (Damaged, Conflict) as error:
            return messages.Unreadable(error.message, isinstance(error, Damaged) and not isinstance(error, Missing))
        except (NoDatabase, NoStore) as error:
            log.warning("it waits: %s", error.reason, extra=logs.kind_of(error))
            return messages.Postponed(next(words for kind, words in WAITS.items() if isinstance(error, kind)))
        except FileRejected as error:
            return messages.Rejected(error.problems, error.count)
        except MemoryError:
            return messages.out_of_memory(job_bytes, self._stage)
        except Exception as error:  # whatever it is, the worker records it and lives on
            log.exception("%s failed while %s", type(job).__name__, self._stage)
            if isinstance(error, OSError) and error.errno in REFUSALS:
                return messages.Postponed(f"the system did not allow what it needs ({error.strerror})")
            return messages.Failed(f"an error while {self._stage}: {type(error).__name__}")

    def score(self, submission_id: int, scoring_set_id: int, *, keep: bool = True) -> messages.RunScores:
        """Scores a run.

        keep  whether the store keeps the run's ranked lists; not where figures are only to be compared

        Raises FileRejected with the problems of its file, Damaged when the file is not what was received, Conflict when
        the set or its judgments are not what was made and imported, and NoStore or NoDatabase when these do not answer.
        """
        started = time.perf_counter()
        prepared, submission, run = self._read(submission_id, scoring_set_id)
        self._enter(messages.Stage.SCORING)
        score = partial(scoring.score, threshold=submission.threshold, name=submission.filename)
        measures, setting = prepared.measures, prepared.setting
        scored = {subset: score(run, judged, measures, setting) for subset, judged in prepared.judged.items()}
        whole, listed = scored[Subset.ALL], set(run.queries)
        one_threshold = scoring.by_one_threshold(run.score, run.decision, setting.compat)
        stated = submission.threshold if run.decision is None else None if one_threshold else math.nan
        if keep:
            self._keep_lists(submission_id, run, prepared)
        return messages.RunScores(
            measures=tuple(
                _measure_score(measure, subset, scored.get(subset, whole), prepared, one_threshold)
                for measure in measures
                for subset in Subset
            ),
            missing=tuple(query for query in prepared.asked if query not in listed),
            unjudged=prepared.judged[Subset.ALL].left_out,
            curves={subset: _curves(own, prepared, stated) for subset, own in scored.items()},
            seconds=time.perf_counter() - started,
            facts={
                "lines": len(run),
                "queries": len(run.queries),
                "tag": run.tag,
                "said": run.said.entries,
                "said_problem": run.said.problem,
                "theta": {
                    str(measure): theta if math.isfinite(theta) else None
                    for measure, evaluated in whole.results.items()
                    if (theta := evaluated.theta) is not None
                },
                "crowded": len(whole.crowded),
                "one_threshold": one_threshold,
            },
        )

    def _leave_teams_out(self, job: messages.LeaveTeamsOut) -> messages.TeamFinds:
        set_id, prepared = job.scoring_set_id, self._prepared(job.scoring_set_id)
        judged = {subset.value: own for subset, own in prepared.judged.items()}
        of_set = judged, parse(job.measure), prepared.setting, prepared.level
        return messages.TeamFinds(team_finds(job.runs, lambda run: self._read(run, set_id)[2], *of_set))

    def _enter(self, stage: messages.Stage) -> None:
        self._stage = stage
        self._report(stage)

    def _read(self, submission_id: int, scoring_set_id: int) -> tuple[_Prepared, Submission, Run]:
        self._enter(messages.Stage.JUDGMENTS)
        prepared = self._prepared(scoring_set_id)
        with self._database.read() as session:
            submission = session.get_one(Submission, submission_id)
            # A run that was scored has kept the rules of its time: later ones reject it no more.
            rules = None
            if submission.scored_at is None:
                rules = self._rules_of(session, submission.evaluation_id, prepared.needed)
        self._enter(messages.Stage.RUN)
        with self._store.open_run(submission.sha256) as source:
            queries = prepared.positions.keys()
            run = read_run(source, queries=queries, name=submission.filename, limits=self._limits, rules=rules)
        return prepared, submission, run

    def _rules_of(self, session: Session, evaluation_id: int, needed: tuple[str, ...]) -> RunRules | None:
        """The evaluation's file rules, ready while they stay the same, with the list of that moment."""
        rules = file_rules(session.get_one(Evaluation, evaluation_id))
        if rules == NO_RULES:
            return None
        if self._rules[0] != (of := (rules, evaluation_id, needed)):
            packed = collection_list(session, evaluation_id) if rules.documents else None
            self._rules = of, RunRules(rules, needed, packed)
        return self._rules[1]

    def _keep_lists(self, submission_id: int, run: Run, prepared: _Prepared) -> None:
        self._enter(messages.Stage.LISTS)
        lists = _ranked_lists(run, prepared)
        self._store.keep_ranked_lists(submission_id, prepared.setting.compat, prepared.size, lists)


def _prepare(database: Database, scoring_set_id: int) -> _Prepared:
    with database.read() as session:
        made = session.get_one(ScoringSet, scoring_set_id)
        if not of_its_event(session, made):
            raise Conflict(f"scoring set {made.id} is not the one that this program made: {SEE}")
        revision = session.get_one(JudgmentRevision, made.revision_id)
        settings = made.settings
        of_set = sa.and_(Query.evaluation_id == made.evaluation_id, Query.position < settings.queries)
        queries = session.execute(sa.select(Query.external_id, Query.position).where(of_set).order_by(Query.position))
        positions = dict(queries.all())
        judged, known, about = (rows.all() for rows in stored_rows(session, revision.id, of_set))
        if not imported(session, revision) or judgments_sha256(judged, known, about) != revision.sha256:
            raise Conflict(f"the judgments are not those of an import as revision {revision.number}: {SEE}")
    judgments = _judgments(judged)
    already = _judgments([(*row, 1) for row in known]) if settings.known else None
    subtopics = _judgments_of_subtopics(about) if settings.subtopics else None
    return _Prepared(
        size=settings.queries,
        positions=positions,
        asked=tuple(query_order(settings.counted(positions, Subset.ALL))),
        needed=tuple(query_order(settings.counted(positions, Subset.SHOWN))),
        judged={
            subset: scoring.prepare(
                judgments,
                settings.counted(positions, subset),
                judging=settings.judging.value,
                known=already,
                subtopics=subtopics,
            )
            for subset in settings.subsets
        },
        measures=settings.scored,
        setting=settings.metric,
        level=settings.relevance_level,
    )


def _numbered(values: Sequence[str]) -> tuple[tuple[str, ...], NDArray[np.uint32]]:
    """The different values in the order of their first rows, and of each row the number of its value."""
    numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
    return tuple(numbers), np.array([numbers[value] for value in values], np.uint32)


def _judgments(rows: Sequence[Sequence[Any]]) -> Judgments:
    """Rows of query, document and grade as columns."""
    query, document, grade = zip(*rows, strict=True) if rows else ((), (), ())
    return Judgments(*_numbered(query), Ids.of(document), np.array(grade, np.int64))


def _judgments_of_subtopics(rows: Sequence[Sequence[Any]]) -> SubtopicJudgments:
    """Rows of query, subtopic, document and grade as columns."""
    judgments = _judgments([(query, document, grade) for query, _, document, grade in rows])
    subtopics, subtopic = _numbered([row[1] for row in rows])
    return snapshot(SubtopicJudgments, judgments, subtopics=subtopics, subtopic=subtopic)


def _measure_score(
    measure: Measure, subset: Subset, scored: scoring.Scored, prepared: _Prepared, one_threshold: bool
) -> messages.MeasureScore:
    """The measure's mean, and its values by position."""
    evaluated = scored.results[measure]
    values = prepared.by_position(scored.queries, evaluated.values)
    is_defined, ends = math.isfinite(evaluated.mean), {}
    if measure.family is MQWV and is_defined:
        rel = int(measure.arguments["rel"])
        maximum, lost = scored.ranking.keep(
            ("intervals", measure), lambda: threshold_intervals(scored.ranking, rel, one_threshold=one_threshold)
        )
        ends = {"low": maximum.low, "high": maximum.high}
        if one_threshold and AQWV(rel=rel) in scored.results:
            ends |= {"lost_low": lost.low, "lost_high": lost.high}
    mean = evaluated.mean if is_defined else None
    return messages.MeasureScore(str(measure), subset, mean, evaluated.count, values, **ends)


def _curves(scored: scoring.Scored, prepared: _Prepared, threshold: float | None) -> dict[str, Floats]:
    """Of decisions, at the level of the first measure that values them; and of ranks, where one measures these."""
    level, columns = value_level(prepared.measures), dict[str, Floats]()
    if level is not None:
        columns = value_curves(scored.ranking, level, threshold)
        columns |= {name: prepared.by_position(scored.queries, columns[name]) for name in OF_QUERIES if columns}
    if any(measure.family.group.startswith("Ranks") for measure in prepared.measures):
        columns[PRECISION] = over_recall(scored.ranking, prepared.level)[PRECISION]
    return columns


def _ranked_lists(run: Run, prepared: _Prepared) -> Iterator[tuple[int, RankedList]]:
    """What the run lists for each of its queries, with the query's position."""
    lines = scoring.ranked_lines(run, prepared.setting.compat)
    for query, first, last in zip(run.queries, lines.start[:-1].tolist(), lines.start[1:].tolist(), strict=True):
        # Decoded all at once, in half the time of one after the other: none holds a newline.
        ids = b"\n".join(lines.document[first:last].tolist()).decode()
        decisions = None if lines.decision is None else lines.decision[first:last]
        documents = tuple(ids.split("\n")) if last > first else ()
        yield prepared.positions[query], RankedList(documents, lines.score[first:last], decisions)


LEAST_ROOM = 32 * 2**20  # bytes that the bound must leave above what the process takes before any job
STATUS = Path("/proc/self/statm")  # Linux
WAITS = {
    OtherStore: "the run store is not that of the database",
    NoStore: "the run store did not answer or is full",
    NoDatabase: "the database did not answer",
}
# What the system refuses to every program for a while, and to no file in particular.
REFUSALS = frozenset({
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO, errno.ESTALE, errno.EMFILE, errno.ENFILE,
    errno.EAGAIN,
})  # fmt: skip
log = logging.getLogger("leaderboard.worker.run_scorer")


def main() -> None:
    """Reads the settings, then jobs, one a line, and answers each with a line until its input ends."""
    # Replies have a pipe of their own: what a library prints must not end up among them.
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    logs.set_up(Config(log="json"))  # which its worker reads
    settings = messages.read_message(sys.stdin.readline())
    jobs: queue.Queue[messages.Job] = queue.Queue()
    threading.Thread(target=_listen, args=(sys.stdin, jobs), daemon=True).start()
    _bound_memory(settings.job_bytes)
    gc.freeze()  # what is imported stays: walking it again and again would take a third of the time of reading JSON
    gc.enable()  # who starts this program imports it without
    store = RunStore(settings.store_url, must_exist=True)
    store.bound = settings.bound
    run_scorer = RunScorer(
        Database.connect(settings.database_url, must_exist=True, program="leaderboard scoring", bounds=STALLED),
        store,
        Limits(expanded_bytes=settings.text_bytes),
        report=lambda stage: _say(replies, messages.Entered(stage)),  # the worker must know it when this dies
    )
    _say(replies, messages.Entered(messages.Stage.STARTING))  # it is ready
    while True:
        _say(replies, run_scorer.answer(jobs.get(), settings.job_bytes))


def _bound_memory(job_bytes: int) -> None:
    """Bounds the address space; 0 leaves it unbounded. Ends the process when the bound leaves no room to score in."""
    if not job_bytes:
        return
    own = int(STATUS.read_text().split()[0]) * resource.getpagesize() if STATUS.exists() else 0
    if own + LEAST_ROOM > job_bytes:
        sys.exit(f"job_bytes is {job_bytes:,} and this process alone takes {own:,}; allow some hundred MB more")
    resource.setrlimit(resource.RLIMIT_AS, (job_bytes, job_bytes))


def _listen(stdin: TextIO, jobs: queue.Queue[messages.Job]) -> None:
    for line in stdin:
        jobs.put(messages.read_message(line))
    os._exit(0)  # nobody is left to hear an answer


def _say(replies: TextIO, message: messages.Message) -> None:
    print(messages.write_message(message), file=replies, flush=True)
