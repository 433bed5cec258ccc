"""Score receipts: the printed command gives the figures on record, to the digit; none tells what is closed.

The command is run beside the files that its reader can fetch: the published judgments and the list of queries.
"""

import datetime as dt
import hashlib
import io
import json
import random
import shlex
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE, VISITOR, Actor
from leaderboard.audit.writes import present
from leaderboard.campaigns import writes as campaigns
from leaderboard.cli import run as run_command
from leaderboard.db import Database
from leaderboard.errors import NotAllowed, NotFound
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import Judging, NoRelevant, Opening, Split, Subset
from leaderboard.formats import QueryRow, read_subtopic_judgments
from leaderboard.judgments import writes as judgments, writes as queries
from leaderboard.judgments.models import JudgmentRevision
from leaderboard.judgments.reads import published, qrels
from leaderboard.judgments.rules import JudgmentFiles
from leaderboard.results.reads.queries import query_list
from leaderboard.results.reads.run import Receipt, receipt, results
from leaderboard.submissions.writes import submissions
from leaderboard.teams.writes import NewSystem
from leaderboard.worker.reads import current_set
from tests.support.world import World, build_world, judged

MEASURES = ["AQWV", "AP", "nDCG@10", "P@5", "ERR(max=data)@10", "Rprec", "MQWV"]
HIDDEN, EXCLUDED, UNJUDGED = ("q28", "q29"), ("q3", "q30"), "q7"


@dataclass
class Played:
    world: World
    run: str
    runs: dict[str, int]  # evaluation -> submission

    def change(self, slug: str, **columns: Any) -> None:
        with self.world.database.write() as session:
            evaluation = session.scalars(sa.select(Evaluation).where(Evaluation.slug == slug)).one()
            for name, value in columns.items():
                setattr(evaluation, name, value)

    def receipt(self, slug: str, actor: Actor) -> Receipt:
        with self.world.database.read() as session:
            return receipt(session, actor, self.runs[slug], present())

    def figures(self, slug: str, actor: Actor) -> dict[str, float | None]:
        """The means that somebody is shown."""
        with self.world.database.read() as session:
            shown = results(session, actor, self.runs[slug], present())
        return {column.name: figure.mean for column, figure in zip(shown.columns, shown.figures, strict=True)}

    def fetch(self, campaign: str, slug: str, actor: Actor, folder: Path) -> None:
        """Puts there what somebody can fetch of the evaluation, under the names that the site gives its files."""
        with self.world.database.read() as session:
            for file in published(session, actor, campaign, slug, present()).files:
                lines = qrels(session, actor, campaign, slug, present(), file=file)
                (folder / f"{campaign}-{slug}-{file}.txt").write_text("".join(lines))
            page = query_list(session, actor, campaign, slug, present())
        (folder / f"{campaign}-{slug}-queries.tsv").write_text(page.as_file)


@pytest.fixture(scope="module")
def played(migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    """Two evaluations under everything that can be set otherwise: one judged completely, one pooled."""
    folder = tmp_path_factory.mktemp("receipts")
    drawn = random.Random(5)
    names = [f"q{number}" for number in range(1, 31)]
    # Nothing is relevant for q5, nothing judged for q7; the highest grade is a hidden query's.
    grades = {name: [drawn.choice((0, 0, 1, 2, 3)) for _ in range(20)] for name in names}
    grades["q5"], grades["q28"][0] = [0] * 20, 4
    judged_lines = [
        f"{name} 0 d{place} {grade}\n"
        for name, own in grades.items()
        if name != UNJUDGED
        for place, grade in enumerate(own)
    ]
    lines = [
        f"{name} Q0 d{document} {rank} {drawn.random()} a-run"
        for name in names[1:]
        for rank, document in enumerate(drawn.sample(range(60), 30), start=1)
    ]
    database = Database.connect(f"sqlite:///{shutil.copyfile(migrated_sqlite, folder / 'receipts.sqlite')}")
    with closing(database), closing(build_world(database, folder)) as world:
        played = Played(world, "\n".join(lines) + "\n", {})
        with database.write() as session:
            campaign = campaigns.create_campaign(
                session, CONSOLE, "hard", "Everything else", measures=MEASURES, primary_measure="AQWV",
                cost=1.0, value=3.0, prior=0.07, no_relevant=NoRelevant.PFA_ONLY, compat=9,
            )  # fmt: skip
            for slug, judging in (("complete", Judging.COMPLETE), ("pooled", Judging.POOLED)):
                made = evaluations.create_evaluation(
                    session, CONSOLE, campaign, slug, f"The {slug} one", "2026", documents=1234, relevance_level=2,
                    judging=judging, condition=slug, details=Opening.ALWAYS, closes_at=present() + dt.timedelta(days=1),
                    judgments_published=True,
                )  # fmt: skip
                queries.import_queries(
                    session, CONSOLE, made, [QueryRow(name, "", ()) for name in names if name not in HIDDEN]
                )
                queries.import_queries(
                    session, CONSOLE, made, [QueryRow(name, "", ()) for name in HIDDEN], Split.HIDDEN
                )
                queries.exclude_queries(session, CONSOLE, made, EXCLUDED, because="two topics in one")
                judgments.import_judgments(session, CONSOLE, made, JudgmentFiles(judged("".join(judged_lines))))
            for slug in ("complete", "pooled"):
                made = session.scalars(sa.select(Evaluation).where(Evaluation.slug == slug)).one()
                sent = submissions.submit(
                    session, world.ada, made.id, world.team, system=NewSystem(f"System {slug}"),
                    upload=world.receive(played.run, "a run's file.txt"), threshold=0.25,
                )  # fmt: skip
                played.runs[slug] = sent.id
        world.drain()
        yield played


@pytest.mark.parametrize("slug", ["complete", "pooled"])
@pytest.mark.parametrize("who", ["visitor", "member", "organiser", "visitor after closing"])
def test_the_printed_command_gives_the_figures_on_record_to_the_digit(
    played: Played, slug: str, who: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    actor = {"member": played.world.ada, "organiser": CONSOLE}.get(who, VISITOR)
    closing_day = present() + dt.timedelta(days=-1 if who == "visitor after closing" else 1)
    played.change(slug, closes_at=closing_day)
    found = played.receipt(slug, actor)
    if who in ("visitor", "member"):  # a measure takes the highest grade, which a hidden query has
        assert (found.queries, found.command) == (Subset.SHOWN, "")
        assert "hidden queries" in found.no_command
        return
    played.fetch("hard", slug, actor, tmp_path)
    assert _offline(found, played.run, tmp_path, monkeypatch, capsys) == played.figures(slug, actor)
    assert found.queries is Subset.ALL
    assert "--threshold=0.25" in found.command
    assert "--no-relevant pfa_only --compat 9 --relevance 2 --highest-grade 4" in found.command


def _offline(
    found: Receipt, run: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> dict[str, float | None]:
    """Runs the printed command beside the files that it names: measure -> mean."""
    words = shlex.split(found.command)
    assert words[:2] == ["leaderboard", "score"]
    (folder / f"submission-{found.submission}.txt").write_text(run)
    assert {*found.files.values()} <= {file.name for file in folder.iterdir()}
    monkeypatch.chdir(folder)
    capsys.readouterr()
    assert run_command(words[1:]) == 0
    scored = json.loads(capsys.readouterr().out)["runs"][0]["measures"]
    return {name: figure["mean"] for name, figure in scored.items()}


def test_over_the_shown_queries_the_command_gives_what_a_visitor_sees(
    played: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where no measure takes the highest grade of all judgments, hidden ones too."""
    world = played.world
    with world.database.write() as session:
        small = session.get_one(Evaluation, world.evaluation)
        small.judgments_published, small.hidden_queries = True, Opening.NEVER
        queries.set_split(session, CONSOLE, small, ["q2"], Split.HIDDEN)
    run = world.submit()
    world.drain()
    played.runs["2026"] = run
    played.change("2026", closes_at=present() - dt.timedelta(hours=1))  # before that nobody can fetch the judgments
    found = played.receipt("2026", VISITOR)
    played.fetch("small", "2026", VISITOR, tmp_path)
    assert (tmp_path / "small-2026-judgments.txt").read_text() == "q1 0 d1 1\nq1 0 d2 0\nq3 0 d4 0\n"  # nothing of q2
    text = "q1 Q0 d2 1 2.0 a-run\nq1 Q0 d1 2 1.0 a-run\nq2 Q0 d3 1 1.0 a-run\n"
    assert _offline(found, text, tmp_path, monkeypatch, capsys) == played.figures("2026", VISITOR)
    assert "q2" not in found.command
    assert (found.judgments_sha256, found.settings_sha256) == (None, None)
    assert found.judgments_published
    with world.database.read() as session:
        page = published(session, VISITOR, "small", "2026", present())
    assert page.file_sha256 == hashlib.sha256((tmp_path / "small-2026-judgments.txt").read_bytes()).hexdigest()


def test_known_documents_and_judgments_of_subtopics_can_be_fetched_too(
    played: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    world = played.world
    run = "".join(f"q{query} Q0 d{9 - place} {place} {9 - place} a-run\n" for query in (1, 2, 3) for place in range(9))
    aspects = "".join(f"q{query} {1 + place % 3} d{place} 1\n" for query in (1, 2, 3) for place in range(6 * query))
    with world.database.write() as session:
        campaign = campaigns.create_campaign(
            session, CONSOLE, "aspects", "Aspects", measures=["alpha_nDCG@5", "Coverage", "AP"], primary_measure="AP"
        )
        made = evaluations.create_evaluation(
            session, CONSOLE, campaign, "2026", "Aspects 2026", "2026", judgments_published=True, condition="aspects",
            closes_at=present() + dt.timedelta(days=1),
        )  # fmt: skip
        queries.import_queries(session, CONSOLE, made, [QueryRow(f"q{query}", "", ()) for query in (1, 2, 3)])
        files = JudgmentFiles(
            judged("q1 0 d0 1\nq1 0 d9 1\nq2 0 d4 1\nq3 0 d1 0\nq3 0 d3 1\n"),
            known=judged("q1 0 d9 1\nq2 0 d4 1\n"),
            subtopics=read_subtopic_judgments(io.BytesIO(aspects.encode())),
        )
        judgments.import_judgments(session, CONSOLE, made, files)
        queries.exclude_queries(session, CONSOLE, made, ["q2"], because="unclear")
        sent = submissions.submit(
            session, world.ada, made.id, world.team, system=NewSystem("Of aspects"),
            upload=world.receive(run, "aspects.txt"),
        )  # fmt: skip
        played.runs["aspects"] = sent.id
        slug = made.slug
    world.drain()
    with world.database.write() as session:
        session.get_one(Evaluation, made.id).closes_at = present() - dt.timedelta(hours=1)
    found = played.receipt("aspects", VISITOR)
    played.fetch("aspects", slug, VISITOR, tmp_path)
    assert [*found.files] == ["run", "judgments", "known", "subtopics"]
    assert "q2" not in (tmp_path / f"aspects-{slug}-subtopics.txt").read_text()
    figures = played.figures("aspects", VISITOR)
    assert figures["alpha_nDCG@5"] is not None
    assert figures["Coverage"] is not None
    assert _offline(found, run, tmp_path, monkeypatch, capsys) == figures


def test_the_hashes_are_those_of_the_judgments_and_settings_on_record(played: Played) -> None:
    found = played.receipt("complete", CONSOLE)
    with played.world.database.read() as session:
        evaluation = session.scalars(sa.select(Evaluation).where(Evaluation.slug == "complete")).one()
        revision = session.scalars(
            sa.select(JudgmentRevision).where(JudgmentRevision.evaluation_id == evaluation.id)
        ).one()
        made = current_set(session, evaluation.id)
        assert made is not None
        assert (found.judgments_sha256, found.settings_sha256) == (revision.sha256, made.settings.hash)
    assert (found.metric_version, found.revision, found.filename) == (made.metric_version, 1, "a run's file.txt")
    assert found.beta == pytest.approx(1 / 3 * (1 / 0.07 - 1))


@pytest.mark.parametrize("who", ["visitor", "member"])
def test_while_single_queries_are_closed_a_receipt_tells_nothing_that_depends_on_judgments(
    played: Played, who: str
) -> None:
    actor = played.world.ada if who == "member" else VISITOR
    played.change("complete", closes_at=present() + dt.timedelta(days=1), details=Opening.CLOSED)
    found = played.receipt("complete", actor)
    played.change("complete", details=Opening.ALWAYS)
    assert (found.command, found.judgments_sha256, found.settings_sha256, found.files) == ("", None, None, {})
    assert "once single queries are open" in found.no_command
    assert not found.judgments_published


def test_a_files_hashes_are_told_to_whoever_is_told_the_team_and_its_name_to_the_team(played: Played) -> None:
    whole = hashlib.sha256(played.run.encode()).hexdigest(), hashlib.md5(played.run.encode()).hexdigest()
    found = played.receipt("complete", VISITOR)
    assert (found.sha256, found.md5, found.filename) == (*whole, "")
    played.change("complete", anonymous_until=present() + dt.timedelta(days=1))
    try:
        for actor, told in ((VISITOR, ("", "", "")), (played.world.ada, (*whole, "a run's file.txt"))):
            found = played.receipt("complete", actor)
            assert (found.sha256, found.md5, found.filename) == told
    finally:
        played.change("complete", anonymous_until=None)


def test_a_run_whose_results_are_closed_has_no_receipt(played: Played) -> None:
    played.change("complete", closes_at=present() + dt.timedelta(days=1), results=Opening.CLOSED, own_results=False)
    try:
        with pytest.raises(NotFound):
            played.receipt("complete", VISITOR)
        with pytest.raises(NotAllowed):
            played.receipt("complete", played.world.ada)
        assert played.receipt("complete", CONSOLE).command
    finally:
        played.change("complete", results=Opening.ALWAYS, own_results=True)
