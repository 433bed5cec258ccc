"""Reference systems: runs that the product makes itself, to hold others against. No database, no site.

languages  words, stop words, stems
documents  files of documents, streamed
index      weighting (BM25, tf-idf) and searching, best first, in the product's order
runs       fusion (reciprocal ranks, CombSUM), threshold (θ from judged queries)
"""
