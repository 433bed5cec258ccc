"""Score receipts: everything that a run's figures follow from, and the command that computes them again."""

import datetime as dt
from dataclasses import dataclass

from sqlalchemy.orm import Session

from leaderboard.access import Actor, Sight, may_see
from leaderboard.reads.headings import queries_of_subset, terms
from leaderboard.reads.submissions import find_scored
from leaderboard.rules.reproduction import JUDGMENTS, KNOWN, QUERIES, SUBTOPICS, score_command, takes_highest_grade
from leaderboard.rules.settings import Judging, NoRelevant, Subset

__all__ = ["Receipt", "receipt"]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a scored run's figures follow from, as far as the reader may know it.

    sha256, md5            of the file as received; empty for readers to whom the run's team is not named: a team that
                           gives its hashes elsewhere would be known by them
    filename               as it was sent; empty for readers outside the team
    revision               the number of the judgments' revision
    judgments_sha256       its hash, and settings_sha256 that of the scoring set's settings: both depend on judgments
                           and hidden queries, and are None for readers to whom these are closed
    judgments_published    whether the reader may fetch the judgments, whose page has the hash of the file too
    queries                whether the reader's figures are over all queries or over the shown ones
    command                for a shell; "" where the reader could not run it or would not get the figures that they see,
                           and `no_command` says why then
    needs                  the files that the command names beside the run
    """

    submission: int
    sha256: str
    md5: str
    filename: str
    scored_at: dt.datetime | None
    metric_version: str
    revision: int
    judgments_sha256: str | None
    judgments_published: bool
    settings_sha256: str | None
    queries: Subset
    beta: float | None
    no_relevant: NoRelevant
    compat: int
    relevance_level: int
    judging: Judging
    documents: int | None
    threshold: float | None
    command: str
    no_command: str
    needs: tuple[str, ...]


def receipt(session: Session, actor: Actor, submission_id: int, now: dt.datetime) -> Receipt:
    """Raises NotFound for no such run, for one that is not scored, and for one that the reader may not know of;
    NotAllowed where its results are not open.
    """
    scored = find_scored(session, actor, submission_id, now)
    run, scoring, scoring_set, subset = scored.run, scored.scoring, scored.scoring_set, scored.subset
    evaluation = run.evaluation
    settings = terms(session, actor, evaluation, scoring_set, now, run.team_id).settings
    inside = actor.answers_for(run.team_id, evaluation.campaign_id)
    from_judgments = any(map(takes_highest_grade, settings.scored))
    command = no_command = ""
    if not scored.details:
        no_command = (
            "The command that computes these figures again stands here once single queries are open: until then the "
            "figures are rounded and the judgments closed."
        )
    elif from_judgments and subset is Subset.SHOWN:
        no_command = "A measure takes the highest grade of all judgments, those of hidden queries too."
    else:
        known = queries_of_subset(session, scoring_set, subset, texts=False)
        in_set = [query.external_id for query in known if query.position < settings.queries]
        counted = set(settings.counted(in_set, subset))
        excluded = [query.external_id for query in known if query.external_id not in counted]
        highest = settings.highest_grade if from_judgments else None
        command = score_command(settings, run.filename if inside else "RUN", run.threshold, excluded, highest)
    whole = scored.details and subset is Subset.ALL
    return Receipt(
        submission=run.id,
        sha256=run.sha256 if scored.named else "",
        md5=run.md5 if scored.named else "",
        filename=run.filename if inside else "",
        scored_at=scoring.finished_at,
        metric_version=scoring_set.metric_version,
        revision=scoring_set.revision.number,
        judgments_sha256=scoring_set.revision.sha256 if whole else None,
        judgments_published=may_see(actor, evaluation, Sight.JUDGMENTS, now),
        settings_sha256=scoring_set.settings_hash if whole else None,
        queries=subset,
        beta=settings.beta,
        no_relevant=settings.no_relevant,
        compat=settings.compat,
        relevance_level=settings.relevance_level,
        judging=settings.judging,
        documents=settings.documents,
        threshold=run.threshold,
        command=command,
        no_command=no_command,
        needs=(
            JUDGMENTS,
            *([QUERIES] if settings.judging is Judging.COMPLETE else []),
            *([KNOWN] if settings.known else []),
            *([SUBTOPICS] if settings.subtopics else []),
        )
        if command
        else (),
    )
