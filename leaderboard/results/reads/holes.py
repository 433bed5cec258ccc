"""How much of what runs list first is judged, beside the field: what nobody judged counts as not relevant, so a run
with many such holes may be better than its figures."""

from collections.abc import Mapping, Sequence, Set as AbstractSet

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Content, may_see
from leaderboard.boards.reads.entries import Disclosure
from leaderboard.boards.rules import least_judged
from leaderboard.evaluations.rules import JUDGED, Judging
from leaderboard.frozen import frozen
from leaderboard.worker.models import Score, Scoring


@frozen
class Holes:
    """Means of Judged@10.

    median  of the field
    marked  submission -> its mean, of those that are far below the field's (`boards.rules.least_judged`)
    """

    median: float
    marked: Mapping[int, float]


def load_holes(
    session: Session, disclosure: Disclosure, field: AbstractSet[int], more: Sequence[int] = ()
) -> Holes | None:
    """None while single queries are closed to the reader, and where nothing says how much is judged.

    field  scorings that say what is usual; more: others that may be marked too
    """
    details = may_see(disclosure.actor, disclosure.evaluation, Content.DETAILS, disclosure.moment)
    if not details or disclosure.scoring_set.settings.judging is Judging.COMPLETE:
        return None
    own = Score.measure == JUDGED, Score.subset == disclosure.subset, Score.scoring_id.in_({*field, *more})
    rows = session.execute(sa.select(Score.scoring_id, Scoring.submission_id, Score.mean).join(Scoring).where(*own))
    shares = {(scoring, submission): mean for scoring, submission, mean in rows if mean is not None}
    usual = [mean for (scoring, _), mean in shares.items() if scoring in field]
    if not usual:
        return None
    median, least = least_judged(np.array(usual))
    return Holes(median, {submission: mean for (_, submission), mean in shares.items() if mean < least})
