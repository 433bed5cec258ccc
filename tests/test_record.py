"""Two records of an installation compared: what differs is told by its kind, what is another each time is not."""

from pathlib import Path

import pytest

from scripts.record import compare

PAGE = "/campaigns/news\n@ visitor: 200 text/html\n== visitor\nMean | 0.416 |\n[a href=/campaigns/news] News\n"
TOKEN = "dGhlIHRva2VuIG9mIG9uZSByZWNvcmQgb25seQ1A"
VARYING = "closes {date}\n[input name=seen value={seen}]\n/join/{token}\nscored 2 Mar 2026, in {seconds} ms\n"


def _written(folder: Path, **texts: str) -> Path:
    for name, text in texts.items():
        (folder / "demo").mkdir(parents=True, exist_ok=True)
        (folder / "demo" / f"{name}.txt").write_text(text)
    return folder


def _compared(tmp_path: Path, old: dict[str, str], new: dict[str, str], **options: bool) -> tuple[int, str]:
    lines: list[str] = []
    status = compare(_written(tmp_path / "old", **old), _written(tmp_path / "new", **new), lines.append, **options)
    return status, "\n".join(lines)


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("0.416", "0.417", "figures"),
        (": 200", ": 404", "statuses"),
        ("href=/campaigns/news", "href=/campaigns/old", "addresses"),
        ("Mean", "Average", "words"),
    ],
)
def test_a_difference_is_told_by_its_kind(tmp_path: Path, before: str, after: str, kind: str) -> None:
    status, output = _compared(tmp_path, {"board": PAGE}, {"board": PAGE.replace(before, after)})
    assert status == 1
    assert output.startswith("1 and 1 files: 0 gone, 0 added, 1 changed\n")
    assert f"{kind}, 1 times: demo/board.txt\n  - " in output


def test_only_words_are_no_fault_where_these_may_change(tmp_path: Path) -> None:
    assert _compared(tmp_path, {"board": PAGE}, {"board": PAGE.replace("Mean", "Average")}, but_words=True)[0] == 0
    assert _compared(tmp_path, {"board": PAGE}, {"board": PAGE.replace("0.416", "0.417")}, but_words=True)[0] == 1


def test_files_that_only_one_record_has_are_compared(tmp_path: Path) -> None:
    status, output = _compared(tmp_path, {"board": PAGE, "old": PAGE}, {"board": PAGE, "new": PAGE})
    assert status == 1
    assert "gone: demo/old.txt\nadded: demo/new.txt" in output


def test_dates_tokens_and_durations_are_no_difference(tmp_path: Path) -> None:
    one = VARYING.format(date="2026-01-02T03:04:05Z", seen="ab12", token=TOKEN, seconds="12")
    other = VARYING.format(date="2027-01-02T03:04:06Z", seen="cd34", token=TOKEN[::-1], seconds="7.5")
    assert _compared(tmp_path, {"page": one}, {"page": other})[0] == 0
    assert _compared(tmp_path, {"page": one}, {"page": other}, dates=True)[0] == 1
