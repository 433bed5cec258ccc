"""`leaderboard form rules`: what is asked of a run's file, with the list of documents, which is a file."""

from pathlib import Path
from typing import Any

import click

from leaderboard.access import CONSOLE
from leaderboard.cli.database import reading, writing
from leaderboard.cli.operations import option_of
from leaderboard.cli.options import FILE, PLACE, Place, given, require_yes
from leaderboard.config import Config
from leaderboard.declared.commands import Command
from leaderboard.declared.inputs import checked
from leaderboard.evaluations import writes as submission_forms
from leaderboard.evaluations.inputs import FileRuleChanges
from leaderboard.evaluations.reads.find import find_evaluation
from leaderboard.formats import DocumentList, document_list
from leaderboard.judgments.reads.files import listed_documents
from leaderboard.numbers import counted
from leaderboard.store import RunStore


@click.command()
@PLACE
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
    if documents is not None and no_documents:
        raise click.UsageError("give --documents or --no-documents")
    values = {name: value for name, value in given(context).items() if name in FileRuleChanges.model_fields}
    changes = checked(FileRuleChanges, values).given()
    listed = document_list(documents) if documents is not None else None
    if listed is not None:
        _require_sound(evaluation, listed, yes=yes)
    with writing() as session:
        record = find_evaluation(session, CONSOLE, *evaluation)
        submission_forms.set_rules(session, CONSOLE, record, **changes)
        if listed is not None or no_documents:
            submission_forms.set_documents(session, CONSOLE, record, listed)
    count = f"; its collection has {counted(listed.count, 'document')}" if listed is not None else ""
    click.echo(f"changed the file rules of {evaluation}{count}")


RULES = Command("form rules CAMPAIGN/EVALUATION", "")
rules.params[1:1] = [option_of(name, field, RULES) for name, field in FileRuleChanges.model_fields.items()]


def _require_sound(evaluation: Place, listed: DocumentList, *, yes: bool) -> None:
    """Asks for a yes to a list that is most likely not the collection's."""
    with reading() as session:
        store = RunStore(Config.from_environment().store_url)
        doubts = listed_documents(session, store, find_evaluation(session, CONSOLE, *evaluation), listed).doubts
    for words in doubts:
        click.echo(words, err=True)
    if doubts:
        require_yes(yes, "Runs that name other documents are rejected from now on. Take this list?")
