"""The organiser's page of what a submission form asks."""

import datetime as dt
import re
from collections.abc import Callable
from dataclasses import replace

import pytest
import sqlalchemy as sa
from markupsafe import escape

from leaderboard.access import CONSOLE
from leaderboard.accounts.rules import Scope
from leaderboard.campaigns import writes as campaigns
from leaderboard.campaigns.models import Campaign
from leaderboard.evaluations import writes as evaluations, writes as submission_forms
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.evaluations import file_rules, form_fields
from leaderboard.evaluations.rules import FieldKind, FormField, ShownTo
from tests.support.pages import hidden
from tests.web.conftest import API, FORM, RUN, Program, Reader, World, errors

PAGE = "/organise/harbour/2025/form"
FIELD = {"key": "model", "label": "Kind of <model>", "kind": "choice", "choices": "sparse\r\ndense\r\n"}
LIST = b"d1\nd2\nd3\nd4\nd5\n"  # all that are judged
SHOWN = {"shown_to": "everyone", "column": "y", "filter": "y"}


def test_a_field_is_added_changed_and_removed(world: World, organiser: Reader, participant: Reader) -> None:
    assert organiser.post(f"{PAGE}/field", **FIELD, **SHOWN).location == PAGE
    [field] = form_fields(world.all(sa.select(Evaluation))[0])
    assert (field.key, field.kind, field.choices) == ("model", FieldKind.CHOICE, ("sparse", "dense"))
    assert (field.shown_to, field.column, field.filter, field.required) == (ShownTo.EVERYONE, True, True, False)
    assert "Kind of &lt;model&gt; (optional)" in participant.get(FORM)
    assert 'value="model"' in organiser.get(f"{PAGE}?field=model")
    organiser.post(f"{PAGE}/field", **{**FIELD, "label": "Model", "required": "y"}, shown_to="organisers")
    [field] = form_fields(world.all(sa.select(Evaluation))[0])
    assert (field.label, field.required, field.column) == ("Model", True, False)
    assert organiser.post(f"{PAGE}/field/remove", key="model").location == PAGE
    assert form_fields(world.all(sa.select(Evaluation))[0]) == ()
    assert organiser.post(f"{PAGE}/field/remove", key="model").status_code == 404


def test_as_teams_see_it_shows_the_form_to_an_organiser_without_a_team(
    world: World, organiser: Reader, participant: Reader
) -> None:
    organiser.post(f"{PAGE}/field", **FIELD)
    organiser.post(f"{PAGE}/agreement", key="terms", title="Terms of use", wording="Be kind.")
    world.change(draft=True, opens_at=dt.datetime(2039, 1, 1, tzinfo=dt.UTC), closes_at=None)
    [link] = re.findall('href="([^"]+)">As teams see it', organiser.get(PAGE))
    assert link == f"{FORM}?preview="
    form = organiser.get(link)
    for words in ("A new system of your team", "Kind of &lt;model&gt;", "Terms of use", "Run file"):
        assert words in form
    assert "You are in no team yet" not in form
    assert "Submit run</button>" not in form
    world.change(draft=False)
    participant.get(link, status=404)


def test_answers_that_are_there_are_shown_to_more_readers_after_a_yes_only(
    world: World, organiser: Reader, participant: Reader, program: Callable[..., Program]
) -> None:
    """On the page, by the API, and by taking over another evaluation's form."""
    organiser.post(f"{PAGE}/field", **FIELD)
    assert participant.send(FORM, RUN, **world.sent(**{"answer-model": "dense"})).status_code == 302
    words = "Harbour 2025: answers to Kind of &lt;model&gt; are shown to more readers, for good."
    asked = organiser.post(f"{PAGE}/field", **FIELD, **SHOWN)
    assert (asked.status_code, words in asked.text, "Nothing is changed yet." in asked.text) == (200, True, True)
    assert re.search('checked[^>]* value="everyone"', asked.text)
    with world.database.write() as session:
        campaign = session.get_one(Campaign, world.campaign.id)
        other = evaluations.create_evaluation(session, CONSOLE, campaign, "2026", "Harbour 2026", "2026")
        public = FormField(key="model", label="Model", kind=FieldKind.CHOICE, choices=("sparse", "dense"), hint="How.")
        submission_forms.set_field(session, CONSOLE, other, replace(public, shown_to=ShownTo.EVERYONE).as_json())
    copied = organiser.post(f"{PAGE}/copy", source="2026")
    assert (copied.status_code, words in copied.text, 'value="2026" selected' in copied.text) == (200, True, True)
    assert form_fields(world.all(sa.select(Evaluation))[0])[0].shown_to is ShownTo.ORGANISERS
    again = organiser.post(f"{PAGE}/field", **FIELD, **SHOWN, confirm="yes")
    assert (again.location, form_fields(world.all(sa.select(Evaluation))[0])[0].column) == (PAGE, True)


def test_what_a_body_leaves_out_of_a_field_stays_as_it_is(world: World, program: Callable[..., Program]) -> None:
    orla, fields = program("orla", Scope.ORGANISE), f"{API}/organise/campaigns/harbour/evaluations/2025/form/fields"
    assert "label" in orla.post(fields, 400, key="model")["fields"]
    whole = {
        "key": "model", "label": "Model", "kind": "choice", "choices": ["sparse", "dense"], "required": True,
        "shown_to": "everyone", "column": True, "filter": True, "hint": "How.", "header": "method.kind", "asked": True,
    }  # fmt: skip
    [made] = orla.post(fields, **whole)["fields"]
    assert made["field"] == whole
    for part, value in {
        "label": "Kind",
        "required": False,
        "choices": ["sparse", "dense", "both"],
        "column": False,
    }.items():
        [changed] = orla.ask(fields, "POST", json={"key": "model", part: value})["fields"]
        whole[part] = value
        assert changed["field"] == whole


@pytest.mark.parametrize(
    ("part", "sent", "wrong"),
    [
        ("field", {**FIELD, "choices": "one", "shown_to": "organisers", "column": "y"}, {"choices", "shown_to"}),
        (
            "field",
            {"key": "", "label": "", "kind": "poem", "hint": "x" * 9000, "shown_to": "nobody"},
            {"key", "label", "kind", "hint", "shown_to"},
        ),
        ("agreement", {"key": "Terms", "title": "", "wording": "Ü" * 30_000}, {"key", "title", "wording"}),
        ("rules", {"most_documents": "5", "least_documents": "x", "document_pattern": "(a"}, None),
        ("rules", {"most_documents": "5", "least_documents": "9", "document_pattern": "(a"}, None),
    ],
)
def test_what_is_wrong_comes_back_beside_its_field_and_nothing_is_changed(
    world: World, organiser: Reader, part: str, sent: dict[str, str], wrong: set[str] | None
) -> None:
    answer = organiser.post(f"{PAGE}/{part}", **sent)
    assert (answer.status_code, "<title>Error: " in answer.text) == (400, True)
    assert errors(answer.text) == (wrong or {"least_documents", "document_pattern"})
    assert str(escape(max(sent.values(), key=len))) in answer.text  # as it was sent
    [evaluation] = world.all(sa.select(Evaluation))
    assert (evaluation.form_fields, evaluation.file_rules) == ([], {})


def test_a_doubtful_list_of_documents_is_counted_against_what_is_known_and_needs_a_yes(
    world: World, organiser: Reader, program: Callable[..., Program]
) -> None:
    """Five documents are judged, d1 to d5."""
    world.change(documents=100)
    asked = organiser.send(f"{PAGE}/documents", b"d1\nd9\n", field="documents")
    assert asked.status_code == 200
    assert "Not in the list: 4 of 5 judged documents, such as d2." in asked.text
    assert file_rules(world.all(sa.select(Evaluation))[0]).documents == 0
    kept = hidden(asked.text, "kept")
    assert organiser.send(f"{PAGE}/documents", b"", field="documents", kept="x", confirm="yes").status_code == 400
    assert organiser.send(f"{PAGE}/documents", b"", field="documents", kept=kept, confirm="yes").location == PAGE
    assert file_rules(world.all(sa.select(Evaluation))[0]).documents == 2
    assert f'href="{PAGE}"' in organiser.get("/organise/harbour/2025")
    orla, own = program("orla", Scope.ORGANISE), f"{API}/organise/campaigns/harbour/evaluations/2025/form/documents"
    sent = {"data": b"d1\n", "content_type": "application/octet-stream"}
    refused = orla.ask(own, "POST", status=400, **sent)
    assert refused["fields"]["confirm"][0].startswith("The list has 1 document, and the collection has 100 documents")
    assert orla.ask(f"{own}?confirm=true", "POST", **sent)["rules"]["documents"] == 1


def test_rules_and_a_list_of_documents_are_set_and_dropped(world: World, organiser: Reader) -> None:
    organiser.post(f"{PAGE}/rules", most_documents="1000", every_query="y", document_pattern=r"d\d+", tag_pattern="")
    assert organiser.send(f"{PAGE}/documents", LIST, field="documents").location == PAGE
    rules = file_rules(world.all(sa.select(Evaluation))[0])
    assert (rules.most_documents, rules.every_query, rules.document_pattern) == (1000, True, r"d\d+")
    assert rules.documents == 5
    assert "The list has 5 documents" in organiser.get(PAGE)
    refused = organiser.send(f"{PAGE}/documents", b"d1\nd2 d3\n", field="documents")
    assert (refused.status_code, "line 2: expected 1 column," in refused.text) == (400, True)
    assert organiser.send(f"{PAGE}/documents", b"%PDF-1.7", field="documents").status_code == 400
    assert file_rules(world.all(sa.select(Evaluation))[0]).documents == 5
    assert organiser.send(f"{PAGE}/documents", b"", field="documents", drop="yes").location == PAGE
    assert file_rules(world.all(sa.select(Evaluation))[0]).documents == 0


def test_what_another_evaluation_asks_is_taken_over_within_the_campaign_only(world: World, organiser: Reader) -> None:
    organiser.post(f"{PAGE}/field", **FIELD, **SHOWN)
    with world.database.write() as session:
        campaign = session.get_one(Campaign, world.campaign.id)
        evaluations.create_evaluation(session, CONSOLE, campaign, "2026", "Harbour 2026", "2026")
        other = campaigns.create_campaign(session, CONSOLE, "quay", "Quay", measures=["AP"], primary_measure="AP")
        strange = evaluations.create_evaluation(session, CONSOLE, other, "2024", "Quay 2024", "2024")
        submission_forms.state_agreement(session, CONSOLE, strange, "terms", "Terms", "sekret")
    assert organiser.post("/organise/harbour/2026/form/copy", source="2025").location == "/organise/harbour/2026/form"
    with world.database.read() as session:
        made = session.scalars(sa.select(Evaluation).where(Evaluation.slug == "2026")).one()
        assert [field.key for field in form_fields(made)] == ["model"]
    assert organiser.post("/organise/harbour/2026/form/copy", source="2024").status_code == 404
