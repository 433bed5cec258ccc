"""What an evaluation asks of a submission: answers are checked and stay, agreements are asked again by version."""

import dataclasses
import io

import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.audit.models import Event
from leaderboard.audit.reads import TrailFilters, trail
from leaderboard.audit.writes import present
from leaderboard.errors import InvalidFields, NotAllowed, NotFound
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations import writes as submission_forms
from leaderboard.evaluations.models import Acceptance, Agreement, Evaluation
from leaderboard.evaluations.reads.form_fields import (
    collection_list,
    file_rules,
    form_fields,
    organised_form,
    standing_agreements,
)
from leaderboard.evaluations.rules import FieldKind, FormField, ShownTo, answers_of
from leaderboard.formats import FileRules, document_list
from leaderboard.judgments.reads.files import ListedDocuments, listed_documents
from leaderboard.submissions.models import Submission
from tests.support.refused import refused
from tests.support.world import RUN, World, run_text

TRAINED = FormField(
    key="trained", label="Trained here", kind=FieldKind.YES_NO, required=True, shown_to=ShownTo.EVERYONE, column=True
)
MODEL = FormField(key="model", label="Model", kind=FieldKind.CHOICE, choices=("sparse", "dense"))
SIZE = FormField(key="size", label="Parameters", kind=FieldKind.NUMBER)
REMARK = FormField(key="remark", label="Remark")
CPU = FormField(key="cpu", label="Processor", header="platform.cpu")


def ask(world: World, *fields: FormField) -> None:
    with world.organising() as (session, _, evaluation):
        for field in fields:
            submission_forms.set_field(session, CONSOLE, evaluation, field)


def test_answers_are_stored_with_the_run_by_the_keys_of_their_fields(world: World) -> None:
    ask(world, TRAINED, MODEL, SIZE, REMARK, CPU)
    world.submit(answers={"trained": "yes", "model": "dense", "size": "1.5e9", "remark": "  as is  "})
    [run] = world.all(sa.select(Submission))
    assert run.answers == {"trained": True, "model": "dense", "size": 1.5e9, "remark": "as is"}


def test_an_answer_that_does_not_fit_is_refused_by_the_name_of_its_field(world: World) -> None:
    ask(world, TRAINED, MODEL, SIZE, REMARK, CPU)
    given = {"model": "neural", "size": "many", "remark": "x" * 1001, "nonsense": "1", "cpu": "forged"}
    with refused(world.database, InvalidFields, "evaluation") as caught:
        world.submit(answers=given)
    assert caught.value.fields.keys() == {
        "answer-trained", "answer-model", "answer-size", "answer-remark", "answer-nonsense", "answer-cpu",
    }  # fmt: skip
    assert world.all(sa.select(Submission)) == []


def test_the_command_line_may_leave_required_answers_out(world: World) -> None:
    ask(world, TRAINED)
    world.submit(actor=CONSOLE)
    with refused(world.database, InvalidFields, "evaluation"):
        world.submit(actor=CONSOLE, answers={"trained": "perhaps"})


def test_answers_stay_as_they_were_given_when_their_field_changes(world: World) -> None:
    ask(world, MODEL)
    world.submit(answers={"model": "dense"})
    ask(world, dataclasses.replace(MODEL, label="Kind of model", choices=("lexical", "learned"), required=True))
    [run] = world.all(sa.select(Submission))
    [evaluation] = world.all(sa.select(Evaluation).where(Evaluation.id == world.evaluation))
    [(field, answer)] = answers_of(form_fields(evaluation), run.answers, {}).items()
    assert (field.label, answer) == ("Kind of model", "dense")


def test_a_field_that_was_answered_keeps_its_kind_and_is_retired_instead_of_removed(world: World) -> None:
    ask(world, MODEL, REMARK)
    world.submit(answers={"model": "dense"})
    with refused(world.database, InvalidFields, "evaluation") as caught:
        ask(world, dataclasses.replace(MODEL, kind=FieldKind.TEXT, choices=()))
    assert caught.value.fields.keys() == {"kind"}
    with world.organising() as (session, _, evaluation):
        assert submission_forms.remove_field(session, CONSOLE, evaluation, "remark")
        assert not submission_forms.remove_field(session, CONSOLE, evaluation, "model")
        assert [(one.key, one.asked) for one in form_fields(evaluation)] == [("model", False)]
    with refused(world.database, InvalidFields, "evaluation"):
        world.submit(answers={"model": "dense"})


def test_a_field_that_is_read_from_the_file_is_answered_by_what_runs_say(world: World) -> None:
    ask(world, CPU, MODEL)
    world.submit(said={"platform.cpu": "<b>i9</b>"})
    world.submit(f"# platform.cpu: i7\n{RUN}")
    world.submit(run_text(1))
    world.drain()
    with world.organising() as (session, campaign, evaluation):
        page = organised_form(session, CONSOLE, campaign.slug, evaluation.slug, present())
        assert [(one.field.key, one.answered) for one in page.fields] == [("cpu", 2), ("model", 0)]
    with refused(world.database, InvalidFields, "evaluation") as caught:
        ask(world, dataclasses.replace(CPU, kind=FieldKind.NUMBER))
    assert caught.value.fields.keys() == {"kind"}
    with world.organising() as (session, _, evaluation):
        assert not submission_forms.remove_field(session, CONSOLE, evaluation, "cpu")


def test_a_field_that_keeps_parts_of_what_runs_say_to_fewer_is_retired_instead_of_removed(world: World) -> None:
    """A run whose file nobody has read yet may say it."""
    method = FormField(key="method", label="Method", header="method")
    ask(world, method, dataclasses.replace(method, key="seen", label="Seen", shown_to=ShownTo.EVERYONE), CPU)
    world.submit(f"# method.kind: dense\n{RUN}")

    def removed(field: FormField) -> bool:
        with world.organising() as (session, _, evaluation):
            gone = submission_forms.remove_field(session, CONSOLE, evaluation, field.key)
        ask(world, field)  # asked again
        return gone

    assert not removed(method)
    assert not removed(CPU)
    world.drain()
    assert not removed(method)
    assert removed(CPU)  # read: the run says nothing of it
    with world.organising() as (session, campaign, evaluation):
        page = organised_form(session, CONSOLE, campaign.slug, evaluation.slug, present())
        assert [(one.field.key, one.answered, one.keeps) for one in page.fields] == [
            ("method", 0, True),
            ("seen", 0, False),
            ("cpu", 0, False),
        ]
        assert submission_forms.remove_field(session, CONSOLE, evaluation, "seen")  # all see what it covers


def test_a_definition_that_cannot_be_is_refused_by_its_parts(world: World) -> None:
    ask(world, TRAINED)
    for field, parts in (
        (dataclasses.replace(REMARK, key="Re mark", label=""), {"key", "label"}),
        (dataclasses.replace(MODEL, choices=("one",)), {"choices"}),
        (dataclasses.replace(REMARK, choices=("a", "b")), {"choices"}),
        (dataclasses.replace(REMARK, column=True), {"shown_to"}),
        (dataclasses.replace(REMARK, key="twin", label=" trained  HERE"), {"label"}),
    ):
        with refused(world.database, InvalidFields, "evaluation") as caught:
            ask(world, field)
        assert caught.value.fields.keys() == parts
    # Of two fields with one label that which is retired is in nobody's way.
    ask(world, dataclasses.replace(REMARK, key="older", asked=False), dataclasses.replace(REMARK, key="newer"))
    with refused(world.database, InvalidFields, "evaluation", match="'newer' has this label"):
        ask(world, REMARK)


def test_what_a_file_says_in_answer_to_a_field_is_refused_where_the_form_would_refuse_it(world: World) -> None:
    many = dataclasses.replace(SIZE, header="params")
    auto = FormField(key="auto", label="Automatic", kind=FieldKind.YES_NO, header="method.automatic")
    kind = dataclasses.replace(MODEL, header="method.kind")
    needed = dataclasses.replace(many, key="needed", label="Needed", header="gpus", required=True)
    ask(world, many, auto, kind, needed)
    good = {"params": "7e9", "method.automatic": "False", "method.kind": "dense", "gpus": "8"}
    for wrong in (
        *({"params": text} for text in ("abc", "NaN", "1e400", "5, 6")),
        {"method.automatic": "perhaps"},
        {"method.kind": "dense, sparse"},
        {"gpus": "many"},
    ):
        for actor in (world.ada, CONSOLE):
            with refused(world.database, InvalidFields, "evaluation", match="the run's own metadata has") as caught:
                world.submit(actor=actor, header={**good, **wrong})
            [key] = [field.key for field in (many, auto, kind, needed) if field.header in wrong]
            assert caught.value.fields.keys() == {f"answer-{key}"}
    assert world.all(sa.select(Submission)) == []
    world.submit(header={**good, "params": "abc"}, said={"params": "7e9"})  # the file beside it goes first
    world.submit(run_text(1), header={**good, "gpus": "many"}, answers={"needed": "8"})  # and what is typed


def test_what_a_run_said_that_is_no_answer_is_none() -> None:
    """Of one that came before its field, or in an import. A choice stays what it was: its choices may be others now."""
    many = dataclasses.replace(SIZE, header="params")
    auto = FormField(key="auto", label="Automatic", kind=FieldKind.YES_NO, header="method.automatic")
    kind = dataclasses.replace(MODEL, header="method.kind")
    said = {"params": "5, 6", "method.automatic": "perhaps", "method.kind": "lexical"}
    assert answers_of((many, auto, kind), {}, said) == {kind: "lexical"}
    assert [answers_of((many,), {}, {"params": text}) for text in ("abc", "NaN", "1e400")] == [{}, {}, {}]
    assert answers_of((many, auto), {}, {"params": "7e9", "method.automatic": "No"}) == {many: 7e9, auto: False}


def test_an_agreement_is_accepted_once_and_asked_again_when_a_new_version_stands(world: World) -> None:
    def state(text: str) -> int:
        with world.organising() as (session, _, evaluation):
            return submission_forms.state_agreement(session, CONSOLE, evaluation, "terms", "Terms", text).id

    first = state("Do no harm.")
    with refused(world.database, InvalidFields, "evaluation") as caught:
        world.submit()
    assert caught.value.fields.keys() == {"agreement-terms"}
    world.submit(accepted=[first])
    world.submit(f"{RUN}q3 Q0 d9 1 1 a\n")
    second = state("Do some good.")
    with refused(world.database, InvalidFields, "evaluation"):
        world.submit(accepted=[first])
    world.submit(f"{RUN}q3 Q0 d8 1 1 a\n", accepted=[second])
    rows = world.all(sa.select(Acceptance).order_by(Acceptance.agreement_id))
    assert [(row.agreement_id, row.user_id) for row in rows] == [
        (first, world.ada.user_id),
        (second, world.ada.user_id),
    ]
    accepted = world.all(sa.select(Event).where(Event.action == "accept").order_by(Event.id))
    assert [(one.actor_id, one.facts["version"]) for one in accepted] == [
        (world.ada.user_id, 1),
        (world.ada.user_id, 2),
    ]
    with world.organising() as (session, _, evaluation):
        submission_forms.end_agreement(session, CONSOLE, evaluation, "terms")
        assert standing_agreements(session, evaluation.id) == []
    world.submit(f"{RUN}q3 Q0 d7 1 1 a\n")
    with refused(world.database, NotFound, "agreement"), world.organising() as (session, _, evaluation):
        submission_forms.end_agreement(session, CONSOLE, evaluation, "terms")


def test_only_organisers_change_what_is_asked(world: World) -> None:
    for change in (
        lambda session, evaluation: submission_forms.set_field(session, world.ada, evaluation, REMARK),
        lambda session, evaluation: submission_forms.remove_field(session, world.ada, evaluation, "x"),
        lambda session, evaluation: submission_forms.state_agreement(session, world.ada, evaluation, "t", "T", "t"),
        lambda session, evaluation: submission_forms.end_agreement(session, world.ada, evaluation, "t"),
        lambda session, evaluation: submission_forms.set_rules(session, world.ada, evaluation, every_query=True),
        lambda session, evaluation: submission_forms.set_documents(session, world.ada, evaluation, None),
        lambda session, evaluation: submission_forms.copy_form(session, world.ada, evaluation, evaluation),
    ):
        with refused(world.database, NotAllowed, "evaluation"), world.organising() as (session, _, evaluation):
            change(session, evaluation)


def test_rules_that_cannot_hold_are_refused_by_their_names(world: World) -> None:
    wrong = {"most_documents": 0, "document_pattern": "(a", "tag_pattern": "b)", "nonsense": 1}
    with refused(world.database, InvalidFields, "evaluation") as caught, world.organising() as (session, _, evaluation):
        submission_forms.set_rules(session, CONSOLE, evaluation, **wrong)
    assert caught.value.fields.keys() == wrong.keys()
    with refused(world.database, InvalidFields, "evaluation") as caught, world.organising() as (session, _, evaluation):
        submission_forms.set_rules(session, CONSOLE, evaluation, most_documents=5, least_documents=6)
    assert caught.value.fields.keys() == {"least_documents"}


def test_a_list_of_documents_is_held_against_judgments_and_the_newest_runs(world: World) -> None:
    """RUN names d1, d2 and d3; judged are d1 to d4."""
    world.submit()
    world.submit("q1 Q0 d1 1 1 a\n")
    world.drain()
    with world.database.read() as session:
        evaluation = session.get_one(Evaluation, world.evaluation)

        def held(text: bytes) -> ListedDocuments:
            return listed_documents(session, world.store, evaluation, document_list(io.BytesIO(text)))

        some = held(b"d1\nd2\nd4\n")
        assert (some.listed, some.judged, some.unlisted, some.example) == (3, 4, 1, "d3")
        assert (some.runs, some.strange, some.named) == (2, 1, "d3")
        all_of_them = held("".join(f"d{n}\n" for n in range(1, 1001)).encode())
        assert (all_of_them.documents, all_of_them.listed, all_of_them.doubts) == (1000, 1000, ())
        assert all_of_them.in_words == "The collection has 1,000 documents, all 4 judged documents among them."


def test_everything_that_is_asked_is_copied_to_another_evaluation(world: World) -> None:
    ask(world, TRAINED, MODEL, CPU)
    with world.organising() as (session, campaign, source):
        submission_forms.state_agreement(session, CONSOLE, source, "terms", "Terms", "old")
        submission_forms.state_agreement(session, CONSOLE, source, "terms", "Terms", "new")
        submission_forms.set_rules(session, CONSOLE, source, most_documents=7, document_pattern="d[0-9]+")
        listed = document_list(io.BytesIO(b"d1\nd2\n"))
        submission_forms.set_documents(session, CONSOLE, source, listed)
        target = evaluations.create_evaluation(session, CONSOLE, campaign, "next", "Next year", "2027", documents=1000)
        submission_forms.set_field(session, CONSOLE, target, REMARK)
        submission_forms.copy_form(session, CONSOLE, source, target)
        submission_forms.copy_form(session, CONSOLE, source, target)
        session.flush()
        assert form_fields(target) == form_fields(source) == (TRAINED, MODEL, CPU)
        [terms] = standing_agreements(session, target.id)
        assert (terms.version, terms.text) == (1, "new")
        assert file_rules(target) == FileRules(7, None, False, "d[0-9]+", "", 2, listed.sha256)
        assert collection_list(session, target.id) == listed.packed
    assert len(world.all(sa.select(Agreement))) == 3


def test_the_trail_tells_which_part_of_a_field_an_agreement_or_a_rule_changed(world: World) -> None:
    ask(world, MODEL)
    ask(world, dataclasses.replace(MODEL, label="Kind", required=True))
    with world.organising() as (session, _, evaluation):
        submission_forms.remove_field(session, CONSOLE, evaluation, "model")
        for text in ("Be fair.", "Be kind."):
            submission_forms.state_agreement(session, CONSOLE, evaluation, "terms", "Terms", text)
        submission_forms.set_rules(session, CONSOLE, evaluation, most_documents=5, tag_pattern="[a-z]+")
        submission_forms.set_rules(session, CONSOLE, evaluation, most_documents=9)
    with world.database.read() as session:
        page = trail(session, CONSOLE, "small", present(), filters=TrailFilters(), page=None)
    told = [
        [f"{one.what}: {one.before or '-'} > {one.after or '-'}" for one in row.changes]
        for row in reversed(page.rows)
        if any(word in row.did for word in ("field", "agreement", "file rules"))
    ]
    assert told == [
        [
            "model: asked: - > yes",
            "model: choices: - > sparse, dense",
            "model: key: - > model",
            "model: kind: - > choice",
            "model: label: - > Model",
            "model: shown to: - > organisers",
        ],
        ["model: label: Model > Kind", "model: required: no > yes"],
        [
            "model: asked: yes > -",
            "model: choices: sparse, dense > -",
            "model: key: model > -",
            "model: kind: choice > -",
            "model: label: Kind > -",
            "model: required: yes > -",
            "model: shown to: organisers > -",
        ],
        ["terms: text: - > that of version 1, 8 characters", "terms: title: - > Terms"],
        ["terms: text: that of version 1, 8 characters > that of version 2, 8 characters"],
        ["most documents: - > 5", "tag pattern: - > [a-z]+"],
        ["most documents: 5 > 9"],
    ]


def test_a_field_has_no_name_that_forms_and_programs_use_for_a_part_of_every_submission(world: World) -> None:
    for key in ("run", "team", "new_system"):
        with refused(world.database, InvalidFields, "evaluation") as caught:
            ask(world, FormField(key=key, label="Which"))
        assert caught.value.fields == {"key": [f"{key!r} is a part of every submission; take another key"]}
    ask(world, FormField(key="runs", label="How many"))
