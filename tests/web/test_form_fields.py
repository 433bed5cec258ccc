"""Fields and agreements in the submission form, and where their answers are shown."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
import sqlalchemy as sa

from leaderboard.audit.writes import present
from leaderboard.evaluations import writes as submission_forms
from leaderboard.evaluations.models import Acceptance
from leaderboard.evaluations.rules import FieldKind, FormField, ShownTo
from leaderboard.formats.metadata import header_metadata
from leaderboard.submissions.rules import State
from leaderboard.worker.models import Scoring
from tests.support.pages import table_of
from tests.web.conftest import API, BOARD, FORM, RUN, Program, Reader, World, errors

TRAINED = FormField(
    key="trained", label="Trained here", kind=FieldKind.YES_NO, required=True, shown_to=ShownTo.EVERYONE,
    column=True, filter=True,
)  # fmt: skip
MODEL = FormField(key="model", label="Model", kind=FieldKind.CHOICE, choices=("sparse", "dense"))
COST = FormField(key="cost", label="Cost", kind=FieldKind.NUMBER, hint="In euros.")
CPU = FormField(key="cpu", label="Processor", header="platform.cpu", shown_to=ShownTo.EVERYONE, column=True)
GIVEN = {"answer-trained": "no", "answer-model": "dense", "answer-cost": "12.5"}


@pytest.fixture
def asking(world: World) -> World:
    for field in (TRAINED, MODEL, COST, CPU):
        world.do(submission_forms.set_field, field.as_json())
    world.do(submission_forms.state_agreement, "terms", "Terms of use", "Do <no> *harm*.")
    return world


def sent(world: World, **more: str) -> dict[str, str]:
    return world.sent(**{"agreement-terms": "1", **GIVEN, **more})


def test_the_form_asks_what_the_organisers_ask_and_stores_it_with_the_run(asking: World, participant: Reader) -> None:
    page = participant.get(FORM)
    for text in ("Trained here", "Model (optional)", "In euros.", "Terms of use", "Do &lt;no&gt; <em>harm</em>."):
        assert text in page
    assert 'name="answer-cpu"' not in page  # read from the file
    answer = participant.send(FORM, RUN, **sent(asking))
    assert answer.status_code == 302
    [run] = asking.runs()
    assert run.answers == {"trained": False, "model": "dense", "cost": 12.5}
    assert asking.all(sa.select(Acceptance.user_id)) == [asking.users["ada"].id]
    assert "Do &lt;no&gt;" not in participant.get(FORM)


def test_wrong_answers_and_a_missing_tick_come_back_by_their_fields_and_the_rest_is_kept(
    asking: World, participant: Reader
) -> None:
    wrong = {"answer-trained": "", "answer-model": "neural", "answer-cost": "<b>much</b>", "agreement-terms": "7"}
    answer = participant.send(FORM, RUN, **sent(asking, **wrong))
    assert answer.status_code == 400
    for name in ("answer-trained", "answer-model", "answer-cost"):
        assert f'id="{name}-error"' in answer.text
    lacking = participant.send(FORM, None, **sent(asking, **wrong, label="x" * 999)).text
    assert re.findall(r'<li><a href="#([a-z-]+)', lacking) == [
        "label", "answer-trained-", "answer-model", "answer-cost", "agreement-terms", "run",
    ]  # fmt: skip  # as the fields stand on the page
    assert "&lt;b&gt;much" in answer.text
    assert "has arrived" in answer.text
    assert asking.runs() == []
    answer = participant.send(FORM, RUN, **sent(asking, **{"agreement-terms": "7"}))
    assert (answer.status_code, 'id="agreement-terms-error"' in answer.text) == (400, True)


def test_each_reader_sees_the_answers_that_are_for_them(
    asking: World, participant: Reader, reader: Callable[[str], Reader]
) -> None:
    participant.send(FORM, RUN, **sent(asking))
    asking.turn(State.SCORED)
    for name, labels in {"": 1, "eve": 1, "ben": 3, "orla": 3}.items():
        shown = _answers(reader(name).get("/submissions/1"))
        assert [label in shown for label in ("Trained here", "Model", "Cost")] == [place < labels for place in range(3)]


def test_what_a_field_reads_of_a_file_is_shown_to_whom_the_field_is_shown_whenever_it_was_made(
    asking: World, participant: Reader, visitor: Reader, organiser: Reader, program: Callable[..., Program]
) -> None:
    """By the run's own comment lines and by a file beside it; under a field made later, too, and a retired one."""
    header = f"# Secret-Note: sekretheader\n# team: Alder\n{RUN}"
    participant.send(FORM, header, **sent(asking))
    participant.send(
        FORM, RUN, metadata="Secret-Note: sekretbeside\nmethod: {kind: sekretkind, open: dense}\n", **sent(asking)
    )
    asking.turn(State.SCORED)
    with asking.database.write() as session:
        for scoring in session.scalars(sa.select(Scoring).where(Scoring.submission_id == 1)):
            scoring.facts = {"said": header_metadata(header.encode()).entries}
    assert "sekretheader" in visitor.get("/submissions/1")  # no field reads it yet: the form says that all see it
    for key, header in (("note", "secret-note"), ("kind", "method.kind")):
        asking.do(submission_forms.set_field, FormField(key=key, label=key.title(), header=header).as_json())

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
    assert not asking.do(submission_forms.remove_field, "note")  # it was answered: retired
    require_hidden()


def test_its_team_and_organisers_read_which_versions_were_accepted_with_a_run(
    asking: World, participant: Reader, reader: Callable[[str], Reader]
) -> None:
    participant.send(FORM, RUN, **sent(asking))
    asking.turn(State.SCORED)
    asking.do(submission_forms.state_agreement, "terms", "Terms of use", "Do some good.")
    for name, reads in {"": False, "eve": False, "ben": True, "orla": True}.items():
        page = reader(name).get("/submissions/1")
        assert ("Terms of use, version 1: " in page) == reads
        assert ("Do &lt;no&gt; <em>harm</em>." in page) == reads
        assert "version 2" not in page


def _answers(page: str) -> str:
    found = re.search(r'<dl class="facts answers">(.*?)</dl>', page, re.DOTALL)
    return found[1] if found else ""


def test_boards_have_the_columns_and_filters_that_the_organisers_chose(
    asking: World, participant: Reader, other: Reader, visitor: Reader
) -> None:
    participant.send(FORM, RUN, metadata="platform:\n  cpu: Z80\n", **sent(asking))
    own = {"answer-trained": "yes", "answer-cost": "7"}
    beta = sent(asking, system=f"new-{asking.teams['beta'].id}", new_system="Finder", **own)
    other.send(FORM, RUN.replace("alpha", "beta"), **beta)
    asking.turn(State.SCORED)
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
    asking.do(submission_forms.set_field, replace(COST, shown_to=ShownTo.EVERYONE, column=True).as_json())
    listed = table_of(visitor.client.get(f"{BOARD}.csv"))
    assert {row["system"]: row["answer cost"] for row in listed} == {"Searcher": "12.5", "Finder": "7"}
    assert visitor.get(f"{BOARD}?answer=trained:%3Cb%3E").count("of 2 rows") == 1
    visitor.get(f"{BOARD}?answer=model:dense", status=400)


def test_in_an_anonymous_period_answers_tell_nobody_whose_a_run_is(
    asking: World, participant: Reader, visitor: Reader
) -> None:
    participant.send(FORM, RUN, metadata="platform:\n  cpu: Z80\n", **sent(asking))
    asking.turn(State.SCORED)
    asking.change(anonymous_until=present().replace(year=2099))
    for page in (visitor.get(BOARD), visitor.get("/submissions/1"), visitor.client.get(f"{BOARD}.csv").text):
        assert "Z80" not in page
    assert "Z80" in participant.get("/submissions/1")


def test_a_file_of_metadata_is_read_beside_the_run_and_a_hostile_one_is_refused(
    asking: World, participant: Reader
) -> None:
    bomb = "a: &a [x, x]\nb: [*a, *a]\n"
    answer = participant.send(FORM, RUN, metadata=bomb, **sent(asking))
    assert (answer.status_code, "an anchor or an alias" in answer.text) == (400, True)
    assert participant.send(FORM, RUN, metadata="x" * 10**5, **sent(asking)).status_code == 400
    assert asking.runs() == []
    assert participant.send(FORM, RUN, metadata="actor: {team: Alder}\n", **sent(asking)).status_code == 302
    assert asking.runs()[0].said == {"actor.team": "Alder"}
    page = participant.get("/submissions/1")
    assert "Metadata of the run (1 entry)" in page
    assert "actor.team" in page


def test_what_every_run_has_to_say_may_stand_in_its_metadata_and_is_asked_where_it_does_not(
    asking: World, participant: Reader
) -> None:
    kind = FormField(
        key="kind", label="How", kind=FieldKind.CHOICE, choices=("dense", "sparse"), required=True, header="method.kind"
    )
    for field in (replace(CPU, required=True), kind):
        asking.do(submission_forms.set_field, field.as_json())
    lacking = participant.send(FORM, RUN, **sent(asking))
    assert (lacking.status_code, errors(lacking.text)) == (400, {"cpu", "kind"})
    odd = participant.send(FORM, f"# platform.cpu: Z80\n# method.kind: neural\n{RUN}", **sent(asking))
    assert (odd.status_code, errors(odd.text)) == (400, {"kind"})
    assert participant.send(FORM, f"# platform.cpu: Z80\n# method.kind: dense\n{RUN}", **sent(asking)).location
    metadata, both = "platform: {cpu: 6502}\nmethod: {kind: dense}\n", {**sent(asking), "answer-kind": "sparse"}
    assert participant.send(FORM, RUN, metadata=metadata, **both).status_code == 302
    assert [run.answers.get("kind") for run in asking.runs()] == [None, "sparse"]


def test_time_and_energy_of_a_trackers_file_are_columns_of_the_board(world: World, participant: Reader) -> None:
    of_board = {"kind": FieldKind.NUMBER, "shown_to": ShownTo.EVERYONE, "column": True}
    for field in (
        FormField(key="time", label="Time, s", header="resources.runtime.wallclock", **of_board),
        FormField(key="energy", label="Energy, J", header="resources.cpu.energy used system", **of_board),
    ):
        world.do(submission_forms.set_field, field.as_json())
    series = ", ".join(f"{100 * at}ms" for at in range(9_000))
    metadata = (
        f"resources:\n  runtime:\n    wallclock: 12500 ms\n    timestamps: [{series}]\n"
        "  cpu:\n    energy used system: 690906302 J\n"
    )
    assert len(metadata) > 2**16
    assert participant.send(FORM, RUN, metadata=metadata, **world.sent()).status_code == 302
    world.turn(State.SCORED)
    [row] = table_of(participant.client.get(f"{BOARD}.csv"))
    assert (row["answer time"], row["answer energy"]) == ("12.5", "690906302")
    wrong = participant.send(FORM, RUN, metadata="resources: {runtime: {wallclock: 3 moons}}", **world.sent())
    assert wrong.status_code == 400
    assert "has &#39;3 moons&#39; as resources.runtime.wallclock" in wrong.text
