"""What services change, one after the other in the world of the pages' tests, and the pages that show it.

`tests/web/test_changes_show.py` makes each change. A new service gets a change here, at a place in the lists where what
it needs is there: each list goes on where the one before it ended.
"""

from tests.web.changes import campaigns, forms, people, runs, teams
from tests.web.changes.listing import NONE, OF_ALL, OF_CAMPAIGN, Change

__all__ = ["CHANGES", "NONE", "OF_ALL", "OF_CAMPAIGN"]

CHANGES: list[Change] = [*campaigns.change, *teams.change, *runs.change, *forms.change, *people.change]
