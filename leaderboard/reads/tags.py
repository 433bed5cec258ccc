"""A board over some of its queries: those with one tag."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.metrics import query_order
from leaderboard.models import NoRelevant, Query, ScoringSet, Split, Subset
from leaderboard.reads.entries import Entry
from leaderboard.reads.vectors import figures_over, load_vectors

__all__ = ["over_tag", "positions_by_tag"]


def positions_by_tag(session: Session, scoring_set: ScoringSet, subset: Subset) -> dict[str, list[int]]:
    """Tag -> positions of its queries that may count, in the order in which their values are added up.

    Tags come in the order of their first query.
    """
    excluded = set(scoring_set.settings["excluded"])
    rows = session.execute(
        sa.select(Query.position, Query.tags, Query.external_id, Query.split)
        .where(Query.evaluation_id == scoring_set.evaluation_id, Query.position < scoring_set.settings["queries"])
        .order_by(Query.position)
    )
    positions: dict[str, dict[str, int]] = {}
    for position, tags, external_id, split in rows:
        if external_id in excluded or (split == Split.HIDDEN and subset == Subset.SHOWN):
            continue
        for tag in tags:
            positions.setdefault(tag, {})[external_id] = position
    return {tag: [own[query] for query in query_order(own)] for tag, own in positions.items()}


def over_tag(
    session: Session, scoring_set: ScoringSet, entries: Sequence[Entry], positions: Sequence[int], subset: Subset
) -> list[Entry]:
    """The same runs with figures over these positions only, reckoned here from the packed values."""
    settings = scoring_set.settings
    shown = settings["measures"]
    names = [*shown, *settings.get("kept", ())]
    vectors = load_vectors(session, [entry.scoring_id for entry in entries], names, subset)
    where = np.array(positions, dtype=np.int64)
    over = []
    for entry in entries:
        own = {name: vectors[entry.scoring_id, name] for name in names if (entry.scoring_id, name) in vectors}
        figures = figures_over(own, where, shown, NoRelevant(settings["no_relevant"]), settings["beta"])
        over.append(replace(entry, figures=figures))
    return over
