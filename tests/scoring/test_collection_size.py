import pytest

from leaderboard.errors import BadInput, FileRejected
from leaderboard.metrics import Setting, parse_all
from leaderboard.scoring import prepare, score
from tests.scoring.obvious import Line, judgments_of, run_of

GRADES = {("q1", "a"): 1, ("q1", "b"): 0, ("q1", "c"): 1, ("q2", "a"): 1}
RUN = run_of([Line("q1", "a", 3.0), Line("q1", "x", 2.0), Line("q1", "y", 1.0)])  # with b and c: 5 documents


def test_a_collection_that_holds_every_document_named_is_possible() -> None:
    scored = score(RUN, prepare(judgments_of(GRADES)), parse_all("Pfa"), Setting(documents=5))
    assert scored.results[parse_all("Pfa")[0]].values.tolist() == [2 / 3, 0.0]


def test_a_run_that_lists_more_documents_for_a_query_than_the_collection_has_is_rejected() -> None:
    with pytest.raises(FileRejected) as caught:
        score(RUN, prepare(judgments_of({("q1", "a"): 1})), parse_all("Pfa"), Setting(documents=2), name="mine.txt")
    assert caught.value.message == "mine.txt: query q1 lists 3 documents, but the collection has 2"


def test_a_run_is_rejected_for_a_query_that_nobody_judged_as_for_a_judged_one() -> None:
    judged = prepare(judgments_of({("q2", "a"): 1}), ["q1", "q2"])
    with pytest.raises(FileRejected, match="query q1 lists 3 documents, but the collection has 2"):
        score(RUN, judged, parse_all("Pfa"), Setting(documents=2))


@pytest.mark.parametrize("swapped", ["c", "z"])  # c is judged, z is not
def test_whether_a_run_is_refused_says_nothing_of_which_documents_are_judged(swapped: str) -> None:
    # Listed are 3 documents of 4. With the judged ones that the run lacks they are 4 or 5: a refusal would say which.
    run = run_of([Line("q1", "a", 3.0), Line("q1", "x", 2.0), Line("q1", swapped, 1.0)])
    scored = score(run, prepare(judgments_of(GRADES)), parse_all("Pfa"), Setting(documents=4))
    assert scored.crowded == (() if swapped == "c" else ("q1",))


def test_a_list_with_documents_that_the_collection_lacks_has_no_more_false_alarms_than_there_can_be() -> None:
    # The collection has 4 documents, a and c relevant: two others. x, y and z can't all be among them.
    run = run_of([Line("q1", name, score) for name, score in (("x", 4.0), ("y", 3.0), ("z", 2.0), ("a", 1.0))])
    setting = Setting(documents=4, beta=0.5)
    measures = parse_all("Pfa Fallout TN Utility(d=1) AQWV MQWV OQWV")
    scored = score(run, prepare(judgments_of({("q1", "a"): 1, ("q1", "c"): 1})), measures, setting)
    means = {str(measure): result.mean for measure, result in scored.results.items()}
    assert means["Pfa"] == means["Fallout"] == 1.0
    assert means["TN"] == 0.0
    # P_miss 1/2 and P_fa 1 with everything returned: 1 − 1/2 − 0.5 · 1 = 0, as good as returning nothing.
    assert means["AQWV"] == means["MQWV"] == means["OQWV"] == 0.0


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
