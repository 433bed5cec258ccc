"""What an evaluation asks beside a run, and the rules of its files: written into a manifest, and taken from one."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor
from leaderboard.formats.file_rules import DocumentList
from leaderboard.formats.harmless import shown
from leaderboard.lookup import collection_list, file_rules, form_fields
from leaderboard.models import Agreement, Evaluation
from leaderboard.rules.form_fields import FormField
from leaderboard.services.submission_forms import (
    end_agreement,
    set_documents,
    set_field,
    set_rules,
    state_agreement,
)

__all__ = ["agreements_there", "bring_form_in", "form_of"]

OF_LIST = ("documents", "documents_sha256")  # what the rules say of the list of documents, which is a file of its own


def form_of(session: Session, evaluation: Evaluation, folder: Path) -> dict[str, Any]:
    """The tables of an evaluation's form; the list of its collection's documents is written beside it."""
    rules = {name: value for name, value in evaluation.file_rules.items() if name not in OF_LIST}
    found: dict[str, Any] = {
        "field": [one.as_json() for one in form_fields(evaluation)] or None,
        "agreement": [
            {"key": one.key, "title": one.title, "text": one.text, "ended": one.ended_at is not None or None}
            for one in agreements_there(session, evaluation)
        ]
        or None,
        "file_rules": rules or None,
    }
    packed = collection_list(session, evaluation.id)
    if packed is not None:
        found["document_list"] = f"{evaluation.slug}/documents.txt.gz"
        (folder / found["document_list"]).write_bytes(packed)
    return found


def bring_form_in(
    session: Session,
    actor: Actor,
    evaluation: Evaluation,
    *,
    fields: Sequence[FormField],
    agreements: Sequence[Mapping[str, Any]],
    rules: Mapping[str, Any],
    documents: DocumentList | None,
) -> list[str]:
    """Gives an evaluation its form, as far as that is missing or otherwise: what of it, in words. Agreements are stated
    behind those that are there, which stay. Raises InvalidFields for what the services refuse.
    """
    changed: list[str] = []
    there = form_fields(evaluation)
    for field in fields:
        if field not in there:
            set_field(session, actor, evaluation, field)
            changed.append(f"the field {shown(field.key)} of the form")
    for one in agreements[len(agreements_there(session, evaluation)) :]:
        state_agreement(session, actor, evaluation, one["key"], one["title"], one["text"])
        if one["ended"]:
            end_agreement(session, actor, evaluation, one["key"])
        changed.append(f"the agreement {shown(one['key'])}")
    own = file_rules(evaluation)
    others = {name: value for name, value in rules.items() if getattr(own, name, None) != value}
    if others:
        set_rules(session, actor, evaluation, **others)
        changed.append(f"file rules ({', '.join(map(shown, others))})")
    if documents is not None and documents.sha256 != own.documents_sha256:
        set_documents(session, actor, evaluation, documents)
        changed.append("the list of documents")
    return changed


def agreements_there(session: Session, evaluation: Evaluation) -> Sequence[Agreement]:
    """All versions, in the order in which they were stated."""
    return session.scalars(
        sa.select(Agreement).where(Agreement.evaluation_id == evaluation.id).order_by(Agreement.id)
    ).all()
