"""The measure reference, from the registry."""

import re

import pytest

from leaderboard.metrics import agreements, families
from tests.web.conftest import Reader


def test_every_measure_is_in_the_list(visitor: Reader) -> None:
    page = visitor.get("/measures/")
    assert [each.name for each in (*families(), *agreements()) if f'href="/measures/{each.name}"' not in page] == []


def test_every_measure_has_a_page_with_everything_that_is_said_of_it(visitor: Reader) -> None:
    names = [each.name for each in (*families(), *agreements())]
    for before, each, after in zip(["", *names], (*families(), *agreements()), [*names[1:], ""], strict=False):
        page = visitor.get(f"/measures/{each.name}")
        for heading, text in each.reference.sections.items():
            assert text, f"{each.name}: {heading}"
            assert heading == "Formula" or f"<dt>{heading}</dt>" in page
        assert re.findall(r">(← [^<]+|[^<]+ →)</a>", page) == [f"← {before}"] * bool(before) + [f"{after} →"] * bool(
            after
        )


@pytest.mark.parametrize("name", ["Nonsense", "ndcg_cut"])
def test_a_measure_that_is_not_there_is_not_found(visitor: Reader, name: str) -> None:
    visitor.get(f"/measures/{name}", status=404)


@pytest.mark.parametrize("name", ["nDCG@10", "nDCG(gain=exp)@5", "ndcg_cut_10"])
def test_a_name_with_parameters_leads_to_its_measure(visitor: Reader, name: str) -> None:
    assert '"/measures/nDCG"' in visitor.get(f"/measures/{name}", status=302)
