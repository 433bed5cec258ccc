"""The access matrix at work: an evaluation with secrets, everybody who asks for it, and what they are told too much.

What each may see stands in `access_rules.py`. `test_access_matrix.py` reads the share that `matrix_share.py` says, on
SQLite and each table in one format a phase; `python -m trials access_matrix` reads everything on both engines.
"""

import contextlib
import dataclasses
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from leaderboard.access import CONSOLE
from leaderboard.accounts import writes as credentials, writes as people
from leaderboard.accounts.models import ApiToken, Attempt, User
from leaderboard.accounts.rules import Scope
from leaderboard.audit.models import Event
from leaderboard.campaigns import writes as campaigns
from leaderboard.campaigns.models import Campaign, CampaignTeam
from leaderboard.campaigns.rules import Visibility
from leaderboard.config import Config
from leaderboard.evaluations import writes as evaluations, writes as submission_forms
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import FormField, Split, Subset
from leaderboard.formats import QueryRow, read_judgments
from leaderboard.generations.models import BoardGeneration
from leaderboard.judgments import writes as judgments, writes as queries
from leaderboard.judgments.rules import JudgmentFiles
from leaderboard.results.models import TeamFinds
from leaderboard.store import RankedList
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import State
from leaderboard.submissions.writes import submissions
from leaderboard.submissions.writes.run_store import bind
from leaderboard.teams import writes as teams
from leaderboard.teams.models import Invitation, Team
from leaderboard.teams.rules import Role
from leaderboard.web.app import create_app
from leaderboard.web.page_cache import STATIC
from leaderboard.worker.models import Curve, Score, Scoring, ScoringSet
from leaderboard.worker.reads import current_set
from tests.support.clients import file_of
from tests.support.field import DAY, NOW, Field
from tests.support.pages import hidden
from tests.support.world import new_account
from tests.web.access_rules import API, FORMS, KINDS, PAGES, PHASES, SAME_FOR_ALL, SECRETS, VISIBILITY, Page
from tests.web.matrix_share import WHOLE, column, must_be_found, reads, sends

# Coordinates of drawings are numbers, too.
DRAWN = re.compile(r' (?:d|transform|points|x|y|x1|x2|y1|y2|width|height|viewBox)="[^"]*"')


@dataclasses.dataclass
class Played:
    """One evaluation that was played to its end, moved between phases by its dates; and everybody's browser."""

    app: Flask
    field: Field
    names: dict[str, object]
    clients: dict[str, FlaskClient] = dataclasses.field(default_factory=dict)
    tokens: dict[str, str] = dataclasses.field(default_factory=dict)  # for forms
    api_tokens: dict[str, str] = dataclasses.field(default_factory=dict)
    asked: Counter[tuple[str, int]] = dataclasses.field(default_factory=Counter)  # (phase, status) -> answers

    def move_to(self, phase: str) -> None:
        self.field.change("2026", **PHASES[phase])
        with self.field.database.write() as session:
            campaign = session.scalars(sa.select(Campaign).where(Campaign.slug == "news")).one()
            campaign.visibility = VISIBILITY.get(phase, Visibility.PUBLIC)
            session.execute(sa.delete(Attempt))  # the phases come days apart, and wrong passwords count for minutes

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


@dataclasses.dataclass(frozen=True, slots=True)
class Visit:
    """One request's answer; reader: as whom it is read; text: its headers and its body."""

    kind: str
    reader: str
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
        shown = [
            QueryRow(f"q{n}", "sekrettext" if n == 1 else f"text {n}", tags, "sekrettext, described")
            for n, tags in ((1, ("sekrettag",)), (2, ("sekrettag",)), (3, ()))
        ]
        queries.import_queries(session, CONSOLE, made, shown)
        hidden = [QueryRow("sekretquery", "sekrethidden", ("law",))]
        queries.import_queries(session, CONSOLE, made, hidden, Split.HIDDEN)
        lines = "q1 0 d1 777\nq1 0 sekretmissed 5\nq2 0 d1 1\nq3 0 d1 1\nsekretquery 0 d1 888\nsekretquery 0 d2 1\n"
        judgments.import_judgments(session, CONSOLE, made, JudgmentFiles(read_judgments(io.BytesIO(lines.encode()))))
        field.evaluations["2026"] = made.id


def _runs(field: Field, app: Flask, owner: int) -> dict[str, object]:
    """A run of the team with everything that can be seen of one, a rejected and a withdrawn one; and another team's."""
    for system, team in (("Birch", "Meadow"), ("Cedar", "Meadow")):
        field.run(system, {"AP": [0.3, 0.2, 0.25, 0.35], "P@5": [0.2] * 4}, team=team, evaluation="2025", version="1")
    field.run(  # unchanged since 2025, so that the two years are linked
        "Birch",
        {"AP": [0.3, 0.2, 0.25, np.nan], "P@5": [0.2] * 4},
        hidden={"AP": [0.3, 0.2, 0.25, 0.35], "P@5": [0.2] * 4},
        team="Meadow", evaluation="2026", version="1",
    )  # fmt: skip
    other = field.run(
        "Otheralder",
        {"AP": [0.3, 0.2, 0.25, np.nan], "P@5": [0.2] * 4},
        hidden={"AP": [0.3, 0.2, 0.25, 0.35], "P@5": [0.2] * 4},
        team="Meadow", evaluation="2026",
    )  # fmt: skip
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
        kept.said = {"remark": "sekretanswer", "machine": "sekretsaid"}
        remark = FormField(key="remark", label="Remark", header="remark")  # shown to organisers
        submission_forms.set_field(session, CONSOLE, kept.evaluation, remark.as_json())
        refused = session.get_one(Submission, rejected)
        refused.problems, refused.problem_count = [[17, "sekretproblem"]], 1
        submissions.withdraw(session, CONSOLE, session.get_one(Submission, withdrawn), "sekretreason")
        own = session.get_one(Team, field.teams["Sekretwoods"])
        token = teams.invite(session, CONSOLE, own, days=7)
        invitation = session.scalars(sa.select(Invitation.id)).one()
    _curve(field, run)
    return {
        "run": run, "other": other, "rejected": rejected, "withdrawn": withdrawn,
        "token": token, "invitation": invitation,
        "member": owner,
        "team": field.teams["Sekretwoods"],
        "other_team": field.teams["Meadow"],
        "system": field.systems["Sekretalder"],
    }  # fmt: skip


def _curve(field: Field, run: int) -> None:
    """A curve of the run: over shown queries the value of one of them, over all that of the hidden one."""
    with field.database.write() as session:
        scoring = session.scalars(sa.select(Scoring).where(Scoring.submission_id == run)).one()
        for subset, value in {Subset.SHOWN: 0.8317, Subset.ALL: 0.0213}.items():
            session.add(Curve(scoring_id=scoring.id, subset=subset, name="precision", values=np.full(11, value)))


def _other_judgments(field: Field) -> dict[str, object]:
    """Judgments of 2026 by another source, by which every run has a mean that shows nowhere else."""
    with field.database.write() as session:
        into = session.get_one(Evaluation, field.evaluations["2026"])
        current = current_set(session, into.id)
        judged = read_judgments(io.BytesIO(b"q1 0 d3 1\nq2 0 d3 1\n"))
        revision = judgments.import_judgments(session, CONSOLE, into, JudgmentFiles(judged), source="sekretsource")
        beside = session.scalars(sa.select(ScoringSet).where(ScoringSet.revision_id == revision.id)).one()
        for scoring in session.scalars(sa.select(Scoring).where(Scoring.scoring_set_id == beside.id)):
            scoring.state, scoring.finished_at = State.SCORED, NOW - DAY
            for subset in Subset:
                values = np.array([0.13579] * 4)
                session.add(
                    Score(scoring_id=scoring.id, measure="AP", subset=subset, mean=0.13579, count=4, values=values)
                )
        return {"current_set": current.id if current else None, "beside_set": beside.id}


def _team_finds(field: Field, run: int) -> None:
    """What the team's run is worth without its team's own finds, another figure with the hidden query."""
    with field.database.write() as session:
        current = current_set(session, field.evaluations["2026"])
        assert current is not None
        own = Scoring.submission_id == run, Scoring.scoring_set_id == current.id
        scoring = session.scalars(sa.select(Scoring.id).where(*own)).one()
        subsets = {}
        for subset, mean in ((Subset.SHOWN, 0.57314), (Subset.ALL, 0.29461)):
            team = {"team": field.teams["Sekretwoods"], "runs": 1, "unique": 1, "without": {str(scoring): mean}}
            subsets[subset.value] = {"relevant": 4, "teams": [team]}
        finds = {"lines": 4, "depth": 100, "subsets": subsets}
        number = session.get_one(BoardGeneration, current.evaluation_id).number
        session.add(TeamFinds(scoring_set_id=current.id, generation=number, finds=finds))


@contextlib.contextmanager
def played(url: str, folder: Path) -> Iterator[Played]:
    """The evaluation on a migrated, empty database, and everybody's browser."""
    config = Config(
        database_url=url,
        store_url=str(folder / "store"),
        secret_key="a secret that only the tests know",
        secure_cookies=False,
    )
    app = create_app(config)
    app.extensions["clock"] = lambda: NOW
    app.testing = True
    made = Field(app.extensions["database"])
    bind(made.database, app.extensions["store"])
    made.campaign()
    made.evaluation("2025", period_key=2025)  # over, and open to all
    accounts = _accounts(made)
    _evaluation(made)
    world = Played(app, made, _runs(made, app, accounts["owner of the team"]))
    with made.database.write() as session:
        for kind, account in accounts.items():
            user = session.get_one(User, account)
            world.api_tokens[kind] = credentials.make_token(session, CONSOLE, user, kind, Scope, days=None, now=NOW)
        own = sa.select(ApiToken.id).where(ApiToken.user_id == accounts["owner of the team"])
        world.names["api_token"] = session.scalars(own).one()
    world.names |= _other_judgments(made)
    _team_finds(made, int(str(world.names["run"])))
    for kind in KINDS:
        world.clients[kind] = client = app.test_client()
        if kind in accounts:
            with made.database.write() as session, client.session_transaction() as cookie:
                cookie["_user_id"] = credentials.start_session(session, accounts[kind], NOW)
        world.tokens[kind] = hidden(client.get("/login").text)
    yield world
    app.extensions["database"].close()


def _addresses(page: Page, formats: Sequence[str]) -> dict[str, str]:
    """The page and its files, each format with its address."""
    files = {} if page.files is None else {ending: file_of(page.address, ending) for ending in formats}
    return {"html": page.address, **files}


def _visits(played: Played, phase: str, formats: Sequence[str], *, whole: bool) -> Iterator[Visit]:
    """Everybody, or the share of them, at every address, and at its files in these formats."""
    for endpoint, pages in PAGES.items():
        for page in pages:
            for ending, pattern in _addresses(page, formats).items():
                address = pattern.format(**played.names)
                file = ending != "html"
                for kind in played.clients:
                    if not whole and not reads(page, pattern, phase, kind, file=file):
                        continue
                    answer = played.get(kind, address)
                    played.asked[phase, answer.status_code] += 1
                    expected = page.status(phase, kind, file=file)
                    # Static files are the same for everybody.
                    body = "" if endpoint in STATIC else answer.get_data().decode("utf-8", "replace")  # or a picture
                    text = f"{answer.headers}\n{DRAWN.sub('', body)}" if body else ""
                    answer.close()
                    reader = "visitor" if endpoint in SAME_FOR_ALL else kind
                    yield Visit(kind, reader, address, answer.status_code, expected, page.told, text)


def wrong_answers(played: Played, phase: str, formats: Sequence[str], *, whole: bool = True) -> list[str]:
    """Has everybody read everything in this phase: each answer that the table does not give, each secret astray.

    whole  False: the share of `make test`; where that is a part, a secret that is open to a column must be found by one
           of it (of staff it must in the phase that is read whole: they read no page in every phase)
    """
    played.move_to(phase)
    wrong = []
    found = set()
    for visit in _visits(played, phase, formats, whole=whole):
        if visit.status != visit.expected:
            wrong.append(f"{visit.kind}: {visit.address} answers {visit.status} and not {visit.expected}")
        for name, secret in SECRETS.items():
            if re.search(secret.text, visit.text) and not visit.is_told(name):
                found.add((name, visit.kind))
                if visit.reader not in secret.seen_by(phase):
                    wrong.append(f"LEAK to {visit.kind}: {visit.address} gives away: {name}")
    allowed = {(name, kind) for name, secret in SECRETS.items() for kind in secret.seen_by(phase)}
    if not whole and phase != WHOLE:
        allowed = {
            (name, kind) for name, kind in allowed if must_be_found(kind, {of for one, of in allowed if one == name})
        }
        found |= {(name, other) for name, kind in found for other in column(kind)}
    return wrong + [f"{kind} should find and does not: {name}" for name, kind in sorted(allowed - found)]


def wrong_refusals(played: Played, phase: str, *, whole: bool = True) -> list[str]:
    """Has everybody send every form that is not theirs: each answer but the refusal, and whatever was written."""
    played.move_to(phase)
    before, wrong = played.written(), []
    for form in FORMS.values():
        address = form.address.format(**played.names)
        for kind, status in form.refusals(phase).items():
            if not whole and not sends(form, phase, kind):
                continue
            if address.startswith(API):
                answer = played.app.test_client().post(address, json=form.fields, headers=played.bearer(kind))
            else:
                answer = played.clients[kind].post(address, data={"csrf_token": played.tokens[kind]})
            played.asked[phase, answer.status_code] += 1
            at_the_log_in = answer.headers.get("Location", "").startswith("/login")
            if answer.status_code != status or at_the_log_in != (status == 302):
                wrong.append(f"{kind}: {address} answers {answer.status_code} and not {status}")
    more = played.written() - before
    return [*wrong, f"{more} events were written"] if more else wrong
