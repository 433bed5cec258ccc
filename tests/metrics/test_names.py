import pytest

from leaderboard.errors import UnknownMeasure
from leaderboard.metrics import parse, parse_all, requested
from leaderboard.metrics.names import search

CANONICAL = (
    *("AP", "AP(rel=2, norm=hits)@5", "nDCG(gain=exp)@10", "nDCG(gains={0:-1,1:3.5,2:9})@10", "IPrec@0.1"),
    *("IPrec11(at={0.25,0.5,0.75})", "SetF(beta=2)", "RBP(p=0.9, gain=scaled)", "ERR(max=data)", "Pfa(queries=all)"),
)


@pytest.mark.parametrize("name", CANONICAL)
def test_a_canonical_name_is_printed_as_it_was_read(name):
    assert str(parse(name)) == name
    assert parse(str(parse(name))) == parse(name)


@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        (" nDCG( gain = 'linear' ) @ 10 ", "nDCG@10"),
        ("nDCG(gains={2:9,1:3.5})", "nDCG(gains={1:3.5,2:9})"),
        ("nDCG(dcg='exp-log2')@10", "nDCG(gain=exp)@10"),
        ("MRR@10", "RR@10"),
        ("dcg.1=3.5,2=9", "DCG(gains={1:3.5,2:9})"),
        ("map", "AP"),
        ("P_10", "P@10"),
        ("P.10", "P@10"),
        ("ndcg_cut_10", "nDCG@10"),
        ("iprec_at_recall_0.20", "IPrec@0.2"),
        ("utility.2,-1,0,0", "Utility(a=2)"),
        ("ndcg.1=3.5,2=9", "nDCG(gains={1:3.5,2:9})"),
        ("Rprec_mult_0.40", "Rprec(mult=0.4)"),
        ("rbp.p=0.5", "RBP(p=0.5, gain=scaled)"),
        ("set_F.4", "SetF(beta=2)"),
    ],
)
def test_other_spellings_and_names_mean_the_same_measure(given, canonical):
    assert str(parse(given)) == canonical


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("nDGC@10", "nearest: nDCG@10"),
        ("xyzzy", "the page of measures has all "),
        ("FaginKendall@10", "FaginKendall@10 compares two runs without judgments; use leaderboard agreement"),
        ("", "no measure is called ''"),
        ("P(cutoff=5)@5", "P takes no parameter 'cutoff'; it takes rel"),
        ("AP(level=2)", "AP takes no parameter 'level'; it takes rel, norm"),
        ("AP(norm=best)", "norm=best is not allowed; expected all or hits or min"),
        ("AP(rel)", "'rel' is no parameter; expected parameter=value"),
        ("AP(rel=2,rel=3)", "gives rel twice"),
        ("P@0", "@0 is not allowed; expected a whole number of at least 1"),
        ("P@many", "the cutoff after @ must be a number, not 'many'"),
        (f"P@{'{' * 5000}1{'}' * 5000}", "is no value; expected a number"),
        ("R@", "no measure is called 'R@'"),
        ("R", "R needs a cutoff, for example R@10"),
        ("P", "'P' stands for 9 measures; choose one: P@5, P@10"),
        ("SetP@5", "SetP takes no cutoff (@5)"),
        ("SetF(alpha=0.5, beta=1)", "give one"),
        ("nDCG(gains={1:2,1:3})", "a grade has two gains"),
        ("nDCG(gains=5)", "expected a gain for each grade from 0 on"),
        ("RBP(gains={1:0.5})", "goes with gain=scaled only"),
        ("map.5", "takes no parameters"),
        ("Accuracy@5", "Success@k is 1 where a relevant document is in the first k ranks; Accuracy, without a cutoff"),
        ("KendalTau", "nearest: KendallTau"),
        ("nDGC@ten", "nearest: nDCG,"),
        ("utility.1,2", "trec_eval's utility does not take '1,2'; expected utility.1,-1,0,0"),
        ("rbp.1=2,1=3", "rbp does not take '1=2,1=3'; expected rbp.p=0.8,1=0.5"),
        ("rbp.p=0.5,p=0.6", "does not take 'p=0.5,p=0.6'"),
        ("P.5,5", "twice"),
    ],
)
def test_a_wrong_name_says_what_is_wrong_and_what_there_is(name, part):
    with pytest.raises(UnknownMeasure) as refused:
        parse(name)
    assert part in refused.value.message


def test_a_list_is_parted_at_blanks_and_at_commas_outside_brackets():
    measures = parse_all("AP, P.5,10\tnDCG(gains={1:3.5,2:9})@10,SetP map 11pt_avg")
    names = ["AP", "P@5", "P@10", "nDCG(gains={1:3.5,2:9})@10", "SetP", "IPrec11"]
    assert [str(measure) for measure in measures] == names


def test_bundles_are_opened():
    assert len(parse_all("official")) == 8 + 11 + 9 + 1
    assert [str(measure) for measure in parse_all(["AQWV", "set"])][:3] == ["AQWV", "NumQ", "NumRet"]
    # 98 lines, two of which (Rprec, Rprec_mult_1.00) are one measure
    assert len(requested(["all_trec"])) == 98
    assert len(parse_all("all_trec")) == 97


def test_every_line_of_trec_eval_maps_there_and_back():
    for name, measure in requested(["all_trec"]):
        assert parse(name) == measure
        expected = "Rprec" if name == "Rprec_mult_1.00" else name
        assert measure.trec_eval == expected
        assert measure.at_relevance(2).trec_eval == expected


def test_trec_eval_prints_in_its_own_order_under_the_names_as_typed():
    printed = requested(["ndcg_cut.23.4,10", "11pt_avg..25,.5,.75", "utility.2,-1,0,0", "ndcg.1=3,2=9,4=4.5", "P.7,5"])
    names = "P_5 P_7 utility_2,-1,0,0 11pt_avg_.25,.5,.75 ndcg_1=3,2=9,4=4.5 ndcg_cut_10 ndcg_cut_23"
    assert [name for name, _ in printed] == names.split()


@pytest.mark.parametrize(
    ("request_", "part"),
    [
        ("P_10", "it takes P.10"),
        ("mapp", "has map"),
    ],
)
def test_what_trec_eval_does_not_have_is_told_with_what_it_has(request_, part):
    with pytest.raises(UnknownMeasure) as refused:
        requested([request_])
    assert part in refused.value.message


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("nDCG@10", "nDCG@10"), ("MRR", "RR"), ("F1", "SetF"), ("MAP", "AP"), ("recip_rank", "RR"),
        ("detection", "AQWV"), ("average precision", "AP"), ("p@5", "P@5"),
    ],
)  # fmt: skip
def test_a_measure_is_found_by_the_names_and_words_in_use(words: str, first: str) -> None:
    assert next(iter(search(words))) == first


def test_every_measure_that_is_found_can_be_listed_as_it_is_written() -> None:
    for words in ("recall@100", "precision", "gain", "judged"):
        assert [str(measure) for measure in parse_all(search(words))] == list(search(words))
