"""Diagonals and triangles of matrices, and elements along lines."""

from __future__ import annotations

import operator
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from marsdask.core.grids.align import aligned_axes, broadcast_chunks
from marsdask.core.grids.blockwise import blockwise, map_blocks
from marsdask.core.grids.chunk_positions import PlaceAt
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.parts import loops_beside, part_of
from marsdask.core.node import Axes, DiagonalOf, Node, PartOf, SameChunks, SameMeta, Taken
from marsdask.core.sizes import Chunks, Size, known

from ..chunkwise.rechunk import recut
from ..creation.from_shape import arange, zeros
from ..device import placed_on
from ..elementwise.ufuncs import equal, greater_equal, less_equal, where
from ..indexing.advanced import Take
from ..operands import as_node, empty, empty_like_kind
from ..reduction import reductions
from ..sparse.blocks import is_sparse, stored_triangle
from ..sparse.conversion import tosparse
from ..typing import public, view_face
from ..unknown_lengths import ResultSpec, like, waits_for_lengths, whole_if_unknown
from ..unknown_lengths import whole as uncut
from .join import concatenate, length
from .reshape import ravel
from .shape import (
    broadcast_to,
    normalize_axes,
    normalize_axis,
    view,
    whole,
)


@dataclass(frozen=True, eq=False)
class TriangularPart(SameChunks):
    """The part of each matrix below or above a diagonal, zeros elsewhere."""

    k: int
    lower: bool

    @property
    def label(self) -> str:
        return "tril" if self.lower else "triu"

    @property
    def meta(self) -> Any:
        dtype = self.a.meta.dtype.newbyteorder("=")
        return empty_like_kind(self.a.meta, dtype, self.a.meta.ndim)

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        rows, columns = taken[-2:]
        inner = part(self.a, taken)
        if rows is None and columns is None:
            return self.replaced(a=inner)
        if is_sparse(self.a.meta) or not known(self.shape):
            return None
        inside = greater_equal.node if self.lower else less_equal.node
        mask = inside(*_places(self.shape[-2:], (rows, columns), self.k))
        return as_node(where.node(mask, inner, zeros.node((1, 1), self.meta.dtype)))

    def diagonal(self, rows: range, columns: range, along: DiagonalOf) -> Node | None:
        if is_sparse(self.a.meta) or not known(self.shape) or rows.step != columns.step:
            return None
        offset = columns.start - rows.start
        if offset <= self.k if self.lower else offset >= self.k:
            return along(self.a, rows, columns, self.shape[-2:])
        return as_node(zeros.node((*self.shape[:-2], len(rows)), self.meta.dtype))

    def tile(self, a: Grid) -> Generator[Look, Any, Grid]:
        (a,) = yield from resolved(a)
        return map_blocks(
            triangle,
            a,
            chunks=a.chunks,
            meta=self.meta,
            varying=PlaceAt(a.chunks),
            kwargs={"k": self.k, "lower": self.lower},
        )


def _places(shape: Sequence[Size], taken: Taken, k: int) -> list[Node]:
    """Return the rows' positions, moved by ``k``, and the columns', to be compared."""
    places = []
    for axis, (size, span, shift) in enumerate(zip(shape, taken, (k, 0), strict=True)):
        own = range(size) if span is None else span  # type: ignore[arg-type]
        step = own.step
        stop = own.start + len(own) * step
        vector = arange.node(own.start + shift, stop + shift, step, dtype=np.int64)
        places.append(view(vector, [None, 0] if axis else [0, None]))
    return places


def triangle(block: Any, shape: Any, starts: tuple[int, ...], k: int, lower: bool) -> Any:
    """Return the part of a block that lies in a triangle of the whole."""
    del shape
    k += starts[-2] - starts[-1]
    if is_sparse(block):
        return stored_triangle(block, k, lower)
    return np.tril(block, k) if lower else np.triu(block, k)


def _square(m: Any) -> ResultSpec:
    """Distinguish a square matrix from the length of a vector."""
    return ResultSpec(as_node(m).meta.dtype, (uncut(m, 0),) * 2)


@public
@waits_for_lengths(lambda m, **_: _square(m))
def tril(m: Any, k: int = 0, gpu: Any = None) -> Node:
    """Return the lower triangle of matrices. See numpy.tril."""
    return placed_on(TriangularPart(_matrix(m), operator.index(k), True), gpu)


@public
@waits_for_lengths(lambda m, **_: _square(m))
def triu(m: Any, k: int = 0, gpu: Any = None) -> Node:
    """Return the upper triangle of matrices. See numpy.triu and numpy.tril."""
    return placed_on(TriangularPart(_matrix(m), operator.index(k), False), gpu)


def _matrix(m: Any) -> Node:
    node = as_node(m, sparse=as_node(m, sparse=True).meta.ndim == 2)
    if len(node.chunks) == 1:  # as NumPy: each row is the vector
        size = length(node, 0)
        return as_node(broadcast_to.node(node, (size, size)))
    if not node.chunks:
        raise ValueError("tril() and triu() take at least one axis")
    return node


@dataclass(frozen=True, eq=False)
class Diag(Node):
    """A square matrix with the vector on its main diagonal."""

    a: Node
    splits: Chunks

    @property
    def meta(self) -> Any:
        return empty(self.a.meta.dtype, 2)

    @property
    def chunks(self) -> Chunks:
        return self.splits

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        values = view(part(self.a, taken[:1]), [0, None])
        mask = equal.node(*_places(self.shape, taken, 0))
        return as_node(where.node(mask, values, zeros.node((1, 1), self.meta.dtype)))

    def diagonal(self, rows: range, columns: range, along: DiagonalOf) -> Node | None:
        del along
        if rows == columns:
            return part_of(self.a, (rows,))
        if rows.step != columns.step:
            return None
        return as_node(zeros.node(len(rows), self.meta.dtype))

    def tile(self, a: Grid) -> Generator[Look, Any, Grid]:
        (a,) = yield from resolved(a)
        a = recut(a, self.splits[:1])
        return blockwise(
            diagonal_block,
            [(a, (0,))],
            chunks=self.splits,
            meta=self.meta,
            varying=PlaceAt(self.splits),
        )


def diagonal_block(values: Any, shape: tuple[int, int], starts: tuple[int, int]) -> Any:
    """Return a block of a diagonal matrix; ``values`` are those of its rows."""
    out = np.zeros_like(values, shape=shape)
    rows = np.arange(shape[0])
    columns = rows + starts[0] - starts[1]
    inside = (columns >= 0) & (columns < shape[1])
    out[rows[inside], columns[inside]] = values[inside]
    return out


def _with_diagonal(v: Any, k: int, **_: Any) -> ResultSpec:
    spec = _square(v)
    return spec if k == 0 else ResultSpec(spec.dtype, (None, None))


def _is_matrix(found: Node, *args: Any, **kwargs: Any) -> bool:
    """Tell whether a matrix was made of its diagonal."""
    del args, kwargs
    return len(found.chunks) == 2


@view_face(writes="refused", through=(Take,), copies=_is_matrix)
@waits_for_lengths(_with_diagonal)
def diag(
    v: Any, k: int = 0, sparse: bool | None = None, gpu: Any = None, chunk_size: Any = None
) -> Node:
    """Return a matrix with a diagonal, or the diagonal of a matrix. See numpy.diag."""
    if sparse or gpu:
        matrix = placed_on(diag.node(v, k, chunk_size=chunk_size), gpu)
        return tosparse.node(matrix) if sparse else matrix
    node = as_node(v, chunk_size, sparse=as_node(v, sparse=True).meta.ndim == 2)
    if len(node.chunks) == 2:
        return diagonal.node(node, k)
    if len(node.chunks) != 1:
        raise ValueError("Input must be 1- or 2-d.")
    size = length(node, 0)
    (sizes,) = node.chunks
    square = Diag(node, (sizes, sizes))
    if k == 0:
        return square
    dtype = node.meta.dtype
    beside = zeros.node((size, abs(k)), dtype)
    across = zeros.node((abs(k), size + abs(k)), dtype)
    wide = concatenate.node([beside, square] if k > 0 else [square, beside], 1, dtype=dtype)
    return concatenate.node([wide, across] if k > 0 else [across, wide], 0, dtype=dtype)


@public
def diagflat(
    v: Any, k: int = 0, sparse: bool | None = None, gpu: Any = None, chunk_size: Any = None
) -> Node:
    """Return a matrix with the elements on a diagonal. See numpy.diagflat."""
    return diag.node(ravel.node(v), k, sparse, gpu, chunk_size)


def _diagonals(a: Any, axis1: int, axis2: int, **_: Any) -> ResultSpec:
    spec = like(a)
    pair = normalize_axes((axis1, axis2), len(spec.lengths))
    lengths = (sizes for axis, sizes in enumerate(spec.lengths) if axis not in pair)
    return ResultSpec(spec.dtype, (*lengths, None))


@view_face(writes="refused", through=(Take,))
@waits_for_lengths(_diagonals)
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Node:
    """Return diagonals of the matrices in two axes, along the last axis. See numpy.diagonal."""
    node = as_node(a, sparse=True)
    if len(node.chunks) < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    first, second = normalize_axes((axis1, axis2), len(node.chunks), allow_duplicate=True)
    if first == second:
        raise ValueError("axis1 and axis2 cannot be the same")
    rows, columns = length(node, first), length(node, second)
    start = max(0, -offset)
    count = max(0, min(rows - start, columns - max(0, offset)))
    along = range(start, start + count), range(start + offset, start + offset + count)
    other_axes = [axis for axis in range(len(node.chunks)) if axis not in (first, second)]
    matrices = view(node, [*other_axes, first, second])
    axes = (len(node.chunks) - 2, len(node.chunks) - 1)
    return Take(matrices, along, axes, axes[0])


@public
def trace(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None
) -> Node:
    """Return the sum along diagonals. See numpy.trace."""
    return reductions.sum.node(
        diagonal.node(a, offset, axis1, axis2), axis=-1, dtype=dtype, out=out
    )


@dataclass(frozen=True, eq=False)
class TakeAlong(SameMeta):
    """Elements of each line along an axis, at that line's positions."""

    label: ClassVar[str] = "take_along_axis"

    indices: Node
    axis: int

    @property
    def chunks(self) -> Chunks:
        return self.indices.chunks

    @property
    def loop_axes(self) -> tuple[Axes, ...]:
        ndim = len(self.indices.chunks)
        return loops_beside((self.axis,), ndim), tuple(range(ndim))

    def tile(self, a: Grid, indices: Grid) -> Generator[Look, Any, Grid]:
        a, indices = yield from resolved(a, indices)
        positions = indices.chunks[self.axis]
        a = whole(a, (self.axis,))
        a, indices = yield from aligned_axes((a, indices), skip=self.axis, recut=recut)
        own: tuple[int | None, ...] = tuple(range(indices.ndim))
        lines = tuple(None if axis == self.axis else axis for axis in own)
        chunks = (*indices.chunks[: self.axis], positions, *indices.chunks[self.axis + 1 :])
        kwargs = {"axis": self.axis}
        inputs = [(a, lines), (indices, own)]
        return blockwise(np.take_along_axis, inputs, chunks=chunks, meta=self.meta, kwargs=kwargs)


def _taken_along(arr: Any, indices: Any, axis: int | None) -> ResultSpec:
    dtype, where = as_node(arr).meta.dtype, like(indices)
    if axis is None:
        return ResultSpec(dtype, where.lengths)
    a = as_node(arr)
    axis = normalize_axis(axis, len(a.chunks))
    if len(a.chunks) != len(where.lengths):
        raise ValueError(_NOT_ALIKE)
    chunks = broadcast_chunks(_other_axes(a, axis), _other_axes(as_node(indices), axis))
    lengths = list(map(whole_if_unknown, chunks))
    return ResultSpec(dtype, (*lengths[:axis], where.lengths[axis], *lengths[axis:]))


def _other_axes(node: Node, axis: int) -> Chunks:
    return node.chunks[:axis] + node.chunks[axis + 1 :]


_NOT_ALIKE = "`indices` and `arr` must have the same number of dimensions"


@public
@waits_for_lengths(_taken_along)
def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Node:
    """Return elements of each line at that line's positions. See numpy.take_along_axis."""
    if axis is None:
        if len(as_node(indices).chunks) != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        arr, axis = ravel(arr), 0
    a, where = as_node(arr), as_node(indices)
    if where.meta.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if len(a.chunks) != len(where.chunks):
        raise ValueError(_NOT_ALIKE)
    axis = normalize_axis(axis, len(a.chunks))
    # Other axes broadcast against each other.
    shape = [length(a, i) for i in range(len(a.chunks))]
    sizes = [length(where, i) for i in range(len(shape))]
    common = list(np.broadcast_shapes(*[tuple(x[:axis] + x[axis + 1 :]) for x in (shape, sizes)]))
    nodes = [
        as_node(broadcast_to.node(node, (*common[:axis], lengths[axis], *common[axis:])))
        for node, lengths in ((a, shape), (where, sizes))
    ]
    return TakeAlong(nodes[0], nodes[1], axis)
