"""The files of a folder or an archive, by their paths; an archive's lie in a private folder under numbers meanwhile."""

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from leaderboard.errors import BadInput
from leaderboard.formats import Limits, is_archive_file, members, open_plain
from leaderboard.formats.plain_text import shown
from leaderboard.numbers import size

MOST_FILES = 200_000  # of a folder
PIECE = 1 << 20


@dataclass(frozen=True)
class Tree:
    """Files by their paths, parted by /, in the order of these.

    name    what messages call it
    files   path -> where it lies on this machine
    limits  of all that is unpacked from archives
    links   paths that lead to a file outside of the folder: they are no files of it
    top     the folder that all files of an archive lie in, which no path names
    """

    name: str
    files: dict[str, Path]
    limits: Limits
    _kept: Path
    links: set[str] = field(default_factory=set)
    top: str = ""

    def file(self, path: str) -> Path:
        """Raises BadInput for a path that is not there, or leads elsewhere."""
        found = self.files.get(path.removeprefix("./"))
        if found is not None:
            return found
        if path in self.links:
            raise BadInput(f"{shown(path)} is a link that leads out of {self.name}")
        if path.startswith(("/", "~")) or ".." in path.split("/") or "\\" in path or path[1:2] == ":":
            raise BadInput(f"{shown(path)} leads out of {self.name}: give a path from there, parted by /")
        raise BadInput(f"{self.name} has no file {shown(path)}")

    def unpack(self, path: str) -> None:
        """Adds the files of an archive that is in the tree: `a.zip/2025/run` is the file 2025/run of a.zip.

        Raises FileRejected for a hostile or damaged one and BadInput where it is not there.
        """
        file = self.file(path)
        if not any(one.startswith(f"{path}/") for one in self.files):
            _unpack(file, self.limits, path, self._kept, self.files, f"{path}/")


@contextmanager
def open_tree(source: Path, limits: Limits | None = None, name: str | None = None) -> Iterator[Tree]:
    """The files of a folder, or of an archive; archives within stay closed until `unpack`.

    limits  of what is unpacked
    name    what messages call it

    Raises BadInput for what is neither and for a folder of too many files, and FileRejected as `formats.archives` does.
    """
    limits = limits or Limits()
    with tempfile.TemporaryDirectory(prefix="leaderboard-import-") as kept:
        tree = Tree(name or source.name, {}, limits, Path(kept))
        if source.is_dir():
            tree.files.update(_of_folder(source, tree.links))
        elif is_archive_file(source):
            _unpack(source, limits, tree.name, tree._kept, tree.files, "")
            tree = replace(tree, top=_without_one_folder(tree.files))
        else:
            raise BadInput(f"the file {name or source} is neither a folder nor an archive (.zip, .tar, .tar.gz)")
        yield tree


def _of_folder(folder: Path, links: set[str]) -> dict[str, Path]:
    """Its files, sorted; hidden folders and what lies behind links of folders are left out, and links that lead out."""
    found: dict[str, Path] = {}
    within = folder.resolve()
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(place) / name
            if path.is_symlink() and not path.resolve().is_relative_to(within):
                links.add(path.relative_to(folder).as_posix())
            elif path.is_file():
                found[path.relative_to(folder).as_posix()] = path
            if len(found) > MOST_FILES:
                raise BadInput(f"{folder} has more than {MOST_FILES:,} files; name a folder further down")
    return dict(sorted(found.items()))


def _unpack(archive: Path, limits: Limits, name: str, kept: Path, files: dict[str, Path], before: str) -> None:
    allowed = limits.expanded_bytes - sum(file.stat().st_size for file in kept.iterdir())  # of all archives together
    for member in members(archive, limits=limits, name=name):
        path = kept / f"{len(files):06}"  # no two of one archive have one name, and none is unpacked twice
        with path.open("wb") as target:
            while piece := member.content.read(PIECE):
                allowed -= len(piece)
                if allowed < 0:
                    most = f"{size(limits.expanded_bytes)}, the most allowed together"
                    raise BadInput(f"{name} and those before it expand to more than {most}; leave files out")
                target.write(piece)
        files[before + member.path] = path


def _without_one_folder(files: dict[str, Path]) -> str:
    """Takes a folder off every path where all files lie in the same one, as archives of a folder are made: its name."""
    taken = ""
    while files and "/" in next(iter(files)):
        top = next(iter(files)).partition("/")[0] + "/"
        if not all(path.startswith(top) for path in files):
            break
        taken = top.removesuffix("/")
        shorter = {path.removeprefix(top): place for path, place in files.items()}
        files.clear()
        files.update(shorter)
    return taken


def hash_of_text(path: Path, kind: str) -> str:
    """Of a file's text unpacked: a publisher may have hashed a run before it was gzipped."""
    digest = hashlib.new(kind, usedforsecurity=False)
    with open_plain(path) as text:
        while piece := text.read(PIECE):
            digest.update(piece)
    return digest.hexdigest()
