"""Reference systems: runs that the product makes itself, to hold others against. No database, no site.

languages  words, stop words, stems
documents  files of documents, streamed
index      weighting (BM25, tf-idf) and searching, best first, in the product's order
runs       fusion (reciprocal ranks, CombSUM), threshold (θ from judged queries)
"""

from leaderboard.baselines.documents import DocumentFile, document_files, read_documents
from leaderboard.baselines.index import BM25, IndexBuilder, TfIdf, Weighting, Weights
from leaderboard.baselines.languages import Analyser, language_of
