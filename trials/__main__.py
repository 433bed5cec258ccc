"""Runs every trial one after the other; the exit status is 1 when one of them failed.

python -m trials                            # all
python -m trials statistics --campaigns 20  # one, with its own arguments; the name with _ where it has a space
"""

import importlib
import subprocess
import sys

TRIALS = (
    "kill storm",
    "outages",
    "scaling",
    "throughput",
    "standing storm",
    "import kills",
    "every call",
    "stateful",
    "backup",
    "readers",
    "siege",
    "big run",
    "access matrix",
    "closed judgments",
    "hostile files",
    "api",
    "statistics",
    "disastrous run",
    "smallest difference",
    "linked years",
    "judging agreement",
    "measures",
    "properties",
)
MODULES = {"hostile files": "trials.hostile"}


def main(arguments: list[str]) -> int:
    if arguments:
        name = arguments[0].replace("_", " ")
        if name not in TRIALS:
            print(f"there is no trial {name}; there are: {', '.join(TRIALS)}", file=sys.stderr)
            return 2
        return trial(name, arguments[1:])
    failed = []
    for name in TRIALS:
        print(f"== {name}", flush=True)
        # In a process of its own: the others go on after one that ends by an error.
        if subprocess.run([sys.executable, "-m", "trials", name], check=False).returncode != 0:
            failed.append(name)
    print(f"failed: {', '.join(failed)}" if failed else "all trials passed")
    return 1 if failed else 0


def trial(name: str, arguments: list[str]) -> int:
    """The exit status of one. Imported only now: each takes libraries of its own."""
    module = importlib.import_module(MODULES.get(name, f"trials.{name.replace(' ', '_')}"))
    status: int = module.main(arguments)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
