"""Sources of judgments: one whose name was mistyped is renamed, one that came by mistake is taken away."""

from collections.abc import Collection

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, require_organiser
from leaderboard.audit.writes import present, record
from leaderboard.boards.models import Board
from leaderboard.errors import InvalidFields
from leaderboard.evaluations.models import Evaluation
from leaderboard.formats.plain_text import shown
from leaderboard.judgments.models import JudgmentRevision
from leaderboard.judgments.reads.sources import Removal, known_sources, removal_of_source, require_source
from leaderboard.locking import locked
from leaderboard.names import checked_slug
from leaderboard.numbers import first_of
from leaderboard.submissions.rules import SetState
from leaderboard.worker.models import ScoringSet
from leaderboard.worker.writes import supersede

NAMED = 3  # sources that a message names


def rename_source(session: Session, actor: Actor, evaluation: Evaluation, source: str, name: str) -> None:
    """Gives a source of judgments another name, on its old boards too; the trail keeps the one before.

    Raises Conflict for a source that is none of the evaluation's, and InvalidFields for a name that is none or taken.
    """
    require_organiser(actor, evaluation.campaign_id)
    evaluation = locked(session, Evaluation, evaluation.id)
    require_source(session, evaluation, source)
    name = checked_slug(name, "name")
    if name in known_sources(session, evaluation):
        raise InvalidFields({"name": [f"there is a source {name} already; give another name"]})
    sets = _sets(session, evaluation, source)
    for revision in _revisions(session, evaluation, source):
        revision.source = name
    for one in sets:
        one.source = name
    evaluation.set_aside = [name if one == source else one for one in evaluation.set_aside]
    if evaluation.official_source == source:
        evaluation.official_source = name
    record(session, actor, "rename source", evaluation, about=sets[:1], source=name, before=source)


def remove_source(session: Session, actor: Actor, evaluation: Evaluation, source: str) -> Removal:
    """Takes away a source of judgments, such as one that came by mistake, and says what became of it.

    It goes for good while nothing was submitted. Afterwards judgments and what was scored by them stay on record, as
    the locks of the database have it: the source is set aside, so that no run is scored by it any more. Of what nobody
    but organisers could see nothing is shown then; what readers could see stays to be read as it stood. Judgments that
    come by it later take it up again.

    Raises Conflict for the official source, one that is set aside, and one that is none of the evaluation's.
    """
    require_organiser(actor, evaluation.campaign_id)
    evaluation = locked(session, Evaluation, evaluation.id)
    removal = removal_of_source(session, evaluation, source, present())
    if removal is not Removal.GONE:
        set_aside_sources(session, actor, evaluation, [source], evaluation.official_source)
        if removal is Removal.HIDDEN:
            for one in _sets(session, evaluation, source):
                one.switched_at = None
        return removal
    sets, revisions = _sets(session, evaluation, source), _revisions(session, evaluation, source)
    others = session.scalars(sa.select(ScoringSet).where(ScoringSet.evaluation_id == evaluation.id).limit(1))
    record(session, actor, "remove source", evaluation, about=others.all(), source=source)
    session.execute(sa.delete(Board).where(Board.scoring_set_id.in_([one.id for one in sets])))
    for one in sets:
        session.delete(one)
    session.flush()
    for revision in revisions:
        session.delete(revision)
    return removal


def set_aside_sources(
    session: Session, actor: Actor, evaluation: Evaluation, sources: Collection[str], official: str
) -> None:
    """Lets nothing be scored by these sources any more; what was stays as it stood.

    official  the source that boards go by, at the end of an import too

    Raises InvalidFields for the official one, and for those that are none of the evaluation's.
    """
    require_organiser(actor, evaluation.campaign_id)
    judged = known_sources(session, evaluation)
    if lost := [shown(one) for one in sources if one == official or one not in judged]:
        raise InvalidFields({"set_aside": [f"{first_of(lost, NAMED)}: no source beside the official one"]})
    for source in sources:
        sets = _sets(session, evaluation, source)
        for one in sets:
            if one.state is not SetState.SUPERSEDED:
                supersede(session, one)
        evaluation.set_aside = sorted({*evaluation.set_aside, source})
        record(session, actor, "set source aside", evaluation, about=sets[:1], source=source)


def _sets(session: Session, evaluation: Evaluation, source: str) -> list[ScoringSet]:
    own = ScoringSet.evaluation_id == evaluation.id, ScoringSet.source == source
    return list(session.scalars(sa.select(ScoringSet).where(*own).order_by(ScoringSet.id)))


def _revisions(session: Session, evaluation: Evaluation, source: str) -> list[JudgmentRevision]:
    own = JudgmentRevision.evaluation_id == evaluation.id, JudgmentRevision.source == source
    return list(session.scalars(sa.select(JudgmentRevision).where(*own).order_by(JudgmentRevision.number)))
