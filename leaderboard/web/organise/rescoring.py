"""What organisers are asked before a change does what nobody may do unawares, and told after it."""

from flask import flash, request
from sqlalchemy.orm import Session

from leaderboard.reads.organising.effects import Noted, effects
from leaderboard.reads.organising.rescoring import in_words, scored_again
from leaderboard.web.context import actor, now, read

__all__ = ["AGREED", "awaits_yes", "say_changed"]

AGREED = "agreed"  # the field that says what somebody said yes to, in the words in which it was asked


def awaits_yes(session: Session, campaign: str, before: Noted) -> tuple[str, ...]:
    """What the change that this session just made does, in sentences, where nobody said yes to just that: then it is
    undone. Empty where it may be kept.

    before  what `noted` gave before the change
    """
    found = effects(session, actor(), campaign, before, now())
    if not found or request.form.get(AGREED) == " ".join(found):
        return ()
    session.rollback()
    return found


def say_changed(campaign: str, before: Noted, changed: str = "The settings are changed.") -> None:
    """Says what is changed, and what follows. before: what `noted` gave before the change."""
    flash(changed)
    words = in_words(before.scored, read(scored_again, campaign))
    if words:
        flash(f"{words} again. Boards show the figures of before until then.")
