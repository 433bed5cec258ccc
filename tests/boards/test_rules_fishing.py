"""Attacks on closed judgments by submitting runs, with all digits and with the rounded ones that a team is shown.

An attacker aims at one query of fifty: it lists documents for that query alone and looks at the mean.
"""

import itertools
import math
import random
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from leaderboard.boards.rules import Rounding
from leaderboard.formats import Run
from leaderboard.metrics import RUN_MEASURES, Setting, parse
from leaderboard.scoring import JudgedQueries, prepare, score
from leaderboard.submissions.rules import DAILY_QUOTA
from tests.scoring.obvious import Line, judgments_of, run_of

QUERIES = [f"q{number:02}" for number in range(1, 51)]
AIM = QUERIES[0]
ROUNDING = Rounding(len(QUERIES))
PAGE = Path(__file__).parents[2] / "docs" / "disclosure.md"


def documents(count: int) -> list[str]:
    return [f"d{number:02}" for number in range(count)]


def judged(secret: Sequence[bool]) -> JudgedQueries:
    """Judgments of fifty queries; of the one that is aimed at the secret says which documents are relevant."""
    grades = {(query, "x"): 0 for query in QUERIES[1:]}
    grades |= {(AIM, document): int(bit) for document, bit in zip(documents(len(secret)), secret, strict=True)}
    return prepare(judgments_of(grades), QUERIES)


def listing(listed: Sequence[str]) -> Run:
    """A run that lists these documents for the query that is aimed at, and nothing else."""
    return run_of([Line(AIM, document, float(-rank)) for rank, document in enumerate(listed)])


def mean(judgments: JudgedQueries, listed: Sequence[str], measure: str) -> float:
    asked = parse(measure)
    return score(listing(listed), judgments, [asked]).results[asked].mean


def shown(judgments: JudgedQueries, listed: Sequence[str], measure: str) -> float:
    """What a team sees of it while details are closed."""
    found = ROUNDING.mean(mean(judgments, listed, measure), "share")
    assert found is not None
    return float(found)


@pytest.mark.parametrize("seed", range(5))
def test_one_mean_with_all_its_digits_spells_out_the_relevance_of_forty_documents(seed: int) -> None:
    secret = [random.Random(seed).random() < 0.5 for _ in range(40)]
    # RBP(p=0.5) is the sum of 1/2^rank over the relevant documents: a binary number.
    number = round(mean(judged(secret), documents(40), "RBP(p=0.5)") * len(QUERIES) * 2**40)
    assert [bit == "1" for bit in f"{number:040b}"] == secret


@pytest.mark.parametrize("seed", range(3))
def test_swapping_single_documents_decodes_a_query_from_means_with_all_their_digits_only(seed: int) -> None:
    secret = [True] * 8 + [False] * 8
    random.Random(seed).shuffle(secret)
    judgments = judged(secret)
    full = [mean(judgments, [document], "AP") > 0.0 for document in documents(16)]
    assert full == secret
    rounded = {shown(judgments, [document], "AP") for document in documents(16)}
    assert rounded == {0.0}  # one document of eight: AP 1/8, and a mean of 0.0025


def test_of_one_query_in_fifty_a_days_runs_tell_too_little_to_know_eight_documents() -> None:
    # Whatever is listed: here the documents in five orders, of a measure that told all of them with its digits.
    names = documents(8)
    orders = [names[turn:] + names[:turn] for turn in range(DAILY_QUOTA)]
    answers = set()
    for secret in itertools.product([False, True], repeat=len(names)):
        judgments = judged(secret)
        answer = tuple(shown(judgments, order, "RBP(p=0.5)") for order in orders)
        assert set(answer) <= {0.0, 0.01, 0.02}  # the query moves the mean by 1/50 at most
        answers.add(answer)
    assert 1 < len(answers) <= 3**DAILY_QUOTA < 2 ** len(names)


def test_rounding_does_not_hide_everything_the_only_relevant_document_still_shows() -> None:
    # The page says so: what must not be known at all needs closed results or hidden queries.
    secret = [False, True, False]
    assert [shown(judged(secret), [document], "RR") for document in documents(3)] == [0.0, 0.02, 0.0]


def test_a_mean_at_the_edge_of_two_steps_gives_one_bit_a_run() -> None:
    # The attacker knows d00 to be relevant and puts the mean just below 0.005: one more document tips it.
    for bit in (False, True):
        judgments = judged([True, bit] + [True] * 3)  # four or five relevant documents
        assert shown(judgments, ["d00", "d01"], "P@5") == (0.01 if bit else 0.0)  # 0.004 and 0.008


def test_every_measure_that_is_made_of_judgments_alone_says_so() -> None:
    # Their figure is the same for runs that find nothing, something and everything.
    setting = Setting(documents=100, beta=20.0, highest_grade=1)
    runs = [["z1", "z2"], ["d00", "d01", "d02"], ["z1", "d01"], ["d00"]]
    judgments = [judged([True, True, False]), judged([True, False, False])]
    found = set()
    for family in RUN_MEASURES:
        if {"known", "subtopics"} & {*family.needs}:
            continue  # the judgments here come without such lists
        cutoff = f"@{family.cutoff.example}" if family.cutoff is not None and family.cutoff.required else ""
        measure = parse(f"{family.name}{cutoff}")
        figures = [
            [score(listing(one), own, [measure], setting).results[measure].mean for one in runs] for own in judgments
        ]
        if all(len(set(map(str, of_runs))) == 1 for of_runs in figures):
            found.add(family)
    assert {family.name for family in found} == {family.name for family in RUN_MEASURES if family.of_judgments}


def test_the_page_on_disclosure_counts_as_the_rules_do() -> None:
    rows = re.findall(r"^\| ([\d,]+) \| ([\d.]+) \| ([\d,]+) \| ([\d.]+) \| ([\d.]+) \|$", PAGE.read_text(), re.M)
    assert len(rows) == 3
    for queries, step, values, bits, day in rows:
        decimals = Rounding(int(queries.replace(",", ""))).decimals
        count = 10**decimals + 1
        assert (float(step), int(values.replace(",", ""))) == (10.0**-decimals, count)
        assert bits == f"{math.log2(count):.1f}"
        assert day == f"{DAILY_QUOTA * math.log2(count):.1f}"
