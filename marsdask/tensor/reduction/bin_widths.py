"""The width of a histogram's bins: the rules that NumPy knows by name.

Each is a formula of a few statistics of the data, all of which are lazy. Sources: for "sturges" H.
A. Sturges 1926, "scott" D. W. Scott 1979, "fd" D. Freedman and P. Diaconis 1981, "doane" D. P.
Doane 1976, "stone" C. J. Stone 1984; "auto" is NumPy's compromise.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.core.sizes import Unknown, known
from marsdask.tensor.indexing.getitem import getitem
from marsdask.tensor.manipulation.reshape import ravel

from ..chunkwise.single_task import Summary, once
from ..elementwise.ufuncs import greater_equal, less_equal, logical_and, power, subtract
from ..kernels.duck_arrays import as_array
from ..manipulation.join import concatenate
from ..operands import as_node
from ..quantile.exact import nanpercentile, percentile
from .reductions import mean, std


def by_root(span: float, count: int) -> float:
    """Return the width of bins whose number is the square root of the number of elements."""
    return span / math.sqrt(count)


def by_sturges(span: float, count: int) -> float:
    """Return the width of one bin per binary digit of the number of elements."""
    return span / (math.log2(count) + 1.0)


def by_rice(span: float, count: int) -> float:
    """Return the width of bins whose number is twice the cube root of the number of elements."""
    return float(span / (2.0 * count ** (1.0 / 3)))


def by_scott(span: float, count: int, spread: Any) -> float:
    """Return the best width for a normal distribution."""
    return float((24.0 * np.pi**0.5 / count) ** (1.0 / 3.0) * spread)


def by_doane(span: float, count: int, spread: Any, third: Any) -> float:
    """Return Sturges' width, narrower for skewed data."""
    if count <= 2 or not spread > 0.0:
        return 0.0
    usual = math.sqrt(6.0 * (count - 2) / ((count + 1.0) * (count + 3)))
    skew = abs(float(third) / float(spread) ** 3)
    return span / (1.0 + math.log2(count) + math.log2(1.0 + skew / usual))


def by_quartiles(span: float, count: int, quartiles: Any) -> float:
    """Return Freedman and Diaconis's width, which is robust to outliers."""
    return float(2.0 * (quartiles[0] - quartiles[1]) * count ** (-1.0 / 3.0))


def by_compromise(span: float, count: int, quartiles: Any) -> float:
    """Return the narrower of two widths, but not one with a very large number of bins."""
    wide = max(by_quartiles(span, count, quartiles), by_root(span, count) / 2)
    return min(wide, by_sturges(span, count))


def by_stone(span: float, count: int, counts: Any) -> float:
    """Return the width whose histogram is nearest to the data by leave-one-out cross-validation."""
    if count <= 1 or span == 0:
        return 0.0
    most = _most_bins(count)
    best, number, start = math.inf, 1, 0
    for bins in range(1, most + 1):
        share = counts[start : start + bins] / count
        start += bins
        error = (2 - (count + 1) * share.dot(share)) / (span / bins)
        if error < best:
            best, number = error, bins
    if number == most:
        warnings.warn("The number of bins estimated may be suboptimal.", RuntimeWarning, 2)
    return span / number


def _most_bins(count: int) -> int:
    return max(100, math.isqrt(count))


def candidates(block: Any, count: Any, ends: Any) -> Any:
    """Count a block's elements in one bin, in two, in three and so on."""
    if count <= 1 or not np.isfinite(ends).all():
        return np.zeros(0, np.intp)
    counts = (np.histogram(block, n, tuple(ends))[0] for n in range(1, _most_bins(int(count)) + 1))
    return np.concatenate(list(counts))


def _nothing(a: Node, count: Node, ends: Node) -> list[Node]:
    return []


def _spread(a: Node, count: Node, ends: Node) -> list[Node]:
    return [std.node(a)]


def _spread_and_skew(a: Node, count: Node, ends: Node) -> list[Node]:
    return [std.node(a), mean.node(power.node(subtract.node(a, mean.node(a)), 3))]


def _quartiles(a: Node, count: Node, ends: Node) -> list[Node]:
    # Percentiles of no elements raise, so one nan is added, which is not counted.
    values = ravel.node(a)
    if known(a.shape) and 0 not in a.shape:
        return [percentile.node(values, [75, 25])]
    return [nanpercentile.node(concatenate.node([values, [np.nan]]), [75, 25])]


def _candidates(a: Node, count: Node, ends: Node) -> list[Node]:
    length = (Unknown(f"candidates({a.name})"),)
    bounds = (count, ends)
    return [Summary(candidates, np.add, (a,), bounds, length, np.dtype(np.intp))]


#: The formula of each rule, and its statistics besides the extent and the number of elements.
RULES: dict[str, tuple[Callable[..., float], Callable[..., list[Any]]]] = {
    "sqrt": (by_root, _nothing),
    "sturges": (by_sturges, _nothing),
    "rice": (by_rice, _nothing),
    "scott": (by_scott, _spread),
    "doane": (by_doane, _spread_and_skew),
    "fd": (by_quartiles, _quartiles),
    "auto": (by_compromise, _quartiles),
    "stone": (by_stone, _candidates),
}


@kernel(scratch=0.1)
def extremes(block: Any) -> Any:
    """Return the minimum and the maximum; empty input gives an empty result."""
    block = as_array(block)
    return np.stack([block.min(), block.max()]) if block.size else block.ravel()


def outer(a: Any, b: Any) -> Any:
    """Return the extremes of two pairs of extremes."""
    return extremes(np.concatenate([a, b]))


def extent(a: Node) -> Node:
    """Return the minimum and the maximum as a vector, which is empty without elements."""
    length = (Unknown(f"extent({a.name})", -1, 2),)
    return Summary(extremes, outer, (a,), (), length, a.meta.dtype)


def edges_by_rule(ends: Any, count: Any, *facts: Any, rule: str, range: Any) -> Any:
    """Return the edges of the number of bins of a rule."""
    edges = np.histogram_bin_edges(ends, 1, range)  # raises for an extent that is not finite
    bins = 1
    if count:
        low, high = ends.tolist()
        width = RULES[rule][0](high - low, int(count), *facts)
        whole = np.issubdtype(ends.dtype, np.integer)
        width = max(width, 1) if whole and width else width
        reach = edges[-1] - edges[0]
        bins = int(np.ceil(reach / width)) if width else 1
    return np.histogram_bin_edges(ends, bins, range)


def estimate_edges(a: Node, rule: str, range: Any) -> Node:
    """Return the edges of the number of bins of a rule, which is unknown."""
    values = a if a.chunks else ravel.node(a)
    if range is not None:
        low, high = range if range[0] != range[1] else (range[0] - 0.5, range[1] + 0.5)
        within = logical_and.node(greater_equal.node(values, low), less_equal.node(values, high))
        values = getitem.node(values, within)
    ends = extent(values)
    count = Summary(np.size, np.add, (values,), (), (), np.dtype(np.intp))
    outside = ends if range is None else as_node(np.array([low, high], np.float64))
    facts = RULES[rule][1](values, count, outside)
    dtype = np.histogram_bin_edges(np.ones(1, a.meta.dtype), 1).dtype
    length = Unknown(f"{rule}({a.name},{range})")
    return once(
        edges_by_rule, ends, count, *facts, shape=(length,), dtype=dtype, rule=rule, range=range
    )
