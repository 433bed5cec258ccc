"""What is here already and is otherwise in a manifest: an import leaves it as it is, and says so.

Only what the manifest says is compared, and as it is stored: a value that it leaves out may be any here.
"""

import datetime as dt
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from leaderboard.errors import InvalidFields
from leaderboard.formats import QueryRow
from leaderboard.formats.harmless import shown
from leaderboard.models import Agreement, Campaign, Evaluation, JudgmentRevision, Query, Submission, System
from leaderboard.numbers import counted, first_of
from leaderboard.rules.prior import PRIOR_FIELDS
from leaderboard.rules.settings import Split
from leaderboard.services import campaigns
from leaderboard.services.imports import checked_settings
from leaderboard.transfer.columns import NONE
from leaderboard.transfer.manifest import WORDS, EvaluationEntry, Manifest
from leaderboard.transfer.parties import listed_system
from leaderboard.transfer.planning import PlannedRun
from leaderboard.transfer.telling import Telling
from leaderboard.transfer.toml import value_text

__all__ = [
    "NAMED",
    "note_agreements",
    "note_campaign",
    "note_evaluation",
    "note_judgments",
    "note_queries",
    "note_queries_apart",
    "note_runs",
    "note_systems",
]

LEFT = "left as it is"
NAMED = 5  # queries
UNDER_SETTINGS, UNDER_QUERIES = "change it in its settings", "change it under Queries"
DATES = ("run_at", "received_at")
# Decisions on a run have dates and reasons beside them, which differ where the decision does.
OF_RUN = ("label", *DATES, "late", "threshold", "notes", "version", "designation", "withdrawn_at", "ruling", "answers")
CORRECTED = (
    "runs that were brought in get the dates of the manifest where the import corrects dates (--correct-dates, or the "
    "box on the page); those that were sent here keep theirs"
)


def note_campaign(campaign: Campaign, given: Mapping[str, Any], told: Telling) -> None:
    """Settings of the campaign; what no campaign could have, such as a measure that nobody knows, is a problem.

    Measures without a word on the primary one mean that this is the first, as they do where the campaign is made.
    """
    if given.get("measures") and not given.get("primary_measure"):
        given = {**given, "primary_measure": given["measures"][0]}
    before = {name: getattr(campaign, name) for name in campaigns.CHANGEABLE}
    given = {name: value for name, value in given.items() if name in before}
    prior = dict.fromkeys(PRIOR_FIELDS) if given.keys() & set(PRIOR_FIELDS) else {}
    try:
        after = campaigns.checked_settings(before | prior | dict(given))
    except InvalidFields as error:
        told.note("campaign", error)
        return
    for name in given:
        if after[name] != before[name]:
            _note(told, name, campaign.title, before[name], after[name], UNDER_SETTINGS)


def note_evaluation(evaluation: Evaluation, entry: EvaluationEntry, told: Telling) -> None:
    """Settings of an evaluation."""
    given = {"period": entry.period, **entry.settings}
    if entry.title != entry.period:
        given["title"] = entry.title
    given.pop("official_source", None)  # an import sets it
    given.pop("set_aside", None)  # said of a new one only
    for name, value in given.items():
        here = getattr(evaluation, name)
        if not _is_same(here, value):
            _note(told, name, evaluation.title, here, value, UNDER_SETTINGS)


def note_queries(evaluation: Evaluation, there: Mapping[str, Query], rows: Iterable[QueryRow], told: Telling) -> None:
    """Texts of queries. there: by id."""
    other = [row.id for row in rows if row.id in there and _reads_otherwise(there[row.id], row)]
    if other:
        told.notes.append(
            f"left as they are: {counted(len(other), 'query', 'queries')} of {evaluation.title} with another text, "
            f"description or tags in the manifest's file ({_some(other)}); upload the file under Queries to change them"
        )


def note_queries_apart(
    evaluation: Evaluation, entry: EvaluationEntry, there: Mapping[str, Query], told: Telling
) -> None:
    """Queries that are hidden or excluded here and not in a manifest that names some, and other reasons.

    there: by id, as they are before the import sets any apart
    """
    hidden = [one for one, query in there.items() if query.split is Split.HIDDEN and one not in entry.hidden]
    excluded = [one for one, query in there.items() if query.excluded_at is not None and one not in entry.excluded]
    for word, given, here in (("hidden", entry.hidden, hidden), ("excluded", entry.excluded, excluded)):
        if given and here:
            some = f"{counted(len(here), 'query', 'queries')} of {evaluation.title} ({_some(here)})"
            told.notes.append(f"{LEFT}: {word} here and not in the manifest: {some}; {UNDER_QUERIES}")
    for one, because in entry.excluded.items():
        if one in there and there[one].excluded_at is not None and not _is_same(there[one].excluded_because, because):
            whose = f"the excluded query {shown(one)} of {evaluation.title}"
            _note(told, "the reason", whose, there[one].excluded_because, because, UNDER_QUERIES)


def note_agreements(evaluation: Evaluation, entry: EvaluationEntry, there: Sequence[Agreement], told: Telling) -> None:
    """Agreements that say something else here. there: all versions, in the order in which they were stated."""
    for here, given in zip(there, entry.agreements, strict=False):  # either may have more
        if not all(_is_same(getattr(here, name), given[name]) for name in ("key", "title", "text")):
            whose = f"{shown(here.key)} of {evaluation.title}"
            told.notes.append(f"{LEFT}: the agreement {whose} has other words in the manifest; state it under Form")


def note_judgments(
    evaluation: Evaluation, entry: EvaluationEntry, by_file: Mapping[str, JudgmentRevision], told: Telling
) -> None:
    """What is said of a revision of judgments. by_file: the revisions that the manifest's files are."""
    for one in entry.judgments:
        revision = by_file.get(one.file)
        if revision is None:
            continue
        whose = f"revision {revision.number} of the judgments of {evaluation.title}"
        if one.released is not None and revision.released_at != one.released:
            _note(told, "released", whose, revision.released_at, one.released)
        if one.note and not _is_same(revision.note, one.note):
            _note(told, "note", whose, revision.note, one.note)


def note_systems(manifest: Manifest, runs: Iterable[PlannedRun], systems: Mapping[int, System], told: Telling) -> None:
    """Kinds and descriptions of systems, each once. systems: those that were here, by the number of the run."""
    seen: set[tuple[int, str]] = set()
    for run in runs:
        system = systems.get(run.number)
        if system is None:
            continue
        listed = listed_system(manifest.team(run.entry.team), run.system)
        given = ({"kind": run.entry.kind} if run.entry.kind else {}) | dict(listed.settings if listed else {})
        for name, value in given.items():
            here = getattr(system, name)
            if (system.id, name) not in seen and not _is_same(here, value):
                seen.add((system.id, name))
                _note(told, name, f"the system {system.name}", here, value, "change it on the system's page")


def note_runs(title: str, runs: Iterable[tuple[PlannedRun, Submission]], told: Telling) -> None:
    """What is said of runs of an evaluation, with those that they are here: of each setting how many differ."""
    found: dict[str, list[str]] = {}
    for run, here in runs:
        for name, value in _given(run):
            if not _is_same(getattr(here, name), value):
                before, after = (_text(one) for one in (getattr(here, name), value))
                values = f"{before} here, {after} in the manifest"
                found.setdefault(name, []).append(f"of {shown(run.entry.file)} it is {values}")
    for name, lines in found.items():
        others = f", and so on for {len(lines) - 1:,} more" if len(lines) > 1 else ""
        what_next = f"; {CORRECTED}" if name in DATES else ""
        word = WORDS.get(name, name)
        told.notes.append(f"{title}: {LEFT}: {word} of {counted(len(lines), 'run')}: {lines[0]}{others}{what_next}")


def _given(run: PlannedRun) -> Iterator[tuple[str, Any]]:
    """What the manifest says of a run, as it would be stored."""
    stored = checked_settings({**run.entry.settings, "label": run.label})
    for name in OF_RUN:
        if name in run.entry.settings:
            yield name, stored[name]


def _reads_otherwise(query: Query, row: QueryRow) -> bool:
    """Whether a file's query has words that are not those here; a file of ids alone says nothing of them."""
    return (
        (bool(row.text) and row.text != query.text)
        or (bool(row.description) and row.description != query.description)
        or (bool(row.tags) and list(row.tags) != list(query.tags))
    )


def _is_same(here: Any, given: Any) -> bool:
    if isinstance(here, str) and isinstance(given, str):
        return " ".join(here.split()) == " ".join(given.split())
    return bool(here == given)


def _note(told: Telling, name: str, whose: str, here: Any, given: Any, what_next: str = "") -> None:
    ending = f"; {what_next}" if what_next else ""
    told.notes.append(f"{LEFT}: {name} of {whose} is {_text(here)} here, {_text(given)} in the manifest{ending}")


def _text(value: Any) -> str:
    """As a manifest has it, cut where it is long."""
    if value is None:
        return NONE
    if isinstance(value, dt.datetime) and value.astimezone(dt.UTC).time() == dt.time():
        value = value.astimezone(dt.UTC).date()
    return "another" if isinstance(value, Mapping) else shown(value_text(value))


def _some(names: Collection[str]) -> str:
    return first_of([shown(one) for one in names], NAMED)
