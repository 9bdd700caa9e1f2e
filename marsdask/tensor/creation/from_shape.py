"""Tensors from shapes: constants, ranges, grids of indices."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from marsdask.core.arguments import listed, plain_values
from marsdask.core.collection import Collection, ExecutableTuple
from marsdask.core.display.suggestions import check_keywords
from marsdask.core.grids.blockwise import blockwise
from marsdask.core.grids.chunk_positions import PlaceAt
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.select import cut_axis
from marsdask.core.machine.costs import kernel
from marsdask.core.node import DiagonalOf, MemoryOrder, Node, PartOf, Taken, lacks_detail
from marsdask.core.sizes import (
    Chunks,
    Sizes,
    UnknownShapeError,
    known,
    known_chunks,
    numbers,
    total,
)

from ..chunks import as_shape, check_device, check_order, normalize_chunks
from ..chunkwise.rechunk import rechunk
from ..device import placed_on
from ..elementwise.nodes import Elementwise, cast
from ..kernels.array_parts import (
    AT,
    along_places,
    diagonal_ones,
    full_block,
    index_along,
    indices_of,
    lower_ones,
    part_block,
    subrange,
    zeros_block,
)
from ..kernels.range_blocks import arange_block
from ..manipulation.reshape import reshape
from ..manipulation.shape import broadcast_to, view
from ..memory_order import fortran, in_order, in_order_of, letter_of, settled
from ..operands import as_node, empty
from ..signatures import optional, orders_at, shows, with_signature
from ..sparse.blocks import is_sparse
from ..sparse.conversion import tosparse
from ..typing import public, view_face
from ..unknown_lengths import ResultSpec, like, waits_for_lengths

if TYPE_CHECKING:
    pass

Shape = tuple[int, ...]

#: Keywords of Mars, Dask and the array API for creation functions.
EXTRAS = ("chunks", "order", "device", "gpu", "sparse", "like")


@dataclass(frozen=True, eq=False)
class FromShape(Node):
    """An array whose blocks are results of ``func(shape, starts, dtype=, **kwargs)``."""

    func: Callable[..., Any]
    dtype: np.dtype[Any]
    splits: Chunks
    kwargs: tuple[tuple[str, Any], ...] = ()
    title: str = field(default="")
    whole: tuple[range, ...] = ()
    """Its positions in the array that ``func`` tells, if it is a part of that."""

    @property
    def label(self) -> str:
        return self.title or self.func.__name__

    @property
    def meta(self) -> Any:
        return empty(self.dtype, len(self.splits))

    @property
    def chunks(self) -> Chunks:
        return self.splits

    @property
    def memory_order(self) -> MemoryOrder:
        return fortran(self.shape) if ("order", "F") in self.kwargs else None

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        del part
        whole = self.whole or tuple(map(range, numbers(self.shape)))
        ranges = [
            own if span is None else span
            for own, span in zip(map(range, numbers(self.shape)), taken, strict=True)
        ]
        splits = tuple(
            sizes if span is None else cut_axis(numbers(sizes), span).sizes
            for sizes, span in zip(self.splits, taken, strict=True)
        )
        places = tuple(subrange(own, span) for own, span in zip(whole, ranges, strict=True))
        return self.replaced(splits=splits, whole=places)

    def diagonal(self, rows: range, columns: range, along: DiagonalOf) -> Node | None:
        del along
        whole = self.whole or tuple(map(range, numbers(self.shape)))
        if self.func in CONSTANT:
            *lead, _, _ = self.splits
            value = tuple(pair for pair in self.kwargs if pair[0] != "order")
            return FromShape(self.func, self.dtype, (*lead, (len(rows),)), value, self.title)
        if len(whole) != 2 or self.func not in AT:
            return None
        places = tuple(map(subrange, whole, (rows, columns)))
        kwargs = (("func", AT[self.func]), ("kwargs", self.kwargs), ("places", places))
        splits = normalize_chunks(None, (len(rows),), self.dtype)
        return FromShape(along_places, self.dtype, splits, kwargs, self.title)

    def tile(self, *inputs: Any) -> Grid:
        del inputs
        kwargs = {"dtype": self.dtype, **dict(self.kwargs)}
        func, place = self.func, PlaceAt(self.splits)
        if self.whole and func not in CONSTANT:
            func, kwargs = part_block, {"func": func, "whole": self.whole, **kwargs}
        return blockwise(
            func,
            [],
            chunks=self.splits,
            meta=self.meta,
            kwargs=kwargs,
            varying=place,
            cheap=True,
        )

    def regrid(self, new: Mapping[Sizes, Sizes]) -> Node:
        return self.replaced(splits=tuple(new.get(sizes, sizes) for sizes in self.splits))


def create_node(
    func: Callable[..., Any],
    shape: Any,
    dtype: np.dtype[Any],
    chunk_size: Any,
    settings: dict[str, Any],
    title: str = "",
    **kwargs: Any,
) -> Node:
    """Return the node of blocks of ``func``; ``settings`` are Mars's and Dask's extra arguments."""
    sparse, gpu, device = (settings.pop(key, None) for key in ("sparse", "gpu", "device"))
    letter = letter_of(settings.get("order"), default="C")
    chunk_size = chunks_from(chunk_size, settings)
    splits = normalize_chunks(chunk_size, shape, dtype)
    if letter == "F" and len(splits) > 1 and func in (full_block, zeros_block):
        kwargs["order"], letter = "F", "K"
    node: Node = FromShape(func, dtype, splits, tuple(sorted(kwargs.items())), title)
    node = in_order_of(node, letter)
    return placed_on(tosparse.node(node) if sparse else node, gpu, device)


def chunks_from(chunk_size: Any, settings: dict[str, Any]) -> Any:
    """Return ``chunk_size`` or Dask's ``chunks``; raise for unsupported or unknown arguments."""
    for name, instead in (("gpu", "to_gpu"), ("sparse", "tosparse")):
        if settings.pop(name, None):
            raise NotImplementedError(
                f"{name}=True is not supported; use {instead}() of the result"
            )
    order = settings.pop("order", "C")
    check_order(order)
    chunks = settings.pop("chunks", None)
    check_device(settings.pop("device", None))
    for name in ("like", "name", "meta", "copy", "subok"):
        settings.pop(name, None)
    check_keywords(settings, ())
    if chunks is not None and chunk_size is not None:
        raise TypeError("chunk_size= and chunks= say the same: give one of them")
    return chunk_size if chunks is None else chunks


#: Functions whose blocks are alike everywhere.
CONSTANT = (full_block, zeros_block)


def _filled_by(fill: Any, shape: Any, dtype: Any, chunk_size: Any, letter: Any) -> Node:
    """Return a node of another node's values, broadcast."""
    node = as_node(fill)
    if dtype is not None:
        node = Elementwise(cast, (node,), (("dtype", np.dtype(dtype)),))
    chunks = normalize_chunks(chunk_size, shape, node.meta.dtype)
    offset = len(chunks) - len(node.chunks)
    if offset >= 0 and known(node.shape):
        pairs = zip(node.chunks, chunks[offset:], strict=True)
        splits = tuple(new if total(new) == total(old) else old for old, new in pairs)
        node = node if splits == node.chunks else rechunk.node(node, splits)
    return in_order_of(broadcast_to.node(node, shape, chunks=chunks), letter)


@public
@shows(*EXTRAS)
@orders_at("chunk_size")
def full(
    shape: Any, fill_value: Any, dtype: Any = None, chunk_size: Any = None, **extra: Any
) -> Node:
    """Return a tensor filled with a scalar (or an array that broadcasts). See numpy.full."""
    letter = letter_of(extra.get("order"), default="C")
    if isinstance(fill_value, Collection):
        return _filled_by(fill_value, shape, dtype, chunks_from(chunk_size, extra), letter)
    fill = np.asarray(fill_value)
    if dtype is not None and type(fill_value) is int:
        # NumPy casts arrays and floats, but an integer that the type cannot hold raises.
        fill = np.empty((), dtype)
        np.copyto(fill, fill_value, casting="unsafe")
    dtype = fill.dtype if dtype is None else np.dtype(dtype)
    if fill.ndim:
        shape = as_shape(shape)
        splits = normalize_chunks(chunks_from(chunk_size, extra), shape, dtype)
        if fill.ndim > len(shape) or any(
            n not in (1, own) for n, own in zip(fill.shape[::-1], shape[::-1], strict=False)
        ):
            raise ValueError(
                f"fill_value must be scalar, or of a shape that broadcasts to {shape}, not "
                f"{fill.shape}"
            )
        node = as_node(np.broadcast_to(fill.astype(dtype), shape), splits)
        return in_order_of(node, letter)
    return create_node(
        full_block, shape, dtype, chunk_size, extra, "full", fill_value=fill.astype(dtype)[()]
    )


@public
@shows(*EXTRAS)
@orders_at("chunk_size")
def ones(shape: Any, dtype: Any = None, chunk_size: Any = None, **extra: Any) -> Node:
    """Return a tensor of ones. See numpy.ones."""
    dtype = np.dtype(np.float64 if dtype is None else dtype)
    return create_node(full_block, shape, dtype, chunk_size, extra, "ones", fill_value=1)


@public
@shows(*EXTRAS)
@orders_at("chunk_size")
def zeros(shape: Any, dtype: Any = None, chunk_size: Any = None, **extra: Any) -> Node:
    """Return a tensor of zeros. See numpy.zeros."""
    dtype = np.dtype(np.float64 if dtype is None else dtype)
    return create_node(zeros_block, shape, dtype, chunk_size, extra, "zeros")


@public
@shows(*EXTRAS)
@orders_at("chunk_size")
def empty_(shape: Any, dtype: Any = None, chunk_size: Any = None, **extra: Any) -> Node:
    """Return a tensor of zeros, so that equal expressions have equal values. See numpy.empty."""
    dtype = np.dtype(np.float64 if dtype is None else dtype)
    return create_node(zeros_block, shape, dtype, chunk_size, extra, "empty")


def _ordered_like(found: Node, a: Any, extra: dict[str, Any]) -> Node:
    """Return a new array in the order of ``a``, or in the one that was asked for."""
    letter = letter_of(extra.get("order", "K"), a)
    if letter != "K":
        return in_order_of(found, letter)
    node = as_node(a, sparse=True)
    if node.shape == found.shape and (result := in_order_of(found, letter, a)) is not found:
        return result
    order = node.memory_order
    if order is None or len(order) != len(found.chunks) or 0 in node.shape:
        return found
    return in_order(found, settled(order, found.shape))


def _like(a: Any, dtype: Any, shape: Any, chunk_size: Any, extra: dict[str, Any]) -> Any:
    """Return shape, dtype and chunks of a tensor like ``a``."""
    node = as_node(a)
    extra = {name: value for name, value in extra.items() if name != "order"}
    dtype = node.meta.dtype if dtype is None else np.dtype(dtype)
    chunk_size = chunks_from(chunk_size, extra)
    if shape is None:
        if not known_chunks(node.chunks):
            raise UnknownShapeError("the shape is not known before execute(); execute() first")
        if chunk_size is None:
            chunk_size = node.chunks
        shape = numbers(node.shape)
    return as_shape(shape), dtype, chunk_size


def _alike(a: Any, dtype: Any, chunk_size: Any, chunks: Any = None, **_: Any) -> ResultSpec:
    splits = chunks if chunk_size is None else chunk_size
    return like(a if splits is None else rechunk.node(a, splits), dtype)


@public
@waits_for_lengths(_alike)
@shows("chunks", "order", "device")
@orders_at("shape")
def ones_like(
    a: Any, dtype: Any = None, shape: Any = None, chunk_size: Any = None, **extra: Any
) -> Node:
    """Return ones of the shape, type and chunks of ``a``. See numpy.ones_like."""
    return _ordered_like(ones.node(*_like(a, dtype, shape, chunk_size, extra)), a, extra)


@public
@waits_for_lengths(_alike)
@shows("chunks", "order", "device")
@orders_at("shape")
def zeros_like(
    a: Any, dtype: Any = None, shape: Any = None, chunk_size: Any = None, **extra: Any
) -> Node:
    """Return zeros of the shape, type and chunks of ``a``. See numpy.zeros_like.

    Those of a sparse tensor are sparse.
    """
    kind = {"sparse": True} if is_sparse(as_node(a, sparse=True).meta) else {}
    result = zeros.node(*_like(a, dtype, shape, chunk_size, extra), **kind)
    return _ordered_like(result, a, extra)


@public
@waits_for_lengths(_alike)
@shows("chunks", "order", "device")
@orders_at("shape")
def empty_like(
    a: Any, dtype: Any = None, shape: Any = None, chunk_size: Any = None, **extra: Any
) -> Node:
    """Return zeros of the shape, type and chunks of ``a``. See numpy.empty_like."""
    return _ordered_like(empty_.node(*_like(a, dtype, shape, chunk_size, extra)), a, extra)


@public
@waits_for_lengths(_alike)
@shows("chunks", "order", "device")
@orders_at("shape")
def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    shape: Any = None,
    chunk_size: Any = None,
    **extra: Any,
) -> Node:
    """Return a constant of the shape, type and chunks of ``a``. See numpy.full_like."""
    shape, dtype, chunk_size = _like(a, dtype, shape, chunk_size, extra)
    return _ordered_like(full.node(shape, fill_value, dtype, chunk_size), a, extra)


@public
def arange(*args: Any, dtype: Any = None, chunk_size: Any = None, **extra: Any) -> Node:
    """Return evenly spaced values: ``arange(stop)``, ``arange(start, stop[, step[, dtype]])``.

    See numpy.arange.
    """
    keywords = [extra.pop(name, None) for name in ("start", "stop", "step")]
    if len(args) == 4:
        *args, dtype = args  # type: ignore[assignment]
    start, stop, step = map(_number, plain_values(list(_range(tuple(args), keywords))))
    dates = (np.datetime64, np.timedelta64)
    if any(isinstance(item, dates) for item in (start, stop, step)) or np.dtype(dtype).kind in "mM":
        # NumPy deprecates a plain number as the step of dates.
        steps = () if type(step) is int and step == 1 else (step,)
        array = np.arange(start, stop, *steps, dtype=dtype)
        return as_node(array, chunks_from(chunk_size, extra))
    nothing = [type(item)(0) for item in (start, stop) if item is not None]
    dtype = np.arange(*nothing, *([] if start is None else [type(step)(1)]), dtype=dtype).dtype
    start = 0 if start is None else start
    if step == 0:
        raise ZeroDivisionError("division by zero")
    if math.isnan(ratio := (stop - start) / step):
        raise ValueError("arange: cannot compute length")
    length = max(0, math.ceil(ratio))
    first, second = (np.asarray(item).astype(dtype)[()] for item in (start, start + step))
    return create_node(
        arange_block, (length,), dtype, chunk_size, extra, "arange", first=first, second=second
    )


def _number(item: Any) -> Any:
    """Return the number in an array without axes; other objects as they are."""
    return item[()] if isinstance(item, np.ndarray) and not item.ndim else item


_RANGE = optional(("start", "stop", "step", "dtype", "chunk_size"))
with_signature(arange, [*_RANGE, *optional(EXTRAS, named=True)])


def _range(args: tuple[Any, ...], named: list[Any]) -> tuple[Any, Any, Any]:
    """Return start (``None`` if not given), stop and step."""
    if len(args) > 3:
        raise TypeError(f"arange() takes at most 4 positional arguments ({len(args)} given)")
    if (len(args) == 1 and named[1] is None) or (len(args) > 1 and args[1] is None):
        args = (None, args[0], *args[2:])
    positional = [*args, *(None,) * (3 - len(args))]
    if any(a is not None and b is not None for a, b in zip(positional, named, strict=True)):
        raise TypeError("arange() got an argument twice")
    start, stop, step = (b if a is None else a for a, b in zip(positional, named, strict=True))
    if stop is None:
        raise TypeError("arange() requires stop to be specified.")
    if step is not None and start is None:
        start = 0
    return start, stop, 1 if step is None else step


@public
@shows(*EXTRAS)
@orders_at("chunk_size")
def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: Any = None,
    chunk_size: Any = None,
    **extra: Any,
) -> Node:
    """Return a matrix with ones on a diagonal and zeros elsewhere. See numpy.eye."""
    if isinstance(M, str | tuple):  # Dask has chunks here
        M, chunk_size = None, M
    dtype = np.dtype(np.float64 if dtype is None else dtype)
    shape = (N, N if M is None else M)
    return create_node(diagonal_ones, shape, dtype, chunk_size, extra, "eye", k=operator.index(k))


@public
@shows(*EXTRAS)
def identity(n: int, dtype: Any = None, chunk_size: Any = None, **extra: Any) -> Node:
    """Return the identity matrix. See numpy.identity."""
    return eye.node(n, dtype=dtype, chunk_size=chunk_size, **extra)


@public
@shows(*EXTRAS)
def tri(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: Any = None,
    chunk_size: Any = None,
    **extra: Any,
) -> Node:
    """Return a matrix with ones at and below a diagonal. See numpy.tri."""
    dtype = np.dtype(np.float64 if dtype is None else dtype)
    shape = (N, N if M is None else M)
    return create_node(lower_ones, shape, dtype, chunk_size, extra, "tri", k=operator.index(k))


@public
def indices(
    dimensions: Any, dtype: Any = int, sparse: bool = False, chunk_size: Any = None, **extra: Any
) -> Any:
    """Return the positions of a grid's elements along each axis. See numpy.indices.

    Chunks are those of the grid, or of the grid and of the axis before it that tells the axes.
    """
    dtype = np.dtype(dtype)
    shape = as_shape(listed(dimensions))
    if sparse:
        chunks = normalize_chunks(chunks_from(chunk_size, extra), shape, dtype)
        ndim = len(shape)
        axes = enumerate(zip(shape, chunks, strict=True))
        return tuple(_axis_of(length, sizes, dtype, axis, ndim) for axis, (length, sizes) in axes)
    if not shape:
        return zeros.node((0,), dtype)
    chunk_size = chunks_from(chunk_size, extra)
    if isinstance(chunk_size, tuple | list) and len(chunk_size) == len(shape):
        chunk_size = (1, *chunk_size)
    return create_node(indices_of, (len(shape), *shape), dtype, chunk_size, {}, "indices")


def _axis_of(length: int, sizes: Sizes, dtype: Any, axis: int, ndim: int) -> Node:
    shape = tuple(length if a == axis else 1 for a in range(ndim))
    chunks = tuple(sizes if a == axis else (1,) for a in range(ndim))
    return create_node(index_along, shape, dtype, chunks, {}, "indices", axis=axis)


def function_block(shape: Shape, starts: Shape, dtype: Any, function: Any, kwargs: Any) -> Any:
    """Call the user function with the positions of a block's elements."""
    places = [index_along(shape, starts, dtype, axis) for axis in range(len(shape))]
    return np.broadcast_to(function(*places, **dict(kwargs)), shape)


@dataclass(frozen=True, eq=False)
class FromFunction(FromShape):
    """An array whose blocks are a user's."""

    values_tell: ClassVar[bool] = True


@public
def fromfunction(
    function: Callable[..., Any],
    shape: Any,
    *,
    dtype: Any = float,
    chunk_size: Any = None,
    **kwargs: Any,
) -> Node:
    """Return the values of ``function(*positions)``, called once for each chunk.

    Differs from NumPy: the function must be elementwise. See numpy.fromfunction.
    """
    shape, kind = as_shape(shape), np.dtype(dtype)
    settings = {"chunks": kwargs.pop("chunks", None)}
    splits = normalize_chunks(chunks_from(chunk_size, settings), shape, kind)
    options = tuple(sorted(kwargs.items()))
    few = (1,) * len(shape)
    sample = np.asarray(function_block(few, (0,) * len(shape), kind, function, options))
    fixed = (("function", function), ("kwargs", options), ("positions", kind))
    return FromFunction(called_as, sample.dtype, splits, fixed, "fromfunction")


def called_as(
    shape: Shape, starts: Shape, dtype: Any, function: Any, kwargs: Any, positions: Any
) -> Any:
    """Call the user function; its result has the type of its result for the first element."""
    values = function_block(shape, starts, positions, function, kwargs)
    return values.astype(dtype.char if lacks_detail(dtype) else dtype, copy=False)


def _is_copied(*args: Any, copy: bool = True, **kwargs: Any) -> bool:
    """Tell whether a copy was asked for."""
    del args, kwargs
    return bool(copy)


@view_face(copies=_is_copied)
def meshgrid(
    *xi: Any, indexing: str = "xy", sparse: bool = False, copy: bool = True
) -> tuple[Node, ...]:
    """Return coordinate matrices from coordinate vectors. See numpy.meshgrid."""
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    ndim = len(xi)
    order = list(range(ndim))
    if indexing == "xy" and ndim > 1:
        order[:2] = [1, 0]
    grids = []
    for x, place in zip(xi, order, strict=True):
        vector = as_node(reshape.node(x, (-1,)))
        grids.append(view(vector, [0 if a == place else None for a in range(ndim)]))
    if sparse:
        return ExecutableTuple(grids)
    if not copy and all(known(grid.shape) for grid in grids):
        shape = np.broadcast_shapes(*(numbers(grid.shape) for grid in grids))
        return ExecutableTuple(broadcast_to.node(grid, shape) for grid in grids)
    return ExecutableTuple(Elementwise(broadcast_against, (grid, *grids)) for grid in grids)


@kernel(shares=True)
def broadcast_against(block: Any, *others: Any) -> Any:
    """Broadcast a block against others, as a view."""
    shape = np.broadcast_shapes(*(np.shape(item) for item in (block, *others)))
    return np.broadcast_to(block, shape)
