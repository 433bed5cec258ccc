"""Which files of a tree are the runs that a manifest means."""

from dataclasses import dataclass
from pathlib import PurePosixPath

from leaderboard.errors import BadInput
from leaderboard.services.submissions import LONGEST_LABEL
from leaderboard.transfer.manifest import NAME, Manifest, Many, RunEntry, of_pattern
from leaderboard.transfer.tree import Tree

__all__ = ["PlannedRun", "label_of_file", "planned_runs"]

ENDINGS = (".gz", ".txt", ".run", ".res", ".tsv", ".csv", ".jsonl", ".tgz", ".trec")
MOST_COMPARISONS = 2_000_000  # of a path with a pattern: seconds
TREC_ARCHIVE = "input."  # what TREC's archive puts before a run's tag


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A run of the manifest. evaluation: its slug; number: its place among all of them, from 0."""

    number: int
    evaluation: str
    entry: RunEntry

    @property
    def label(self) -> str:
        """What the manifest calls it, else the name of its file."""
        label = self.entry.settings.get("label")
        return label_of_file(self.entry.file) if label is None else " ".join(label.split())

    @property
    def system(self) -> str:
        return self.entry.system or self.label


def label_of_file(path: str) -> str:
    """A run's name by its file: without `input.`, as TREC's archive has it, and without the endings of run files."""
    name = PurePosixPath(path).name
    while name.lower().endswith(ENDINGS) and "." in name[1:]:
        name = name.rpartition(".")[0]
    return name.removeprefix(TREC_ARCHIVE)[:LONGEST_LABEL]


def planned_runs(manifest: Manifest, tree: Tree) -> tuple[list[PlannedRun], list[str]]:
    """The runs that a manifest means, in its order, and the files of the tree that it says nothing of.

    A file that an entry of its own names is none of a pattern's, and of two patterns the first has it. Raises BadInput
    where there are too many patterns for so many files.
    """
    patterns = sum(isinstance(run, Many) for one in manifest.evaluations for run in one.runs)
    if patterns * len(tree.files) > MOST_COMPARISONS:
        raise BadInput(f"{patterns:,} patterns for {len(tree.files):,} files are too many: name each run by its file")
    named = {run.file for one in manifest.evaluations for run in one.runs if isinstance(run, RunEntry)}
    named |= _files_beside_runs(manifest)
    runs: list[PlannedRun] = []
    for evaluation in manifest.evaluations:
        for entry in evaluation.runs:
            if isinstance(entry, RunEntry):
                runs.append(PlannedRun(len(runs), evaluation.slug, entry))
                continue
            for path in [path for path in tree.files if path not in named]:
                taken = entry.match(path)
                if taken is not None:
                    named.add(path)
                    runs.append(PlannedRun(len(runs), evaluation.slug, of_pattern(entry, path, taken)))
    return runs, [path for path in tree.files if path not in named]


def _files_beside_runs(manifest: Manifest) -> set[str]:
    found = {NAME, *manifest.archives}
    for evaluation in manifest.evaluations:
        found |= {evaluation.queries, evaluation.document_list}
        for one in evaluation.judgments:
            found |= {one.file, one.known, one.subtopics}
    return {path.removeprefix("./") for path in found}
