"""The access matrix: every address of the site, for every kind of person, in every phase.

What each may see stands in `access_rules.py`. Secrets are planted once; in each phase exactly the people whom the table
names find each of them, wherever they look. Who may see what is decided above the database, so each phase is read on
one engine, and a table's files all come of one table, so each phase reads another format. One phase is read by
everybody, everywhere; in the others each address is read by somebody of each column of the table, not by all who are
alike, and what depends on no phase in some of them only: `matrix_share.py` says by which rule.
`python -m trials access_matrix` reads all of it, and says how much was asked.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from leaderboard.web.exports import FORMATS
from tests.support.databases import Postgres
from tests.web.access_rules import API, FORMS, KINDS, PAGES, PHASES
from tests.web.matrix import Played, played, wrong_answers, wrong_refusals
from tests.web.matrix_share import IN_PART, column, reads, sends

MOST_IS_OPEN = "hidden queries"
READ_ON = [("postgresql" if phase == MOST_IS_OPEN else "sqlite", phase) for phase in PHASES]


@pytest.fixture(scope="module")
def on_sqlite(migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    folder: Path = tmp_path_factory.mktemp("matrix")
    shutil.copyfile(migrated_sqlite, folder / "matrix.sqlite")
    with played(f"sqlite:///{folder / 'matrix.sqlite'}", folder) as made:
        yield made


@pytest.fixture(scope="module")
def on_postgresql(
    postgres: Postgres, migrated_postgres: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Played]:
    with played(postgres.create(migrated_postgres), tmp_path_factory.mktemp("matrix")) as made:
        yield made


@pytest.fixture
def installation(engine_name: str, request: pytest.FixtureRequest) -> Played:
    """Two fixtures behind it: pytest would make one with parameters anew whenever the engine changes."""
    made: Played = request.getfixturevalue(f"on_{engine_name}")
    return made


def _format(phase: str) -> str:
    """The format that the files are read in."""
    return list(FORMATS)[list(PHASES).index(phase) % len(FORMATS)]


def test_every_format_is_read() -> None:
    assert {_format(phase) for phase in PHASES} == set(FORMATS)


def test_at_each_address_everybody_comes_by_in_a_phase_that_is_read_in_part_too() -> None:
    for page in (page for pages in PAGES.values() for page in pages):
        for kind in KINDS:
            assert any(reads(page, page.address, phase, kind, file=False) for phase in IN_PART), (page.address, kind)
    for form in FORMS.values():
        for kind in KINDS:
            assert any(sends(form, phase, kind) for phase in IN_PART), (form.address, kind)


def test_in_each_phase_somebody_of_each_column_reads_what_is_the_evaluations() -> None:
    for page in PAGES["boards.board"]:
        for phase in PHASES:
            for kind in ("visitor", "member of another team", "member of the team"):
                assert any(reads(page, page.address, phase, one, file=False) for one in column(kind)), (page, phase)


def test_every_route_of_the_site_is_in_the_matrix(on_sqlite: Played) -> None:
    for rule in on_sqlite.app.url_map.iter_rules():
        reads = "GET" in (rule.methods or ())
        if reads:
            endpoint = rule.endpoint.removesuffix("_file")
            assert endpoint in PAGES, (
                f"{rule.rule} ({rule.endpoint}) is new: say in PAGES of tests/web/access_rules.py how it answers whom"
            )
            assert not rule.endpoint.endswith("_file") or any(page.files is not None for page in PAGES[endpoint]), (
                f"{rule.rule} is new: give the pages of {endpoint} in tests/web/access_rules.py their files"
            )
        if "POST" in (rule.methods or ()):
            assert rule.endpoint in FORMS, (
                f"{rule.rule} ({rule.endpoint}) is new: say in FORMS of tests/web/access_rules.py whom it refuses"
            )


@pytest.mark.parametrize(("engine_name", "phase"), READ_ON)
def test_everybody_finds_exactly_what_the_table_says_and_nobody_more(installation: Played, phase: str) -> None:
    wrong = wrong_answers(installation, phase, [_format(phase)], whole=False)
    assert not wrong, f"{phase}:\n" + "\n".join(wrong)


@pytest.mark.parametrize(("engine_name", "phase"), READ_ON)
def test_who_may_not_send_a_form_is_refused_and_nothing_is_written(installation: Played, phase: str) -> None:
    wrong = wrong_refusals(installation, phase, whole=False)
    assert not wrong, f"{phase}:\n" + "\n".join(wrong)


def test_a_form_without_its_token_is_refused_whoever_sends_it(on_sqlite: Played) -> None:
    on_sqlite.move_to("open")
    before = on_sqlite.written()
    for form in FORMS.values():
        address = form.address.format(**on_sqlite.names)
        for kind, client in on_sqlite.clients.items():
            answer = client.post(address)
            if address.startswith(API):  # a cookie says nothing there
                assert answer.status_code == 401, (kind, address)
                continue
            # Whom the form is not for may be told so before its token is looked at.
            assert answer.status_code in {400, form.refused.get(kind, 400)}, (kind, address)
    assert on_sqlite.written() == before
