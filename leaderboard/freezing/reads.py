"""What of an evaluation can be frozen: which runs a visitor sees, whose files may be published, what is in the way."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import moments
from leaderboard.access import CONSOLE, VISITOR, Content, knows, may_see, subset_seen
from leaderboard.boards.reads.board import BoardPage, BoardQuery, board
from leaderboard.db import exists, missing
from leaderboard.errors import Conflict
from leaderboard.evaluations.models import Acceptance, Agreement, Evaluation
from leaderboard.evaluations.reads.evaluations import find_evaluation, form_fields
from leaderboard.evaluations.rules import FieldKind, Phase, Split, Subset, phase_of
from leaderboard.frozen import frozen
from leaderboard.judgments.models import Query
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.selection import SHOWN_STATE, with_current_scoring
from leaderboard.submissions.reads.status import awaits
from leaderboard.submissions.rules import State, run_file_name
from leaderboard.worker.models import Scoring

MOST_LISTS = 20_000  # ranked lists that a copy has as pages; of more it has none


@frozen
class Copy:
    """A frozen evaluation.

    address  of the evaluation on its site
    day      of the copy
    board    as a visitor sees it
    runs     all runs that visitors see, by number
    hidden   whether there are queries that visitors may not see: files of runs hold their lines, so none is published
    files    of the runs whose files may be published: (SHA-256, name)
    agreed   what teams agreed to for that, in words; "" where nothing was named
    """

    campaign: str
    evaluation: str
    address: str
    day: datetime
    board: BoardPage
    runs: frozenset[int]
    hidden: bool
    files: Mapping[int, tuple[str, str]]
    agreed: str

    @property
    def queries(self) -> int:
        return self.board.terms.queries if self.board.terms else 0

    @property
    def has_lists(self) -> bool:
        return self.board.details_open and len(self.files) * self.queries <= MOST_LISTS


def freezable(
    session: Session, site_url: str, path: Sequence[str], now: datetime, agreement: str | None, all_runs: bool
) -> Copy:
    """agreement: the key of what allows to publish a run's file: the last version of an agreement that its sender
    accepted, or a field of the form with the answer yes; all_runs: every file may be published

    Baselines are the organisers' own runs: their files always may. Raises NotFound for no such evaluation or agreement,
    and Conflict, which says why, where it can't be frozen yet.
    """
    campaign, slug = path
    evaluation = find_evaluation(session, CONSOLE, campaign, slug)
    if reason := _in_the_way(evaluation, now):
        raise Conflict(f"{evaluation.title} can't be frozen: {reason}")
    page = board(session, VISITOR, campaign, slug, now, BoardQuery(page=1))
    accepted: sa.ColumnElement[bool] = sa.literal(all_runs)
    agreed = {field.key: field.label for field in form_fields(evaluation) if field.kind is FieldKind.YES_NO}
    if agreement is not None and agreement not in agreed:
        own = Agreement.evaluation_id == evaluation.id
        last = sa.select(Agreement).where(own, Agreement.key == agreement).order_by(Agreement.version.desc()).limit(1)
        others = f" (yes-or-no fields: {', '.join(agreed) or 'none'})"
        stated = session.scalar(last) or missing(session, "agreement", agreement, Agreement.key, own, within=others)
        accounts = sa.select(Acceptance.user_id).where(Acceptance.agreement_id == stated.id)
        accepted, agreed[agreement] = Submission.submitter_id.in_(accounts), stated.title
    by_organisers = Submission.team_id == (evaluation.campaign.baseline_team_id or 0)
    columns = sa.select(Submission, Scoring, sa.or_(accepted, by_organisers))
    is_shown = Submission.evaluation_id == evaluation.id, SHOWN_STATE == State.SCORED
    rows = session.execute(with_current_scoring(columns).where(*is_shown).order_by(Scoring.finished_at)).all()
    subset = subset_seen(VISITOR, evaluation, now)
    if page.waiting or page.rescoring or (rows and awaits(session, rows[-1][1], State.SCORED, True, subset)):
        raise Conflict(f"{evaluation.title} can't be frozen: its runs are still being scored")
    own = Query.evaluation_id == evaluation.id
    hidden = subset is Subset.SHOWN and exists(session, own, Query.split == Split.HIDDEN)
    published = [run for run, _, may in rows if not hidden and (may or run.answers.get(agreement or "") is True)]
    files = {run.id: (run.sha256, run_file_name(run.id, run.filename)) for run in published}
    runs, address = frozenset(run.id for run, *_ in rows), f"{site_url}/campaigns/{campaign}/{slug}"
    return Copy(campaign, slug, address, now, page, runs, hidden, files, agreed.get(agreement or "", ""))


def _in_the_way(evaluation: Evaluation, now: datetime) -> str:
    """Why it can't be frozen: it has to be over, and visitors to see its results and whose they are."""
    if not knows(VISITOR, evaluation):
        return "visitors can't see it"
    if phase_of(evaluation, now) is not Phase.CLOSED:
        closes_at = evaluation.closes_at
        return f"it closes {moments.moment_in_words(closes_at)}" if closes_at else "it has no closing date"
    if not may_see(VISITOR, evaluation, Content.RESULTS, now):
        return "its results are not public"
    return "" if may_see(VISITOR, evaluation, Content.NAMES, now) else "names of teams are still hidden"
