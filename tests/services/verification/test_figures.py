"""Verification compares figures with their digests, and how runs ended with the trail."""

import sqlalchemy as sa

from leaderboard.models import Scoring
from leaderboard.services.verification import verify
from tests.support.verification import Changes, found_after, stands
from tests.support.world import World

RUN = "run 1 (System number 0 in small/2026)"
REJECTED, FAILED = (f"run {number} (System number {number - 1} in small/2026)" for number in (3, 4))
COMPUTED_WITH = "what its figures were computed with"
ENDS: dict[str, Changes] = {
    "UPDATE score SET mean = 0.99 WHERE measure = 'AP' AND subset = 'all' AND scoring_id = 1": [
        (RUN, "AP over all queries"),
    ],
    "UPDATE score SET mean = NULL WHERE measure = 'P@1' AND subset = 'shown' AND scoring_id = 1": [
        (RUN, "P@1 over shown queries"),
    ],
    "UPDATE score SET count = 17 WHERE measure = 'AP' AND subset = 'all' AND scoring_id = 1": [
        (RUN, "AP over all queries, values or count"),
    ],
    "DELETE FROM score WHERE measure = 'AP' AND subset = 'all' AND scoring_id = 1": [(RUN, "AP over all queries")],
    "UPDATE scoring SET digest = 'x' WHERE id = 1": [(RUN, "digest")],
    "UPDATE scoring SET beta = 80 WHERE id = 1": [(RUN, COMPUTED_WITH)],
    "UPDATE scoring SET missing = '[]' WHERE id = 1": [(RUN, COMPUTED_WITH)],
    "UPDATE scoring SET facts = '{}' WHERE id = 1": [(RUN, COMPUTED_WITH)],
    "UPDATE scoring SET scoring_set_id = 7 WHERE id = 1": [(RUN, COMPUTED_WITH), *stands(0, 1)],
    "UPDATE scoring SET state = 'rejected' WHERE id = 1": [(RUN, "scoring 1"), *stands(0, 1)],
    "UPDATE scoring SET state = 'failed' WHERE id = 5": [(REJECTED, "scoring 5")],
    "UPDATE scoring SET state = 'queued' WHERE id = 5": [(REJECTED, "scoring 5")],
    "UPDATE submission SET problems = '[]' WHERE id = 3": [(REJECTED, "problems")],
    "UPDATE submission SET problem_count = 0 WHERE id = 3": [(REJECTED, "problem_count")],
    "UPDATE scoring SET failure = 'mine' WHERE id = 6": [(FAILED, "failure of scoring 6")],
    "UPDATE scoring SET damaged = NOT damaged WHERE id = 6": [(FAILED, "damaged of scoring 6")],
    "UPDATE scoring SET state = 'rejected' WHERE id = 6": [(FAILED, "scoring 6")],
}  # fmt: skip


def test_a_figure_or_an_end_that_sql_changed_is_named(played: World, engine_name: str) -> None:
    flipped = {"sqlite": "zeroblob(24)", "postgresql": "decode(repeat('00', 24), 'hex')"}[engine_name]
    cases = ENDS | {
        f"UPDATE score SET \"values\" = {flipped} WHERE measure = 'AP' AND subset = 'all' AND scoring_id = 1": [
            (RUN, "AP over all queries, values or count"),
        ],
    }  # fmt: skip
    wrong = {statement: found for statement in cases if (found := found_after(played, statement)) != cases[statement]}
    assert wrong == {}


def test_a_scoring_that_sql_took_away_or_made_up_is_named(played: World) -> None:
    of_scoring = [f"DELETE FROM {table} WHERE scoring_id = 1" for table in ("score", "standing")]
    assert found_after(played, *of_scoring, "DELETE FROM scoring WHERE id = 1") == [(RUN, "scoring 1")]
    columns = ", ".join(f'"{column.name}"' for column in Scoring.__table__.columns)
    another = columns.replace('"id"', "99").replace('"scoring_set_id"', "7")
    copied = f"INSERT INTO scoring ({columns}) SELECT {another}"
    assert found_after(played, f"{copied} FROM scoring WHERE id = 1") == [(RUN, "scoring 99")]


def test_no_run_is_asked_for_its_name_where_nothing_differs(played: World) -> None:
    def statements() -> int:
        ran: list[str] = []
        with played.database.read() as session:
            sa.event.listen(session.connection(), "before_cursor_execute", lambda *said: ran.append(said[2]))
            assert verify(session).clean
        return len(ran)

    before = statements()
    played.submit("no run at all\n")
    played.drain()
    assert statements() == before
