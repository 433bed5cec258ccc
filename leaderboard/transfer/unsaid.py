"""What holds of an import because its manifest says nothing of it: kinds of systems, dates of runs and judgments."""

from collections.abc import Collection, Iterable, Mapping

from leaderboard.models import Evaluation, System
from leaderboard.numbers import counted
from leaderboard.rules.phases import is_closed
from leaderboard.rules.standings import SystemKind
from leaderboard.transfer.manifest import JudgmentsEntry, Manifest
from leaderboard.transfer.parties import listed_system
from leaderboard.transfer.planning import PlannedRun
from leaderboard.transfer.telling import Telling

__all__ = ["note_dates", "note_judgments_dates", "note_kinds"]


def note_kinds(
    manifest: Manifest,
    runs: list[PlannedRun],
    systems: Mapping[int, int | None],
    used: Collection[System],
    told: Telling,
) -> None:
    """Of how many systems nothing says their kind. systems: ids by the number of the run."""
    unsaid = {systems[run.number] for run in runs if run.number in systems and not _says_kind(manifest, run)}
    automatic = {one.id for one in used if one.kind is SystemKind.AUTOMATIC}
    if silent := len(unsaid & automatic):
        told.notes.append(
            f"Kinds: of {counted(silent, 'system')} nothing says whether they are manual: they count as automatic "
            '(kind = "manual")'
        )


def _says_kind(manifest: Manifest, run: PlannedRun) -> bool:
    listed = listed_system(manifest.team(run.entry.team), run.system)
    return bool(run.entry.kind) or (listed is not None and "kind" in listed.settings)


def note_judgments_dates(evaluation: Evaluation, revisions: Iterable[JudgmentsEntry], told: Telling) -> None:
    """That nothing says when judgments were given out. revisions: those that come in."""
    if any(one.released is None for one in revisions):
        told.notes.append(
            f"{evaluation.title}: nothing says when its judgments were given out (released): they bear the day on "
            "which they are brought in"
        )


def note_dates(evaluation: Evaluation, coming: Iterable[PlannedRun], told: Telling) -> None:
    """When runs count as received of which nothing says it, and which came after closing without being late.

    coming  runs of the evaluation that are not here yet: of one that is the dates stay
    """
    runs = [run.entry.settings for run in coming]
    undated = sum(not {"run_at", "received_at"} & one.keys() for one in runs)
    if evaluation.closes_at is None and undated:
        told.notes.append(
            f"{evaluation.title}: {counted(undated, 'run')} without a date count as received on the day on "
            "which they are brought in"
        )
    elif unsaid := sum("received_at" not in one or bool(one.get("received_assumed")) for one in runs):
        told.notes.append(
            f"{evaluation.title}: of {counted(unsaid, 'run')} nothing says when they were received (received): it "
            "is assumed that they were on their own date, or when the evaluation closed"
        )
    came = [one.get("received_at") or one.get("run_at") for one in runs if not one.get("late")]
    if after := sum(one is not None and is_closed(evaluation, one) for one in came):
        told.notes.append(
            f"{evaluation.title}: {counted(after, 'run')} received after it closed and not marked late (late = "
            "true), so they count as in time"
        )
