"""Columnar copies of runs, for drill-down: one query's lines are read without the rest."""

from pathlib import Path

import polars as pl

__all__ = ["read_position", "write"]

# Lines of a row group: the least that is read. A few queries of a usual run, 1/700 of the largest public one.
ROW_GROUP = 10_000


def write(lines: pl.DataFrame, path: Path) -> None:
    """Writes position UInt32, rank UInt32, document, score and decision, sorted by position and rank."""
    lines.sort("position", "rank").write_parquet(path, compression="zstd", row_group_size=ROW_GROUP, statistics=True)


def read_position(path: Path, position: int) -> pl.DataFrame:
    """The lines of one query by rank. Row groups whose positions lie elsewhere are skipped by their statistics."""
    return pl.scan_parquet(path).filter(pl.col("position") == position).drop("position").collect()
