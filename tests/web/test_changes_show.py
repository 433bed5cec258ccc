"""What every service changes shows on the next request: each is listed with the generation that it raises.

The services are called one after the other in one world (`changes.py`). Before each, a page that shows what it changes
is asked for, so that it is kept; afterwards it must be what a site that keeps nothing answers, and another than before.
"""

import ast
import re
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from leaderboard.audit.writes import present
from leaderboard.generations.models import INSTALLATION
from tests.support.shared import REPOSITORY
from tests.web.changes import CHANGES, NONE, OF_ALL, OF_CAMPAIGN, Play
from tests.web.conftest import Reader, World

# Why no kept page shows what it writes -> module or function.
NOWHERE = {
    "an address, a token and an identity are shown to their account alone, on a page that is not kept": {
        "accounts.change_address", "accounts.send_confirmation", "accounts.find_link", "accounts.confirm_address",
        "accounts.set_address", "accounts.choose_mail", "accounts.make_token", "accounts.revoke_token",
        "accounts.note_use", "accounts.link_identity", "accounts.register_with", "accounts.unlink_identity",
    },
    "passwords, log-ins and how often somebody tried are shown nowhere": {
        "accounts.ask_for_reset", "accounts.reset_password", "accounts.authenticate", "accounts.log_in",
        "accounts.log_out", "rate_limits",
    },
    "mails are sent, and listed for the operator": {"mail"},
    "which run store is the installation's own": {"run_store.bind", "run_store.take"},
    "which workers there are is told to the operator": {"operating"},
    "what is left of a quota stands on the submission form, which is not kept": {
        "submissions.release_quota", "submissions.use_quota",
        "submissions.return_quota", "submissions.count_unused_file", "submissions.use_counted_file",
        "submissions.reserve_quota", "submissions.renew_quota",
    },
}  # fmt: skip
# Module or function that writes nothing.
READING = {
    "boards.best_means", "boards.due", "results.due_team_finds",
    "boards.recomputed", "evaluations.next_year", "generations.campaign_of", "accounts.find_user",
    "accounts.require_free", "queue.unfinished", "worker.imported",
    "worker.live_sets", "worker.of_its_event", "campaigns.locked_evaluations",
    "worker.of_older_version", "worker.ready_sets",     "evaluations.agreements_of",
    "submissions.admit", "submissions.locked_run",
    "teams.free_system_slug", "teams.find_invitation", "teams.joined_by",
    "worker.next_turns", "run_store.require_own",
}  # fmt: skip
# What others use: the generation is raised with what they change.
WITHIN = {
    "submissions.go_by_source",
    "audit.assign", "audit.record", "generations.raise_generations", "teams.end_requests",
    "locking", "teams.ensure_pseudonym",
    "judgments.copy_queries", "worker.enqueue",
    "judgments.import_previewed", "judgments.import_previewed_queries",
    "worker.make_set", "worker.supersede",
    "selection",
    "evaluations.accept_agreements", "submissions.baseline_team", "submissions.settle_primary", "teams.free_team",
    "worker.drop_scorings", "campaigns.lock_if_scored",
}  # fmt: skip


def test_every_service_is_listed_with_the_generation_that_it_raises() -> None:
    listed = {name for change in CHANGES for name in change.services}
    missing = [
        name
        for name in _services()
        if not listed.intersection({name}) and not _is_named(name, READING.union(WITHIN, *NOWHERE.values()))
    ]
    assert not missing, (
        f"{', '.join(missing)}: call it in a change of tests/web/changes.py, which says the generation that "
        "it raises and a page that shows it; or name it in NOWHERE, READING or WITHIN of tests/web/test_changes_show.py"
    )
    assert listed <= set(_services())


def _is_named(service: str, names: set[str]) -> bool:
    return service in names or service.rpartition(".")[0].partition(".")[0] in names


def _services() -> list[str]:
    """Public functions of the writes that have a database, as `module.function`; of `boards/writes.py`, `boards.…`."""
    package = REPOSITORY / "leaderboard"
    paths = sorted(
        [
            *package.glob("*/writes.py"),
            *package.glob("*/writes/*.py"),
            package / "worker/queue.py",
            package / "teams/merging.py",
        ]
    )
    return [
        f"{path.parent.name if path.stem == 'writes' else path.stem}.{node.name}"
        for path in paths
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef)
        and not node.name.startswith("_")
        and {"session", "database"} & {argument.arg for argument in node.args.args}
    ]


@pytest.fixture
def play(app: Flask, world: World, reader: Callable[[str], Reader], monkeypatch: pytest.MonkeyPatch) -> Play:
    now = present()
    monkeypatch.setitem(app.extensions, "clock", lambda: now)  # "2 s ago" would be another page
    readers = {name: reader(name) for name in ("", "ada", "ben", "eve", "orla")}
    for one in readers.values():
        one.client.get("/login")  # the first page with a form puts the session's token into the cookie
    return Play(app, world, readers)


def test_what_a_service_changes_shows_on_the_next_request_and_raises_what_is_listed(play: Play) -> None:
    for one in CHANGES:
        name, client = " and ".join(one.services), play.readers[one.who].client
        pages = [_page(client, one.at) for _ in range(2)]
        before = play.generations()
        with play.database.write() as session:
            one.do(session, play)
        raised = {campaign for campaign, number in play.generations().items() if before.get(campaign) != number}
        assert _whose(raised, play) >= {one.raises} - {NONE}, (name, raised)
        if one.raises == NONE:
            assert not raised, name
        if one.at is None:
            continue
        after = _page(client, one.at)
        with play.keeping_nothing():
            assert after == _page(client, one.at), f"{name}: {one.at} is not as it is now"
        assert after != pages[-1], f"{name}: {one.at} does not show what was changed"


def _whose(raised: set[int], play: Play) -> set[str]:
    names = {INSTALLATION: OF_ALL, play.world.campaign.id: OF_CAMPAIGN}
    return {names.get(campaign, "its own") for campaign in raised}


def _page(client: Any, address: str | None) -> str:
    """Status and text, without the token of a form, which is drawn."""
    if address is None:
        return ""
    answer = client.get(address)
    text = re.sub(r'name="csrf_token" value="[^"]*"', "", answer.text)
    return f"{answer.status_code} {text}"
