"""Files and folders that only their owner may read, whatever the umask: the database, the run files, keys and logs."""

import logging
import os
from contextlib import suppress
from pathlib import Path

log = logging.getLogger(__name__)

FILE, FOLDER = 0o600, 0o700
OTHERS = 0o077


def private_folder(path: Path) -> None:
    """Makes the folder, with those above it that are missing; one that is there is closed to others."""
    if not path.is_dir():
        if not path.parent.is_dir():
            private_folder(path.parent)
        path.mkdir(mode=FOLDER, exist_ok=True)
    tighten(path)


def private_file(path: Path) -> None:
    """Makes an empty file where there is none; one that is there is closed to others and keeps its content."""
    with suppress(FileExistsError):  # closing one that is there would drop the locks that SQLite has on it
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE))
    tighten(path)


def tighten(path: Path) -> None:
    """Takes away what others may do with a file or folder, if it is there; logs a warning where it is not ours."""
    try:
        mode = path.stat().st_mode
        if mode & OTHERS:
            path.chmod(FOLDER if path.is_dir() else FILE)
    except FileNotFoundError:
        pass
    except PermissionError:
        log.warning("%s may be read by others than its owner, and belongs to somebody else: close it to them", path)
