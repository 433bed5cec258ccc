"""`leaderboard db`, `user` and `team`."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import click.testing
import pytest

from leaderboard.accounts import writes as people
from leaderboard.cli import leaderboard
from leaderboard.db import Database

Says = Callable[..., str]
PASSWORD = "correct horse battery"
SQLITE = pytest.mark.parametrize("engine_name", ["sqlite"])  # words of what the tests of writes does on both


def test_a_database_that_is_not_there_is_not_made_and_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Says
) -> None:
    monkeypatch.setenv("LEADERBOARD_DATABASE_URL", f"sqlite:///{tmp_path / 'none.sqlite'}")
    assert "leaderboard db upgrade" in refused("user", "list")
    assert not (tmp_path / "none.sqlite").exists()
    monkeypatch.setenv("LEADERBOARD_DATABASE_URL", f"sqlite:///{tmp_path / 'none' / 'x.sqlite'}")
    for arguments in (("user", "list"), ("db", "upgrade")):
        assert refused(*arguments).startswith(f"the database sqlite:///{tmp_path / 'none'}")


@SQLITE
def test_accounts_are_made_and_listed(ok: Says) -> None:
    ok("user", "add", "ada", "--email", "ada@example.org", "--password-stdin", text=PASSWORD + "\n")
    ok("user", "add", "bob", "--admin", "--password-stdin", text=PASSWORD)
    head, ada, bob = ok("user", "list").splitlines()
    assert head.split() == ["name", "email", "right", "state", "since"]
    assert ada.split()[:2] == ["ada", "ada@example.org"]
    assert bob.split()[:3] == ["bob", "–", "admin"]


@SQLITE
def test_every_problem_with_an_account_is_said(ok: Says, refused: Says) -> None:
    complaint = refused("user", "add", "a@b", "--email", "nobody", "--password-stdin", text="short\n")
    assert [line.partition(":")[0] for line in complaint.splitlines()] == ["NAME", "--email", "password"]
    ok("user", "add", "ada", "--password-stdin", text=PASSWORD)
    assert "is taken" in refused("user", "add", "ADA", "--password-stdin", text=PASSWORD)


@SQLITE
def test_a_password_is_asked_for_twice_and_not_shown(
    database_url: str, monkeypatch: pytest.MonkeyPatch, ok: Says
) -> None:
    monkeypatch.setenv("LEADERBOARD_DATABASE_URL", database_url)
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _: True)
    done = click.testing.CliRunner().invoke(leaderboard, ["user", "add", "ada"], input=f"{PASSWORD}\n{PASSWORD}\n")
    assert done.exit_code == 0, done.output
    assert PASSWORD not in done.output
    assert done.stdout == "made the account ada\n"
    differing = click.testing.CliRunner().invoke(leaderboard, ["user", "add", "bob"], input=f"{PASSWORD}\nother\n")
    assert differing.exit_code == 1
    assert "bob" not in ok("user", "list")


def test_an_account_gets_a_new_password_and_admin_rights(ok: Says, refused: Says) -> None:
    ok("user", "add", "ada", "--password-stdin", text=PASSWORD)
    assert ok("user", "password", "ada", "--password-stdin", text="harbour lantern row") == "ada has a new password\n"
    assert refused("user", "password", "ada", "--password-stdin", text="short").startswith("password: ")
    assert refused("user", "password", "ada").startswith("nobody to ask for a password here")
    assert ok("user", "admin", "ADA") == "ada is an admin\n"
    assert "admin" in ok("user", "list").splitlines()[1]
    assert ok("user", "admin", "ada", "--revoke") == "ada is no longer an admin\n"
    assert refused("user", "admin", "adam") == "there is no account 'adam'; did you mean ada?\n"
    assert "admin" not in ok("user", "list").splitlines()[1]


@SQLITE
def test_a_team_is_made_and_filled(ok: Says, refused: Says) -> None:
    ok("user", "add", "ada", "--password-stdin", text=PASSWORD)
    ok("user", "add", "bob", "--password-stdin", text=PASSWORD)
    assert ok("team", "add", "Team Alder") == "made the team Team Alder; its slug is team-alder\n"
    assert ok("team", "member", "add", "team-alder", "ada", "--role", "owner") == "ada is in Team Alder now\n"
    assert ok("team", "member", "add", "team-alder", "bob") == "bob is in Team Alder now\n"
    assert "ada (owner), bob" in ok("team", "list")
    assert ok("team", "member", "remove", "team-alder", "BOB") == "BOB is no longer in Team Alder\n"
    assert refused("team", "member", "remove", "team-alder", "bob") == "bob is not in team-alder\n"
    assert "give --confirm" in refused("team", "member", "remove", "team-alder", "ada")  # nobody would be left
    assert ok("team", "member", "remove", "team-alder", "ada", "--confirm") == "ada is no longer in Team Alder\n"
    assert "another team is called so" in refused("team", "add", "team  ALDER")
    assert refused("team", "add", "Other", "--slug", "Not A Slug").startswith("--slug: ")
    assert "did you mean team-alder?" in refused("team", "member", "add", "team-adler", "ada")


def test_what_logs_in_to_an_account_is_listed_and_taken_away(
    database_url: str, ok: Says, refused: Says, command: Callable[..., Any], quick_hashes: None
) -> None:
    with closing(Database.connect(database_url)) as database, database.write() as session:
        proven = people.Proven("Provider", "https://provider.example", "0000-1", "")
        people.register_with(session, people.new_account("ada", None, None), proven)
    listed = ok("user", "identities", "ada")
    assert "https://provider.example" in listed
    assert "0000-1" in listed
    assert "never" in listed
    number = listed.splitlines()[1].split()[0]
    assert "set a password first" in refused("user", "identities", "ada", "--remove", number)
    assert "no identity 9999 logs in to ada" in refused("user", "identities", "ada", "--remove", "9999")
    assert ok("user", "identities", "ada") == listed
    ok("user", "password", "ada", "--password-stdin", text=PASSWORD)
    gone = command("user", "identities", "ada", "--remove", number)
    assert (gone.status, gone.out, gone.err) == (0, "", "nothing else logs in to ada\n")
    assert "there is no account 'zoe'" in refused("user", "identities", "zoe")


@SQLITE
def test_a_token_is_made_for_an_account_and_printed_once(ok: Says, refused: Says) -> None:
    ok("user", "add", "ada", "--password-stdin", text=f"{PASSWORD}\n")
    made = ok("user", "token", "ada", "--for", "a script", "--scope", "submit", "--days", "3").strip()
    assert made.startswith("lb_")
    assert len(made) > 40
    assert "say what the token is for" in refused("user", "token", "ada", "--for", " ")
