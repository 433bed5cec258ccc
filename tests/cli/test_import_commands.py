"""`leaderboard queries` and `leaderboard judgments`: previews, exclusions, and several sources of judgments."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.commands import Done

Says = Callable[..., str]
Command = Callable[..., Done]

TOPICS = """<top>
<num> Number: 301
<title> International Organized Crime
<desc> Description: Identify organizations.
</top>
<top>
<num> Number: 302
<title> Poliomyelitis
</top>
"""
QRELS = "301 0 d1 1\n301 0 d2 0\n302 0 d3 1\n"


@pytest.fixture
def place(ok: Says, tmp_path: Path) -> str:
    ok("campaign", "add", "robust", "--title", "Robust", "--measures", "AP", "--visibility", "public")
    ok("evaluation", "add", "robust/2004", "--title", "2004", "--period", "2004", "--public")
    (tmp_path / "topics.txt").write_text(TOPICS)
    ok("queries", "import", "robust/2004", tmp_path / "topics.txt")
    (tmp_path / "qrels.txt").write_text(QRELS)
    return "robust/2004"


def test_a_preview_of_queries_says_what_would_change_and_writes_nothing(ok: Says, place: str, tmp_path: Path) -> None:
    file = tmp_path / "new.jsonl"
    file.write_text('{"id": "301", "text": "Organized crime"}\n{"id": "303", "text": "Hubble"}\n')
    before = ok("queries", "list", place)
    told = ok("queries", "import", place, file, "--preview").splitlines()
    assert [" ".join(line.split()) for line in told] == [
        "new 1 (303)", "changed 1 (301)", "unchanged 0", "missing 1 (302)", "scores anew False", "is nothing False",
        "described 0", "nothing was written",
    ]  # fmt: skip
    assert ok("queries", "list", place) == before
    file.write_text(
        '{"id": "301", "text": "Organized crime", "narrative": "names it"}\n{"id": "303", "text": "Hubble"}\n'
    )
    assert "described         1" in ok("queries", "import", place, file, "--preview").splitlines()
    ok("queries", "import", place, file)
    assert "unchanged         2" in ok("queries", "import", place, file, "--preview")
    texts = [line.split(maxsplit=1) for line in ok("queries", "list", place).splitlines()[1:]]
    assert [(query, rest.split("  ")[0]) for query, rest in texts] == [
        ("301", "Organized crime"), ("302", "Poliomyelitis"), ("303", "Hubble"),
    ]  # fmt: skip


def test_queries_are_excluded_hidden_and_taken_back_by_command(ok: Says, place: str) -> None:
    assert ok("queries", "exclude", place, "301", "--because", "it was garbled") == "excluded: 301\n"
    assert ok("queries", "hide", place, "302") == "hidden: 302\n"
    _, excluded, hidden = ok("queries", "list", place).splitlines()
    assert ("excluded: it was garbled" in excluded, "hidden" in hidden) == (True, True)
    assert ok("queries", "include", place, "301", "302") == "included: 301, 302\n"
    assert ok("queries", "show", place, "302") == "shown: 302\n"


def test_a_preview_of_judgments_says_what_would_change_and_writes_nothing(
    ok: Says, command: Command, place: str, tmp_path: Path
) -> None:
    first = ok("judgments", "import", place, tmp_path / "qrels.txt", "--preview").splitlines()
    assert "grades            2 (0: 1, 1: 2)" in first
    assert first[-1] == "nothing was written"
    assert "revision 1" in ok("judgments", "import", place, tmp_path / "qrels.txt")
    file = tmp_path / "again.txt"
    file.write_text("301 0 d1 0\n301 0 d4 -1\n999 0 d3 1\n")
    told = command("judgments", "import", place, file, "--preview")
    assert told.status == 1
    assert {" ".join(line.split()) for line in told.out.splitlines()} >= {
        "judgments 3", "grades 3 (-1: 1, 0: 1, 1: 1)", "none relevant 1 (301)", "unjudged 1 (302)", "unknown 1 (999)",
        "against 1", "added 2", "removed 2", "changed 1 (before 1, after 0, judgments 1)",
        "problems judgments: the evaluation lacks 1 of the 2 queries: 999; import the queries first",
        "nothing was written",
    }  # fmt: skip
    assert len(ok("judgments", "list", place).splitlines()) == 2  # the head and revision 1


def test_judgments_of_several_sources_are_listed_and_one_is_made_the_official_one(
    ok: Says, refused: Says, place: str, tmp_path: Path
) -> None:
    ok("judgments", "import", place, tmp_path / "qrels.txt")
    (tmp_path / "llm.txt").write_text(QRELS.replace("d3 1", "d3 0"))
    said = ok("judgments", "import", place, tmp_path / "llm.txt", "--source", "llm")
    assert said == "revision 2 of robust/2004, by llm: 3 judgments\n"
    newest, oldest = ok("judgments", "list", place).splitlines()[1:]
    assert newest.split()[1:3] == ["llm", "beside"]
    assert oldest.split()[1:3] == ["assessors", "official"]
    assert ok("judgments", "export", place) == QRELS
    # Without runs no rank is another by them, so nothing is asked.
    assert ok("judgments", "official", place, "llm") == "boards of robust/2004 go by the judgments of llm\n"
    newest, oldest = ok("judgments", "list", place).splitlines()[1:]
    assert (
        ok("judgments", "rename", place, "assessors", "experts") == "assessors of robust/2004 is called experts now\n"
    )
    assert "Boards use the judgments of llm" in refused("judgments", "remove", place, "llm", "--confirm")
    assert "--confirm" in refused("judgments", "remove", place, "experts")
    assert ok("judgments", "remove", place, "experts", "--confirm") == "experts of robust/2004 is removed\n"
    assert len(ok("judgments", "list", place).splitlines()) == 2  # the head and revision 2
    assert newest.split()[1:3] == ["llm", "official"]
    assert oldest.split()[1:3] == ["assessors", "beside"]
    assert ok("judgments", "export", place) == QRELS.replace("d3 1", "d3 0")
    assert "use lower-case letters" in refused(
        "judgments", "import", place, tmp_path / "llm.txt", "--source", "An LLM!"
    )
