"""Whether judgments give the hash of their revision, and settings that of their scoring set."""

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.models import Judgment, JudgmentRevision, KnownDocument, Query, ScoringSet, SubtopicJudgment
from leaderboard.rules.revision_hash import judgments_sha256
from leaderboard.services.verification.report import Report, thing_in_words

__all__ = ["check_revisions", "check_sets"]


def check_revisions(session: Session, report: Report) -> None:
    """Computes the hash of every judgment revision anew."""
    for revision in session.scalars(sa.select(JudgmentRevision).order_by(JudgmentRevision.id)):
        report.revisions += 1
        judged = session.execute(
            sa.select(Query.external_id, Judgment.document, Judgment.grade)
            .join(Query, Query.id == Judgment.query_id)
            .where(Judgment.revision_id == revision.id)
        )
        known = session.execute(
            sa.select(Query.external_id, KnownDocument.document)
            .join(Query, Query.id == KnownDocument.query_id)
            .where(KnownDocument.revision_id == revision.id)
        )
        subtopics = session.execute(
            sa.select(Query.external_id, SubtopicJudgment.subtopic, SubtopicJudgment.document, SubtopicJudgment.grade)
            .join(Query, Query.id == SubtopicJudgment.query_id)
            .where(SubtopicJudgment.revision_id == revision.id)
        )
        computed = judgments_sha256(judged, known, subtopics)
        if computed != revision.sha256:
            where = thing_in_words(session, f"revisions {revision.evaluation_id}")
            report.add(where, f"judgments of revision {revision.number}", computed, revision.sha256)


def check_sets(session: Session, report: Report) -> None:
    """Computes the hash of every scoring set's settings anew."""
    for made in session.scalars(sa.select(ScoringSet).order_by(ScoringSet.id)):
        if made.settings.hash != made.settings_hash:
            where = thing_in_words(session, f"scoring sets {made.evaluation_id}")
            report.add(where, f"settings of set {made.id}", made.settings.hash, made.settings_hash)
