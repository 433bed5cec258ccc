"""Of which other evaluation a run seems to be that is strange where it was sent, in any campaign.

It follows from ids of queries, organisers' lists of documents and patterns of their ids, of what the reader may know
of: never from a judgment, and nothing is asked about a campaign or a query that is absent for the reader.
"""

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, known_evaluations, subset_seen
from leaderboard.formats import FileRules, Run, RunRules
from leaderboard.lookup import file_rules
from leaderboard.models import Campaign, CollectionList, Evaluation, Query
from leaderboard.rules.run_checks import MOSTLY, Elsewhere
from leaderboard.rules.settings import Split, Subset

__all__ = ["whose_run"]

QUERIES = 100  # of a run that are looked for
DOCUMENTS = 2000  # of a run that are held against another collection
MOST_OTHERS = 30  # evaluations that a strange run is held against
MOST_LISTED = 2_000_000  # ids in lists that are read for it, unless the first one has more: half a second
MOST_ALIKE = 0.9  # the share from which on they are said to be theirs


class _Evidence(IntEnum):
    """What of the run is of the evaluation, beside its queries; the most telling last."""

    NONE = 0
    FORM = 1
    LISTED = 2


def whose_run(
    session: Session, actor: Actor, evaluation: Evaluation, run: Run, now: dt.datetime, *, knows_queries: bool
) -> Elsewhere | None:
    """The evaluation that a run seems to be of; None where nothing says so, or as much speaks for another one.

    evaluation     the one to which the run was sent, and which it is not of
    knows_queries  whether most of the queries are those of that evaluation: then queries tell nothing

    Ids such as 1 to 50 are many evaluations' own. So queries alone name one only where they are no other's, and so does
    a pattern of document ids. A list of documents tells collections apart: of several evaluations with the queries and
    the documents those of the same campaign come first, then the latest.
    """
    found: dict[_Evidence, list[Elsewhere]] = {evidence: [] for evidence in _Evidence}
    candidates = list(_candidates(session, actor, evaluation, run, now))
    of_documents = _documents(session, [other for other, _ in candidates], run)
    for (other, share), (evidence, documents) in zip(candidates, of_documents, strict=True):
        if documents is not None and (evidence is not _Evidence.NONE or share >= MOST_ALIKE):
            queries = "its queries" if share >= MOST_ALIKE else "most of its queries"
            found[evidence].append(
                Elsewhere(
                    other.campaign.slug,
                    other.campaign.title,
                    other.slug,
                    other.title,
                    of_other_campaign=other.campaign_id != evaluation.campaign_id,
                    alike=" and ".join(filter(None, (queries, documents))),
                )
            )
    if found[_Evidence.LISTED]:
        return found[_Evidence.LISTED][0]
    others = found[_Evidence.FORM] or ([] if knows_queries else found[_Evidence.NONE])
    return others[0] if len(others) == 1 else None


def _candidates(
    session: Session, actor: Actor, evaluation: Evaluation, run: Run, now: dt.datetime
) -> Iterator[tuple[Evaluation, float]]:
    """Other evaluations that most of the run's queries are of, as far as the reader knows of them, and the share."""
    sample = [run.queries[place] for place in _spread(len(run.queries), QUERIES)]
    least = int(MOSTLY * len(sample)) + 1
    every = sa.func.count()
    # Hidden ones, which nobody but `subset_seen` can tell, put no evaluation before one whose shown queries suffice.
    shown = sa.func.count(sa.case((Query.split == Split.SHOWN, 1)))
    rows = session.execute(
        sa.select(Evaluation, shown, every)
        .join(Evaluation.campaign)
        .join(Query, Query.evaluation_id == Evaluation.id)
        .options(sa.orm.contains_eager(Evaluation.campaign))
        .where(Evaluation.id != evaluation.id, known_evaluations(actor), Query.external_id.in_(sample))
        .group_by(Evaluation.id, Campaign.id)
        .having(every >= least)
        .order_by(
            sa.case((shown >= least, 0), else_=1),
            sa.case((Evaluation.campaign_id == evaluation.campaign_id, 0), else_=1),
            Evaluation.period_key.desc(),
            Evaluation.id,
        )
        .limit(MOST_OTHERS)
    )
    for other, of_shown, of_all in rows:
        held = of_all if subset_seen(actor, other, now) is Subset.ALL else of_shown
        if held >= least:
            yield other, held / len(sample)


def _documents(session: Session, others: Sequence[Evaluation], run: Run) -> Iterator[tuple[_Evidence, str | None]]:
    """What each of the evaluations says of the run's documents: how telling it is, and in words; None where they are
    not its own, or where its list is too long to be read beside others, "" where it says nothing.
    """
    rules = [_of_documents(other) for other in others]
    lists = _lists(session, others, rules)
    document = type(run.document)([run.document.take(np.array(_spread(len(run), DOCUMENTS), np.int64))])
    own: dict[FileRules, bool] = {}
    for one in rules:
        if one.know_documents and one not in own:
            most = (1 - MOST_ALIKE) * len(document)
            packed = lists.get(one.documents_sha256)
            is_ready = packed is not None or not one.documents
            own[one] = is_ready and len(RunRules(one, (), packed).foreign(document)) <= most
        if not one.know_documents:
            yield _Evidence.NONE, ""
        elif not own[one]:
            yield _Evidence.NONE, None
        elif one.documents:
            yield _Evidence.LISTED, "its documents"
        else:
            yield _Evidence.FORM, "the form of its document ids"


def _of_documents(evaluation: Evaluation) -> FileRules:
    """The rules of an evaluation that tell its documents from others."""
    rules = file_rules(evaluation)
    return FileRules(
        document_pattern=rules.document_pattern, documents=rules.documents, documents_sha256=rules.documents_sha256
    )


def _lists(session: Session, others: Sequence[Evaluation], rules: Sequence[FileRules]) -> dict[str, bytes]:
    """The lists of documents, packed, by their hash: the first one, and of others as many as are quickly read."""
    chosen: dict[str, int] = {}
    together = 0
    for other, one in zip(others, rules, strict=True):
        fits = not chosen or together + one.documents <= MOST_LISTED
        if one.documents and one.documents_sha256 not in chosen and fits:
            chosen[one.documents_sha256] = other.id
            together += one.documents
    if not chosen:
        return {}
    found = sa.select(CollectionList.evaluation_id, CollectionList.packed)
    rows = session.execute(found.where(CollectionList.evaluation_id.in_(chosen.values())))
    packed = {row.evaluation_id: row.packed for row in rows}
    return {sha256: packed[evaluation] for sha256, evaluation in chosen.items() if evaluation in packed}


def _spread(number: int, most: int) -> list[int]:
    """So many places at most of that many, as far apart as they go."""
    places: Iterable[int] = np.linspace(0, number - 1, min(number, most)).astype(np.int64).tolist()
    return list(places)
