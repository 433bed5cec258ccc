"""The simulated campaign: a field at work, drawn the same on every machine, and scored by the real worker."""

import datetime as dt
import hashlib
import io
from collections import Counter
from pathlib import Path

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE, VISITOR
from leaderboard.boards.reads.board import BoardPage, BoardRow, board
from leaderboard.boards.reads.breakdown import sources
from leaderboard.boards.reads.history import board_difference, board_versions
from leaderboard.campaigns.models import Campaign
from leaderboard.config import Config, folder
from leaderboard.db import Database
from leaderboard.demo import campaigns as seeding
from leaderboard.evaluations.models import Evaluation
from leaderboard.formats import read_queries
from leaderboard.store import RunStore
from leaderboard.submissions.models import Submission
from leaderboard.submissions.writes.submissions import submit
from leaderboard.teams.writes import NewSystem, create_team
from leaderboard.transfer.manifest import NAME, read_manifest
from tests.demo.conftest import Installation
from tests.support.scoring import drain_here

LOADED = dt.datetime(2026, 11, 20, 14, 5, tzinfo=dt.UTC)
HARBOUR = seeding.SimulatedCampaign(folder("seeds") / "harbour", 2026, LOADED)
DAMAGED = "heron-draft"
CONDITIONS = ("text", "speech")
YEARS = (1, 2, 3, 4)
EVALUATIONS = [f"{year}-{condition}" for year in (2023, 2024, 2025, 2026) for condition in CONDITIONS]
DRAFT = "2027-text"


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("drawn")
    HARBOUR.write(folder)
    return folder


def _board(installation: Installation, year: int, condition: str) -> BoardPage:
    """That of the campaign's first, second … fourth year; the fourth is the demonstration's own."""
    evaluation = f"{installation.latest - YEARS[-1] + year}-{condition}"
    with installation.database.read() as session:
        return board(session, VISITOR, "harbour", evaluation, installation.loaded)


def _row(page: BoardPage, system: str) -> BoardRow:
    [row] = [row for row in (*page.rows, *page.baselines) if row.entry.system.name == system]
    return row


def _mean(row: BoardRow, measure: str = "AQWV") -> float:
    mean = row.entry.figure(measure).mean
    assert mean is not None
    return mean


def test_four_years_two_conditions_fifty_queries_a_year(drawn: Path) -> None:
    *evaluations, draft = read_manifest(drawn / NAME).evaluation
    assert [evaluation.slug for evaluation in evaluations] == EVALUATIONS
    assert (draft.slug, draft.draft, draft.queries) == (DRAFT, True, "")
    queries = [read_queries(drawn / evaluation.queries) for evaluation in evaluations]
    assert {len(own) for own in queries} == {50}
    texts = Counter(query.text for own in queries for query in own)
    assert len(texts) == 200
    assert set(texts.values()) == {2}  # both conditions of its year, and no other year


def test_the_field_is_drawn_the_same_again(drawn: Path, installation: Installation, tmp_path: Path) -> None:
    HARBOUR.write(tmp_path)
    files = [path.relative_to(drawn) for path in drawn.rglob("*") if path.is_file()]
    assert all((tmp_path / path).read_bytes() == (drawn / path).read_bytes() for path in files)
    with installation.database.read() as session:
        rows = session.execute(
            sa.select(Evaluation.slug, Submission.label, Submission.sha256)
            .join(Submission.evaluation)
            .where(Evaluation.campaign.has(slug=seeding.SimulatedCampaign.SLUG))
        )
        submitted = {(evaluation, label): sha256 for evaluation, label, sha256 in rows}
    assert submitted == {
        (evaluation.slug, run.label): hashlib.sha256((installation.drawn / run.file).read_bytes()).hexdigest()
        for evaluation in read_manifest(installation.drawn / NAME).evaluation
        for run in evaluation.run
    }


def test_a_damaged_run_shows_its_team_every_problem_with_its_line(installation: Installation) -> None:
    with installation.database.read() as session:
        submission = session.scalars(sa.select(Submission).where(Submission.label == DAMAGED)).one()
    assert [line for line, _ in submission.problems] == [17, 40, 61, 86]
    assert submission.problem_count == 4


def test_beta_is_derived_and_the_campaign_says_that_it_is_simulated(installation: Installation) -> None:
    with installation.database.read() as session:
        campaign = session.scalars(sa.select(Campaign).where(Campaign.slug == "harbour")).one()
    assert campaign.beta == pytest.approx(19.9467, abs=5e-5)  # from C = .0333, V = 1, P = 1/600
    assert campaign.simulated
    assert campaign.locked_at is not None


@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_field_progresses_over_the_years_and_the_baseline_stays(installation: Installation, condition: str) -> None:
    pages = [_board(installation, year, condition) for year in YEARS]
    best = [_mean(page.ranked[0]) for page in pages]
    assert best == sorted(best)
    assert best[-1] - best[0] > 0.2
    baseline = [_mean(_row(page, "Term matching")) for page in pages]
    assert max(baseline) - min(baseline) < 0.2
    assert all(mean < page.ranked[0].entry.figure("AQWV").mean for mean, page in zip(baseline, pages, strict=True))


def test_a_revision_moved_systems_and_a_second_source_judged(installation: Installation) -> None:
    now, latest = installation.loaded, installation.latest
    with installation.database.read() as session:
        boards = board_versions(session, VISITOR, "harbour", f"{latest - 1}-text", now).sets
        moved = board_difference(session, VISITOR, "harbour", f"{latest - 1}-text", boards[1].id, boards[0].id, now)
        judged = sources(session, VISITOR, "harbour", f"{latest - 2}-text", now)
    assert [(each.revision, each.official) for each in boards] == [(2, True), (1, True)]
    assert any(row.places for row in moved.rows)
    assert [each.source for each in judged.sources] == ["assessors", "second-assessor"]
    assert 0.5 < min(agreement.order.tau for agreement in judged.agreements) < 1


def test_the_year_that_the_manual_freezes_has_runs_that_may_be_published_a_baseline_too(drawn: Path) -> None:
    [text] = [each for each in read_manifest(drawn / NAME).evaluation if each.slug.endswith("-text")][-3:-2]
    assert [field.key for field in text.field] == ["publish"]
    answers = {run.system: run.answers.get("publish") for run in text.run}
    assert (answers["term-matching"], {*answers.values()}) == (True, {True, False, None})


def test_the_newest_year_has_a_field_an_agreement_and_an_anonymous_period(drawn: Path) -> None:
    text, speech = read_manifest(drawn / NAME).evaluation[-3:-1]
    [field] = text.field
    assert {run.answers["training"] for run in text.run} == set(field.choices)
    assert [agreement.title for agreement in speech.agreement] == ["Use of the recordings"]
    assert speech.anonymous_until > speech.closes_at


@pytest.mark.parametrize("engine_name", ["sqlite"])  # what the run is worth, as above
def test_the_sample_run_is_taken_scored_and_ranked(
    database: Database, database_url: str, store: RunStore, drawn: Path, tmp_path: Path
) -> None:
    sample = HARBOUR.sample()
    upload = store.receive(io.BytesIO(sample.text), sample.name)
    manifest = drawn / NAME
    campaign, *_, newest, _, _ = manifest.read_text().split("\n[[evaluation]]\n")
    few = tmp_path / NAME
    few.write_text("\n[[evaluation]]\n".join([campaign, newest.partition("\n[[evaluation.run]]\n")[0]]))
    seeding.import_folder(database, store, drawn, few)
    with database.write() as session:
        evaluation = session.scalars(sa.select(Evaluation).where(Evaluation.slug == sample.evaluation)).one()
        team = create_team(session, CONSOLE, "Visitors")
        submit(session, CONSOLE, evaluation.id, team.id, system=NewSystem("Visitor"), upload=upload, received_at=LOADED)
    drain_here(database, store, Config(database_url=database_url, store_url=str(tmp_path / "store")))
    with database.read() as session:
        [row] = board(session, VISITOR, "harbour", sample.evaluation, LOADED).rows
    assert row.rank == 1
    assert 0.4 < _mean(row) < 0.8
