"""Of which other evaluation a strange run seems to be, and that absent ones and hidden queries stay unknown."""

import datetime as dt
import io
from collections.abc import Iterable
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE, VISITOR, Actor
from leaderboard.db import Database
from leaderboard.formats import document_list, read_run
from leaderboard.models import Campaign, Evaluation
from leaderboard.reads import whose_run as reading
from leaderboard.reads.whose_run import whose_run
from leaderboard.rules.phases import Opening
from leaderboard.rules.settings import Split
from leaderboard.rules.visibility import Visibility
from leaderboard.services import campaigns, evaluations, queries, submission_forms
from leaderboard.services.queries import QueryRow

NOW = dt.datetime(2026, 5, 1, tzinfo=dt.UTC)
NUMBERS = [str(number) for number in range(1, 51)]


class Site:
    """Campaigns with one evaluation, or several, and where a run was sent: `here`, whose queries are h1 and h2."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.statements = 0
        self.made: dict[str, int] = {}
        self.add("here", "2026", ["h1", "h2"])

    def add(self, campaign: str, slug: str, ids: Iterable[str], hidden: Iterable[str] = (), **settings: Any) -> None:
        """An evaluation with these queries. visibility: of its campaign; pattern, documents: of its document ids."""
        pattern, documents = settings.pop("pattern", ""), settings.pop("documents", ())
        visibility = settings.pop("visibility", Visibility.PUBLIC)
        with self.database.write() as session:
            there = session.scalar(sa.select(Campaign).where(Campaign.slug == campaign))
            there = there or campaigns.create_campaign(
                session,
                CONSOLE,
                campaign,
                campaign.title(),
                measures=["AP"],
                primary_measure="AP",
                visibility=visibility,
            )
            self.made[campaign] = there.id
            title = f"{campaign.title()} {slug}"
            made = evaluations.create_evaluation(session, CONSOLE, there, slug, title, slug, **settings)
            for split, names in ((Split.SHOWN, list(ids)), (Split.HIDDEN, list(hidden))):
                if names:
                    queries.import_queries(session, CONSOLE, made, [QueryRow(name, "", ()) for name in names], split)
            if pattern:
                submission_forms.set_rules(session, CONSOLE, made, document_pattern=pattern)
            if documents:
                listed = document_list(io.BytesIO("".join(f"{one}\n" for one in documents).encode()))
                submission_forms.set_documents(session, CONSOLE, made, listed)

    def said(
        self,
        ids: Iterable[str],
        document: str = "d1",
        actor: Actor = VISITOR,
        *,
        here: str = "here",
        known: bool = False,
    ) -> str:
        """What is said of a run with a list for each of these queries; "" for nothing."""
        text = "".join(f"{query} Q0 {document} 1 1 a\n" for query in ids)
        run = read_run(io.BytesIO(text.encode()), name="a.run")
        with self.database.read() as session:
            evaluation = session.scalars(sa.select(Evaluation).join(Campaign).where(Campaign.slug == here)).first()
            assert evaluation is not None
            with Statements(session) as ran:
                found = whose_run(session, actor, evaluation, run, NOW, knows_queries=known)
            self.statements = len(ran)
        return found.in_words if found is not None else ""


class Statements:
    """Those that a session runs in a block."""

    def __init__(self, session: Session) -> None:
        self._connection = session.connection()
        self.ran: list[str] = []

    def __enter__(self) -> list[str]:
        sa.event.listen(self._connection, "before_cursor_execute", self._note)
        return self.ran

    def __exit__(self, *_: object) -> None:
        sa.event.remove(self._connection, "before_cursor_execute", self._note)

    def _note(self, *said: Any) -> None:
        self.ran.append(said[2])


def test_an_evaluation_of_any_campaign_is_named_by_queries_and_documents(database: Database) -> None:
    site = Site(database)
    ids = ["t1", "t2", "t3", "t4"]
    site.add("harbour", "2026", ids)
    by_queries = (
        "It looks like a run for Harbour 2026 of Harbour (harbour/2026): its queries are those of that evaluation."
    )
    assert site.said(ids) == by_queries
    assert site.said([*ids, "x1"]) == ""  # 4 of 5 are too few where nothing else speaks for it
    site.add("here", "2025", ["s1", "s2"], pattern="s-[0-9]")
    assert site.said(["s1", "s2"], "s-1") == (
        "It looks like a run for Here 2025 (here/2025): its queries and the form of its document ids are those of that "
        "evaluation."
    )
    assert site.said(["s1", "s2"], "t-1") == ""
    site.add("coast", "2026", ids, documents=["c1", "c2"])
    assert site.said(ids) == by_queries  # its documents are not those of Coast
    assert site.said([*ids, "x1", "x2", "x3"], "c2") == (
        "It looks like a run for Coast 2026 of Coast (coast/2026): most of its queries and its documents are those of "
        "that evaluation."
    )
    assert site.said([*ids[:2], "x1", "x2"], "c2") == ""  # half of them are not most
    # Of several with its documents: the campaign's own before others', then the latest.
    site.add("coast", "2027", ids, documents=["c1", "c2"])
    assert "Coast 2027" in site.said(ids, "c1")
    site.add("here", "2024", ids, documents=["c1", "c2"])
    assert "Here 2024" in site.said(ids, "c1")


def test_ids_that_many_evaluations_have_name_none_of_them(database: Database) -> None:
    site = Site(database)
    site.add("harbour", "2026", NUMBERS)
    assert "Harbour 2026" in site.said(NUMBERS)
    assert site.said(NUMBERS, known=True) == ""  # they are those of the evaluation that it was sent to, too
    site.add("coast", "2026", NUMBERS)
    assert site.said(NUMBERS) == ""
    site.add("coast", "2027", NUMBERS, pattern="d[0-9]+")
    assert "Coast 2027" in site.said(NUMBERS, known=True)
    site.add("river", "2026", NUMBERS, pattern="[a-z0-9]+")
    assert site.said(NUMBERS) == ""  # both patterns fit
    site.add("river", "2027", NUMBERS, documents=["e1", "e2"])
    assert site.said(NUMBERS) == ""
    assert "River 2027" in site.said(NUMBERS, "e1")


def test_absent_evaluations_are_never_named_and_asked_for_by_nothing(database: Database) -> None:
    site = Site(database)
    ids = ["t1", "t2"]
    assert (site.said(ids, "p1"), site.statements) == ("", 1)
    site.add("private", "2026", ids, visibility=Visibility.PRIVATE, documents=["p1"])
    site.add("secret", "2026", ids, visibility=Visibility.DRAFT, documents=["p1"])
    site.add("here", "2027", ids, draft=True, documents=["p1"])
    for reader in (VISITOR, Actor(user_id=1), Actor(user_id=1, organises=frozenset({site.made["here"] + 99}))):
        assert (site.said(ids, "p1", reader), site.statements) == ("", 1)
    # Nor do they make a known one doubtful.
    site.add("harbour", "2026", ids)
    assert "Harbour 2026" in site.said(ids, "p1")
    let_in = Actor(user_id=1, let_into=frozenset({site.made["private"], site.made["secret"]}))
    assert "Private 2026" in site.said(ids, "p1", let_in)
    assert "Secret 2026" in site.said(ids, "p1", Actor(user_id=1, organises=frozenset({site.made["secret"]})))
    assert "Here 2027" in site.said(ids, "p1", CONSOLE)


def test_hidden_queries_name_an_evaluation_to_whoever_may_know_of_them_only(database: Database) -> None:
    site = Site(database)
    closes = NOW + dt.timedelta(days=1)
    site.add("harbour", "2026", ["t1"], ["u1", "u2"], closes_at=closes, hidden_queries=Opening.CLOSED)
    assert site.said(["u1", "u2"]) == ""
    assert "Harbour 2026" in site.said(["u1", "u2"], actor=Actor(organises=frozenset({site.made["harbour"]})))
    site.add("coast", "2025", [], ["u1", "u2"], closes_at=NOW - dt.timedelta(days=1), hidden_queries=Opening.CLOSED)
    assert "Coast 2025" in site.said(["u1", "u2"])


def test_more_evaluations_cost_no_more_statements_and_long_lists_are_not_read(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Site(database)
    for number in range(12):
        site.add("harbour", str(2000 + number), NUMBERS, documents=[f"h{number}"])
    assert (site.said(NUMBERS, "x1"), site.statements) == ("", 2)
    for number in (0, 11):
        assert f"Harbour {2000 + number}" in site.said(NUMBERS, f"h{number}")
        assert site.statements == 2
    monkeypatch.setattr(reading, "MOST_LISTED", 1)
    assert "Harbour 2011" in site.said(NUMBERS, "h11")
    assert site.said(NUMBERS, "h0") == ""
    monkeypatch.setattr(reading, "MOST_OTHERS", 11)
    monkeypatch.setattr(reading, "MOST_LISTED", 30)
    assert site.said(NUMBERS, "h0") == ""
