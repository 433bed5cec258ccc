"""Every measure once more, for one query at a time, as its definition reads: slow, plain, and apart from the product.

Each function takes a query, its setting and the measure's arguments by name, and returns the query's value, NaN when it
has none.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from leaderboard.metrics import Setting
from tests.metrics.rankings import Query

NAN = math.nan
Value = Callable[..., float]


def ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def relevances(query: Query, rel: int) -> list[bool]:
    return [grade is not None and grade >= rel for grade in query.grades]


def all_relevant(query: Query, rel: int) -> int:
    return sum(grade >= rel for grade in query.judged.values())


def returned(query: Query, rel: int) -> tuple[int, int, int, int]:
    """TP, FP, FN and the number returned."""
    chosen = [line.document for line in query.lines if line.returned]
    right = sum(query.judged.get(document, 0) >= rel for document in chosen)
    return right, len(chosen) - right, all_relevant(query, rel) - right, len(chosen)


# Detection


def miss_and_alarm(found: int, chosen: int, relevant: int, setting: Setting) -> tuple[float, float]:
    others = setting.documents - relevant
    none = 0.0 if setting.no_relevant == "pmiss_zero" else NAN
    return (1 - found / relevant if relevant else none), (chosen - found) / others


def pmiss(query: Query, setting: Setting, rel: int) -> float:
    right, _, _, chosen = returned(query, rel)
    return miss_and_alarm(right, chosen, all_relevant(query, rel), setting)[0]


def pfa(query: Query, setting: Setting, rel: int, queries: str = "counted") -> float:
    right, _, _, chosen = returned(query, rel)
    if queries == "counted" and setting.no_relevant == "exclude" and not all_relevant(query, rel):
        return NAN
    return miss_and_alarm(right, chosen, all_relevant(query, rel), setting)[1]


def value(query: Query, setting: Setting, rel: int) -> float:
    return 1 - pmiss(query, setting, rel) - setting.beta * pfa(query, setting, rel)


def at_threshold(query: Query, setting: Setting, rel: int, theta: float) -> tuple[float, float]:
    chosen = [line.document for line in query.lines if line.score >= theta]
    right = sum(query.judged.get(document, 0) >= rel for document in chosen)
    return miss_and_alarm(right, len(chosen), all_relevant(query, rel), setting)


def aggregate(losses: Sequence[tuple[float, float]], setting: Setting) -> float:
    """The policy's figure over queries, from each one's (P_miss, P_fa)."""
    miss = [m for m, _ in losses if not math.isnan(m)]
    alarm = [a for m, a in losses if setting.no_relevant != "exclude" or not math.isnan(m)]
    if not miss or not alarm:
        return NAN
    return 1 - sum(miss) / len(miss) - setting.beta * sum(alarm) / len(alarm)


def best_threshold_for_all(queries: Sequence[Query], setting: Setting, rel: int) -> float:
    thresholds = {line.score for query in queries for line in query.lines} | {math.inf}
    return max(
        aggregate([at_threshold(query, setting, rel, theta) for query in queries], setting) for theta in thresholds
    )


def best_threshold_for_each(queries: Sequence[Query], setting: Setting, rel: int) -> float:
    with_relevant = sum(all_relevant(query, rel) > 0 for query in queries)
    ratio_of_queries = with_relevant / len(queries) if setting.no_relevant == "pfa_only" else 1.0
    chosen = []
    for query in queries:
        options = [
            at_threshold(query, setting, rel, theta) for theta in {line.score for line in query.lines} | {math.inf}
        ]
        chosen.append(
            max(
                options,
                key=lambda each: (
                    (0.0 if math.isnan(each[0]) else 1 - each[0]) - ratio_of_queries * setting.beta * each[1]
                ),
            )
        )
    return aggregate(chosen, setting)


# Ranks, binary


def precision(query: Query, setting: Setting, rel: int, cutoff: int) -> float:
    return sum(relevances(query, rel)[:cutoff]) / cutoff


def recall(query: Query, setting: Setting, rel: int, cutoff: int) -> float:
    return ratio(sum(relevances(query, rel)[:cutoff]), all_relevant(query, rel))


def success(query: Query, setting: Setting, rel: int, cutoff: int) -> float:
    return float(any(relevances(query, rel)[:cutoff]))


def accuracy(query: Query, setting: Setting, rel: int) -> float:
    hits = relevances(query, rel)
    pairs = [hits[i] for i in range(len(hits)) for j in range(i + 1, len(hits)) if hits[i] != hits[j]]
    return sum(pairs) / len(pairs) if pairs else NAN


def reciprocal_rank(query: Query, setting: Setting, rel: int, cutoff: int | None) -> float:
    return next((1 / rank for rank, hit in enumerate(relevances(query, rel)[:cutoff], 1) if hit), 0.0)


def average_precision(query: Query, setting: Setting, rel: int, norm: str, cutoff: int | None) -> float:
    hits = relevances(query, rel)[:cutoff]
    summed = sum(sum(hits[:rank]) / rank for rank, hit in enumerate(hits, 1) if hit)
    relevant = all_relevant(query, rel)
    by = {"all": relevant, "hits": sum(hits), "min": min(relevant, cutoff or relevant)}
    return ratio(summed, by[norm])


def gmap(query: Query, setting: Setting, rel: int) -> float:
    return average_precision(query, setting, rel, "all", None)


def r_precision(query: Query, setting: Setting, rel: int, mult: float) -> float:
    rank = int(mult * all_relevant(query, rel) + 0.9)
    return ratio(sum(relevances(query, rel)[:rank]), rank)


def interpolated(query: Query, setting: Setting, rel: int, cutoff: float) -> float:
    hits = relevances(query, rel)
    exact = cutoff * all_relevant(query, rel)
    needed = int(exact + 0.9) if setting.compat == 9 else math.floor(exact + 0.5)
    found = [(sum(hits[:rank]), sum(hits[:rank]) / rank) for rank in range(1, len(hits) + 1)]
    return max((precision for right, precision in found if right >= needed), default=0.0)


def eleven_points(query: Query, setting: Setting, rel: int, at: Sequence[float]) -> float:
    return sum(interpolated(query, setting, rel, point) for point in at) / len(at)


def relative_precision(query: Query, setting: Setting, rel: int, cutoff: int) -> float:
    return ratio(sum(relevances(query, rel)[:cutoff]), min(cutoff, all_relevant(query, rel)))


def tier(times: int) -> Value:
    def compute(query: Query, setting: Setting, rel: int, norm: str) -> float:
        relevant = all_relevant(query, rel)
        depth = min(returned(query, rel)[3], times * relevant)
        return ratio(sum(relevances(query, rel)[:depth]), relevant if norm == "class" else depth)

    return compute


def rank_biased(query: Query, setting: Setting, rel: int, p: float, gain: str, gains: Any, cutoff: int | None) -> float:
    top = max([1, *query.judged.values()])
    worth = [max(grade or 0, 0) / top if gain == "scaled" else float((grade or 0) >= rel) for grade in query.grades]
    return (1 - p) * sum(each * p**place for place, each in enumerate(worth[:cutoff]))


def residual(query: Query, setting: Setting, p: float) -> float:
    unjudged = [place for place, grade in enumerate(query.grades) if grade is None or grade < 0]
    if not unjudged:
        return 0.0
    return p ** len(query.lines) + (1 - p) * sum(p**place for place in unjudged)


# Ranks, graded


def worth(grade: int | None, gain: str) -> float:
    level = max(grade or 0, 0)
    return 2.0**level - 1 if gain == "exp" else float(level)


def discounted(gains: Sequence[float], discount: str, cutoff: int | None) -> float:
    def by(rank: int) -> float:
        return math.log2(rank + 1) if discount == "log2" else max(1.0, math.log2(rank))

    return sum(each / by(rank) for rank, each in enumerate(gains[:cutoff], 1))


def ideal(query: Query, gain: str) -> list[float]:
    return sorted((worth(grade, gain) for grade in query.judged.values()), reverse=True)


def reached(query: Query, gain: str) -> list[float]:
    return [worth(grade, gain) for grade in query.grades]


def cg(query: Query, setting: Setting, gain: str, gains: Any, cutoff: int | None) -> float:
    return sum(reached(query, gain)[:cutoff])


def dcg(query: Query, setting: Setting, gain: str, gains: Any, discount: str, cutoff: int | None) -> float:
    return discounted(reached(query, gain), discount, cutoff)


def idcg(query: Query, setting: Setting, gain: str, gains: Any, discount: str, cutoff: int | None) -> float:
    return discounted(ideal(query, gain), discount, cutoff)


def ndcg(query: Query, setting: Setting, gain: str, gains: Any, discount: str, cutoff: int | None) -> float:
    return ratio(discounted(reached(query, gain), discount, cutoff), discounted(ideal(query, gain), discount, cutoff))


def ncg(query: Query, setting: Setting, gain: str, gains: Any, cutoff: int | None) -> float:
    return ratio(sum(reached(query, gain)[:cutoff]), sum(ideal(query, gain)[:cutoff]))


def err(query: Query, setting: Setting, gmax: int, cutoff: int | None, **maximum: str | None) -> float:
    if maximum["max"] == "data":
        gmax = setting.highest_grade
    going, summed = 1.0, 0.0
    for rank, grade in enumerate(query.grades[:cutoff], 1):
        stop = (2 ** min(max(grade or 0, 0), gmax) - 1) / 2**gmax
        summed += going * stop / rank
        going *= 1 - stop
    return summed


def adr(query: Query, setting: Setting, rel: int) -> float:
    best = sorted((grade for grade in query.judged.values() if grade >= rel), reverse=True)
    shares = [
        sum((grade if grade is not None else -1) >= level for grade in query.grades[:place]) / place
        for place, level in enumerate(best, 1)
    ]
    return ratio(sum(shares), len(best))


def ndcg_at(query: Query, rank: int) -> float:
    return ratio(discounted(reached(query, "linear"), "log2", rank), discounted(ideal(query, "linear"), "log2", rank))


def ndcg_rel(query: Query, setting: Setting, gains: Any) -> float:
    ranks = [rank for rank, grade in enumerate(query.grades, 1) if (grade or 0) > 0]
    relevant = all_relevant(query, 1)
    last = len(query.lines) + len(query.judged)
    summed = sum(ndcg_at(query, rank) for rank in ranks) + (relevant - len(ranks)) * ndcg_at(query, last)
    return ratio(summed, relevant)


def rndcg(query: Query, setting: Setting, rel: int, gains: Any) -> float:
    if not all_relevant(query, rel):
        return 0.0
    positive = [gain for gain in ideal(query, "linear") if gain > 0]
    ends = [i for i in range(1, len(positive) + 1) if i == len(positive) or positive[i] != positive[i - 1]]
    if len(query.lines) > len(positive) + 1:
        ends.append(len(query.lines))
    return sum(ndcg_at(query, end) for end in ends) / len(ends)


def g(query: Query, setting: Setting, gains: Any) -> float:
    best, found = ideal(query, "linear"), reached(query, "linear")
    cost = got = summed = 0.0
    for place, gain in enumerate(found):
        got += gain
        cost += max(best[place] if place < len(best) else 0.0, 1.0)
        summed += gain / math.log2(2 + cost - got)
    return ratio(summed, sum(best))


def bin_g(query: Query, setting: Setting, rel: int) -> float:
    hits = relevances(query, rel)
    summed = sum(1 / math.log2(2 + hits[:place].count(False)) for place, hit in enumerate(hits) if hit)
    return ratio(summed, all_relevant(query, rel))


# Ranks, incomplete judgments


def bpref(query: Query, setting: Setting, rel: int) -> float:
    relevant = all_relevant(query, rel)
    wrong = sum(0 <= grade < rel for grade in query.judged.values())
    summed, above = 0.0, 0
    for grade in query.grades:
        if grade is None or grade < 0:
            continue
        if grade < rel:
            above += 1
        else:
            summed += 1 - ratio(min(above, relevant), min(wrong, relevant))
    return ratio(summed, relevant)


def inf_ap(query: Query, setting: Setting, rel: int) -> float:
    summed, epsilon = 0.0, 0.00001
    pooled = right = wrong = 0
    for rank, grade in enumerate(query.grades, 1):
        if grade is None:
            continue
        if grade >= rel:
            if rank == 1:
                summed += 1
            else:
                share = (right + epsilon) / (right + wrong + 2 * epsilon)
                summed += 1 / rank + (rank - 1) / rank * (pooled / (rank - 1)) * share
            right += 1
        elif grade >= 0:
            wrong += 1
        pooled += 1
    return ratio(summed, all_relevant(query, rel))


def judged(query: Query, setting: Setting, cutoff: int) -> float:
    known = sum(grade is not None and grade >= 0 for grade in query.grades[:cutoff])
    return ratio(known, min(cutoff, len(query.lines)))


def unjudged(query: Query, setting: Setting, cutoff: int) -> float:
    return sum(grade is None or grade < 0 for grade in query.grades[:cutoff]) / cutoff


# Sets and counts


def set_p(query: Query, setting: Setting, rel: int) -> float:
    right, _, _, chosen = returned(query, rel)
    return ratio(right, chosen)


def set_r(query: Query, setting: Setting, rel: int) -> float:
    return ratio(returned(query, rel)[0], all_relevant(query, rel))


def set_f(query: Query, setting: Setting, rel: int, alpha: float, beta: float | None) -> float:
    if beta is not None:
        alpha = 1 / (1 + beta**2)
    p, r = set_p(query, setting, rel), set_r(query, setting, rel)
    return 1 / (alpha / p + (1 - alpha) / r) if p and r else 0.0


def set_ap(query: Query, setting: Setting, rel: int) -> float:
    return set_p(query, setting, rel) * set_r(query, setting, rel)


def set_rel_p(query: Query, setting: Setting, rel: int) -> float:
    right, _, _, chosen = returned(query, rel)
    return ratio(right, min(chosen, all_relevant(query, rel)))


def true_negatives(query: Query, setting: Setting, rel: int) -> float:
    right, wrong, missed, _ = returned(query, rel)
    return setting.documents - right - wrong - missed


def fallout(query: Query, setting: Setting, rel: int) -> float:
    return ratio(returned(query, rel)[1], setting.documents - all_relevant(query, rel))


def utility(query: Query, setting: Setting, rel: int, a: float, b: float, c: float, d: float) -> float:
    right, wrong, missed, _ = returned(query, rel)
    return a * right + b * wrong + c * missed + d * true_negatives(query, setting, rel)


def coverage(query: Query, setting: Setting, rel: int) -> float:
    known = {document for document in query.known or () if query.judged.get(document, 0) >= rel}
    chosen = {line.document for line in query.lines if line.returned}
    return ratio(len(known & chosen), len(known))


def novelty(query: Query, setting: Setting, rel: int) -> float:
    chosen = {line.document for line in query.lines if line.returned and query.judged.get(line.document, 0) >= rel}
    return ratio(len(chosen - set(query.known or ())), len(chosen))


def nonrelevant_judged(query: Query, setting: Setting, rel: int) -> float:
    return sum(0 <= query.judged.get(line.document, -1) < rel for line in query.lines if line.returned)


def outcome(which: int) -> Value:
    def compute(query: Query, setting: Setting, rel: int) -> float:
        return returned(query, rel)[which]

    return compute


# Readers who go on with a probability


def reader(goes_on: Value) -> Value:
    """goes_on: (rank, gain there, gains so far, the measure's own arguments) -> the probability of going on."""

    def compute(
        query: Query, setting: Setting, min_rel: int, max_rel: int | None, cutoff: int = 1000, **own: float
    ) -> float:
        top = setting.highest_grade if max_rel is None else max_rel
        gains = [(min(max(grade or 0, min_rel), top) - min_rel) / (top - min_rel) for grade in query.grades]
        gains = (gains + [0.0] * cutoff)[:cutoff]
        reaches, weights, worth, had = 1.0, 0.0, 0.0, 0.0
        for rank, gain in enumerate(gains, 1):
            weights += reaches
            worth += reaches * gain
            had += gain
            reaches *= goes_on(rank, gain, had, **own)
        return worth / weights

    return compute


def wanting(rank: int, wanted: float) -> float:
    return ((rank + wanted - 1) / (rank + wanted)) ** 2


def compat(query: Query, setting: Setting, p: float, normalize: str) -> float:
    found = [line.document for line in query.ranked]
    relevant = [document for document, grade in query.judged.items() if grade >= 1]
    place = {document: rank for rank, document in enumerate(found)}
    best = sorted(relevant, key=lambda document: (-query.judged[document], place.get(document, math.inf)))
    depth = max(len(found), len(best))

    def overlap(one: Sequence[str], other: Sequence[str]) -> float:
        return sum(p ** (i - 1) * len(set(one[:i]) & set(other[:i])) / i for i in range(1, depth + 1))

    whole = overlap(best, best) if normalize == "True" else sum(p ** (i - 1) for i in range(1, depth + 1))
    return ratio(overlap(found, best), whole)


# Subtopics


def about(query: Query, rel: int) -> dict[int, set[str]]:
    """By subtopic, the documents that are relevant to it; without subtopics that have none."""
    found: dict[int, set[str]] = {}
    for (subtopic, document), grade in query.aspects.items():
        if grade >= rel:
            found.setdefault(subtopic, set()).add(document)
    return found


def novel(query: Query, rel: int, alpha: float, documents: Sequence[str]) -> list[float]:
    """What each document of a list gains."""
    relevant = about(query, rel).values()
    return [
        sum((1 - alpha) ** len(each & set(documents[:place])) for each in relevant if document in each)
        for place, document in enumerate(documents)
    ]


def best_order(query: Query, rel: int, alpha: float) -> list[str]:
    chosen: list[str] = []
    left = sorted(set().union(*about(query, rel).values()), key=str.encode, reverse=True)
    while left:
        chosen.append(max(left, key=lambda document: novel(query, rel, alpha, [*chosen, document])[-1]))
        left.remove(chosen[-1])
    return chosen


def added_up(gains: Sequence[float], discount: str, beta: float = 0.5) -> float:
    by = {"log": lambda i: 1 / math.log2(i + 1), "rank": lambda i: 1 / i, "patience": lambda i: beta ** (i - 1)}
    return sum(gain * by[discount](rank) for rank, gain in enumerate(gains, 1))


def diversity(discount: str, norm: str) -> Value:
    def compute(
        query: Query, setting: Setting, rel: int, alpha: float = 0.5, beta: float = 0.5, cutoff: int | None = None
    ) -> float:
        if not query.aspects:
            return NAN
        listed, best = [line.document for line in query.ranked], best_order(query, rel, alpha)
        gains, most = (added_up(novel(query, rel, alpha, each)[:cutoff], discount, beta) for each in (listed, best))
        if norm == "found":
            return ratio(gains, most)
        if norm == "imaginable":
            gains = gains / added_up([(1 - alpha) ** i for i in range(cutoff or 0)], discount, beta)
        return ratio(gains, len(about(query, rel)))

    return compute


def nrbp(query: Query, setting: Setting, rel: int, alpha: float, beta: float) -> float:
    return (1 - (1 - alpha) * beta) * diversity("patience", "none")(query, setting, rel, alpha, beta)


def over_subtopics(query: Query, rel: int, of_one: Callable[[list[bool], set[str]], float]) -> float:
    """The mean over subtopics of a figure of (relevant at each rank, all relevant documents)."""
    if not query.aspects:
        return NAN
    relevant = about(query, rel).values()
    found = [of_one([line.document in each for line in query.ranked], each) for each in relevant]
    return ratio(sum(found), len(found))


def ap_ia(query: Query, setting: Setting, rel: int) -> float:
    return over_subtopics(
        query,
        rel,
        lambda hits, each: sum(sum(hits[: i + 1]) / (i + 1) for i, hit in enumerate(hits) if hit) / len(each),
    )


def p_ia(query: Query, setting: Setting, rel: int, cutoff: int) -> float:
    return over_subtopics(query, rel, lambda hits, _: sum(hits[:cutoff]) / cutoff)


def st_recall(query: Query, setting: Setting, rel: int, cutoff: int) -> float:
    return over_subtopics(query, rel, lambda hits, _: float(any(hits[:cutoff])))


def one(query: Query, setting: Setting) -> float:
    return 1


def number_returned(query: Query, setting: Setting) -> float:
    return sum(line.returned for line in query.lines)


def number_relevant(query: Query, setting: Setting, rel: int) -> float:
    return all_relevant(query, rel)


OBVIOUS: dict[str, Value] = {
    "Value": value,
    "AQWV": value,
    "Pmiss": pmiss,
    "Pfa": pfa,
    "AP": average_precision,
    "GMAP": gmap,
    "Accuracy": accuracy,
    "RR": reciprocal_rank,
    "P": precision,
    "R": recall,
    "Success": success,
    "Rprec": r_precision,
    "IPrec": interpolated,
    "IPrec11": eleven_points,
    "RelP": relative_precision,
    "FirstTier": tier(1),
    "SecondTier": tier(2),
    "RBP": rank_biased,
    "RBPResidual": residual,
    "CG": cg,
    "DCG": dcg,
    "IDCG": idcg,
    "nDCG": ndcg,
    "NCG": ncg,
    "ERR": err,
    "ADR": adr,
    "SDCG": reader(lambda i, *_: math.log(i + 1) / math.log(i + 2)),
    "BPM": reader(lambda _i, _gain, had, T: had < T),
    "INSQ": reader(lambda i, *_, T: wanting(i, 2 * T)),
    "INST": reader(lambda i, _gain, had, T: wanting(i, 2 * T - had)),
    "NERR8": reader(lambda _i, gain, _had: 1 - gain),
    "NERR9": reader(lambda i, gain, _had: (1 - gain) * i / (i + 1)),
    "NERR10": reader(lambda _i, gain, _had, p: p * (1 - gain)),
    "NERR11": reader(lambda i, gain, _had, T: (1 - gain) * wanting(i, 2 * T)),
    "Compat": compat,
    "alpha_nDCG": diversity("log", "found"),
    "alpha_DCG": diversity("log", "imaginable"),
    "ERR_IA": diversity("rank", "imaginable"),
    "nERR_IA": diversity("rank", "found"),
    "NRBP": nrbp,
    "nNRBP": diversity("patience", "found"),
    "AP_IA": ap_ia,
    "P_IA": p_ia,
    "StRecall": st_recall,
    "nDCGRel": ndcg_rel,
    "RnDCG": rndcg,
    "G": g,
    "binG": bin_g,
    "Bpref": bpref,
    "GMBpref": bpref,
    "infAP": inf_ap,
    "Judged": judged,
    "Unjudged": unjudged,
    "SetP": set_p,
    "SetR": set_r,
    "SetF": set_f,
    "SetAP": set_ap,
    "SetRelP": set_rel_p,
    "Fallout": fallout,
    "Utility": utility,
    "Coverage": coverage,
    "Novelty": novelty,
    "TP": outcome(0),
    "FP": outcome(1),
    "FN": outcome(2),
    "TN": true_negatives,
    "NumQ": one,
    "NumRet": number_returned,
    "NumRel": number_relevant,
    "NumRelRet": outcome(0),
    "NumNonrelJudgedRet": nonrelevant_judged,
}

# Measures that are defined on the relevant documents that a list holds: ir_measures has Accuracy so.
UNDEFINED_WHERE_NOTHING_IS_FOUND = {"Accuracy"}
