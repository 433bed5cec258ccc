"""Charts: drawn on the server, in the page's colours, with their finding in words."""

import gzip
import re
from collections.abc import Mapping, Sequence
from xml.etree import ElementTree

import numpy as np
import pytest
from flask import Flask

from leaderboard.access import VISITOR
from leaderboard.boards.reads.board import BoardQuery
from leaderboard.db import Database
from leaderboard.progress.reads.progress import ProgressPage, progress
from leaderboard.results.reads.heat_map import heat_map
from leaderboard.results.reads.queries import compare
from leaderboard.results.reads.run import results
from leaderboard.submissions.rules import SystemKind
from leaderboard.web.charts.differences import SINGLE, comparison_chart, differences_chart
from leaderboard.web.charts.drawing import PROPERTIES, SVG, Chart
from leaderboard.web.charts.heat_map import heat_map_chart
from leaderboard.web.charts.progress import progress_chart
from leaderboard.web.charts.scatter import scatter_chart
from tests.support.field import NAN, NOW, Field

YEARS = (2024, 2025, 2026)


@pytest.fixture
def years(database: Database) -> Field:
    """A campaign ranked by AP with 2024, 2025 and 2026, and nobody in them."""
    field = Field(database, measures=("AP",))
    field.campaign()
    for year in YEARS:
        field.evaluation(str(year), period_key=year)
    return field


def years_of(field: Field, means: Mapping[str, Sequence[float | None]]) -> ProgressPage:
    """Each system's mean in 2024, 2025 and 2026; None where it took no part. The baseline is called so."""
    for name, own in means.items():
        kind = SystemKind.BASELINE if name == "Baseline" else SystemKind.AUTOMATIC
        for year, mean in zip(YEARS, own, strict=True):
            if mean is not None:
                field.run(name, {"AP": [mean] * 4}, evaluation=str(year), kind=kind)
    return progress_of(field.database)


def progress_of(database: Database) -> ProgressPage:
    with database.read() as session:
        return progress(session, VISITOR, "news", NOW)


def drawn(page: ProgressPage, only: int | None = None) -> Chart:
    chart = progress_chart(page, only=only)
    assert chart is not None
    return chart


def differences_drawn(database: Database, run: int) -> Chart:
    with database.read() as session:
        chart = differences_chart(results(session, VISITOR, run, NOW))
    assert chart is not None
    return chart


def texts(svg: str) -> list[str]:
    root = ElementTree.fromstring(svg)
    return [(element.text or "") for element in root.iter(f"{{{SVG}}}text")]


@pytest.fixture
def page(years: Field) -> ProgressPage:
    means = {"Alder": (0.25, 0.5, 0.625), "Birch": (0.5, 0.25, None), "Baseline": (0.125, 0.125, 0.125)}
    return years_of(years, means)


def test_the_finding_stands_under_the_chart_and_in_its_description(page: ProgressPage) -> None:
    chart, teams = drawn(page), progress_chart(page, "team")
    assert chart.sentence == "The highest AP is 0.500 in 2024 (Birch) and 0.625 in 2026 (Alder)."
    for svg in (chart.wide, chart.narrow):
        root = ElementTree.fromstring(svg)
        assert root.get("role") == "img"
        assert root.get("aria-label") == f"Line chart of AP over 2024, 2025, 2026. {chart.sentence}"
    assert teams is not None
    assert teams.sentence == "The highest AP is 0.500 in 2024 (Team Birch) and 0.625 in 2026 (Team Alder)."


def test_lines_are_named_at_their_ends_and_marks_on_hover(page: ProgressPage) -> None:
    chart = drawn(page)
    assert {"Alder", "Birch, to 2025", "Baseline", "2024", "2025", "2026"} <= set(texts(chart.wide))
    said = [title.text for title in ElementTree.fromstring(chart.wide).iter(f"{{{SVG}}}title")]
    assert "Alder, 2025: 0.500, rank 1" in said


def test_a_drawing_takes_every_colour_from_the_page_and_obeys_its_security_policy(page: ProgressPage) -> None:
    chart = drawn(page)
    for svg in (chart.wide, chart.narrow):
        colours = set(re.findall(r'(?:fill|stroke)="([^"]*)"', svg))
        assert colours <= {"none", "transparent", *(f"var({name})" for name in PROPERTIES.values())}
        assert "style=" not in svg
        assert "<style" not in svg
        assert "<script" not in svg


def test_at_most_six_systems_have_a_colour_and_the_rest_is_grey(years: Field) -> None:
    means = {f"System {number}": (0.1 * number, 0.1 * number, 0.1 * number) for number in range(1, 9)}
    chart = drawn(years_of(years, means))
    assert set(re.findall(r"--series-\w+", chart.wide)) == {
        *(f"--series-{number}" for number in range(1, 7)), "--series-rest",
    }  # fmt: skip
    # The best six by rank are the coloured ones.
    assert {f"System {number}" for number in range(3, 9)} <= set(texts(chart.wide))
    assert not {"System 1", "System 2"} & set(texts(chart.wide))


CHANGE = r"\b(r[io]se[ns]?|f[ae]ll(en|s)?|improve\w*|worsen\w*|gr[eo]w[ns]?|declin\w*|dropp?\w*|(in|de)creas\w*|went)\b"


def test_no_page_over_the_periods_says_that_a_figure_changed_since_its_queries_did(app: Flask, years: Field) -> None:
    years_of(years, {"Alder": (0.25, 0.5, 0.625), "Birch": (0.625, 0.25, 0.125), "Cedar": (0.5, 0.5, 0.5)})
    client = app.test_client()
    for address in ("/campaigns/news/progress", "/teams/team-alder/alder", "/teams/team-birch/birch"):
        page = client.get(address)
        assert "Line chart of AP over 2024, 2025, 2026" in page.text, address
        words = re.sub(r"<(script|style).*?</\1>", "", page.text, flags=re.DOTALL)
        assert not re.search(CHANGE, words, re.IGNORECASE), address


def test_a_systems_own_chart_greys_the_others_and_keeps_its_colour(years: Field) -> None:
    page = years_of(years, {"Alder": (0.5, 0.5, 0.5), "Birch": (0.25, 0.25, 0.375)})
    chart = drawn(page, only=years.systems["Birch"])
    assert set(re.findall(r"--series-\w+", chart.wide)) == {"--series-2", "--series-rest"}
    assert chart.sentence == "AP of Birch is 0.250 in 2024 and 0.375 in 2026; the other systems are grey."


def test_what_stands_on_hover_is_written_for_readers(years: Field) -> None:
    """Never the names of our own data, nor a colour that stands for the page's."""
    page = years_of(years, {"Alder": (0.25, 0.5, 0.5), "Birch": (0.5, None, 0.25)})
    run = years.run("Cedar", {"AP": [0.75, 0.25, 0.5, NAN]}, evaluation="2024")
    teams = progress_chart(page, "team")
    assert teams is not None
    for chart in (drawn(page), teams, differences_drawn(years.database, run)):
        said = [title.text or "" for title in ElementTree.fromstring(chart.wide).iter(f"{{{SVG}}}title")]
        assert said
        assert not [text for text in said if re.search("colour|#0000|mean|label|period|difference|zero", text)]


def test_a_runs_chart_says_where_it_is_above_and_below_the_median(field: Field) -> None:
    run = field.run("Alder", {"AP": [0.75, 0.25, 0.5, NAN]})
    field.run("Birch", {"AP": [0.25, 0.5, 0.5, 0.5]})
    field.run("Cedar", {"AP": [0.25, 0.75, 0.5, 0.5]})
    chart = differences_drawn(field.database, run)
    assert chart.sentence == (
        "Above the median of 3 systems on 1 of 3 queries, below on 1, level on 1; "
        "most above on query q1 (+0.500); furthest below on query q2 (−0.250)."
    )
    assert {"q1", "q2", "q3"} <= set(texts(chart.wide))


def scatter_of(database: Database, first: int, second: int) -> Chart:
    with database.read() as session:
        found = compare(session, VISITOR, "news", "2026", NOW, a=first, b=second).compared
    assert found is not None
    chart = scatter_chart(found)
    assert chart is not None
    return chart


def test_two_runs_are_points_one_across_and_one_upwards(field: Field) -> None:
    first = field.run("Alder", {"AP": [0.75, 0.25, 0.5, NAN]})
    second = field.run("Birch", {"AP": [0.25, 0.5, 0.5, 0.5]})
    chart = scatter_of(field.database, first, second)
    values = [(row["query"], row["a"], row["b"]) for row in chart.rows]
    assert values == [("q1", 0.75, 0.25), ("q2", 0.25, 0.5), ("q3", 0.5, 0.5)]
    said = [title.text or "" for title in ElementTree.fromstring(chart.wide).iter(f"{{{SVG}}}title")]
    assert sorted(said) == ["q1: 0.750 and 0.250", "q2: 0.250 and 0.500", "q3: 0.500 and 0.500"]
    assert {"q1", "q2", "AP of Alder", "AP of Birch"} <= set(texts(chart.wide))
    assert "q3" not in texts(chart.wide)  # level: its name would say nothing
    with field.database.read() as session:
        compared = compare(session, VISITOR, "news", "2026", NOW, a=first, b=second).compared
    assert compared is not None
    differences = comparison_chart(compared)
    assert differences is not None
    assert differences.sentence.startswith("Alder is above Birch on 1 of 3 queries, below on 1, level on 1; most above")


def test_of_two_runs_one_point_has_a_name_on_each_side(field: Field) -> None:
    first = field.run("Alder", {"AP": [0.75, 0.74, 0.26, 0.25]})  # as near to each other as names would collide
    second = field.run("Birch", {"AP": [0.25, 0.25, 0.75, 0.75]})
    assert {"q1", "q2", "q3", "q4"} & set(texts(scatter_of(field.database, first, second).wide)) == {"q1", "q4"}


def heat_map_of(database: Database, **asked: str) -> Chart:
    with database.read() as session:
        chart = heat_map_chart(heat_map(session, VISITOR, "news", "2026", NOW, BoardQuery(**asked)))
    assert chart is not None
    return chart


def test_a_heat_map_has_a_cell_for_each_value_in_the_colour_of_its_step(field: Field) -> None:
    field.run("Alder <b>", {"AP": [1.0, 0.5, NAN, 0.0]})
    field.run("Birch", {"AP": [0.9, 0.125, NAN, 0.0]})
    chart = heat_map_of(field.database)
    grid = ElementTree.fromstring(chart.wide).iter(f"{{{SVG}}}path")
    cells = {re.sub(r"var\(--|\)", "", path.get("fill", "")): path.get("d", "").count("M") for path in grid}
    # Of q1, q2 and q4, each with its median first: 0.95, 1, 0.9; 0.3125, 0.5, 0.125; 0, 0, 0.
    assert cells == {"heat-8": 3, "heat-4": 1, "heat-3": 1, "heat-1": 1, "heat-0": 3}
    assert {"q1", "q2", "q4", "Alder <b>", "Birch", "median"} <= set(texts(chart.wide))
    said = [title.text for title in ElementTree.fromstring(chart.wide).iter(f"{{{SVG}}}title")]
    assert said[0] == "q1: median 0.950, best 1.000. text of 1"
    assert dict(chart.rows[0]) == {"query": "q1", "median": 0.95, "Alder <b>": 1.0, "Birch": 0.9}


def test_values_below_0_have_colours_of_their_own_and_where_lower_is_better_the_lowest_has_the_best(
    database: Database,
) -> None:
    field = Field(database, measures=("AQWV", "Pmiss")).campaign(beta=20.0).evaluation()
    field.run("Alder", {"AQWV": [0.5, -0.5, -1.0, -7.0], "Pmiss": [0.0, 0.5, 1.0, 1.0]})
    by_value, by_misses = heat_map_of(database).wide, heat_map_of(database, measure="Pmiss").wide
    drawn = [set(re.findall(r'<path fill="var\(--(heat-[a-z0-9-]+)\)"', svg)) for svg in (by_value, by_misses)]
    assert drawn == [{"heat-4", "heat-below-1", "heat-below-2", "heat-below-3"}, {"heat-8", "heat-4", "heat-0"}]
    assert texts(by_value)[1:6] == ["< −1", "< −0.5", "< 0", "0", "0.125"]
    assert texts(by_misses)[1:3] == ["1", "0.875"]


def test_a_heat_map_of_126_queries_and_50_systems_is_small(database: Database) -> None:
    field = Field(database, measures=("AP",)).campaign().evaluation(tags=[()] * 126)
    values = np.random.default_rng(7).random((50, 126))
    for number, own in enumerate(values):
        field.run(f"System {number}", {"AP": own.tolist()})
    chart = heat_map_of(database)
    assert chart.wide.count("h") > 51 * 126
    assert len(gzip.compress(chart.wide.encode())) < 60_000
    assert not chart.narrow  # it would be the same once more


def test_very_many_queries_become_an_area(database: Database) -> None:
    field = Field(database).campaign().evaluation(tags=[()] * (SINGLE + 1), qrels="q1 0 d 1\n", judging="complete")
    values = [(number % 10) / 10 for number in range(SINGLE + 1)]
    run = field.run("Alder", {"AP": values})
    field.run("Birch", {"AP": values[::-1]})
    chart = differences_drawn(database, run)
    assert len(re.findall(r'<path [^>]*fill="var\(--series-[12]\)"', chart.wide)) == 2  # above the median, and below


def test_nothing_is_drawn_over_evaluations_of_one_period(database: Database) -> None:
    field = Field(database)
    field.campaign()
    for slug in ("a", "b"):
        field.evaluation(slug, period="2026")
        field.run("Alder", {"AP": [0.5] * 4}, evaluation=slug)
    page = progress_of(database)
    assert progress_chart(page) is None
    assert progress_chart(page, only=field.systems["Alder"]) is None
    assert progress_chart(page, "team") is None


def test_the_first_few_of_the_latest_period_have_a_name_in_the_chart_however_young_they_are(years: Field) -> None:
    old = {f"System {number}": (0.1 + number / 100,) * 3 for number in range(1, 8)}
    young = {"Egret": (None, None, 0.75), "Meteor": (None, None, 0.742), "Heron": (None, None, 0.76)}
    chart = drawn(years_of(years, {**old, **young}))
    for svg in (chart.wide, chart.narrow):
        assert set(young) <= set(texts(svg))
        for name in young:
            line = re.search(rf"<path [^>]*>\s*<title>{name}</title>", svg)
            assert line is not None
            assert "--series-rest" not in line[0]


def test_a_page_links_its_chart_as_a_drawing_a_picture_and_data(app: Flask, years: Field) -> None:
    years_of(years, {"Alder": (0.25, 0.5, 0.625), "Birch": (0.5, 0.25, None)})
    client = app.test_client()
    page = client.get("/campaigns/news/progress?measure=AP").text
    links = {ending: f"/campaigns/news/progress/charts/systems.{ending}?measure=AP" for ending in ("svg", "png", "csv")}
    assert all(f'href="{link}"' in page for link in links.values())
    drawing = client.get(links["svg"])
    assert drawing.mimetype == "image/svg+xml"
    assert ElementTree.fromstring(drawing.text).get("role") == "img"
    assert "var(" not in drawing.text  # in colours of its own: the page's are not there
    assert "#0072b2" in drawing.text
    assert '<text paint-order="stroke"' in drawing.text  # else the outlines of bold figures lie over them
    assert client.get(links["png"]).data.startswith(b"\x89PNG")
    lines = client.get(links["csv"]).text.splitlines()
    assert lines[0] == "line,period,mean,low,high,rank"
    assert [line.split(",")[:3] for line in lines[1:]] == [
        ["Alder", "2024", "0.25"], ["Alder", "2025", "0.5"], ["Alder", "2026", "0.625"],
        ["Birch", "2024", "0.5"], ["Birch", "2025", "0.25"],
    ]  # fmt: skip
    assert client.get("/campaigns/news/progress/charts/others.svg").status_code == 404


def test_the_front_page_leads_to_the_latest_board_that_its_chart_shows(app: Flask, years: Field) -> None:
    years_of(years, {"Alder": (0.25, 0.5, 0.625), "Birch": (0.5, 0.25, 0.5)})
    years.evaluation("2027-speech", period_key=2027, condition="Speech")
    years.run("Alder", {"AP": [0.5] * 4}, evaluation="2027-speech")
    front = app.test_client().get("/").text
    assert "over 2024, 2025, 2026" in front
    assert re.findall(r'href="([^"]*)">See the board', front) == ["/campaigns/news/2026"]
