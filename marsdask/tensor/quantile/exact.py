"""Quantiles: exact, by selection in two passes instead of a sort.

A sample brackets the wanted elements between two values. One pass counts the elements below each
bracket and collects the few inside, which contain the wanted ones. This is the selection of Floyd
and Rivest (Comm. ACM 18, 1975). Brackets extend five standard deviations of the sampled rank on
each side. For a million elements or more, at most 1.4 % are collected for each quantile. A bracket
that misses is widened, so the result is exact for every sample.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np

from marsdask.core.collection import Collection
from marsdask.core.display.suggestions import check_keywords
from marsdask.core.grids.blockwise import blockwise, map_blocks
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.parts import loops_beside
from marsdask.core.grids.tree import gather
from marsdask.core.machine.costs import kernel
from marsdask.core.machine.sizing import is_large
from marsdask.core.node import Axes, Node
from marsdask.core.sizes import Chunks, known, numbers, shape_of, total
from marsdask.scheduler.base import ChunkInfo

from ..chunkwise.lanes import in_lanes, lane_by_lane, lane_bytes, moved, with_last_axes
from ..chunkwise.rechunk import recut
from ..indexing.assignment import into
from ..indexing.output_rules import ASSIGNED, ufunc_rule
from ..kernels.duck_arrays import as_array
from ..manipulation.shape import broadcast_to
from ..memory_order import in_order, reduced
from ..operands import as_node
from ..reduction.outputs import check_output
from ..reduction.reductions import along, nanmean
from ..sorting.sort import is_at_hand, sample_rate
from ..typing import TensorFunction, public
from .methods import METHODS, MIDDLE, wanted_ranks
from .selection import QuantileBracket, bracket, bracket_counts, collect, interpolated, sample
from .sketch import QuantileSketch

#: The number of sampled elements.
SAMPLE = 2**17

#: Half-width of a bracket in standard deviations of the sample's rank.
WIDTH = 5.0


def _median(block: Any, q: Any, axis: Any = None, keepdims: bool = False, **method: str) -> Any:
    del q, method
    return np.median(block, axis, keepdims=keepdims)


def _nanmedian(block: Any, q: Any, axis: Any = None, keepdims: bool = False, **method: str) -> Any:
    del q, method
    return np.nanmedian(block, axis, keepdims=keepdims)


#: NumPy's function of whole lanes, by whether it is the median and whether NaN are ignored.
_WHOLE: dict[tuple[bool, bool], Callable[..., Any]] = {
    (False, False): np.quantile,
    (False, True): np.nanquantile,
    (True, False): _median,
    (True, True): _nanmedian,
}


@dataclass(frozen=True, eq=False)
class Quantile(Node):
    """Quantiles ``qs`` along ``axes``; the result's first axes are those of ``qs``."""

    a: Node
    qs: Any
    axes: tuple[int, ...]
    method: str
    keepdims: bool
    skip_nan: bool
    weights: Node | None = None
    weak: bool = False
    """Whether the one quantile is Python's number, which does not affect the result's type."""

    @property
    def _q(self) -> Any:
        """The quantiles as NumPy's functions take them."""
        return self.qs.item() if self.weak else self.qs

    @property
    def label(self) -> str:
        name = "median" if self.method == MIDDLE else "quantile"
        return f"nan{name}" if self.skip_nan else name

    @property
    def _whole(self) -> Callable[..., Any]:
        return _WHOLE[self.method == MIDDLE, self.skip_nan]

    @property
    def meta(self) -> Any:
        sample = np.ones((1,) * self.a.meta.ndim, self.a.meta.dtype)
        result = self._whole(sample, self._q, method=self.method)
        return np.empty((0,) * len(self.chunks), np.asarray(result).dtype)

    @property
    def chunks(self) -> Chunks:
        return self._result_chunks(self.a.chunks)

    @property
    def loop_axes(self) -> tuple[Axes, ...]:
        ndim = self.a.meta.ndim
        loops = loops_beside(self.axes, ndim, kept=self.keepdims, first=self.qs.ndim)
        return (loops,) * len(self.inputs)

    def _result_chunks(self, chunks: Chunks) -> Chunks:
        splits = tuple(
            (1,) if axis in self.axes else sizes
            for axis, sizes in enumerate(chunks)
            if self.keepdims or axis not in self.axes
        )
        return (*((length,) for length in self.qs.shape), *splits)

    def tile(self, *given: Grid) -> Generator[Look, Any, Grid]:
        grids = yield from resolved(*given)
        a = grids[0]
        everything = len(self.axes) == a.ndim and self.weights is None
        if self.weights is not None or a.meta.dtype.kind not in "iuf":
            return self.tile_blind(*grids)
        if everything and len(a) > 1:
            return (yield from self._selected(a, self.chunks))
        if not everything and is_large(lane_bytes(a, self.axes)):
            return (yield from self._by_lane(a))
        return self.tile_blind(*grids)

    def _by_lane(self, a: Grid) -> Generator[Look, Any, Grid]:
        """Select in all lanes at the same time: they are too large to be gathered."""
        if not a.ndim or 0 in shape_of(a.chunks):
            return self.tile_blind(a)
        lead = tuple((length,) for length in self.qs.shape)
        select = partial(self._selected, chunks=lead)
        result = yield from lane_by_lane(a, self.axes, select, lead)
        return self._placed(result, a.ndim) if self.keepdims else result

    def _placed(self, result: Grid, ndim: int) -> Grid:
        """Return the result with axes of length one where the lanes were."""
        count, lead = len(self.axes), self.qs.ndim
        others = [axis for axis in range(ndim) if axis not in self.axes]
        places = {axis: lead + position for position, axis in enumerate(others)}
        new = iter(range(result.ndim, result.ndim + count))
        order = tuple(places[axis] if axis in places else next(new) for axis in range(ndim))
        return moved(with_last_axes(result, count), (*range(lead), *order))

    def tile_blind(self, a: Grid, *weights: Grid) -> Grid:
        """Rechunk to whole lanes, and take the quantiles of each one."""
        a = in_lanes(a, self.axes)
        chunks = self._result_chunks(a.chunks)
        out_axes = [axis for axis in range(a.ndim) if self.keepdims or axis not in self.axes]
        lead = self.qs.ndim
        axes = tuple(
            None if axis in self.axes else lead + out_axes.index(axis) for axis in range(a.ndim)
        )
        options = {
            "func": self._whole,
            "q": self._q,
            "axis": self.axes,
            "dtype": self.meta.dtype,
            "method": self.method,
            "keepdims": self.keepdims,
        }
        # Equal operands are one input.
        operands = weights if weights or self.weights is None else (a,)
        inputs = [(a, axes), *((recut(grid, a.chunks), axes) for grid in operands)]
        return blockwise(quantile_of_block, inputs, chunks=chunks, meta=self.meta, kwargs=options)

    def _selected(self, a: Grid, chunks: Chunks) -> Generator[Look, Any, Grid]:
        """Return the quantiles of all elements, as an array in these chunks."""
        total = math.prod(shape_of(a.chunks))
        if not total:
            return self.tile_blind(a)
        meta = np.empty((0,) * len(chunks), self.meta.dtype)
        shape = shape_of(chunks)
        options = {"q": self._q, "shape": shape, "dtype": self.meta.dtype}
        if not self.qs.size:
            return gather(all_nan, chunks=chunks, meta=meta, kwargs=options)
        rate = sample_rate(a, max(SAMPLE, 32 * self.qs.size))
        share = rate * (a.width or 0)
        look = map_blocks(sample, a, itemsize=share, kwargs={"rate": rate})
        infos = yield Look((look,), keep=() if is_at_hand(a) else (a,))
        samples = np.sort(np.concatenate([info.sample[1] for info in infos]))
        nans = sum(info.sample[0] for info in infos)
        count = total - nans
        if count == 0 or (nans and not self.skip_nan):
            return gather(all_nan, chunks=chunks, meta=meta, kwargs=options)
        ranks = wanted_ranks(self._q, self.method, count)
        elements, brackets = yield from _collected(a, ranks, samples, count)
        options |= {"method": self.method, "count": count, "ranks": ranks, "brackets": brackets}
        return gather(interpolated, elements, chunks=chunks, meta=meta, kwargs=options)


@dataclass(frozen=True, eq=False)
class QuantileByTensor(Node):
    """Quantiles that are computed before: ``q`` counts in shares of ``scale``."""

    a: Node
    q: Node
    axes: tuple[int, ...]
    method: str
    keepdims: bool
    skip_nan: bool
    scale: int

    def _of(self, q: Any) -> Quantile:
        qs = _checked_q(self.a, q, self.scale)
        return Quantile(self.a, qs, self.axes, self.method, self.keepdims, self.skip_nan)

    @property
    def label(self) -> str:
        return "nanquantile" if self.skip_nan else "quantile"

    @property
    def meta(self) -> Any:
        return self._of(np.zeros((1,) * len(self.q.chunks), self.q.meta.dtype)).meta

    @property
    def chunks(self) -> Chunks:
        sample = self._of(np.zeros((), self.q.meta.dtype))
        return (*((total(sizes),) for sizes in self.q.chunks), *sample.chunks)

    @property
    def loop_axes(self) -> tuple[Axes, ...]:
        lead = len(self.q.chunks)
        if self.a is self.q:
            return ((None,) * lead,) * 2
        loops = loops_beside(self.axes, self.a.meta.ndim, kept=self.keepdims, first=lead)
        return (loops, (None,) * lead)

    def tile(self, *given: Grid) -> Generator[Look, Any, Grid]:
        grids = yield from resolved(*given)
        a, q = grids[0], grids[-1]  # equal operands are one input
        q = recut(q, tuple((length,) for length in shape_of(q.chunks)))
        (info,) = yield Look((q,))
        if info.sample is None:
            raise NotImplementedError("a tensor q of so many values is not supported; compute() it")
        return (yield from self._of(info.sample).tile(a))


def _collected(
    a: Grid, ranks: Sequence[int], samples: Any, count: int
) -> Generator[Look, Any, tuple[Grid, tuple[QuantileBracket, ...]]]:
    """Return the counts and the elements in the brackets, once every bracket holds its ranks."""
    width = WIDTH
    while True:
        brackets = bracket(ranks, samples, count, width)
        elements = map_blocks(collect, a, kwargs={"brackets": brackets}, itemsize=a.width)
        counts = map_blocks(bracket_counts, elements, meta=np.empty((0,), np.intp))
        infos = yield Look((counts,), keep=(elements,))
        table = sum(info.sample for info in infos)
        if all(any(start <= rank < stop for start, stop in table) for rank in ranks):
            return replace(elements, itemsize=_share(a, infos) * (a.width or 0)), brackets
        width *= 8


def _share(a: Grid, infos: Sequence[ChunkInfo]) -> float:
    """Return the largest share of a chunk in the brackets, a bound of the collected elements."""
    counts = [int(np.diff(info.sample, axis=1).sum()) for info in infos]
    sizes = itertools.product(*map(numbers, a.chunks))
    return max(
        (count / math.prod(size) for count, size in zip(counts, sizes, strict=True) if count),
        default=0.0,
    )


def all_nan(*, q: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Return NaN only."""
    del q
    return np.full(shape, np.nan, dtype)


@kernel(scratch=2.0)
def quantile_of_block(
    block: Any,
    *weights: Any,
    func: Callable[..., Any],
    q: Any,
    axis: tuple[int, ...],
    dtype: np.dtype[Any],
    **options: Any,
) -> Any:
    """Return the quantiles of whole lanes; without lanes of values an empty result."""
    lanes = [length for i, length in enumerate(block.shape) if i not in axis]
    if 0 in lanes and 0 not in [block.shape[i] for i in axis]:
        sample = np.ones([length if i not in axis else 1 for i, length in enumerate(block.shape)])
        rest = np.sum(sample, axis, keepdims=options["keepdims"]).shape
        return np.empty(np.shape(q) + rest, dtype)
    extra = {"weights": weights[0]} if weights else {}
    with np.errstate(invalid="ignore"):
        return as_array(func(block, q, axis=axis, **options, **extra))


#: Dask's names of methods for percentiles, and whether they are exact.
_WAYS = {"default": True, "exact": True, "dask": False, "tdigest": False, "sketch": False}


def _quantile(
    a: Any,
    q: Any,
    axis: Any,
    method: str,
    keepdims: bool,
    options: dict[str, Any],
    *,
    skip_nan: bool,
    scale: int = 1,
) -> Node:
    weights, exact, method = _settled(options, method)
    node = as_node(a)
    qs = None if isinstance(q, Collection) else _checked_q(node, q, scale)
    if method not in METHODS:
        raise ValueError(f"{method!r} is not a valid method. Use one of: {', '.join(METHODS)}")
    ndim = node.meta.ndim
    axes = _axes(axis, ndim)
    if skip_nan and 0 in node.shape:  # as NumPy, whatever q is
        return nanmean.node(node, axes, keepdims=keepdims)
    if qs is None:
        if weights is not None or not exact:
            raise NotImplementedError("weights= and internal_method= need q that is no tensor")
        return QuantileByTensor(node, as_node(q), axes, method, keepdims, skip_nan, scale)
    if weights is not None:
        if method != "inverted_cdf":
            raise ValueError("Only method 'inverted_cdf' supports weights.")
        factors = broadcast_to.node(along(as_node(weights), node, axis), numbers(node.shape))
        return Quantile(node, qs, axes, method, keepdims, skip_nan, factors)
    weak = type(q) in (int, float)
    quantiles = Quantile(node, qs, axes, method, keepdims, skip_nan, weak=weak)
    if exact:
        return quantiles
    if len(axes) < ndim or node.meta.dtype.kind not in "iuf" or method != "linear":
        raise NotImplementedError(
            "approximate quantiles along an axis, by another method than 'linear' or of other "
            "types than real numbers are not supported; use exact ones, without internal_method="
        )
    return QuantileSketch(node, qs, quantiles.meta.dtype, keepdims, skip_nan)


def _settled(options: dict[str, Any], method: str) -> tuple[Any, bool, str]:
    """Return weights, whether the result is exact, and the canonical name of the method."""
    check_keywords(options, {"weights", "internal_method", "interpolation"})
    way = options.get("internal_method", "default")
    if way not in _WAYS:
        raise ValueError(f"invalid internal_method: {way!r}; choose from {', '.join(_WAYS)}")
    return options.get("weights"), _WAYS[way], options.get("interpolation", method)


def _checked_q(node: Node, q: Any, scale: int) -> Any:
    """Return the quantiles as an array of shares."""
    if node.meta.dtype.kind == "c":
        raise TypeError("complex numbers have no order: take the real part or the modulus")
    qs = np.asarray(q if scale == 1 else np.true_divide(q, scale))
    if not np.all((qs >= 0) & (qs <= 1)):
        name = "Quantiles" if scale == 1 else "Percentiles"
        raise ValueError(f"{name} must be in the range [0, {scale}]")
    return qs


def _family(name: str, text: str, **fixed: Any) -> TensorFunction:
    """Return a function of the family of quantiles."""
    casting = "unsafe" if fixed["skip_nan"] else "same_kind"
    rule = ASSIGNED if fixed["skip_nan"] else ufunc_rule("add", 2)

    def lazy(
        a: Any,
        q: Any,
        axis: Any = None,
        out: Any = None,
        overwrite_input: bool = False,
        method: str = "linear",
        keepdims: bool = False,
        **options: Any,
    ) -> Any:
        del overwrite_input
        result = _quantile(a, q, axis, method, keepdims, options, **fixed)
        return into(out, _repeated(result, out), casting, rule)

    lazy.__name__ = lazy.__qualname__ = name
    lazy.__doc__ = f"""{text} See numpy.{name}.

    They are exact by every method of NumPy's, and with ``weights=`` by "inverted_cdf", for which
    lanes are gathered. ``interpolation`` is Mars's word for ``method``. With Dask's
    ``internal_method="tdigest"`` those of all elements are approximate and take one pass: their
    ranks are off by at most a 1024th of the elements, and one a chunk (see
    :mod:`marsdask.tensor.quantile.sketch`).
    """
    return public(lazy)


def _repeated(result: Node, out: Any) -> Node:
    """Return quantiles as often as ``out`` has room for them along axes that they lack."""
    shapes = (result.shape, out.node.shape) if isinstance(out, Collection) else ()
    if len(shapes) < 2 or shapes[0] == shapes[1] or not all(map(known, shapes)):
        return result
    try:
        fits = np.broadcast_shapes(*map(numbers, shapes)) == shapes[1]
    except ValueError:
        fits = False
    return broadcast_to.node(result, shapes[1]) if fits else result


quantile: Final = _family(
    "quantile", "Return quantiles of all elements, or along axes.", skip_nan=False
)
nanquantile: Final = _family("nanquantile", "Return quantiles of what is not NaN.", skip_nan=True)
percentile: Final = _family("percentile", "Return percentiles.", skip_nan=False, scale=100)
nanpercentile: Final = _family(
    "nanpercentile", "Return percentiles of what is not NaN.", skip_nan=True, scale=100
)


@public
def median(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False
) -> Node:
    """Return the exact median of all elements, or along axes. See numpy.median."""
    return _middle(a, axis, out, keepdims, skip_nan=False)


@public
def nanmedian(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False
) -> Node:
    """Return the exact median of elements other than NaN. See numpy.nanmedian."""
    return _middle(a, axis, out, keepdims, skip_nan=True)


def _middle(a: Any, axis: Any, out: Any, keepdims: bool, *, skip_nan: bool) -> Node:
    """Return a median."""
    node = as_node(a)
    axes = _axes(axis, node.meta.ndim)
    result = Quantile(node, np.asarray(0.5), axes, MIDDLE, keepdims, skip_nan)
    if not skip_nan:  # NumPy ends in a mean
        check_output(out, node.shape, result.shape, axes, np.add)
        if len(axes) == 1 and node.memory_order is not None:
            order = reduced(node.memory_order, axes, keeps=keepdims)
            return into(out, in_order(result, order), "unsafe", ASSIGNED)
    return into(out, result, "unsafe", ASSIGNED)


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """Return the axes of the lanes."""
    if axis is None:
        return tuple(range(ndim))
    return tuple(sorted(np.lib.array_utils.normalize_axis_tuple(axis, ndim)))
