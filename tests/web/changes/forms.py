"""What changes about runs that wait for a yes, and about what organisers ask beside a run."""

from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE
from leaderboard.evaluations import writes as submission_forms
from leaderboard.evaluations.rules import FormField
from tests.web.changes.listing import Changes
from tests.web.play import Play

change = Changes()


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
