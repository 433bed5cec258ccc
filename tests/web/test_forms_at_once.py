"""Two organisers save a form of settings at the same moment: neither undoes the other's unawares."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from leaderboard.access import CONSOLE
from leaderboard.campaigns import writes as campaigns
from leaderboard.campaigns.models import Campaign
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.models import Evaluation
from tests.support.waiting import wait_until, waits
from tests.web.conftest import Reader, World
from tests.web.test_organise_settings import filled


@pytest.mark.parametrize(
    ("path", "changed"),
    [
        ("/organise/harbour/settings", {"title": "Another"}),
        ("/organise/harbour/2025/settings", {"daily_quota": 7}),
    ],
)
def test_of_two_forms_that_are_sent_at_once_the_second_meets_what_the_first_changed(
    world: World, organiser: Reader, path: str, changed: dict[str, Any]
) -> None:
    opened = filled(organiser.get(path))
    with ThreadPoolExecutor(1) as beside:
        with world.database.write() as session:
            if "2025" in path:
                evaluation = session.get_one(Evaluation, world.evaluation.id)
                evaluations.change_evaluation(session, CONSOLE, evaluation, **changed)
            else:
                campaigns.change_campaign(session, CONSOLE, session.get_one(Campaign, world.campaign.id), **changed)
            session.flush()
            sending = beside.submit(organiser.post, path, **{**opened, "description": "Here"})
            wait_until(lambda: sending.done() or waits(world.database), "the form waits for the change")
        answer = sending.result()
    assert (answer.status_code, "since you opened this page. Nothing is saved" in answer.text) == (409, True)
    [name] = changed
    assert filled(organiser.get(path))[name] == str(changed[name])
