"""Positions: of triangles and diagonals, flat or along each axis, open and full grids of them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from marsdask.core.collection import Collection, ExecutableTuple, wrap
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.core.sizes import numbers

from ..chunks import normalize_chunks
from ..elementwise.ufuncs import apply, logical_not, not_equal
from ..indexing.boolean import nonzero
from ..indexing.getitem import getitem
from ..manipulation.join import concatenate, stack
from ..manipulation.shape import broadcast_arrays, transpose
from ..operands import as_node
from ..typing import public, public_view
from .from_shape import FromShape, arange, ones, tri
from .ranges import linspace
from .triangles import LONGEST_SIDE, TriangleShape, triangle_places

if TYPE_CHECKING:
    pass


@kernel(scratch=2.0)
def place_along(flat: Any, shape: tuple[int, ...], order: Any, axis: int) -> Any:
    """Return the positions along one axis of flat positions."""
    return np.unravel_index(flat, shape, order)[axis]


@public
def unravel_index(indices: Any, shape: Any, order: Any = "C") -> tuple[Node, ...]:
    """Return the positions along each axis of flat positions. See numpy.unravel_index."""
    shape = (shape,) if np.ndim(shape) == 0 else tuple(map(operator.index, shape))
    node = as_node(indices)
    in_memory = not isinstance(indices, Collection | Node) and np.size(indices)
    # NumPy raises for invalid types and shapes, and for positions in memory out of bounds.
    few = np.zeros((0,) if shape or node.meta.ndim else (), node.meta.dtype)
    np.unravel_index(indices if in_memory else few, shape, order)
    how = {"shape": shape, "order": order}
    return ExecutableTuple(apply(place_along, node, axis=axis, **how) for axis in range(len(shape)))


@kernel(scratch=2.0)
def flat_place(*places: Any, dims: Any, mode: Any, order: Any) -> Any:
    """Return the flat positions of positions along each axis."""
    return np.ravel_multi_index(places, dims, mode, order)


def _is_delayed(length: Any) -> bool:
    return hasattr(length, "__dask_graph__") and not isinstance(length, Collection)


@public
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: Any = "C") -> Node:
    """Return the flat positions of positions along each axis. See numpy.ravel_multi_index."""
    places = list(multi_index)
    if any(map(_is_delayed, dims if isinstance(dims, list | tuple) else [dims])):
        raise NotImplementedError("Dask types are not supported in `dims`: compute() them first")
    dims = (dims,) if np.ndim(dims) == 0 else tuple(map(operator.index, dims))
    if len(places) != len(dims):
        raise ValueError(
            f"parameter multi_index must be a sequence of length {len(dims)}, not {len(places)}"
        )
    mode = tuple(mode) if isinstance(mode, list) else mode
    return apply(flat_place, *places, dims=dims, mode=mode, order=order)


@public
def tril_indices(n: int, k: int = 0, m: int | None = None, chunks: Any = None) -> tuple[Node, ...]:
    """Return the positions of a lower triangle. See numpy.tril_indices.

    With ``chunks`` of the matrix, as in Dask, their number is unknown until executed.
    """
    if chunks is None:
        return _of_triangle(n, m, k, lower=True)
    return nonzero.node(tri.node(n, m, k, dtype=bool, chunk_size=chunks))


def _of_triangle(n: Any, m: Any, k: Any, *, lower: bool) -> tuple[Node, ...]:
    rows = max(0, operator.index(n))
    columns = rows if m is None else max(0, operator.index(m))
    if max(rows, columns) > LONGEST_SIDE:
        raise ValueError("Maximum allowed dimension exceeded")
    triangle = TriangleShape(rows, columns, operator.index(k), lower)
    kind: np.dtype[Any] = np.dtype(np.intp)
    splits = normalize_chunks(None, (triangle.size,), kind)
    title = "tril_indices" if lower else "triu_indices"
    return ExecutableTuple(
        FromShape(triangle_places, kind, splits, (("axis", axis), ("triangle", triangle)), title)
        for axis in range(2)
    )


@public
def triu_indices(n: int, k: int = 0, m: int | None = None, chunks: Any = None) -> tuple[Node, ...]:
    """Return the positions of an upper triangle. See numpy.triu_indices.

    With ``chunks`` of the matrix, as in Dask, their number is unknown until executed.
    """
    if chunks is None:
        return _of_triangle(n, m, k, lower=False)
    return nonzero.node(logical_not.node(tri.node(n, m, k - 1, dtype=bool, chunk_size=chunks)))


def _matrix_shape(arr: Any) -> tuple[int, int]:
    shape = numbers(as_node(arr).shape)
    if len(shape) != 2:
        raise ValueError("input array must be 2-d")
    return shape[0], shape[1]


@public
def tril_indices_from(arr: Any, k: int = 0) -> tuple[Node, ...]:
    """Return the positions of a matrix's lower triangle. See numpy.tril_indices_from.

    Returns
    -------
    tuple of Tensor
        The positions on each axis.
    """
    rows, columns = _matrix_shape(arr)
    return tril_indices.node(rows, k, columns)


@public
def triu_indices_from(arr: Any, k: int = 0) -> tuple[Node, ...]:
    """Return the positions of a matrix's upper triangle. See numpy.triu_indices_from."""
    rows, columns = _matrix_shape(arr)
    return triu_indices.node(rows, k, columns)


@public
def mask_indices(n: int, mask_func: Callable[..., Any], k: Any = 0) -> tuple[Node, ...]:
    """Return the positions that a function like :func:`triu` keeps. See numpy.mask_indices."""
    return nonzero.node(not_equal.node(mask_func(ones((n, n), int), k), 0))


@public
def diag_indices(n: int, ndim: int = 2) -> tuple[Node, ...]:
    """Return the positions of a main diagonal. See numpy.diag_indices.

    Returns
    -------
    tuple of Tensor
        The positions on each axis.
    """
    return ExecutableTuple((arange(n),) * ndim)


@public
def diag_indices_from(arr: Any) -> tuple[Node, ...]:
    """Return the positions of an array's main diagonal. See numpy.diag_indices_from.

    Returns
    -------
    tuple of Tensor
        The positions on each axis.
    """
    shape = numbers(as_node(arr).shape)
    if len(shape) < 2:
        raise ValueError("input array must be at least 2-d")
    if len(set(shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    return diag_indices.node(shape[0], len(shape))


@public_view
def ix_(*args: Any) -> tuple[Node, ...]:
    """Return vectors as an open grid, for the elements at all their pairs. See numpy.ix_."""
    result = []
    for position, arg in enumerate(args):
        vector = wrap(as_node(arg if isinstance(arg, Collection) or len(arg) else np.empty(0, int)))
        if vector.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if vector.dtype == np.bool_:
            (vector,) = nonzero(vector)
        after = (None,) * (len(args) - 1 - position)
        result.append(getitem.node(vector, ((None,) * position + (slice(None), *after))))
    return ExecutableTuple(result)


def _points(part: slice) -> Any:
    """Return the values of a slice of a grid: steps, or a number of points if imaginary."""
    start = 0 if part.start is None else part.start
    step = 1 if part.step is None else part.step
    if part.stop is None:
        raise ValueError("a grid's slices say where they stop")
    if isinstance(step, complex):
        return linspace(start, part.stop, int(abs(step)))
    return arange(start, part.stop, step)


class nd_grid:  # noqa: N801 - Mars's name
    """Makes grids of coordinates by slicing. See numpy.mgrid and numpy.ogrid.

    Parameters
    ----------
    sparse : bool
        Whether to return the axes alone, as ``numpy.ogrid`` does.
    """

    def __init__(self, sparse: bool = False) -> None:
        self.sparse = sparse

    #: ``[]`` takes any number, so iteration by it would not end.
    __iter__ = None

    def __len__(self) -> int:
        return 0

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, tuple):
            return _points(key)
        axes = [_points(part) for part in key]
        dtype = np.result_type(*(axis.dtype for axis in axes))
        grid = ix_(*(axis.astype(dtype) for axis in axes))
        return grid if self.sparse else stack(broadcast_arrays(*grid))


mgrid: Final = nd_grid()
ogrid: Final = nd_grid(sparse=True)


class AxisConcatenator:
    """Concatenates the items in brackets along an axis. See numpy.r_ and numpy.c_."""

    def __init__(self, axis: int = 0, ndmin: int = 1, trans1d: int = -1) -> None:
        self.axis = axis
        self.ndmin = ndmin
        self.trans1d = trans1d

    #: ``[]`` takes any number, so iteration by it would not end.
    __iter__ = None

    def __len__(self) -> int:
        return 0

    def __getitem__(self, key: Any) -> Any:
        parts = key if isinstance(key, tuple) else (key,)
        if any(isinstance(part, str) for part in parts[1:]):
            raise ValueError("special directives must be the first entry.")
        if isinstance(parts[0], str):
            if parts[0] in ("r", "c"):
                raise NotImplementedError("matrices are not supported; use the key without text")
            try:
                points = [int(number) for number in parts[0].split(",")]
            except ValueError:
                raise ValueError(f"unknown special directive {parts[0]!r}") from None
            names = dict(zip(("axis", "ndmin", "trans1d"), points, strict=False))
            return AxisConcatenator(**{**vars(self), **names})[parts[1:]]
        pieces = [self._piece(part) for part in parts]
        dtypes: list[Any] = [
            part if np.isscalar(part) else piece.dtype
            for part, piece in zip(parts, pieces, strict=True)
        ]
        return concatenate(pieces, self.axis, dtype=np.result_type(*dtypes), casting="unsafe")

    def _piece(self, part: Any) -> Any:
        """Return an item with enough axes, its own ones at their positions."""
        piece = _points(part) if isinstance(part, slice) else wrap(as_node(part))
        new = self.ndmin - piece.ndim
        if new <= 0:
            return piece
        first = self.trans1d if self.trans1d >= 0 else self.trans1d + new + 1
        axes = list(range(self.ndmin))
        order = axes[:first] + axes[new:] + axes[first:new]
        return transpose(piece[(None,) * new], axes if self.trans1d == -1 else order)


r_: Final = AxisConcatenator()
c_: Final = AxisConcatenator(-1, ndmin=2, trans1d=0)
