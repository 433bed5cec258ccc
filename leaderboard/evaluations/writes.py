"""Evaluations: one period and condition of a campaign, its dates, what it shows when, and its quotas.

What an evaluation asks of a submission beside the run: fields, agreements, and rules for the file.

Next year's evaluation in one step: a copy of this year's settings and of what organisers made for it.

Removing what was made by mistake: evaluations and campaigns without submissions of others, systems without a run.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import db, moments, names
from leaderboard.access import Actor, locked_to_organise, open_to_all, require, require_organiser
from leaderboard.audit.writes import assign, present, record
from leaderboard.boards.models import Board
from leaderboard.campaigns.models import Campaign
from leaderboard.campaigns.writes import lock_if_scored, locked_evaluations, slug_taken
from leaderboard.declared.inputs import checked, defaults_of
from leaderboard.errors import Conflict, Gathered, InvalidFields, NotFound, Unconfirmed
from leaderboard.evaluations.inputs import YEAR, AgreementText, EvaluationSettings, FileRuleChanges, FormFieldSettings
from leaderboard.evaluations.models import Acceptance, Agreement, CollectionList, Evaluation
from leaderboard.evaluations.reads import evaluations as reads
from leaderboard.evaluations.rules import MOST_FIELDS, OF_EVALUATION, WHERE_READ, FormField
from leaderboard.formats import DocumentList, FileRules
from leaderboard.judgments.models import JudgmentRevision, Query
from leaderboard.judgments.reads import doubts_about
from leaderboard.judgments.writes import copy_queries
from leaderboard.submissions.models import Arrival, Participation, PersonalUse, Submission
from leaderboard.teams.models import FormerAddress, Pseudonym, System, Team
from leaderboard.worker.models import ScoringSet
from leaderboard.worker.writes import drop_scorings, make_set

CHANGEABLE = tuple(EvaluationSettings.model_fields)
DEFAULTS = defaults_of(EvaluationSettings)
# Pages of a campaign, public ones and its organisers', that stand where its evaluations do.
TAKEN = {
    "across", "evaluations", "export", "import", "new", "organisers", "progress", "settings", "systems", "teams",
    "trail",
}  # fmt: skip


def create_evaluation(
    session: Session, actor: Actor, campaign: Campaign, slug: str, title: str, period: str, **settings: Any
) -> Evaluation:
    """Makes an evaluation of the campaign.

    period    its label, such as "2020" or "2020 round 1"
    slug      its part of an address, made from period and condition where it is empty
    settings  any of EvaluationSettings, as values or as texts

    Raises InvalidFields with everything that is wrong, by the names of the settings.
    """
    require_organiser(actor, campaign.id)
    if campaign.archived_at:
        raise Conflict(f"{campaign.title} is archived: take it out of the archive first.")
    wrong = Gathered()
    with wrong:
        settings = _checked(campaign, {"title": title, "period": period, **settings})
    if not slug.strip():  # it is made of them
        wrong.raise_any()
    with wrong:
        slug = names.checked_slug(slug.strip() or names.slug_of(f"{period} {settings['condition']}"))
        if slug in _taken(session, campaign.id):
            raise slug_taken(slug)
    wrong.raise_any()
    evaluation = Evaluation(campaign_id=campaign.id, slug=slug, created_at=present(), **settings)
    db.add_or_refuse(session, evaluation, slug_taken(slug))
    record(session, actor, "create", evaluation, campaign=campaign.id, slug=slug)
    return evaluation


def _taken(session: Session, campaign_id: int) -> set[str]:
    """The slugs that no new evaluation of the campaign may have."""
    return {*TAKEN, *session.scalars(sa.select(Evaluation.slug).where(Evaluation.campaign_id == campaign_id))}


def change_evaluation(session: Session, actor: Actor, evaluation: Evaluation, **changes: Any) -> Evaluation:
    """Changes some of CHANGEABLE; a change of what figures depend on makes a new scoring set.

    Publishing one with scored runs locks its campaign's prior. Raises InvalidFields with everything that is wrong, by
    the names of the settings.
    """
    campaign = db.locked(session, Campaign, evaluation.campaign_id)  # a first result may just be recorded
    evaluation = locked_to_organise(session, actor, evaluation)
    if "period" in changes:
        changes = {"period_key": None, **changes}
    after = _checked(campaign, {**_settings_of(evaluation), **changes})
    read_before = open_to_all(evaluation, now := present())
    if changed := assign(evaluation, **after):
        closed = reads.closed_again(session, evaluation, read_before, now)
        record(session, actor, "change", evaluation, fields=changed, **closed)
    lock_if_scored(session, campaign, now)
    if set(changed) & set(OF_EVALUATION):
        make_set(session, actor, evaluation)
    return evaluation


def _settings_of(evaluation: Evaluation) -> dict[str, Any]:
    return {name: getattr(evaluation, name) for name in CHANGEABLE}


def _checked(campaign: Campaign, values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings as they are stored. Raises InvalidFields with everything that is wrong."""
    return checked(EvaluationSettings, values, measures=campaign.measures).model_dump()


def agreement_name(key: str) -> str:
    """What forms and messages call the tick of an agreement."""
    return f"agreement-{key}"


def set_field(session: Session, actor: Actor, evaluation: Evaluation, values: Mapping[str, Any]) -> None:
    """Adds a field behind the others, or changes the one of its key where it stands.

    values  its key and those of `FormFieldSettings` that change

    Answers that were given stay as they are; blanks around its words, and more than one between them, are taken out.
    Raises InvalidFields by the parts of the field: also for another kind of answer, or another source of it, once
    somebody has answered.
    """
    evaluation = locked_to_organise(session, actor, evaluation)
    fields = {own.key: own for own in reads.form_fields(evaluation)}
    before = fields.get((values["key"] or "").strip())
    was = before.as_json() if before else {}
    after = FormField.from_json(checked(FormFieldSettings, {**was, **values}).model_dump())
    wrong: dict[str, list[str]] = {}
    if not before and len(fields) >= MOST_FIELDS:
        wrong["key"] = [f"a form has at most {MOST_FIELDS} fields"]
    other = [part for part in ("kind", "header") if before and getattr(before, part) != getattr(after, part)]
    if other and after.key in reads.fields_used(session, evaluation)[0]:
        wrong |= {part: ["this field has been answered: retire it and ask under another key"] for part in other}
    if wrong:
        raise InvalidFields(wrong)
    fields[after.key] = after
    evaluation.form_fields = [own.as_json() for own in fields.values()]
    action = "change field" if before else "add field"
    _note(session, actor, action, evaluation, was, after.as_json(), key=after.key)


def remove_field(session: Session, actor: Actor, evaluation: Evaluation, key: str) -> bool:
    """Asks a field no more: takes it away, or retires it where that would change what readers see: where it was
    answered, so that its answers stay shown, and where it keeps something that runs say of themselves to fewer.

    Whether it is gone. Raises NotFound.
    """
    evaluation = locked_to_organise(session, actor, evaluation)
    fields = {own.key: own.as_json() for own in reads.form_fields(evaluation)}
    if key not in fields:
        raise NotFound(f"this evaluation has no field {key!r}")
    before = fields[key]
    stays = any(key in used for used in reads.fields_used(session, evaluation))
    fields[key] = {**before, "asked": False} if stays else {}
    evaluation.form_fields = [own for own in fields.values() if own]
    _note(session, actor, "retire field" if stays else "remove field", evaluation, before, fields[key], key=key)
    return not stays


def state_agreement(
    session: Session, actor: Actor, evaluation: Evaluation, key: str, title: str = "", wording: str = ""
) -> Agreement:
    """States an agreement, or its next version: from then on everybody is asked again with their next run.

    Raises InvalidFields (key, title, wording), also where the standing version says the same.
    """
    evaluation = locked_to_organise(session, actor, evaluation)
    sent = checked(AgreementText, {"key": key, "title": title, "wording": wording})
    own = Agreement.evaluation_id == evaluation.id, Agreement.key == sent.key
    last = session.scalar(sa.select(Agreement).where(*own).order_by(Agreement.version.desc()).limit(1))
    if last and not last.ended_at and (last.title, last.text) == (sent.title, sent.wording):
        raise InvalidFields({"wording": [f"version {last.version} says the same"]})
    facts: dict[str, Any] = {"key": sent.key, "version": last.version + 1 if last else 1, "title": sent.title}
    agreement = Agreement(evaluation_id=evaluation.id, text=sent.wording, created_at=present(), **facts)
    session.add(agreement)
    record(session, actor, "state agreement", evaluation, **facts)
    return agreement


def end_agreement(session: Session, actor: Actor, evaluation: Evaluation, key: str) -> None:
    """Asks nobody to accept it any more; who accepted it stays on record. Raises NotFound."""
    evaluation = locked_to_organise(session, actor, evaluation)
    agreement = reads.standing_agreements(session, evaluation.id).get(key)
    if not agreement:
        raise NotFound(f"this evaluation has no agreement {key!r}")
    agreement.ended_at = present()
    record(session, actor, "end agreement", evaluation, key=key, version=agreement.version)


def set_rules(session: Session, actor: Actor, evaluation: Evaluation, **changes: Any) -> None:
    """Changes some of the file rules, by their names in `FileRules`, but for the list of documents.

    They hold for runs that nobody has checked yet: one that was scored is not rejected by a later rule. Raises
    InvalidFields by these names.
    """
    evaluation = locked_to_organise(session, actor, evaluation)
    before = reads.file_rules(evaluation)
    settings = {name: getattr(before, name) for name in FileRuleChanges.model_fields}
    after = checked(FileRuleChanges, settings | changes).model_dump()
    _put_rules(session, actor, "set file rules", evaluation, **after)


def _put_rules(session: Session, actor: Actor, action: str, evaluation: Evaluation, **changes: Any) -> None:
    before = evaluation.file_rules
    evaluation.file_rules = FileRules.from_json({**before, **changes}).as_json()
    _note(session, actor, action, evaluation, before, evaluation.file_rules)


def set_documents(
    session: Session, actor: Actor, evaluation: Evaluation, documents: DocumentList | None, *, confirmed: bool = True
) -> None:
    """Puts a list of the collection's documents in the place of the one before it; None: there is no list any more.

    Raises Unconfirmed for a doubtful one unless it is confirmed.
    """
    evaluation = locked_to_organise(session, actor, evaluation)
    if documents and not confirmed and (doubts := doubts_about(session, evaluation, documents)):
        raise Unconfirmed(doubts)
    _keep_list(session, evaluation, documents.packed if documents else None)
    count, sha256 = (documents.count, documents.sha256) if documents else (0, "")
    _put_rules(session, actor, "set documents", evaluation, documents=count, documents_sha256=sha256)


def _keep_list(session: Session, evaluation: Evaluation, packed: bytes | None) -> None:
    session.execute(sa.delete(CollectionList).where(CollectionList.evaluation_id == evaluation.id))
    if packed is not None:
        session.add(CollectionList(evaluation_id=evaluation.id, packed=packed))


def copy_form(session: Session, actor: Actor, source: Evaluation, target: Evaluation) -> None:
    """Gives `target` the fields that `source` asks, its standing agreements as first versions, and its file rules with
    the list of documents, in the place of its own.

    Raises NotAllowed unless the actor organises both, InvalidFields where runs of `target` gave other answers.
    """
    require_organiser(actor, source.campaign_id)
    target = locked_to_organise(session, actor, target)
    for field in reads.form_fields(target):
        remove_field(session, actor, target, field.key)
    for field in reads.form_fields(source):
        if field.asked:
            set_field(session, actor, target, field.as_json())
    own, copied = (reads.standing_agreements(session, evaluation.id) for evaluation in (target, source))
    for key in own.keys() - copied.keys():
        end_agreement(session, actor, target, key)
    for key, agreement in copied.items():
        with suppress(InvalidFields):  # it says the same already
            state_agreement(session, actor, target, key, agreement.title, agreement.text)
    _keep_list(session, target, reads.collection_list(session, source.id))
    _put_rules(session, actor, "set file rules", target, **asdict(reads.file_rules(source)))
    record(session, actor, "copy form", target, source=source.id)


def agreements_of(session: Session, evaluation: Evaluation, versions: Mapping[str, str]) -> list[int]:
    """The ids of the standing versions of agreements, for `accept_agreements`.

    versions  of each agreement, by its key, the number of the version that was read

    Raises InvalidFields, by `agreement_name`, for keys that none has, and for anything but the standing version: nobody
    accepts what they were not shown.
    """
    standing = reads.standing_agreements(session, evaluation.id) if versions else {}
    asked = {key: str(agreement.version) for key, agreement in standing.items()}
    said = ", ".join(f"version {version} of {key}" for key, version in asked.items())
    words = f"asked now is {said}: read it, and give its version to accept it; {WHERE_READ}"
    if wrong := [key for key, version in versions.items() if asked.get(key) != version.strip()]:
        raise InvalidFields({agreement_name(key): [words if said else "no agreement is asked"] for key in wrong})
    return [standing[key].id for key in versions]


def accept_agreements(session: Session, actor: Actor, evaluation: Evaluation, accepted: Collection[int]) -> None:
    """Notes that the actor accepts these agreements, by their ids, together with a run.

    Raises InvalidFields, by `agreement_name`, for each standing one that they have neither accepted now nor before.
    The command line is no person and accepts nothing.
    """
    if actor.user_id is None:
        return
    before = set(session.scalars(sa.select(Acceptance.agreement_id).where(Acceptance.user_id == actor.user_id)))
    standing = reads.standing_agreements(session, evaluation.id).values()
    lacking = [agreement for agreement in standing if agreement.id not in before]
    wrong = {
        agreement_name(agreement.key): [f"accept this to submit a run: {agreement.title} (version {agreement.version})"]
        for agreement in lacking
        if agreement.id not in accepted
    }
    if wrong:
        raise InvalidFields(wrong)
    for agreement in lacking:
        db.insert_unless_there(
            session, Acceptance, agreement_id=agreement.id, user_id=actor.user_id, accepted_at=present()
        )
        record(
            session, actor, "accept", agreement,
            key=agreement.key, version=agreement.version, evaluation=evaluation.id,
        )  # fmt: skip


def _note(
    session: Session,
    actor: Actor,
    action: str,
    evaluation: Evaluation,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    **facts: Any,
) -> None:
    """Tells the trail what each part was and what it is, of those that changed; nothing where none did."""
    parts = {part: [before.get(part), after.get(part)] for part in {**before, **after}}
    if changes := {part: both for part, both in parts.items() if both[0] != both[1] and any(both)}:
        record(session, actor, action, evaluation, changes=changes, **facts)


DATES = ("opens_at", "closes_at", "anonymous_until")


def next_year(session: Session, evaluation: Evaluation) -> dict[str, Any]:
    """What its successor is called and when it takes place, as a proposal: slug, title, period, its number and dates.

    Each year in a name is the next one; a name without a year stays, and the number that its period is sorted by is the
    next one. Dates are those of a year later by the clocks of the evaluation's time zone. The slug is one that is free.
    """
    slug, title, period = (
        YEAR.sub(lambda year: str(int(year[0]) + 1), name)
        for name in (evaluation.slug, evaluation.title, evaluation.period)
    )
    dates = {name: getattr(evaluation, name) for name in DATES}
    return {
        "slug": names.free_slug(slug, _taken(session, evaluation.campaign_id).__contains__),
        "title": title,
        "period": period,
        "period_key": None if YEAR.search(period) else evaluation.period_key + 1,
        **{name: moment and moments.a_year_later(moment, evaluation.time_zone) for name, moment in dates.items()},
    }


def clone_evaluation(
    session: Session, actor: Actor, evaluation: Evaluation, *, with_queries: bool = False, **changes: Any
) -> Evaluation:
    """Makes an evaluation of the same campaign with this one's settings, but for those that are given.

    What `next_year` proposes is so unless another is given, and it is a draft unless that is given. Copied too are the
    fields of its form and the rules for its files. Never copied are judgments and runs.

    with_queries  copies the queries too: what they ask for, their tags, which are hidden, and which excluded and why

    Raises InvalidFields with everything that is wrong, by the names of the settings.
    """
    settings = _settings_of(evaluation) | next_year(session, evaluation)
    if YEAR.search(changes.get("period", "")):
        settings["period_key"] = None
    made = create_evaluation(session, actor, evaluation.campaign, **{**settings, "draft": True, **changes})
    if with_queries:
        copy_queries(session, actor, evaluation, made)
    copy_form(session, actor, evaluation, made)
    record(session, actor, "clone", made, of=evaluation.id)
    return made


# What goes with an evaluation, by the column evaluation_id, besides tables whose key says ON DELETE CASCADE, in this
# order: each may be pointed at by those before it.
DELETE_OF_EVALUATION: tuple[type[db.Base], ...] = (
    Arrival, PersonalUse, Participation, Submission, Pseudonym, Agreement, ScoringSet, JudgmentRevision, Query,
)  # fmt: skip


def remove_evaluation(session: Session, actor: Actor, evaluation: Evaluation) -> None:
    """Removes an evaluation that was made by mistake, with its queries and judgments, and a draft with the test runs
    of its organisers. The events of the removal stay.

    Raises Conflict once anything else was submitted to it, withdrawn and rejected runs too: those stay on record, and
    so do the judgments that they are scored by.
    """
    db.locked(session, Campaign, evaluation.campaign_id)  # it may just be published
    evaluation = locked_to_organise(session, actor, evaluation)  # what is just being submitted waits, and finds nothing
    _remove(session, actor, evaluation, [evaluation])


def remove_campaign(session: Session, actor: Actor, campaign: Campaign) -> None:
    """Removes a campaign that was made by mistake, with its evaluations; raises as above."""
    campaign = locked_to_organise(session, actor, campaign)
    _remove(session, actor, campaign, locked_evaluations(session, campaign))
    record(session, actor, "remove", campaign, slug=campaign.slug, title=campaign.title)
    session.execute(sa.delete(Campaign).where(Campaign.id == campaign.id))


def remove_system(session: Session, actor: Actor, system: System) -> None:
    """Removes a system that no run was ever sent for, such as one that a mistaken import made of the team's.

    Its team may, and admins. Raises Conflict where it has runs, withdrawn and rejected ones too: boards name it.
    """
    require(actor.all_powerful or actor.is_in(system.team_id), "Only members of the team remove a system.")
    db.locked(session, Team, system.team_id)  # what is just being submitted waits, and finds nothing
    system = db.locked(session, System, system.id)
    if refused := reads.removal_refusal(session, system):
        raise Conflict(refused)
    merged = sa.select(System).where(System.merged_into_id == system.id).order_by(System.id)
    for row in (*session.scalars(merged).all(), system):
        session.execute(sa.delete(FormerAddress).where(FormerAddress.system_id == row.id))
        session.delete(row)
        session.flush()
        record(session, actor, "remove", row, name=row.name, team=row.team_id)


def _remove(session: Session, actor: Actor, row: Campaign | Evaluation, evaluations: Sequence[Evaluation]) -> None:
    """Removes these evaluations of the row, without which it can go. Raises Conflict where it can't."""
    if refused := reads.removal_refusal(session, row):
        raise Conflict(refused)
    ids = [evaluation.id for evaluation in evaluations]
    drop_scorings(session, actor, ids, "remove")
    for evaluation in evaluations:
        first_set = sa.select(ScoringSet).where(ScoringSet.evaluation_id == evaluation.id).limit(1)
        own = sa.select(Agreement).where(Agreement.evaluation_id == evaluation.id)
        # The event tells of all sets of the evaluation, and of who accepted what.
        about = [*session.scalars(first_set), *session.scalars(own)]
        record(session, actor, "remove", evaluation, about=about, campaign=evaluation.campaign_id, slug=evaluation.slug)
    sets = sa.select(ScoringSet.id).where(ScoringSet.evaluation_id.in_(ids))
    agreements = sa.select(Agreement.id).where(Agreement.evaluation_id.in_(ids))
    for statement in (
        sa.delete(Board).where(Board.scoring_set_id.in_(sets)),
        sa.delete(Acceptance).where(Acceptance.agreement_id.in_(agreements)),
        *(sa.delete(table).where(sa.column("evaluation_id").in_(ids)) for table in DELETE_OF_EVALUATION),
        sa.delete(Evaluation).where(Evaluation.id.in_(ids)),
    ):
        session.execute(statement, execution_options={"synchronize_session": False})
    session.expire_all()
