"""The access matrix: every address of the site, in every format, for every kind of person, in every phase.

What each may see stands in `access_rules.py`. Secrets are planted once; in each phase exactly the people whom the table
names find each of them, wherever they look. `pytest -s` prints how much was asked. Who may see what is decided above
the database, so each phase is read on one engine, and the one in which most is open but not all on both.
"""

import io
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from leaderboard.access import CONSOLE
from leaderboard.config import Config
from leaderboard.formats import QueryRow, read_judgments
from leaderboard.lookup import current_set
from leaderboard.models import (
    ApiToken,
    Campaign,
    CampaignTeam,
    Evaluation,
    Event,
    Invitation,
    Score,
    Scoring,
    ScoringSet,
    Submission,
    Team,
    User,
)
from leaderboard.rules.roles import Role
from leaderboard.rules.scopes import Scope
from leaderboard.rules.settings import Split, Subset
from leaderboard.rules.states import State
from leaderboard.rules.visibility import Visibility
from leaderboard.services import (
    campaigns,
    evaluations,
    judgments,
    people,
    queries,
    sessions,
    submissions,
    teams,
    tokens,
)
from leaderboard.store import RankedList
from leaderboard.web import create_app
from leaderboard.web.assets import STATIC
from leaderboard.web.exports import FORMATS
from tests.support.databases import Postgres
from tests.support.field import DAY, NOW, Field
from tests.support.world import new_account
from tests.web.access_rules import API, FORMS, KINDS, PAGES, PHASES, SECRETS, VISIBILITY, Page

READ_ON = {
    "sqlite": ("before opening", "in the grace", "anonymous", "results closed", "hidden queries", "draft", "private"),
    "postgresql": ("open", "closed", "details never", "hidden queries", "draft evaluation"),
}
# Coordinates of drawings are numbers, too.
DRAWN = re.compile(r' (?:d|transform|points|x|y|x1|x2|y1|y2|width|height|viewBox)="[^"]*"')


@dataclass
class Played:
    """One evaluation that was played to its end, moved between phases by its dates; and everybody's browser."""

    app: Flask
    field: Field
    names: dict[str, object]
    clients: dict[str, FlaskClient] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)  # for forms
    api_tokens: dict[str, str] = field(default_factory=dict)
    asked: Counter[tuple[str, int]] = field(default_factory=Counter)  # (phase, status) -> answers

    def move_to(self, phase: str) -> None:
        self.field.change("2026", **PHASES[phase])
        with self.field.database.write() as session:
            campaign = session.scalars(sa.select(Campaign).where(Campaign.slug == "news")).one()
            campaign.visibility = VISIBILITY.get(phase, Visibility.PUBLIC)

    def get(self, kind: str, address: str) -> TestResponse:
        """What it answers to this kind of person: with a browser, or, where programs ask, with a token that may all."""
        if not address.startswith(API):
            return self.clients[kind].get(address)
        return self.app.test_client().get(address, headers=self.bearer(kind))

    def bearer(self, kind: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.api_tokens[kind]}"} if kind in self.api_tokens else {}

    def written(self) -> int:
        """How many events there are: everything that a form does leaves one."""
        with self.field.database.read() as session:
            return session.scalar(sa.select(sa.func.count()).select_from(Event)) or 0


@dataclass(frozen=True, slots=True)
class Visit:
    """One request's answer; text: its headers and its body."""

    kind: str
    address: str
    status: int
    expected: int
    told: frozenset[str]
    text: str

    def is_told(self, secret: str) -> bool:
        """Whether whoever asks for this address knows the secret: it is repeated to them, not found."""
        return secret in self.told or re.search(SECRETS[secret].text, self.address) is not None


def _accounts(field: Field) -> dict[str, int]:
    """Kind -> account, with the teams and campaigns that make it one of that kind."""
    account = {
        "account without a team": new_account("Nora"),
        "member of another team": new_account("Mia"),
        "organiser of another campaign": new_account("Otto"),
        "member of the team": new_account("Sekretben"),
        "owner of the team": new_account("Sekretada", "sekretmail@example.org"),
        "organiser": new_account("Orla"),
    }
    with field.database.write() as session:
        users = {kind: people.create_user(session, CONSOLE, new) for kind, new in account.items()}
        users["admin"] = people.create_user(session, CONSOLE, new_account("Alma"), is_admin=True)
        own = teams.create_team(session, CONSOLE, "Sekretwoods")
        other = teams.create_team(session, CONSOLE, "Meadow")
        teams.add_member(session, CONSOLE, own, users["owner of the team"], Role.OWNER)
        teams.add_member(session, CONSOLE, own, users["member of the team"])
        teams.add_member(session, CONSOLE, other, users["member of another team"], Role.OWNER)
        field.teams.update(Sekretwoods=own.id, Meadow=other.id)
        news = session.scalars(sa.select(Campaign)).one()
        elsewhere = campaigns.create_campaign(
            session, CONSOLE, "elsewhere", "Elsewhere", measures=["AP"], primary_measure="AP"
        )
        session.add(CampaignTeam(campaign_id=news.id, team_id=own.id))
        campaigns.add_organiser(session, CONSOLE, news, users["organiser"])
        campaigns.add_organiser(session, CONSOLE, elsewhere, users["organiser of another campaign"])
        return {kind: user.id for kind, user in users.items()}


def _evaluation(field: Field) -> None:
    """2026 with three shown queries and a hidden one."""
    with field.database.write() as session:
        news = session.scalars(sa.select(Campaign).where(Campaign.slug == "news")).one()
        made = evaluations.create_evaluation(
            session, CONSOLE, news, "2026", "The year 2026", "2026", period_key=2026, documents=1000,
            opens_at=NOW - 30 * DAY, closes_at=NOW + 30 * DAY, late_allowed=True,
        )  # fmt: skip
        shown = [QueryRow(f"q{n}", "sekrettext" if n == 1 else f"text {n}", ("sekrettag",)) for n in (1, 2, 3)]
        queries.import_queries(session, CONSOLE, made, shown)
        hidden = [QueryRow("sekretquery", "sekrethidden", ("law",))]
        queries.import_queries(session, CONSOLE, made, hidden, Split.HIDDEN)
        lines = "q1 0 d1 777\nq1 0 sekretmissed 5\nq2 0 d1 1\nq3 0 d1 1\nsekretquery 0 d1 888\nsekretquery 0 d2 1\n"
        judgments.import_judgments(session, CONSOLE, made, read_judgments(io.BytesIO(lines.encode())))
        field.evaluations["2026"] = made.id


def _runs(field: Field, app: Flask, owner: int) -> dict[str, object]:
    """A run of the team with everything that can be seen of one, a rejected and a withdrawn one; and another team's."""
    for system, team in (("Birch", "Meadow"), ("Cedar", "Meadow")):
        field.run(system, {"AP": [0.3, 0.2, 0.25, 0.35], "P@5": [0.2] * 4}, team=team, evaluation="2025")
    field.run("Otheralder", {"AP": [0.3, 0.2, 0.25, np.nan], "P@5": [0.2] * 4}, team="Meadow", evaluation="2026",
              hidden={"AP": [0.3, 0.2, 0.25, 0.35], "P@5": [0.2] * 4})  # fmt: skip
    run = field.run(
        "Sekretalder",
        {"AP": [0.8317, 0.5519, 0.4701, np.nan], "P@5": [0.4, 0.4, 0.4, np.nan]},
        hidden={"AP": [0.8317, 0.5519, 0.4701, 0.0213], "P@5": [0.4] * 4},
        team="Sekretwoods", evaluation="2026", label="sekretlabel", notes="sekretnotes",
    )  # fmt: skip
    rejected = field.run("Sekretalder", team="Sekretwoods", evaluation="2026", state=State.REJECTED)
    withdrawn = field.run("Sekretalder", {"AP": [0.1] * 4}, team="Sekretwoods", evaluation="2026")
    lists = [(place, RankedList(("d1",), np.array([0.5]))) for place in (0, 3)]
    app.extensions["store"].keep_ranked_lists(run, 10, 4, lists)
    with field.database.write() as session:
        kept = session.get_one(Submission, run)
        kept.submitter_id, kept.filename, kept.sha256 = owner, "sekretfile.txt", "5e" * 32
        refused = session.get_one(Submission, rejected)
        refused.problems, refused.problem_count = [[17, "sekretproblem"]], 1
        submissions.withdraw(session, CONSOLE, session.get_one(Submission, withdrawn), "sekretreason")
        team = session.get_one(Team, field.teams["Sekretwoods"])
        token = teams.invite(session, CONSOLE, team)
        invitation = session.scalars(sa.select(Invitation.id)).one()
    return {
        "run": run, "rejected": rejected, "withdrawn": withdrawn, "token": token, "invitation": invitation,
        "member": owner,
        "team": field.teams["Sekretwoods"],
        "other_team": field.teams["Meadow"],
        "system": field.systems["Sekretalder"],
    }  # fmt: skip


def _other_judgments(field: Field) -> dict[str, object]:
    """Judgments of 2026 by another source, by which every run has a mean that shows nowhere else."""
    with field.database.write() as session:
        into = session.get_one(Evaluation, field.evaluations["2026"])
        current = current_set(session, into.id)
        judged = read_judgments(io.BytesIO(b"q1 0 d3 1\nq2 0 d3 1\n"))
        revision = judgments.import_judgments(session, CONSOLE, into, judged, source="sekretsource")
        beside = session.scalars(sa.select(ScoringSet).where(ScoringSet.revision_id == revision.id)).one()
        for scoring in session.scalars(sa.select(Scoring).where(Scoring.scoring_set_id == beside.id)):
            scoring.state, scoring.finished_at = State.SCORED, NOW - DAY
            for subset in Subset:
                values = np.array([0.13579] * 4)
                session.add(
                    Score(scoring_id=scoring.id, measure="AP", subset=subset, mean=0.13579, count=4, values=values)
                )
        return {"current_set": current.id if current else None, "beside_set": beside.id}


@pytest.fixture(scope="module")
def on_sqlite(migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    folder: Path = tmp_path_factory.mktemp("matrix")
    shutil.copyfile(migrated_sqlite, folder / "matrix.sqlite")
    yield from _played("sqlite", f"sqlite:///{folder / 'matrix.sqlite'}", folder)


@pytest.fixture(scope="module")
def on_postgresql(
    postgres: Postgres, migrated_postgres: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Played]:
    yield from _played("postgresql", postgres.create(migrated_postgres), tmp_path_factory.mktemp("matrix"))


@pytest.fixture
def played(engine_name: str, request: pytest.FixtureRequest) -> Played:
    """Two fixtures behind it: pytest would make one with parameters anew whenever the engine changes."""
    made: Played = request.getfixturevalue(f"on_{engine_name}")
    return made


def _played(engine: str, url: str, folder: Path) -> Iterator[Played]:
    config = Config(
        database_url=url, store_url=str(folder / "store"), secret_key="a secret of the tests", secure_cookies=False
    )
    app = create_app(config, clock=lambda: NOW)
    app.testing = True
    made = Field(app.extensions["database"])
    made.campaign()
    made.evaluation("2025", period_key=2025)  # over, and open to all
    accounts = _accounts(made)
    _evaluation(made)
    world = Played(app, made, _runs(made, app, accounts["owner of the team"]))
    with made.database.write() as session:
        for kind, account in accounts.items():
            user = session.get_one(User, account)
            world.api_tokens[kind] = tokens.make_token(session, CONSOLE, user, kind, Scope, days=None, now=NOW)
        own = sa.select(ApiToken.id).where(ApiToken.user_id == accounts["owner of the team"])
        world.names["api_token"] = session.scalars(own).one()
    world.names |= _other_judgments(made)
    for kind in KINDS:
        world.clients[kind] = client = app.test_client()
        if kind in accounts:
            with made.database.write() as session, client.session_transaction() as cookie:
                cookie["_user_id"] = sessions.start(session, accounts[kind], NOW)
        found = re.search(r'name="csrf_token" value="([^"]+)"', client.get("/login").text)
        assert found is not None
        world.tokens[kind] = found[1]
    yield world
    app.extensions["database"].close()
    print(f"\n{engine}: {world.asked.total():,} answers by phase and status")
    for (phase, status), count in sorted(world.asked.items()):
        print(f"  {phase:16} {status} {count:6,}")


def _addresses(page: Page) -> dict[str, str]:
    """The page and its files, each format with its address."""
    files = {} if page.files is None else {ending: f"{page.address}.{ending}" for ending in FORMATS}
    return {"html": page.address, **files}


def test_every_phase_is_read() -> None:
    assert {phase for phases in READ_ON.values() for phase in phases} == PHASES.keys()


def test_every_route_of_the_site_is_in_the_matrix(played: Played) -> None:
    for rule in played.app.url_map.iter_rules():
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


def _visits(played: Played, phase: str) -> Iterator[Visit]:
    """Everybody at every address in every format."""
    for endpoint, pages in PAGES.items():
        for page in pages:
            for ending, pattern in _addresses(page).items():
                address = pattern.format(**played.names)
                for kind in played.clients:
                    answer = played.get(kind, address)
                    played.asked[phase, answer.status_code] += 1
                    expected = page.status(phase, kind, file=ending != "html")
                    # Static files are the same for everybody.
                    text = "" if endpoint in STATIC else f"{answer.headers}\n{DRAWN.sub('', answer.text)}"
                    answer.close()
                    yield Visit(kind, address, answer.status_code, expected, page.told, text)


@pytest.mark.parametrize(
    ("engine_name", "phase"), [(engine, phase) for engine, phases in READ_ON.items() for phase in phases]
)
def test_everybody_finds_exactly_what_the_table_says_and_nobody_more(played: Played, phase: str) -> None:
    played.move_to(phase)
    wrong = []
    found = set()
    for visit in _visits(played, phase):
        if visit.status != visit.expected:
            wrong.append(f"{visit.kind}: {visit.address} answers {visit.status} and not {visit.expected}")
        for name, secret in SECRETS.items():
            if re.search(secret.text, visit.text) and not visit.is_told(name):
                found.add((name, visit.kind))
                if visit.kind not in secret.seen_by(phase):
                    wrong.append(f"LEAK to {visit.kind}: {visit.address} gives away: {name}")
    allowed = {(name, kind) for name, secret in SECRETS.items() for kind in secret.seen_by(phase)}
    wrong += [f"{kind} should find and does not: {name}" for name, kind in sorted(allowed - found)]
    assert not wrong, f"{phase}:\n" + "\n".join(wrong)


@pytest.mark.parametrize("phase", PHASES)
def test_who_may_not_send_a_form_is_refused_and_nothing_is_written(played: Played, phase: str) -> None:
    played.move_to(phase)
    before, wrong = played.written(), []
    for form in FORMS.values():
        address = form.address.format(**played.names)
        for kind, status in form.refusals(phase).items():
            if address.startswith(API):
                answer = played.app.test_client().post(address, json=form.fields, headers=played.bearer(kind))
            else:
                answer = played.clients[kind].post(address, data={"csrf_token": played.tokens[kind]})
            played.asked[phase, answer.status_code] += 1
            at_the_log_in = answer.headers.get("Location", "").startswith("/login")
            if answer.status_code != status or at_the_log_in != (status == 302):
                wrong.append(f"{kind}: {address} answers {answer.status_code} and not {status}")
    assert not wrong, f"{phase}:\n" + "\n".join(wrong)
    assert played.written() == before


def test_a_form_without_its_token_is_refused_whoever_sends_it(played: Played) -> None:
    played.move_to("open")
    before = played.written()
    for form in FORMS.values():
        address = form.address.format(**played.names)
        for kind, client in played.clients.items():
            answer = client.post(address)
            if address.startswith(API):  # a cookie says nothing there
                assert answer.status_code == 401, (kind, address)
                continue
            # Whom the form is not for may be told so before its token is looked at.
            assert answer.status_code in {400, form.refused.get(kind, 400)}, (kind, address)
    assert played.written() == before
