"""What a change of a campaign does at once, as it is listed before it is confirmed."""

import datetime as dt
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE, VISITOR, Actor
from leaderboard.audit.models import Event
from leaderboard.audit.writes import present
from leaderboard.boards.reads.board import board
from leaderboard.campaigns import writes as campaigns
from leaderboard.campaigns.models import Campaign
from leaderboard.campaigns.rules import Visibility
from leaderboard.evaluations import writes as evaluations, writes as submission_forms
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.effects import effects
from leaderboard.evaluations.reads.readiness import Urgency, readiness
from leaderboard.evaluations.rules import FieldKind, FormField, Opening, ShownTo, Split
from leaderboard.judgments import writes as queries
from leaderboard.submissions.rules import Designation, RunChoice, SetState, State
from leaderboard.teams.models import Team
from leaderboard.worker import writes as scoring_sets
from leaderboard.worker.models import Scoring, ScoringSet
from tests.support.field import DAY, Field

QRELS = "q1 0 d1 1\nq2 0 d1 1\nq3 0 d2 1\nq4 0 d1 1\n"
REVEALED = "results by query, which reveal judgments; the judgments themselves"
AGAIN = "takes runs again, although these could be read"


def does(
    field: Field, change: Callable[[Session, Campaign, Evaluation], object], actor: Actor = CONSOLE
) -> tuple[str, ...]:
    """Makes a change; what it does at once, as that actor is told."""
    with field.database.write() as session, field.database.read() as committed:
        evaluation = session.scalars(sa.select(Evaluation).order_by(Evaluation.id)).first()
        assert evaluation is not None
        change(session, evaluation.campaign, evaluation)
        own = Evaluation.campaign_id == evaluation.campaign_id
        return effects(session, committed, actor, own, present())


def changed(field: Field, **changes: Any) -> tuple[str, ...]:
    return does(field, lambda session, _, found: evaluations.change_evaluation(session, CONSOLE, found, **changes))


def dates(field: Field) -> list[tuple[Urgency, str]]:
    """What the readiness list says of them."""
    with field.database.read() as session:
        found = readiness(session, CONSOLE, "news", "2026", present())
    return [(one.urgency, one.words) for one in found if one.about == "Dates"]


def test_fields_whose_answers_more_readers_would_see_are_named(field: Field) -> None:
    note = FormField(key="note", label="Note", header="secret.note")
    cost = FormField(key="cost", label="Cost", kind=FieldKind.NUMBER)
    given(field, note, cost)
    field.run("Alder", {"AP": [0.8] * 4}, answers={"cost": 7}, said={"secret.note": "sure", "machine": "Z80"})
    field.run("Birch", {"AP": [0.6] * 4}, answers={"cost": 8})
    assert given(field, replace(cost, label="Price", required=True)) == ()

    def opened(label: str) -> tuple[str, ...]:
        return (f"The year 2026: answers to {label} are shown to more readers, for good.",)

    assert given(field, replace(note, shown_to=ShownTo.EVERYONE)) == opened("Note")
    assert given(field, note) == ()
    another = FormField(key="another", label="Remark", header="secret.note", shown_to=ShownTo.EVERYONE)
    assert given(field, another) == opened("Note")
    assert given(field, replace(note, key="unused", label="Unused", header="", shown_to=ShownTo.EVERYONE)) == ()
    assert given(field, replace(cost, shown_to=ShownTo.EVERYONE, column=True)) == opened("Price")


def given(field: Field, *fields: FormField) -> tuple[str, ...]:
    """Sets fields of the form; what it does at once."""

    def set_all(session: Session, _: Campaign, evaluation: Evaluation) -> None:
        for one in fields:
            submission_forms.set_field(session, CONSOLE, evaluation, one.as_json())

    return does(field, set_all)


def test_a_closing_date_moved_into_the_past_and_back_says_what_it_opens_and_to_whom(field: Field) -> None:
    now = present()
    field.change(closes_at=now + 30 * DAY, results=Opening.CLOSED, judgments_published=True, late_allowed=False)
    field.run("Alder", {"AP": [0.8] * 4}, received_at=now - 20 * DAY)
    field.run("Birch", {"AP": [0.6] * 4}, received_at=now - DAY)
    assert changed(field, closes_at=now + 40 * DAY) == ()
    assert changed(field, closes_at=now - 2 * DAY) == (
        "The year 2026 closes at once: it takes no runs any more.",
        f"The year 2026 opens to everybody, for good: the board; {REVEALED}.",
    )
    [(urgency, _)] = dates(field)
    assert urgency is Urgency.DONE
    assert changed(field, closes_at=now + 30 * DAY) == (f"The year 2026 {AGAIN}: {REVEALED}.",)
    told = (Urgency.LOOK, f"It accepts and ranks runs again, although this was public before: {REVEALED}.")
    assert told in dates(field)
    # Nor is it forgotten where it was closed once more, and what it published taken back before it opens again.
    changed(field, closes_at=now - 2 * DAY)
    assert told not in dates(field)
    changed(field, details=Opening.NEVER, judgments_published=False)
    assert changed(field, closes_at=None) == (f"The year 2026 {AGAIN}: {REVEALED}.",)
    assert told in dates(field)


def test_closing_now_says_what_opens_when_its_grace_is_over(field: Field) -> None:
    now = present()
    field.change(closes_at=now + DAY, grace_seconds=900, judgments_published=True, late_allowed=False)
    field.run("Alder", {"AP": [0.8] * 4}, received_at=now - DAY)
    assert changed(field, closes_at=now) == (
        "The year 2026 closes at once: it takes no runs any more.",
        f"The year 2026 opens to everybody by the end of its grace, for good: {REVEALED}.",
    )
    # In the grace nothing of it is news, and where it ends sooner neither; nobody has read anything yet.
    assert changed(field, description="Closed.") == ()
    assert changed(field, closes_at=now + DAY) == ()
    assert (
        changed(field, closes_at=now, grace_seconds=0)[1] == f"The year 2026 opens to everybody, for good: {REVEALED}."
    )


def test_what_nobody_could_read_is_not_told_as_opened(field: Field) -> None:
    now = present()
    field.change(closes_at=now + DAY, details=Opening.NEVER, late_allowed=True)
    closed = "The year 2026 closes at once: runs are late from now on."
    assert changed(field, closes_at=now - DAY) == (closed,)
    assert changed(field, closes_at=now + DAY) == ()  # nobody could read a judgment meanwhile
    # A draft shows nothing to anybody, whatever its dates are.
    field.change(draft=True, details=Opening.CLOSED, judgments_published=True, texts=Opening.CLOSED)
    assert changed(field, closes_at=now - DAY) == ()
    assert changed(field, closes_at=now + DAY, draft=False) == ()


def test_a_draft_is_no_way_round_the_questions(field: Field) -> None:
    now = present()
    field.change(closes_at=now + DAY, anonymous_until=now + DAY)
    for name in ("Alder", "Birch"):
        field.run(name, {"AP": [0.8] * 4}, received_at=now - DAY)
    assert changed(field, draft=True) == ("2 teams with runs can't see them any more.",)
    assert changed(field, details=Opening.ALWAYS, anonymous_until=None) == ()  # nobody sees it yet
    readable = (
        "the board; results by query, which reveal judgments; texts and tags of queries; names of teams and systems"
    )
    assert changed(field, draft=False) == (
        "2 teams with runs let in.",
        f"The year 2026 opens to everybody, for good: {readable}.",
    )
    # Nor a draft of the whole campaign, nor one that is let be known to some first.
    assert seen(field, Visibility.DRAFT)[0] == "2 teams with runs can't see them any more."
    with field.database.write() as session:
        campaign = session.scalars(sa.select(Campaign)).one()
        campaigns.let_team_in(session, CONSOLE, campaign, session.get_one(Team, field.teams["Team Alder"]))
    assert seen(field, Visibility.PRIVATE) == (
        "1 team with runs let in.",
        f"The year 2026 opens to members of the teams that are let in, for good: {readable}.",
        f"The year 2026 {AGAIN}: results by query, which reveal judgments.",
    )
    assert let_out(field, "Team Alder") == ("1 team with runs can't see them any more.",)
    assert seen(field, Visibility.PUBLIC)[0] == "2 teams with runs let in."


def let_out(field: Field, name: str) -> tuple[str, ...]:
    """Lets a team out of the campaign; what that does at once."""

    def let_go(session: Session, campaign: Campaign, _: Evaluation) -> None:
        campaigns.let_team_out(session, CONSOLE, campaign, session.get_one(Team, field.teams[name]))

    return does(field, let_go)


def test_a_draft_of_the_whole_campaign_forgets_no_more(field: Field) -> None:
    now = present()
    field.change(closes_at=now - DAY, judgments_published=True)
    field.run("Alder", {"AP": [0.8] * 4}, received_at=now - 2 * DAY)
    assert seen(field, Visibility.PRIVATE) != ()  # who is let in reads it as before: nothing is closed again
    seen(field, Visibility.DRAFT)
    with field.database.read() as session:
        facts = session.scalars(sa.select(Event.facts).where(Event.subject == "evaluation")).all()
    assert [one["closed_again"] for one in facts if "closed_again" in one] == [["details", "judgments"]]
    assert changed(field, closes_at=now + DAY) == ()  # nobody sees it
    assert seen(field, Visibility.PUBLIC)[-1] == f"The year 2026 {AGAIN}: {REVEALED}."


def seen(field: Field, visibility: Visibility) -> tuple[str, ...]:
    """Makes the campaign seen by other people; what that does at once."""
    return does(
        field, lambda session, found, _: campaigns.change_campaign(session, CONSOLE, found, visibility=visibility)
    )


def test_members_of_teams_let_in_are_told_as_those_who_can_read(field: Field) -> None:
    now = present()
    with field.database.write() as session:
        session.scalars(sa.select(Campaign)).one().visibility = Visibility.PRIVATE
        found = session.scalars(sa.select(Evaluation)).one()
        queries.set_split(session, CONSOLE, found, ["q4"], Split.HIDDEN)
    field.change(closes_at=now + DAY, anonymous_until=now + DAY, texts=Opening.CLOSED)
    field.run("Alder", {"AP": [0.8] * 4})
    _, opened = changed(field, closes_at=now - DAY, anonymous_until=None)
    assert opened == (
        "The year 2026 opens to members of the teams that are let in, for good: results by query, which reveal "
        "judgments; the hidden queries; texts and tags of queries; names of teams and systems."
    )


def test_another_official_source_says_how_many_ranks_are_others(field: Field) -> None:
    runs = [field.run(name, {"AP": [mean] * 4}) for name, mean in (("Alder", 0.8), ("Birch", 0.6), ("Cedar", 0.4))]
    by_model = ({"AP": [mean] * 4} for mean in (0.5, 0.7, 0.4))
    field.judge_again(QRELS, dict(zip(runs, by_model, strict=True)), source="llm", at=present() - dt.timedelta(hours=1))

    def official(source: str) -> tuple[str, ...]:
        return does(field, lambda session, _, found: scoring_sets.make_official(session, CONSOLE, found, source))

    assert official("llm") == ("The year 2026: 2 of 3 systems change rank; another run is shown for 0.",)
    assert official("assessors") == ("The year 2026: 2 of 3 systems change rank; another run is shown for 0.",)


def test_another_rule_of_which_run_stands_names_the_boards_and_how_many_systems_stand_otherwise(field: Field) -> None:
    field.change(closes_at=present() + DAY)
    # Of Alder the primary run stands, though its later one is better; Birch has one run, between the two.
    field.run("Alder", {"AP": [0.5] * 4}, designation=Designation.PRIMARY)
    field.run("Alder", {"AP": [0.8] * 4})
    field.run("Birch", {"AP": [0.6] * 4})
    field.evaluation("2027")
    field.run("Alder", {"AP": [0.5] * 4}, evaluation="2027")

    def choosing(rule: RunChoice) -> tuple[str, ...]:
        return does(
            field, lambda session, found, _: campaigns.change_campaign(session, CONSOLE, found, run_choice=rule)
        )

    others = ("The year 2026: 2 of 2 systems change rank; another run is shown for 1.",)
    assert choosing(RunChoice.BEST) == others
    assert choosing(RunChoice.LATEST) == ()  # the better run is the later one
    assert choosing(RunChoice.PRIMARY) == others
    assert choosing(RunChoice.PRIMARY) == ()
    field.change(closes_at=present() - DAY, late_allowed=True)
    for value in (0.1, 0.2):
        field.run("Alder", {"AP": [value] * 4}, received_at=present())
    assert choosing(RunChoice.BEST) == others  # in time and late, but one system


def test_another_primary_measure_ranks_every_board_at_once_and_scores_nothing(field: Field) -> None:
    field.change(closes_at=present() + DAY, results=Opening.ALWAYS)
    values = ("Alder", 0.8, 0.2), ("Birch", 0.6, 0.4), ("Birch", 0.7, 0.1)
    runs = [field.run(name, {"AP": [ap] * 4, "P@5": [early] * 4}) for name, ap, early in values]
    with field.database.write() as session:
        session.scalars(sa.select(Campaign)).one().run_choice = RunChoice.BEST

    def ranked() -> list[tuple[str, int | None, float | None]]:
        with field.database.read() as session:
            page = board(session, VISITOR, "news", "2026", present())
            return [(row.entry.system.name, row.rank, row.ranked_by.mean) for row in page.rows]

    def told() -> list[str]:
        with field.database.read() as session:
            return list(session.scalars(sa.select(Event.action).order_by(Event.id)))

    def ranking(measure: str) -> tuple[str, ...]:
        return does(
            field, lambda session, found, _: campaigns.change_campaign(session, CONSOLE, found, primary_measure=measure)
        )

    assert ranked() == [("Alder", 1, 0.8), ("Birch", 2, 0.7)]
    before = told()
    assert ranking("P@5") == ("The year 2026: 2 of 2 systems change rank; another run is shown for 1.",)
    assert ranked() == [("Birch", 1, 0.4), ("Alder", 2, 0.2)]
    assert told()[len(before) :] == ["change", "rank by"]
    with field.database.read() as session:
        states = session.scalars(sa.select(ScoringSet.state)).all()
        assert states == [SetState.CURRENT]
        assert session.scalars(sa.select(Scoring.state).distinct()).all() == [State.SCORED]
    # A board that stood goes on ranking by the measure of then; one that takes its place ranks by that of now.
    field.judge_again(QRELS, {run: {"AP": [0.5] * 4, "P@5": [0.5] * 4} for run in runs})
    assert ranking("AP") == ()
    with field.database.read() as session:
        measures = session.scalars(sa.select(ScoringSet.primary_measure).order_by(ScoringSet.id)).all()
    assert measures == ["P@5", "AP"]
    # One that is not scored yet ranks when it is.
    assert ranking("nDCG") == ("3 runs of 1 evaluation scored again; boards show the figures of before until all are.",)
    field.score_again({run: {"nDCG": [0.5] * 4} for run in runs})
    assert ranked()[0][2] == 0.5
