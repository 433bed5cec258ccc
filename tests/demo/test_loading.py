"""Loading the seeds: through the services, and as often as one likes."""

import datetime as dt

import pytest
import sqlalchemy as sa

from leaderboard.accounts.models import User
from leaderboard.accounts.writes import authenticate
from leaderboard.audit.verify import verify
from leaderboard.audit.writes import present
from leaderboard.campaigns.models import Campaign
from leaderboard.config import folder
from leaderboard.db import Base, Database
from leaderboard.demo import campaigns as seeding
from leaderboard.demo.campaigns import read_accounts
from leaderboard.evaluations.models import Evaluation
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import State
from leaderboard.worker.models import Scoring
from tests.demo.conftest import Installation


def _rows(database: Database) -> dict[str, int]:
    with database.read() as session:
        return {
            table.name: session.scalar(sa.select(sa.func.count()).select_from(table)) or 0
            for table in Base.metadata.sorted_tables
        }


def test_every_run_is_scored_but_the_damaged_one(installation: Installation) -> None:
    with installation.database.read() as session:
        runs = sa.func.count(sa.distinct(Scoring.submission_id))  # some are also scored by other judgments
        states = dict(session.execute(sa.select(Scoring.state, runs).group_by(Scoring.state)).all())
    assert states == {State.SCORED: len(installation.planned) - 1, State.REJECTED: 1}


def test_verification_finds_what_was_loaded_and_scored_in_order(installation: Installation) -> None:
    with installation.database.read() as session:
        report = verify(session)
        scored = session.scalar(sa.select(sa.func.count()).where(Scoring.state == State.SCORED))
    assert report.differences == []
    assert report.runs == scored  # runs of two evaluations by two revisions each


@pytest.mark.parametrize("later", [dt.timedelta(), dt.timedelta(days=400)])
def test_loading_again_changes_nothing(installation: Installation, later: dt.timedelta) -> None:
    before = _rows(installation.database)
    again = seeding.load(installation.database, installation.store, installation.loaded + later)
    assert again.sample.text == installation.sample
    assert _rows(installation.database) == before


def test_loading_that_was_cut_off_is_finished_by_the_next(installation: Installation) -> None:
    there = sa.select(Campaign.slug, Evaluation.slug, Submission.label)
    with installation.database.read() as session:
        found = session.execute(there.select_from(Submission).join(Evaluation).join(Campaign)).all()
    assert 0 < installation.before < len(installation.planned)
    assert sorted(map(tuple, found)) == sorted(installation.planned)


def test_each_account_of_the_demonstration_can_sign_in(installation: Installation) -> None:
    accounts = read_accounts(folder("seeds") / "accounts.toml")
    assert len(accounts) == 3
    for account in accounts:
        user: User = authenticate(installation.database, account.name, account.password, "127.0.0.1", present())
        assert (user.name, user.is_admin) == (account.name, account.is_admin)
        assert user.may_found == (account.name == "organiser")


def test_only_the_newest_year_takes_runs(installation: Installation) -> None:
    with installation.database.read() as session:
        closing = {one.slug: one.closes_at for one in session.scalars(sa.select(Evaluation)) if not one.draft}
    taking_runs = {slug for slug, closes_at in closing.items() if closes_at is None or closes_at > installation.loaded}
    assert taking_runs == {f"{installation.latest}-text", f"{installation.latest}-speech"}
