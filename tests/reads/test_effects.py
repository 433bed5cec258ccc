"""What a change of a campaign does at once, in the words in which its yes is asked."""

import datetime as dt
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from leaderboard.access import CONSOLE, VISITOR
from leaderboard.models import Campaign, Evaluation, Event, Scoring, ScoringSet, Team
from leaderboard.reads.boards import board
from leaderboard.reads.organising.effects import effects, noted
from leaderboard.reads.organising.readiness import Urgency, readiness
from leaderboard.rules.form_fields import FieldKind, FormField, ShownTo
from leaderboard.rules.phases import Opening
from leaderboard.rules.settings import Split
from leaderboard.rules.standings import Designation, RunChoice
from leaderboard.rules.states import SetState, State
from leaderboard.rules.visibility import Visibility
from leaderboard.services import campaigns, evaluations, queries, scoring_sets, submission_forms, teams
from leaderboard.services.events import present
from tests.support.field import DAY, Field

QRELS = "q1 0 d1 1\nq2 0 d1 1\nq3 0 d2 1\nq4 0 d1 1\n"
REVEALED = "results by query, which reveal judgments; the judgments themselves"
AGAIN = "takes runs again, and ranks them, although everybody could read"


def changed(field: Field, **changes: Any) -> tuple[str, ...]:
    """Makes a change of the evaluation; what it does at once."""
    with field.database.write() as session:
        before = noted(session, CONSOLE, "news", present())
        evaluations.change_evaluation(session, CONSOLE, session.scalars(sa.select(Evaluation)).one(), **changes)
        return effects(session, CONSOLE, "news", before, present())


def dates(field: Field) -> list[tuple[Urgency, str]]:
    """What the readiness list says of them."""
    with field.database.read() as session:
        found = readiness(session, CONSOLE, "news", "2026", present())
    return [(one.urgency, one.words) for one in found if one.about == "Dates"]


def test_answers_that_more_readers_would_see_are_counted_and_so_are_those_that_come_onto_the_board(
    field: Field,
) -> None:
    note = FormField(key="note", label="Note", header="secret.note")
    cost = FormField(key="cost", label="Cost", kind=FieldKind.NUMBER)
    given(field, note, cost)
    field.run("Alder", {"AP": [0.8] * 4}, answers={"cost": 7}, said={"secret.note": "sure", "machine": "Z80"})
    field.run("Birch", {"AP": [0.6] * 4}, answers={"cost": 8})
    field.run("Cedar", answers={"cost": 9}, state=State.REJECTED)  # nobody else ever sees it
    assert given(field, replace(cost, label="Price", required=True)) == ()

    def opened(answers: str) -> str:
        return (
            f"With this, everyone who sees whose run it is sees {answers}, given for the run's team and the organisers "
            "only. What somebody has read can't be taken back."
        )

    assert given(field, replace(note, shown_to=ShownTo.EVERYONE)) == (opened("1 answer to “Note”"),)
    assert given(field, note) == ()
    another = FormField(key="another", label="Remark", header="secret.note", shown_to=ShownTo.EVERYONE)
    assert given(field, another) == (opened("1 answer to “Note”"),)
    shown = replace(cost, shown_to=ShownTo.EVERYONE, column=True)
    assert given(field, shown) == (
        opened("2 answers to “Price”"), "With this, the board has 2 answers to “Cost”, given before, as a column.",
    )  # fmt: skip
    assert given(field, replace(shown, filter=True)) == (
        "With this, the board has 2 answers to “Cost”, given before, as a filter.",
    )


def test_a_field_of_several_metadata_keys_counts_as_one_answer_of_a_run_and_the_one_that_hid_it_is_named(
    field: Field,
) -> None:
    hiding = FormField(key="kind", label="Kind", header="method.kind")
    given(field, FormField(key="method", label="Method", header="method", shown_to=ShownTo.EVERYONE), hiding)
    field.run("Alder", {"AP": [0.8] * 4}, said={"method": "two", "method.kind": "dense", "method.kind.size": "9"})
    told = given(field, replace(hiding, shown_to=ShownTo.EVERYONE))
    assert [words.split(", given")[0] for words in told] == [
        "With this, everyone who sees whose run it is sees 1 answer to “Kind”"
    ]


def given(field: Field, *fields: FormField) -> tuple[str, ...]:
    """Sets fields of the form; what it does at once."""
    with field.database.write() as session:
        before = noted(session, CONSOLE, "news", present())
        evaluation = session.scalars(sa.select(Evaluation)).one()
        for one in fields:
            submission_forms.set_field(session, CONSOLE, evaluation, one)
        return effects(session, CONSOLE, "news", before, present())


def test_a_closing_date_moved_into_the_past_and_back_says_what_it_opens_and_to_whom(field: Field) -> None:
    now = present()
    field.change(closes_at=now + 30 * DAY, results=Opening.CLOSED, judgments_published=True, late_allowed=False)
    field.run("Alder", {"AP": [0.8] * 4}, received_at=now - 20 * DAY)
    field.run("Birch", {"AP": [0.6] * 4}, received_at=now - DAY)
    assert changed(field, closes_at=now + 40 * DAY) == ()
    assert changed(field, closes_at=now - 2 * DAY) == (
        "With this, The year 2026 is closed at once: it takes no runs any more.",
        f"With this, everybody can read at once: the board; {REVEALED}. What somebody has read can't be taken back.",
        "1 run of The year 2026 came after the new closing date: in time all the same, and ranked.",
    )
    [(urgency, _)] = dates(field)
    assert urgency is Urgency.DONE
    assert changed(field, closes_at=now + 30 * DAY) == (f"With this, The year 2026 {AGAIN}: {REVEALED}.",)
    told = (Urgency.LOOK, f"It takes runs again, and ranks them, although everybody could read before: {REVEALED}.")
    assert told in dates(field)
    # Nor is it forgotten where it was closed once more, and what it published taken back before it opens again.
    changed(field, closes_at=now - 2 * DAY)
    assert told not in dates(field)
    changed(field, details=Opening.NEVER, judgments_published=False)
    assert changed(field, closes_at=None) == (f"With this, The year 2026 {AGAIN}: {REVEALED}.",)
    assert told in dates(field)


def test_what_nobody_could_read_is_not_told_as_opened(field: Field) -> None:
    now = present()
    field.change(closes_at=now + DAY, details=Opening.NEVER, late_allowed=True)
    closed = "With this, The year 2026 is closed at once: runs that come from now on are late and never ranked."
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
    both = "Team Alder, Team Birch."
    own = "For their members there is no such evaluation any more, nor their own runs in it."
    assert changed(field, draft=True) == (
        f"With this, 2 teams that have runs in The year 2026 are shut out: {both} {own}",
    )
    assert changed(field, details=Opening.ALWAYS, anonymous_until=None) == ()  # nobody sees it yet
    there = "With this, {} runs in The year 2026 {} it, and their runs there:"
    back = "What somebody has read can't be taken back."
    readable = (
        "the board; results by query, which reveal judgments; texts and tags of queries; names of teams and systems"
    )
    assert changed(field, draft=False) == (
        f"{there.format('2 teams that have', 'see')} {both}",
        f"With this, everybody can read of The year 2026 at once: {readable}. {back}",
    )
    # Nor a draft of the whole campaign, nor one that is let be known to some first.
    assert seen(field, Visibility.DRAFT)[0].startswith("With this, 2 teams that have runs in it are shut out")
    with field.database.write() as session:
        campaign = session.scalars(sa.select(Campaign)).one()
        campaigns.let_team_in(session, CONSOLE, campaign, session.get_one(Team, field.teams["Team Alder"]))
    assert seen(field, Visibility.PRIVATE) == (
        f"{there.format('1 team that has', 'sees')} Team Alder.",
        f"With this, the members of all teams that are let in can read of The year 2026 at once: {readable}. {back}",
        f"With this, The year 2026 {AGAIN}: results by query, which reveal judgments.",
    )
    assert let_out(field, "Team Alder") == (
        "With this, 1 team that has runs in it is shut out: Team Alder. " + own.replace("evaluation", "campaign"),
    )
    assert seen(field, Visibility.PUBLIC)[0] == f"{there.format('2 teams that have', 'see')} {both}"


def test_letting_out_a_team_asks_where_it_has_runs_and_the_campaign_is_private(field: Field) -> None:
    field.run("Alder", {"AP": [0.8] * 4}, received_at=present() - DAY)
    with field.database.write() as session:
        field.teams["Team Birch"] = teams.create_team(session, CONSOLE, "Team Birch").id
        campaign = session.scalars(sa.select(Campaign)).one()
        for name in ("Team Alder", "Team Birch"):
            campaigns.let_team_in(session, CONSOLE, campaign, session.get_one(Team, field.teams[name]))
    assert let_out(field, "Team Alder") == ()  # who is let in does not count while the campaign is public
    seen(field, Visibility.PRIVATE)  # which lets it in again
    assert let_out(field, "Team Birch") == ()
    [words] = let_out(field, "Team Alder")
    assert "is shut out: Team Alder." in words
    assert let_out(field, "Team Alder") == ()  # it is out already


def let_out(field: Field, name: str) -> tuple[str, ...]:
    """Lets a team out of the campaign; what that does at once."""
    with field.database.write() as session:
        before = noted(session, CONSOLE, "news", present())
        campaign = session.scalars(sa.select(Campaign)).one()
        campaigns.let_team_out(session, CONSOLE, campaign, session.get_one(Team, field.teams[name]))
        return effects(session, CONSOLE, "news", before, present())


def test_a_draft_forgets_no_more_than_a_date_what_everybody_could_read(field: Field) -> None:
    now = present()
    field.change(closes_at=now - DAY, judgments_published=True)
    field.run("Alder", {"AP": [0.8] * 4}, received_at=now - 2 * DAY)
    changed(field, draft=True)
    assert changed(field, closes_at=None) == ()
    assert changed(field, draft=False)[-1] == f"With this, The year 2026 {AGAIN}: {REVEALED}."


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
    assert seen(field, Visibility.PUBLIC)[-1] == f"With this, The year 2026 {AGAIN}: {REVEALED}."


def seen(field: Field, visibility: Visibility) -> tuple[str, ...]:
    """Makes the campaign seen by other people; what that does at once."""
    with field.database.write() as session:
        before = noted(session, CONSOLE, "news", present())
        campaigns.change_campaign(session, CONSOLE, session.scalars(sa.select(Campaign)).one(), visibility=visibility)
        return effects(session, CONSOLE, "news", before, present())


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
        "With this, the members of all teams that are let in can read at once: results by query, which reveal "
        "judgments; the hidden queries; texts and tags of queries; names of teams and systems. What somebody has read "
        "can't be taken back."
    )


def test_a_run_that_was_late_stays_so_where_the_evaluation_closes_later(field: Field) -> None:
    now = present()
    field.change(closes_at=now - 10 * DAY, grace_seconds=60)
    for name, before in (("Alder", 12), ("Birch", 8), ("Cedar", 7), ("Dogwood", 1)):
        field.run(name, {"AP": [0.5] * 4}, received_at=now - before * DAY)
    said = "2 late runs of The year 2026 came before the new closing date: late all the same, and without a rank."
    assert changed(field, closes_at=now - 5 * DAY) == (said,)
    assert changed(field, grace_seconds=0) == ()
    assert changed(field, closes_at=now - 11 * DAY) == ()  # the first run came before that too
    assert changed(field, closes_at=now - 13 * DAY) == (
        "1 run of The year 2026 came after the new closing date: in time all the same, and ranked.",
    )


def test_another_official_source_says_how_many_ranks_are_others(field: Field) -> None:
    runs = [field.run(name, {"AP": [mean] * 4}) for name, mean in (("Alder", 0.8), ("Birch", 0.6), ("Cedar", 0.4))]
    by_model = ({"AP": [mean] * 4} for mean in (0.5, 0.7, 0.4))
    field.judge_again(QRELS, dict(zip(runs, by_model, strict=True)), source="llm", at=present() - dt.timedelta(hours=1))

    def official(source: str) -> tuple[str, ...]:
        with field.database.write() as session:
            before = noted(session, CONSOLE, "news", present())
            scoring_sets.make_official(session, CONSOLE, session.scalars(sa.select(Evaluation)).one(), source)
            return effects(session, CONSOLE, "news", before, present())

    goes = "With this, the board of The year 2026 goes by the judgments of"
    assert official("llm") == (f"{goes} llm instead of assessors: 2 of 3 systems change rank.",)
    assert official("assessors") == (f"{goes} assessors instead of llm: 2 of 3 systems change rank.",)


def test_another_rule_of_which_run_stands_names_the_boards_and_how_many_systems_stand_otherwise(field: Field) -> None:
    field.change(closes_at=present() + DAY)
    # Of Alder the primary run stands, though its later one is better; Birch has one run, between the two.
    field.run("Alder", {"AP": [0.5] * 4}, designation=Designation.PRIMARY)
    field.run("Alder", {"AP": [0.8] * 4})
    field.run("Birch", {"AP": [0.6] * 4})
    field.evaluation("2027")
    field.run("Alder", {"AP": [0.5] * 4}, evaluation="2027")

    def choosing(rule: RunChoice) -> tuple[str, ...]:
        with field.database.write() as session:
            before = noted(session, CONSOLE, "news", present())
            campaigns.change_campaign(session, CONSOLE, session.scalars(sa.select(Campaign)).one(), run_choice=rule)
            return effects(session, CONSOLE, "news", before, present())

    stands = "With this, on the board of The year 2026 another run stands for 1 of 2 systems"
    assert choosing(RunChoice.BEST) == (f"{stands}, and 2 change rank.",)
    assert choosing(RunChoice.LATEST) == ()  # the better run is the later one
    assert choosing(RunChoice.PRIMARY) == (f"{stands}, and 2 change rank.",)
    assert choosing(RunChoice.PRIMARY) == ()
    field.change(closes_at=present() - DAY, late_allowed=True)
    for value in (0.1, 0.2):
        field.run("Alder", {"AP": [value] * 4}, received_at=present())
    assert choosing(RunChoice.BEST) == (f"{stands}, and 2 change rank.",)  # in time and late, but one system


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
        with field.database.write() as session:
            before = noted(session, CONSOLE, "news", present())
            campaign = session.scalars(sa.select(Campaign)).one()
            campaigns.change_campaign(session, CONSOLE, campaign, primary_measure=measure)
            return effects(session, CONSOLE, "news", before, present())

    assert ranked() == [("Alder", 1, 0.8), ("Birch", 2, 0.7)]
    before = told()
    ranks = "With this, the board of The year 2026 ranks by {} instead of {}: 2 of 2 systems change rank"
    assert ranking("P@5") == (f"{ranks.format('P@5', 'AP')}; another run stands for 1 of them.",)
    assert ranked() == [("Birch", 1, 0.4), ("Alder", 2, 0.2)]
    assert told()[len(before) :] == ["change", "rank by"]
    with field.database.read() as session:
        states = session.scalars(sa.select(ScoringSet.state)).all()
        assert states == [SetState.CURRENT]
        assert session.scalars(sa.select(Scoring.state).distinct()).all() == [State.SCORED]
    # A board that stood goes on ranking by the measure of then; one that takes its place ranks by that of now.
    field.judge_again(QRELS, {run: {"AP": [0.5] * 4, "P@5": [0.5] * 4} for run in runs})
    assert ranking("AP")[0].startswith(
        "With this, the board of The year 2026 ranks by AP instead of P@5: 0 of 2 systems"
    )
    with field.database.read() as session:
        measures = session.scalars(sa.select(ScoringSet.primary_measure).order_by(ScoringSet.id)).all()
    assert measures == ["P@5", "AP"]
    # One that is not scored yet ranks when it is.
    scored = (
        "With this, 3 runs of 1 evaluation are scored again. Boards show the figures of before until all runs of an"
    )
    assert ranking("nDCG") == (f"{scored} evaluation are, and then switch at once, and rank by nDCG.",)
    field.score_again({run: {"nDCG": [0.5] * 4} for run in runs})
    assert ranked()[0][2] == 0.5
