"""What pages and services both look up: rows by the names of addresses, current sets, scored runs, quotas, events."""

from leaderboard.lookup.absent import missing
from leaderboard.lookup.events import StoredEvent, stored_events
from leaderboard.lookup.forms import collection_list, file_rules, form_fields, standing_agreements
from leaderboard.lookup.places import (
    find_campaign,
    find_evaluation,
    find_evaluation_and_set,
    find_query,
    of_subset,
    removal_refusal,
)
from leaderboard.lookup.quotas import personal_quota, team_quotas
from leaderboard.lookup.runs import (
    IS_STANDING,
    has_its_place,
    lost_in,
    on_boards,
    scored_runs,
    select_scored_runs,
    with_current_scoring,
)
from leaderboard.lookup.sets import (
    IS_CURRENT,
    current_set,
    current_sets,
    find_set,
    newest_revision,
    note_current_set,
    standing_set,
)
from leaderboard.lookup.teams import (
    find_known_team,
    find_own_team,
    find_system,
    find_team,
    known_system,
    known_team,
    merged_system,
    merged_team,
    namesakes,
    only_organiser_of,
    only_owner_of,
)

__all__ = [
    "IS_CURRENT",
    "IS_STANDING",
    "StoredEvent",
    "collection_list",
    "current_set",
    "current_sets",
    "file_rules",
    "find_campaign",
    "find_evaluation",
    "find_evaluation_and_set",
    "find_known_team",
    "find_own_team",
    "find_query",
    "find_set",
    "find_system",
    "find_team",
    "form_fields",
    "has_its_place",
    "known_system",
    "known_team",
    "lost_in",
    "merged_system",
    "merged_team",
    "missing",
    "namesakes",
    "newest_revision",
    "note_current_set",
    "of_subset",
    "on_boards",
    "only_organiser_of",
    "only_owner_of",
    "personal_quota",
    "removal_refusal",
    "scored_runs",
    "select_scored_runs",
    "standing_agreements",
    "standing_set",
    "stored_events",
    "team_quotas",
    "with_current_scoring",
]
