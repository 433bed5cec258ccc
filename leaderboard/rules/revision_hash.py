"""The hash of a revision: over its judgments, known documents and subtopics, whatever their order."""

import hashlib
from collections.abc import Iterable, Iterator

from leaderboard.formats import Judgments, SubtopicJudgments

__all__ = ["judgments_sha256", "revision_sha256", "rows_of", "rows_of_subtopics"]


def revision_sha256(
    judgments: Judgments, known: Judgments | None = None, subtopics: SubtopicJudgments | None = None
) -> str:
    """The hash that a revision of these has."""
    return judgments_sha256(
        rows_of(judgments),
        (row[:2] for row in rows_of(known)) if known is not None else (),
        rows_of_subtopics(subtopics) if subtopics is not None else (),
    )


def rows_of(judgments: Judgments) -> Iterator[tuple[str, str, int]]:
    """(query, document, grade) of each."""
    queries = judgments.queries
    for query, document, grade in zip(
        judgments.query.tolist(), judgments.document.to_list(), judgments.grade.tolist(), strict=True
    ):
        yield queries[query], document, grade


def rows_of_subtopics(judged: SubtopicJudgments) -> Iterator[tuple[str, str, str, int]]:
    """(query, subtopic, document, grade) of each."""
    for query, subtopic, document, grade in zip(
        judged.query.tolist(),
        judged.subtopic.tolist(),
        judged.document.to_list(),
        judged.grade.tolist(),
        strict=True,
    ):
        yield judged.queries[query], judged.subtopics[subtopic], document, grade


def judgments_sha256(
    judged: Iterable[tuple[str, str, int]],
    known: Iterable[tuple[str, str]],
    subtopics: Iterable[tuple[str, str, str, int]],
) -> str:
    """Of (query, document, grade), (query, document) and (query, subtopic, document, grade), whatever their order."""
    digest = hashlib.sha256()
    for query, document, grade in sorted(judged):
        digest.update(f"{query}\t{document}\t{grade}\n".encode())
    for query, document in sorted(known):
        digest.update(f"{query}\t{document}\tknown\n".encode())
    for query, subtopic, document, grade in sorted(subtopics):
        digest.update(f"{query}\t{subtopic}\t{document}\t{grade}\n".encode())
    return digest.hexdigest()
