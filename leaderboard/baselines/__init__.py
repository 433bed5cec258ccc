"""Reference systems: runs that the product makes itself, to hold others against. No database, no site.

text       languages (words, stop words, stems), documents (files of documents, streamed)
searching  weighting (BM25, tf-idf), index, lists (best first, in the product's order)
runs       fusion (reciprocal ranks, CombSUM), threshold (θ from judged queries)
"""

from leaderboard.baselines.documents import DocumentFile, document_files, read_documents
from leaderboard.baselines.index import BM25, IndexBuilder, TfIdf, Weighting, Weights
from leaderboard.baselines.languages import Analyser, language_of
from leaderboard.baselines.runs import (
    Normalisation,
    RankedList,
    Tuned,
    combsum,
    reciprocal_rank_fusion,
    require_other_queries,
    tune,
)
