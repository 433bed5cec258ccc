"""What organisers are told once a change of settings has runs scored again."""

from collections.abc import Mapping

from flask import flash

from leaderboard.numbers import counted
from leaderboard.reads.organising.rescoring import scored_again
from leaderboard.web.context import read

__all__ = ["say_changed"]


def say_changed(campaign: str, before: Mapping[int, int]) -> None:
    """Says that the settings are changed, and what follows. before: what `scored_again` gave before the change."""
    flash("The settings are changed.")
    after = read(scored_again, campaign)
    made = [runs for scoring_set, runs in after.items() if scoring_set not in before]
    if made:
        runs = counted(sum(made), "run")
        verb = "is" if sum(made) == 1 else "are"
        of = f"{runs} of {counted(len(made), 'evaluation')} {verb} scored again"
        flash(f"{of}. Boards show the figures of before until then.")
