"""Sentences that the references of many measures share, and references to start from."""

from leaderboard.metrics.reference import Reference

BY_DOCUMENT = "Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule)."
NO_ORDER = "The order does not matter, so neither do ties."
SWEEP_TIES = "A threshold never parts equal scores: documents of one score are returned together or not at all."
ZERO = "0, and the query counts, under pooled judgments; undefined, and left out of the mean, under complete ones."
MISSING_ZERO = "Scored as an empty list: 0, and it counts towards the mean."
SHORT_LIST = "A list shorter than k is not excused: the ranks that it lacks count as not relevant."
NO_CUTOFF = "It takes no cutoff: the whole list counts."
NO_CUTOFF_SET = "It takes no cutoff: everything returned counts, and nothing else."
NOT_RELEVANT = "An unjudged document counts as not relevant."
HIGHER = "Higher is better."
LOWER = "Lower is better."
NEITHER = "Neither: it describes the run."
SHARE = "A share, without unit."
SAME = "Both compute the same."

TREC_EVAL = "trec_eval, https://github.com/usnistgov/trec_eval"
MANNING = (
    "C. D. Manning, P. Raghavan, H. Schütze: Introduction to Information Retrieval, Cambridge University Press, 2008, "
    "chapter 8"
)

RANKED = Reference(
    formula="",
    where="rel_i is 1 where the document at rank i is relevant, else 0; R is the number of relevant documents.",
    range="0 to 1",
    unit=SHARE,
    direction=HIGHER,
    ties=BY_DOCUMENT,
    no_relevant=ZERO,
    missing=MISSING_ZERO,
    beyond=SHORT_LIST,
    unjudged=NOT_RELEVANT,
    elsewhere=SAME,
    source=MANNING,
)

SETS = Reference(
    formula="",
    where=(
        "TP is the number of relevant documents returned, FP that of others returned, FN that of relevant ones not "
        "returned, TN that of others not returned."
    ),
    range="0 to 1",
    unit=SHARE,
    direction=HIGHER,
    ties=NO_ORDER,
    no_relevant=ZERO,
    missing=MISSING_ZERO,
    beyond=NO_CUTOFF_SET,
    unjudged=NOT_RELEVANT,
    elsewhere=(
        "trec_eval and ir_measures know no decisions and count every retrieved document; so does this measure for a "
        "run without decisions and without a threshold."
    ),
    source="C. J. van Rijsbergen: Information Retrieval, 2nd edition, Butterworths, 1979, chapter 7",
)
