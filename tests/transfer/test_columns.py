"""Every column of the database is exported and imported, or left out for a reason that stands here."""

from collections.abc import Mapping

from leaderboard.campaigns.models import Campaign
from leaderboard.db import Base, load_tables
from leaderboard.evaluations.models import Agreement, CollectionList, Evaluation
from leaderboard.judgments.models import Judgment, JudgmentRevision, KnownDocument, Query, SubtopicJudgment
from leaderboard.submissions.models import Submission
from leaderboard.teams.models import System, Team
from leaderboard.transfer.manifest import CampaignEntry, EvaluationEntry, RunEntry, SystemEntry, TeamEntry

IN_RECORDS = {
    Campaign: CampaignEntry,
    Evaluation: EvaluationEntry,
    Team: TeamEntry,
    System: SystemEntry,
    Submission: RunEntry,
}

# Columns that stand in a manifest in a form of their own, or in the files beside it.
WRITTEN: Mapping[type[Base], frozenset[str]] = {
    Evaluation: frozenset({"form_fields", "file_rules"}),
    Query: frozenset(
        {"external_id", "text", "description", "tags", "position", "split", "excluded_at", "excluded_because"}
    ),
    JudgmentRevision: frozenset(
        {"number", "source", "sha256", "judgments", "highest_grade", "note", "released_at", "imported_at"}
    ),
    Judgment: frozenset({"document", "grade"}),
    KnownDocument: frozenset({"document"}),
    SubtopicJudgment: frozenset({"subtopic", "document", "grade"}),
    Agreement: frozenset({"key", "version", "title", "text"}),
    CollectionList: frozenset({"packed"}),
    Submission: frozenset({"filename", "sha256", "md5", "text_sha256", "size", "text_size"}),
}

ROW = "says which rows belong together, by numbers of this installation"
HERE = "when it came into this installation"
PERSON = "an account of this installation"
FROM_NAME = "made from the name"
MERGED = "what was merged into another has no runs of its own any more"
ANEW = "found anew when the file is read"
LEFT_OUT: Mapping[type[Base], Mapping[str, str]] = {
    Campaign: {
        "id": ROW,
        "created_at": HERE,
        "locked_at": "the first result locks it anew",
        "baseline_team_id": ROW,
        "archived_at": "what is brought in can be worked on; its organisers archive it again",
    },
    Evaluation: {"id": ROW, "campaign_id": ROW, "created_at": HERE},
    Query: {"id": ROW, "evaluation_id": ROW},
    JudgmentRevision: dict.fromkeys(("id", "evaluation_id"), ROW) | {"finished_at": HERE, "imported_by_id": PERSON},
    Judgment: dict.fromkeys(("revision_id", "query_id"), ROW),
    KnownDocument: dict.fromkeys(("revision_id", "query_id"), ROW),
    SubtopicJudgment: dict.fromkeys(("revision_id", "query_id"), ROW),
    Agreement: {"id": ROW, "evaluation_id": ROW, "created_at": HERE, "ended_at": HERE},
    CollectionList: {"evaluation_id": ROW},
    Team: {
        "id": ROW,
        "created_at": HERE,
        "merged_into_id": MERGED,
        "is_listed": "whether people may ask to join: nobody is in it who could answer",
    },
    System: {"id": ROW, "team_id": ROW, "name_key": FROM_NAME, "created_at": HERE, "merged_into_id": MERGED},
    Submission: dict.fromkeys(("id", "evaluation_id", "team_id", "system_id"), ROW)
    | dict.fromkeys(("submitter_id", "imported_by_id", "withdrawn_by_id", "ruled_by_id"), PERSON)
    | {
        "begun_at": "of an upload to this installation",
        "sending_key": "of an upload to this installation",
        "imported_at": HERE,
        "charged": "no quota is counted for what is brought in",
        "problems": ANEW,
        "problem_count": ANEW,
    },
}

# Tables of which nothing is in an export.
NOT_OF_A_CAMPAIGN: Mapping[str, str] = (
    dict.fromkeys(
        ("user", "session", "attempt", "membership", "invitation", "join_request", "identity", "api_token", "mail",
         "mail_link", "campaign_organiser", "campaign_team", "acceptance", "personal_use", "arrival"),
        "people: accounts, who is in what and what they do just now are personal, and of one installation",
    )
    | dict.fromkeys(("event", "chain"), "the trail says what happened here")
    | dict.fromkeys(
        ("scoring_set", "scoring", "score", "curve", "standing", "board", "team_finds", "participation"),
        "replayed and computed again",
    )
    | {"pseudonym": "random; what systems are called here while names are hidden"}
    | {"generation": "which pages are out of date here", "former_address": "where links of this installation led"}
    | {"board_generation": "which boards are out of date here"}
    | {"site": "of this installation too"}
    | {"installation": "of this installation, as its name says"}
    | {"worker_seen": "which workers this installation has just now"}
    | {"team_name": "what teams were called in this installation; names of teams are taken anew"}
)  # fmt: skip


def test_every_column_is_exported_and_imported_or_left_out_with_a_reason() -> None:
    """A new column or table gets its line here, and a setting is there by itself."""
    load_tables()
    told = {
        model.__tablename__: {
            *(set(IN_RECORDS[model].model_fields if model in IN_RECORDS else ()) & set(model.__table__.columns.keys())),
            *WRITTEN.get(model, ()),
            *LEFT_OUT.get(model, ()),
        }
        for model in {*IN_RECORDS, *WRITTEN, *LEFT_OUT}
    }
    told |= {name: set(Base.metadata.tables[name].columns.keys()) for name in NOT_OF_A_CAMPAIGN}
    stored = {name: set(table.columns.keys()) for name, table in Base.metadata.tables.items()}
    assert told == stored
