"""Finds documents that a query has twice, over millions of rows."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

__all__ = ["repeated_rows"]

ODD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: spreads small query numbers over all bits


def repeated_rows(query: NDArray[np.uint32], key: NDArray[np.uint64], document: pl.Series) -> pl.DataFrame:
    """The rows whose query and document an earlier row has too, in order: row, first, query, document.

    query     uint32[L]
    key       uint64[L], a hash of each document id
    document  String[L]
    """
    pair = pl.Series("pair", query * ODD ^ key)
    suspects = pl.Series("row", [], pl.Int64)
    if pair.n_unique() != len(pair):
        suspects = pair.is_duplicated().arg_true().cast(pl.Int64)
    rows = pl.DataFrame({"row": suspects, "query": query[suspects.to_numpy()], "document": document.gather(suspects)})
    return rows.with_columns(first=pl.col("row").min().over("query", "document")).filter(
        pl.col("row") > pl.col("first")
    )
