"""Seeds: the campaigns that come with the product, loaded through the same services as any other campaign."""

import datetime as dt
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.campaigns.models import Campaign
from leaderboard.config import folder
from leaderboard.db import Database
from leaderboard.demo.loading import (
    Account,
    load_accounts,
    load_campaign,
    new_accounts,
    read_accounts,
    submit_runs,
    worked_examples,
)
from leaderboard.demo.simulation import SampleRun, SimulatedCampaign
from leaderboard.evaluations.models import Evaluation
from leaderboard.store import RunStore


@dataclass(frozen=True, slots=True)
class Seeded:
    """What `load` made or found. `submitted` counts the runs that it submitted."""

    accounts: tuple[Account, ...]
    sample: SampleRun
    submitted: int


def load(database: Database, store: RunStore, now: dt.datetime) -> Seeded:
    """Makes the worked examples, the simulated campaign and the accounts, as far as they are missing.

    Campaigns, queries, judgments and accounts come first, in one transaction; then run by run.
    """
    accounts = read_accounts(folder("seeds") / "accounts.toml")
    with database.read() as session:
        new = new_accounts(session, accounts)
    with database.write() as session:
        simulated = SimulatedCampaign(folder("seeds") / "harbour", _latest_year(session) or now.year, now)
        plans = (*worked_examples(), simulated.plan())
        for plan in plans:
            load_campaign(session, plan)
        load_accounts(session, accounts, new)
    submitted = sum(submit_runs(database, store, plan) for plan in plans)
    return Seeded(accounts, simulated.sample(), submitted)


def _latest_year(session: Session) -> int | None:
    """The newest year of the simulated campaign where it was loaded before, perhaps in an earlier year than this."""
    return session.scalar(
        sa.select(sa.func.max(Evaluation.period_key))
        .join(Campaign, Campaign.id == Evaluation.campaign_id)
        .where(Campaign.slug == SimulatedCampaign.SLUG)
    )
