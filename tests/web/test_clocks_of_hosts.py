"""Hosts whose clocks differ serve one site: what one of them signed holds on the others."""

import datetime as dt

import pytest
import time_machine
from flask import Flask

from tests.support.pages import hidden
from tests.web.conftest import FORM, PASSWORD, RUN, Reader, World

HOUR = dt.timedelta(hours=1)


def now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


@pytest.mark.parametrize("ahead", [dt.timedelta(seconds=2), HOUR, -HOUR])
def test_a_log_in_on_a_host_whose_clock_is_off_holds_on_the_others(
    app: Flask, world: World, ahead: dt.timedelta
) -> None:
    browser = Reader(app.test_client())
    with time_machine.travel(now() + ahead):
        assert browser.post("/login", name="ada", password=PASSWORD).status_code == 302
    assert browser.client.get("/account/").status_code == 200
    with time_machine.travel(now() + ahead):
        assert browser.client.get("/account/").status_code == 200


def test_a_file_that_another_host_kept_until_it_is_confirmed_is_there(
    app: Flask, world: World, participant: Reader
) -> None:
    sent = world.sent()
    with time_machine.travel(now() + HOUR):
        proof = hidden(participant.send(FORM, RUN, **sent, label="x" * 200).text, "kept")
    assert participant.send(FORM, None, kept=proof, **sent).status_code == 302
    assert len(world.runs()) == 1
