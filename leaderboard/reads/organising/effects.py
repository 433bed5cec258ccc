"""What a change of a campaign does at once, told before it is made, so that somebody says yes to just that.

To know it the change is made, and undone where nobody said yes: `noted` before it, `effects` after it.
"""

import datetime as dt
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, open_to_all
from leaderboard.lookup import REVEALING, current_sets, form_fields, of_what_there_is, once_revealed, teams_with_runs
from leaderboard.models import Campaign, CampaignTeam, Evaluation, ScoringSet, Submission
from leaderboard.numbers import counted, first_of
from leaderboard.reads.organising.answers import shown_otherwise
from leaderboard.reads.organising.other_ranks import another_choice, another_source
from leaderboard.reads.organising.rescoring import in_words, scored_again
from leaderboard.reads.organising.rooms import organised_campaign
from leaderboard.rules.form_fields import FormField
from leaderboard.rules.phases import Phase, closed_from, phase_of
from leaderboard.rules.standings import RunChoice
from leaderboard.rules.visibility import Visibility, is_known

__all__ = ["TAKES_RUNS", "Noted", "effects", "noted", "revealed_in_words"]

IN_WORDS = {
    "results": "the board",
    "details": "results by query, which reveal judgments",
    "judgments": "the judgments themselves",
    "hidden_queries": "the hidden queries",
    "texts": "texts and tags of queries",
    "names": "names of teams and systems",
}
MOST_NAMED = 20  # of teams; their number is told always
READ = "What somebody has read can't be taken back."
READERS = Visibility.DRAFT, Visibility.PRIVATE, Visibility.PUBLIC  # from few to many
TAKES_RUNS = Phase.UPCOMING, Phase.OPEN  # those that are ranked, now or later


@dataclass(frozen=True, slots=True)
class _Board:
    """The current set, and the measure by which it ranks."""

    set_id: int
    measure: str


@dataclass(frozen=True, slots=True)
class _Stood:
    """An evaluation before a change.

    known_to     as of its campaign, or nobody but its organisers where it is a draft itself
    open_to_all  as `access` says
    """

    known_to: Visibility
    phase: Phase
    open_to_all: frozenset[str]
    closes_at: dt.datetime | None
    closed_from: dt.datetime | None
    source: str
    fields: tuple[FormField, ...]
    board: _Board | None


@dataclass(frozen=True, slots=True)
class Noted:
    """A campaign before a change.

    scored       what `scored_again` gave
    let_in       ids of the teams that know of it while it is private
    evaluations  by their ids
    """

    scored: Mapping[int, int]
    visibility: Visibility
    run_choice: RunChoice
    primary_measure: str
    let_in: frozenset[int]
    evaluations: Mapping[int, _Stood]


def noted(session: Session, actor: Actor, campaign_slug: str, now: dt.datetime) -> Noted:
    """What `effects` compares with. Raises NotFound for whoever does not organise the campaign."""
    campaign = organised_campaign(session, actor, campaign_slug)
    return Noted(
        scored_again(session, actor, campaign_slug, now),
        campaign.visibility,
        campaign.run_choice,
        campaign.primary_measure,
        _let_in(session, campaign),
        {one.id: _stood(one, found, now) for one, found in _with_sets(session, campaign)},
    )


def effects(session: Session, actor: Actor, campaign_slug: str, before: Noted, now: dt.datetime) -> tuple[str, ...]:
    """What the change that the session made does that nobody may do unawares, a sentence each; empty for nothing."""
    session.flush()
    campaign = organised_campaign(session, actor, campaign_slug)
    let_in = _let_in(session, campaign)
    found = [
        *_scored_again(before, scored_again(session, actor, campaign_slug, now), campaign.primary_measure),
        *_shut_out(session, campaign, before, let_in),
    ]
    for one, current in _with_sets(session, campaign):
        if (was := before.evaluations.get(one.id)) is None:
            continue
        stood = _stood(one, current, now)
        if READERS.index(was.known_to) < READERS.index(stood.known_to):
            found += _published(session, one, was, stood, before.let_in, let_in)
        elif stood.known_to is not Visibility.DRAFT:
            found += _opened(session, one, was, stood)
        elif was.known_to is campaign.visibility is not Visibility.DRAFT:
            found += _made_a_draft(session, one, was, let_in)
        if (was.closes_at, was.closed_from) != (stood.closes_at, stood.closed_from):
            found += _late_runs(session, one, was, stood)
        found += shown_otherwise(session, one, was.fields, stood.fields)
        if was.source != stood.source:
            found += another_source(session, actor, one, was.source, now)
        elif current is not None and was.board is not None and was.board.set_id == current.id:
            found += another_choice(session, actor, one, current, before.run_choice, was.board.measure, now)
    return tuple(found)


def _scored_again(before: Noted, scored: Mapping[int, int], primary_measure: str) -> Iterator[str]:
    if words := in_words(before.scored, scored):
        ranks = "" if primary_measure == before.primary_measure else f", and rank by {primary_measure}"
        yield (
            f"With this, {words} again. Boards show the figures of before until all runs of an evaluation are, and "
            f"then switch at once{ranks}."
        )


def _let_in(session: Session, campaign: Campaign) -> frozenset[int]:
    return frozenset(session.scalars(sa.select(CampaignTeam.team_id).where(CampaignTeam.campaign_id == campaign.id)))


def _shut_out(session: Session, campaign: Campaign, before: Noted, let_in: Collection[int]) -> Iterator[str]:
    """Which teams with runs in a campaign know of it no longer, or only because they are let in with the change."""
    if campaign.visibility is before.visibility and let_in == before.let_in:
        return
    entered = teams_with_runs(session, campaign.id)
    knew = [one for one in entered if is_known(before.visibility, let_in=one.id in before.let_in)]
    out = [one.name for one in knew if not is_known(campaign.visibility, let_in=one.id in let_in)]
    stay = [one.name for one in knew if one.id in let_in and one.id not in before.let_in and one.name not in out]
    if stay:
        verb = "has runs in it is" if len(stay) == 1 else "have runs in it are"
        yield f"With this, {counted(len(stay), 'team')} that {verb} let in: {first_of(stay, MOST_NAMED)}."
    if out:
        yield _without(out, "it", "campaign")


def _without(teams: Sequence[str], entered: str, what: str) -> str:
    verb = "has" if len(teams) == 1 else "have"
    verbs = f"{verb} runs in {entered} {'is' if len(teams) == 1 else 'are'}"
    return (
        f"With this, {counted(len(teams), 'team')} that {verbs} shut out: {first_of(teams, MOST_NAMED)}. For their "
        f"members there is no such {what} any more, nor their own runs in it."
    )


def _made_a_draft(session: Session, evaluation: Evaluation, was: _Stood, let_in: Collection[int]) -> Iterator[str]:
    """Whose runs are absent in an evaluation that is a draft from now on."""
    entered = teams_with_runs(session, evaluation.campaign_id, evaluation.id)
    if out := [one.name for one in entered if is_known(was.known_to, let_in=one.id in let_in)]:
        yield _without(out, evaluation.title, "evaluation")


def _published(
    session: Session,
    evaluation: Evaluation,
    was: _Stood,
    stood: _Stood,
    let_in_before: Collection[int],
    let_in: Collection[int],
) -> Iterator[str]:
    """What is seen, and by whom, of an evaluation that more people know of with the change."""
    entered = teams_with_runs(session, evaluation.campaign_id, evaluation.id)
    knew = {one.id for one in entered if is_known(was.known_to, let_in=one.id in let_in_before)}
    found = [one.name for one in entered if one.id not in knew and is_known(stood.known_to, let_in=one.id in let_in)]
    if found:
        verb = "has" if len(found) == 1 else "have"
        sees = "sees" if len(found) == 1 else "see"
        yield (
            f"With this, {counted(len(found), 'team')} that {verb} runs in {evaluation.title} {sees} it, and their "
            f"runs there: {first_of(found, MOST_NAMED)}."
        )
    if opened := _of_what_stands(session, evaluation, stood.open_to_all, stood):
        words = revealed_in_words(opened)
        yield f"With this, {_whom(evaluation)} can read of {evaluation.title} at once: {words}. {READ}"
    if was.known_to is Visibility.DRAFT and stood.phase in TAKES_RUNS and (known := once_revealed(session, evaluation)):
        yield _again(evaluation, known)


def _with_sets(session: Session, campaign: Campaign) -> list[tuple[Evaluation, ScoringSet | None]]:
    """The campaign's evaluations, each with its current set."""
    select = sa.select(Evaluation).where(Evaluation.campaign_id == campaign.id).order_by(Evaluation.id)
    own = session.scalars(select).all()
    sets = current_sets(session, [one.id for one in own])
    return [(one, sets.get(one.id)) for one in own]


def _stood(evaluation: Evaluation, current: ScoringSet | None, now: dt.datetime) -> _Stood:
    return _Stood(
        known_to=Visibility.DRAFT if evaluation.draft else evaluation.campaign.visibility,
        phase=phase_of(evaluation, now),
        open_to_all=open_to_all(evaluation, now),
        closes_at=evaluation.closes_at,
        closed_from=closed_from(evaluation),
        source=evaluation.official_source,
        fields=form_fields(evaluation),
        board=None if current is None else _Board(current.id, current.primary_measure),
    )


def _opened(session: Session, evaluation: Evaluation, was: _Stood, stood: _Stood) -> Iterator[str]:
    """What closes or opens with the change: for runs, and for readers."""
    if was.phase in TAKES_RUNS and stood.phase not in TAKES_RUNS:
        late = "runs that come from now on are late and never ranked"
        follows = late if evaluation.late_allowed else "it takes no runs any more"
        yield f"With this, {evaluation.title} is closed at once: {follows}."
    if opened := _of_what_stands(session, evaluation, stood.open_to_all - was.open_to_all, stood):
        yield f"With this, {_whom(evaluation)} can read at once: {revealed_in_words(opened)}. {READ}"
    if was.phase not in TAKES_RUNS and stood.phase in TAKES_RUNS:
        revealed = of_what_there_is(session, evaluation, REVEALING & was.open_to_all)
        if revealed := revealed | once_revealed(session, evaluation):
            yield _again(evaluation, revealed)


def _of_what_stands(session: Session, evaluation: Evaluation, opened: Collection[str], stood: _Stood) -> frozenset[str]:
    """What of it there is; names only where there is a board that they stand on."""
    found = of_what_there_is(session, evaluation, opened)
    return found if "results" in stood.open_to_all else found - {"names"}


def _whom(evaluation: Evaluation) -> str:
    private = evaluation.campaign.visibility is Visibility.PRIVATE
    return "the members of all teams that are let in" if private else "everybody"


def _again(evaluation: Evaluation, revealed: Collection[str]) -> str:
    return (
        f"With this, {evaluation.title} takes runs again, and ranks them, although everybody could read: "
        f"{revealed_in_words(revealed)}."
    )


def revealed_in_words(opened: Collection[str]) -> str:
    """What of it everybody may read, or could, in words."""
    return "; ".join(words for name, words in IN_WORDS.items() if name in opened)


def _late_runs(session: Session, evaluation: Evaluation, was: _Stood, stood: _Stood) -> Iterator[str]:
    """Whether a run is late was said when it came, and stays: so some stand otherwise than the new dates would have it.

    An upload that began in time may have come within the grace.
    """
    title = evaluation.title
    if runs := _came(session, evaluation, late=False, since=stood.closed_from, until=was.closed_from):
        yield f"{counted(runs, 'run')} of {title} came after the new closing date: in time all the same, and ranked."
    if runs := _came(session, evaluation, late=True, since=was.closes_at, until=stood.closes_at):
        came = f"{counted(runs, 'late run')} of {title} came before the new closing date"
        yield f"{came}: late all the same, and without a rank."


def _came(
    session: Session, evaluation: Evaluation, *, late: bool, since: dt.datetime | None, until: dt.datetime | None
) -> int:
    """How many runs that are late, or that are not, came from then on and before `until`; none since no moment."""
    if since is None:
        return 0
    own = [Submission.evaluation_id == evaluation.id, Submission.withdrawn_at.is_(None), Submission.late.is_(late)]
    own.append(Submission.received_at >= since)
    if until is not None:
        own.append(Submission.received_at < until)
    return session.scalar(sa.select(sa.func.count(Submission.id)).where(*own)) or 0
