"""What a list of the collection's documents would rule out, told before it is taken: runs with others are refused."""

from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.audit.rules import digest
from leaderboard.errors import LeaderboardError
from leaderboard.evaluations.models import Evaluation
from leaderboard.formats import DocumentList
from leaderboard.formats.plain_text import shown
from leaderboard.judgments.models import Judgment, Query
from leaderboard.numbers import counted
from leaderboard.store import RunStore
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.selection import on_boards
from leaderboard.submissions.rules import State
from leaderboard.worker.models import Scoring
from leaderboard.worker.reads import current_set, newest_revision

RUNS, LISTS = 20, 10  # how many runs are looked at, the newest, and how many lists of each: somebody waits


@dataclass(frozen=True, slots=True)
class ListedDocuments:
    """A list of documents, held against what is known of the collection.

    listed     how many documents it has
    documents  N_total; None where it is not given
    judged     documents that are judged; unlisted: how many of them are not in the list; example: one of these
    runs       scored runs that were looked at; strange: how many of them name others, as far as was looked; named: one
    """

    sha256: str
    listed: int
    documents: int | None
    judged: int
    unlisted: int
    example: str
    runs: int
    strange: int
    named: str

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why it is most likely not the collection's list, in words."""
        doubts = []
        if self.documents is not None and self.documents != self.listed:
            has = f"the collection has {counted(self.documents, 'document')} (N_total)"
            doubts.append(f"The list has {counted(self.listed, 'document')}, and {has}.")
        if self.unlisted:
            of_all = f"{self.unlisted:,} of {counted(self.judged, 'judged document')}"
            doubts.append(f"{of_all} {_are(self.unlisted)} not in the list, such as {self.example}.")
        if self.strange:
            of_all = f"{self.strange:,} of the {counted(self.runs, 'newest scored run')}"
            verb = "names" if self.strange == 1 else "name"
            doubts.append(f"{of_all} {verb} documents that are not in the list, such as {self.named}.")
        return tuple(doubts)

    @property
    def in_words(self) -> str:
        """What the list holds, where nothing is doubtful."""
        held = [f"The collection has {counted(self.listed, 'document')}"]
        if self.judged:
            held.append(f"all {counted(self.judged, 'judged document')} among them")
        return f"{', '.join(held)}."

    @property
    def seen(self) -> str:
        """Of all of this: a form brings it along, so that nobody says yes to something else."""
        return digest([self.sha256, *self.doubts])[:16]


def listed_documents(session: Session, store: RunStore, evaluation: Evaluation, given: DocumentList) -> ListedDocuments:
    """Holds a list against N_total, the newest official judgments, and the newest scored runs.

    Of these are looked at up to 20, and up to 10 queries of each; one whose copy can't be read is left out.
    """
    revision = newest_revision(session, evaluation, evaluation.official_source)
    judged: list[str] = []
    if revision is not None:
        documents = sa.select(Judgment.document).where(Judgment.revision_id == revision.id).distinct()
        judged = sorted(session.scalars(documents))
    unlisted = given.lacks(judged)
    looked, strange = _of_runs(session, store, evaluation, given)
    return ListedDocuments(
        sha256=given.sha256,
        listed=given.count,
        documents=evaluation.documents,
        judged=len(judged),
        unlisted=len(unlisted),
        example=shown(unlisted[0]) if unlisted else "",
        runs=looked,
        strange=len(strange),
        named=shown(strange[0]) if strange else "",
    )


def _of_runs(session: Session, store: RunStore, evaluation: Evaluation, given: DocumentList) -> tuple[int, list[str]]:
    """How many runs could be looked at, and of each that names a document that is not in the list the first one."""
    current = current_set(session, evaluation.id)
    if current is None:
        return 0, []
    runs = session.scalars(
        sa.select(Submission.id)
        .join(Scoring, Scoring.submission_id == Submission.id)
        .where(Scoring.scoring_set_id == current.id, Scoring.state == State.SCORED, on_boards())
        .order_by(Submission.id.desc())
        .limit(RUNS)
    ).all()
    own = Query.evaluation_id == evaluation.id
    places = session.scalars(sa.select(Query.position).where(own).order_by(Query.position).limit(LISTS)).all()
    looked, strange = 0, []
    for run in runs:
        documents: list[str] = []
        try:
            for place in places:
                documents += store.ranked_list(run, current.settings.compat, place).documents
        except LeaderboardError:  # its copy is damaged or missing, which is noted there
            continue
        looked += 1
        strange += given.lacks(documents)[:1]
    return looked, strange


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
