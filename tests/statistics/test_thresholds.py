"""The interval of MQWV against a slow twin that sweeps every drawn run anew, and against populations."""

import math
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from leaderboard.metrics import Ranking, Setting, parse
from leaderboard.metrics.families.detection import losses_at, promising_thresholds
from leaderboard.metrics.ranking import graded_lists
from leaderboard.statistics.intervals import threshold_intervals
from leaderboard.statistics.samples import draws

thresholds = import_module("leaderboard.statistics.intervals")  # whose name its function has, too
SETTING = Setting(documents=1003, beta=20.0)


def field(queries, seed, setting=SETTING, documents=30, theta=0.2):
    """A run whose scores say something of relevance, on queries with one to three relevant documents, or none."""
    draw = np.random.default_rng(seed)
    relevant = draw.random((queries, documents)) < draw.choice([0.03, 0.1, 0.2], (queries, 1))
    relevant[:, 0] |= setting.no_relevant == "exclude"
    scores = np.round(draw.normal(0, 0.5, (queries, documents)) + relevant + draw.normal(0, 0.2, (queries, 1)), 2)
    order = np.argsort(-scores, axis=1, kind="stable")
    scores = np.take_along_axis(scores, order, axis=1)
    lists = [[int(each) for each in row] for row in np.take_along_axis(relevant, order, axis=1)]
    made = graded_lists(*lists, setting=setting)
    returned = (scores >= theta).sum(axis=1)
    return replace(made, returned=returned, is_returned=made.rank <= returned[made.query], load_scores=scores.ravel)


def repeated(ranking: Ranking, queries):
    """The same run on these queries, some of them several times."""
    queries = np.asarray(queries)

    def of(starts, *columns):
        parts = [slice(*starts[query : query + 2]) for query in queries]
        return [np.concatenate([column[part] for part in parts]) for column in columns]

    rank, grade, is_returned = of(ranking.hit_start, ranking.rank, ranking.grade, ranking.is_returned)
    (judged_grade,) = of(ranking.judged_start, ranking.judged_grade)
    (scores,) = of(ranking.line_start, ranking.scores)
    return replace(
        ranking,
        retrieved=ranking.retrieved[queries],
        returned=ranking.returned[queries],
        query=np.repeat(np.arange(len(queries)), np.diff(ranking.hit_start)[queries]),
        rank=rank,
        grade=grade,
        is_returned=is_returned,
        judged_start=np.concatenate(([0], np.cumsum(np.diff(ranking.judged_start)[queries]))),
        judged_grade=judged_grade,
        load_scores=lambda: scores,
    )


@pytest.mark.parametrize("policy", ["exclude", "pfa_only", "pmiss_zero"])
def test_every_draw_has_the_best_threshold_of_a_sweep_over_the_drawn_queries(policy):
    ranking = field(12, seed=4, setting=replace(SETTING, no_relevant=policy))
    weights = np.concatenate(list(draws(12, 40, seed=1)))
    thetas = promising_thresholds(ranking, most=10_000)
    counts = np.ones(12, dtype=bool)
    best = thresholds._best(ranking, 1, thetas, counts, weights)
    for row, place in zip(weights, best, strict=True):
        drawn = repeated(ranking, np.repeat(np.arange(12), row.astype(int)))
        p_miss, p_fa = (np.nanmean(column) for column in losses_at(drawn, thetas[[place]]))
        assert 1 - p_miss - p_fa == pytest.approx(parse("MQWV").evaluate(drawn).mean, abs=1e-12)


def test_the_estimates_are_the_measures_own():
    ranking = field(20, seed=7)
    own, lost = threshold_intervals(ranking, resamples=300)
    maximum, actual = parse("MQWV").evaluate(ranking).mean, parse("AQWV").evaluate(ranking).mean
    assert own.estimate == pytest.approx(maximum)
    assert lost.estimate == pytest.approx(maximum - actual)
    assert own.low < maximum < own.high <= 1.0
    assert (own.queries, own.resamples) == (20, 300)


def test_it_covers_what_the_best_threshold_brings_over_all_queries():
    population = field(400, seed=1)
    maximum, actual = parse("MQWV").evaluate(population).mean, parse("AQWV").evaluate(population).mean
    draw = np.random.default_rng(2)
    covered = []
    for seed in range(120):
        sample = repeated(population, draw.integers(0, 400, 20))
        own, lost = threshold_intervals(sample, resamples=200, seed=seed)
        covered.append((own.low <= maximum <= own.high, lost.low is None or lost.low <= maximum - actual <= lost.high))
    assert np.all(np.mean(covered, axis=0) > 0.88)  # .95 less four standard errors


def test_with_many_thresholds_the_most_valuable_are_tried_and_fewer_draws_are_made(monkeypatch):
    ranking = field(20, seed=7)
    every = promising_thresholds(ranking, most=10_000)
    few = promising_thresholds(ranking, most=10)
    assert len(few) == 11 < len(every)
    assert set(few) < set(every)
    assert parse("MQWV").evaluate(ranking).theta in few
    monkeypatch.setattr(thresholds, "WORK", 1)
    assert threshold_intervals(ranking)[0].resamples == thresholds.LEAST_RESAMPLES


def test_what_a_single_threshold_lost_is_never_said_to_be_negative():
    ranking = field(12, seed=2, theta=0.6)
    free, never_negative = (threshold_intervals(ranking, resamples=300, one_threshold=one)[1] for one in (0, 1))
    assert free.low < 0.0 == never_negative.low
    assert free.high == never_negative.high > 0.0


def test_decisions_at_the_best_threshold_lose_nothing_and_claim_nothing():
    ranking = field(20, seed=7)
    theta = parse("MQWV").evaluate(ranking).theta
    scores = ranking.scores.reshape(20, -1)
    returned = (scores >= theta).sum(axis=1)
    at_best = replace(ranking, returned=returned, is_returned=ranking.rank <= returned[ranking.query])
    found = threshold_intervals(at_best, resamples=300)[1]
    assert math.isclose(found.estimate, 0.0, abs_tol=1e-12)
    assert found.low is None


def test_with_a_large_beta_there_is_no_interval_below_25_queries():
    ranking = field(24, seed=4, setting=replace(SETTING, beta=999.9))
    own, lost = threshold_intervals(ranking, resamples=20)
    assert own.reason == lost.reason == "an interval needs at least 25 queries; there are 24"
    assert threshold_intervals(replace(ranking, setting=SETTING), resamples=20)[0].low is not None
