"""Run files at rest: the bytes as received under their SHA-256, and each scored run's ranked lists, query by query."""

from leaderboard.store.folder import file_system
from leaderboard.store.places import IDENTITY, MARK
from leaderboard.store.ranked_lists import RankedList
from leaderboard.store.runs import PIECE, Arriving, Received, RunStore
