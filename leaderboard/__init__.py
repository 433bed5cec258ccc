"""An evaluation leaderboard for retrieval campaigns."""

import os

# Before numpy is imported anywhere. Matrix products are small here, and several workers share a machine: threads of
# theirs that wait for one another keep the processors busy, and were seen to take twenty times as long as one thread.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

__version__ = "0.2.0.dev0"
