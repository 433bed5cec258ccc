"""What a trial does to a process of the installation: Python imports this first where this folder is on its path.

TRIAL_CLOCK   seconds that the clock of the process is ahead; below 0 behind
TRIAL_FOLDER  below this folder, a share TRIAL_SHARE of all calls that open, rename, make or remove a file fail, while
              there is a file of the folder's name and `.ill`
"""

import datetime as dt
import errno
import os
import random
import sys

if ahead := float(os.environ.get("TRIAL_CLOCK", "0")):
    import time_machine

    time_machine.travel(dt.datetime.now(dt.UTC) + dt.timedelta(seconds=ahead)).start()

if folder := os.environ.get("TRIAL_FOLDER"):
    SHARE = float(os.environ["TRIAL_SHARE"])
    CALLS = {"open", "os.rename", "os.remove", "os.mkdir", "tempfile.mkstemp"}

    def fail_now_and_then(event: str, arguments: tuple[object, ...]) -> None:
        """An audit hook: Python calls it before each of these calls, which then raises what it raises."""
        is_ours = event in CALLS and str(arguments[0]).startswith(f"{folder}{os.sep}")
        if is_ours and os.path.exists(f"{folder}.ill") and random.random() < SHARE:  # noqa: PTH110  # no call that is audited
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(arguments[0]))

    sys.addaudithook(fail_now_and_then)
