"""Two organisers save a form of settings at the same moment: neither undoes the other's unawares."""

from concurrent.futures import ThreadPoolExecutor

from leaderboard.access import CONSOLE
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.models import Evaluation
from tests.support.pages import filled
from tests.support.waiting import wait_until, waits
from tests.web.conftest import BOTH, Reader, World


@BOTH
def test_of_two_forms_that_are_sent_at_once_the_second_meets_what_the_first_changed(
    world: World, organiser: Reader
) -> None:
    path = "/organise/harbour/2025/settings"
    opened = filled(organiser.get(path))
    with ThreadPoolExecutor(1) as beside:
        with world.database.write() as session:
            evaluation = session.get_one(Evaluation, world.evaluation.id)
            evaluations.change_evaluation(session, CONSOLE, evaluation, daily_quota=7)
            session.flush()
            sending = beside.submit(organiser.post, path, **{**opened, "description": "Here"})
            wait_until(lambda: sending.done() or waits(world.database), "the form waits for the change")
        answer = sending.result()
    assert (answer.status_code, "since you opened this page. Nothing is saved" in answer.text) == (409, True)
    assert filled(organiser.get(path))["daily_quota"] == "7"
