"""The files of archives, and what archives may not hold."""

import io
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest

from leaderboard.errors import FileRejected
from leaderboard.formats import Limits, is_archive_file, members

FILES = {"2025/first.run": b"q1 Q0 d1 1 2.5 first\n", "2026/second.run": b""}


def zipped(path: Path, files: dict[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def tarred(path: Path, files: dict[str, bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]  # one of its many modes
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return path


def read(path: Path, limits: Limits | None = None) -> dict[str, bytes]:
    return {one.path: one.content.read(1 << 16) for one in members(path, limits=limits)}


def problem(path: Path, limits: Limits | None = None) -> str:
    with pytest.raises(FileRejected) as rejected:
        read(path, limits)
    return str(rejected.value.problems[0])


def test_zip_and_tar_give_their_files_and_leave_folders_and_macos_extras_out(tmp_path: Path) -> None:
    more = {"2025/": b"", "__MACOSX/2025/._first.run": b"x"}
    assert read(zipped(tmp_path / "a.zip", {**FILES, **more})) == FILES
    assert read(zipped(tmp_path / "b.zip", dict(FILES), zipfile.ZIP_STORED)) == FILES
    assert read(tarred(tmp_path / "c.tar.gz", FILES)) == FILES
    assert read(tarred(tmp_path / "d.tar", {f"./{name}": content for name, content in FILES.items()}, "w")) == FILES
    assert all(is_archive_file(file) for file in tmp_path.iterdir())


@pytest.mark.parametrize("name", ["../out", "/etc/x", "a/../../x", "C:\\x", "..\\x", "a\x01b"])
def test_a_path_that_leads_out_or_can_not_be_seen_is_refused(tmp_path: Path, name: str) -> None:
    entry = zipfile.ZipInfo("x")
    entry.filename = name
    said = problem(zipped(tmp_path / "a.zip", {entry: b"x"}))
    assert "leads out of the archive" in said or "can't be seen" in said
    said = problem(tarred(tmp_path / "a.tar", {name: b"x"}, "w"))
    assert "leads out of the archive" in said or "can't be seen" in said


def test_links_are_refused(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    assert "no plain file" in problem(zipped(tmp_path / "a.zip", {link: b"/etc/passwd"}))
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        linked = tarfile.TarInfo("link")
        linked.type, linked.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(linked)
    assert "no plain file" in problem(tmp_path / "a.tar")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("run", b"1")
        archive.writestr("run", b"2")
    assert "holds run twice" in problem(tmp_path / "a.zip")


def test_what_expands_too_far_or_is_too_many_is_refused(tmp_path: Path) -> None:
    bomb = zipped(tmp_path / "bomb.zip", {"a": bytes(1 << 20)})
    assert "expands to more than 1 KiB, the most allowed" in problem(bomb, Limits(expanded_bytes=1024))
    times = problem(zipped(tmp_path / "times.zip", {"a": bytes(32 << 20)}), Limits(expanded_times=2))
    assert "the most allowed for a file of this size" in times
    many = zipped(tmp_path / "many.zip", {str(number): b"" for number in range(11)})
    assert "more than 10 files" in problem(many, Limits(members=10))
    assert "more than 10 files" in problem(
        tarred(tmp_path / "many.tar", {str(number): b"" for number in range(11)}), Limits(members=10)
    )


def test_a_list_of_files_that_would_fill_the_memory_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", dict(FILES))
    content = bytearray(path.read_bytes())
    end = content.rfind(b"PK\x05\x06")
    content[end + 12 : end + 16] = (9 << 20).to_bytes(4, "little")
    content[end:end] = bytes(9 << 20)
    path.write_bytes(bytes(content))
    assert "far too many files" in problem(path)


@pytest.mark.parametrize("cut", [10, 40, 100])
def test_a_damaged_archive_is_said_to_be_one(tmp_path: Path, cut: int) -> None:
    for path in (zipped(tmp_path / "a.zip", dict(FILES)), tarred(tmp_path / "a.tar.gz", FILES)):
        path.write_bytes(path.read_bytes()[:-cut])
        assert "damaged" in problem(path) or "ends in the middle" in problem(path)


def test_a_changed_byte_of_a_zipped_file_is_found(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", dict(FILES), zipfile.ZIP_STORED)
    path.write_bytes(path.read_bytes().replace(b"d1 1 2.5", b"d1 1 9.5"))
    assert "damaged" in problem(path)
