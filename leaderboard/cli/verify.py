"""`leaderboard verify`: whether what is on record is what this program wrote."""

import datetime as dt
from dataclasses import asdict

import click
import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.audit.events import verifications
from leaderboard.audit.verify import Report, one_moment, part, record_verification, scored_runs_on_record
from leaderboard.audit.verify import verify as verified
from leaderboard.cli.database import up_to_date
from leaderboard.cli.output import counting_bar, json_text
from leaderboard.config import Config
from leaderboard.db import Database
from leaderboard.errors import NotFound
from leaderboard.formats import Limits
from leaderboard.moments import moment_in_words
from leaderboard.numbers import counted
from leaderboard.store import RunStore
from leaderboard.worker.verify import check_files, recompute, stored_files_on_record

DIFFERS = 1  # exit status


class _Noted(click.ParamType[tuple[int, str]]):
    """`123:9f86…`, an event's number and its hash."""

    name = "head"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, str]:
        number, _, digest = str(value).partition(":")
        if not number.isascii() or not number.isdigit() or len(digest) != 64:
            self.fail("give what an earlier verification printed, like 123:9f86d081…", param, ctx)
        return int(number), digest


@click.command()
@click.option("--figures", is_flag=True, help="Score every stored run again too, and compare bit for bit.")
@click.option("--head", "noted", type=_Noted(), help="A head that was noted down: its event must still be there.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def verify(figures: bool, noted: tuple[int, str] | None, as_json: bool) -> int:
    """Verify that what is on record was written by this program, and name what differs.

    Compares triggers, the audit trail, what the trail says of names, dates and settings, judgments, the digests of all
    figures, which runs stand for their systems, and the bytes of all stored runs. The exit status is 1 where something
    differs. The outcome is kept: boards show organisers when the record was last found in order. The last line is the
    head of the trail; note it down elsewhere, and give it back another time, to find a trail that was written anew.

    \b
    leaderboard verify
    leaderboard verify --figures --head 123:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
    """
    config = Config.from_environment()
    with up_to_date(config) as database:
        with database.read() as session:
            one_moment(session)
            with counting_bar(scored_runs_on_record(session), "Verifying") as tell:
                report = verified(session, tell, noted)
            files = 0
            with part(report, "the stored runs"):
                files = stored_files_on_record(session)
        if files:
            store = RunStore(config.store_url, must_exist=True)
            with counting_bar(files, "Reading run files") as tell:
                spoilt = check_files(database, store, report, tell)
        if figures and files:
            with counting_bar(report.runs, "Scoring again") as tell:
                recompute(database, store, Limits(expanded_bytes=config.text_bytes), report, tell, spoilt)
        before = None
        with part(report, "the outcomes of verifications"), database.read() as session:
            before = verifications(session).clean_at
        _keep(database, report, figures)
    click.echo(json_text(_document(report)) if as_json else _words(report, before), nl=False)
    return 0 if report.clean else DIFFERS


def _keep(database: Database, report: Report, figures: bool) -> None:
    """Records the outcome; where the trail itself is damaged and takes no event, what differs is said all the same."""
    try:
        with database.write() as session:
            record_verification(session, CONSOLE, report, figures=figures)
    except (NotFound, sa.exc.DatabaseError):
        if report.clean:
            raise
        click.echo("the trail is damaged and takes no event: the outcome is not kept", err=True)


def _document(report: Report) -> dict[str, object]:
    differences = [asdict(difference) | {"who": difference.who} for difference in report.differences]
    return {"clean": report.clean, **asdict(report), "differences": differences}


def _words(report: Report, before: dt.datetime | None) -> str:
    lines = []
    for difference in report.differences:
        lines += [f"{difference.where}: {difference.what}", f"  stored    {difference.stored}"]
        lines += [f"  expected  {difference.expected}", f"  {difference.who}"]
    verdict = "nothing differs" if report.clean else counted(len(report.differences), "thing differs", "things differ")
    counts = {name.replace("_", " "): count for name, count in asdict(report).items() if isinstance(count, int)}
    lines.append(f"{verdict}: {', '.join(f'{name} {count:,}' for name, count in counts.items())}")
    if before is not None and not report.clean:
        lines.append(f"the record was last found in order {moment_in_words(before)}")
    lines.append(f"head of the trail: {report.events}:{report.head}")
    return "\n".join(lines) + "\n"
