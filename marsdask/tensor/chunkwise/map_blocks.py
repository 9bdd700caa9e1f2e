"""User functions of whole chunks, and selection of chunks by position."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from marsdask.core.collection import Collection, wrap
from marsdask.core.grids.align import aligned, broadcast_chunks
from marsdask.core.grids.blockwise import Axes, blockwise
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.select import chosen
from marsdask.core.node import Axes as LoopAxes
from marsdask.core.node import Node, SameMeta
from marsdask.core.sizes import Chunks, Index, Size, known_or_nan, unknown_sizes
from marsdask.core.snapshots.functions import function_label

from ..operands import as_node, literal, sparse_empty
from ..sparse.blocks import is_sparse
from ..typing import public
from .rechunk import match_by_position, recut, whole_along, whole_if_declared
from .user_functions import (
    ChunkMaker,
    PromisedShape,
    ShapeCheck,
    SparseChunk,
    UserFunction,
    delayed_keywords,
    delayed_value,
)


@dataclass(frozen=True)
class ChunkFacts:
    """Gives a user function the requested information on its chunk: the index, or all."""

    keywords: tuple[str, ...]
    inputs: tuple[Chunks, ...]
    output: Chunks
    dtype: Any
    places: tuple[int, ...]
    axes: tuple[int | None, ...]
    """The axis of the result that each axis of the inputs is, matched from the last."""

    def __call__(self, index: Index) -> tuple[Any, ...]:
        makers: dict[str, Callable[[Index], Any]] = {
            "block_id": tuple,
            "chunk_index": tuple,
            "block_info": self._info,
        }
        return tuple(makers[keyword](index) for keyword in self.keywords)

    def _info(self, index: Index) -> dict[int | None, Any]:
        info: dict[int | None, Any] = {}
        for place, chunks in zip(self.places, self.inputs, strict=True):
            info[place] = _facts(chunks, self._own(index, chunks))
        facts = _facts(self.output, index)
        shape = tuple(known_or_nan(sizes[i]) for sizes, i in zip(self.output, index, strict=True))
        info[None] = {**facts, "chunk-shape": shape, "dtype": self.dtype}
        return info

    def _own(self, index: Index, chunks: Chunks) -> Index:
        """Return the index of the broadcast input's chunk; axes that were dropped have one."""
        axes = self.axes[len(self.axes) - len(chunks) :]
        return tuple(
            0 if len(sizes) == 1 or axis is None else index[axis]
            for sizes, axis in zip(chunks, axes, strict=True)
        )


def _facts(chunks: Chunks, index: Index) -> dict[str, Any]:
    location = []
    for sizes, position in zip(chunks, index, strict=True):
        start = sum(map(known_or_nan, sizes[:position]))
        location.append((start, start + known_or_nan(sizes[position])))
    return {
        "shape": tuple(sum(map(known_or_nan, sizes)) for sizes in chunks),
        "num-chunks": tuple(map(len, chunks)),
        "array-location": location,
        "chunk-location": tuple(index),
    }


@dataclass(frozen=True, eq=False)
class MapBlocks(Node):
    """A user function of aligned chunks."""

    values_tell: ClassVar[bool] = True

    pins_grid: ClassVar[bool] = True

    func: Callable[..., Any]
    arrays: tuple[Node, ...]
    arguments: tuple[Any, ...]
    places: tuple[int, ...]
    kwargs: Mapping[str, Any] | None
    keywords: tuple[str, ...]
    out_meta: Any = field(repr=False)
    dropped: tuple[int, ...] = ()
    added: tuple[int, ...] = ()
    out_sizes: tuple[Any, ...] | None = None
    """New sizes for each axis: those of every chunk, one for all, or ``None`` for those it had."""
    keeps_shape: bool = True
    aligns: bool = True
    """Whether arrays that are cut in other ways are cut alike first, rather than taken as are."""
    checks: bool = True
    """Whether results of other sizes than ``out_sizes`` are refused."""
    of_lines: bool = False
    """Whether the function treats each line along the dropped axes alone."""
    title: str | None = None
    """The name of the tasks, unless it is the function's."""

    @property
    def label(self) -> str:
        if self.title is not None:
            return self.title
        return function_label(self.func)

    @property
    def meta(self) -> Any:
        return self.out_meta

    @property
    def chunks(self) -> Chunks:
        cuts = [node.chunks for node in self.arrays]
        return self._out_chunks(broadcast_chunks(*cuts) if self.aligns else most_chunks(cuts))

    @property
    def loop_axes(self) -> tuple[LoopAxes, ...] | None:
        if self._is_elementwise:
            ndim = len(self.chunks)
            ranks = [len(node.chunks) for node in self.arrays]
            return tuple(tuple(range(ndim - rank, ndim)) for rank in ranks)
        if not self.of_lines:
            return None
        (node,) = self.arrays
        return (tuple(self._axes(len(node.chunks))),)

    @property
    def _is_elementwise(self) -> bool:
        """Tell whether an element is made of those at its place, whatever the chunks."""
        moves = self.dropped or self.added or self.out_sizes is not None
        plain = self.aligns and self.kwargs is None
        return (
            isinstance(self.func, np.ufunc) and self.func.signature is None and plain and not moves
        )

    def _out_chunks(self, chunks: Chunks) -> Chunks:
        splits = [sizes for axis, sizes in enumerate(chunks) if axis not in self.dropped]
        for axis in self.added:
            splits.insert(axis, (1,))
        if self.out_sizes is not None:
            pairs = zip(splits, self.out_sizes, strict=True)
            return tuple(_resized(old, new) for old, new in pairs)
        if not self.keeps_shape:
            return tuple(
                unknown_sizes(f"{self.name}.{axis}", [None] * len(sizes))
                for axis, sizes in enumerate(splits)
            )
        return tuple(splits)

    def tile(self, *grids: Grid) -> Any:
        if self.dropped:
            whole = []
            for node, grid in zip(self.arrays, grids, strict=True):
                whole.append((yield from whole_if_declared(node, grid)))
            grids = tuple(whole)
        if self.aligns:
            grids, chunks = yield from aligned(grids, recut)
        else:
            chunks = most_chunks([grid.chunks for grid in grids])
        for axis in self.dropped:
            if len(chunks[axis]) != 1:
                raise ValueError(
                    f"axis {axis} is dropped but has {len(chunks[axis])} chunks; rechunk it to one"
                )
        out = self._out_chunks(chunks)
        axes = self._axes(len(chunks))
        inputs = []
        for grid in grids:
            offset = len(chunks) - grid.ndim
            own: Axes = tuple(
                None if count == 1 else axes[axis + offset]
                for axis, count in enumerate(grid.numblocks)
            )
            inputs.append((grid, own))
        func: Any = UserFunction(self.func, self.arguments, self.places, self.keywords)
        varying: Any = self._facts(grids, out, axes) if self.keywords else None
        if self.checks and self.out_sizes is not None:
            func, varying = ShapeCheck(func), PromisedShape(varying, out)
        return blockwise(
            func, inputs, chunks=out, meta=self.meta, kwargs=self.kwargs, varying=varying
        )

    def _axes(self, ndim: int) -> list[int | None]:
        """Return the output axis of each input axis."""
        result: list[int | None] = [axis for axis in range(ndim) if axis not in self.dropped]
        for axis in self.added:
            result.insert(axis, None)
        where = {source: place for place, source in enumerate(result) if source is not None}
        return [where.get(axis) for axis in range(ndim)]

    def _facts(self, grids: Sequence[Grid], out: Chunks, axes: Sequence[int | None]) -> ChunkFacts:
        inputs = tuple(grid.chunks for grid in grids)
        return ChunkFacts(self.keywords, inputs, out, self.meta.dtype, self.places, tuple(axes))


def most_chunks(cuts: Sequence[Chunks]) -> Chunks:
    """Return for each axis, matched from the last, the first chunks of the largest number."""
    ndim = max(map(len, cuts))
    per_axis = (
        [chunks[axis] for chunks in cuts if len(chunks) >= -axis] for axis in range(-ndim, 0)
    )
    return tuple(max(axis, key=len) for axis in per_axis)


def _resized(old: tuple[Size, ...], new: Any) -> tuple[Size, ...]:
    if new is None:
        return old
    sizes = (int(new),) * len(old) if isinstance(new, int | np.integer) else tuple(new)
    if len(sizes) != len(old):
        raise ValueError(f"chunks= gives {len(sizes)} sizes for an axis of {len(old)} chunks")
    return sizes


@public
def map_blocks(
    func: Callable[..., Any],
    *args: Any,
    name: str | None = None,
    token: str | None = None,
    dtype: Any = None,
    chunks: Any = None,
    drop_axis: int | Sequence[int] | None = None,
    new_axis: int | Sequence[int] | None = None,
    meta: Any = None,
    enforce_ndim: bool = False,
    align_arrays: bool = True,
    **kwargs: Any,
) -> Node:
    """Call ``func`` with the matching chunks of tensors and return the tensor of the results.

    As in dask.array.map_blocks, the function may have the parameters ``block_id`` and
    ``block_info``. Without ``align_arrays``, chunks are matched by position, whatever their sizes.
    The function may modify its chunks: it gets copies of shared ones. ``enforce_ndim`` has no
    effect: sizes that ``chunks`` promises are always checked.

    Parameters
    ----------
    func : callable
        Gets the matching chunks of the arguments, and returns a chunk.
    *args : array_like
        Tensors and arrays are given chunk by chunk, other values whole; delayed ones are computed
        first. Without any of them ``chunks`` says how often the function is called.
    dtype : dtype, optional
        The type of the result; by default that of a call with small arrays.
    chunks : tuple, optional
        The chunks of the result, if the function changes the shape. A result of another shape is
        refused when it is computed. Without ``chunks`` the shape is not checked, as in Dask:
        ``compute()`` joins what the function returns.
    drop_axis, new_axis : int or sequence of int, optional
        Axes that the function takes away or adds. A chunk is whole along an axis that is taken
        away.
    meta : array, optional
        An empty array of the type that the function returns.
    align_arrays : bool
        Whether to cut axes of equal length alike.
    name, token : str, optional
        What the names of the tensor and of its tasks begin with; by default the function's name.
    enforce_ndim : bool
        Has no effect.
    **kwargs
        Further arguments of the function.

    Returns
    -------
    Tensor
        The results, side by side.

    Raises
    ------
    ValueError
        If the function fails for a chunk of one item, and neither ``dtype`` nor ``meta`` is given.

    Examples
    --------
    >>> x = mt.arange(4, chunk_size=2)
    >>> mt.map_blocks(lambda chunk: chunk - chunk.max(), x, dtype=int).compute()
    array([-1,  0, -1,  0])
    """
    del enforce_ndim
    keywords = tuple(word for word in ("block_id", "block_info") if takes(func, word))
    alone = chunks is not None and not any(map(_is_array, args))
    func, kwargs, late = delayed_keywords(func, kwargs)
    args = (*map(delayed_value, args), *late)
    if alone:
        func, args, chunks = ChunkMaker(func), *_positions(args, chunks)
    arrays, arguments, places = _arrays(args)
    ndim = max(len(node.chunks) for node in arrays)
    drop_axes = tuple(sorted(normalize_axis_index(axis, ndim) for axis in _several(drop_axis)))
    added = _added(new_axis, chunks, ndim - len(drop_axes))
    out_ndim = ndim - len(drop_axes) + len(added)
    arrays = tuple(whole_along(node, drop_axes, ndim) for node in arrays)
    align_arrays = align_arrays and not match_by_position(arrays)
    sizes = None if chunks is None else _per_axis(chunks, out_ndim)
    if meta is None and dtype is None:
        call = UserFunction(func, arguments, places)
        meta = infer(call, arrays, {**kwargs, **dict.fromkeys(keywords)}, "map_blocks")
    empty = _empty_like(meta, dtype, out_ndim)
    func = SparseChunk(func) if is_sparse(empty) else func
    inputs = (arrays, arguments, places, kwargs or None, keywords)
    return MapBlocks(
        func, *inputs, empty, drop_axes, added, sizes, aligns=align_arrays, title=name or token
    )


@public
def map_chunk(
    tensor: Any,
    func: Callable[..., Any],
    args: Sequence[Any] = (),
    *,
    with_chunk_index: bool = False,
    elementwise: bool = False,
    dtype: Any = None,
    **kwargs: Any,
) -> Node:
    """Call ``func(chunk, *args, **kwargs)`` for each chunk; Mars's name for :func:`map_blocks`.

    Unless ``elementwise``, the function may change the shape, which is then unknown until executed.
    A function that fails for chunks of one item needs ``dtype`` and must keep the number of axes.

    Parameters
    ----------
    tensor : array_like
        The tensor.
    func : callable
        Gets a chunk, ``args`` and ``kwargs``, and returns a chunk.
    args : sequence
        Further positional arguments of the function.
    with_chunk_index : bool
        Whether the function gets ``chunk_index``, the place of the chunk.
    elementwise : bool
        Whether the function keeps the shape of each chunk.
    dtype : dtype, optional
        The type of the result; by default that of a call with a small array.
    **kwargs
        Further keyword arguments of the function.

    Returns
    -------
    Tensor
        The results, side by side.

    Raises
    ------
    NotImplementedError
        If the function adds axes.
    ValueError
        If the function fails for a chunk of one item, and ``dtype`` is not given.

    Examples
    --------
    >>> x = mt.arange(4, chunk_size=2)
    >>> x.map_chunk(lambda chunk: chunk * 2, elementwise=True).compute()
    array([0, 2, 4, 6])
    """
    arrays, arguments, places = _arrays((tensor, *args))
    ndim = len(arrays[0].chunks)
    keywords = ("chunk_index",) if with_chunk_index else ()
    if elementwise and dtype is not None:
        out_ndim, kind = ndim, np.dtype(dtype)
    else:
        defaults = dict.fromkeys(keywords, (0,) * ndim)
        call = UserFunction(func, arguments, places)
        fallback = None if dtype is None else np.empty((1,) * ndim, dtype)
        example = np.asarray(infer(call, arrays, {**kwargs, **defaults}, "map_chunk", fallback))
        out_ndim, kind = example.ndim, np.dtype(dtype or example.dtype)
    if out_ndim > ndim:
        raise NotImplementedError(
            "map_chunk() that adds axes is not supported; use map_blocks(new_axis=...)"
        )
    return MapBlocks(
        func,
        arrays,
        arguments,
        places,
        kwargs or None,
        keywords,
        np.empty((0,) * out_ndim, kind),
        dropped=tuple(range(out_ndim, ndim)),
        keeps_shape=elementwise,
    )


def _is_array(arg: Any) -> bool:
    return isinstance(arg, Collection | Node | np.ndarray)


def _positions(args: tuple[Any, ...], chunks: Any) -> tuple[tuple[Any, ...], Chunks]:
    """Return an array with an element for each chunk before the arguments, and the chunks."""
    sizes = tuple(
        tuple(item) if isinstance(item, tuple | list) else (int(item),)
        for item in (chunks if isinstance(chunks, tuple | list) else (chunks,))
    )
    counts = tuple(map(len, sizes))
    splits = tuple((1,) * count for count in counts)
    return (literal(np.empty(counts, np.bool_), splits, copy=None), *args), sizes


def _arrays(args: Sequence[Any]) -> tuple[tuple[Node, ...], tuple[Any, ...], tuple[int, ...]]:
    """Distinguish tensors and arrays from constants."""
    places = tuple(place for place, arg in enumerate(args) if _is_array(arg))
    if not places:
        raise TypeError("map_blocks and map_chunk need a tensor among the arguments, or chunks=")
    operands = [args[place] for place in places]
    # User functions handle masks themselves, or are declared not to.
    arrays = tuple(as_node(x.node if isinstance(x, Collection) else x) for x in operands)
    return arrays, tuple(None if i in places else arg for i, arg in enumerate(args)), places


def _added(new_axis: Any, chunks: Any, kept: int) -> tuple[int, ...]:
    """Return the axes that are added to those that are kept: the last ones of chunks."""
    if new_axis is None and isinstance(chunks, tuple | list):
        new_axis = range(len(chunks) - kept)
    added = tuple(sorted(_several(new_axis)))
    if added and not 0 <= added[0] <= added[-1] < kept + len(added):
        raise ValueError(f"new_axis={new_axis}: the result has {kept + len(added)} axes")
    return added


def _empty_like(meta: Any, dtype: Any, ndim: int) -> Any:
    """Return an array without elements of the kind that a function returns."""
    if dtype is None:
        dtype = meta.dtype if is_sparse(meta) else np.asarray(meta).dtype
    if is_sparse(meta) and ndim in (1, 2):
        return sparse_empty(np.dtype(dtype), ndim)
    return (np.ma if isinstance(meta, np.ma.MaskedArray) else np).empty((0,) * ndim, dtype)


def _several(axes: int | Sequence[int] | None) -> Sequence[int]:
    if axes is None:
        return ()
    return (axes,) if isinstance(axes, int | np.integer) else tuple(axes)


def _per_axis(chunks: Any, ndim: int) -> tuple[Any, ...]:
    sizes = tuple(chunks) if isinstance(chunks, tuple | list) else (chunks,) * ndim
    if len(sizes) != ndim:
        raise ValueError(f"chunks= has {len(sizes)} items but the result has {ndim} axes")
    return tuple(tuple(item) if isinstance(item, list) else item for item in sizes)


#: The names of the parameters of functions: to read a signature takes longer than to make a node.
_PARAMETERS: WeakKeyDictionary[Callable[..., Any], frozenset[str]] = WeakKeyDictionary()


def takes(func: Callable[..., Any], keyword: str) -> bool:
    """Tell whether a user function has a parameter of that name."""
    # NumPy's functions take no weak references, but what they wrap does.
    func = getattr(func, "__wrapped__", func)
    try:
        parameters = _PARAMETERS.get(func)
    except TypeError:  # a ufunc
        return keyword in _parameters(func)
    if parameters is None:
        parameters = _PARAMETERS[func] = _parameters(func)
    return keyword in parameters


def _parameters(func: Callable[..., Any]) -> frozenset[str]:
    try:
        return frozenset(inspect.signature(func).parameters)
    except (TypeError, ValueError):
        return frozenset()


def _one_item(node: Node) -> Any:
    array = np.ones((1,) * len(node.chunks), node.meta.dtype)
    masked = isinstance(node.meta, np.ma.MaskedArray)
    return np.ma.masked_array(array, mask=False) if masked else array


def infer(
    call: UserFunction,
    arrays: Sequence[Node],
    kwargs: Mapping[str, Any],
    name: str,
    fallback: Any = None,
    nest: Sequence[Sequence[bool]] | None = None,
) -> Any:
    """Return the function's result for chunks of one item, or ``fallback`` if it fails.

    ``nest`` is true for axes of arrays whose chunks are in lists.
    """
    samples: list[Any] = [_one_item(node) for node in arrays]
    for place, axes in enumerate(nest or ()):
        for _ in filter(None, axes):
            samples[place] = [samples[place]]
    try:
        with np.errstate(all="ignore"):
            return call(*samples, **kwargs)
    except Exception as error:
        if fallback is not None:
            return fallback
        raise ValueError(
            f"`dtype` inference failed in {name}: the function raises {type(error).__name__} for "
            f"chunks of one item ({error}). Please specify the dtype explicitly, by dtype= or "
            "output_dtypes="
        ) from error


@dataclass(frozen=True, eq=False)
class Blocks(SameMeta):
    """The tensor of some of the chunks of another."""

    pins_grid: ClassVar[bool] = True

    positions: tuple[tuple[int, ...], ...]

    @property
    def chunks(self) -> Chunks:
        return self._chosen(self.a.chunks)

    def _chosen(self, chunks: Chunks) -> Chunks:
        return tuple(
            tuple(sizes[i] for i in axis)
            for sizes, axis in zip(chunks, self.positions, strict=True)
        )

    def tile(self, a: Grid) -> Grid:
        return chosen(a, self.positions)


class BlockView:
    """A tensor's chunks, indexed like items: ``x.blocks[0, :2]`` is a tensor of two chunks.

    A write to the result does not change the tensor.
    """

    def __init__(self, tensor: Any) -> None:
        self._node: Node = as_node(tensor)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of chunks along each axis."""
        return tuple(map(len, self._node.chunks))

    @property
    def size(self) -> int:
        """The number of chunks."""
        return int(np.prod(self.shape, dtype=int))

    def __getitem__(self, key: Any) -> Any:
        items = key if isinstance(key, tuple) else (key,)
        if any(item is None for item in items):
            raise ValueError("blocks take no new axes")
        gaps = [at for at, item in enumerate(items) if item is Ellipsis]  # arrays have no ==
        if gaps:
            gap = gaps[0]
            fill = (slice(None),) * (len(self.shape) - len(items) + 1)
            items = (*items[:gap], *fill, *items[gap + 1 :])
        if len(items) > len(self.shape):
            raise IndexError(f"{len(items)} indices for {len(self.shape)} axes of blocks")
        items += (slice(None),) * (len(self.shape) - len(items))
        positions = tuple(
            tuple(int(i) for i in np.atleast_1d(np.arange(count)[item]))
            for count, item in zip(self.shape, items, strict=True)
        )
        if not all(positions):
            raise IndexError("no blocks are left")
        return wrap(Blocks(self._node, positions))

    def ravel(self) -> list[Any]:
        """Return a tensor for each chunk, last axis fastest."""
        return [self[index] for index in itertools.product(*map(range, self.shape))]
