"""What an evaluation asks of a submission beside the run: fields, agreements, and rules for the file."""

import dataclasses
from collections.abc import Collection, Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, require_organiser
from leaderboard.audit.writes import present, record
from leaderboard.errors import BadInput, InvalidFields, NotFound
from leaderboard.evaluations.models import Acceptance, Agreement, CollectionList, Evaluation
from leaderboard.evaluations.reads.form_fields import (
    answered,
    collection_list,
    file_rules,
    form_fields,
    keeping,
    standing_agreements,
)
from leaderboard.evaluations.rules.form_fields import KEY, MOST_FIELDS, WHERE_READ, FormField, problems_of_field
from leaderboard.formats import DocumentList, FileRules, Pattern
from leaderboard.locking import insert_unless_there, locked
from leaderboard.numbers import counted
from leaderboard.texts import text_problem

LONGEST_TITLE = 120  # characters
LONGEST_AGREEMENT = 20_000
MOST_DOCUMENTS = 10**7  # of one query


def agreement_name(key: str) -> str:
    """What forms and messages call the tick of an agreement."""
    return f"agreement-{key}"


def set_field(session: Session, actor: Actor, evaluation: Evaluation, field: FormField) -> None:
    """Adds a field behind the others, or changes the one of its key where it stands.

    Answers that were given stay as they are; blanks around its words, and more than one between them, are taken out.
    Raises InvalidFields by the parts of the field: also for another kind of answer, or another source of it, once
    somebody has answered.
    """
    require_organiser(actor, evaluation.campaign_id)
    field = field.tidied()
    evaluation = locked(session, Evaluation, evaluation.id)
    fields = list(form_fields(evaluation))
    place = next((place for place, one in enumerate(fields) if one.key == field.key), None)
    wrong = problems_of_field(field)
    same = [
        one.key
        for one in fields
        if one.key != field.key
        and one.label.casefold() == field.label.casefold()
        and ((one.asked and field.asked) or (one.on_board and field.on_board))
    ]
    if same:
        wrong.setdefault("label", []).append(f"{same[0]!r} has this label; take another one")
    if place is None and len(fields) >= MOST_FIELDS:
        wrong.setdefault("key", []).append(f"a form has at most {MOST_FIELDS} fields")
    if place is not None and answered(session, evaluation)[field.key]:
        before = fields[place]
        for part in ("kind", "header"):
            if getattr(before, part) != getattr(field, part):
                wrong[part] = ["this field has been answered: retire it and ask under another key"]
    if wrong:
        raise InvalidFields(wrong)
    before_it = None if place is None else fields[place].as_json()
    if place is None:
        fields.append(field)
    else:
        fields[place] = field
    evaluation.form_fields = [one.as_json() for one in fields]
    action = "add field" if place is None else "change field"
    if changes := _changes(before_it, field.as_json()):
        record(session, actor, action, evaluation, key=field.key, changes=changes)


def remove_field(session: Session, actor: Actor, evaluation: Evaluation, key: str) -> bool:
    """Asks a field no more: takes it away, or retires it where that would change what readers see: where it was
    answered, so that its answers stay shown, and where it keeps something that runs say of themselves to fewer.

    Whether it is gone. Raises NotFound.
    """
    require_organiser(actor, evaluation.campaign_id)
    evaluation = locked(session, Evaluation, evaluation.id)
    fields = form_fields(evaluation)
    if key not in {one.key for one in fields}:
        raise NotFound(f"this evaluation has no field {key!r}")
    stays = bool(answered(session, evaluation)[key]) or key in keeping(session, evaluation)
    kept = [
        dataclasses.replace(one, asked=False) if one.key == key else one for one in fields if stays or one.key != key
    ]
    evaluation.form_fields = [one.as_json() for one in kept]
    before, after = ({one.key: one.as_json() for one in some}.get(key) for some in (fields, kept))
    action = "retire field" if stays else "remove field"
    if changes := _changes(before, after):  # a retired one has none
        record(session, actor, action, evaluation, key=key, changes=changes)
    return not stays


def state_agreement(
    session: Session, actor: Actor, evaluation: Evaluation, key: str, title: str, text: str
) -> Agreement:
    """States an agreement, or its next version: from then on everybody is asked again with their next run.

    Raises InvalidFields (key, title, wording), also where the standing version says the same.
    """
    require_organiser(actor, evaluation.campaign_id)
    evaluation = locked(session, Evaluation, evaluation.id)
    title, text = " ".join(title.split()), text.replace("\r\n", "\n").strip()
    wrong: dict[str, list[str]] = {}
    if not KEY.fullmatch(key):
        wrong["key"] = ["use small letters, digits, - and _, at most 40, a letter first"]
    for name, given, longest in (("title", title, LONGEST_TITLE), ("wording", text, LONGEST_AGREEMENT)):
        if problem := text_problem(given, longest) or (None if given else "write one"):
            wrong[name] = [problem]
    versions = _versions(session, evaluation, key)
    last = versions[-1] if versions else None
    if last is not None and last.ended_at is None and (last.title, last.text) == (title, text):
        wrong["wording"] = [f"version {last.version} says the same"]
    if wrong:
        raise InvalidFields(wrong)
    agreement = Agreement(
        evaluation_id=evaluation.id,
        key=key,
        version=last.version + 1 if last else 1,
        title=title,
        text=text,
        created_at=present(),
    )
    session.add(agreement)
    session.flush()
    changes = _changes(_told_agreement(last), _told_agreement(agreement))
    record(session, actor, "state agreement", evaluation, key=key, version=agreement.version, changes=changes)
    return agreement


def end_agreement(session: Session, actor: Actor, evaluation: Evaluation, key: str) -> None:
    """Asks nobody to accept it any more; who accepted it stays on record. Raises NotFound."""
    require_organiser(actor, evaluation.campaign_id)
    evaluation = locked(session, Evaluation, evaluation.id)
    standing = {one.key: one for one in standing_agreements(session, evaluation.id)}
    if key not in standing:
        raise NotFound(f"this evaluation has no agreement {key!r}")
    standing[key].ended_at = present()
    record(session, actor, "end agreement", evaluation, key=key, version=standing[key].version)


def set_rules(session: Session, actor: Actor, evaluation: Evaluation, **changes: Any) -> FileRules:
    """Changes some of the file rules, by their names in `FileRules`, but for the list of documents.

    They hold for runs that nobody has checked yet: one that was scored is not rejected by a later rule. Raises
    InvalidFields by these names.
    """
    require_organiser(actor, evaluation.campaign_id)
    evaluation = locked(session, Evaluation, evaluation.id)
    own = {"most_documents", "least_documents", "every_query", "document_pattern", "tag_pattern"}
    wrong = {name: ["there is no such rule"] for name in changes.keys() - own}
    before = file_rules(evaluation)
    rules = dataclasses.replace(before, **{name: value for name, value in changes.items() if name in own})
    for name in ("most_documents", "least_documents"):
        count = getattr(rules, name)
        if count is not None and not 1 <= count <= MOST_DOCUMENTS:
            wrong[name] = [f"give a number from 1 to {MOST_DOCUMENTS:,}, or none"]
    if not wrong and (rules.least_documents or 0) > (rules.most_documents or MOST_DOCUMENTS):
        wrong["least_documents"] = ["this is more than the most that are allowed"]
    for name in ("document_pattern", "tag_pattern"):
        try:
            Pattern(getattr(rules, name))
        except BadInput as error:
            wrong[name] = [error.message]
    if wrong:
        raise InvalidFields(wrong)
    evaluation.file_rules = rules.as_json()
    if changes_made := _changes(before.as_json(), rules.as_json()):
        record(session, actor, "set file rules", evaluation, changes=changes_made)
    return rules


def set_documents(session: Session, actor: Actor, evaluation: Evaluation, documents: DocumentList | None) -> None:
    """Puts a list of the collection's documents in the place of the one before it; None: there is no list any more."""
    require_organiser(actor, evaluation.campaign_id)
    evaluation = locked(session, Evaluation, evaluation.id)
    session.execute(sa.delete(CollectionList).where(CollectionList.evaluation_id == evaluation.id))
    count, sha256 = (documents.count, documents.sha256) if documents else (0, "")
    if documents is not None:
        session.add(CollectionList(evaluation_id=evaluation.id, packed=documents.packed))
    before = file_rules(evaluation)
    rules = dataclasses.replace(before, documents=count, documents_sha256=sha256)
    evaluation.file_rules = rules.as_json()
    if changes := _changes(before.as_json(), rules.as_json()):
        record(session, actor, "set documents", evaluation, changes=changes)


def copy_form(session: Session, actor: Actor, source: Evaluation, target: Evaluation) -> None:
    """Gives `target` the fields that `source` asks, its standing agreements as first versions, and its file rules with
    the list of documents, in the place of its own.

    Raises NotAllowed unless the actor organises both, InvalidFields where runs of `target` gave other answers.
    """
    require_organiser(actor, source.campaign_id)
    require_organiser(actor, target.campaign_id)
    target = locked(session, Evaluation, target.id)
    for field in form_fields(target):
        remove_field(session, actor, target, field.key)
    for field in form_fields(source):
        if field.asked:
            set_field(session, actor, target, field)
    own = {one.key: one for one in standing_agreements(session, target.id)}
    copied = {one.key: one for one in standing_agreements(session, source.id)}
    for key in own.keys() - copied.keys():
        end_agreement(session, actor, target, key)
    for key, agreement in copied.items():
        if key not in own or (own[key].title, own[key].text) != (agreement.title, agreement.text):
            state_agreement(session, actor, target, key, agreement.title, agreement.text)
    rules = file_rules(source)
    packed = collection_list(session, source.id)
    documents = None if packed is None else DocumentList(packed, rules.documents_sha256, rules.documents)
    set_documents(session, actor, target, documents)
    changes = _changes(target.file_rules, rules.as_json())
    target.file_rules = rules.as_json()
    record(session, actor, "copy form", target, source=source.id, changes=changes)


def agreements_of(session: Session, evaluation: Evaluation, versions: Mapping[str, str]) -> list[int]:
    """The ids of the standing versions of agreements, for `accept_agreements`.

    versions  of each agreement, by its key, the number of the version that was read

    Raises InvalidFields, by `agreement_name`, for keys that none has, and for anything but the standing version: nobody
    accepts what they were not shown.
    """
    standing = {one.key: one for one in standing_agreements(session, evaluation.id)}
    names = ", ".join(standing)
    wrong: dict[str, list[str]] = {}
    for key, version in versions.items():
        if (one := standing.get(key)) is None:
            words = f"there is no such agreement; {f'asked are: {names}' if names else 'none is asked'}"
            wrong[agreement_name(key)] = [words]
        elif version.strip() != str(one.version):
            words = (
                f"{version.strip()!r} is not the version that is asked now: read version {one.version} of {one.title}, "
                f"and give {one.version} to accept it; {WHERE_READ}"
            )
            wrong[agreement_name(key)] = [words]
    if wrong:
        raise InvalidFields(wrong)
    return [standing[key].id for key in versions]


def lacking_agreement(title: str, version: int) -> str:
    """What is said where an agreement is not accepted."""
    return f"accept this to submit a run: {title} (version {version})"


def accept_agreements(session: Session, actor: Actor, evaluation: Evaluation, accepted: Collection[int]) -> None:
    """Notes that the actor accepts these agreements, by their ids, together with a run.

    Raises InvalidFields, by `agreement_name`, for each standing one that they have neither accepted now nor before.
    The command line is no person and accepts nothing.
    """
    if actor.user_id is None:
        return
    standing = standing_agreements(session, evaluation.id)
    before = set(
        session.scalars(
            sa.select(Acceptance.agreement_id).where(
                Acceptance.user_id == actor.user_id, Acceptance.agreement_id.in_([one.id for one in standing])
            )
        )
    )
    lacking = [one for one in standing if one.id not in before]
    wrong = {
        agreement_name(one.key): [lacking_agreement(one.title, one.version)]
        for one in lacking
        if one.id not in accepted
    }
    if wrong:
        raise InvalidFields(wrong)
    for one in lacking:
        insert_unless_there(session, Acceptance, agreement_id=one.id, user_id=actor.user_id, accepted_at=present())
        record(session, actor, "accept", one, key=one.key, version=one.version, evaluation=evaluation.id)


def _changes(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> dict[str, list[Any]]:
    """What the trail tells: part -> what it was and what it is, of those that changed; None where there was none."""
    before, after = before or {}, after or {}
    parts = ((part, before.get(part), after.get(part)) for part in dict.fromkeys([*before, *after]))
    return {part: [was, now] for part, was, now in parts if was != now and (was or now)}


def _told_agreement(agreement: Agreement | None) -> dict[str, str]:
    """An agreement as the trail tells of it: its row keeps the text of every version."""
    if agreement is None:
        return {}
    return {
        "title": agreement.title,
        "text": f"that of version {agreement.version}, {counted(len(agreement.text), 'character')}",
    }


def _versions(session: Session, evaluation: Evaluation, key: str) -> list[Agreement]:
    own = Agreement.evaluation_id == evaluation.id, Agreement.key == key
    return list(session.scalars(sa.select(Agreement).where(*own).order_by(Agreement.version)))
