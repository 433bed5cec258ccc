"""What services change, one after the other in the world of the pages' tests, and the pages that show it.

`tests/web/test_changes_show.py` makes each change. A new service gets a change here, at a place in the list where what
it needs is there.
"""

import dataclasses
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa
from flask import Flask
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE, Actor, actor_of
from leaderboard.accounts import writes as accounts
from leaderboard.accounts.models import BrowserSession, User
from leaderboard.accounts.rules import Scope
from leaderboard.audit.writes import present
from leaderboard.boards import writes as boards
from leaderboard.campaigns import writes as campaigns
from leaderboard.campaigns.models import Campaign
from leaderboard.campaigns.rules import Visibility
from leaderboard.errors import Problem
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import FormField, Split, Subset
from leaderboard.formats import QueryRow, read_judgments
from leaderboard.generations.models import BoardGeneration, Generation
from leaderboard.judgments import writes as judgments
from leaderboard.judgments.rules import JudgmentFiles
from leaderboard.results import writes as results
from leaderboard.store import Received
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import Designation, Ruling, SetState
from leaderboard.submissions.writes import submissions
from leaderboard.teams import merging, writes as teams
from leaderboard.teams.models import Invitation, JoinRequest, System, Team
from leaderboard.teams.rules import Role
from leaderboard.worker import queue, writes as worker
from leaderboard.worker.messages import Failed, LeaveTeamsOut, MeasureScore, Postponed, Rejected, RunScores, Unreadable
from leaderboard.worker.models import Scoring, ScoringSet
from tests.support.world import new_account
from tests.web.conftest import BOARD, PASSWORD_HASH, Reader, World

OF_CAMPAIGN, OF_ALL, NONE = "the campaign's", "the installation's", "none"
HARBOUR, ALPHA = "/campaigns/harbour", "/teams/alpha"


class Play:
    """The world of the pages' tests, by the names of what is in it, and what workers do."""

    def __init__(self, app: Flask, world: World, readers: dict[str, Reader]) -> None:
        self.app, self.world, self.readers = app, world, readers
        self.database = world.database
        self.runs: list[int] = []

    def of_slug(self, session: Session, table: Any, slug: str) -> Any:
        return session.scalars(sa.select(table).where(table.slug == slug)).one()

    def user(self, session: Session, name: str) -> User:
        return session.get_one(User, self.world.users[name].id)

    def actor(self, session: Session, name: str) -> Actor:
        return actor_of(session, self.world.users[name].id)

    def upload(self) -> Received:
        digest = f"{len(self.runs):064x}"
        return Received(digest, digest[32:], digest, 10, 10, "a.run")

    def submit(self, session: Session, system: str = "searcher", **values: Any) -> None:
        evaluation, team = self.of_slug(session, Evaluation, "2025"), self.of_slug(session, Team, "alpha")
        values |= {"system": self.of_slug(session, System, system).id, "upload": self.upload()}
        made = submissions.submit(session, CONSOLE, evaluation.id, team.id, **values)
        self.runs.append(made.id)

    def claim(self, session: Session) -> queue.Claim:
        session.execute(sa.update(Scoring).values(not_before=None))
        claim = queue.claim(session, "a worker", 60)
        assert claim is not None
        return claim

    def score(self, session: Session, mean: float) -> None:
        """Records the figures of the next run in the queue, as a worker does."""
        measures = [(measure, subset) for measure in ("AP", "P@5") for subset in Subset]
        figures = tuple(MeasureScore(*measure, mean, 3, np.full(3, mean)) for measure in measures)
        queue.settle(session, self.claim(session), RunScores(figures, (), (), 0.1))

    def score_all(self, session: Session) -> None:
        while queue.unfinished(session):
            self.score(session, 0.25)

    @contextmanager
    def keeping_nothing(self) -> Iterator[None]:
        cache = self.app.extensions["kept pages"]
        most, cache.most_bytes = cache.most_bytes, 0
        yield
        cache.most_bytes = most

    def generations(self) -> dict[int, int]:
        return {row.campaign_id: row.number for row in self.world.all(sa.select(Generation))}


Value = Callable[[Session, Play], Any]  # what is there when the change is made


@dataclass(frozen=True)
class Change:
    """What services change.

    raises  whose generation
    at      a page that shows it, None where no kept page does; `who` asks for it
    """

    services: tuple[str, ...]
    do: Callable[[Session, Play], object]
    raises: str = OF_CAMPAIGN
    at: str | None = None
    who: str = ""


def by(
    write: Callable[..., Any], *values: Any, raises: str = OF_CAMPAIGN, at: str = "", who: str = "", **named: Any
) -> Change:
    """A service that the command line asks, unless the first value is somebody's name with @."""
    *_, room, module = write.__module__.split(".")
    actor, given = (values[0], values[1:]) if str(values[:1]).startswith("('@") else ("", values)

    def do(session: Session, play: Play) -> None:
        asks = play.actor(session, actor[1:]) if actor else CONSOLE
        write(session, asks, *(value(session, play) if callable(value) else value for value in given), **named)

    return Change((f"{room if module == 'writes' else module}.{write.__name__}",), do, raises, at or None, who)


def campaign(slug: str = "harbour") -> Value:
    return lambda session, play: play.of_slug(session, Campaign, slug)


def evaluation(slug: str = "2025") -> Value:
    return lambda session, play: play.of_slug(session, Evaluation, slug)


def team(slug: str = "alpha") -> Value:
    return lambda session, play: play.of_slug(session, Team, slug)


def system(slug: str) -> Value:
    return lambda session, play: play.of_slug(session, System, slug)


def user(name: str) -> Value:
    return lambda session, play: play.user(session, name)


def run(place: int) -> Value:
    return lambda session, play: session.get_one(Submission, play.runs[place])


def judged(lines: str) -> Value:
    return lambda _, __: read_judgments(io.BytesIO(lines.encode()))


OF_CAMPAIGNS = (
    by(campaigns.change_campaign, campaign(), title="Haven", at=HARBOUR),
    by(evaluations.change_evaluation, evaluation(), title="Haven 2025", at=BOARD),
    by(evaluations.create_evaluation, campaign(), "2026", "Haven 2026", "2026", at=HARBOUR),
    by(
        judgments.import_queries, evaluation("2026"), [QueryRow("q1", "one", ()), QueryRow("q2", "another", ())],
        at=f"{HARBOUR}/2026/queries",
    ),
    by(judgments.set_split, evaluation("2026"), ["q2"], Split.HIDDEN, at=f"{HARBOUR}/2026/queries"),
    by(evaluations.clone_evaluation, evaluation("2026"), with_queries=True, draft=False, at=HARBOUR),
    by(judgments.remove_queries, evaluation("2027"), ["q1"], at=f"{HARBOUR}/2027/queries"),
    by(evaluations.remove_evaluation, evaluation("2027"), at=HARBOUR),
    by(judgments.exclude_queries, evaluation(), ["q3"], "nobody judged it", at=f"{BOARD}/queries"),
    by(judgments.include_queries, evaluation(), ["q3"], at=f"{BOARD}/queries"),
    by(
        campaigns.create_campaign, "quay", "The quay", measures=["AP"], primary_measure="AP",
        raises="its own", at="/",
    ),
    by(evaluations.remove_campaign, campaign("quay"), raises="its own", at="/"),
    by(campaigns.add_organiser, campaign(), user("eve"), at=HARBOUR, who="eve"),
    by(campaigns.remove_organiser, campaign(), user("eve"), at=HARBOUR, who="eve"),
    by(campaigns.archive_campaign, campaign(), archived=True, at=HARBOUR),
    by(campaigns.archive_campaign, campaign(), archived=False, at=HARBOUR),
    by(campaigns.change_campaign, campaign(), visibility=Visibility.PRIVATE, at=HARBOUR),
    by(campaigns.let_team_in, campaign(), team("beta"), at=HARBOUR, who="eve"),
    by(campaigns.let_team_out, campaign(), team("beta"), at=HARBOUR, who="eve"),
    by(campaigns.change_campaign, campaign(), visibility=Visibility.PUBLIC, at="/"),
    by(campaigns.change_site, name="Another name", raises=OF_ALL, at="/"),
)  # fmt: skip


def accept_invitation(session: Session, play: Play) -> None:
    token = teams.invite(session, CONSOLE, team()(session, play), days=7)
    teams.accept_invitation(session, play.actor(session, "eve"), token, present())


def answer_request(session: Session, play: Play) -> None:
    alpha = team()(session, play)
    teams.ask_to_join(session, play.actor(session, "orla"), alpha, "please")
    asked = session.scalars(sa.select(JoinRequest).order_by(JoinRequest.id.desc())).first()
    assert asked is not None
    teams.answer_request(session, play.actor(session, "ada"), alpha, asked.id, accept=True)


def number_of(name: str) -> Value:
    return lambda session, play: play.user(session, name).id


TO_ADA: dict[str, Any] = {"raises": OF_ALL, "at": ALPHA, "who": "ada"}
OF_TEAMS = (
    by(teams.change_team, team(), description="We search.", is_listed=True, raises=OF_ALL, at=ALPHA, who="eve"),
    by(teams.rename_team, team("beta"), "Better", "beta", raises=OF_ALL, at="/teams/beta", who="eve"),
    by(teams.create_team, "@ada", "Gamma", raises=OF_ALL, at="/teams/gamma", who="ada"),
    by(teams.add_member, team(), user("eve"), **TO_ADA),
    by(teams.change_role, team(), number_of("eve"), Role.OWNER, **TO_ADA),
    by(teams.remove_member, team(), number_of("eve"), **TO_ADA),
    by(teams.invite, "@ada", team(), 7, **TO_ADA),
    by(teams.revoke_invitation, team(), lambda session, _: session.scalars(sa.select(Invitation.id)).one(), **TO_ADA),
    Change(("teams.accept_invitation",), accept_invitation, **TO_ADA),
    by(teams.remove_member, "@eve", team(), number_of("eve"), **TO_ADA),
    by(teams.ask_to_join, "@eve", team(), "please", **TO_ADA),
    by(teams.take_back, "@eve", team(), **TO_ADA),
    Change(("teams.answer_request",), answer_request, **TO_ADA),
    by(teams.create_system, team(), teams.NewSystem("Second"), **{**TO_ADA, "at": "/teams/alpha/second"}),
    by(teams.create_system, team(), teams.NewSystem("Mistaken"), **{**TO_ADA, "at": "/teams/alpha/mistaken"}),
    by(
        teams.change_system, system("second"), description="It counts words.",
        **{**TO_ADA, "at": "/teams/alpha/second"},
    ),
    by(evaluations.remove_system, system("mistaken"), **{**TO_ADA, "at": "/teams/alpha/mistaken"}),
)  # fmt: skip


def claim_and_release(session: Session, play: Play) -> None:
    claim = play.claim(session)
    assert queue.renew(session, claim, 60)
    queue.release(session, claim)


def settle(*replies: Any) -> Callable[[Session, Play], None]:
    def do(session: Session, play: Play) -> None:
        for reply in replies:
            queue.settle(session, play.claim(session), reply)

    return do


def submit_two_more(session: Session, play: Play) -> None:
    for mean in (0.6, 0.7):
        play.submit(session, "second")
        play.score(session, mean)


def refresh(_: Session, play: Play) -> None:
    with play.database.read() as session:
        due = boards.due(session)
    assert due
    assert all(boards.refresh(play.database, one) for one in due)


def leave_teams_out(session: Session, play: Play) -> None:
    made = session.scalars(sa.select(ScoringSet).where(ScoringSet.state == SetState.CURRENT)).one()
    own = sa.select(BoardGeneration.number).where(BoardGeneration.evaluation_id == made.evaluation_id)
    job = LeaveTeamsOut(made.id, made.primary_measure, session.scalar(own) or 0, ())
    finds = {"lines": 3, "depth": 100, "subsets": {"all": {"relevant": 3, "teams": []}}}
    results.keep_team_finds(session, job, finds)


def switch(session: Session, play: Play) -> None:
    play.score_all(session)
    building = session.scalars(sa.select(ScoringSet).where(ScoringSet.state == SetState.BUILDING)).one()
    worker.switch(session, CONSOLE, building)


def judge_by_assistant(session: Session, play: Play) -> None:
    lines = judged("q1 0 d2 1\nq2 0 d4 1\nq3 0 d5 1\n")(session, play)
    judgments.import_judgments(session, CONSOLE, evaluation()(session, play), JudgmentFiles(lines), source="assistant")
    play.score_all(session)


OWN: dict[str, Any] = {"at": ALPHA, "who": "ada"}
SOURCES: dict[str, Any] = {"at": f"{BOARD}/sources", "who": "orla"}
RUN_MEASURES = (
    Change(
        ("submissions.submit",), lambda session, play: play.submit(session, designation=Designation.PRIMARY), **OWN
    ),
    Change(("queue.claim", "queue.renew", "queue.release"), claim_and_release, NONE),
    Change(("queue.sweep",), lambda session, _: queue.sweep(session, 60), NONE),
    Change(("queue.settle",), settle(Failed("an error while scoring"), Postponed("the store does not answer"))),
    Change(("queue.settle",), lambda session, play: play.score(session, 0.5), at=BOARD),
    Change(("submissions.submit",), lambda session, play: play.submit(session), **OWN),
    Change(("queue.settle",), settle(Rejected((Problem(17, "17"),), 1)), **OWN),
    by(submissions.retry, run(1), **OWN),
    Change(("queue.settle",), settle(Unreadable("an error of ours")), **OWN),
    by(submissions.retry_failed, evaluation(), **OWN),
    Change(("queue.settle",), lambda session, play: play.score(session, 0.75), **OWN),
    by(submissions.make_primary, run(1), at=BOARD),
    by(submissions.describe, run(1), label="the better one", notes="tuned", at="/submissions/2", who="ada"),
    by(submissions.hide_run, run(1), Ruling.HIDDEN, "a reason", at=BOARD),
    by(submissions.restore, run(1), at=BOARD),
    by(submissions.withdraw, run(1), "a mistake", at=BOARD),
    Change(("submissions.submit",), submit_two_more, **OWN),
    by(submissions.select_run, run(3), at=BOARD),
    Change(("boards.refresh",), refresh),
    Change(("results.keep_team_finds",), leave_teams_out, at=f"{BOARD}/leave-one-team-out", who="orla"),
    by(
        judgments.import_judgments, evaluation(),
        lambda *here: JudgmentFiles(judged("q1 0 d1 1\nq1 0 d2 1\nq2 0 d4 1\nq3 0 d5 1\n")(*here)), at=BOARD,
    ),
    Change(("worker.switch",), switch, at=BOARD),
    Change(("judgments.import_judgments",), judge_by_assistant, **SOURCES),
    by(worker.make_official, evaluation(), "assistant", at=f"{BOARD}/boards"),
    by(judgments.rename_source, evaluation(), "assistant", "helpful", **SOURCES),
    Change(
        ("judgments.remove_source", "judgments.set_aside_sources"),
        lambda session, play: judgments.remove_source(session, CONSOLE, evaluation()(session, play), "assessors"),
        **SOURCES,
    ),
    by(
        submissions.import_run, evaluation(), system("searcher"),
        lambda _, play: dataclasses.replace(play.upload(), sha256="f" * 64), **OWN,
    ),
)  # fmt: skip


def ask_of_files(session: Session, play: Play) -> None:
    asking = evaluation()(session, play)
    evaluations.set_rules(session, CONSOLE, asking, every_query=True)
    evaluations.set_documents(session, CONSOLE, asking, None)
    evaluations.copy_form(session, CONSOLE, asking, evaluation("2026")(session, play))


OF_FORMS = (
    by(evaluations.set_field, evaluation(), FormField(key="model", label="Model").as_json()),
    by(evaluations.remove_field, evaluation(), "model"),
    by(evaluations.state_agreement, evaluation(), "terms", "Terms", "Be fair."),
    by(evaluations.end_agreement, evaluation(), "terms"),
    Change(("evaluations.set_rules", "evaluations.set_documents", "evaluations.copy_form"), ask_of_files),
)


def _own_session(session: Session, account: User) -> int:
    accounts.start_session(session, account.id, present())
    return session.scalars(sa.select(BrowserSession.id).where(BrowserSession.user_id == account.id)).one()


def make_accounts(session: Session, _: Play) -> None:
    made = accounts.create_user(session, CONSOLE, new_account("nora"))
    accounts.register(session, new_account("otto"))
    accounts.set_password(session, CONSOLE, made, PASSWORD_HASH)  # type: ignore[arg-type]  # a hash as it is stored
    accounts.log_out(session, CONSOLE, made, _own_session(session, made))
    accounts.end_sessions(session, CONSOLE, made)


def use_sessions(session: Session, _: Play) -> None:
    nora = accounts.find_user(session, "nora")
    own = _own_session(session, nora)
    accounts.make_token(session, CONSOLE, nora, "a program", Scope, days=None, now=present())
    accounts.note_seen(session, own, present())
    accounts.end_session(session, own, present())
    accounts.end_all_sessions(session, nora.id, present())


OF_PEOPLE = (
    Change(
        tuple(f"accounts.{name}" for name in ("create_user", "register", "set_password", "end_sessions")),
        make_accounts, NONE,
    ),
    Change(
        tuple(f"accounts.{name}" for name in ("start_session", "note_seen", "end_session", "end_all_sessions")),
        use_sessions, NONE,
    ),
    by(accounts.set_admin, user("eve"), is_admin=True, raises=OF_ALL, at=HARBOUR, who="eve"),
    by(accounts.set_founder, user("ben"), may_found=True, raises=OF_ALL, at="/", who="ben"),
    by(accounts.close_account, "@ben", user("ben"), **TO_ADA),
    by(merging.merge_teams, team("alpha"), team("beta"), raises=OF_ALL, at=BOARD),
)  # fmt: skip
CHANGES = (*OF_CAMPAIGNS, *OF_TEAMS, *RUN_MEASURES, *OF_FORMS, *OF_PEOPLE)
