"""`leaderboard form`: what an evaluation asks of a submission beside the run."""

from pathlib import Path
from typing import Any

import click
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE
from leaderboard.cli.database import AGREED, changed_after_yes, reading, writing
from leaderboard.cli.options import (
    ANY_WHOLE,
    FILE,
    PLACE,
    OneOf,
    OrNone,
    Place,
    PlaceType,
    given,
    given_on_line,
    require_yes,
)
from leaderboard.cli.tables import print_table
from leaderboard.config import Config
from leaderboard.evaluations import writes as submission_forms
from leaderboard.evaluations.reads.find import find_evaluation
from leaderboard.evaluations.reads.form_fields import file_rules, form_fields, standing_agreements
from leaderboard.evaluations.rules import FieldKind, ShownTo, with_changes
from leaderboard.formats import DocumentList, document_list
from leaderboard.judgments.reads.files import listed_documents
from leaderboard.numbers import counted
from leaderboard.store import RunStore

COUNT = OrNone(ANY_WHOLE)


@click.group()
def form() -> None:
    """What a submission form asks: fields, agreements, rules for the file."""


@form.command()
@PLACE
def show(evaluation: Place) -> None:
    """Print the fields, agreements and file rules of an evaluation.

    \b
    leaderboard form show harbour/2026-text
    """
    with reading() as session:
        found = find_evaluation(session, CONSOLE, *evaluation)
        fields, rules = form_fields(found), file_rules(found)
        agreements = [(one.key, one.version, one.title) for one in standing_agreements(session, found.id)]
    rows = [
        (
            one.key,
            one.label,
            one.kind.value,
            "retired" if not one.asked else f"header {one.header}" if one.header else "form",
            "yes" if one.required else "no",
            one.shown_to.value,
            " ".join(name for name in ("column", "filter") if getattr(one, name)) or "–",
        )
        for one in fields
    ]
    print_table(("field", "label", "kind", "asked in", "required", "shown to", "board"), rows, "no field")
    print_table(("agreement", "version", "title"), agreements, "no agreement")
    print_table(("rule", "value"), [(name, str(value)) for name, value in rules.as_json().items()], "no rule for files")


@form.command()
@PLACE
@click.argument("key")
@click.option("--label", help="What the form calls it; a new field needs one.")
@click.option("--kind", type=OneOf(FieldKind), default=FieldKind.TEXT.value, show_default=True, help="Of its answers.")
@click.option("--choice", "choices", multiple=True, help="One of the choices; give it again for each.")
@click.option("--required/--optional", default=False, help="Whether every run must answer.")
@click.option(
    "--shown-to", type=OneOf(ShownTo), default=ShownTo.ORGANISERS.value, show_default=True, help="Who sees answers."
)
@click.option("--column/--no-column", default=False, help="Whether it is a column of the board.")
@click.option("--filter/--no-filter", default=False, help="Whether readers can filter the board by it.")
@click.option("--hint", default="", help="A sentence below its label.")
@click.option(
    "--header",
    default="",
    help="Read the answer from the run's own metadata, under this key; with --required the form asks where it lacks.",
)
@AGREED
@click.pass_context
def field(context: click.Context, /, evaluation: Place, key: str, yes: bool, **_: Any) -> None:
    """Add a field, or change the one of this key in the parts that are given; the others stay. It is asked again if it
    was retired.

    Asks before answers that are there are shown to more readers.

    \b
    leaderboard form field harbour/2026-text training --label 'Trained on queries of other years' \\
        --kind yes_no --required --shown-to everyone --column --filter
    leaderboard form field harbour/2026-text cpu --label Processor --header platform.hardware.cpu.model
    """
    parts = {name: value for name, value in given_on_line(context).items() if name != "yes"} | {"asked": True}

    def change(session: Session) -> None:
        found = find_evaluation(session, CONSOLE, *evaluation)
        submission_forms.set_field(session, CONSOLE, found, with_changes(form_fields(found), key, parts))

    changed_after_yes(yes, evaluation.campaign, change)
    click.echo(f"{evaluation} asks {key}")


@form.command()
@PLACE
@click.argument("key")
def remove(evaluation: Place, key: str) -> None:
    """Ask a field no more.

    Answers that were given stay, shown to the same readers, and so does what the field reads of runs' own metadata.

    \b
    leaderboard form remove harbour/2026-text training
    """
    with writing() as session:
        gone = submission_forms.remove_field(session, CONSOLE, find_evaluation(session, CONSOLE, *evaluation), key)
    click.echo(
        f"{evaluation} asks {key} no more{'' if gone else '; it stays for runs that are here, with the same readers'}"
    )


@form.command()
@PLACE
@click.argument("key")
@click.option("--title", help="What the form calls it.")
@click.option("--text", type=FILE, help="A file with its text.")
@click.option("--end", is_flag=True, help="Ask for it no more.")
def agreement(evaluation: Place, key: str, title: str | None, text: Path | None, end: bool) -> None:
    """State an agreement, or its next version, or end it.

    \b
    leaderboard form agreement harbour/2026-text terms --title 'Terms of use' --text terms.txt
    leaderboard form agreement harbour/2026-text terms --end
    """
    if end == (title is not None and text is not None):
        raise click.UsageError("give --title and --text to state it, or --end alone")
    with writing() as session:
        found = find_evaluation(session, CONSOLE, *evaluation)
        if end:
            submission_forms.end_agreement(session, CONSOLE, found, key)
            click.echo(f"{evaluation} asks nobody for {key} any more")
        elif text is not None:
            stated = submission_forms.state_agreement(session, CONSOLE, found, key, title or "", _text_of(text))
            click.echo(f"version {stated.version} of {key} is asked of everybody with their next run")


@form.command()
@PLACE
@click.option("--most", "most_documents", type=COUNT, help="Documents that a query may have at most; none for any.")
@click.option("--least", "least_documents", type=COUNT, help="Documents that a query must have at least.")
@click.option("--every-query/--any-query", default=False, help="Whether every query must have a list.")
@click.option("--document-pattern", help="What document ids look like, such as 'doc-[0-9]{1,6}'; '' for any.")
@click.option("--tag-pattern", help="What run tags look like; '' for any. Formats without tags pass.")
@click.option("--documents", type=FILE, help="The collection's document ids, one a line, plain or gzipped.")
@click.option("--no-documents", is_flag=True, help="Drop the list of document ids.")
@click.option("--confirm", "yes", is_flag=True, help="Don't ask before a doubtful list is taken.")
@click.pass_context
def rules(
    context: click.Context, /, evaluation: Place, documents: Path | None, no_documents: bool, yes: bool, **_: Any
) -> None:
    """Change the rules for run files that are given; the others stay. They hold for runs that come from now on.

    Asks before it takes a list that is not as long as the collection, or lacks documents that are judged or that scored
    runs name.

    \b
    leaderboard form rules harbour/2026-text --most 1000 --every-query --document-pattern 'doc-[0-9]{1,6}'
    leaderboard form rules harbour/2026-text --documents ids.txt.gz
    """
    changes = {
        name: value for name, value in given(context).items() if name not in ("documents", "no_documents", "yes")
    }
    if documents is not None and no_documents:
        raise click.UsageError("give --documents or --no-documents")
    listed = document_list(documents) if documents is not None else None
    if listed is not None:
        _require_sound(evaluation, listed, yes=yes)
    with writing() as session:
        found = find_evaluation(session, CONSOLE, *evaluation)
        submission_forms.set_rules(session, CONSOLE, found, **changes)
        if listed is not None or no_documents:
            submission_forms.set_documents(session, CONSOLE, found, listed)
    held = f"; its collection has {counted(listed.count, 'document')}" if listed is not None else ""
    click.echo(f"changed the file rules of {evaluation}{held}")


@form.command()
@click.argument("source", type=PlaceType())
@click.argument("target", type=PlaceType())
@AGREED
def copy(source: Place, target: Place, yes: bool) -> None:
    """Give one evaluation the fields, agreements and file rules of another, in the place of its own.

    \b
    leaderboard form copy harbour/2025-text harbour/2026-text
    """

    def change(session: Session) -> None:
        places = [find_evaluation(session, CONSOLE, *place) for place in (source, target)]
        submission_forms.copy_form(session, CONSOLE, *places)

    changed_after_yes(yes, target.campaign, change)
    click.echo(f"{target} asks what {source} asks")


def _require_sound(evaluation: Place, listed: DocumentList, *, yes: bool) -> None:
    """Asks for a yes to a list that is most likely not the collection's."""
    with reading() as session:
        store = RunStore(Config.from_environment().store_url)
        doubts = listed_documents(session, store, find_evaluation(session, CONSOLE, *evaluation), listed).doubts
    for words in doubts:
        click.echo(words, err=True)
    if doubts:
        require_yes(yes, "Runs that name other documents are rejected from now on. Take this list?")


def _text_of(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise click.UsageError(f"{path.name} is no UTF-8 text") from None
