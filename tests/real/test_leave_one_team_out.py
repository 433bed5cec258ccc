"""Leaving teams out of real campaigns, against a short script in plain Python: unique documents, figures, ranks."""

import gzip
import math
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from leaderboard.formats import read_run
from leaderboard.metrics import Setting, parse_all
from leaderboard.scoring.team_finds import DEPTH, TeamRun, team_finds
from tests.real.references import judged_by

Qrels = dict[str, dict[str, int]]


def runs_in(folder: Path) -> dict[str, Path]:
    return {path.name: path for path in sorted(folder.glob("*.gz")) if "trec_eval" not in path.name}


def team_of(name: str) -> str:
    """The letters that its name begins with: ICT-BERT2 and ICT-CKNRM_B50 are of one team."""
    return "".join(letter for letter in name.partition("-")[0].partition("_")[0] if not letter.isdigit())


def lists_in(path: Path) -> dict[str, list[str]]:
    """Each query's documents, the highest score first, ties by falling id."""
    scores = defaultdict[str, dict[str, float]](dict)
    for line in gzip.decompress(path.read_bytes()).decode().splitlines():
        query, _, document, _, score, *_ = line.split()
        scores[query][document] = float(score)
    return {query: sorted(own, key=lambda each: (own[each], each), reverse=True) for query, own in scores.items()}


def qrels_in(path: Path) -> Qrels:
    qrels: Qrels = defaultdict(dict)
    for line in path.read_text().splitlines():
        query, _, document, grade = line.split()
        qrels[query][document] = int(grade)
    return qrels


def mean_ap(lists: dict[str, list[str]], qrels: Qrels, gone: set[tuple[str, str]], level: int) -> float:
    precisions = []
    for query, judged in qrels.items():
        relevant = {document for document, grade in judged.items() if grade >= level and (query, document) not in gone}
        hits, total = 0, 0.0
        for rank, document in enumerate(lists.get(query, ()), 1):
            if document in relevant:
                hits += 1
                total += hits / rank
        precisions.append(total / len(relevant) if relevant else 0.0)
    return math.fsum(precisions) / len(precisions)


@pytest.mark.parametrize(("folder", "level"), [("trec-covid/round1", 1), ("trec-dl/2019", 2)])
def test_unique_documents_and_figures_are_those_of_a_short_script(shared_data: Path, folder: str, level: int) -> None:
    paths = runs_in(shared_data / folder)
    judged, (measure,) = judged_by(shared_data / folder / "qrels.txt"), parse_all(f"AP(rel={level})")
    names, teams = [*paths], sorted({team_of(name) for name in paths})
    runs = [TeamRun(teams.index(team_of(name)), at, at, None, 0) for at, name in enumerate(names)]
    found = team_finds(runs, lambda at: read_run(paths[names[at]]), {"all": judged}, measure, Setting(), level)

    qrels = qrels_in(shared_data / folder / "qrels.txt")
    lists = {name: lists_in(path) for name, path in paths.items()}
    pools = {
        team: {
            (query, document)
            for name in names
            if team_of(name) == team
            for query, own in lists[name].items()
            for document in own[:DEPTH]
            if qrels.get(query, {}).get(document, -1) >= level
        }
        for team in teams
    }
    times = Counter(each for pool in pools.values() for each in pool)
    rows = {teams[row["team"]]: row for row in found["subsets"]["all"]["teams"]}
    assert rows.keys() == pools.keys()
    assert len(teams) > 6
    for team, row in rows.items():
        unique = {each for each in pools[team] if times[each] == 1}
        assert (row["runs"], row["unique"]) == (sum(team_of(name) == team for name in names), len(unique))
        for at, mean in row["without"].items():
            right = mean_ap(lists[names[int(at)]], qrels, unique, level)
            assert mean == (pytest.approx(right, abs=1e-12) if unique else None)
    assert any(row["unique"] for row in rows.values())
