"""What an evaluation asks of a submission: answers are checked and stay, agreements are asked again by version."""

import dataclasses
import io
from collections.abc import Callable
from functools import partial
from typing import Any

import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.audit.models import Event
from leaderboard.audit.reads import TrailFilters, trail
from leaderboard.audit.writes import present
from leaderboard.errors import InvalidFields, NotAllowed, NotFound
from leaderboard.evaluations import writes
from leaderboard.evaluations.models import Acceptance, Agreement, Evaluation
from leaderboard.evaluations.reads.evaluations import (
    collection_list,
    file_rules,
    form_fields,
    organised_form,
    standing_agreements,
)
from leaderboard.evaluations.rules import FieldKind, FormField, ShownTo, answers_of, as_written
from leaderboard.formats import FileRules, document_list
from leaderboard.judgments.reads import doubts_about
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


def do(world: World, what: Callable[..., Any], *more: Any, **changes: Any) -> Any:
    """what(session, actor, evaluation, …) in a transaction of its own, by the console unless changes name an actor."""
    with world.organising() as (session, _, evaluation):
        return what(session, changes.pop("actor", CONSOLE), evaluation, *more, **changes)


def ask(world: World, *fields: FormField) -> None:
    for field in fields:
        do(world, writes.set_field, field.as_json())


def wrong(world: World, what: Callable[[], object], match: str | None = None) -> dict[str, list[str]]:
    """What is refused, by field; nothing is changed."""
    with refused(world.database, InvalidFields, "evaluation", match) as caught:
        what()
    assert isinstance(caught.value, InvalidFields)
    return dict(caught.value.fields)


def organised(world: World) -> list[tuple[str, int, bool]]:
    """Each field's key, how many runs answered it, and whether it keeps something to fewer."""
    with world.organising() as (session, campaign, evaluation):
        page = organised_form(session, CONSOLE, campaign.slug, evaluation.slug, present())
        return [(row.field.key, row.answered, row.keeps) for row in page.fields]


def test_answers_are_stored_with_the_run_and_refused_by_the_names_of_their_fields(world: World) -> None:
    ask(world, TRAINED, MODEL, SIZE, REMARK, CPU)
    unfit = {"model": "neural", "size": "many", "remark": "x" * 1001, "nonsense": "1", "cpu": "forged"}
    assert wrong(world, lambda: world.submit(answers=unfit)).keys() == {
        "answer-trained", "answer-model", "answer-size", "answer-remark", "answer-nonsense", "answer-cpu",
    }  # fmt: skip
    assert world.all(sa.select(Submission)) == []
    world.submit(answers={"trained": "yes", "model": "dense", "size": "1.5e9", "remark": "  as is  "})
    [run] = world.all(sa.select(Submission))
    assert run.answers == {"trained": True, "model": "dense", "size": 1.5e9, "remark": "as is"}
    # They stay as they were given when their field changes.
    ask(world, dataclasses.replace(MODEL, label="Kind of model", choices=("lexical", "learned"), required=True))
    [evaluation] = world.all(sa.select(Evaluation).where(Evaluation.id == world.evaluation))
    answers = {field.label: answer for field, answer in answers_of(form_fields(evaluation), run.answers, {}).items()}
    assert answers["Kind of model"] == "dense"
    world.submit(run_text(1), actor=CONSOLE)  # which may leave required ones out
    assert wrong(world, lambda: world.submit(actor=CONSOLE, answers={"trained": "perhaps"}))


def test_a_field_that_was_answered_keeps_its_kind_and_is_retired_instead_of_removed(world: World) -> None:
    ask(world, MODEL, REMARK, CPU)
    world.submit(answers={"model": "dense"}, said={"platform.cpu": "<b>i9</b>"})
    world.submit(f"# platform.cpu: i7\n{RUN}")
    world.submit(run_text(1))
    world.drain()
    assert organised(world) == [("model", 1, False), ("remark", 0, False), ("cpu", 2, True)]
    text = dataclasses.replace(MODEL, kind=FieldKind.TEXT, choices=())
    for field in (text, dataclasses.replace(CPU, kind=FieldKind.NUMBER)):
        assert wrong(world, lambda field=field: ask(world, field)).keys() == {"kind"}
    assert [do(world, writes.remove_field, key) for key in ("remark", "model", "cpu")] == [True, False, False]
    [evaluation] = world.all(sa.select(Evaluation).where(Evaluation.id == world.evaluation))
    assert [(field.key, field.asked) for field in form_fields(evaluation)] == [("model", False), ("cpu", False)]
    assert wrong(world, lambda: world.submit(answers={"model": "dense"}))


def test_a_field_that_keeps_parts_of_what_runs_say_to_fewer_is_retired_instead_of_removed(world: World) -> None:
    """A run whose file nobody has read yet may say it."""
    method = FormField(key="method", label="Method", header="method")
    ask(world, method, dataclasses.replace(method, key="seen", label="Seen", shown_to=ShownTo.EVERYONE), CPU)
    world.submit(f"# method.kind: dense\n{RUN}")

    def removed(field: FormField) -> bool:
        is_gone = do(world, writes.remove_field, field.key)
        ask(world, field)  # asked again
        return bool(is_gone)

    assert not removed(method)
    assert not removed(CPU)
    world.drain()
    assert not removed(method)
    assert removed(CPU)  # read: the run says nothing of it
    assert organised(world) == [("method", 0, True), ("seen", 0, False), ("cpu", 0, False)]
    assert do(world, writes.remove_field, "seen")  # all see what it covers


def test_a_definition_that_cannot_be_is_refused_by_its_parts(world: World) -> None:
    ask(world, TRAINED)
    for field, parts in (
        (dataclasses.replace(REMARK, key="Re mark", label=""), {"key", "label"}),
        (dataclasses.replace(REMARK, key="new_system"), {"key"}),  # which is a part of every submission
        (dataclasses.replace(MODEL, choices=("one",)), {"choices"}),
        (dataclasses.replace(REMARK, choices=("a", "b")), {"choices"}),
        (dataclasses.replace(REMARK, column=True), {"shown_to"}),
    ):
        assert wrong(world, lambda field=field: ask(world, field)).keys() == parts


def test_what_a_file_says_in_answer_to_a_field_is_refused_where_the_form_would_refuse_it(world: World) -> None:
    many = dataclasses.replace(SIZE, header="params")
    auto = FormField(key="auto", label="Automatic", kind=FieldKind.YES_NO, header="method.automatic")
    kind = dataclasses.replace(MODEL, header="method.kind")
    needed = dataclasses.replace(many, key="needed", label="Needed", header="gpus", required=True)
    ask(world, many, auto, kind, needed)
    good = {"params": "7e9", "method.automatic": "False", "method.kind": "dense", "gpus": "8"}
    for key, odd in (
        *(("auto", {"method.automatic": "perhaps"}), ("model", {"method.kind": "dense, sparse"})),
        *(("size", {"params": text}) for text in ("abc", "NaN", "1e400", "5, 6")),
        ("needed", {"gpus": "many"}),
    ):
        for actor in (world.ada, CONSOLE):
            send = partial(world.submit, actor=actor, header={**good, **odd})
            assert wrong(world, send, match="the run's own metadata has").keys() == {f"answer-{key}"}
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
    quantities = {
        "12.5 s": 12.5,
        "3 h": 10_800.0,
        "1500ms": 1.5,
        "0.5 kWh": 1.8e6,
        "690906302 J": 690906302.0,
        "2 GB": 2e9,
    }
    for text, value in quantities.items():
        assert answers_of((many,), {}, {"params": text}) == {many: value}
    assert [answers_of((many,), {}, {"params": text}) for text in ("5 feet", "J", "1e308 TB", "3 h 5 min")] == [{}] * 4
    assert answers_of((many, auto), {}, {"params": "7e9", "method.automatic": "No"}) == {many: 7e9, auto: False}


def test_an_agreement_is_accepted_once_and_asked_again_when_a_new_version_stands(world: World) -> None:
    first = do(world, writes.state_agreement, "terms", "Terms", "Do no harm.").id
    assert wrong(world, world.submit).keys() == {"agreement-terms"}
    world.submit(accepted=[first])
    world.submit(run_text(1))
    second = do(world, writes.state_agreement, "terms", "Terms", "Do some good.").id
    assert wrong(world, lambda: world.submit(run_text(2), accepted=[first]))
    world.submit(run_text(2), accepted=[second])
    rows = world.all(sa.select(Acceptance).order_by(Acceptance.agreement_id))
    ada = world.ada.user_id
    assert [(row.agreement_id, row.user_id) for row in rows] == [(first, ada), (second, ada)]
    events = world.all(sa.select(Event).where(Event.action == "accept").order_by(Event.id))
    assert [(event.actor_id, event.facts["version"]) for event in events] == [(ada, 1), (ada, 2)]
    do(world, writes.end_agreement, "terms")
    world.submit(run_text(3))
    with refused(world.database, NotFound, "agreement"):
        do(world, writes.end_agreement, "terms")


def test_only_organisers_change_what_is_asked(world: World) -> None:
    [own] = world.all(sa.select(Evaluation).where(Evaluation.id == world.evaluation))
    for what, more, changes in (
        (writes.set_field, (REMARK.as_json(),), {}),
        (writes.remove_field, ("x",), {}),
        (writes.state_agreement, ("t", "T", "t"), {}),
        (writes.end_agreement, ("t",), {}),
        (writes.set_rules, (), {"every_query": True}),
        (writes.set_documents, (None,), {}),
        (writes.copy_form, (own,), {}),
    ):
        with refused(world.database, NotAllowed, "evaluation"):
            do(world, what, *more, actor=world.ada, **changes)


def test_rules_that_cannot_hold_are_refused_by_their_names(world: World) -> None:
    odd = {"most_documents": 0, "document_pattern": "(a", "tag_pattern": "b)", "nonsense": 1}
    assert wrong(world, lambda: do(world, writes.set_rules, **odd)).keys() == odd.keys()
    crossed = {"most_documents": 5, "least_documents": 6}
    assert wrong(world, lambda: do(world, writes.set_rules, **crossed)).keys() == {"least_documents"}


def test_a_list_of_documents_is_held_against_the_collection_and_the_judgments(world: World) -> None:
    """Judged are d1 to d4."""
    with world.organising() as (session, _, evaluation):

        def doubts(text: str) -> tuple[str, ...]:
            return doubts_about(session, evaluation, document_list(io.BytesIO(text.encode())))

        assert doubts("d1\nd2\nd4\n") == (
            "The list has 3 documents, and the collection has 1,000 documents (N_total).",
            "Not in the list: 1 of 4 judged documents, such as d3.",
        )
        assert doubts("".join(f"d{number}\n" for number in range(1, 1001))) == ()


def test_everything_that_is_asked_is_copied_to_another_evaluation(world: World) -> None:
    ask(world, TRAINED, MODEL, CPU)
    for text in ("old", "new"):
        do(world, writes.state_agreement, "terms", "Terms", text)
    do(world, writes.set_rules, most_documents=7, document_pattern="d[0-9]+")
    listed = document_list(io.BytesIO(b"d1\nd2\n"))
    do(world, writes.set_documents, listed)
    with world.organising() as (session, campaign, source):
        target = writes.create_evaluation(session, CONSOLE, campaign, "next", "Next year", "2027", documents=1000)
        writes.set_field(session, CONSOLE, target, REMARK.as_json())
        writes.set_rules(session, CONSOLE, target, least_documents=3, every_query=True)
        writes.copy_form(session, CONSOLE, source, target)
        writes.copy_form(session, CONSOLE, source, target)
        session.flush()
        assert form_fields(target) == form_fields(source) == (TRAINED, MODEL, CPU)
        [terms] = standing_agreements(session, target.id).values()
        assert (terms.version, terms.text) == (1, "new")
        assert file_rules(target) == FileRules(7, None, False, "d[0-9]+", "", 2, listed.sha256)
        assert collection_list(session, target.id) == listed.packed
    assert len(world.all(sa.select(Agreement))) == 3


def test_the_trail_tells_which_part_of_a_field_or_a_rule_changed(world: World) -> None:
    ask(world, MODEL)
    ask(world, dataclasses.replace(MODEL, label="Kind", required=True))
    do(world, writes.remove_field, "model")
    do(world, writes.set_rules, most_documents=5, tag_pattern="[a-z]+")
    do(world, writes.set_rules, most_documents=9)
    with world.database.read() as session:
        page = trail(session, CONSOLE, "small", present(), filters=TrailFilters(), page=None)
    changes = [
        [f"{part.what}: {part.before or '-'} > {part.after or '-'}" for part in row.changes]
        for row in reversed(page.rows)
        if any(word in row.did for word in ("field", "file rules"))
    ]
    added, changed, retired, *others = changes
    assert "model: choices: - > sparse, dense" in added
    assert changed == ["model: label: Model > Kind", "model: required: no > yes"]
    assert "model: choices: sparse, dense > -" in retired
    assert others == [
        ["most documents: - > 5", "tag pattern: - > [a-z]+"],
        ["most documents: 5 > 9"],
    ]


def test_a_number_is_written_whole_as_far_as_its_digits_are_its_own() -> None:
    assert [as_written(number) for number in (7.0, 2.0**53, 1e300)] == [7, 2**53, 1e300]
    assert isinstance(as_written(1e300), float)
