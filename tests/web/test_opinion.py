"""The page of a second opinion: a file or a text in, what it can tell out; nothing is kept."""

import re

import pytest
from flask import Flask

from leaderboard import bounded
from leaderboard.opinion import pages
from tests.support.pages import text_of
from tests.web.conftest import Reader, files_in

OPINION = "/opinion"
HEAD = "query,Alder,Birch"
ROWS = [f"q{number},{0.5 + number / 100},{0.2 + number * number / 1000}" for number in range(1, 9)]
VALUES = "\n".join([HEAD, *ROWS])


def test_a_file_and_a_pasted_text_give_the_same_table_and_nothing_is_kept(app: Flask, participant: Reader) -> None:
    by_file = participant.send(OPINION, VALUES, "values.csv", field="values")
    pasted = participant.send(OPINION, None, field="values", pasted=VALUES)
    for answer in (by_file, pasted):
        assert answer.status_code == 200
        page = text_of(answer.text)
        assert "2 systems on 8 queries At 95 % confidence the best system is Alder." in page
        assert "1 Alder 0.545" in page
    assert files_in(app) == []
    lower = participant.send(OPINION, VALUES, "values.csv", field="values", lower="y")
    assert "the best system is Birch." in text_of(lower.text)


@pytest.mark.parametrize("pasted", [True, False])
def test_what_is_wrong_stands_beside_the_field(participant: Reader, pasted: bool) -> None:
    bad = VALUES.replace("q3,", "q2,")
    sent = {"run": None, "pasted": bad} if pasted else {"run": bad}
    answer = participant.send(OPINION, filename="values.csv", field="values", **sent)
    assert answer.status_code == 400
    assert f'<a href="#{"pasted" if pasted else "values"}">' in answer.text
    assert "line 4: q2 is on line 3 already" in answer.text


def test_nothing_sent_asks_for_something_and_too_much_names_the_command(
    participant: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "choose a file, or paste the values" in participant.send(OPINION, None, field="values").text
    monkeypatch.setattr(bounded, "MEMORY_BYTES", 2**20)
    much = participant.send(OPINION, VALUES, "values.csv", field="values")
    assert "takes too much memory or time to compute here: `leaderboard opinion` has no such limit" in much.text


def test_it_is_asked_for_so_often_and_then_on_ones_own_computer(
    participant: Reader, other: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = pages.attempts.OPINION
    monkeypatch.setitem(limit.bounds, next(iter(limit.bounds)), 2)
    for pasted in (True, False):
        sent = {"run": None, "pasted": VALUES} if pasted else {"run": VALUES}
        assert participant.send(OPINION, field="values", **sent).status_code == 200
    for pasted in (True, False):
        sent = {"run": None, "pasted": VALUES} if pasted else {"run": VALUES}
        answer = participant.send(OPINION, field="values", **sent)
        assert (answer.status_code, "leaderboard opinion" in answer.text) == (429, True)
    assert other.send(OPINION, VALUES, field="values").status_code == 200


def test_the_pages_own_example_works_and_the_log_in_says_what_an_account_is_for(
    participant: Reader, visitor: Reader
) -> None:
    [example] = re.findall(r"<pre[^>]*>(query,[^<]*)</pre>", participant.get(OPINION))
    assert "2 systems on 5 queries" in text_of(participant.send(OPINION, None, field="values", pasted=example).text)
    assert "what per-query values can tell" in visitor.client.get(OPINION, follow_redirects=True).text
    assert "what per-query values can tell" not in visitor.get("/login")


@pytest.mark.usefixtures("world")
def test_the_foot_of_every_page_leads_there(visitor: Reader, participant: Reader) -> None:
    assert f'href="{OPINION}"' in visitor.get("/")
    assert "Work it out" in participant.get(OPINION)
