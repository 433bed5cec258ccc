"""What organisers change about campaigns, evaluations and queries."""

from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE
from leaderboard.campaigns import writes as campaigns
from leaderboard.campaigns.rules import Visibility
from leaderboard.evaluations import writes as cloning
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations import writes as removing
from leaderboard.evaluations.rules import Split
from leaderboard.formats import QueryRow
from leaderboard.judgments import writes as queries
from tests.web.changes.listing import BOARD, Changes
from tests.web.play import Play

change = Changes()


@change("campaigns.change_campaign", at="/campaigns/harbour")
def _(session: Session, play: Play) -> None:
    campaigns.change_campaign(session, CONSOLE, play.campaign(session), title="Haven")


@change("evaluations.change_evaluation", at=BOARD)
def _(session: Session, play: Play) -> None:
    evaluations.change_evaluation(session, CONSOLE, play.evaluation(session), title="Haven 2025")


@change("evaluations.create_evaluation", at="/campaigns/harbour")
def _(session: Session, play: Play) -> None:
    evaluations.create_evaluation(session, CONSOLE, play.campaign(session), "2026", "Haven 2026", "2026")


@change("judgments.import_queries", at="/campaigns/harbour/2026/queries")
def _(session: Session, play: Play) -> None:
    rows = [QueryRow("q1", "of the next year", ()), QueryRow("q2", "another", ())]
    queries.import_queries(session, CONSOLE, play.evaluation(session, "2026"), rows)


@change("judgments.set_split", at="/campaigns/harbour/2026/queries")
def _(session: Session, play: Play) -> None:
    queries.set_split(session, CONSOLE, play.evaluation(session, "2026"), ["q2"], Split.HIDDEN)


@change("evaluations.clone_evaluation", at="/campaigns/harbour")
def _(session: Session, play: Play) -> None:
    source = play.evaluation(session, "2026")
    cloning.clone_evaluation(session, CONSOLE, source, with_queries=True, draft=False)


@change("judgments.remove_queries", at="/campaigns/harbour/2027/queries")
def _(session: Session, play: Play) -> None:
    queries.remove_queries(session, CONSOLE, play.evaluation(session, "2027"), ["q1"])


@change("evaluations.remove_evaluation", at="/campaigns/harbour")
def _(session: Session, play: Play) -> None:
    removing.remove_evaluation(session, CONSOLE, play.evaluation(session, "2027"))


@change("judgments.exclude_queries", at=f"{BOARD}/queries")
def _(session: Session, play: Play) -> None:
    queries.exclude_queries(session, CONSOLE, play.evaluation(session), ["q3"], "nobody judged it")


@change("judgments.include_queries", at=f"{BOARD}/queries")
def _(session: Session, play: Play) -> None:
    queries.include_queries(session, CONSOLE, play.evaluation(session), ["q3"])


@change("campaigns.create_campaign", raises="its own", at="/")
def _(session: Session, play: Play) -> None:
    campaigns.create_campaign(session, CONSOLE, "quay", "The quay", measures=["AP"], primary_measure="AP")


@change("evaluations.remove_campaign", raises="its own", at="/")
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
