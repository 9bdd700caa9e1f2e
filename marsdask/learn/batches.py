"""Runs of rows in memory, one after the other: how estimators learn that need an order."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from marsdask.core.collection import Collection, collect, compute, execute
from marsdask.core.node import Node
from marsdask.core.sizes import numbers
from marsdask.tensor.operands import as_node
from marsdask.tensor.sparse.blocks import is_sparse

from .lazy import is_lazy
from .rows import check_lengths, check_weights, fold, held
from .sparse import narrow


def runs(
    X: Any, *others: Any, least: int = 1, order: np.random.RandomState | None = None
) -> Iterator[tuple[Any, ...]]:
    """Iterate over the rows of each chunk of samples, and of what goes with them.

    Arrays are one chunk. A chunk is joined with the next ones until there are ``least`` rows. With
    ``order`` the chunks come in an order that it draws.
    """
    if not is_lazy(X):
        yield (X, *others)
        return
    tensors = [item for item in (X, *others) if is_lazy(item) and not _is_known(item)]
    if tensors:
        execute(*tensors)
    lengths = [_length(item) for item in (X, *others) if item is not None]
    if len(set(lengths)) > 1:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {lengths}")
    slices: list[slice] = list(_slices(numbers(X.node.chunks[0]), least))
    if order is not None:
        slices = [slices[place] for place in order.permutation(len(slices))]
    for rows in slices:
        parts = [None if item is None else _cut(item, rows) for item in (X, *others)]
        lazy = [part for part in parts if isinstance(part, Collection)]
        values = iter(compute(*lazy))
        yield tuple(_narrow(next(values)) if is_lazy(part) else part for part in parts)


def _is_known(item: Any) -> bool:
    return all(isinstance(length, int) for length in item.node.chunks[0])


def _length(item: Any) -> int:
    """Return the number of rows, which is known."""
    return int(numbers(item.node.shape[:1])[0] if is_lazy(item) else np.shape(item)[0])


def _narrow(part: Any) -> Any:
    return narrow(part) if is_sparse(part) else part


def _slices(lengths: Sequence[int], least: int) -> Iterator[slice]:
    start = stop = 0
    total = sum(lengths)
    for length in lengths:
        stop += length
        if stop > start and (stop - start >= least or stop == total):
            yield slice(start, stop)
            start = stop


def _cut(item: Any, rows: slice) -> Any:
    """Return rows of samples or targets, lazy ones lazily."""
    is_frame = isinstance(item.node.meta if is_lazy(item) else item, pd.DataFrame | pd.Series)
    part = item.iloc[rows] if is_frame else item[rows]
    return collect(as_node(part, sparse=True)) if is_lazy(item) and not is_frame else part


@dataclass(frozen=True)
class HeldRuns:
    """Computed chunks of samples, and of what goes with them, brought to memory in turn."""

    parts: Sequence[tuple[Any, ...]]
    count: int
    """The number of samples."""

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        for part in self.parts:
            yield tuple(None if item is None else _narrow(item.fetch()) for item in part)


def held_runs(
    model: Any,
    rows: Node,
    targets: Node | None = None,
    weight: Node | None = None,
    *,
    least: int = 1,
) -> HeldRuns:
    """Compute samples, targets and weights for several passes in order; check their lengths."""
    nodes: tuple[Any, ...] = (rows, targets, weight)
    check_lengths(*nodes)
    if not all(isinstance(size, int) for node in nodes if node is not None for size in node.shape):
        nodes = held(*nodes)
        check_lengths(*nodes)
    check_some(model, nodes[0].shape[0])
    items = [None if node is None else collect(node) for node in nodes]
    parts: list[tuple[Any, ...]] = [
        tuple(None if item is None else _cut(item, part) for item in items)
        for part in _slices(numbers(nodes[0].chunks[0]), least)
    ]
    execute(*(item for part in parts for item in part if item is not None))
    if weight is not None:
        largest = (np.abs(w).max() for *_, w in HeldRuns(parts, 0))
        check_weights(float(max(largest)))
    return HeldRuns(parts, numbers(nodes[0].shape)[0])


def check_some(model: Any, count: Any) -> None:
    """Raise scikit-learn's error if there are no samples."""
    if not count:
        raise ValueError(
            f"Found array with 0 sample(s) (shape=(0, {model.n_features_in_})) while a minimum of "
            f"1 is required by {type(model).__name__}."
        )


def check_length(model: Any, rows: Node) -> None:
    """Raise scikit-learn's error if samples turn out to be none; others may have to be counted."""
    length = rows.shape[0]
    is_known = isinstance(length, int)
    check_some(model, length if is_known else fold(height, operator.add, rows, nbytes=8))


def height(block: Any) -> int:
    """Return the number of rows of a run."""
    return int(block.shape[0])


def take_over(model: Any, twin: Any) -> None:
    """Give an estimator what its twin has learnt; the parameters stay its own."""
    for name, value in vars(twin).items():
        if name not in twin._get_param_names():
            setattr(model, name, value)
