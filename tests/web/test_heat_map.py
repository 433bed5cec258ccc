"""The page of the heat map: its sentences, its table, and where all values are."""

import re

from flask import Flask

from tests.support.field import NAN, Field
from tests.support.pages import seen, table_of

ADDRESS = "/campaigns/news/2026/heat-map"


def words(app: Flask) -> str:
    """Of the page, whose links leave a blank before what follows them."""
    return re.sub(r" (?=[.,])", "", seen(app, ADDRESS))


def test_it_names_the_queries_that_everybody_misses_and_those_that_part_the_systems(app: Flask, field: Field) -> None:
    values = {
        "Alder": [0.5, 0.9, 0.0, 0.9],
        "Birch": [0.6, 0.9, 0.0, 0.8],
        "Cedar": [0.4, 0.9, 0.0, 0.2],
        "Dogwood": [0.5, 0.8, 0.0, 0.1],
        "Elder": [0.5, 0.9, 0.0, NAN],
    }
    runs = {name: field.run(name, {"AP": own}) for name, own in values.items()}
    page = words(app)
    assert "Everybody misses 1 of 4 queries, where no system has AP above 0: q3." in page
    assert "The systems are furthest apart on q4, where the middle half of them has 0.100 to 0.900." in page
    assert "q4 0.500 0.900 0.800 – 0.200 0.100" in page  # the median, then Alder, Birch, Elder, Cedar, Dogwood
    html = app.test_client().get(ADDRESS).text
    assert f'href="/submissions/{runs["Elder"]}"' in html
    assert 'href="/campaigns/news/2026/queries/q3"' in html
    assert f'href="{ADDRESS}/charts/heat-map.csv"' in html
    rows = table_of(app.test_client().get(f"{ADDRESS}/charts/heat-map.csv"))
    assert [(row["query"], row["Elder"]) for row in rows] == [("q2", "0.9"), ("q4", ""), ("q1", "0.5"), ("q3", "0.0")]
    assert "/campaigns/news/2026/values.csv?measure=AP" in html
    assert ADDRESS in app.test_client().get("/campaigns/news/2026").text


def test_where_nobody_misses_a_query_it_names_the_hardest(app: Flask, field: Field) -> None:
    field.run("Alder", {"AP": [0.5, 0.9, 0.2, NAN]})
    page = words(app)
    assert "is missed" not in page
    assert "The hardest is query q3, with the median 0.200." in page
    assert "1 more query is left out, without a value of AP." in page
    field.run("Birch", {"AP": [0.5, 0.9, 0.0, NAN]})
    assert "On each query at least one system has AP above 0, so none is missed by everybody." in words(app)


def test_queries_that_are_as_hard_or_as_far_apart_are_named_or_counted_too(app: Flask, field: Field) -> None:
    field.evaluation("2027", tags=[()] * 6)
    for name, value in zip(("Alder", "Birch", "Cedar", "Dogwood", "Elder"), (0.9, 0.8, 0.0, 0.0, 0.0), strict=True):
        field.run(name, {"AP": [value] * 4 + [0.5, 1.0]}, evaluation="2027")
    page = re.sub(r" (?=[.,;])", "", seen(app, "/campaigns/news/2027/heat-map"))
    assert "The hardest are queries q1, q2, q3 and q4, with the median 0.000." in page
    assert "furthest apart on q1, where the middle half of them has 0.000 to 0.800, then on q2 and q3;" in page
    assert "; on 1 more query they are as far apart as on the last." in page


def test_what_is_looked_for_and_not_there_is_said(app: Flask, field: Field) -> None:
    field.run("Alder", {"AP": [0.5, 0.9, 0.2, 0.1]})
    assert "0 systems with “heron” in the name of system or team." in seen(app, f"{ADDRESS}?text=heron")


def test_an_empty_board_says_what_will_be_here(app: Flask, field: Field) -> None:
    assert "Nothing to draw yet" in seen(app, ADDRESS)
