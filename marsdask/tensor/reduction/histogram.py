"""Histograms: each block counts its elements, and a tree adds the counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from marsdask.core.arguments import listed
from marsdask.core.collection import Collection, ExecutableTuple
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.core.sizes import Size, Unknown, known

from ..chunkwise.single_task import Summary, once
from ..elementwise.ufuncs import astype
from ..indexing.getitem import getitem
from ..kernels.duck_arrays import alike, in_memory
from ..manipulation.join import length, stack
from ..manipulation.pad import pad
from ..manipulation.shape import view
from ..operands import as_node
from ..typing import itself, public
from .bin_widths import estimate_edges, extent


def edges_over(ends: Any, bins: int) -> Any:
    """Return the edges of equal bins over the extent of the data."""
    return np.histogram_bin_edges(in_memory(ends), bins)


def _edges(a: Node, bins: Any, range: Any, weights: Any) -> tuple[Node, bool]:
    """Return the edges of the bins as a node, and whether they are equally spaced."""
    sample = np.empty(0, a.meta.dtype)
    if range is not None and np.shape(range) != (2,):
        error = ValueError if np.shape(range) else TypeError
        raise error(f"range must be a pair of numbers, not of shape {np.shape(range)}")
    if isinstance(bins, Collection) and len(bins.node.chunks) == 1:
        return as_node(bins), False
    bins = bins.compute() if isinstance(bins, Collection) else bins
    lazy = range is not None and any(isinstance(end, Collection) for end in range)
    # NumPy raises here for arguments that are invalid for all data: unknown rules, falling edges,
    # bad ranges.
    edges = np.histogram_bin_edges(sample, bins, None if lazy else range)
    if not isinstance(bins, str) and (np.ndim(bins) or (range is not None and not lazy)):
        return as_node(edges), not np.ndim(bins)
    if isinstance(bins, str):
        if weights is not None:
            raise TypeError(
                "Automated estimation of the number of bins is not supported for weighted data"
            )
        return estimate_edges(a, bins, range), True
    ends = stack.node([as_node(end) for end in range]) if lazy else extent(a)
    dtype = np.histogram_bin_edges(np.ones(1, ends.meta.dtype), bins).dtype
    return once(edges_over, ends, shape=edges.shape, dtype=dtype, bins=bins), True


def _data(a: Any) -> Node:
    """Return the data to count; as in NumPy, bools are small numbers."""
    node = as_node(a)
    return as_node(astype.node(node, np.uint8)) if node.meta.dtype == np.bool_ else node


def _bins(edges: Node) -> Size:
    """Return the number of bins between edges."""
    size = edges.shape[0]
    if isinstance(size, int):
        return max(size - 1, 0)
    return Unknown(f"{size.name}-1", size.index, size.upper)


@public
def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Node:
    """Return the edges of a histogram's bins. See numpy.histogram_bin_edges.

    The number of bins of a rule by name ("auto", "fd", ...) depends on the data: the length is
    unknown.
    """
    return _edges(_data(a), bins, range, weights)[0]


#: Up to this number of edges, they are searched in sorted pieces of a block. This takes half the
#: time of computing each element's bin.
FEW_EDGES = 2**11


@kernel(scratch=1.0)
def count_in_bins(block: Any, *rest: Any, equal: bool) -> Any:
    """Count a block's elements, or add their weights, between the edges, which come last."""
    block, *weights, edges = alike(block, *rest)
    if not equal or (len(edges) <= FEW_EDGES and not weights):
        return np.histogram(block, edges, weights=weights[0] if weights else None)[0]
    ends = (edges[0], edges[-1])
    return np.histogram(block, len(edges) - 1, ends, weights=weights[0] if weights else None)[0]


def density_of(counts: Any, edges: Any) -> Any:
    """Divide counts by their sum and the widths of bins."""
    return counts / np.diff(edges).astype(np.float64) / counts.sum()


@public
def histogram(
    a: Any,
    bins: Any = 10,
    range: Any = None,
    density: Any = None,
    weights: Any = None,
    *,
    normed: Any = None,
) -> tuple[Any, Any]:
    """Count the elements in bins; return counts and edges. See numpy.histogram.

    Takes two passes over the data, one for their extent and one to count. With ``range`` or edges
    it takes one. Edges may be a tensor. ``normed`` is refused as in Dask.
    """
    if normed is not None:
        raise ValueError("The normed= keyword argument has been deprecated. Please use density.")
    node = _data(a)
    edges, equal = _edges(node, bins, range, weights)
    scale = () if weights is None else (_weights(weights, node),)
    sample = np.histogram(np.ones(1), weights=np.ones(1, scale[0].meta.dtype) if scale else None)
    lengths = (_bins(edges),)
    options = (("equal", equal),)
    arrays = (node, *scale)
    dtype = sample[0].dtype
    counts: Node = Summary(count_in_bins, np.add, arrays, (edges,), lengths, dtype, options)
    if density:
        counts = once(density_of, counts, edges, shape=lengths, dtype=np.float64)
    given_edges = isinstance(bins, Collection) and as_node(bins) is edges
    return ExecutableTuple((counts, itself(bins) if given_edges else edges))


def _weights(weights: Any, like: Node) -> Node:
    node = as_node(weights)
    if known((*node.shape, *like.shape)) and node.shape != like.shape:
        raise ValueError("weights should have the same shape as a.")
    return node


def edges_of_axis(ends: Any, bins: int) -> Any:
    """Return the edges of equal bins along one of several axes."""
    return np.histogramdd(ends[:, None], [bins])[1][0]


def _edges_of_axis(column: Node, bins: Any, range: Any) -> Node:
    if isinstance(bins, Collection) and bins.node.chunks:
        return as_node(bins)
    bins = bins.compute() if isinstance(bins, Collection) else bins
    sample = np.empty((0, 1), column.meta.dtype)
    (edges,) = np.histogramdd(sample, [bins], None if range is None else [range])[1]
    if np.ndim(bins) or range is not None:
        return as_node(edges)
    return once(edges_of_axis, extent(column), shape=edges.shape, dtype=edges.dtype, bins=bins)


@kernel(scratch=3.0)
def count_in_boxes(*blocks: Any, count: int) -> Any:
    """Count points, or add their weights, in boxes.

    The first ``count`` blocks are coordinates, the last ``count`` blocks edges, weights are between
    them.
    """
    weights = blocks[count] if len(blocks) > 2 * count else None
    points = np.stack(blocks[:count], axis=1)
    return np.histogramdd(points, list(blocks[-count:]), weights=weights)[0]


def density_in_boxes(counts: Any, *edges: Any) -> Any:
    """Divide counts by their boxes' volumes and their sum."""
    sizes = np.ix_(*(np.diff(axis) for axis in edges))
    total = counts.sum()
    for size in sizes:
        counts = counts / size
    return counts / total


def _columns(sample: Any) -> list[Node]:
    """Return the coordinates of points: columns of a matrix, or the vectors of a list."""
    if isinstance(sample, Sequence):
        nodes = [as_node(item) for item in sample]
        if nodes and not any(node.chunks for node in nodes):
            nodes = [as_node(stack.node(nodes))]
    else:
        whole = as_node(sample)
        whole = whole if whole.chunks else view(whole, [None])
        nodes = (
            [as_node(getitem.node(whole, (slice(None), i))) for i in range(length(whole, 1))]
            if whole.meta.ndim == 2
            else [whole]
        )
    if any(len(node.chunks) != 1 for node in nodes):
        raise ValueError("histogramdd() takes a matrix with a row a point, or a list of vectors")
    dtype = np.result_type(*(node.meta.dtype for node in nodes))
    return [as_node(astype.node(node, dtype)) for node in nodes]


@public
def histogramdd(
    sample: Any,
    bins: Any = 10,
    range: Any = None,
    density: Any = None,
    weights: Any = None,
    *,
    normed: Any = None,
) -> tuple[Any, list[Any]]:
    """Count points in boxes; return counts and each axis's edges. See numpy.histogramdd.

    ``normed`` is Dask's older name of ``density``.
    """
    if normed is not None and density is not None:
        raise TypeError("Cannot specify both 'normed' and 'density'")
    density = normed if density is None else density
    columns = _columns(sample)
    count = len(columns)
    bins = listed(bins)  # one item an axis, as in NumPy
    several = list(bins) if isinstance(bins, Sequence | np.ndarray) else [bins] * count
    ranges = [None] * count if range is None else list(range)
    if len(several) != count:
        raise ValueError("The dimension of bins must be equal to the dimension of the sample.")
    if len(ranges) != count:
        raise ValueError("range argument requires one entry, a min max pair, per dimension.")
    edges = [
        _edges_of_axis(column, number, ends)
        for column, number, ends in zip(columns, several, ranges, strict=True)
    ]
    arrays = columns if weights is None else [*columns, _weights(weights, columns[0])]
    bounds = tuple(edges)
    lengths = tuple(map(_bins, bounds))
    dtype = np.dtype(np.float64)
    options = (("count", count),)
    counts: Node = Summary(count_in_boxes, np.add, tuple(arrays), bounds, lengths, dtype, options)
    if density:
        counts = once(density_in_boxes, counts, *edges, shape=lengths, dtype=dtype)
    return counts if density else _amid_outliers(counts), edges


def _amid_outliers(counts: Node) -> Any:
    """Return counts as a part of those of all points, which they are in NumPy's memory."""
    return pad(counts, 1)[(slice(1, -1),) * len(counts.chunks)]


@public
def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Any, Any, Any]:
    """Count points of the plane in boxes. See numpy.histogram2d."""
    lengths = [as_node(axis).shape[0] for axis in (x, y)]
    if known(lengths) and lengths[0] != lengths[1]:
        raise ValueError("x and y must have the same length.")
    # Edges that are lazy are those of both axes, unless they tell one or two numbers of bins.
    if isinstance(bins, Collection) and bins.node.chunks and bins.node.shape[0] in (1, 2):
        bins = listed(bins)
    is_shared = isinstance(bins, Collection) and bool(bins.node.chunks)
    is_shared = is_shared or (isinstance(bins, Sequence | np.ndarray) and len(bins) not in (1, 2))
    counts, edges = histogramdd(
        [x, y], [bins, bins] if is_shared else bins, range, density, weights
    )
    return ExecutableTuple((counts, *edges))
