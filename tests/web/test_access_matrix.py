"""The access matrix: every address of the site, for every kind of person, in every phase.

What each may see stands in `access_rules.py`. Secrets are planted once; in each phase exactly the people whom the table
names find each of them, wherever they look. Who may see what is decided above the database, so SQLite is enough: what
the reads and services do is tested on both engines beside each of them. A table's files all come of one table, so each
phase reads another format. Of the evaluation's pages one phase is read by everybody, everywhere; in the others each is
read by somebody of each column of the table, not by all who are alike, and where the usual refusal is all that they
get, in turn. What depends on no phase is read by everybody once: `matrix_share.py` says by which rule.
`python -m trials access_matrix` reads all of it, on both engines, and says how much was asked.
"""

import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest

from leaderboard.web.exports import FORMATS
from tests.web.access_rules import API, FORMS, KINDS, PAGES, PHASES, Form, Page
from tests.web.matrix import Played, played, wrong_answers, wrong_refusals
from tests.web.matrix_share import IN_PART, WHOLE, column, reads, sends


@pytest.fixture(scope="module")
def installation(migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    folder: Path = tmp_path_factory.mktemp("matrix")
    shutil.copyfile(migrated_sqlite, folder / "matrix.sqlite")
    with played(f"sqlite:///{folder / 'matrix.sqlite'}", folder) as made:
        yield made


def _format(phase: str) -> str:
    """The format that the files are read in."""
    return list(FORMATS)[list(PHASES).index(phase) % len(FORMATS)]


def test_every_format_is_read() -> None:
    assert {_format(phase) for phase in PHASES} == set(FORMATS)


def test_at_each_address_everybody_comes_by_and_not_only_in_the_phase_that_is_read_whole() -> None:
    def phases(asks: Callable[[str, str], bool]) -> Sequence[str]:
        """Those in which everybody has to come by somewhere: all, for what each asks for once."""
        return IN_PART if all(asks(WHOLE, kind) for kind in KINDS) else [*PHASES]

    for page in (page for pages in PAGES.values() for page in pages):
        asks = partial(_reads, page)
        for kind in KINDS:
            assert any(asks(phase, kind) for phase in phases(asks)), (page.address, kind)
    for form in FORMS.values():
        asks = partial(sends, form)
        for kind in KINDS:
            assert any(asks(phase, kind) for phase in phases(asks)), (form.address, kind)


def _reads(page: Page, phase: str, kind: str) -> bool:
    return reads(page, page.address, phase, kind, file=False)


def test_in_each_phase_somebody_of_each_column_meets_what_is_the_phases_own() -> None:
    for page in (page for pages in PAGES.values() for page in pages):
        for phase in page.phases:
            for kind in ("visitor", "member of another team", "member of the team"):
                assert any(_reads(page, phase, one) for one in column(kind)), (page.address, phase)


def test_in_each_phase_somebody_of_each_column_who_sees_the_board_reads_it() -> None:
    for page in (*PAGES["boards.board"], *PAGES["api.board"]):
        for phase in PHASES:
            for kind in ("visitor", "member of another team", "member of the team"):
                if page.status(phase, kind) == 200:
                    assert any(_reads(page, phase, one) for one in column(kind)), (page.address, phase)


def test_every_route_of_the_site_is_in_the_matrix(installation: Played) -> None:
    for rule in installation.app.url_map.iter_rules():
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


@pytest.mark.parametrize("phase", PHASES)
def test_everybody_finds_exactly_what_the_table_says_and_nobody_more(installation: Played, phase: str) -> None:
    wrong = wrong_answers(installation, phase, [_format(phase)], whole=False)
    assert not wrong, f"{phase}:\n" + "\n".join(wrong)


@pytest.mark.parametrize("phase", PHASES)
def test_who_may_not_send_a_form_is_refused_and_nothing_is_written(installation: Played, phase: str) -> None:
    wrong = wrong_refusals(installation, phase, whole=False)
    assert not wrong, f"{phase}:\n" + "\n".join(wrong)


def test_a_form_without_its_token_is_refused_whoever_sends_it(installation: Played) -> None:
    installation.move_to("open")
    before = installation.written()
    for number, form in enumerate(FORMS.values()):
        address = form.address.format(**installation.names)
        for kind in _senders(form, number):
            answer = installation.clients[kind].post(address)
            if address.startswith(API):  # a cookie says nothing there
                assert answer.status_code == 401, (kind, address)
                continue
            # Whom the form is not for may be told so before its token is looked at.
            assert answer.status_code in {400, form.refused.get(kind, 400)}, (kind, address)
    assert installation.written() == before


def _senders(form: Form, number: int) -> set[str]:
    """Two, others for each number: anybody, and one whom the form is for, in whose name a forged one would come."""
    kinds = list(KINDS)
    may = [kind for kind in kinds if kind not in form.refused] or kinds
    return {kinds[number % len(kinds)], may[number % len(may)]}
