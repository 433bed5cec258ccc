"""Judgments: every import is a revision of its own."""

import io
import re

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.errors import Conflict, LeaderboardError
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.models import Evaluation
from leaderboard.formats import read_subtopic_judgments
from leaderboard.judgments import writes as judgments
from leaderboard.judgments.models import Judgment, JudgmentRevision, KnownDocument, SubtopicJudgment
from leaderboard.judgments.reads import JudgmentChanges, judgment_changes
from leaderboard.judgments.rules import JudgmentFiles
from tests.support.refused import refused
from tests.support.verification import named, verified
from tests.support.world import QRELS, World, judged


def previewed(world: World, text: str, subtopics: str | None) -> JudgmentChanges:
    of_subtopics = subtopics and read_subtopic_judgments(io.BytesIO(subtopics.encode()))
    files = JudgmentFiles(judged(text), subtopics=of_subtopics or None)
    with world.database.read() as session:
        return judgment_changes(session, session.scalars(sa.select(Evaluation)).one(), files)


def test_revisions_are_numbered_and_the_same_judgments_make_no_new_one(world: World) -> None:
    shuffled = "".join(reversed(QRELS.splitlines(keepends=True)))
    with refused(world.database, Conflict, "judgment_revision", match="revision 1"):
        world.judge(shuffled)
    world.judge(QRELS + "q3 0 d9 1\n")
    revisions = world.all(sa.select(JudgmentRevision).order_by(JudgmentRevision.id))
    assert [(revision.number, revision.judgments) for revision in revisions] == [(1, 4), (2, 5)]
    assert len(world.all(sa.select(Judgment))) == 9


@pytest.mark.parametrize(
    ("text", "subtopics"),
    [
        (QRELS, None),
        (QRELS + "q7 0 d1 1\n", "q8 1 d1 1\n"),
    ],
    ids=["the same again", "unknown queries of two files"],
)
def test_a_preview_says_that_and_why_an_import_would_be_refused(world: World, text: str, subtopics: str | None) -> None:
    changes = previewed(world, text, subtopics)
    assert changes.would_be_refused
    assert len(changes.problems) == (1 if subtopics is None else 2)
    with refused(world.database, LeaderboardError, "judgment", match=re.escape(changes.problems[0])):
        world.judge(text, subtopics=subtopics)


@pytest.mark.parametrize(
    ("subtopics", "lines"),
    [("q1 0 d1 1\nq2 0 d1 0\nq2 0 d1 0\n", 3), ("q1 0 d1 1\nq2 1 d1 0\n", None), ("q1 1 d1 1\n", None)],
    ids=["plain ones", "two subtopics", "a single line"],
)
def test_a_preview_says_that_judgments_of_one_subtopic_look_like_plain_ones(
    world: World, subtopics: str, lines: int | None
) -> None:
    changes = previewed(world, "q1 0 d9 1\n", subtopics)
    assert not changes.would_be_refused
    doubt = f"judgments of subtopics: all {lines} lines are of subtopic 0: these look like plain judgments"
    assert [said.partition(" (")[0] for said in changes.doubts] == [doubt] * bool(lines)


def test_known_documents_are_kept_with_the_revision_that_they_came_with(world: World) -> None:
    with world.organising() as (session, _, evaluation):
        known = judged("q1 0 d1 1\nq2 0 d9 0\n")
        judgments.import_judgments(
            session, CONSOLE, evaluation, JudgmentFiles(judged(QRELS + "q3 0 d9 1\n"), known), " a note "
        )
    (revision,) = world.all(sa.select(JudgmentRevision).where(JudgmentRevision.number == 2))
    assert (revision.note, revision.judgments, revision.highest_grade) == ("a note", 5, 1)
    rows = world.all(sa.select(KnownDocument).order_by(KnownDocument.document))
    assert [(row.revision_id, row.document) for row in rows] == [(revision.id, "d1"), (revision.id, "d9")]


def test_judgments_of_subtopics_are_kept_with_their_revision_and_are_in_its_hash(world: World) -> None:
    for text in ("q1 1 d1 1\nq1 2 d1 0\n", "q1 1 d1 1\nq1 2 d1 2\n"):
        world.judge(QRELS, subtopics=text)
    numbers = {revision.id: revision.number for revision in world.all(sa.select(JudgmentRevision))}
    rows = world.all(sa.select(SubtopicJudgment).order_by(SubtopicJudgment.revision_id, SubtopicJudgment.subtopic))
    assert [(numbers[row.revision_id], row.subtopic, row.document, row.grade) for row in rows] == [
        (2, "1", "d1", 1), (2, "2", "d1", 0), (3, "1", "d1", 1), (3, "2", "d1", 2),
    ]  # fmt: skip
    assert named(verified(world)) == []
    with refused(world.database, Conflict, "judgment_revision", match="revision 3"):
        world.judge(QRELS, subtopics="q1 2 d1 2\nq1 1 d1 1\n")


def test_judgments_before_queries_say_what_to_do_first(world: World) -> None:
    with world.organising() as (session, campaign, _):
        empty = evaluations.create_evaluation(session, CONSOLE, campaign, "2027", "2027", "2027", documents=10).id
    with refused(world.database, Conflict, "judgment", match="queries"), world.database.write() as session:
        judgments.import_judgments(session, CONSOLE, session.get_one(Evaluation, empty), JudgmentFiles(judged(QRELS)))
