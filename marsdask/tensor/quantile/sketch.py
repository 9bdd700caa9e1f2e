"""Approximate quantiles: one pass, and a summary of a thousand elements a chunk.

Each chunk keeps the elements at :data:`POINTS` evenly spaced ranks, each of which represents those
around it. Summaries of several chunks are concatenated, so they are mergeable (Agarwal, Cormode,
Huang, Phillips, Wei and Yi, Mergeable Summaries, ACM TODS 38, 2013). The error does not grow with
the number of chunks. A quantile lies between elements whose ranks differ from the requested one by
at most ``N / POINTS`` and one per chunk. This holds for every input, because the algorithm is
deterministic. The minimum and the maximum are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from marsdask.core.grids.blockwise import map_blocks
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.tree import gather
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.core.sizes import Chunks

#: Elements that a chunk keeps.
POINTS = 1024


class QuantileSummary(NamedTuple):
    """Elements in order, the number of elements that each represents, and the number of NaNs."""

    values: Any
    weight: float
    ends: Any
    nans: int


@dataclass(frozen=True, eq=False)
class QuantileSketch(Node):
    """Quantiles ``qs`` of all elements, approximately."""

    label: ClassVar[str] = "quantile_sketch"

    a: Node
    qs: Any
    dtype: np.dtype[Any]
    keepdims: bool
    skip_nan: bool

    @property
    def meta(self) -> Any:
        return np.empty((0,) * len(self.chunks), self.dtype)

    @property
    def chunks(self) -> Chunks:
        units = ((1,),) * (self.a.meta.ndim if self.keepdims else 0)
        return (*((length,) for length in self.qs.shape), *units)

    def tile(self, a: Grid) -> Grid:
        parts = map_blocks(summarize, a, itemsize=a.width)
        options = {
            "q": self.qs,
            "shape": tuple(length for (length,) in self.chunks),
            "dtype": self.dtype,
            "skip_nan": self.skip_nan,
        }
        return gather(estimate, parts, chunks=self.chunks, meta=self.meta, kwargs=options)


@kernel(scratch=1.2)
def summarize(block: Any) -> QuantileSummary:
    """Return the elements of a chunk at evenly spaced ranks."""
    flat = np.sort(block, axis=None)
    count = len(flat)
    if flat.dtype.kind == "f":
        # NaN is sorted to the end.
        count = int(np.searchsorted(flat, np.nan))
    nans, flat = len(flat) - count, flat[:count]
    ends = flat[[0, -1]] if count else flat
    if count <= POINTS:
        return QuantileSummary(flat.copy(), 1.0, ends, nans)
    step = count / POINTS
    ranks = ((np.arange(POINTS) + 0.5) * step).astype(np.intp)
    return QuantileSummary(flat[ranks], step, ends, nans)


@kernel(scratch=3.0)
def estimate(
    parts: list[QuantileSummary],
    q: Any,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    skip_nan: bool,
) -> Any:
    """Return the quantiles of the summarized elements."""
    values = np.concatenate([part.values for part in parts])
    if not len(values) or (not skip_nan and any(part.nans for part in parts)):
        return np.full(shape, np.nan, dtype)
    weights = np.concatenate([np.full(len(part.values), part.weight) for part in parts])
    ends = np.concatenate([part.ends for part in parts])
    order = np.argsort(values, kind="stable")
    values, weights = values[order], weights[order]
    # An element represents those around it: its rank is their middle.
    ranks = np.cumsum(weights) - weights / 2
    total = float(weights.sum())
    places = np.concatenate([[0.5], ranks, [total - 0.5]])
    values = np.concatenate([[ends.min()], values, [ends.max()]])
    targets = 0.5 + np.ravel(q) * (total - 1)
    return np.interp(targets, places, values).astype(dtype).reshape(shape)
