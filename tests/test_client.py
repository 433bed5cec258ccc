"""`leaderboard submit --server` and `check --server` against a real site: second tries, broken connections."""

import re
import shutil
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.accounts import writes as credentials, writes as people
from leaderboard.accounts.rules import Scope
from leaderboard.audit.writes import present
from leaderboard.client import Client, NoServer, Refused
from leaderboard.db import Database
from leaderboard.errors import BadInput
from leaderboard.submissions.models import Submission
from leaderboard.teams import writes as teams
from tests.support.commands import Done, run_here
from tests.support.site import Site, running_site
from tests.support.world import QRELS, RUN, new_account

PLACE = "papers/2026"


@dataclass
class Remote:
    site: Site
    database: Database
    token: str
    folder: Path

    def submit(self, *runs: Path, more: tuple[str, ...] = ("--system", "searcher"), place: str = PLACE) -> Done:
        return self.run("submit", place, *map(str, runs), "--team", "alpha", *more)

    def run(self, *arguments: str) -> Done:
        """`leaderboard ARGUMENTS --server`, as a participant's own machine runs it: with a token and nothing else."""
        token = self.folder / "token.txt"
        token.write_text(f"{self.token}\n")
        where = ("--server", self.site.url, "--token-file", str(token))
        return run_here((*arguments, *where), {}, folder=self.folder)

    def count(self) -> int:
        with self.database.read() as session:
            return session.scalar(sa.select(sa.func.count()).select_from(Submission)) or 0


@pytest.fixture(scope="module")
def remote(migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remote]:
    folder = tmp_path_factory.mktemp("remote")
    url = f"sqlite:///{shutil.copyfile(migrated_sqlite, folder / 'remote.sqlite')}"
    (folder / "queries.tsv").write_text("q1\nq2\nq3\n")
    (folder / "qrels.txt").write_text(QRELS)
    with (
        running_site(url, folder) as site,
        closing(Database.connect(url)) as database,
        pytest.MonkeyPatch.context() as patched,
    ):
        patched.setattr("leaderboard.client.LOOK_SECONDS", 0.1)
        site.command(
            "campaign",
            "add",
            "papers",
            "--title",
            "Papers",
            "--measures",
            "AP P@1",
            "--primary",
            "AP",
            "--visibility",
            "public",
        )
        shown = "--title", "Papers 2026", "--period", "2026", "--details", "always", "--daily-quota", "50", "--public"
        site.command("evaluation", "add", PLACE, *shown)
        site.command("queries", "import", PLACE, folder / "queries.tsv")
        site.command("judgments", "import", PLACE, folder / "qrels.txt")
        with database.write() as session:
            ada = people.create_user(session, CONSOLE, new_account("ada"))
            teams.add_member(session, CONSOLE, teams.create_team(session, CONSOLE, "Alpha"), ada)
            token = credentials.make_token(session, CONSOLE, ada, "test", [Scope.SUBMIT], days=1, now=present())
        yield Remote(site, database, token, folder)


def test_many_runs_are_sent_scored_and_printed_and_a_second_time_none_is_sent(remote: Remote) -> None:
    runs = [remote.folder / "a.run", remote.folder / "b.run"]
    runs[0].write_text(RUN)
    runs[1].write_text("q1 Q0 d1 1 2.0 b\nq2 Q0 d3 1 1.0 b\n")
    done = remote.submit(*runs, more=("--new-system", "Searcher"))
    assert (done.status, done.err.count("queries without a list: q3")) == (0, 2), done
    # q1's only relevant document is second in a.run and first in b.run, q2's is first in both, and q3 has none.
    lines = [line.split() for line in done.out.splitlines()[2:]]
    assert lines == [["run", "AP", "P@1"], [str(runs[0]), "0.5000", "0.3333"], [str(runs[1]), "0.6667", "0.6667"]]
    before = remote.count()
    again = remote.submit(*runs, more=("--new-system", "Searcher"))
    assert again.out == done.out
    assert remote.count() == before


def test_what_is_asked_goes_with_the_run_and_what_is_most_likely_a_slip_with_a_yes(remote: Remote) -> None:
    place, folder, command = "papers/asking", remote.folder, remote.site.command
    run, paper, side, terms = (folder / name for name in ("e.run", "paper.pdf", "side.yaml", "terms.txt"))
    for path, text in {run: RUN, paper: "%PDF-1.7\n", side: "method:\n  retrieval: bm25\n", terms: "Be fair."}.items():
        path.write_text(text)
    command("evaluation", "add", place, "--title", "Papers 2027", "--period", "2027", "--public")
    command("queries", "import", place, folder / "queries.tsv")
    choices = ("--kind", "choice", "--choice", "sparse", "--choice", "dense")
    command("form", "field", place, "model", "--label", "Kind of model", "--required", *choices)
    command("form", "agreement", place, "terms", "--title", "Terms", "--text", terms)
    system = ("--new-system", "Asker")
    lacking = remote.submit(run, paper, more=system, place=place)
    assert lacking.status == 2
    assert "Kind of model is lacking, which every run here needs: choose one of: “sparse”, “dense”" in lacking.err
    assert f"not sent either: {paper}" in lacking.err
    asked = (*system, "--answer", "model=dense", "--agree", "terms=1", "--side-file", str(side))
    sent = remote.submit(paper, run, more=asked, place=place)
    assert (sent.status, f"{run}: submission " in sent.out) == (1, True), sent
    assert f"{paper}: is a PDF document" in sent.err
    asker = ("--system", "asker", "--answer", "model=dense", "--label", "again")
    again = remote.submit(run, more=asker, place=place)
    assert again.status == 2
    assert f"{run}: Your team has submitted" in again.err
    assert f"{run}: not submitted, most likely a slip; if it is meant so, give --confirm\n" in again.err
    assert remote.submit(run, more=(*asker, "--confirm"), place=place).status == 0
    count = remote.count()
    assert remote.submit(run, more=asker, place=place).status == 0  # what was sent with a yes is not sent again
    assert remote.count() == count
    client = Client(remote.site.url, remote.token)
    with pytest.raises(Refused) as caught:
        client.submit(place, run, team="alpha", system="asker", answers={"model": "sparse"})
    assert caught.value.fields["confirm"][0].startswith("Your team has submitted a file with the same text before")
    with remote.database.read() as session:
        runs = session.scalars(sa.select(Submission).where(Submission.filename == "e.run").order_by(Submission.id))
        assert [(one.answers["model"], one.said) for one in runs] == [
            ("dense", {"method.retrieval": "bm25"}), ("dense", {}),
        ]  # fmt: skip


def test_a_run_is_checked_by_the_site_that_would_take_it(remote: Remote) -> None:
    before = remote.count()
    files = {
        "sound.run": ("q3 Q0 d1 1 2.0 f\n", 0, "nothing in the file speaks against submitting it"),
        "strange.run": ("q1 Q0 d1 1 2.0 f\nx1 Q0 d1 1 2.0 f\n", 3, "1 query is not among those listed here: x1."),
        "paper.pdf": ("%PDF-1.7\n", 1, "would be rejected: 1 problem\n  is a PDF document"),
    }
    for name, (content, status, words) in files.items():
        (remote.folder / name).write_text(content)
        done = remote.run("check", str(remote.folder / name), "--evaluation", PLACE)
        assert (done.status, done.err, words in done.out) == (status, "", True), done
    for place, said in (("papers/1999", "or the page is not open to you"), ("", "name it: --evaluation CAMPAIGN")):
        done = remote.run("check", str(remote.folder / "sound.run"), *(("--evaluation", place) if place else ()))
        assert (done.status, done.out, said in done.err) == (2, "", True), done
    assert remote.count() == before


def test_what_the_server_refuses_leaves_status_2_and_names_what_was_not_sent(remote: Remote) -> None:
    run = remote.folder / "c.run"
    run.write_text("q1 Q0 d1 1 2.0 c\n")
    before = remote.count()
    done = remote.submit(run, run, more=("--system", "nothing"))
    assert done.status == 2
    assert "not taken: system: " in done.err
    assert remote.count() == before


def test_a_connection_that_breaks_after_the_server_took_the_run_submits_it_once(remote: Remote) -> None:
    run = remote.folder / "d.run"
    run.write_text("q2 Q0 d3 1 1.0 d\n")
    before = remote.count()
    with breaking(remote.site.url, "POST") as (server, broken):
        sent = Client(server, remote.token).submit(PLACE, run, team="alpha", system="searcher")
        assert broken == ["POST"]
    assert remote.count() == before + 1
    with remote.database.read() as session:
        assert session.scalars(sa.select(Submission.id).order_by(Submission.id.desc())).first() == sent["id"]


@contextmanager
def breaking(url: str, method: str) -> Iterator[tuple[str, list[str]]]:
    """A way to the server that loses the first answer to a request of this method, after the server gave it."""
    host, _, port = url.removeprefix("http://").rstrip("/").partition(":")
    listener = socket.create_server(("127.0.0.1", 0))
    broken: list[str] = []

    def serve() -> None:
        while True:
            try:
                near, _ = listener.accept()
            except OSError:
                return
            with near, socket.create_connection((host, int(port))) as far:
                request = b""
                while not _is_whole(request):
                    request += near.recv(65536)
                far.sendall(request.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
                answer = b""
                while piece := far.recv(65536):
                    answer += piece
                if request.startswith(method.encode()) and not broken:
                    broken.append(method)
                    continue
                near.sendall(answer)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    with closing(listener):
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", broken
        listener.shutdown(socket.SHUT_RDWR)
    thread.join(10)


def _is_whole(request: bytes) -> bool:
    head, end, body = request.partition(b"\r\n\r\n")
    size = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
    return bool(end) and len(body) >= (int(size[1]) if size else 0)


def test_a_token_goes_over_encrypted_connections_only() -> None:
    with pytest.raises(BadInput, match="https:// only"):
        Client("http://leaderboard.example", "lb_x")
    with pytest.raises(BadInput, match="no server's address"):
        Client("leaderboard.example", "lb_x")


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (
            b"302 Found\r\nLocation: http://elsewhere.example/\r\nContent-Length: 0\r\n\r\n",
            "sends on to http://elsewhere",
        ),
        (b"200 OK\r\nContent-Length: 6\r\n\r\n<html>", "not as this API does"),
    ],
)
def test_a_redirect_is_not_followed_and_a_server_of_another_kind_is_told_apart(answer: bytes, says: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as threads:

        def serve() -> None:
            near, _ = listener.accept()
            with near:
                near.recv(65536)
                near.sendall(b"HTTP/1.1 " + answer)

        threads.submit(serve)
        with pytest.raises(Refused, match=says):
            Client(f"http://127.0.0.1:{listener.getsockname()[1]}", "lb_x").get("/account")


def test_who_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leaderboard.client.PAUSE", 0.0)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(NoServer, match=f"127.0.0.1:{port}/api/v1 does not answer"):
        Client(f"http://127.0.0.1:{port}").get("/campaigns")


def test_of_the_same_file_sent_at_the_same_moment_one_is_taken(remote: Remote) -> None:
    """Without a key, as other programs send it: each passes its check before any of them is taken."""
    client, fields = Client(remote.site.url, remote.token), {"team": "alpha", "system": "at-once", "key": ""}
    run = remote.folder / "at-once.run"
    run.write_text(RUN.replace("d1", "d5"))
    client.submit(PLACE, run, **{**fields, "system": "", "new_system": "At once"})
    run.write_text(RUN.replace("d1", "d6"))

    def send(_: int) -> str:
        try:
            return str(client.submit(PLACE, run, **fields)["state"])
        except Refused as refused:
            return str(refused.fields)

    with ThreadPoolExecutor(4) as senders:
        answers = [*senders.map(send, range(4))]
    assert sum("the same text before" in answer for answer in answers) == 3


def test_an_admin_does_at_a_site_what_commands_do_with_teams_and_whole_campaigns(remote: Remote) -> None:
    run = remote.folder / "of-admin.run"
    run.write_text(RUN)
    assert remote.submit(run, more=("--new-system", "of an admin", "--confirm")).status == 0
    with remote.database.write() as session:
        people.create_user(session, CONSOLE, new_account("bob"))
        admin = people.create_user(session, CONSOLE, new_account("root"), is_admin=True)
        teams.create_team(session, CONSOLE, "Alfa")
        scopes = [Scope.ORGANISE, Scope.MANAGE]
        token = credentials.make_token(session, CONSOLE, admin, "test", scopes, days=1, now=present())
        number = session.scalar(sa.select(sa.func.max(Submission.id)))
    assert "may not organise" in remote.run("team", "list").err
    root = Remote(remote.site, remote.database, token, remote.folder)
    assert root.run("team", "member", "add", "alfa", "bob").out == "bob is in Alfa now\n"
    assert root.run("team", "rename", "alfa", "Alpha two").out == (
        "the team is called Alpha two now; its slug is alpha-two\n"
    )
    assert "alpha-two  Alpha two  bob" in root.run("team", "list").out
    assert "give --confirm" in root.run("team", "merge", "alpha-two", "alpha").err
    assert root.run("team", "merge", "alpha-two", "alpha", "--confirm").out == "alpha-two is a part of Alpha now\n"
    assert "Alpha two" not in root.run("team", "list").out
    place = [str(remote.folder / name) for name in ("fetched.run", "papers.tar.gz", "papers.zip", "lacking")]
    fetch, export = ("submission", "fetch", str(number)), ("export", "papers", "--out")
    sha256 = root.run(*fetch, place[0]).out.strip().rpartition(" ")[2]
    assert Path(place[0]).read_text() == RUN
    assert root.run(*fetch, place[0]).err.endswith("is there already; give another name\n")
    assert [root.run(*export, name).status for name in place[1:3]] == [0, 0]
    assert "there is no folder" in root.run(*export, f"{place[0]}/papers").err
    assert root.run("export", "nothing", "--out", place[3]).status == 2
    assert re.search(r"0 runs brought in, \d+ were there already", root.run("import-campaign", place[2]).out)
    assert "give a .zip" in root.run("import-campaign", str(remote.folder)).err
    of_run = remote.folder / "store" / "runs" / sha256[:2] / sha256
    of_run.chmod(0o600)
    of_run.write_text("x")
    assert "is damaged" in root.run(*fetch, f"{place[0]}.again").err
    lacking = root.run(*export, place[3])
    assert (lacking.status, "left out: " in lacking.err) == (1, True)
