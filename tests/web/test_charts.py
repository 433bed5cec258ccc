"""Charts: drawn on the server, in the page's colours, with their finding in words."""

import re
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from flask import Flask

from leaderboard.access import VISITOR
from leaderboard.db import Database
from leaderboard.progress.reads import ProgressPage, progress
from leaderboard.results.reads.run import results
from leaderboard.submissions.rules import SystemKind
from leaderboard.web import charts
from leaderboard.web.charts import KEPT, LABEL_HEIGHT, PROPERTIES, SINGLE, SVG, _svg
from leaderboard.web.sentences import best_over_periods
from tests.support.databases import Filling, OwnDatabase
from tests.support.field import NAN, NOW, Field

YEARS = (2024, 2025, 2026)


@pytest.fixture
def engine_name() -> str:
    """One is enough: a chart is drawn of what a read returns, which the tests of reads tries on both."""
    return "sqlite"


def made_years(database: Database, measure: str) -> Field:
    """A campaign ranked by the measure with 2024, 2025 and 2026, and nobody in them."""
    field = Field(database, measures=(measure,))
    field.campaign(beta=20.0)
    for year in YEARS:
        field.evaluation(str(year), period_key=year)
    return field


@pytest.fixture(scope="session")
def fill_years() -> Filling:
    """Puts into a database what `years` begins with."""
    return lambda database: made_years(database, "AP").evaluations


@pytest.fixture
def years(database: Database, own_database: OwnDatabase, fill_years: Filling) -> Field:
    """Those years, ranked by AP."""
    return Field(database, measures=("AP",), evaluations=own_database.known)


def years_of(field: Field, means: Mapping[str, Sequence[float | None]]) -> tuple[Field, ProgressPage]:
    """Each system's mean in 2024, 2025 and 2026; None where it took no part. The baseline is called so."""
    for name, own in means.items():
        kind = SystemKind.BASELINE if name == "Baseline" else SystemKind.AUTOMATIC
        for year, mean in zip(YEARS, own, strict=True):
            if mean is not None:
                field.run(name, {field.measures[0]: [mean] * 4}, evaluation=str(year), kind=kind)
    return field, progress_of(field.database)


def progress_of(database: Database) -> ProgressPage:
    with database.read() as session:
        return progress(session, VISITOR, "news", NOW)


def drawn(page: ProgressPage, only: int | None = None) -> charts.Chart:
    chart = charts.progress_chart(page, only=only)
    assert chart is not None
    return chart


def differences_drawn(database: Database, run: int) -> charts.Chart:
    with database.read() as session:
        chart = charts.differences_chart(results(session, VISITOR, run, NOW))
    assert chart is not None
    return chart


def texts(svg: str) -> list[str]:
    root = ElementTree.fromstring(svg)
    return [(element.text or "") for element in root.iter(f"{{{SVG}}}text")]


def places_of(svg: str, name: str) -> list[tuple[float, float]]:
    """Where texts of this name are, in px from the plot's upper left corner."""
    return [
        (float(found[1]), float(found[2]))
        for element in ElementTree.fromstring(svg).iter(f"{{{SVG}}}text")
        if element.text == name
        and (found := re.search(r"translate\((-?[\d.]+),(-?[\d.]+)\)", element.get("transform") or ""))
    ]


def heights_of(svg: str, names: Collection[str]) -> list[float]:
    """Where the labels of these names are, in px below the top of the plot."""
    return sorted(
        float(re.search(r",(-?[\d.]+)\)", element.get("transform") or "")[1])  # type: ignore[index]  # every text is placed
        for element in ElementTree.fromstring(svg).iter(f"{{{SVG}}}text")
        if element.text in names and element.get("stroke") is None
    )


def test_making_the_site_does_not_import_the_renderer(tmp_path: Path) -> None:
    """It starts threads, and hangs after a fork (gunicorn's) if it was used before."""
    program = (
        "import sys; from leaderboard.config import Config; from leaderboard.web.app import create_app;"
        "create_app(Config(database_url='sqlite:///none.sqlite', store_url=sys.argv[1], secret_key='of this test'));"
        "sys.exit('vl_convert' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def page(years: Field) -> ProgressPage:
    means = {"Alder": (0.25, 0.5, 0.625), "Birch": (0.5, 0.25, None), "Baseline": (0.125, 0.125, 0.125)}
    return years_of(years, means)[1]


def test_the_finding_stands_under_the_chart_and_in_its_description(page: ProgressPage) -> None:
    chart = drawn(page)
    assert chart.sentence == "The highest AP is 0.500 in 2024 (Birch) and 0.625 in 2026 (Alder)."
    for svg in (chart.wide, chart.narrow):
        root = ElementTree.fromstring(svg)
        assert root.get("role") == "img"
        assert root.get("aria-label") == f"Line chart of AP over 2024, 2025, 2026. {chart.sentence}"


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
    chart = drawn(years_of(years, means)[1])
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
    field, page = years_of(years, {"Alder": (0.5, 0.5, 0.5), "Birch": (0.25, 0.25, 0.375)})
    chart = drawn(page, only=field.systems["Birch"])
    assert set(re.findall(r"--series-\w+", chart.wide)) == {"--series-2", "--series-rest"}
    assert chart.sentence == "AP of Birch is 0.250 in 2024 and 0.375 in 2026; the other systems are grey."


def test_zero_is_on_the_axis_and_marked_where_a_value_can_be_below_it(database: Database) -> None:
    chart = drawn(years_of(made_years(database, "AQWV"), {"Alder": (0.5, 0.75, 0.5)})[1])
    assert {"0.00", "AQWV; 0 = nothing returned"} <= set(texts(chart.wide))


def test_names_are_text_whatever_they_hold(years: Field) -> None:
    chart = drawn(years_of(years, {'A <b>&amp;</b> "x"': (0.5, None, None)})[1])
    assert 'A <b>&amp;</b> "x", to 2024' in texts(chart.wide)


def test_long_names_are_shortened_in_the_drawing_and_whole_on_hover(years: Field) -> None:
    name = "A system with a name of some forty letters"
    chart = drawn(years_of(years, {name: (0.5, 0.5, 0.5)})[1])
    assert "A system with a name of som…" in texts(chart.wide)
    assert name in chart.wide


def test_labels_of_lines_that_end_together_do_not_lie_on_each_other(years: Field) -> None:
    means = {name: (None, None, 0.5 + 0.001 * place) for place, name in enumerate(("Alder", "Birch", "Cedar"))}
    chart = drawn(years_of(years, {**means, "Dogwood": (0.1, None, None)})[1])
    heights = heights_of(chart.wide, means)
    assert len(heights) == 3
    assert all(after - before >= LABEL_HEIGHT - 1 for before, after in pairwise(heights))


def test_the_name_of_a_line_that_ends_early_stands_right_of_the_plot(years: Field) -> None:
    """In the plot it would cover another's line."""
    means = {"Alder": (0.5, 0.5, 0.5), "Birch": (0.4, 0.5, None)}
    chart = drawn(years_of(years, means)[1])
    for svg in (chart.wide, chart.narrow):
        last_period = places_of(svg, "2026")[0][0]
        names = {text for text in texts(svg) if text.startswith(("Alder", "Birch"))}
        assert len(names) == 2
        assert all(x > last_period for name in names for x, _ in places_of(svg, name))


def test_an_interval_is_drawn_on_its_point(database: Database) -> None:
    field = Field(database)
    field.campaign()
    for year in YEARS:
        field.evaluation(str(year), period_key=year, tags=[()] * 5)
        for name in ("Alder", "Birch", "Cedar"):
            field.run(name, {"AP": [0.5] * 5}, evaluation=str(year), intervals={"AP": (0.4, 0.6)})
    with database.read() as session:
        chart = drawn(progress(session, VISITOR, "news", NOW))
    for svg in (chart.wide, chart.narrow):
        points = set(re.findall(r'<path transform="translate\(([\d.]+),[^>]*stroke-width="2"', svg))
        intervals = re.findall(r'<line transform="translate\(([\d.]+),[^>]*stroke-width="5"', svg)
        assert len(set(intervals)) == len(intervals) == 9
        assert set(intervals) <= points


def test_the_title_says_of_which_condition_the_figures_are(database: Database) -> None:
    field = Field(database)
    field.campaign()
    for year in YEARS:
        field.evaluation(str(year), period_key=year, condition="main task")
        field.run("Alder", {"AP": [(year - 2000) / 100] * 4}, evaluation=str(year))
    with database.read() as session:
        chart = drawn(progress(session, VISITOR, "news", NOW))
    assert chart.sentence == "main task: the highest AP is 0.240 in 2024 (Alder) and 0.260 in 2026 (Alder)."
    for svg in (chart.wide, chart.narrow):
        assert "AP, main task" in texts(svg)


def test_what_stands_on_hover_is_written_for_readers(database: Database, years: Field) -> None:
    """Never the names of our own data, nor a colour that stands for the page's."""
    field, page = years_of(years, {"Alder": (0.25, 0.5, 0.5), "Birch": (0.5, None, 0.25)})
    run = field.run("Cedar", {"AP": [0.75, 0.25, 0.5, NAN]}, evaluation="2024")
    with database.read() as session:
        differences = charts.differences_chart(results(session, VISITOR, run, NOW))
    for chart in (charts.progress_chart(page), charts.team_chart(page), differences):
        assert chart is not None
        said = [title.text or "" for title in ElementTree.fromstring(chart.wide).iter(f"{{{SVG}}}title")]
        assert said
        assert not [text for text in said if re.search("colour|#0000|mean|label|period|difference|zero", text)]


def test_teams_have_a_chart_of_their_best_systems(page: ProgressPage) -> None:
    chart = charts.team_chart(page)
    assert chart is not None
    assert {"Team Alder", "Team Birch, to 2025"} <= set(texts(chart.wide))
    assert chart.sentence == "The highest AP is 0.500 in 2024 (Team Birch) and 0.625 in 2026 (Team Alder)."


def test_a_drawing_is_made_once_and_only_so_many_are_kept(page: ProgressPage) -> None:
    charts.progress_chart(page)
    before = _svg.cache_info()
    charts.progress_chart(page)
    after = _svg.cache_info()
    assert (after.misses, after.hits) == (before.misses, before.hits + 2)
    assert after.maxsize == KEPT


def test_a_runs_chart_says_where_it_is_above_and_below_the_median(field: Field) -> None:
    run = field.run("Alder", {"AP": [0.75, 0.25, 0.5, NAN]})
    field.run("Birch", {"AP": [0.25, 0.5, 0.5, 0.5]})
    field.run("Cedar", {"AP": [0.25, 0.75, 0.5, 0.5]})
    chart = differences_drawn(field.database, run)
    assert chart.sentence == (
        "Above the median of 3 systems on 1 of 3 queries, below on 1, level on 1; "
        "most above on q1 (+0.500); furthest below on q2 (−0.250)."
    )
    assert {"q1", "q2", "q3"} <= set(texts(chart.wide))


def test_very_many_queries_become_a_histogram(database: Database) -> None:
    field = Field(database)
    field.campaign()
    field.evaluation(tags=[()] * (SINGLE + 1), qrels="q1 0 d 1\n", judging="complete")
    values = [(number % 10) / 10 for number in range(SINGLE + 1)]
    run = field.run("Alder", {"AP": values})
    field.run("Birch", {"AP": values[::-1]})
    chart = differences_drawn(database, run)
    assert 'aria-label="Histogram of the difference in AP' in chart.wide


def test_a_run_alone_has_nothing_to_be_compared_with(field: Field) -> None:
    run = field.run("Alder", {"AP": [0.5] * 4})
    with field.database.read() as session:
        assert charts.differences_chart(results(session, VISITOR, run, NOW)) is None


def test_nothing_is_drawn_over_evaluations_of_one_period(database: Database) -> None:
    field = Field(database)
    field.campaign()
    for slug in ("a", "b"):
        field.evaluation(slug, period="2026")
        field.run("Alder", {"AP": [0.5] * 4}, evaluation=slug)
    page = progress_of(database)
    assert charts.progress_chart(page) is None
    assert charts.progress_chart(page, only=field.systems["Alder"]) is None
    assert charts.team_chart(page) is None


def test_those_who_share_the_best_are_all_named(years: Field) -> None:
    means: dict[str, tuple[float | None, ...]] = {
        "Alder": (0.25, None, 0.5),
        "Birch": (0.25, None, 0.5),
        "Cedar": (0.125, None, 0.5),
    }
    means["Dogwood"] = (None, None, 0.5)
    _, page = years_of(years, means)
    assert best_over_periods(page) == (
        "The highest AP is 0.250 in 2024 (Alder and Birch) and 0.500 in 2026 (Alder, Birch, Cedar and Dogwood)."
    )


def test_systems_that_share_a_name_are_told_by_their_teams_in_the_sentence_and_at_their_lines(
    database: Database,
    years: Field,
) -> None:
    field, _ = years_of(years, {"Sysone": (0.25, 0.5, 0.5)})
    for year, mean in zip(YEARS, (0.125, 0.25, 0.5), strict=True):
        field.run("Sysone", {"AP": [mean] * 4}, team="Oak", evaluation=str(year))
    with database.read() as session:
        chart = drawn(progress(session, VISITOR, "news", NOW))
    shared = "Sysone of Team Sysone and Sysone of Oak"
    assert chart.sentence == f"The highest AP is 0.250 in 2024 (Sysone of Team Sysone) and 0.500 in 2026 ({shared})."
    assert {"Sysone of Team Sysone", "Sysone of Oak"} <= set(texts(chart.wide))
    page = progress_of(database)
    assert [(line.name, line.team) for line in page.systems] == [("Sysone", "Team Sysone"), ("Sysone", "Oak")]


@pytest.mark.parametrize("greatest", [0.0004, 0.014, 0.02, 0.3, 0.9])
def test_no_two_ticks_of_the_axis_read_alike(years: Field, greatest: float) -> None:
    _, page = years_of(years, {"Alder": (0.0, greatest / 2, greatest)})
    chart = drawn(page)
    for svg in (chart.wide, chart.narrow):
        axis = ElementTree.fromstring(svg).findall(f".//{{{SVG}}}text[@text-anchor='end']")
        ticks = [text.text for text in axis if re.fullmatch(r"[\d.]+", text.text or "")]
        assert len(ticks) > 2
        assert len(set(ticks)) == len(ticks)


def test_the_first_few_of_the_latest_period_have_a_name_in_the_chart_however_young_they_are(years: Field) -> None:
    old = {f"System {number}": (0.1 + number / 100,) * 3 for number in range(1, 8)}
    young = {"Egret": (None, None, 0.75), "Meteor": (None, None, 0.742), "Heron": (None, None, 0.76)}
    chart = drawn(years_of(years, {**old, **young})[1])
    for svg in (chart.wide, chart.narrow):
        assert set(young) <= set(texts(svg))
        for name in young:
            line = re.search(rf"<path [^>]*>\s*<title>{name}</title>", svg)
            assert line is not None
            assert "--series-rest" not in line[0]
