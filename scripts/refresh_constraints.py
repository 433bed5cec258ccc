"""Writes constraints.txt: the exact version of every package, direct and indirect, that development installs.

`make constraints` runs it. It installs the newest versions that pyproject.toml allows into an environment of its own,
so that the one in use stays as it is until the new file has been tried.
"""

import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
EXTRAS = "site,test,check,bench"
HEAD = """\
# Every package that `make install` may install, at the version the tests ran with. Written by `make constraints`, which
# takes the newest versions that pyproject.toml allows; run `make check test` after it and commit the two together.
"""


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        pip = [str(Path(folder) / "bin" / "python"), "-m", "pip"]
        subprocess.run([*pip, "install", "--quiet", f"{REPOSITORY}[{EXTRAS}]"], check=True)
        frozen = subprocess.run([*pip, "freeze"], check=True, capture_output=True, text=True).stdout
    # The project itself is frozen as `name @ file://…`: a path of this machine, and no constraint.
    pins = sorted((line for line in frozen.splitlines() if re.fullmatch(r"[\w.-]+==\S+", line)), key=str.lower)
    (REPOSITORY / "constraints.txt").write_text(HEAD + "\n".join(pins) + "\n", encoding="utf-8")
    sys.stdout.write(f"constraints.txt: {len(pins)} packages\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
