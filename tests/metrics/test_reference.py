from xml.etree import ElementTree

import ir_measures
import pytest

from leaderboard.metrics import RUN_MEASURES, parse
from leaderboard.metrics.reference import mathml, reference_of
from tests.metrics.rankings import Line, Query, ranking_of

FAMILIES = pytest.mark.parametrize("family", RUN_MEASURES, ids=lambda family: family.name)


@FAMILIES
def test_every_measure_says_everything_that_a_reader_may_ask(family):
    assert all(text.strip() for text in (family.title, family.summary, family.unit))
    for heading, text in family.reference.sections.items():
        assert text.strip(), heading
    for parameter in (*family.parameters, *([family.cutoff] if family.cutoff else [])):
        assert parameter.meaning


@pytest.mark.parametrize("name", ["Accuracy", "Judged@1", "RR@1"])
def test_a_measure_that_ir_measures_orders_ties_otherwise_for_says_so(name):
    """a is judged relevant, z is not judged, both have one score: here z comes first whatever the order of the file."""
    ours = parse(name).evaluate(ranking_of(Query([Line("a", 1.0), Line("z", 1.0)], {"a": 1})))
    tied = [ir_measures.ScoredDoc("q", document, 1.0) for document in "az"]
    theirs = ir_measures.calc_aggregate([ir_measures.parse_measure(name)], [ir_measures.Qrel("q", "a", 1)], tied)
    assert ours.mean == 0
    assert list(theirs.values()) == [1]
    assert "equal scores" in " ".join(parse(name).family.reference.sections["trec_eval and ir_measures"].split())


@FAMILIES
def test_the_formula_is_well_formed_and_names_what_it_defines(family):
    root = ElementTree.fromstring(family.reference.mathml)
    assert root.tag == "{http://www.w3.org/1998/Math/MathML}math"
    assert root.get("alttext") == family.reference.sections["Formula"]
    assert "=" in family.reference.sections["Formula"]
    assert len(list(root.iter())) > 3


def test_a_docstring_that_lacks_a_heading_is_refused_with_its_name():
    def compute():
        """Says little.

        Formula: x = 1
        Colour: red
        """

    with pytest.raises(ValueError, match=r"compute: .*Colour, Cutoff beyond the list, .*Ties"):
        reference_of(compute, "A share.", "Higher is better.")


def inner(formula: str) -> str:
    return mathml(formula).partition(">")[2].removesuffix("</math>")


@pytest.mark.parametrize(
    ("formula", "markup"),
    [
        ("a / b", "<mfrac><mrow><mi>a</mi></mrow><mrow><mi>b</mi></mrow></mfrac>"),
        (
            "(a + 1) / f(b)",
            (
                "<mfrac><mrow><mi>a</mi><mo>+</mo><mn>1</mn></mrow>"
                "<mrow><mrow><mi>f</mi><mrow><mo>(</mo><mi>b</mi><mo>)</mo></mrow></mrow></mrow></mfrac>"
            ),
        ),
        ("x_i^2", "<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>"),
        (
            "sum_{i=1}^{k} x",
            (
                "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mrow><mi>k</mi></mrow></munderover>"
                '<mspace width="0.3em"/><mi>x</mi>'
            ),
        ),
        ("P@k", "<mrow><mi>P</mi><mo>@</mo><mi>k</mi></mrow>"),
        ("|a| < 0.5", "<mrow><mo>|</mo><mi>a</mi><mo>|</mo></mrow><mo>&lt;</mo><mn>0.5</mn>"),
    ],
)
def test_plain_notation_becomes_markup(formula, markup):
    assert inner(formula) == markup
