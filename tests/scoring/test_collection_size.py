import math

import pytest

from leaderboard.errors import BadInput, FileRejected
from leaderboard.metrics import Setting, parse_all
from leaderboard.scoring import join, prepare, score
from tests.scoring.obvious import Line, judgments_of, run_of

GRADES = {("q1", "a"): 1, ("q1", "b"): 0, ("q1", "c"): 1, ("q2", "a"): 1}
RUN = run_of([Line("q1", "a", 3.0), Line("q1", "x", 2.0), Line("q1", "y", 1.0)])  # with b and c: 5 documents


def test_a_collection_that_holds_every_document_named_is_possible() -> None:
    scored = score(RUN, prepare(judgments_of(GRADES)), parse_all("Pfa"), Setting(documents=5))
    assert scored.results[parse_all("Pfa")[0]].values.tolist() == [2 / 3, 0.0]


def test_a_run_that_names_more_documents_than_the_collection_has_is_rejected() -> None:
    with pytest.raises(FileRejected) as caught:
        score(RUN, prepare(judgments_of(GRADES)), parse_all("Pfa"), Setting(documents=4), name="mine.txt")
    assert caught.value.message == (
        "mine.txt: query q1 lists 3 documents; with the 2 judged ones that it lacks these are 5, "
        "but the collection has 4"
    )


def test_judgments_on_more_documents_than_the_collection_has_are_refused() -> None:
    with pytest.raises(BadInput, match="query q1 has 3 judged documents, but the collection has 2"):
        score(RUN, prepare(judgments_of(GRADES)), parse_all("Pfa"), Setting(documents=2))


@pytest.mark.parametrize(("measure", "possible"), [("Pfa", False), ("Pfa(rel=2)", True)])
def test_a_query_to_which_all_documents_are_relevant_is_refused(measure: str, possible: bool) -> None:
    judged = prepare(judgments_of({("q", "a"): 1, ("q", "b"): 2}))
    run = run_of([Line("q", "a", 1.0)])
    if possible:
        assert score(run, judged, parse_all(measure), Setting(documents=2)).results[parse_all(measure)[0]].mean == 1.0
    else:
        with pytest.raises(BadInput, match="query q has 2 relevant documents of the collection's 2: no other is left"):
            score(run, judged, parse_all(measure), Setting(documents=2))


def test_measures_that_do_not_ask_for_the_collection_are_computed_whatever_its_size() -> None:
    assert score(RUN, prepare(judgments_of(GRADES)), parse_all("AP"), Setting(documents=1)).results


@pytest.mark.parametrize("threshold", [math.nan, math.inf, -math.inf])
def test_a_threshold_is_a_finite_number(threshold: float) -> None:
    with pytest.raises(BadInput, match="the threshold θ can't be"):
        join(RUN, prepare(judgments_of(GRADES)), threshold=threshold)
