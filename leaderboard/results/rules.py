"""The command that computes a run's figures again, offline, from its file and the judgments."""

import shlex
from collections.abc import Sequence

from leaderboard.evaluations.rules import Judging, NoRelevant, ScoringSettings
from leaderboard.metrics import Measure

# What the files are called in the command.
JUDGMENTS, QUERIES, KNOWN, SUBTOPICS = "judgments.qrels", "queries.tsv", "known.qrels", "subtopics.qrels"


def score_command(
    settings: ScoringSettings, run: str, threshold: float | None, excluded: Sequence[str], highest_grade: int | None
) -> str:
    """`leaderboard score …` with every option that the settings ask for, for a shell.

    run            the name of its file
    excluded       queries of the files that don't count
    highest_grade  of the evaluation's judgments, where a measure takes it from them (`takes_highest_grade`)
    """
    words = ["leaderboard", "score", f"./{run}" if run.startswith("-") else run, "--judgments", JUDGMENTS]
    if settings.judging is Judging.COMPLETE:
        words += ["--judging", "complete", "--queries", QUERIES]
    words += ["--known", KNOWN] if settings.known else []
    words += ["--subtopics", SUBTOPICS] if settings.subtopics else []
    words += ["--documents", str(settings.documents)] if settings.documents is not None else []
    words += ["--beta", repr(settings.beta)] if settings.beta is not None else []
    words += ["--no-relevant", settings.no_relevant.value] if settings.no_relevant is not NoRelevant.EXCLUDE else []
    words += ["--compat", str(settings.compat)] if settings.compat != 10 else []
    words += ["--relevance", str(settings.relevance_level)] if settings.relevance_level != 1 else []
    words += ["--highest-grade", str(highest_grade)] if highest_grade is not None else []
    words += [f"--threshold={threshold!r}"] if threshold is not None else []
    words += [f"--exclude={query}" for query in excluded]
    return shlex.join([*words, "--measures", " ".join(settings.measures), "--format", "json"])


def takes_highest_grade(measure: Measure) -> bool:
    """Whether the measure's values depend on the highest grade of all judgments, as those of ERR(max=data) do."""
    arguments = measure.arguments
    return arguments.get("max") == "data" or arguments.get("max_rel", 0) is None
