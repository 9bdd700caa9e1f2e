"""Elements selected by a condition: their number is known only at run time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from inspect import Parameter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from marsdask.core.collection import Collection, ExecutableTuple, collect
from marsdask.core.grids.blockwise import blockwise
from marsdask.core.grids.chunk_positions import StartAt
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.lengths import resolved
from marsdask.core.machine.costs import kernel
from marsdask.core.node import MemoryOrder, Node
from marsdask.core.sizes import (
    Chunks,
    Sizes,
    Unknown,
    UnknownShapeError,
    borders,
    known,
    known_chunks,
    numbers,
    shape_of,
    unknown_sizes,
    upper,
    uppers,
)
from marsdask.core.snapshots.tokens import token

from ..chunks import regular
from ..chunkwise.rechunk import recut
from ..creation.from_shape import zeros
from ..elementwise import ufuncs
from ..kernels.duck_arrays import alike, is_foreign
from ..manipulation.reshape import ravel, with_axis
from ..manipulation.shape import view
from ..memory_order import fortran, in_order, indexed
from ..operands import Literal, as_node, empty, empty_like_kind, is_masked
from ..sparse.blocks import is_sparse
from ..sparse.selection import choose_stored
from ..typing import public, view_face
from ..unknown_lengths import resized, waits_for_lengths
from .assignment import into
from .output_rules import TAKEN
from .slicing import EVERYTHING, Slice

if TYPE_CHECKING:
    pass


def bands(chunks: Chunks) -> Chunks:
    """Rechunk so that only the leading axis has several chunks, of about the same size.

    Then the order of the blocks is the order of the elements.
    """
    if all(len(sizes) == 1 for sizes in chunks[1:]) or not known_chunks(chunks):
        return chunks
    lengths = shape_of(chunks[1:])
    block = math.prod(max(numbers(sizes)) for sizes in chunks)
    rows = max(1, block // max(1, math.prod(lengths)))
    heights: list[int] = []
    for size in numbers(chunks[0]):
        heights.extend(numbers(regular(size, rows)))
    return (tuple(heights), *((length,) for length in lengths))


def lengths_by(mask: Node, cut: Chunks, own: Chunks) -> Sizes:
    """Return the number of selected elements of each band of a mask.

    Equal masks in equal chunks select equal numbers, whatever they are applied to.
    """
    if isinstance(mask, Literal) and known_chunks(cut):
        spans = itertools.pairwise(borders(cut[0]))
        return tuple(int(np.count_nonzero(mask.array[i:j])) for i, j in spans)
    name = mask.name if cut == own else f"{mask.name}|{token(cut)}"
    inner = [upper(sizes[0]) for sizes in cut[1:]]
    bounds = uppers(cut[0])
    if inner:
        bounds = [
            None if n is None or None in inner else n * math.prod(inner)  # type: ignore[arg-type]
            for n in bounds
        ]
    return unknown_sizes(name, bounds)


#: Elements whose positions are found and taken at a time, in cache.
CACHED = 2**15


@kernel(scratch=0.1)
def choose(block: Any, mask: Any, axis: int) -> Any:
    """Return the selected part of a block for a mask over some of its axes."""
    if is_sparse(block):
        return choose_stored(block, mask, axis)
    block, mask = alike(block, mask)
    if is_foreign(block):
        return block[(slice(None),) * axis + (mask,)]
    if mask.ndim == block.ndim:
        return _choose_flat(block.reshape(-1), mask.reshape(-1))
    if mask.ndim == 1:
        return np.take(block, np.flatnonzero(mask), axis)
    return block[(slice(None),) * axis + (mask,)]


def _choose_flat(block: Any, mask: Any) -> Any:
    """Select by positions, which takes a third of the time of indexing with a mask."""
    out = np.empty(np.count_nonzero(mask), block.dtype)
    offset = 0
    for start in range(0, len(block), CACHED):
        where = np.flatnonzero(mask[start : start + CACHED])
        end = offset + len(where)
        np.take(block[start : start + CACHED], where, out=out[offset:end], mode="clip")
        offset = end
    return out


@dataclass(frozen=True, eq=False)
class BooleanIndexing(Node):
    """The elements where a mask over neighbouring axes holds; these axes become one."""

    label: ClassVar[str] = "getitem"

    a: Node
    mask: Node
    axis: int
    indexed: bool = False
    """Whether it lies in memory as NumPy's indexing makes it, rather than as ``compress``."""

    @property
    def memory_order(self) -> MemoryOrder:
        if not self.indexed:
            return None
        axes = range(len(self.a.chunks))[self._axes]
        return indexed(self.a.memory_order, axes, self.axis, self.shape)

    @property
    def meta(self) -> Any:
        ndim = len(self.a.chunks) - len(self.mask.chunks) + 1
        return empty_like_kind(self.a.meta, self.a.meta.dtype, ndim)

    @property
    def _axes(self) -> slice:
        return slice(self.axis, self.axis + len(self.mask.chunks))

    def _sizes(self, chunks: Chunks, own: Chunks) -> Sizes:
        return lengths_by(self.mask, bands(chunks[self._axes]), own)

    @property
    def chunks(self) -> Chunks:
        chunks = self.a.chunks
        sizes = self._sizes(chunks, self.mask.chunks)
        return (*chunks[: self.axis], sizes, *chunks[self._axes.stop :])

    def tile(self, a: Grid, mask: Grid) -> Any:
        if self._fits(a, mask):
            return self._chosen(a, mask)
        return self._look(a, mask)

    def _fits(self, a: Grid, mask: Grid) -> bool:
        """Tell whether both can be rechunked alike without computing sizes."""
        mine = a.chunks[self._axes]
        if mine == mask.chunks:
            return known_chunks(mine) or all(len(sizes) == 1 for sizes in mine[1:])
        return known_chunks(mine) and known_chunks(mask.chunks)

    def _look(self, a: Grid, mask: Grid) -> Generator[Look, Any, Grid]:
        a, mask = yield from resolved(a, mask)
        return self._chosen(a, mask)

    def _chosen(self, a: Grid, mask: Grid) -> Grid:
        own = mask.chunks
        if own != a.chunks[self._axes]:
            check_fit(shape_of(own), shape_of(a.chunks[self._axes]), self.axis)
        chunks = bands(a.chunks[self._axes])
        a = recut(a, (*a.chunks[: self.axis], *chunks, *a.chunks[self._axes.stop :]))
        mask = recut(mask, chunks)
        sizes = lengths_by(self.mask, chunks, own)
        offset = mask.ndim - 1
        axes = tuple(
            axis if axis <= self.axis else None if axis < self._axes.stop else axis - offset
            for axis in range(a.ndim)
        )
        return blockwise(
            choose,
            [(a, axes), (mask, (self.axis, *(None,) * offset))],
            chunks=(*a.chunks[: self.axis], sizes, *a.chunks[self._axes.stop :]),
            meta=self.meta,
            kwargs={"axis": self.axis},
        )


def check_fit(mask: tuple[Any, ...], shape: tuple[Any, ...], axis: int) -> None:
    """Raise ``IndexError`` unless a mask has the lengths of its axes."""
    for position, (own, length) in enumerate(zip(mask, shape, strict=True)):
        if known((own, length)) and own != length:
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis + position}; size of "
                f"axis is {length} but size of corresponding boolean axis is {own}"
            )


def count_true(mask: Grid) -> Grid:
    """Return the number of selected elements of each band of a mask, one number per band."""
    inputs = [(mask, (0, *(None,) * (mask.ndim - 1)))]
    sizes = (1,) * mask.numblocks[0]
    return blockwise(np.count_nonzero, inputs, chunks=(sizes,), meta=np.empty(0, np.intp))


#: A mask has one byte per element; positions have eight per axis, twice.
@kernel(scratch=24.0)
def where_true(block: Any, start: int) -> Any:
    """Return the indices of the elements of a band that are not zero, one a row."""
    indices = np.argwhere(block)
    indices[:, :1] += start
    return indices


@dataclass(frozen=True, eq=False)
class ArgWhere(Node):
    """The indices of the elements that are not zero, one a row, in C order."""

    a: Node

    @property
    def meta(self) -> Any:
        return empty(np.dtype(np.intp), 2)

    @property
    def chunks(self) -> Chunks:
        splits = bands(self.a.chunks)
        return (lengths_by(self.a, splits, self.a.chunks), (len(self.a.chunks),))

    def tile(self, a: Grid) -> Any:
        return self._found(a) if known_chunks(a.chunks) else self._look(a)

    def _look(self, a: Grid) -> Generator[Look, Any, Grid]:
        (a,) = yield from resolved(a)
        return self._found(a)

    def _found(self, a: Grid) -> Grid:
        own = a.chunks
        a = recut(a, bands(own))
        sizes = lengths_by(self.a, a.chunks, own)
        return blockwise(
            where_true,
            [(a, (0, *(None,) * (a.ndim - 1)))],
            chunks=(sizes, (a.ndim,)),
            meta=self.meta,
            varying=StartAt(a.chunks[0]),
        )


@public
def argwhere(a: Any) -> Node:
    """Return the indices of elements that are not zero, one a row. See numpy.argwhere."""
    node = as_node(a)
    if not node.chunks:  # one row without indices, or none
        return Slice(ArgWhere(view(node, [None])), (EVERYTHING, range(0)))
    table = ArgWhere(node)
    return in_order(table, fortran(table.shape))  # as NumPy, which moves the axes of a table


def _table_of(found: Sequence[Node]) -> tuple[Collection, ...]:
    """Return the table of which indices are columns."""
    return (collect(found[0].inputs[0].inputs[0]),)


@view_face(bases_of=_table_of)
def nonzero(a: Any) -> tuple[Node, ...]:
    """Return for each axis the indices of the elements that are not zero. See numpy.nonzero."""
    node = as_node(a)
    if not node.chunks:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use atleast_1d(scalar)")
    indices = ArgWhere(node)
    return ExecutableTuple(column(indices, axis) for axis in range(len(node.chunks)))


#: Stands for an argument that is not given: ``None`` is a value.
_UNSET: Any = Parameter.empty


@public
def where(condition: Any, x: Any = _UNSET, y: Any = _UNSET) -> Any:
    """Choose from two tensors, or return where the condition holds. See numpy.where.

    Like NumPy it ignores masks, which ``ma.where`` does not.
    """
    if (x is _UNSET) != (y is _UNSET):
        raise ValueError("either both or neither of x and y should be given")
    condition, x, y = (item.data if is_masked(item) else item for item in (condition, x, y))
    return nonzero(condition) if x is _UNSET else ufuncs.where.node(condition, x, y)


@public
def flatnonzero(a: Any) -> Node:
    """Return the indices of elements that are not zero in C order. See numpy.flatnonzero."""
    return nonzero.node(ravel.node(a))[0]


def column(a: Node, position: int) -> Node:
    """Return one column of a table of indices."""
    part = Slice(a, (EVERYTHING, range(position, position + 1)))
    return view(part, (0,))


@public
@waits_for_lengths(lambda a, axis, **_: resized(a, axis))
def compress(condition: Any, a: Any, axis: int | None = None, out: Any = None) -> Node:
    """Return the slices along an axis where the condition holds. See numpy.compress.

    Differs from NumPy: a lazy condition longer than the axis raises, whatever its values.
    """
    node, axis = with_axis(a, axis, sparse=True)
    nothing = 0 in node.shape[:axis] and known(node.shape)
    if nothing and isinstance(condition, list | tuple | np.ndarray) and np.ndim(condition) == 1:
        # NumPy takes nothing, and compares no position with the length.
        count = np.count_nonzero(condition)
        empty_part = zeros.node(
            (*node.shape[:axis], count, *node.shape[axis + 1 :]), node.meta.dtype
        )
        return into(out, empty_part, "safe", TAKEN)
    mask = as_bool(_within(condition, node.shape[axis], axis))
    if len(mask.chunks) != 1:
        raise ValueError("condition must be a 1-d array")
    length = mask.shape[0]
    if known((length,)) and isinstance(node.shape[axis], Unknown):
        raise UnknownShapeError("whether a condition is as long as the axis, only running tells")
    if known((length,)) and length != node.shape[axis]:
        if length > node.shape[axis]:  # type: ignore[operator]
            raise IndexError(
                f"condition has {length} elements, but axis {axis} has size {node.shape[axis]}"
            )
        part = [EVERYTHING if i != axis else range(length) for i in range(len(node.chunks))]  # type: ignore[arg-type]
        node = Slice(node, tuple(part))
    return into(out, BooleanIndexing(node, mask, axis), "safe", TAKEN)


def _within(condition: Any, length: Any, axis: int) -> Any:
    """Return a condition in memory without what lies past the axis, where nothing may hold."""
    if not isinstance(condition, list | tuple | np.ndarray):
        return condition
    mask = np.asarray(condition).astype(bool)
    if mask.ndim != 1 or isinstance(length, Unknown):
        return mask
    if mask[length:].any():
        position = length + int(mask[length:].argmax())
        raise IndexError(f"index {position} is out of bounds for axis {axis} with size {length}")
    return mask[:length]


@public
def compressed(a: Any, condition: Any, axis: int | None = None, out: Any = None) -> Node:
    """Return the slices along an axis where the condition holds.

    See numpy.ndarray.compress and numpy.compress.
    """
    return compress.node(condition, a, axis, out)


@public
def extract(condition: Any, arr: Any) -> Node:
    """Return the elements where the condition holds, in one axis. See numpy.extract."""
    return compress.node(ravel.node(condition), ravel.node(arr))


def as_bool(a: Any) -> Node:
    """Return the node of a condition as booleans."""
    node = as_node(a)
    return node if node.meta.dtype == np.bool_ else as_node(ufuncs.not_equal.node(node, 0))
