"""The measure reference, from the registry."""

import re

import pytest

from leaderboard.campaigns.models import Campaign
from leaderboard.campaigns.rules import Visibility
from leaderboard.metrics import AGREEMENTS, RUN_MEASURES
from tests.web.conftest import Reader, World


def test_every_measure_is_in_the_list(visitor: Reader) -> None:
    page = visitor.get("/measures/")
    assert [each.name for each in (*RUN_MEASURES, *AGREEMENTS) if f'href="/measures/{each.name}"' not in page] == []


def test_every_measure_has_a_page_with_everything_that_is_said_of_it(visitor: Reader) -> None:
    names = [each.name for each in (*RUN_MEASURES, *AGREEMENTS)]
    for before, each, after in zip(["", *names], (*RUN_MEASURES, *AGREEMENTS), [*names[1:], ""], strict=False):
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


def _listed(page: str) -> list[str]:
    return re.findall(r'<th scope="row"><a class="code" href="/measures/(\w+)"', page)


def test_measures_are_found_by_the_names_of_others_and_by_what_they_measure(visitor: Reader) -> None:
    assert _listed(visitor.get("/measures/?q=MRR"))[:1] == ["RR"]
    assert _listed(visitor.get("/measures/?q=spearman")) == ["SpearmanRho"]
    assert "No measure matches" in visitor.get("/measures/?q=gibberish")
    assert len(_listed(visitor.get("/measures/?q=+"))) == len((*RUN_MEASURES, *AGREEMENTS))


def test_measures_that_campaigns_of_this_site_list_are_marked_and_listed_alone(visitor: Reader, world: World) -> None:
    world.measure("nDCG@10", "nDCG@5", "AP")
    assert _listed(visitor.get("/measures/?used=yes")) == ["AP", "nDCG"]
    assert _listed(visitor.get("/measures/?used=yes&q=gain")) == ["nDCG"]
    assert visitor.get("/measures/").count(">used here</span>") == 2 + 1  # and beside the box of the filter


def test_what_a_campaign_uses_that_a_reader_does_not_know_of_is_not_told(visitor: Reader, world: World) -> None:
    with world.database.write() as session:
        session.get_one(Campaign, world.campaign.id).visibility = Visibility.PRIVATE
    assert _listed(visitor.get("/measures/?used=yes")) == []
    assert 'class="tag"' not in visitor.get("/measures/")
