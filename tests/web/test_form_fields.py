"""Fields and agreements in the submission form, and where their answers are shown."""

import csv
import io
import re
from collections.abc import Callable
from dataclasses import replace

import pytest
import sqlalchemy as sa
from werkzeug.datastructures import FileStorage
from werkzeug.test import TestResponse, encode_multipart
from wtforms.fields.core import UnboundField

from leaderboard.access import CONSOLE
from leaderboard.audit.writes import present
from leaderboard.evaluations import writes as submission_forms
from leaderboard.evaluations.models import Acceptance, Evaluation
from leaderboard.evaluations.rules import RESERVED, FieldKind, FormField, ShownTo
from leaderboard.formats.metadata import header_metadata
from leaderboard.submissions.api import Run
from leaderboard.submissions.models import Submission
from leaderboard.submissions.pages import SubmitForm
from leaderboard.submissions.rules import State
from leaderboard.worker.models import Scoring
from tests.web.conftest import RUN, Reader, World, errors
from tests.web.test_api import API, Program, program

__all__ = ["program"]  # the fixture

FORM = "/campaigns/harbour/2025/submit"
BOARD = "/campaigns/harbour/2025"
TRAINED = FormField(
    key="trained", label="Trained here", kind=FieldKind.YES_NO, required=True, shown_to=ShownTo.EVERYONE,
    column=True, filter=True,
)  # fmt: skip
MODEL = FormField(key="model", label="Model", kind=FieldKind.CHOICE, choices=("sparse", "dense"))
COST = FormField(key="cost", label="Cost", kind=FieldKind.NUMBER, hint="In euros.")
CPU = FormField(key="cpu", label="Processor", header="platform.cpu", shown_to=ShownTo.EVERYONE, column=True)
GIVEN = {"answer-trained": "no", "answer-model": "dense", "answer-cost": "12.5"}


@pytest.fixture(params=["sqlite"])
def engine_name(request: pytest.FixtureRequest) -> str:
    """What a form asks does not depend on the engine."""
    name: str = request.param
    return name


@pytest.fixture
def asking(world: World) -> World:
    with world.database.write() as session:
        evaluation = session.get_one(Evaluation, world.evaluation.id)
        for field in (TRAINED, MODEL, COST, CPU):
            submission_forms.set_field(session, CONSOLE, evaluation, field)
        submission_forms.state_agreement(session, CONSOLE, evaluation, "terms", "Terms of use", "Do <no> *harm*.")
    return world


def fields(world: World, **more: str) -> dict[str, str]:
    return {"system": str(world.system.id), "designation": "contrastive", "agreement-terms": "1", **GIVEN, **more}


def runs(world: World) -> list[Submission]:
    with world.database.read() as session:
        return list(session.scalars(sa.select(Submission).order_by(Submission.id)))


def score_all(world: World) -> None:
    with world.database.write() as session:
        for scoring in session.scalars(sa.select(Scoring)):  # one by one: which runs stand is noted with each
            scoring.state = State.SCORED
        for run in session.scalars(sa.select(Submission).where(Submission.scored_at.is_(None))):
            run.scored_at = present()


def with_metadata(reader: Reader, content: bytes, **given: str) -> TestResponse:
    files = {"beside": FileStorage(io.BytesIO(content), "m.yml"), "run": FileStorage(io.BytesIO(RUN.encode()), "a.run")}
    boundary, body = encode_multipart({"csrf_token": reader.token(), **given, **files})
    return reader.client.post(FORM, data=body, content_type=f'multipart/form-data; boundary="{boundary}"')


def test_the_form_asks_what_the_organisers_ask_and_stores_it_with_the_run(asking: World, participant: Reader) -> None:
    page = participant.get(FORM)
    for text in ("Trained here", "Model (optional)", "In euros.", "Terms of use", "Do &lt;no&gt; <em>harm</em>."):
        assert text in page
    assert "In euros. Shown to your team and the organisers only." in page
    assert "Shown to everyone who sees whose run it is." in page
    assert 'name="answer-cpu"' not in page  # read from the file, and said to be
    assert "Read from either: platform.cpu (Processor, shown to everyone who sees whose run it is)." in page
    answer = participant.send(FORM, RUN, **fields(asking))
    assert answer.status_code == 302
    [run] = runs(asking)
    assert run.answers == {"trained": False, "model": "dense", "cost": 12.5}
    with asking.database.read() as session:
        assert session.scalars(sa.select(Acceptance.user_id)).all() == [asking.users["ada"].id]
    assert "Do &lt;no&gt;" not in participant.get(FORM)


def test_wrong_answers_and_a_missing_tick_come_back_by_their_fields_and_the_rest_is_kept(
    asking: World, participant: Reader
) -> None:
    wrong = {"answer-trained": "", "answer-model": "neural", "answer-cost": "<b>much</b>", "agreement-terms": "7"}
    answer = participant.send(FORM, RUN, **fields(asking, **wrong))
    assert answer.status_code == 400
    for name in ("answer-trained", "answer-model", "answer-cost"):
        assert f'id="{name}-error"' in answer.text
    lacking = participant.send(FORM, None, **fields(asking, **wrong, label="x" * 999)).text
    assert re.findall(r'<li><a href="#([a-z-]+)', lacking) == [
        "label", "answer-trained-", "answer-model", "answer-cost", "agreement-terms", "run",
    ]  # fmt: skip  # as the fields stand on the page
    assert "&lt;b&gt;much" in answer.text
    assert "has arrived" in answer.text
    assert runs(asking) == []
    answer = participant.send(FORM, RUN, **fields(asking, **{"agreement-terms": "7"}))
    assert (answer.status_code, 'id="agreement-terms-error"' in answer.text) == (400, True)


def test_an_answer_of_yes_or_no_that_nobody_has_to_give_can_be_taken_back(asking: World, participant: Reader) -> None:
    assert 'name="answer-trained" type="radio" value=""' not in participant.get(FORM)
    with asking.database.write() as session:
        evaluation = session.get_one(Evaluation, asking.evaluation.id)
        submission_forms.set_field(session, CONSOLE, evaluation, replace(TRAINED, required=False))
    assert "No answer" in participant.get(FORM)
    assert participant.send(FORM, RUN, **fields(asking, **{"answer-trained": ""})).status_code == 302
    assert "trained" not in runs(asking)[0].answers


def test_a_new_version_is_asked_of_who_accepted_the_one_before(asking: World, participant: Reader) -> None:
    participant.send(FORM, RUN, **fields(asking))
    with asking.database.write() as session:
        evaluation = session.get_one(Evaluation, asking.evaluation.id)
        submission_forms.state_agreement(session, CONSOLE, evaluation, "terms", "Terms of use", "Do some good.")
    page = participant.get(FORM)
    assert "Version 2. You accepted an earlier one." in page
    assert participant.send(FORM, f"{RUN}q3 Q0 d9 2 0.1 a\n", **fields(asking)).status_code == 400
    again = fields(asking, **{"agreement-terms": "2"})
    assert participant.send(FORM, f"{RUN}q3 Q0 d9 2 0.1 a\n", **again).status_code == 302


def test_each_reader_sees_the_answers_that_are_for_them(
    asking: World, participant: Reader, reader: Callable[[str], Reader]
) -> None:
    participant.send(FORM, RUN, **fields(asking))
    score_all(asking)
    shown = {
        name: [
            label
            for label in ("Trained here", "Model", "Cost")
            if label in _answers(reader(name).get("/submissions/1"))
        ]
        for name in ("", "eve", "ben", "orla")
    }
    assert shown == {
        "": ["Trained here"],
        "eve": ["Trained here"],
        "ben": ["Trained here", "Model", "Cost"],
        "orla": ["Trained here", "Model", "Cost"],
    }


def test_what_a_field_reads_of_a_file_is_shown_to_whom_the_field_is_shown_whenever_it_was_made(
    asking: World, participant: Reader, visitor: Reader, organiser: Reader, program: Callable[..., Program]
) -> None:
    """By the run's own comment lines and by a file beside it; under a field made later, too, and a retired one."""
    header = f"# Secret-Note: sekretheader\n# team: Alder\n{RUN}"
    participant.send(FORM, header, **fields(asking))
    with_metadata(
        participant, b"Secret-Note: sekretbeside\nmethod: {kind: sekretkind, open: dense}\n", **fields(asking)
    )
    score_all(asking)
    with asking.database.write() as session:
        for scoring in session.scalars(sa.select(Scoring).where(Scoring.submission_id == 1)):
            scoring.facts = {"said": header_metadata(header.encode()).entries}
    assert "sekretheader" in visitor.get("/submissions/1")  # no field reads it yet: the form says that all see it
    with asking.database.write() as session:
        evaluation = session.get_one(Evaluation, asking.evaluation.id)
        for field in (
            FormField(key="note", label="Note", header="secret-note"),
            FormField(key="kind", label="Kind", header="method.kind"),
        ):
            submission_forms.set_field(session, CONSOLE, evaluation, field)

    def require_hidden() -> None:
        for page in (*(f"/submissions/{run}" for run in (1, 2)), BOARD, f"{BOARD}.csv", f"{BOARD}.json"):
            assert "sekret" not in visitor.client.get(page).text
        nobody = program()
        assert nobody.ask(f"{API}/submissions/1")["said"] == [["team", "Alder"]]
        assert nobody.ask(f"{API}/submissions/2")["said"] == [["method.open", "dense"]]
        for reader in (participant, organiser):
            assert "sekretheader" in reader.get("/submissions/1")
            assert reader.get("/submissions/2").count("sekretbeside") == 2  # as an answer, and as the file has it

    require_hidden()
    with asking.database.write() as session:
        evaluation = session.get_one(Evaluation, asking.evaluation.id)
        assert not submission_forms.remove_field(session, CONSOLE, evaluation, "note")  # it was answered: retired
    require_hidden()


def test_its_team_and_organisers_read_which_versions_were_accepted_with_a_run(
    asking: World, participant: Reader, reader: Callable[[str], Reader]
) -> None:
    participant.send(FORM, RUN, **fields(asking))
    score_all(asking)
    with asking.database.write() as session:
        evaluation = session.get_one(Evaluation, asking.evaluation.id)
        submission_forms.state_agreement(session, CONSOLE, evaluation, "terms", "Terms of use", "Do some good.")
    for name, reads in {"": False, "eve": False, "ben": True, "orla": True}.items():
        page = reader(name).get("/submissions/1")
        assert ("Terms of use, version 1: " in page) == reads
        assert ("Do &lt;no&gt; <em>harm</em>." in page) == reads
        assert "version 2" not in page


def test_the_rules_of_the_file_are_said_before_it_is_sent(asking: World, participant: Reader) -> None:
    assert "Rules for the file" not in participant.get(FORM)
    with asking.database.write() as session:
        evaluation = session.get_one(Evaluation, asking.evaluation.id)
        submission_forms.set_rules(
            session, CONSOLE, evaluation, most_documents=1000, every_query=True, document_pattern="d[0-9]+"
        )
    page = participant.get(FORM)
    for rule in (
        "Documents in a query&#39;s list: at most 1,000.",
        "Every query that you may see has a list.",
        "Every document id has the form d[0-9]+",
    ):
        assert f"<li>{rule}</li>" in page


def _answers(page: str) -> str:
    found = re.search(r'<dl class="facts answers">(.*?)</dl>', page, re.DOTALL)
    return found[1] if found else ""


def test_boards_have_the_columns_and_filters_that_the_organisers_chose(
    asking: World, participant: Reader, other: Reader, visitor: Reader
) -> None:
    with_metadata(participant, b"platform:\n  cpu: Z80\n", **fields(asking))
    own = {"answer-trained": "yes", "answer-cost": "7"}
    beta = fields(asking, system=f"new-{asking.teams['beta'].id}", system_name="Finder", **own)
    other.send(FORM, RUN.replace("alpha", "beta"), **beta)
    score_all(asking)
    page = visitor.get(BOARD)
    assert "Z80" in page
    assert "Model" not in page
    assert re.search(r"Trained here: any", page)
    filtered = visitor.get(f"{BOARD}?answer=trained:yes")
    assert "Finder" in filtered
    assert "Searcher" not in filtered
    assert "1 of 2 rows; ranks are those among all." in filtered
    rows = visitor.client.get(f"{BOARD}.json?answer=trained:yes").json["rows"]
    assert [(row["system"], row["answer trained"], row["answer cpu"]) for row in rows] == [("Finder", True, None)]
    with asking.database.write() as session:
        evaluation = session.get_one(Evaluation, asking.evaluation.id)
        submission_forms.set_field(session, CONSOLE, evaluation, replace(COST, shown_to=ShownTo.EVERYONE, column=True))
    listed = csv.DictReader(io.StringIO(visitor.client.get(f"{BOARD}.csv").text))
    assert {row["system"]: row["answer cost"] for row in listed} == {"Searcher": "12.5", "Finder": "7"}
    assert visitor.get(f"{BOARD}?answer=trained:%3Cb%3E").count("of 2 rows") == 1
    visitor.get(f"{BOARD}?answer=model:dense", status=400)


def test_in_an_anonymous_period_answers_tell_nobody_whose_a_run_is(
    asking: World, participant: Reader, visitor: Reader
) -> None:
    with_metadata(participant, b"platform:\n  cpu: Z80\n", **fields(asking))
    score_all(asking)
    asking.change(anonymous_until=present().replace(year=2099))
    for page in (visitor.get(BOARD), visitor.get("/submissions/1"), visitor.client.get(f"{BOARD}.csv").text):
        assert "Z80" not in page
    assert "Z80" in participant.get("/submissions/1")


def test_a_file_of_metadata_is_read_beside_the_run_and_a_hostile_one_is_refused(
    asking: World, participant: Reader
) -> None:
    bomb = b"a: &a [x, x]\nb: [*a, *a]\n"
    answer = with_metadata(participant, bomb, **fields(asking))
    assert (answer.status_code, "an anchor or an alias" in answer.text) == (400, True)
    assert with_metadata(participant, b"x" * 10**5, **fields(asking)).status_code == 400
    assert runs(asking) == []
    assert with_metadata(participant, b"actor: {team: Alder}\n", **fields(asking)).status_code == 302
    assert runs(asking)[0].said == {"actor.team": "Alder"}
    page = participant.get("/submissions/1")
    assert "What the run says of itself (1 entry)" in page
    assert "actor.team" in page


def test_what_every_run_has_to_say_may_stand_in_its_metadata_and_is_asked_where_it_does_not(
    asking: World, participant: Reader
) -> None:
    size = FormField(
        key="kind", label="How", kind=FieldKind.CHOICE, choices=("dense", "sparse"), required=True, header="method.kind"
    )
    with asking.database.write() as session:
        evaluation = session.get_one(Evaluation, asking.evaluation.id)
        for field in (replace(CPU, required=True), size):
            submission_forms.set_field(session, CONSOLE, evaluation, field)
    page = participant.get(FORM)
    assert "Read from platform.cpu of the run&#39;s metadata where you leave this empty. Shown to everyone" in page
    assert "As its metadata says" in page
    lacking = participant.send(FORM, RUN, **fields(asking))
    assert (lacking.status_code, errors(lacking.text)) == (400, {"cpu", "kind"})
    assert "Processor is lacking, which every run here needs: write a text; or say platform.cpu" in lacking.text
    odd = participant.send(FORM, f"# platform.cpu: Z80\n# method.kind: neural\n{RUN}", **fields(asking))
    assert (odd.status_code, errors(odd.text)) == (400, {"kind"})
    assert "has &#39;neural&#39; as method.kind: choose one of: dense, sparse" in odd.text
    assert participant.send(FORM, f"# platform.cpu: Z80\n# method.kind: dense\n{RUN}", **fields(asking)).location
    again = with_metadata(participant, b"method: {kind: dense}\n", **fields(asking))
    assert (again.status_code, errors(again.text)) == (400, {"cpu"})
    both = {**fields(asking), "answer-kind": "sparse"}
    assert with_metadata(participant, b"platform: {cpu: 6502}\nmethod: {kind: dense}\n", **both).status_code == 302
    first, second = (run.answers for run in runs(asking))
    assert ("kind" in first, "cpu" in first) == (False, False)
    assert (second["kind"], "cpu" in second) == ("sparse", False)
    score_all(asking)
    page = _answers(participant.get("/submissions/2"))
    assert "6502" in page
    assert "sparse" in page


def test_a_threshold_is_asked_only_where_a_measure_counts_what_was_returned(world: World, participant: Reader) -> None:
    assert "Threshold" not in participant.get(FORM)
    world.measure("AP", "SetF")
    assert "Threshold" in participant.get(FORM)


def test_no_field_is_called_as_a_part_of_the_form_or_of_what_programs_send() -> None:
    own = {name for name, one in vars(SubmitForm).items() if isinstance(one, UnboundField)}
    assert {*Run.__struct_fields__, *own} <= RESERVED
