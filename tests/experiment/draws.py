"""Judgments that two installations differ in: drawn freely where nothing is shown, else so that shown means stay equal.

Where the measures only ask whether a document is relevant, no mean changes when

- a relevant grade becomes another relevant grade, or one that is not relevant another such grade;
- a document that is not relevant is judged or not, as long as its query stays judged;
- a relevant document that no run lists becomes another one that no run lists;
- a query of which everything is closed (a hidden one, before closing) is judged in any way;
- under measures that leave out queries without a relevant document, such a query is judged or not.

These follow from the definitions. Where so few queries are seen that no interval is shown, judgments are changed beyond
that: a change stays where `means` finds every mean, rounded as it is shown, as it was. Orders, ranks and the choice of
the best run must then be the same too.
"""

import io
import math
from collections.abc import Mapping, Sequence

import hypothesis
from hypothesis import HealthCheck, Phase, strategies as st

from leaderboard import scoring
from leaderboard.boards.rules import Rounding
from leaderboard.evaluations.rules import Judging
from leaderboard.formats import Judgments, Run, SubtopicJudgments, read_judgments, read_run, read_subtopic_judgments
from leaderboard.metrics import Setting, parse_all
from leaderboard.statistics import LEAST_QUERIES
from tests.experiment.plans import CAMPAIGNS, COLLECTION, DOCUMENTS, EVALUATIONS, RUNS, Plan

Grades = Mapping[tuple[str, str], int]  # (query, document) -> grade
Drawn = Mapping[str, tuple[Grades, Grades]]  # evaluation -> its first and its second revision

RELEVANT = (1, 2, 3)
NOT_RELEVANT = (0, -1)
MOST = 24  # judgments of an evaluation that are drawn freely
QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large, HealthCheck.large_base_example]
CHANGES = 6  # that are tried of an evaluation whose means are shown
SCORED = ("good", "lacking", "other")  # the runs that are in time where means are shown

UNLISTED = [one for one in DOCUMENTS if all(one not in own for run in RUNS.values() for own in run.lists.values())]
JUDGED = [*DOCUMENTS[:15], *UNLISTED]  # the documents that are judged where judgments are drawn freely

A_YEAR: Grades = {
    ("q1", "d01"): 1, ("q1", "d02"): 0, ("q1", "d04"): 2, ("q1", "d39"): 1, ("q2", "d07"): 0, ("q2", "d08"): 1,
    ("q2", "d20"): 0, ("q3", "d09"): 0, ("q3", "d16"): 0, ("q4", "d01"): 3, ("q4", "d10"): 1, ("h1", "d01"): 1,
}  # fmt: skip
REVISED: Grades = {**A_YEAR, ("q2", "d07"): 1, ("q4", "d11"): 0, ("q4", "d38"): 2}


def _within(plan: Plan, grades: Grades) -> Grades:
    return {where: grade for where, grade in grades.items() if where[0] in plan.queries}


# The judgments of the installation that all others are compared with.
FIRST: Drawn = {name: (_within(plan, A_YEAR), _within(plan, REVISED)) for name, plan in EVALUATIONS.items()}


def draw_years(count: int, seed: int | None = None) -> list[Drawn]:
    """The judgments of so many years; from a seed the same each time."""
    found: list[Drawn] = []

    @hypothesis.settings(
        max_examples=count, database=None, phases=[Phase.generate], suppress_health_check=[*HealthCheck]
    )
    @hypothesis.given(_years())
    def collect(year: Drawn) -> None:
        found.append(year)

    (collect if seed is None else hypothesis.seed(seed)(collect))()
    return found


@st.composite
def _years(draw: st.DrawFn) -> Drawn:
    """Judgments for a whole year, which tell nobody who is no organiser anything that FIRST does not."""
    return {name: draw(_revisions(name)) for name in EVALUATIONS}


def _revisions(name: str) -> st.SearchStrategy[tuple[Grades, Grades]]:
    """The second one differs from the first, as the product asks of a revision."""
    return st.tuples(_judgments(name, 0), _judgments(name, 1)).filter(lambda both: both[0] != both[1])


def _judgments(name: str, revision: int) -> st.SearchStrategy[Grades]:
    plan, first = EVALUATIONS[name], FIRST[name][revision]
    if plan.closed == "everything":
        return _freely(plan.queries)
    if len(plan.seen) >= LEAST_QUERIES:
        return _alike(plan, first)
    return _nudged(name, first)


def _freely(queries: Sequence[str]) -> st.SearchStrategy[Grades]:
    """Any grades of any documents: queries without a judgment, and without a relevant document, among them."""
    where = st.tuples(st.sampled_from(queries), st.sampled_from(JUDGED))
    return st.dictionaries(where, st.sampled_from([*RELEVANT, *NOT_RELEVANT]), min_size=1, max_size=MOST)


@st.composite
def _alike(draw: st.DrawFn, plan: Plan, first: Grades) -> Grades:
    """Other judgments under which no value of a single query changes, by definition."""
    found: dict[tuple[str, str], int] = {}
    for query in plan.seen:
        own = {document: grade for (of, document), grade in first.items() if of == query}
        relevant = [document for document, grade in own.items() if grade > 0]
        listed = [document for document in relevant if document not in UNLISTED]
        unlisted = len(relevant) - len(listed)
        moved = draw(st.lists(st.sampled_from(UNLISTED), unique=True, min_size=unlisted, max_size=unlisted))
        others = [document for document in DOCUMENTS if document not in {*relevant, *moved}]
        may_be_unjudged = bool(relevant) or not own or plan.closed == "all but means of detection"
        more = st.dictionaries(st.sampled_from(others), st.sampled_from(NOT_RELEVANT), max_size=6)
        grades = draw(more if may_be_unjudged else more.filter(bool))
        grades |= {document: draw(st.sampled_from(RELEVANT)) for document in (*listed, *moved)}
        found |= {(query, document): grade for document, grade in grades.items()}
    closed = [query for query in plan.queries if query not in plan.seen]
    return {**found, **(draw(_freely(closed)) if closed else {})}


@st.composite
def _nudged(draw: st.DrawFn, name: str, first: Grades) -> Grades:
    """Judgments like `_alike`, and beyond that with values of single queries that change no mean that is shown."""
    plan = EVALUATIONS[name]
    found = dict(draw(_alike(plan, first)))
    wanted = means(name, first)
    grade = st.sampled_from([None, *RELEVANT, *NOT_RELEVANT])
    change = st.tuples(st.sampled_from(plan.seen), st.sampled_from(JUDGED), grade)
    for query, document, new in draw(st.lists(change, max_size=CHANGES)):
        tried = {where: old for where, old in found.items() if where != (query, document)}
        if new is not None:
            tried[query, document] = new
        if means(name, tried) == wanted:
            found = tried
    return found


def judgments_of(grades: Grades) -> Judgments:
    """The judgments that a file of them gives."""
    lines = [f"{query} 0 {document} {grade}\n" for (query, document), grade in sorted(grades.items())]
    return read_judgments(io.BytesIO("".join(lines).encode()))


def subtopics_of(grades: Grades) -> SubtopicJudgments:
    """Judgments of subtopics that differ wherever these do: a document is relevant to the subtopic of its grade."""
    lines = [f"{query} s{grade} {document} 1\n" for (query, document), grade in sorted(grades.items())]
    return read_subtopic_judgments(io.BytesIO("".join(lines).encode()))


def means(name: str, grades: Grades, *, rounded: bool = True) -> dict[tuple[str, str], float | None]:
    """(run, measure) -> the mean that an evaluation shows while details are closed; with all its digits on demand."""
    plan = EVALUATIONS[name]
    campaign = CAMPAIGNS[plan.campaign]
    judging = plan.settings.get("judging", Judging.POOLED)
    judged = scoring.prepare(judgments_of(grades), plan.seen, judging=judging.value)
    setting = Setting(documents=COLLECTION, beta=campaign.get("beta"), no_relevant="exclude")
    measures = parse_all(" ".join(campaign["measures"]))
    rounding = Rounding(len(plan.seen))
    found: dict[tuple[str, str], float | None] = {}
    for run in SCORED:
        for measure, result in scoring.score(RUN_COLUMNS[run], judged, measures, setting).results.items():
            mean = result.mean if math.isfinite(result.mean) else None
            found[run, str(measure)] = rounding.mean(mean, measure.family.unit) if rounded else mean
    return found


def _columns(text: str) -> Run:
    return read_run(io.BytesIO(text.encode()))


RUN_COLUMNS = {name: _columns(RUNS[name].text) for name in SCORED}
