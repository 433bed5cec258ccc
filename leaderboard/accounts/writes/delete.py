"""Closing an account: who it was is removed, and what was submitted with it stays under the names of its teams."""

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, require
from leaderboard.accounts.models import ApiToken, BrowserSession, Identity, User
from leaderboard.audit.writes import record
from leaderboard.campaigns.models import Campaign, CampaignOrganiser
from leaderboard.errors import Conflict
from leaderboard.locking import locked
from leaderboard.mail.models import Mail, MailLink
from leaderboard.mail.rules import MailKind
from leaderboard.mail.writes import outbox
from leaderboard.teams.models import JoinRequest, Membership, Team
from leaderboard.teams.reads.find import only_organiser_of, only_owner_of
from leaderboard.teams.rules import closed_account
from leaderboard.teams.writes.join_requests import end_requests

# What belongs to the account alone, and goes with it.
ITS_OWN = (ApiToken, BrowserSession, Identity, JoinRequest, Mail, MailLink)


def close_account(session: Session, actor: Actor, user: User) -> None:
    """Nobody can sign in with it any more. Its name, address, sessions, tokens and identities are removed.

    It leaves its teams and campaigns. Runs stay under the team's name, and the audit trail as it is, which knows an
    account by its number. Raises Conflict that names the teams and campaigns which somebody else has to take over.
    """
    require(actor.all_powerful or actor.user_id == user.id, "You can only close your own account.")
    teams = sa.select(Membership.team_id).where(Membership.user_id == user.id)
    organised = sa.select(CampaignOrganiser.campaign_id).where(CampaignOrganiser.user_id == user.id)
    # Locked in one order: two owners who close their accounts at the same moment would leave the team without one.
    left = [locked(session, Team, team_id) for team_id in session.scalars(teams.order_by(Membership.team_id)).all()]
    handed = [
        locked(session, Campaign, campaign_id)
        for campaign_id in session.scalars(organised.order_by(CampaignOrganiser.campaign_id)).all()
    ]
    user = locked(session, User, user.id)
    needed = [*only_owner_of(session, user.id), *only_organiser_of(session, user.id)]
    if needed:
        raise Conflict(f"Somebody else has to own or organise first: {', '.join(needed)}.")
    for team in left:
        session.execute(sa.delete(Membership).where(Membership.team_id == team.id, Membership.user_id == user.id))
        record(session, actor, "leave", team, user=user.id)
        end_requests(session, actor, team)
    for campaign in handed:
        of_campaign = CampaignOrganiser.campaign_id == campaign.id
        session.execute(sa.delete(CampaignOrganiser).where(of_campaign, CampaignOrganiser.user_id == user.id))
        record(session, actor, "remove organiser", campaign, user=user.id)
    address = user.email
    for table in ITS_OWN:
        session.execute(sa.delete(table).where(table.user_id == user.id))
    if address is not None:  # asked for without an account, by the address alone
        session.execute(sa.delete(Mail).where(Mail.id.in_(outbox.resets_to(session, address))))
    session.refresh(user)
    user.name = user.name_key = closed_account(user.id)  # with blanks, so that it is no name's key
    user.email = user.email_key = user.unconfirmed_email = user.password_hash = user.last_login_at = None
    user.is_active = user.is_admin = user.may_found = False
    if address is not None:
        outbox.put(session, MailKind.CLOSED, user.id, address)
    record(session, actor, "close", user)
