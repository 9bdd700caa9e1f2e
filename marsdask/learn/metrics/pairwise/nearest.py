"""The nearest rows of another matrix, a block of pairs at a time."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from sklearn import metrics
from sklearn.neighbors import NearestNeighbors

from marsdask.core.collection import collect
from marsdask.core.grids.blockwise import blockwise
from marsdask.core.grids.chunk_positions import StartAt
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.tree import Pairwise, tree
from marsdask.core.machine.costs import Cost, kernel
from marsdask.core.node import Node
from marsdask.core.public import public_call
from marsdask.core.sizes import Chunks
from marsdask.learn.arguments import check_arguments
from marsdask.learn.fitted_values import as_mars, plain
from marsdask.learn.lazy import adopted, is_lazy
from marsdask.tensor.operands import empty
from marsdask.tensor.spatial.distance import small_blocks

from .blocks import whole_rows
from .distances import samples


@dataclass(frozen=True, eq=False)
class NearestRows(Node):
    """For each row of ``a`` the distances and the numbers of its ``k`` nearest rows of ``b``.

    Distances and numbers lie behind each other along the last axis.
    """

    a: Node
    b: Node
    k: int
    metric: str | Callable[..., Any]
    kwargs: Mapping[str, Any] = field(repr=False)

    @property
    def meta(self) -> Any:
        return empty(np.dtype(np.float64), 3)

    @property
    def chunks(self) -> Chunks:
        return (self.a.chunks[0], (self.k,), (2,))

    def tile(self, *grids: Grid) -> Generator[Any, Any, Grid]:
        by_node = dict(zip(self.inputs, grids, strict=True))
        a, b = yield from resolved(by_node[self.a], by_node[self.b])
        rows, columns = small_blocks((a.chunks[0], b.chunks[0]))
        partials = blockwise(
            nearest,
            [(whole_rows(a, rows), (0, None)), (whole_rows(b, columns), (1, None))],
            chunks=(rows, (self.k,) * len(columns), (2,)),
            meta=self.meta,
            varying=StartAt(columns, 1),
            kwargs={"k": self.k, "metric": self.metric, "options": self.kwargs},
        )
        return tree(partials, Pairwise(MergeNearest(self.k)), (1,))


@kernel(scratch=3.0)
def nearest(a: Any, b: Any, start: int, *, k: int, metric: Any, options: Mapping[str, Any]) -> Any:
    """Return the distances and numbers of the rows of ``b``, from ``start``, nearest to each."""
    count = min(k, len(b))
    if not count or not len(a):
        return np.empty((len(a), count, 2))
    search = NearestNeighbors(
        n_neighbors=count, algorithm="brute", metric=metric, metric_params=dict(options) or None
    )
    distances, numbers = search.fit(b).kneighbors(a)
    return np.stack([distances, numbers + start], axis=-1)


@dataclass(frozen=True)
class MergeNearest:
    """Keeps the nearest of two partial results, the first ones of equal distances."""

    cost: ClassVar[Cost] = Cost(scratch=4.0)

    k: int

    def __call__(self, a: Any, b: Any) -> Any:
        pairs = np.concatenate([a, b], axis=1)
        order = np.argsort(pairs[:, :, 0], axis=1, kind="stable")[:, : self.k, np.newaxis]
        return np.take_along_axis(pairs, order, axis=1)


def nearest_rows(X: Any, Y: Any, k: int, metric: Any, options: Mapping[str, Any]) -> Any:
    """Return a lazy tensor of distances and numbers: of each row the ``k`` nearest rows of Y."""
    a = samples(X)
    b = a if Y is None else samples(Y)
    length = b.shape[0]
    if isinstance(length, int) and not 1 <= k <= length:
        raise ValueError(f"k must be between 1 and the number of rows {length}, got {k}")
    return collect(NearestRows(a, b, k, metric, plain(dict(options))))


@as_mars
@public_call
def pairwise_distances_topk(
    X: Any,
    Y: Any = None,
    k: int | None = None,
    metric: str | Callable[..., Any] = "euclidean",
    return_index: bool = True,
    axis: int = 1,
    working_memory: Any = None,
    **kwds: Any,
) -> Any:
    """Return the distances of the nearest rows, the nearest first, and their numbers.

    Parameters
    ----------
    X, Y : array-like
        Samples; ``Y`` is by default ``X``.
    k : int
        How many of the nearest rows are wanted.
    metric : str or callable
        A metric of ``sklearn.metrics.pairwise_distances``.
    return_index : bool
        Whether the rows' numbers are wanted, too.
    axis : int
        With 1, rows of ``Y`` are found for each row of ``X``; with 0 the other way round.
    working_memory : int, optional
        Ignored: blocks of pairs have at most ``options.chunk_store_limit`` bytes.
    **kwds
        Parameters of the metric.

    Returns
    -------
    Tensor or tuple of Tensor
        Distances of shape (rows, k), and the numbers.

    Raises
    ------
    ValueError
        If ``k`` is not given, or there are fewer rows.

    Examples
    --------
    >>> from marsdask.learn.metrics import pairwise_distances_topk
    >>> distances, rows = pairwise_distances_topk(mt.tensor([[0.0], [1.0], [5.0]]), k=2)
    >>> rows.compute()
    array([[0, 1],
           [1, 0],
           [2, 1]])
    """
    del working_memory
    if k is None:
        raise ValueError("k must be given")
    if axis == 0:
        X, Y = (X if Y is None else Y), X
    pairs = nearest_rows(X, Y, k, metric, kwds)
    distances = pairs[:, :, 0]
    return (distances, pairs[:, :, 1].astype(np.int64)) if return_index else distances


@as_mars
@public_call
def pairwise_distances_argmin_min(
    X: Any, Y: Any, *, axis: int = 1, metric: Any = "euclidean", metric_kwargs: Any = None
) -> Any:
    """Return the number of the nearest row for each row, and its distance.

    See sklearn.metrics.pairwise_distances_argmin_min.
    """
    if not any(is_lazy(adopted(item)) for item in (X, Y)):
        how = {"axis": axis, "metric": metric, "metric_kwargs": metric_kwargs}
        return metrics.pairwise_distances_argmin_min(X, Y, **how)
    check_arguments(metrics.pairwise_distances_argmin_min, axis=axis, metric=metric)
    first, second = (X, Y) if axis == 1 else (Y, X)
    pairs = nearest_rows(first, second, 1, metric, metric_kwargs or {})
    return pairs[:, 0, 1].astype(np.int64), pairs[:, 0, 0]


@as_mars
@public_call
def pairwise_distances_argmin(
    X: Any, Y: Any, *, axis: int = 1, metric: Any = "euclidean", metric_kwargs: Any = None
) -> Any:
    """Return the number of the nearest row for each row.

    See sklearn.metrics.pairwise_distances_argmin.
    """
    how = {"axis": axis, "metric": metric, "metric_kwargs": metric_kwargs}
    return pairwise_distances_argmin_min(X, Y, **how)[0]
