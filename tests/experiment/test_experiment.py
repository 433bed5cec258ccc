"""Judgments that nobody can fish for, shown as an experiment.

Two installations differ in nothing but judgments that are still closed. Both live through the same year (`year`): teams
submit, are rejected, withdraw; runs are scored, judgments revised and runs scored anew; evaluations open, close, and
stand in their grace. Meanwhile everybody who is no organiser asks for every address that the site has (`walk`), and
every answer must be the same in both, byte for byte: status, headers in their order, body (`answers`), that of a page
which is kept and which an organiser read first, too. Clock and chance
are set (`installation`), so nothing is masked before it is compared, with one exception: how long scoring took.

Hypothesis draws the judgments (`draws`): freely where no figure is shown; where means are shown, so that these are the
same. Leaks that are planted into the site (`plants`) are caught by the same comparison, after
a few steps of the year. `make trials` draws 200.
"""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from leaderboard.statistics import LEAST_QUERIES
from tests.experiment.answers import Difference, Key, said
from tests.experiment.draws import FIRST, Drawn, draw_years, means
from tests.experiment.installation import Installation, installed
from tests.experiment.plans import EVALUATIONS
from tests.experiment.plants import PLANTS, plant_all
from tests.experiment.walk import NOT_POSTED, STATIC, Asked, Share, addresses, compared
from tests.experiment.year import play, play_shortly, set_up

DRAWS = 1  # years that are drawn, some dozen judgments each; on SQLite only: the trial plays on both engines
PARTS = 60 * DRAWS  # of what everybody asks for; each year reads another one, the trial reads all of them
SIMPLEST = 1  # Hypothesis begins with the fewest and lowest grades that there can be, which make a poor year


def _played(migrated: Path, folder: Path, judgments: Drawn, asked: Asked) -> Installation:
    """An installation after a year under these judgments."""
    shutil.copyfile(migrated, folder / "year.sqlite")
    with installed(f"sqlite:///{folder / 'year.sqlite'}", folder / "store") as here:
        play(here, judgments, asked)
        return here


@pytest.fixture(scope="module")
def first_year(migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """After the year that all others are compared with."""
    asked = Asked(Share(range(DRAWS), PARTS), warm=True)
    return _played(migrated_sqlite, tmp_path_factory.mktemp("first"), FIRST, asked)


def test_whoever_is_no_organiser_is_answered_the_same_whatever_the_closed_judgments_are(
    first_year: Installation, migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    told_apart = False
    for part, judgments in enumerate(draw_years(SIMPLEST + DRAWS)[SIMPLEST:]):
        share = Share((part,), PARTS)
        other = _played(
            migrated_sqlite, tmp_path_factory.mktemp("other"), judgments, Asked(share, warm=True, twice=True)
        )
        found = compared(first_year, other, share)
        assert not found, f"{said(found)}\nthe other one's judgments: {judgments}"
        told_apart = told_apart or first_year.to_organiser != other.to_organiser
    assert told_apart, "the organiser saw no difference either: the judgments drawn changed no figure at all"


def test_judgments_drawn_for_evaluations_that_show_means_leave_those_means_as_they_are() -> None:
    changed = 0
    for judgments in draw_years(SIMPLEST + DRAWS):
        for name, plan in EVALUATIONS.items():
            for drawn, first in zip(judgments[name], FIRST[name], strict=True):
                if plan.closed == "everything":
                    continue
                assert means(name, drawn) == means(name, first), (name, drawn)
                if len(plan.seen) >= LEAST_QUERIES:  # intervals too are shown
                    assert means(name, drawn, rounded=False) == means(name, first, rounded=False), (name, drawn)
                changed += drawn != first
    assert changed > DRAWS


@dataclass(frozen=True, slots=True)
class Planted:
    """One of two installations with every plant after a few steps of the year, and what differs between them."""

    here: Installation
    found: list[Difference]


@pytest.fixture(scope="module")
def planted(migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Planted:
    folder = tmp_path_factory.mktemp("planted")
    asked = Asked(Share((0,), 8), endpoints=[*{plant.endpoint for plant in PLANTS.values()}, "judged"])
    both = []
    for number, judgments in enumerate((FIRST, draw_years(2, seed=1)[-1])):
        file = folder / f"{number}.sqlite"
        shutil.copyfile(migrated_sqlite, file)
        with installed(f"sqlite:///{file}", folder / f"store-{number}") as here:
            plant_all(here.app, here.database)
            play_shortly(here, judgments, asked)
            both.append(here)
    return Planted(both[0], compared(*both, asked.share))


@pytest.mark.parametrize("leak", PLANTS)
def test_a_planted_leak_is_caught_and_named(planted: Planted, leak: str) -> None:
    plant = PLANTS[leak]
    named = [
        one for one in planted.found if endpoint_of(planted.here, one.key) == plant.endpoint and one.part == plant.part
    ]
    assert named, f"{leak} was not caught; what was:\n{said(planted.found)}"
    assert named[0].first != named[0].second
    assert all(told in str(named[0]) for told in (named[0].key[3], named[0].part, named[0].first, named[0].second))


def test_a_leak_on_a_new_page_is_caught_though_nobody_told_the_walk_of_it(planted: Planted) -> None:
    assert any(endpoint_of(planted.here, one.key) == "judged" and one.part == "body" for one in planted.found)


@pytest.fixture
def opened(migrated_sqlite: Path, tmp_path: Path) -> Iterator[Installation]:
    """An installation in which everything is set up and nobody has asked for a page."""
    shutil.copyfile(migrated_sqlite, tmp_path / "opened.sqlite")
    with installed(f"sqlite:///{tmp_path / 'opened.sqlite'}", tmp_path / "opened") as here:
        set_up(here)
        yield here


def test_a_route_that_the_walk_cannot_fill_stops_the_experiment_with_a_sentence(opened: Installation) -> None:
    opened.app.add_url_rule("/shelves/<shelf>", "shelves.show", str)
    sentence = r"can't fill /shelves/<shelf> \(shelves.show\): say in Places of .* what shelf can be"
    with pytest.raises(AssertionError, match=sentence):
        list(addresses(opened, "GET"))


def test_the_walk_reads_every_route_of_the_site(opened: Installation) -> None:
    gets = {rule.endpoint for rule in opened.app.url_map.iter_rules() if "GET" in (rule.methods or ())}
    read = {endpoint_of(opened, ("", "", "GET", address)) for address in addresses(opened, "GET")}
    assert read == gets.difference(STATIC)


def test_every_form_is_sent_in_a_walk_or_as_a_step_of_the_year(opened: Installation, first_year: Installation) -> None:
    posts = {rule.endpoint for rule in opened.app.url_map.iter_rules() if "POST" in (rule.methods or ())}
    walked = {endpoint_of(opened, ("", "", "POST", address)) for address in addresses(opened, "POST")}
    steps = {endpoint_of(opened, key) for key in first_year.steps if key[2] == "POST"}
    assert posts == walked | steps
    assert steps >= NOT_POSTED.keys()


def endpoint_of(here: Installation, key: Key) -> str:
    """The name of the route that answers."""
    links = here.app.url_map.bind("localhost")
    address = key[3].partition("?")[0].partition(" ")[0]
    return str(links.match(address, method=key[2])[0])
