"""What organisers are asked before a change has runs scored again, and told after it."""

from collections.abc import Mapping

from flask import flash, request
from sqlalchemy.orm import Session

from leaderboard.reads.organising.rescoring import in_words, scored_again
from leaderboard.web.context import actor, now, read

__all__ = ["AGREED", "awaits_yes", "say_changed"]

AGREED = "agreed"  # the field that says what somebody said yes to, in the words in which it was asked


def awaits_yes(session: Session, campaign: str, before: Mapping[int, int]) -> str:
    """What the change that this session just made has scored again, in words, where nobody said yes to just that: then
    it is undone. "" where it may be kept.

    before  what `scored_again` gave before the change
    """
    session.flush()
    words = in_words(before, scored_again(session, actor(), campaign, now()))
    if not words or request.form.get(AGREED) == words:
        return ""
    session.rollback()
    return words


def say_changed(campaign: str, before: Mapping[int, int], changed: str = "The settings are changed.") -> None:
    """Says what is changed, and what follows. before: what `scored_again` gave before the change."""
    flash(changed)
    words = in_words(before, read(scored_again, campaign))
    if words:
        flash(f"{words} again. Boards show the figures of before until then.")
