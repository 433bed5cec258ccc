"""A column that grows block by block, in one piece of memory."""

from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Growing"]

Scalar = TypeVar("Scalar", bound=np.generic)

FIRST_ROWS = 1 << 14


class Growing(Generic[Scalar]):
    """Values appended one block after the other. Room that is never written to costs no memory."""

    def __init__(self, kind: type[Scalar]) -> None:
        self._values: NDArray[Scalar] = np.empty(FIRST_ROWS, kind)
        self._size = 0

    def reserve(self, size: int) -> None:
        """Makes room for so many values in all, so that appending them copies nothing."""
        if size > len(self._values):
            larger = np.empty(size, self._values.dtype)
            larger[: self._size] = self.values
            self._values = larger

    def extend(self, values: NDArray[Scalar]) -> None:
        size = self._size + len(values)
        if size > len(self._values):
            self.reserve(2 * size)
        self._values[self._size : size] = values
        self._size = size

    @property
    def values(self) -> NDArray[Scalar]:
        """What was appended so far; a view."""
        return self._values[: self._size]
