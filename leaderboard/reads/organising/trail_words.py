"""An event of the audit trail in words: who did what to what, and what it changed."""

import datetime as dt
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leaderboard.models import Event
from leaderboard.reads.organising.trail_names import NUMBERS, Named, Names
from leaderboard.rules.site_names import COMMAND_LINE, NUMBERED_ACCOUNT, WORKER

__all__ = ["SUBJECTS", "WORDS", "Change", "TrailRow", "told"]

OF_WORKER = ("score", "reject", "fail", "switch")
SUBJECTS = {  # table of an event's subject -> what a person calls it
    "campaign": "campaign",
    "evaluation": "evaluation",
    "query": "query",
    "scoring_set": "scoring set",
    "submission": "run",
    "system": "system",
    "team": "team",
}
WORDS = {  # what was done -> as it is told; what is not here is told by its own name
    "create": "made",
    "change": "changed",
    "remove": "removed",
    "clone": "cloned another evaluation into",
    "rename": "renamed",
    "submit": "submitted",
    "import run": "brought in from the past",
    "correct dates": "corrected the dates of",
    "score": "scored",
    "reject": "rejected the file of",
    "fail": "gave up on scoring",
    "retry": "put back into the queue",
    "withdraw": "withdrew",
    "describe": "changed label or notes of",
    "let stand": "let stand for its system",
    "keep standing": "let go on standing for its system",
    "give place up": "ended that no run takes the place of",
    "make primary": "made its team's primary run",
    "make contrastive": "made contrastive",
    "hide": "hid",
    "disqualify": "disqualified",
    "restore": "put back on the boards",
    "merge": "merged another team into",
    "merge into": "merged into another team",
    "move to team": "moved to another team",
    "become one": "made one with another system",
    "exclude": "left out of the figures",
    "include": "took back into the figures",
    "import queries": "imported queries into",
    "remove queries": "removed queries of",
    "import judgments": "imported judgments into",
    "set split": "hid or showed queries of",
    "make set": "began to score anew with",
    "switch": "switched the boards to",
    "rank by": "let the boards rank by another measure of",
    "date set": "said from when to when boards went by",
    "add organiser": "added an organiser to",
    "remove organiser": "removed an organiser of",
    "let team in": "let a team into",
    "let team out": "took a team out of",
    "let in instead": "let a team into, in the place of one that was merged into it,",
    "archive": "archived",
    "take out of the archive": "took out of the archive",
    "rename source": "renamed a source of judgments of",
    "remove source": "removed a source of judgments of",
    "set source aside": "set a source of judgments aside of",
    "make official": "changed whose judgments are the official ones of",
    "add field": "added a field to the form of",
    "change field": "changed a field of the form of",
    "remove field": "removed a field of the form of",
    "retire field": "asks a field no more in the form of",
    "state agreement": "asks an agreement in the form of",
    "end agreement": "asks an agreement no more in the form of",
    "accept": "accepted",
    "set file rules": "set the file rules of",
    "set documents": "set the list of documents of",
    "copy form": "took the form of another evaluation over into",
}
UNTOLD_COLUMNS = {  # what the rest of an event says already, or nobody reads
    "name_key", "holds_place", "problems", "problem_count", "settings_hash", "chosen_at", "scored_at", "ruled_at",
    "ruled_by_id", "withdrawn_at", "withdrawn_by_id",
}  # fmt: skip
UNTOLD_FACTS = {
    "figures", "digest", "scorings", "scoring", "fields", "sha256", "settings", "attempt", "worker", "damaged",
    "campaign", "evaluation", "holds_place", "changes",
}  # fmt: skip
FACTS = {"of": "from", "to": "its place goes to", "instead": "the primary run is", "primary": "the primary run is"}
COLUMNS = {
    "team_id": "team",
    "system_id": "system",
    "revision_id": "judgments",
    "primary_submission_id": "primary run",
    "merged_into_id": "merged into",
    "opens_at": "opens",
    "closes_at": "closes",
}
# What events of a form tell part by part, in their fact `changes`, and not as a whole.
OF_FORMS = {
    "add field": "field",
    "change field": "field",
    "remove field": "field",
    "retire field": "field",
    "state agreement": "agreement",
    "set file rules": "rule",
    "set documents": "rule",
    "copy form": "rule",
}
TOLD_BY_PART = {"form fields", "file rules", "agreements"}
LONGEST_FACT = 300  # characters that a page shows of one


@dataclass(frozen=True, slots=True)
class Change:
    """What something was before, and is after; both empty where only that it changed is known."""

    what: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class TrailRow:
    """One event. evaluation, submission: where its run's page is; readable: False for one that can't be read."""

    number: int
    at: dt.datetime | None
    who: str
    did: str
    thing: str
    subject: str
    subject_id: int
    changes: tuple[Change, ...]
    facts: tuple[tuple[str, str], ...]
    evaluation: str = ""
    submission: int | None = None
    readable: bool = True


def told(event: Event, people: Mapping[int, str], names: Names) -> TrailRow:
    """people: the names of accounts by id; names: what `names_of` gives of the event."""
    called = SUBJECTS.get(event.subject, event.subject.replace("_", " "))
    named = names.get((event.subject, event.subject_id), Named(""))
    thing = named.name if event.subject == "submission" and named.name else f"{called} {named.name or event.subject_id}"
    changes = [change for name in event.state for change in _changes(event, name, names)]
    if event.action in OF_FORMS:
        changes = [change for change in changes if change.what not in TOLD_BY_PART] + _changes_of_form(event)
    facts = []
    for name, value in event.facts.items():
        told_anyway = (event.action, name) == ("import judgments", "sha256")  # it says which judgments these are
        if (name in UNTOLD_FACTS and not told_anyway) or value in ("", None):
            continue
        if event.action in {"describe", "rename"} and isinstance(value, list) and len(value) == 2:
            if event.action == "describe":
                changes = [change for change in changes if change.what != name]
                changes.append(Change(name, str(value[0]), str(value[1])))
            continue
        label = FACTS.get(name) or name.replace("_", " ")
        facts.append((label, _fact(name, value, names)[:LONGEST_FACT]))
    return TrailRow(
        number=event.id,
        at=event.at,
        who=_who(event, people),
        did=WORDS.get(event.action, event.action),
        thing=thing,
        subject=event.subject,
        subject_id=event.subject_id,
        changes=tuple(changes),
        facts=tuple(facts),
        evaluation=named.evaluation,
        submission=named.submission,
    )


def _fact(name: str, value: Any, names: Names) -> str:
    """A fact as a person reads it: names in the place of numbers of rows."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and name == "team":  # which it was, and which it is
        return " → ".join(_fact(name, one, names) for one in value)
    if isinstance(value, list):
        return ", ".join(_fact(name, one, names) for one in value)
    if isinstance(value, int) and (NUMBERS.get(name), value) in names:
        return names[NUMBERS[name], value].name
    return _words(value)


def _who(event: Event, people: Mapping[int, str]) -> str:
    if event.actor_id is None:
        return WORKER if event.action in OF_WORKER else COMMAND_LINE
    return people.get(event.actor_id, f"{NUMBERED_ACCOUNT} {event.actor_id}")


def _changes(event: Event, thing: str, names: Names) -> list[Change]:
    """What of one of the rows that the event is about was otherwise before it."""
    before, after = event.changed.get(thing), event.state[thing]
    if not isinstance(before, dict) or not isinstance(after, dict):
        return []
    kind = thing.rpartition(" ")[0]
    if "rows" in after:
        return [_counts(kind, before, after)]
    prefix = "" if kind == SUBJECTS.get(event.subject) or kind == event.subject else f"{kind}: "
    return [
        Change(
            COLUMNS.get(column) or f"{prefix}{column.replace('_', ' ')}",
            _cell(column, value, names),
            _cell(column, after.get(column), names),
        )
        for column, value in before.items()
        if column not in UNTOLD_COLUMNS
    ]


def _changes_of_form(event: Event) -> list[Change]:
    """Which part of a field, an agreement or the rules was otherwise before."""
    thing = " ".join(str(part) for part in (OF_FORMS[event.action], event.facts.get("key", "")) if part)
    return [
        Change(f"{thing}: {part.replace('_', ' ')}", *(_part(value)[:LONGEST_FACT] for value in values))
        for part, values in sorted(event.facts.get("changes", {}).items())
    ]


def _part(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)


def _counts(kind: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Change:
    """How many rows a thing of many had and has, of which the trail holds digests: and how many of them are others."""
    rows, gone, come = len(after["rows"]), len(before.get("gone", ())), len(before.get("come", ()))
    others = f", {come:,} new or changed" if gone and come else ""
    return Change(kind, f"{rows - come + gone:,}", f"{rows:,}{others}")


def _cell(column: str, value: Any, names: Names) -> str:
    read = _read(value)
    if column in NUMBERS and read.isdecimal() and (NUMBERS[column], int(read)) in names:
        return names[NUMBERS[column], int(read)].name
    return read


def _read(value: Any) -> str:
    """A value of the trail as a person reads it: it holds canonical JSON, or the digest of what is longer."""
    if not isinstance(value, str):
        return "" if value is None else str(value)
    if value.startswith("sha256 "):
        return "a longer text"
    try:
        return _words(json.loads(value))
    except ValueError:
        return value


def _words(value: Any) -> str:
    """A value of JSON in words: a list by its members, an object by its parts."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(_words, value)) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{name.replace('_', ' ')}: {_words(one)}" for name, one in value.items()) or "none"
    if isinstance(value, float) and value.is_integer():  # the canonical form of whole numbers, too
        return str(int(value))
    return "none" if value is None else str(value)
