"""What the curves of a run say: as a real worker kept them, as a reader may have them, and on the run's page."""

import dataclasses
import math
import re
from collections.abc import Iterator
from statistics import NormalDist

import pytest
from flask.testing import FlaskClient

from leaderboard.access import CONSOLE, VISITOR, Actor
from leaderboard.audit.verify import Report
from leaderboard.audit.writes import present
from leaderboard.boards.reads.entries import Figure
from leaderboard.campaigns import writes as campaigns
from leaderboard.evaluations.rules import Opening, Split
from leaderboard.formats import Limits
from leaderboard.judgments.writes import set_split
from leaderboard.results.reads.curves import RunCurves, ValueCurves
from leaderboard.results.reads.run import ThresholdCost, results
from leaderboard.web.app import create_app
from leaderboard.web.charts.curves import HEIGHT, RIGHT, WIDTH, curve_charts
from leaderboard.web.charts.drawing import LEFT
from leaderboard.web.sentences import losses_in_words
from leaderboard.worker.models import Curve
from leaderboard.worker.stored_runs import recompute
from tests.support.pages import table_of, text_of
from tests.support.scoring import WorkerHere
from tests.support.world import World

# N_total is 1000 and β is 20. With θ = 2: q1 finds d1 of d1 and d9, with one false alarm; q2 finds d3.
JUDGED = "q1 0 d1 1\nq1 0 d2 0\nq1 0 d9 1\nq2 0 d3 1\nq3 0 d4 0\n"
RUN = "q1 Q0 d2 1 5 t\nq1 Q0 d1 2 4 t\nq1 Q0 d9 3 1 t\nq2 Q0 d3 1 3 t\nq2 Q0 d8 2 1.5 t\nq3 Q0 d4 1 3.5 t\n"
DECIDED = "q1\td2\tN\t5\nq1\td1\tY\t4\nq1\td9\tY\t1\nq2\td3\tY\t3\nq2\td8\tN\t1.5\nq3\td4\tN\t3.5\n"
AQWV = 1 - (0.5 + 0) / 2 - 20 * (1 / 998) / 2
MQWV = 1 - 0 - 20 * (1 / 998 + 1 / 999) / 2  # at θ = 1
OQWV = 1 - 0 - 20 * (1 / 998) / 2  # q2 at 3, q1 at 1
ROUNDED = 0.30040, 0.30063, 0.4996  # 0.00023, 0.19897 and 0.5004 apart


@pytest.fixture
def world(world: World) -> World:
    """Single queries are open to all. What was scored is the subject here, not the process that did it."""
    world.worker = WorkerHere
    world.judge(JUDGED)
    world.change_evaluation(details=Opening.ALWAYS)
    return world


def marked(value: ValueCurves, *figures: float) -> ValueCurves:
    """The same with other figures as AQWV, MQWV and OQWV."""
    marks = [mark._replace(qwv=qwv) for mark, qwv in zip(value.marks, figures, strict=True)]
    return dataclasses.replace(value, marks=marks)


@pytest.fixture
def browser(world: World) -> Iterator[FlaskClient]:
    app = create_app(dataclasses.replace(world.config, secret_key="a secret that only the tests know"))
    yield app.test_client()
    app.extensions["database"].close()


def read(world: World, run: int, actor: Actor = VISITOR) -> RunCurves:
    with world.database.read() as session:
        return results(session, actor, run, present()).curves


def test_a_run_has_its_value_over_the_threshold_and_the_losses_of_its_queries(world: World) -> None:
    run = world.submit(RUN, threshold=2.0)
    world.drain()
    own = read(world, run)
    value = own.value
    assert value is not None
    assert value.names == ["AQWV", "MQWV", "OQWV"]
    assert value.theta.tolist() == [math.inf, 5, 4, 3.5, 3, 1.5, 1]
    assert value.p_miss.tolist() == pytest.approx([1, 1, 0.75, 0.75, 0.25, 0.25, 0])
    assert value.p_fa.tolist() == pytest.approx([0, *[0.5 / 998] * 4, *[(1 / 998 + 1 / 999) / 2] * 2])
    assert value.qwv.tolist() == pytest.approx((1 - value.p_miss - 20 * value.p_fa).tolist())
    assert [mark.theta for mark in value.marks] == pytest.approx([2.0, 1.0, math.nan], nan_ok=True)
    assert [mark.qwv for mark in value.marks] == pytest.approx([AQWV, MQWV, OQWV])
    # Nothing is relevant on q3, which the policy leaves out.
    assert {query: losses[1:3] for query, losses in value.queries.items()} == {
        "q1": (0.5, pytest.approx(1 / 998)), "q2": (0.0, 0.0),
    }  # fmt: skip
    assert own.precision is not None
    assert own.precision.tolist() == pytest.approx([(2 / 3 + 1 + 0) / 3] * 11)  # q1 has two of three at recall 1
    aqwv = next(score.mean for score in world.scores(run) if score.measure == "AQWV")
    assert value.marks[0].qwv == aqwv


def test_only_whoever_may_see_single_queries_has_curves_and_over_the_queries_that_they_know(world: World) -> None:
    with world.organising() as (session, _, evaluation):
        set_split(session, CONSOLE, evaluation, ["q2"], Split.HIDDEN)
    run = world.submit(RUN, threshold=2.0)
    world.drain()
    mine, all_of_it = read(world, run).value, read(world, run, CONSOLE).value
    assert mine is not None
    assert all_of_it is not None
    assert [*mine.queries] == ["q1"]
    assert mine.marks[0].qwv == pytest.approx(1 - 0.5 - 20 / 998)
    assert mine.theta.tolist() == [math.inf, 5, 4, 3.5, 1]  # none of q2's scores
    assert all_of_it.marks[0].qwv == pytest.approx(AQWV)
    world.change_evaluation(details=Opening.NEVER)
    assert read(world, run) == RunCurves()


def test_a_campaign_of_ranks_has_precision_over_recall_alone(world: World, browser: FlaskClient) -> None:
    with world.organising() as (session, campaign, _):
        campaigns.change_campaign(session, CONSOLE, campaign, measures=["AP"], primary_measure="AP")
    run = world.submit(RUN)
    world.drain()
    assert read(world, run).value is None
    assert read(world, run).precision is not None
    page = browser.get(f"/submissions/{run}").text
    assert "Precision and recall" in page
    assert 'id="losses"' not in page


def test_a_changed_point_is_named_by_verify(world: World) -> None:
    run = world.submit(RUN, threshold=2.0)
    world.drain()
    with world.database.write() as session:
        row = session.get_one(Curve, (world.scoring(run).id, "all", "p_miss"))
        row.values = row.values * 0.5
    report = Report()
    recompute(world.database, world.store, Limits(), report, lambda _: None)
    assert [each.what for each in report.differences] == ["curve p_miss over all queries, scored again"]


def test_the_page_says_what_was_lost_where_and_has_each_curve_with_its_data(world: World, browser: FlaskClient) -> None:
    run = world.submit(RUN, threshold=2.0)
    world.drain()
    page = browser.get(f"/submissions/{run}").text
    [sentence] = re.findall(r'id="losses">([^<]*)<', page)
    # AQWV 0.740, MQWV 0.980, OQWV 0.990
    assert sentence == (
        "AQWV is 0.740. Of the 0.260 that it falls short of 1, the choice of threshold cost 0.240 (MQWV − AQWV), "
        "having one threshold for all queries 0.010 (OQWV − MQWV) and the ranking 0.010 (1 − OQWV)."
    )
    charts = f"/submissions/{run}/charts"
    points = table_of(browser.get(f"{charts}/value.csv"))
    assert [row["theta"] for row in points if not row["mark"]] == ["inf", "5.0", "4.0", "3.5", "3.0", "1.5", "1.0"]
    marks = [(row["mark"], row["theta"], float(row["qwv"])) for row in points if row["mark"]]
    figures = [pytest.approx(figure) for figure in (AQWV, MQWV, OQWV)]
    assert marks == [("AQWV", "2.0", figures[0]), ("MQWV", "1.0", figures[1]), ("OQWV", "", figures[2])]
    assert table_of(browser.get(f"{charts}/det.csv")) == points
    assert [row["query"] for row in table_of(browser.get(f"{charts}/queries.csv"))] == ["q1", "q2"]
    assert len(table_of(browser.get(f"{charts}/precision.csv"))) == 11
    words = text_of(page)
    assert "Returning scores down to 2 the run has AQWV 0.740; the best threshold, 1, gives MQWV 0.980" in words
    assert (
        "On average over queries the run misses 25 % of the relevant documents and returns 0.0501 % of the others; "
        "with the best threshold it would miss 0 % and return 0.1 %."
    ) in words.replace("\N{NO-BREAK SPACE}", " ")
    assert "On each of 2 queries the run returns something relevant; its value is below 0 on none." in words


def drawn_at(svg: str, mark: str) -> tuple[float, float]:
    """px of a mark that says this on hover, from the plot's upper left corner."""
    [at] = re.findall(rf'translate\(([\d.,]+)\)"[^>]*>\s*<title>{mark}', svg)
    x, y = map(float, at.split(","))
    return x, y


def test_on_a_det_curve_a_share_of_0_is_the_end_of_its_axis_and_says_so(world: World) -> None:
    run = world.submit(RUN, threshold=1.0)
    world.drain()
    charts = {chart.name: chart for chart in curve_charts(read(world, run))}
    svg = charts["det"].wide
    assert drawn_at(svg, "MQWV")[1] == HEIGHT
    labels = re.findall(r'translate\(-8,([\d.]+)\)"[^>]*>([^<]*)<', svg)
    assert labels[0] == (str(HEIGHT + 4), "0")  # its baseline is 4 px below
    assert [text for _, text in labels[1:]] == ["20 %", "40 %", "60 %", "80 %"]
    # Pfa of 0.1 %, between 0.01 % and 1 %, is where normal deviates have it.
    low, own, high = map(NormalDist().inv_cdf, (0.0001, value_at_best(read(world, run)), 0.01))
    width = WIDTH - LEFT - RIGHT
    assert drawn_at(svg, "MQWV")[0] == pytest.approx(width * (own - low) / (high - low))


def value_at_best(curves: RunCurves) -> float:
    assert curves.value is not None
    return curves.value.marks[1].p_fa


def test_false_alarms_of_queries_are_on_a_linear_axis(world: World) -> None:
    run = world.submit(RUN, threshold=1.0)  # q1 has a false alarm of 998 documents, q2 one of 999
    world.drain()
    svg = {chart.name: chart for chart in curve_charts(read(world, run))}["queries"].wide
    labels = {text: float(x) for x, text in re.findall(r'translate\(([\d.]+),20\)"[^>]*>([^<]*)<', svg)}
    assert labels["0.04 %"] / labels["0.08 %"] == pytest.approx(0.5), labels


def test_decisions_that_no_threshold_gives_are_said_to_be_so(world: World, browser: FlaskClient) -> None:
    run = world.submit(DECIDED)
    world.drain()
    value = read(world, run).value
    assert value is not None
    assert not value.one_threshold
    assert losses_in_words(value, []) == (
        "AQWV is 1.000. Of the 0.000 that it falls short of 1, its decisions cost −0.010 (OQWV − AQWV) and the "
        "ranking 0.010 (1 − OQWV). No single threshold gives these decisions, and they are better than any, so what a "
        "threshold cost is not given."
    )
    assert losses_in_words(marked(value, 0.5, MQWV, OQWV), []) == (
        "AQWV is 0.500. Of the 0.500 that it falls short of 1, its decisions cost 0.490 (OQWV − AQWV) and the ranking "
        "0.010 (1 − OQWV). No single threshold gives these decisions, so what a threshold cost is not given."
    )
    page = text_of(browser.get(f"/submissions/{run}").text)
    assert "By its own decisions the run has AQWV 1.000" in page


def test_a_run_whose_decisions_one_threshold_gives_says_which_although_it_states_none(
    world: World, browser: FlaskClient
) -> None:
    by_threshold = DECIDED.replace("d2\tN", "d2\tY").replace("d9\tY", "d9\tN").replace("d4\tN", "d4\tY")
    first, second = world.submit(by_threshold), world.submit(DECIDED, version="2")
    world.drain()
    words = [text_of(browser.get(f"/submissions/{run}").text) for run in (first, second)]
    assert "Threshold θ none stated returns scores down to 3" in words[0]
    assert "Returning scores down to 3 the run has" in words[0]
    assert "Threshold θ none " in words[1]
    lists = [text_of(browser.get(f"/submissions/{run}/queries/q2").text) for run in (first, second)]
    assert "Decision N from here on, below θ = 3: not returned" in lists[0]
    assert "Decision N from here on: not returned" in lists[1]
    assert "none stated" not in words[1]


def test_every_part_is_rounded_by_itself_and_an_interval_stands_with_its_own(world: World) -> None:
    run = world.submit(RUN, threshold=2.0)
    world.drain()
    value = read(world, run).value
    assert value is not None
    cost = ThresholdCost("MQWV − AQWV", Figure(0.00023, 0.0001, 0.0092, 2))
    said = losses_in_words(marked(value, *ROUNDED), [cost])
    assert said.startswith("AQWV is 0.300. Of the 0.700 that it falls short of 1, ")
    assert "cost 0.000 (MQWV − AQWV; 95 % interval 0.000 to 0.009)" in said  # 0.301 − 0.300 would be 0.001
    assert "queries 0.199 (OQWV − MQWV) and the ranking 0.500 (1 − OQWV)" in said
    level = marked(value, ROUNDED[1], *ROUNDED[1:])
    assert "No other threshold is better on these queries" in losses_in_words(level, [])
