"""What a change does at once, as counts: listed before it is kept, so that nobody re-scores or opens unawares.

To know it the change is made in `session`, and compared with what `committed` reads; it is undone unless confirmed.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, Content, open_to_all
from leaderboard.boards.reads.entries import Disclosure, column, load_entries
from leaderboard.boards.reads.ranking import Show, choose, ranks
from leaderboard.campaigns.models import CampaignTeam
from leaderboard.campaigns.rules import Visibility, is_known
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads import evaluations as reads
from leaderboard.evaluations.rules import TAKES_RUNS, FormField, Phase, ShownTo, closed_from, phase_of
from leaderboard.frozen import frozen
from leaderboard.numbers import counted
from leaderboard.submissions.models import Participation, Submission
from leaderboard.submissions.reads.selection import ITS_TEAMS_PART
from leaderboard.submissions.rules import SetState, State, SystemKind
from leaderboard.teams.models import System
from leaderboard.worker.models import Scoring, ScoringSet
from leaderboard.worker.reads import standing_set

READERS = Visibility.DRAFT, Visibility.PRIVATE, Visibility.PUBLIC  # from few to many
Places = dict[tuple[int, bool], tuple[int, int | None]]  # system, whether late -> the run that is shown, its rank


@frozen
class _State:
    """An evaluation before or after a change.

    readers   how many know of it: a place in READERS
    open      what all of them can read
    opening   the same once the grace is over that it is in
    knowing   the teams with runs in it that know of it, each with whether it is let into its campaign
    scored    how many of its runs have figures
    ranked_by what the order of its board depends on, beside figures
    """

    evaluation: Evaluation
    readers: int
    takes_runs: bool
    open: frozenset[str]
    opening: frozenset[str]
    knowing: dict[int, bool]
    scored: int
    ranked_by: tuple[Any, ...]
    fields: tuple[FormField, ...]


def effects(
    session: Session, committed: Session, actor: Actor, changed: sa.ColumnElement[bool], now: datetime
) -> tuple[str, ...]:
    """What the change does that nobody may do unawares, a line each; empty for nothing.

    changed  which evaluations it may be about
    """
    session.flush()
    own = sa.select(Evaluation).where(changed).order_by(Evaluation.id)
    stored = {row.id: _state(committed, row, now) for row in committed.scalars(own).all()}
    pairs = [(stored[row.id], _state(session, row, now)) for row in session.scalars(own).all() if row.id in stored]
    lines = [*_fixed(pairs)]
    gone = Submission.evaluation_id.in_(stored.keys() - {after.evaluation.id for _, after in pairs})
    if removed := committed.scalar(sa.select(sa.func.count(Submission.id)).where(gone)):
        lines.append(f"{counted(removed, 'test run is', 'test runs are')} removed for good.")
    scored_before, scored_again = _scored_again(committed, changed), _scored_again(session, changed)
    if runs := [scored_again[made] for made in scored_again.keys() - scored_before.keys()]:
        lines.append(
            f"{counted(sum(runs), 'run')} of {counted(len(runs), 'evaluation')} scored again; boards show the figures "
            "of before until all are."
        )
    if shut_out := {team for before, after in pairs for team in before.knowing.keys() - after.knowing.keys()}:
        lines.append(f"{counted(len(shut_out), 'team')} with runs can't see them any more.")
    let_in = {team for before, after in pairs for team, _ in after.knowing.items() - before.knowing.items()}
    if let_in and any(after.readers != before.readers for before, after in pairs):
        lines.append(f"{counted(len(let_in), 'team')} with runs let in.")
    for before, after in pairs:
        lines += _opened(session, before, after)
        if anew := before.scored - after.scored:
            lines.append(f"{counted(anew, 'test run is', 'test runs are')} scored again; present figures are deleted.")
        elif before.ranked_by != after.ranked_by:
            was, are = (
                _places(own, each.evaluation, actor, now) for own, each in ((committed, before), (session, after))
            )
            other_source = before.evaluation.official_source != after.evaluation.official_source
            lines += _moved(after.evaluation.title, was, are, always=other_source)
        if before.fields != after.fields:
            lines += _answers_shown(committed, before, after)
    return tuple(lines)


def _fixed(pairs: Sequence[tuple[_State, _State]]) -> Iterator[str]:
    """β of the campaigns of which the change publishes an evaluation, unless it was fixed before."""
    published = [pair for pair in pairs if pair[0].readers == 0 < pair[1].readers]
    for campaign in {now.evaluation.campaign for was, now in published if was.evaluation.campaign.locked_at is None}:
        if campaign.beta is not None:
            fixed = "from now on: it has scored runs", "with the first scored run of a published evaluation"
            yield f"β = {campaign.beta:.6g} of {campaign.title} is fixed for good {fixed[campaign.locked_at is None]}."


def entered_by(system_id: int) -> sa.ColumnElement[bool]:
    """The evaluations that a change of this system may be about."""
    return Evaluation.id.in_(sa.select(Submission.evaluation_id).where(Submission.system_id == system_id))


def _scored_again(session: Session, changed: sa.ColumnElement[bool]) -> dict[int, int]:
    """Each set that is being built for a board -> how many runs it scores."""
    rows = session.execute(
        sa.select(ScoringSet.id, sa.func.count(Scoring.id))
        .join(Evaluation, Evaluation.id == ScoringSet.evaluation_id)
        .join(Scoring, Scoring.scoring_set_id == ScoringSet.id)
        .where(changed, ScoringSet.state == SetState.BUILDING, ScoringSet.source == Evaluation.official_source)
        .group_by(ScoringSet.id)
    )
    return dict(rows.all())


def _state(session: Session, evaluation: Evaluation, now: datetime) -> _State:
    campaign = evaluation.campaign
    known_to = Visibility.DRAFT if evaluation.draft else campaign.visibility
    let_in = {*session.scalars(sa.select(CampaignTeam.team_id).where(CampaignTeam.campaign_id == campaign.id))}
    own = Submission.evaluation_id == evaluation.id
    participating = own, Submission.team_id.is_distinct_from(campaign.baseline_team_id)
    entered = set(session.scalars(sa.select(Submission.team_id).where(*participating)))
    current = standing_set(session, evaluation.id, evaluation.official_source)
    baselines = sa.select(System.id).where(System.kind == SystemKind.BASELINE, Submission.system_id == System.id, own)
    chosen = sa.select(
        Submission.id, Submission.chosen_at, Submission.withdrawn_at, Submission.ruling, Submission.holds_place,
        Participation.primary_submission_id,
    ).outerjoin(Participation, ITS_TEAMS_PART).where(own)  # fmt: skip
    scored = sa.select(sa.func.count(Scoring.submission_id.distinct())).join(Submission)
    after_grace = closed_from(evaluation) if phase_of(evaluation, now) is Phase.GRACE else None
    return _State(
        evaluation=evaluation,
        readers=READERS.index(known_to),
        takes_runs=phase_of(evaluation, now) in TAKES_RUNS,
        open=open_to_all(evaluation, now),
        opening=open_to_all(evaluation, after_grace or now),
        knowing={team: team in let_in for team in entered if is_known(known_to, let_in=team in let_in)},
        scored=session.scalar(scored.where(own, Scoring.state == State.SCORED)) or 0,
        ranked_by=(
            current and (current.id, current.primary_measure),
            campaign.run_choice,
            {*session.scalars(baselines)},
            {*session.execute(chosen)},
        ),
        fields=reads.form_fields(evaluation),
    )


def _opened(session: Session, before: _State, after: _State) -> Iterator[str]:
    """What closes or opens: for runs, and for readers."""
    evaluation = after.evaluation
    title, was_open, is_open = evaluation.title, *(each.takes_runs and each.readers > 0 for each in (before, after))
    if was_open and not after.takes_runs and after.readers:
        follows = "runs are late from now on" if evaluation.late_allowed else "it takes no runs any more"
        yield f"{title} closes at once: {follows}."
    hidden_names = frozenset() if "results" in after.opening else {"names"}  # there is no board that they stand on
    known_before = frozenset() if before.readers < after.readers else before.opening
    if opened := reads.of_what_there_is(session, evaluation, after.opening - known_before - hidden_names):
        private = evaluation.campaign.visibility is Visibility.PRIVATE
        whom = "members of the teams that are let in" if private else "everybody"
        when = "" if after.opening == after.open else " by the end of its grace"
        yield f"{title} opens to {whom}{when}, for good: {reads.revealed_in_words(opened)}."
    if is_open and not was_open:
        revealed = reads.of_what_there_is(session, evaluation, reads.REVEALING & before.open)
        revealed |= reads.once_revealed(session, evaluation)
        if revealed:
            yield f"{title} takes runs again, although these could be read: {reads.revealed_in_words(revealed)}."


def _places(session: Session, evaluation: Evaluation, actor: Actor, now: datetime) -> Places:
    current = standing_set(session, evaluation.id, evaluation.official_source)
    if not current:
        return {}
    by, disclosure = column(current.primary_measure), Disclosure(actor, evaluation, current, now)
    if not disclosure.sees(Content.RESULTS, own=False):
        return {}
    entries = choose(load_entries(session, [disclosure], [by.name]), Show(evaluation.campaign.run_choice.value), by)
    rank = ranks(entries, by)
    return {(run.system_id, run.late): (run.submission_id, rank.get(run.scoring_id)) for run in entries}


def _moved(title: str, before: Places, after: Places, *, always: bool) -> Iterator[str]:
    """How many systems stand otherwise. always: by another source, which has other figures too."""
    both, none = before.keys() | after.keys(), (0, None)
    other_runs, moved = (
        {key[0] for key in both if before.get(key, none)[part] != after.get(key, none)[part]} for part in (0, 1)
    )
    if other_runs or moved or (both and always):
        systems = counted(len({system for system, _ in both}), "system")
        yield f"{title}: {len(moved):,} of {systems} change rank; another run is shown for {len(other_runs):,}."


def _answers_shown(committed: Session, before: _State, after: _State) -> Iterator[str]:
    """The fields whose answers, or whose part of runs' own metadata, were for their team and the organisers only."""
    used = set[str]().union(*reads.fields_used(committed, before.evaluation))
    closed = {(field.key, field.header) for field in after.fields if field.shown_to is not ShownTo.EVERYONE}
    open_before, read = (
        {field.header for field in state.fields if field.shown_to is ShownTo.EVERYONE} for state in (before, after)
    )
    opened = [
        field.label
        for field in before.fields
        if field.shown_to is not ShownTo.EVERYONE and field.key in used
        if (field.key, field.header) not in closed or any(map(field.covers, read - open_before))
    ]
    if opened:
        yield f"{after.evaluation.title}: answers to {', '.join(opened)} are shown to more readers, for good."
