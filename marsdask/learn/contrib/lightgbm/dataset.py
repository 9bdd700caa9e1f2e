"""Samples as LightGBM takes them: rows of chunks on demand."""

from __future__ import annotations

from typing import Any

import lightgbm
import numpy as np

from marsdask.core.collection import collect
from marsdask.core.node import Node
from marsdask.core.sizes import numbers
from marsdask.learn.lazy import is_lazy
from marsdask.learn.rows import as_rows, held, in_memory
from marsdask.tensor.sparse.blocks import dense

#: Rows that LightGBM asks for at a time, and bytes that they have at most.
BATCH, BATCH_BYTES = 2**14, 2**26


class HeldRows(lightgbm.Sequence):
    """The rows of held samples; some are drawn to find bins, then all are read in turn."""

    def __init__(self, rows: Node) -> None:
        self._rows = collect(rows)
        width = max(1, *numbers(rows.shape[1:]))
        self.batch_size = max(1, min(BATCH, BATCH_BYTES // (8 * width)))
        self._begin = 0
        self._batch = np.empty((0, 0))

    def __getitem__(self, wanted: Any) -> Any:
        if isinstance(wanted, int | np.integer):
            return self._row(range(len(self))[wanted])
        block = dense(self._rows[wanted].compute())
        return np.ascontiguousarray(block, np.float64)  # LightGBM draws from no others

    def _row(self, place: int) -> Any:
        """Return one row; those drawn ascend, so that each batch is computed once."""
        if not self._begin <= place < self._begin + len(self._batch):
            self._begin = place - place % self.batch_size
            self._batch = self[self._begin : self._begin + self.batch_size]
        return self._batch[place - self._begin]

    def __len__(self) -> int:
        return int(numbers(self._rows.shape[:1])[0])


def held_rows(X: Any) -> Node:
    """Return samples as numbers, lazy ones computed and held; sparse ones stay so."""
    (rows,) = held(as_rows(X, sparse=True) if is_lazy(X) else in_memory(np.asarray(X)))
    node: Node = rows
    return node


def dataset(rows: Node, names: Any, **parts: Any) -> lightgbm.Dataset:
    """Return LightGBM's data set of held rows, of which each feature is in bins."""
    return lightgbm.Dataset(HeldRows(rows), feature_name=names, **parts)
