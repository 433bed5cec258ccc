"""Parameters at their bounds and beyond: nothing overflows, and every name says which measure it is."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from leaderboard.errors import BadInput, UnknownMeasure
from leaderboard.metrics import GROUPS, RUN_MEASURES, Family, Measure, Ranking, Setting, parse, parse_all, requested
from leaderboard.metrics.measure import GRADE_LIMIT, LARGEST, SMALLEST, Parameter
from tests.metrics.obvious import UNDEFINED_WHERE_NOTHING_IS_FOUND
from tests.metrics.rankings import Query, of_grades, ranking_of
from tests.support.examples import examples

quick = settings(deadline=None, max_examples=examples(30))
EXTREME = (-LARGEST, -1.0, -SMALLEST, 0.0, SMALLEST, 0.3, 0.5, 1.0, 2.0, 1e3, LARGEST)

SETTING = Setting(documents=3000, beta=1e6)
HIGHEST = of_grades([GRADE_LIMIT, None, -GRADE_LIMIT, 0, 1, 2, GRADE_LIMIT] + [None] * 1500 + [1], [GRADE_LIMIT, 3])
RANKINGS = (
    ranking_of(HIGHEST, of_grades([None, 1]), Query(judged={"a": 1}, known=["a"]), setting=SETTING),
    ranking_of(Query(judged={"a": 0}, known=["b"]), of_grades([-1, 0, None]), setting=SETTING),
)


def allowed(parameter: Parameter) -> st.SearchStrategy[object]:
    """Values that this parameter takes, its bounds among them."""
    numbers = [each for each in EXTREME if parameter.low <= each <= parameter.high and (each or not parameter.above)]
    if parameter.kind == "choice":
        return st.sampled_from(parameter.choices)
    if parameter.kind == "int":
        whole = {int(each) for each in numbers if each == int(each)}
        return st.sampled_from(sorted(whole | {int(each) for each in (parameter.high,) if math.isfinite(each)}))
    if parameter.kind == "float":
        return st.sampled_from(numbers)
    if parameter.kind == "points":
        return st.sets(st.sampled_from(numbers), min_size=1).map(lambda found: tuple(sorted(found)))
    grades = st.sampled_from([0, 1, 2, GRADE_LIMIT])
    return st.dictionaries(grades, st.sampled_from(EXTREME), min_size=1).map(lambda gains: tuple(sorted(gains.items())))


@st.composite
def some_measure(draw: st.DrawFn, family: Family) -> Measure:
    given = {each.name: draw(allowed(each)) for each in family.parameters if draw(st.booleans())}
    if family.name == "SetF" and "alpha" in given:
        given.pop("beta", None)
    if family.name == "RBP" and "gains" in given:
        given["gain"] = "scaled"
    if "min_rel" in given:
        given["max_rel"] = GRADE_LIMIT  # it must be above
    if family.name == "ERR":
        given = {"max": "data"} if draw(st.booleans()) else {"gmax": GRADE_LIMIT}  # RANKINGS have grades up to there
    takes = family.cutoff is not None and (family.cutoff.required or draw(st.booleans()))
    return family(cutoff=draw(allowed(family.cutoff)) if family.cutoff and takes else None, **given)


def figures(measure: Measure, ranking: Ranking) -> list[float]:
    with np.errstate(all="raise"):
        evaluated = measure.evaluate(ranking)
    return [*evaluated.values.tolist(), evaluated.mean]


@pytest.mark.parametrize("family", RUN_MEASURES, ids=lambda family: family.name)
@quick
@given(data=st.data())
def test_a_measure_with_parameters_at_their_bounds_is_named_and_computed(family: Family, data: st.DataObject) -> None:
    measure = data.draw(some_measure(family))
    assert parse(str(measure)) == measure
    if measure.trec_eval is not None:
        # trec_eval's names leave the relevance level to its -l.
        rel = {name: value for name, value in measure.given if name == "rel"}
        again = parse(measure.trec_eval)
        assert family(cutoff=again.cutoff, **dict(again.given), **rel) == measure
    may_be_undefined = family in GROUPS["Detection"] or family.name in UNDEFINED_WHERE_NOTHING_IS_FOUND
    for ranking in RANKINGS:
        for figure in figures(measure, ranking):
            assert not math.isinf(figure)
            # Only what judgments leave undefined is undefined, whatever the parameters.
            assert may_be_undefined or not math.isnan(figure)


@pytest.mark.parametrize("name", ["nDCG(gain=exp)", "NCG(gain=exp)", "DCG(gain=exp)", "CG(gain=exp)", "ERR(max=data)"])
def test_the_highest_grade_of_all_is_computed_over_many_documents(name: str) -> None:
    ranking = ranking_of(of_grades([GRADE_LIMIT] * 500, [GRADE_LIMIT] * 500), setting=SETTING)
    [value, _] = figures(parse(name), ranking)
    assert 0 < value < math.inf
    # Ten million documents of this grade still have a finite sum.
    assert math.isfinite(math.ldexp(1.0, GRADE_LIMIT) * 10_000_000)


MANY = "9" * 5000


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("AP@1e400", "a number is 0, or of a size from 0.000000001 to 1,000,000,000"),
        (f"AP@{MANY}", "a number is 0, or of a size from"),
        ("nDCG(gains={1:1e400})", "a number is 0, or of a size from"),
        ("nDCG(gains={1:-1e10})", "a number is 0, or of a size from"),
        ("nDCG(gains={1001:2})", "from 0 on, up to 1000"),
        ("ERR(gmax=99999999999999999999999)", "a number is 0, or of a size from"),
        ("SetF(alpha=1e-320)", "a number is 0, or of a size from"),
        (f"P.{MANY}", "takes numbers, not '999"),
        (f"set_F.{'9' * 99}", "a number is 0, or of a size from"),
        ("rbp.0.8", "trec_eval's rbp does not take '0.8'"),
    ],
)
def test_a_number_out_of_bounds_is_refused_in_words(name: str, part: str) -> None:
    for read in (parse, parse_all):
        with pytest.raises(UnknownMeasure) as refused:
            read(name)
        assert part in refused.value.message


def test_two_decimals_that_stand_for_another_number_are_no_name() -> None:
    assert parse("IPrec@0.25").trec_eval == "iprec_at_recall_0.25"
    assert parse("IPrec@0.333").trec_eval is None
    # trec_eval itself prints what was asked for in two decimals.
    assert [name for name, _ in requested(["iprec_at_recall.0.333"])] == ["iprec_at_recall_0.33"]


@pytest.mark.parametrize(
    ("figures", "part"),
    [
        ({"documents": 0}, "0 documents"),
        ({"documents": 10**23}, "expected 1 to 9,007,199,254,740,992"),
        ({"beta": -3.0}, "β can't be -3.0"),
        ({"beta": math.nan}, "β can't be nan"),
    ],
)
def test_an_evaluations_figures_have_bounds_too(figures: dict[str, float], part: str) -> None:
    with pytest.raises(BadInput) as refused:
        Setting(**figures)
    assert part in refused.value.message


def test_rank_biased_precision_goes_by_trec_evals_name_only_where_it_is_the_same() -> None:
    names = ["RBP", "RBP(p=0.9)", "RBP(gain=scaled)", "RBP(p=0.9, gain=scaled)", "nDCG(discount=jk)", "nDCG"]
    assert [parse(name).trec_eval for name in names] == [None, None, None, "rbp", None, "ndcg"]
