"""Asks an API everything that its OpenAPI document allows, or nearly, with schemathesis."""

import io
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import schemathesis
import sqlalchemy as sa
from flask import Flask
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.generation import GenerationMode

from leaderboard.access import CONSOLE
from leaderboard.accounts import writes as credentials, writes as people
from leaderboard.accounts.rules import Scope
from leaderboard.audit.writes import present
from leaderboard.campaigns import writes as campaigns
from leaderboard.campaigns.models import Campaign
from leaderboard.evaluations import writes as submission_forms
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import FormField
from leaderboard.store import RankedList
from leaderboard.submissions.models import Submission
from leaderboard.submissions.writes.run_store import bind
from tests.support.field import Field, about
from tests.support.world import new_account

Mode = Literal["positive", "negative"]

load_all_checks()
WANTED: list[Any] = CHECKS.get_by_names(
    ["not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance"]
)


def set_up(app: Flask) -> tuple[str, dict[str, Any]]:
    """A campaign with a scored run; its organiser's token, for everything, and a place for each part of an address."""
    made = Field(app.extensions["database"]).campaign().evaluation()
    run = made.run("Birch", {"AP": about(0.4, 4), "P@5": [0.2] * 4}, team="Birches")
    bind(app.extensions["database"], app.extensions["store"])
    received = app.extensions["store"].receive(io.BytesIO(b"q1 Q0 d1 1 0.5 birch\n"), "birch.run")
    app.extensions["store"].keep_ranked_lists(run, 10, 4, [(0, RankedList(("d1",), np.array([0.5])))])
    with made.database.write() as session:
        session.get_one(Submission, run).sha256 = received.sha256
        evaluation = session.get_one(Evaluation, made.evaluations["2026"])
        submission_forms.set_field(session, CONSOLE, evaluation, FormField(key="terms", label="Terms").as_json())
        submission_forms.state_agreement(session, CONSOLE, evaluation, "terms", "Terms", "Be fair.")
        current = made.current_set().id
        orla = people.create_user(session, CONSOLE, new_account("orla"))
        campaigns.add_organiser(session, CONSOLE, session.scalars(sa.select(Campaign)).one(), orla)
        token = credentials.make_token(session, CONSOLE, orla, "trial", Scope, days=None, now=present())
    return token, {
        "campaign": "news", "evaluation": "2026", "query": "q1", "submission": run, "team": "birches",
        "system": "birch", "name": "AP", "key": "terms", "scoring_set": current, "before": current, "after": current,
        "system_id": made.systems["Birch"], "team_id": made.teams["Birches"], "other_id": made.teams["Birches"],
        "member": orla.id,
    }  # fmt: skip


def ask_everything(
    app: Flask, token: str, places: Mapping[str, Any], mode: Mode, examples: int, *, derandomize: bool = True
) -> set[str]:
    """Sends so many requests to each operation, and each once more to a place that there is; the operations asked.

    places  part of an address -> one that there is
    mode    positive: as the document says; negative: not quite

    Fails with the request that got a server error, or an answer of another type than the document says.
    """
    app.testing = False  # an error is to be answered, not raised
    # Compressed answers reach it as they are without a server between.
    headers = {"Authorization": f"Bearer {token}", "Accept-Encoding": "identity"}
    tried = set()
    document: Any = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", app)
    for found in document.get_all_operations():
        operation = found.ok()  # raises where the document is wrong
        raw = operation.definition.raw
        typed = [one for one in raw["parameters"] if one["in"] == "query" or one["schema"] != {"type": "string"}]
        if mode == "negative" and not typed and "requestBody" not in raw:
            continue  # any text is a name, so that nothing of it can be wrong
        tried.add(raw["operationId"])

        @settings(
            max_examples=examples, deadline=None, database=None, derandomize=derandomize, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(case=operation.as_strategy(generation_mode=GenerationMode(mode)))
        def ask(case: schemathesis.Case[Any]) -> None:
            case.call_and_validate(headers=headers, checks=WANTED)
            if case.path_parameters:
                case.path_parameters = {name: places.get(name, own) for name, own in case.path_parameters.items()}
                case.call_and_validate(headers=headers, checks=WANTED)

        try:
            ask()
        except Unsatisfiable:
            assert mode == "negative", raw["operationId"]  # as above, with more than one name
            tried.discard(raw["operationId"])
    return tried
