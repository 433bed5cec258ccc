from xml.etree import ElementTree

import pytest

from leaderboard.metrics import families
from leaderboard.metrics.reference import HEADINGS, Reference, mathml

FAMILIES = pytest.mark.parametrize("family", families(), ids=lambda family: family.name)


@FAMILIES
def test_every_measure_says_everything_that_a_reader_may_ask(family):
    assert all(text.strip() for text in (family.title, family.summary, family.group, family.unit))
    for heading, text in family.reference.sections():
        assert text.strip(), heading
    for parameter in (*family.parameters, *([family.cutoff] if family.cutoff else [])):
        assert parameter.meaning


@FAMILIES
def test_the_text_holds_every_heading(family):
    for part in (family.name, family.title, family.summary, *HEADINGS.values()):
        assert part in family.text


@FAMILIES
def test_the_formula_is_well_formed_and_names_what_it_defines(family):
    root = ElementTree.fromstring(family.reference.mathml)
    assert root.tag == "{http://www.w3.org/1998/Math/MathML}math"
    assert root.get("alttext") == family.reference.formula
    assert "=" in family.reference.formula
    assert len(list(root.iter())) > 3


def test_headings_are_the_fields():
    assert ["summary", *HEADINGS] == list(Reference.__dataclass_fields__)


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
