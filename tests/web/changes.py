"""What services change, one after the other in the world of the pages' tests, and the pages that show it.

`tests/web/test_changes_show.py` makes each change. A new service gets a change here, at a place in the list where what
it needs is there.
"""

import dataclasses
import io
from collections.abc import Callable
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE
from leaderboard.errors import Problem
from leaderboard.formats import QueryRow, read_judgments
from leaderboard.models import (
    BrowserSession,
    Invitation,
    JoinRequest,
    ScoringSet,
    System,
)
from leaderboard.rules.form_fields import FormField
from leaderboard.rules.roles import Role
from leaderboard.rules.scopes import Scope
from leaderboard.rules.settings import Split
from leaderboard.rules.standings import Designation
from leaderboard.rules.states import Ruling, SetState
from leaderboard.rules.visibility import Visibility
from leaderboard.services import (
    boards,
    campaigns,
    cloning,
    closing,
    evaluations,
    imports,
    join_requests,
    judgments,
    merging,
    people,
    queries,
    queue,
    removing,
    scoring_sets,
    sessions,
    staging,
    submission_forms,
    submissions,
    systems,
    teams,
    tokens,
)
from leaderboard.services.events import present
from leaderboard.services.staging import Given
from leaderboard.services.systems import NewSystem
from tests.support.world import new_account
from tests.web.conftest import PASSWORD_HASH
from tests.web.play import Play

__all__ = ["CHANGES", "NONE", "OF_ALL", "OF_CAMPAIGN"]

OF_CAMPAIGN = "the campaign's"
OF_ALL = "the installation's"
NONE = "none"

BOARD = "/campaigns/harbour/2025"
ALPHA = "/teams/alpha"


Do = Callable[[Session, Play], object]


@dataclass(frozen=True)
class Change:
    """What a service changes.

    raises  whose generation
    at      a page that shows it, None where no kept page does; `who` asks for it
    """

    services: tuple[str, ...]
    raises: str
    at: str | None
    who: str
    do: Do


CHANGES: list[Change] = []


def change(*services: str, raises: str = OF_CAMPAIGN, at: str | None = None, who: str = "") -> Callable[[Do], Do]:
    def add(do: Do) -> Do:
        CHANGES.append(Change(services, raises, at, who, do))
        return do

    return add


@change("campaigns.change_campaign", at="/campaigns/harbour")
def _(session: Session, play: Play) -> None:
    campaigns.change_campaign(session, CONSOLE, play.campaign(session), title="Haven")


@change("evaluations.change_evaluation", at=BOARD)
def _(session: Session, play: Play) -> None:
    evaluations.change_evaluation(session, CONSOLE, play.evaluation(session), title="Haven 2025")


@change("evaluations.create_evaluation", at="/campaigns/harbour")
def _(session: Session, play: Play) -> None:
    evaluations.create_evaluation(session, CONSOLE, play.campaign(session), "2026", "Haven 2026", "2026")


@change("queries.import_queries", at="/campaigns/harbour/2026/queries")
def _(session: Session, play: Play) -> None:
    rows = [QueryRow("q1", "of the next year", ()), QueryRow("q2", "another", ())]
    queries.import_queries(session, CONSOLE, play.evaluation(session, "2026"), rows)


@change("queries.set_split", at="/campaigns/harbour/2026/queries")
def _(session: Session, play: Play) -> None:
    queries.set_split(session, CONSOLE, play.evaluation(session, "2026"), ["q2"], Split.HIDDEN)


@change("cloning.clone_evaluation", at="/campaigns/harbour")
def _(session: Session, play: Play) -> None:
    source = play.evaluation(session, "2026")
    cloning.clone_evaluation(session, CONSOLE, source, "2027", "Haven 2027", "2027", with_queries=True, draft=False)


@change("removing.remove_evaluation", at="/campaigns/harbour")
def _(session: Session, play: Play) -> None:
    removing.remove_evaluation(session, CONSOLE, play.evaluation(session, "2027"))


@change("queries.exclude_queries", at=f"{BOARD}/queries")
def _(session: Session, play: Play) -> None:
    queries.exclude_queries(session, CONSOLE, play.evaluation(session), ["q3"], "nobody judged it")


@change("queries.include_queries", at=f"{BOARD}/queries")
def _(session: Session, play: Play) -> None:
    queries.include_queries(session, CONSOLE, play.evaluation(session), ["q3"])


@change("campaigns.create_campaign", raises="its own", at="/")
def _(session: Session, play: Play) -> None:
    campaigns.create_campaign(session, CONSOLE, "quay", "The quay", measures=["AP"], primary_measure="AP")


@change("removing.remove_campaign", raises="its own", at="/")
def _(session: Session, play: Play) -> None:
    removing.remove_campaign(session, CONSOLE, play.campaign(session, "quay"))


@change("campaigns.add_organiser", at="/campaigns/harbour", who="eve")
def _(session: Session, play: Play) -> None:
    campaigns.add_organiser(session, CONSOLE, play.campaign(session), play.user(session, "eve"))


@change("campaigns.remove_organiser", at="/campaigns/harbour", who="eve")
def _(session: Session, play: Play) -> None:
    campaigns.remove_organiser(session, CONSOLE, play.campaign(session), play.user(session, "eve"))


@change("campaigns.archive_campaign", at="/campaigns/harbour")
def _(session: Session, play: Play) -> None:
    campaigns.archive_campaign(session, CONSOLE, play.campaign(session), archived=True)


@change("campaigns.archive_campaign", at="/campaigns/harbour")
def _(session: Session, play: Play) -> None:
    campaigns.archive_campaign(session, CONSOLE, play.campaign(session), archived=False)


@change("campaigns.change_campaign", at="/campaigns/harbour")
def _(session: Session, play: Play) -> None:
    campaigns.change_campaign(session, CONSOLE, play.campaign(session), visibility=Visibility.PRIVATE)


@change("campaigns.let_team_in", at="/campaigns/harbour", who="eve")
def _(session: Session, play: Play) -> None:
    campaigns.let_team_in(session, CONSOLE, play.campaign(session), play.team(session, "beta"))


@change("campaigns.let_team_out", at="/campaigns/harbour", who="eve")
def _(session: Session, play: Play) -> None:
    campaigns.let_team_out(session, CONSOLE, play.campaign(session), play.team(session, "beta"))


@change("campaigns.change_campaign", at="/")
def _(session: Session, play: Play) -> None:
    campaigns.change_campaign(session, CONSOLE, play.campaign(session), visibility=Visibility.PUBLIC)


@change("teams.change_team", raises=OF_ALL, at=ALPHA, who="eve")
def _(session: Session, play: Play) -> None:
    teams.change_team(session, CONSOLE, play.team(session), "We search harbours.", is_listed=True)


@change("teams.rename_team", raises=OF_ALL, at="/teams/beta", who="eve")
def _(session: Session, play: Play) -> None:
    teams.rename_team(session, CONSOLE, play.team(session, "beta"), "Better", "beta")


@change("teams.create_team", raises=OF_ALL, at="/teams/gamma", who="ada")
def _(session: Session, play: Play) -> None:
    teams.create_team(session, play.actor(session, "ada"), "Gamma")


@change("teams.add_member", raises=OF_ALL, at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    teams.add_member(session, CONSOLE, play.team(session), play.user(session, "eve"))


@change("teams.change_role", raises=OF_ALL, at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    teams.change_role(session, CONSOLE, play.team(session), play.user(session, "eve"), Role.OWNER.value)


@change("teams.remove_member", raises=OF_ALL, at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    teams.remove_member(session, CONSOLE, play.team(session), play.user(session, "eve"))


@change("teams.invite", raises=OF_ALL, at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    teams.invite(session, play.actor(session, "ada"), play.team(session))


@change("teams.revoke_invitation", raises=OF_ALL, at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    teams.revoke_invitation(session, CONSOLE, session.scalars(sa.select(Invitation)).one())


@change("teams.accept_invitation", raises=OF_ALL, at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    token = teams.invite(session, CONSOLE, play.team(session))
    teams.accept_invitation(session, play.actor(session, "eve"), token)


@change("teams.leave_team", raises=OF_ALL, at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    teams.leave_team(session, play.actor(session, "eve"), play.team(session))


@change("join_requests.ask_to_join", raises=OF_ALL, at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    join_requests.ask_to_join(session, play.actor(session, "eve"), play.team(session), "please")


@change("join_requests.take_back", raises=OF_ALL, at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    join_requests.take_back(session, play.actor(session, "eve"), play.team(session))


@change("join_requests.answer_request", raises=OF_ALL, at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    join_requests.ask_to_join(session, play.actor(session, "orla"), play.team(session), "please")
    asked = session.scalars(sa.select(JoinRequest).order_by(JoinRequest.id.desc())).first()
    assert asked is not None
    ada = play.actor(session, "ada")
    join_requests.answer_request(session, ada, play.team(session), asked.id, accept=True)


@change("systems.create_system", raises=OF_ALL, at="/teams/alpha/second", who="ada")
def _(session: Session, play: Play) -> None:
    systems.create_system(session, CONSOLE, play.team(session), NewSystem("Second"))


@change("systems.change_system", raises=OF_ALL, at="/teams/alpha/second", who="ada")
def _(session: Session, play: Play) -> None:
    second = session.scalars(sa.select(System).where(System.name == "Second")).one()
    systems.change_system(session, CONSOLE, second, NewSystem("Second", description="It counts words."))


@change("submissions.submit", at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    play.submit(session, session.get_one(System, play.world.system.id), designation=Designation.PRIMARY)


@change("queue.claim", "queue.renew", "queue.release", raises=NONE)
def _(session: Session, play: Play) -> None:
    claim = play.claim(session)
    assert queue.renew(session, claim, 60)
    queue.release(session, claim)


@change("queue.sweep", raises=NONE)
def _(session: Session, play: Play) -> None:
    queue.sweep(session)


@change("queue.fail", "queue.postpone")
def _(session: Session, play: Play) -> None:
    queue.fail(session, play.claim(session), "an error while scoring")
    queue.postpone(session, play.claim(session), "the store does not answer")


@change("queue.record_scores", at=BOARD)
def _(session: Session, play: Play) -> None:
    play.score(session, 0.5)


@change("submissions.submit", at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    play.submit(session, session.get_one(System, play.world.system.id))


@change("queue.reject", at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    queue.reject(session, play.claim(session), [Problem("17", 17)], 1)


@change("submissions.retry", at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    submissions.retry(session, CONSOLE, play.run(session, 1))


@change("queue.park", at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    queue.park(session, play.claim(session), "an error of ours")


@change("submissions.retry_failed", at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    submissions.retry_failed(session, CONSOLE, play.evaluation(session))


@change("queue.record_scores", at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    play.score(session, 0.75)


@change("submissions.make_primary", at=BOARD)
def _(session: Session, play: Play) -> None:
    submissions.make_primary(session, CONSOLE, play.run(session, 1))


@change("submissions.describe", at="/submissions/2", who="ada")
def _(session: Session, play: Play) -> None:
    submissions.describe(session, CONSOLE, play.run(session, 1), label="the better one", notes="tuned")


@change("submissions.take_off", at=BOARD)
def _(session: Session, play: Play) -> None:
    submissions.take_off(session, CONSOLE, play.run(session, 1), Ruling.HIDDEN, "a reason")


@change("submissions.restore", at=BOARD)
def _(session: Session, play: Play) -> None:
    submissions.restore(session, CONSOLE, play.run(session, 1))


@change("submissions.withdraw", at=BOARD)
def _(session: Session, play: Play) -> None:
    submissions.withdraw(session, CONSOLE, play.run(session, 1), "a mistake")


@change("submissions.submit", at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    for mean in (0.6, 0.7):
        play.submit(session, session.scalars(sa.select(System).where(System.name == "Second")).one())
        play.score(session, mean)


@change("submissions.let_stand", at=BOARD)
def _(session: Session, play: Play) -> None:
    submissions.let_stand(session, CONSOLE, play.run(session, 3))


@change("boards.refresh")
def _(_: Session, play: Play) -> None:
    with play.database.read() as session:
        due = boards.due(session)
    assert due
    assert all(boards.refresh(play.database, one) for one in due)


@change("judgments.import_judgments", at=BOARD)
def _(session: Session, play: Play) -> None:
    lines = b"q1 0 d1 1\nq1 0 d2 1\nq2 0 d4 1\nq3 0 d5 1\n"
    judgments.import_judgments(session, CONSOLE, play.evaluation(session), read_judgments(io.BytesIO(lines)))


@change("scoring_sets.switch", at=BOARD)
def _(session: Session, play: Play) -> None:
    play.score_all(session)
    building = session.scalars(sa.select(ScoringSet).where(ScoringSet.state == SetState.BUILDING)).one()
    scoring_sets.switch(session, CONSOLE, building)


@change("judgments.import_judgments", at=f"{BOARD}/sources", who="orla")
def _(session: Session, play: Play) -> None:
    lines = io.BytesIO(b"q1 0 d2 1\nq2 0 d4 1\nq3 0 d5 1\n")
    judgments.import_judgments(session, CONSOLE, play.evaluation(session), read_judgments(lines), source="assistant")
    play.score_all(session)


@change("scoring_sets.make_official", at=f"{BOARD}/boards")
def _(session: Session, play: Play) -> None:
    scoring_sets.make_official(session, CONSOLE, play.evaluation(session), "assistant")


@change("imports.import_run", at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    system = session.get_one(System, play.world.system.id)
    upload = dataclasses.replace(play.upload(), sha256="f" * 64)
    imports.import_run(session, CONSOLE, play.evaluation(session), system, upload)


@change("staging.stage", "staging.discard", "staging.sweep", raises=NONE)
def _(session: Session, play: Play) -> None:
    _stage(session, play)
    staging.discard(session, play.actor(session, "ada"), play.evaluation(session), _stage(session, play), present())
    staging.sweep(session, present())


@change("staging.confirm", at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    waiting = _stage(session, play)
    staging.confirm(session, play.actor(session, "ada"), play.evaluation(session), waiting, present())


def _stage(session: Session, play: Play) -> int:
    actor, evaluation, now = play.actor(session, "ada"), play.evaluation(session), present()
    given = Given(play.world.system.id)
    play.runs.append(0)  # so that each file is another one
    return staging.stage(
        session, actor, evaluation, play.team(session), play.upload(), given,
        begun_at=now, received_at=now, place=None, now=now,
    ).id  # fmt: skip


@change("submission_forms.set_field", "submission_forms.remove_field")
def _(session: Session, play: Play) -> None:
    evaluation = play.evaluation(session)
    submission_forms.set_field(session, CONSOLE, evaluation, FormField(key="model", label="Model"))
    submission_forms.remove_field(session, CONSOLE, evaluation, "model")


@change("submission_forms.state_agreement", "submission_forms.end_agreement")
def _(session: Session, play: Play) -> None:
    evaluation = play.evaluation(session)
    submission_forms.state_agreement(session, CONSOLE, evaluation, "terms", "Terms", "Be fair.")
    submission_forms.end_agreement(session, CONSOLE, evaluation, "terms")


@change("submission_forms.set_rules", "submission_forms.set_documents", "submission_forms.copy_form")
def _(session: Session, play: Play) -> None:
    evaluation = play.evaluation(session)
    submission_forms.set_rules(session, CONSOLE, evaluation, every_query=True)
    submission_forms.set_documents(session, CONSOLE, evaluation, None)
    submission_forms.copy_form(session, CONSOLE, evaluation, play.evaluation(session, "2026"))


@change("people.create_user", "people.register", "people.set_password", "people.end_sessions", raises=NONE)
def _(session: Session, play: Play) -> None:
    made = people.create_user(session, CONSOLE, new_account("nora"))
    people.register(session, new_account("otto"))
    people.set_password(session, CONSOLE, made, PASSWORD_HASH)  # type: ignore[arg-type]  # a hash as it is stored
    people.end_sessions(session, CONSOLE, made)


@change("sessions.start", "sessions.note_seen", "sessions.end", "sessions.end_all", raises=NONE)
def _(session: Session, play: Play) -> None:
    nora = people.find_user(session, "nora")
    sessions.start(session, nora.id, present())
    own = session.scalars(sa.select(BrowserSession.id).where(BrowserSession.user_id == nora.id)).one()
    tokens.make_token(session, CONSOLE, nora, "a program", Scope, days=None, now=present())
    sessions.note_seen(session, own, present())
    sessions.end(session, own, present())
    sessions.end_all(session, nora.id, present())


@change("people.set_admin", raises=OF_ALL, at="/campaigns/harbour", who="eve")
def _(session: Session, play: Play) -> None:
    people.set_admin(session, CONSOLE, play.user(session, "eve"), is_admin=True)


@change("people.set_founder", raises=OF_ALL, at="/", who="ben")
def _(session: Session, play: Play) -> None:
    people.set_founder(session, CONSOLE, play.user(session, "ben"), may_found=True)


@change("closing.close_account", raises=OF_ALL, at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    closing.close_account(session, play.actor(session, "ben"), play.user(session, "ben"))


@change("merging.merge_teams", raises=OF_ALL, at=BOARD)
def _(session: Session, play: Play) -> None:
    merging.merge_teams(session, CONSOLE, play.team(session, "alpha"), play.team(session, "beta"))
