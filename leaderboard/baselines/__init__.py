"""Reference systems: runs that the product makes itself, to hold others against. No database, no site.

text       languages (words, stop words, stems), documents (files of documents, streamed)
searching  weighting (BM25, tf-idf), index, lists (best first, in the product's order)
runs       fusion (reciprocal ranks, CombSUM), threshold (θ from judged queries)
"""

from leaderboard.baselines.documents import Document, DocumentFile, document_files, read_documents
from leaderboard.baselines.fusion import Normalisation, combsum, reciprocal_rank_fusion
from leaderboard.baselines.index import Explained, Index, IndexBuilder, Share, Weights
from leaderboard.baselines.languages import Analyser, language_names, language_of
from leaderboard.baselines.lists import RankedList, as_run, best_first
from leaderboard.baselines.threshold import Tuned, require_other_queries, tune
from leaderboard.baselines.weighting import BM25, Idf, TfIdf, Weighting
