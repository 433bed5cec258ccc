"""Which pages are kept as they were rendered, and why the others are not; and what each kept one costs unchanged."""

import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient

from leaderboard.access import CONSOLE
from leaderboard.accounts import writes as credentials, writes as people
from leaderboard.audit.writes import present
from leaderboard.evaluations.rules import Opening
from leaderboard.store import RankedList
from leaderboard.submissions.writes.run_store import bind
from leaderboard.teams import writes as teams
from leaderboard.teams.models import Team
from leaderboard.teams.rules import Role
from leaderboard.web.page_cache import VIEWS
from tests.support.clients import file_of
from tests.support.field import Field
from tests.support.statements import counted
from tests.support.world import new_account
from tests.web.access_rules import PAGES

FORM = "it is a form of its reader's"
OWN = "it is its reader's alone"
ROOM = "organisers look at what they have just changed, each at something else"
PROGRAM = "programs come with a token and no cookie, by which pages are kept"
ONCE = "it is fetched once, to compute something with it"
FILE = "it is a file of this program's, sent without a statement"
# Blueprint -> why none of its pages is kept.
NOT_KEPT_ROOMS = {
    "account": OWN, "submit": FORM, "run_checks": FORM, "opinion": FORM,
    "api": PROGRAM,
    "bootstrap": FILE,
    "operating": "they say how things are now",
}  # fmt: skip
# Endpoint -> why it is not kept, though others of its blueprint are.
NOT_KEPT = {
    "judgments.known": ONCE,
    "judgments.subtopics": ONCE,
    "results.board_values": ONCE,
    "results.old_board_values": ONCE,
    "site.logo": "it is a file, and seldom asked for",
    "site.text": "it is seldom read",
    "static": FILE,
    "submissions.ask_primary": FORM,
    "submissions.ask_stand": FORM,
    "submissions.ask_withdraw": FORM,
    "submissions.describe": FORM,
    "submissions.fetch": "it is a file of the store, sent in pieces",
    "submissions.progress": "it is asked while a run waits, and a worker's claim raises no generation",
    "systems.edit": FORM,
    "teams.change": FORM,
    "teams.find": "accounts look for a word of their own",
    "teams.invitation": "it is one person's, once",
    "teams.leave": FORM,
    "teams.new": FORM,
    "teams.remove": FORM,
}
# Endpoint of each kind of page that is kept -> an address of it, as the access matrix has it.
NAMES = {"run": 1, "other": 2, "current_set": 1, "beside_set": 2}
ADDRESSES = {
    endpoint: PAGES[endpoint][endpoint == "results.compare_runs"].address.format(**NAMES)
    for endpoint in {view.removesuffix("_file") for view in VIEWS}
}


def _is_named(endpoint: str) -> bool:
    blueprint = endpoint.partition(".")[0]
    if endpoint.endswith("_charts"):  # files, seldom asked for, whose drawings are kept
        return True
    return endpoint in NOT_KEPT or blueprint in NOT_KEPT_ROOMS or blueprint.partition("_")[0] == "organise"


def test_every_page_is_kept_or_named_with_the_reason_why_it_is_not(app: Flask) -> None:
    read = {rule.endpoint for rule in app.url_map.iter_rules() if "GET" in (rule.methods or ())}
    assert read >= VIEWS
    assert read >= NOT_KEPT.keys()
    assert {endpoint.partition(".")[0] for endpoint in read} >= NOT_KEPT_ROOMS.keys()
    for endpoint in read:
        assert (endpoint in VIEWS) != _is_named(endpoint), (
            f"{endpoint}: name it in OTHERS or TABLES of leaderboard/web/page_cache.py, if all that it shows raises a "
            "generation when it changes, or in NOT_KEPT of tests/web/test_kept_routes.py with the reason"
        )


@pytest.fixture
def places(app: Flask) -> Field:
    """An evaluation that shows everything, judged anew, with judgments of two sources and a run that has lists."""
    made = Field(app.extensions["database"]).campaign().evaluation(judgments_published=True, details=Opening.ALWAYS)
    values = {"AP": [0.4, 0.5, 0.6, 0.7], "P@5": [0.2] * 4}
    run = made.run("Sekretalder", values, team="Sekretwoods")
    other = made.run("Cedar", values, team="Cedars")
    bind(app.extensions["database"], app.extensions["store"])
    app.extensions["store"].keep_ranked_lists(run, 10, 4, [(0, RankedList(("d1",), np.array([0.5])))])
    for source in (None, "assistant"):
        made.judge_again("q1 0 d1 1\nq2 0 d2 1\nq3 0 d1 1\nq4 0 d4 2\n", {run: values, other: values}, source=source)
    made.refresh()
    return made


@pytest.fixture
def readers(app: Flask, places: Field) -> dict[str, FlaskClient]:
    """A visitor, and an owner of the team."""
    member = app.test_client()
    with places.database.write() as session, member.session_transaction() as cookie:
        user = people.create_user(session, CONSOLE, new_account("ada"))
        teams.add_member(session, CONSOLE, session.get_one(Team, places.teams["Sekretwoods"]), user, Role.OWNER)
        cookie["_user_id"] = credentials.start_session(session, user.id, present())
    member.get("/teams/sekretwoods")  # the first page with a form puts the session's token into the cookie
    return {"visitor": app.test_client(), "member": member}


def test_each_kind_of_page_costs_one_statement_unchanged_and_one_for_304(
    app: Flask, readers: dict[str, FlaskClient]
) -> None:
    addresses = [
        *ADDRESSES.values(),
        *(file_of(address, "json") for endpoint, address in ADDRESSES.items() if f"{endpoint}_file" in VIEWS),
    ]
    for name, client in readers.items():
        for address in addresses:
            first = client.get(address)
            assert first.status_code == 200, (name, address)
            with counted(app) as ran:
                again = client.get(address)
            assert (again.status_code, again.data, len(ran)) == (200, first.data, 1), (name, address)
            with counted(app) as ran:
                unchanged = client.get(address, headers={"If-None-Match": again.headers["ETag"]})
            assert (unchanged.status_code, unchanged.data, len(ran)) == (304, b"", 1), (name, address)
