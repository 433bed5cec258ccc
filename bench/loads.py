"""The files that are scored: a large MS MARCO-shaped run and what is made of it. All are the same for the same seed."""

import random
import subprocess
import sys
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

__all__ = ["Load", "judged_deeper", "make_loads", "shortened"]

ROOT = Path(__file__).resolve().parents[1]
SEED = 20191112
SHORT_QUERIES = 30


@dataclass(frozen=True, slots=True)
class Load:
    """One run and its judgments. `name` says what is special about the run."""

    name: str
    run: Path
    judgments: Path


def make_loads(folder: Path, maker: Path, queries: int, depth: int) -> dict[str, Load]:
    """Makes all files below `folder`, or takes those that are there.

    The work is done in processes of its own: a process started from a large one counts as large itself.

    maker  the script that writes dev.run, dev.qrels, dl.run and dl.qrels
    """
    run, judgments = folder / "dev.run", folder / "dev.qrels"
    shape = folder / "shape"
    if not shape.exists() or shape.read_text() != f"{queries} {depth}":
        folder.mkdir(parents=True, exist_ok=True)
        size = ["--queries", str(queries), "--depth", str(depth)]
        subprocess.run([sys.executable, str(maker), str(folder), *size], check=True)
        subprocess.run([sys.executable, "-m", "bench.loads", str(folder)], check=True, cwd=ROOT)
        shape.write_text(f"{queries} {depth}")
    return {
        "sorted": Load("as written (sorted)", run, judgments),
        "shuffled": Load("lines shuffled", folder / "shuffled.run", judgments),
        "blanks": Load("tabs and several blanks, CRLF", folder / "blanks.run", judgments),
        "short": Load("a short run", folder / "short.run", folder / "short.qrels"),
    }


def shortened(load: Load, lines: int) -> Load:
    """The first lines of a run."""
    run = load.run.with_name(f"{lines}.run")
    with load.run.open() as source, run.open("w") as target:
        target.writelines(islice(source, lines))
    return Load(f"{lines:,} lines", run, load.judgments)


def judged_deeper(load: Load, each: int) -> Load:
    """The same run with every `each`-th of its documents judged, grades 0 to 3, beside those judged already."""
    judgments = load.run.with_name(f"every{each}.qrels")
    rng = random.Random(SEED)
    judged = load.judgments.read_text()
    known = {tuple(line.split()[::2]) for line in judged.splitlines()}
    count = len(known)
    with load.run.open() as source, judgments.open("w") as target:
        target.write(judged)
        for line in islice(source, 0, None, each):
            query, _, document, *_ = line.split()
            if (query, document) not in known:
                target.write(f"{query} 0 {document} {rng.randrange(4)}\n")
                count += 1
    return Load(f"{count:,} judgments", load.run, judgments)


def _make_forms(folder: Path) -> None:
    """The other forms of the runs that are there."""
    _shuffle(folder / "dev.run", folder / "shuffled.run")
    _spread(folder / "dev.run", folder / "blanks.run")
    _first_queries(folder / "dl.run", folder / "short.run", SHORT_QUERIES)
    _first_queries(folder / "dl.qrels", folder / "short.qrels", SHORT_QUERIES)


def _shuffle(source: Path, target: Path) -> None:
    lines = source.read_bytes().splitlines(keepends=True)
    random.Random(SEED).shuffle(lines)
    target.write_bytes(b"".join(lines))


def _spread(source: Path, target: Path) -> None:
    """The same lines parted by tabs and several blanks, ended by CRLF."""
    with source.open() as lines, target.open("w", newline="") as spread:
        for line in lines:
            query, q0, document, rank, score, tag = line.split()
            spread.write(f"{query}\t{q0}  {document}   {rank}\t{score} {tag}\r\n")


def _first_queries(source: Path, target: Path, count: int) -> None:
    lines = source.read_text().splitlines(keepends=True)
    first = set(islice(dict.fromkeys(line.split(maxsplit=1)[0] for line in lines), count))
    target.write_text("".join(line for line in lines if line.split(maxsplit=1)[0] in first))


if __name__ == "__main__":
    _make_forms(Path(sys.argv[1]))
