"""What changes about runs that wait for a yes, and about what organisers ask beside a run."""

from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE
from leaderboard.audit.writes import present
from leaderboard.evaluations import writes as submission_forms
from leaderboard.evaluations.rules import FormField
from leaderboard.submissions.writes import pending as staging
from leaderboard.submissions.writes.pending import SentRun
from tests.support.world import details
from tests.web.changes.listing import ALPHA, NONE, Changes
from tests.web.play import Play

change = Changes()


@change("pending.stage", "pending.take_back", "pending.discard", "pending.sweep_pending", raises=NONE)
def _(session: Session, play: Play) -> None:
    _stage(session, play)
    ada, evaluation, waiting = play.actor(session, "ada"), play.evaluation(session), _stage(session, play)
    staging.take_back(session, ada, evaluation, waiting, present())
    staging.discard(session, ada, evaluation, waiting, present())
    staging.sweep_pending(session, present())


@change("pending.confirm", at=ALPHA, who="ada")
def _(session: Session, play: Play) -> None:
    waiting = _stage(session, play)
    staging.confirm(session, play.actor(session, "ada"), play.evaluation(session), waiting, present())


def _stage(session: Session, play: Play) -> int:
    actor, evaluation, now = play.actor(session, "ada"), play.evaluation(session), present()
    play.runs.append(0)  # so that each file is another one
    return staging.stage(
        session, actor, evaluation, SentRun(play.team(session).id, play.world.system.id, play.upload(), details()),
        begun_at=now, received_at=now, place=None, now=now,
    ).id  # fmt: skip


@change("evaluations.set_field", "evaluations.remove_field")
def _(session: Session, play: Play) -> None:
    evaluation = play.evaluation(session)
    submission_forms.set_field(session, CONSOLE, evaluation, FormField(key="model", label="Model"))
    submission_forms.remove_field(session, CONSOLE, evaluation, "model")


@change("evaluations.state_agreement", "evaluations.end_agreement")
def _(session: Session, play: Play) -> None:
    evaluation = play.evaluation(session)
    submission_forms.state_agreement(session, CONSOLE, evaluation, "terms", "Terms", "Be fair.")
    submission_forms.end_agreement(session, CONSOLE, evaluation, "terms")


@change("evaluations.set_rules", "evaluations.set_documents", "evaluations.copy_form")
def _(session: Session, play: Play) -> None:
    evaluation = play.evaluation(session)
    submission_forms.set_rules(session, CONSOLE, evaluation, every_query=True)
    submission_forms.set_documents(session, CONSOLE, evaluation, None)
    submission_forms.copy_form(session, CONSOLE, evaluation, play.evaluation(session, "2026"))
