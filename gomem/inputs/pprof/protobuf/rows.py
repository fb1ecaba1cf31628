"""Rows by the ids that a profile gives them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gomem.inputs.pprof.columns import IntArray, RowArray


class Rows:
    """The rows of a table, to be found by id; no two ids are the same."""

    def __init__(self, ids: IntArray) -> None:
        self.ids = ids
        self._are_numbered = bool((ids == np.arange(1, len(ids) + 1)).all())

    def of(self, named: NDArray[Any]) -> RowArray:
        """The rows that have the named ids, -1 where none has."""
        if not len(self.ids) or not len(named):
            return np.full(len(named), -1, np.int32)
        if self._are_numbered:
            return self._of_numbered(named)
        inside = np.minimum(np.searchsorted(self._ordered, named), len(self.ids) - 1)
        return np.where(self._ordered[inside] == named, self._order[inside], -1).astype(np.int32)

    def _of_numbered(self, named: NDArray[Any]) -> RowArray:
        """Ids from 1 to a count, as Go writes them, are one more than their rows."""
        if named.min() >= 1 and named.max() <= len(self.ids):
            rows = named.astype(np.int32)
            rows -= 1
            return rows
        outside = (named < 1) | (named > len(self.ids))
        return np.where(outside, 0, named).astype(np.int32) - np.int32(1)

    @cached_property
    def _order(self) -> IntArray:
        return np.argsort(self.ids)

    @cached_property
    def _ordered(self) -> IntArray:
        return self.ids[self._order]
