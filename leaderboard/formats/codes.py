"""Numbers query ids as they come, block after block."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

__all__ = ["Codes"]

MOSTLY_GROUPED = 4  # lines per change of query from which a look-up for each change is the faster way


class Codes:
    """Query ids in the order of their first appearance, and each row's index among them."""

    def __init__(self) -> None:
        self._index: dict[str, int] = {}

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(self._index)

    def __len__(self) -> int:
        return len(self._index)

    def number(self, query: str) -> int:
        """A query's index, given now if it had none."""
        return self._index.setdefault(query, len(self._index))

    def encode(self, queries: pl.Series) -> NDArray[np.uint32]:
        """uint32[rows]: each row's query as its index in `ids`."""
        changes = (queries != queries.shift()).fill_null(value=True)
        starts = changes.arg_true()
        if len(starts) * MOSTLY_GROUPED <= len(queries):
            heads = self._encode_each(queries.gather(starts).to_list())
            lengths = np.diff(starts.to_numpy(), append=len(queries))
            return np.repeat(heads, lengths)
        codes = self._look_up(queries)
        if codes.null_count():
            self._encode_each(queries.filter(codes.is_null()).unique(maintain_order=True).to_list())
            codes = self._look_up(queries)
        return codes.to_physical().cast(pl.UInt32).to_numpy()

    def _look_up(self, queries: pl.Series) -> pl.Series:
        return queries.cast(pl.Enum(list(self._index)), strict=False)

    def _encode_each(self, queries: list[str]) -> NDArray[np.uint32]:
        return np.array([self.number(query) for query in queries], np.uint32)
