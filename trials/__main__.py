"""Runs every trial one after the other; the exit status is 1 when one of them failed."""

import sys

from trials import big_run, closed_judgments, hostile, kill_storm, readers, siege

TRIALS = {
    "kill storm": kill_storm.main,
    "readers": readers.main,
    "siege": siege.main,
    "big run": big_run.main,
    "closed judgments": closed_judgments.main,
    "hostile files": hostile.main,
}


def main() -> int:
    failed = []
    for name, trial in TRIALS.items():
        print(f"== {name}", flush=True)
        if trial([]) != 0:
            failed.append(name)
    print(f"failed: {', '.join(failed)}" if failed else "all trials passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
