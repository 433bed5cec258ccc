"""Small rankings for tests, built the obvious way from lists: documents in rank order, judgments as a dictionary."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from leaderboard.metrics import Ranking, Setting, Subtopics


@dataclass(frozen=True)
class Line:
    document: str
    score: float
    returned: bool = True


@dataclass(frozen=True)
class Query:
    """lines in any order; judged: document -> grade; known: documents known to the user; subtopics: (subtopic,
    document) -> grade, one subtopic for each grade from 1 on unless given.
    """

    lines: Sequence[Line] = ()
    judged: Mapping[str, int] = field(default_factory=dict)
    known: Sequence[str] | None = None
    subtopics: Mapping[tuple[int, str], int] | None = None

    @property
    def aspects(self) -> Mapping[tuple[int, str], int]:
        if self.subtopics is not None:
            return self.subtopics
        return {
            (s, document): grade - s for document, grade in self.judged.items() for s in range(max(1, min(grade, 3)))
        }

    @property
    def ranked(self) -> list[Line]:
        """Score descending, equal scores by document id descending."""
        by_document = sorted(self.lines, key=lambda line: line.document.encode(), reverse=True)
        return sorted(by_document, key=lambda line: -line.score)

    @property
    def grades(self) -> list[int | None]:
        """The grade at each rank, None where unjudged."""
        return [self.judged.get(line.document) for line in self.ranked]


def of_grades(grades: Sequence[int | None], unretrieved: Sequence[int] = ()) -> Query:
    """A query whose ranks hold these grades (None: unjudged), and further judged documents that were not retrieved."""
    lines = [Line(f"d{rank:04}", float(-rank)) for rank in range(len(grades))]
    judged = {line.document: grade for line, grade in zip(lines, grades, strict=True) if grade is not None}
    return Query(lines, judged | {f"n{number:04}": grade for number, grade in enumerate(unretrieved)})


def relevant_at(ranks: Sequence[int], retrieved: int, relevant: int, grade: int = 1) -> Query:
    """A query with relevant documents at these ranks, other documents unjudged, and `relevant` of them in all."""
    grades = [grade if rank in ranks else None for rank in range(1, retrieved + 1)]
    return of_grades(grades, [grade] * (relevant - len(ranks)))


def ranking_of(*queries: Query, setting: Setting | None = None) -> Ranking:
    query, rank, grade, is_returned, is_known = [], [], [], [], []
    judged_start, judged_grade = [0], []
    judged_known = []
    for number, each in enumerate(queries):
        for place, line in enumerate(each.ranked, start=1):
            if line.document in each.judged:
                query.append(number)
                rank.append(place)
                grade.append(each.judged[line.document])
                is_returned.append(line.returned)
                is_known.append(line.document in (each.known or ()))
        by_grade = sorted(each.judged, key=lambda document: -each.judged[document])
        judged_grade.extend(each.judged[document] for document in by_grade)
        judged_known.extend(document in (each.known or ()) for document in by_grade)
        judged_start.append(len(judged_grade))
    aspects = [
        (number, subtopic, document, grade)
        for number, each in enumerate(queries)
        for (subtopic, document), grade in sorted(each.aspects.items(), key=lambda item: item[0][1], reverse=True)
    ]
    documents = {pair: place for place, pair in enumerate(dict.fromkeys((q, d) for q, _, d, _ in aspects))}
    places = {(q, line.document): rank for q, each in enumerate(queries) for rank, line in enumerate(each.ranked, 1)}
    has_known = any(each.known is not None for each in queries)
    all_scores = np.array([line.score for each in queries for line in each.ranked], dtype=np.float64)
    return Ranking(
        retrieved=_ints([len(each.lines) for each in queries]),
        returned=_ints([sum(line.returned for line in each.lines) for each in queries]),
        query=_ints(query),
        rank=_ints(rank),
        grade=_ints(grade),
        is_returned=np.array(is_returned, dtype=bool),
        judged_start=_ints(judged_start),
        judged_grade=_ints(judged_grade),
        setting=setting or Setting(),
        load_scores=lambda: all_scores,
        judged_known=np.array(judged_known, dtype=bool) if has_known else None,
        is_known=np.array(is_known, dtype=bool) if has_known else None,
        subtopics=Subtopics(
            query=_ints([q for q, _, _, _ in aspects]),
            subtopic=_ints([s for _, s, _, _ in aspects]),
            document=_ints([documents[q, d] for q, _, d, _ in aspects]),
            grade=_ints([grade for _, _, _, grade in aspects]),
        ),
        subtopic_rank=_ints([places.get((q, d), 0) for q, _, d, _ in aspects]),
    )


def _ints(values: Sequence[int]) -> np.ndarray:
    return np.array(values, dtype=np.int64)
